# The Julia functions of the tests: each does one thing that a user's function may do, rightly or wrongly.
module TestLayers

using PyBridge

# Where and how often Julia ran. ---------------------------------------------------------------------------

const CALLS = Tuple{Symbol,UInt}[]
here() = ccall(:pthread_self, UInt, ())
note(what) = (push!(CALLS, (Symbol(what), here())); nothing)
reset() = (empty!(CALLS); nothing)
ncalls(what) = count(c -> c[1] == Symbol(what), CALLS)
called() = join(map(first, CALLS), " ")
threads() = Tuple(unique(map(last, CALLS)))

# Looking at arrays. ---------------------------------------------------------------------------------------

function address(a)
    try
        return UInt(pointer(a))
    catch
        parent(a) === a && rethrow()
        return address(parent(a))
    end
end
# In memory order: what the NDArray shows as ravel() for layout="julia".
floats(a) = vec(map(Float64, a))
item(a, i...) = Float64(a[i...])
put(a, v, i...) = (a[i...] = v; nothing)
fillwith(a, v) = (fill!(a, v); nothing)
writes(a) = (
    () -> (a[1] = 5),
    () -> fill!(a, 5),
    () -> a .= 5,
    () -> copyto!(a, fill(convert(eltype(a), 5), size(a))),
    () -> (view(a, 1:1) .= 5),
    () -> (reshape(a, :)[1] = 5),
    () -> map!(identity, a, a),
)
nwrites(a) = length(writes(a))
attempt(a, i) = (writes(a)[i](); nothing)
matrix(T, dims...) = reshape(map(T, collect(0:prod(dims)-1)), dims...)

# How many objects are alive. ------------------------------------------------------------------------------

const ALIVE = Threads.Atomic{Int}(0)
const BURIED = Tuple{UInt}[]
alive() = ALIVE[]
function counted(x)
    Threads.atomic_add!(ALIVE, 1)
    finalizer(_ -> Threads.atomic_sub!(ALIVE, 1), x)
    return x
end
counted_array(n) = counted(zeros(Float64, n))
counted_ref(i) = counted(Ref(i))

# Well-behaved functions. ----------------------------------------------------------------------------------

mutable struct Sigmoid <: CustomFunction
    y
    Sigmoid() = counted(new())
end
PyBridge.forward(f::Sigmoid, x) = (note("Sigmoid.forward"); f.y = @. 1 / (1 + exp(-x)))
PyBridge.backward(f::Sigmoid, Δ) = (note("Sigmoid.backward"); @. Δ * f.y * (1 - f.y))

function sigmoid(x)
    y = @. 1 / (1 + exp(-x))
    back(Δ) = (note("sigmoid.back"); @. Δ * y * (1 - y))
    return y, back
end

# A plain function, without a pullback.
plain(x) = 2 .* x

# Saves its inputs, not its output.
mutable struct Product <: CustomFunction
    a
    b
    Product() = counted(new())
end
PyBridge.forward(f::Product, a, b) = (f.a = a; f.b = b; a .* b)
PyBridge.backward(f::Product, Δ) = (note("Product.backward"); (Δ .* f.b, Δ .* f.a))

product(a, b) = (a .* b, Δ -> (Δ .* b, Δ .* a))

mutable struct Square <: CustomFunction
    x
    Square() = counted(new())
end
PyBridge.forward(f::Square, x) = (note("Square.forward"); f.x = x; x .* x)
PyBridge.backward(f::Square, Δ) = (note("Square.backward"); Δ .* f.x .+ Δ .* f.x)

mutable struct SinCos <: CustomFunction
    s
    c
    SinCos() = new()
end
PyBridge.forward(f::SinCos, x) = (f.s = sin.(x); f.c = cos.(x); (f.s, f.c))
PyBridge.backward(f::SinCos, Δs, Δc) = Δs .* f.c .- Δc .* f.s

sincos_pullback(x) = ((sin.(x), cos.(x)), (Δs, Δc) -> Δs .* cos.(x) .- Δc .* sin.(x))

# y = factor * x + offset, by keyword.
mutable struct Scale <: CustomFunction
    factor
    offset
    Scale(; factor = 2, offset = 0) = new(factor, offset)
end
PyBridge.forward(f::Scale, x) = convert(eltype(x), f.factor) .* x .+ convert(eltype(x), f.offset)
PyBridge.backward(f::Scale, Δ) = convert(eltype(Δ), f.factor) .* Δ

scale(x; factor = 2) = (convert(eltype(x), factor) .* x, Δ -> convert(eltype(Δ), factor) .* Δ)

# Writes down the types that its keywords arrive with.
mutable struct Keywords <: CustomFunction
    Keywords(; kw...) = (foreach(p -> note("$(p.first)::$(kind(p.second))"), sort(collect(kw), by = first)); new())
end
kind(::Nothing) = "nothing"
kind(::Bool) = "bool"
kind(::Integer) = "integer"
kind(::AbstractFloat) = "float"
kind(::AbstractString) = "string"
kind(::AbstractArray) = "array"
kind(x) = "other"
PyBridge.forward(::Keywords, x) = copy(x)
PyBridge.backward(::Keywords, Δ) = copy(Δ)

# Constants before, between and after the arrays.
mutable struct Affine <: CustomFunction
    slope
    Affine() = new()
end
function PyBridge.forward(f::Affine, slope, x, text, shift, flag)
    note("$(kind(slope)) $(kind(text)) $(kind(flag))")
    f.slope = convert(eltype(x), slope)
    return f.slope .* x .+ shift
end
PyBridge.backward(f::Affine, Δ) = (nothing, f.slope .* Δ, nothing, copy(Δ), nothing)

# The second input gets no gradient.
struct FirstOnly <: CustomFunction end
PyBridge.forward(::FirstOnly, x, y) = x .+ y
PyBridge.backward(::FirstOnly, Δ) = (copy(Δ), nothing)

struct NoGradient <: CustomFunction end
PyBridge.forward(::NoGradient, x) = copy(x)
PyBridge.backward(::NoGradient, Δ) = nothing

struct OneTuple <: CustomFunction end
PyBridge.forward(::OneTuple, x) = 3 .* x
PyBridge.backward(::OneTuple, Δ) = (3 .* Δ,)

# Order of indices matters: a running sum along Julia's first dimension.
struct RunningSum <: CustomFunction end
PyBridge.forward(::RunningSum, x) = cumsum(x, dims = 1)
PyBridge.backward(::RunningSum, Δ) = reverse(cumsum(reverse(Δ, dims = 1), dims = 1), dims = 1)

# Writes down what it gets.
mutable struct Probe <: CustomFunction
    Probe() = new()
end
const SEEN = Ref{Any}(nothing)
seen_type() = string(SEEN[].type)
seen_eltype() = string(eltype(SEEN[].type))
seen_size() = SEEN[].size
seen_address() = SEEN[].address
seen_isarray() = SEEN[].type <: Array
seen_ispermuted() = SEEN[].type <: PermutedDimsArray
seen_item(i...) = SEEN[].copy[i...]
see(x) = (SEEN[] = (type = typeof(x), size = size(x), address = address(x), copy = copy(x)); nothing)
PyBridge.forward(::Probe, x) = (see(x); copy(x))
PyBridge.backward(::Probe, Δ) = (see(Δ); copy(Δ))

# In-place forms. ------------------------------------------------------------------------------------------

mutable struct InPlaceSquare <: CustomFunction
    x
    InPlaceSquare() = new()
end
function PyBridge.forward!(out, f::InPlaceSquare, x)
    note("forward!")
    see(out)
    f.x = x
    out .= x .* x
    return nothing
end
function PyBridge.backward!(grads, f::InPlaceSquare, Δ)
    note("backward!")
    grads[1] === nothing || (grads[1] .= Δ .* f.x .+ Δ .* f.x)
    return nothing
end

# Another size than the input's, another one than that for its second output.
struct Extent <: CustomFunction end
PyBridge.outputspec(::Extent, x) = (((size(x, 2),), eltype(x)), ((1,), eltype(x)))
function PyBridge.forward!(out, ::Extent, x)
    out[1] .= vec(sum(x, dims = 1))
    out[2] .= sum(x)
    return nothing
end
function PyBridge.backward!(grads, ::Extent, Δrows, Δtotal)
    grads[1] .= reshape(Δrows, 1, :) .+ Δtotal[1]
    return nothing
end

struct RowSum <: CustomFunction end
PyBridge.outputspec(::RowSum, x) = ((size(x, 2),), eltype(x))
PyBridge.forward!(out, ::RowSum, x) = (out .= vec(sum(x, dims = 1)); nothing)
PyBridge.backward!(grads, ::RowSum, Δ) = (grads[1] .= reshape(Δ, 1, :); nothing)

mutable struct InPlaceProduct <: CustomFunction
    a
    b
    InPlaceProduct() = new()
end
PyBridge.forward!(out, f::InPlaceProduct, a, b) = (f.a = a; f.b = b; out .= a .* b; nothing)
function PyBridge.backward!(grads, f::InPlaceProduct, Δ)
    note(join(map(g -> g === nothing ? "nothing" : "array", collect(grads)), " "))
    grads[1] === nothing || (grads[1] .= Δ .* f.b)
    grads[2] === nothing || (grads[2] .= Δ .* f.a)
    return nothing
end

# Results that need care. ----------------------------------------------------------------------------------

struct Identity <: CustomFunction end
PyBridge.forward(::Identity, x) = x
PyBridge.backward(::Identity, Δ) = Δ

struct Flat <: CustomFunction end
PyBridge.forward(::Flat, x) = vec(x)
PyBridge.backward(::Flat, Δ) = reshape(Δ, 3, 2)

struct Flipped <: CustomFunction end
PyBridge.forward(::Flipped, x) = x'
PyBridge.backward(::Flipped, Δ) = Δ'

struct Tail <: CustomFunction end
PyBridge.forward(::Tail, x) = view(x, 2:length(x))
PyBridge.backward(::Tail, Δ) = vcat(zero(eltype(Δ)), Δ)

struct Twins <: CustomFunction end
PyBridge.forward(::Twins, x) = (y = 2 .* x; (y, y))
PyBridge.backward(::Twins, Δ1, Δ2) = 2 .* Δ1 .+ 2 .* Δ2

mutable struct Total <: CustomFunction
    size
    Total() = new()
end
PyBridge.forward(f::Total, x) = (f.size = size(x); sum(x))
PyBridge.backward(f::Total, Δ) = fill(first(Δ), f.size)

struct Positive <: CustomFunction end
PyBridge.forward(::Positive, x) = x .> 0
PyBridge.backward(::Positive, Δ) = nothing

# Keeps a view of its input for ever.
struct Keeper <: CustomFunction end
const KEPT = Any[]
PyBridge.forward(::Keeper, x) = (push!(KEPT, x); x .+ 1)
# libmxnet hands Δ over without giving up its memory: what is to be kept is copied.
PyBridge.backward(::Keeper, Δ) = (push!(KEPT, copy(Δ)); copy(Δ))
kept(i) = floats(KEPT[i])
forget() = (empty!(KEPT); nothing)

mutable struct Training <: CustomFunction
    Training() = new()
end
PyBridge.forward(::Training, x) = (note(is_training()); copy(x))
PyBridge.backward(::Training, Δ) = (note("backward:$(is_training())"); copy(Δ))

# Calls back. ----------------------------------------------------------------------------------------------

run(::Nothing) = nothing
run(hook) = (hook(); nothing)
struct Hook <: CustomFunction
    onforward
    onbackward
    Hook(; onforward = nothing, onbackward = nothing) = new(onforward, onbackward)
end
PyBridge.forward(f::Hook, x) = (note("Hook.forward"); run(f.onforward); 2 .* x)
PyBridge.backward(f::Hook, Δ) = (note("Hook.backward"); run(f.onbackward); 2 .* Δ)

# Calls a Python module from Julia, through PythonCall.
using PythonCall: pyimport
struct Deeper <: CustomFunction
    level
    Deeper(; level = 0) = new(level)
end
PyBridge.forward(f::Deeper, x) = (note("Deeper.forward"); 2 .* x)
function PyBridge.backward(f::Deeper, Δ)
    note("Deeper.backward$(f.level)")
    pyimport("deeper").step(f.level)
    return 2 .* Δ
end

struct Collect <: CustomFunction end
PyBridge.forward(::Collect, x) = (GC.gc(); y = 2 .* x; GC.gc(); y)
PyBridge.backward(::Collect, Δ) = (GC.gc(); g = 2 .* Δ; GC.gc(); g)

# Misbehaves. ----------------------------------------------------------------------------------------------

struct Refusal <: Exception
    code::Int
end
Base.showerror(io::IO, e::Refusal) = print(io, "refused with code ", e.code)
struct Fails <: CustomFunction
    where
    Fails(; where = "backward") = new(where)
end
refuse_here(code) = throw(Refusal(code))
PyBridge.forward(f::Fails, x) = f.where == "forward" ? refuse_here(17) : copy(x)
PyBridge.backward(f::Fails, Δ) = (note("Fails.backward"); f.where == "backward" ? refuse_here(18) : copy(Δ))

failing_pullback(x) = (copy(x), Δ -> refuse_here(19))

struct WrongGradient <: CustomFunction
    how
    WrongGradient(; how) = new(how)
end
PyBridge.forward(::WrongGradient, x, y) = x .+ y
function PyBridge.backward(f::WrongGradient, Δ)
    f.how == "shape" && return (copy(Δ), zeros(eltype(Δ), 7, 5))
    f.how == "dtype" && return (copy(Δ), map(Int32, zero(Δ)))
    f.how == "few" && return (copy(Δ),)
    f.how == "many" && return (copy(Δ), copy(Δ), copy(Δ))
    f.how == "bare" && return copy(Δ)
    f.how == "text" && return (copy(Δ), "not a gradient")
    return (copy(Δ), copy(Δ))
end

struct WrongOutput <: CustomFunction
    how
    WrongOutput(; how) = new(how)
end
function PyBridge.forward(f::WrongOutput, x)
    f.how == "text" && return "not an array"
    f.how == "nothing" && return nothing
    f.how == "complex" && return complex.(x)
    f.how == "strings" && return ["a", "b"]
    f.how == "mixed" && return (copy(x), "not an array")
    return copy(x)
end
PyBridge.backward(::WrongOutput, Δ) = copy(Δ)

struct NoForward <: CustomFunction end
struct NoBackward <: CustomFunction end
PyBridge.forward(::NoBackward, x) = copy(x)

endless(x) = 1 + endless(x + 1)
struct Endless <: CustomFunction
    where
    Endless(; where = "forward") = new(where)
end
PyBridge.forward(f::Endless, x) = f.where == "forward" ? x .+ endless(0) : copy(x)
PyBridge.backward(f::Endless, Δ) = f.where == "backward" ? Δ .+ endless(0) : copy(Δ)

# Writes to what it was given to read.
struct Scribbles <: CustomFunction
    where
    Scribbles(; where = "forward") = new(where)
end
PyBridge.forward(f::Scribbles, x) = (y = copy(x); f.where == "forward" && (x[1] = -1); y)
PyBridge.backward(f::Scribbles, Δ) = (g = copy(Δ); f.where == "backward" && (Δ[1] = -1); g)

end
