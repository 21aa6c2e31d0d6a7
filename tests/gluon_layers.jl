# Layers that the tests of Gluon blocks use. Sizes are Julia's: an NDArray of shape (batch, features) is (features, batch) here.

module GluonLayers

using PyBridge
using Random

# What happened, in the order in which it happened.
const CALLS = String[]
note(what) = (push!(CALLS, string(what)); nothing)
called() = join(CALLS, " ")
ncalls(what) = count(==(what), CALLS)
reset() = (empty!(CALLS); nothing)

# Where the parameters of the last call lie, and what they were.
const ADDRESSES = UInt[]
addresses() = join(string.(Int.(ADDRESSES)), " ")

# Layers with parameters. -----------------------------------------------------------------------------------

mutable struct Dense <: CustomFunction
    x
    w
    Dense() = new()
end
function PyBridge.forward(f::Dense, x, w, b)
    append!(empty!(ADDRESSES), (UInt(pointer(w)), UInt(pointer(b))))
    f.x, f.w = x, w
    return w' * x .+ b
end
PyBridge.backward(f::Dense, Δ) = (f.w * Δ, f.x * Δ', vec(sum(Δ, dims = 2)))
PyBridge.outputspec(::Dense, x, w, b) = ((size(w, 2), size(x, 2)), eltype(x))
PyBridge.paramshapes(::Dense, x) = (weight = (x[1], 5), bias = (5,))

# The same without outputspec and paramshapes, in Python's index order.
mutable struct RowDense <: CustomFunction
    x
    w
    RowDense() = new()
end
PyBridge.forward(f::RowDense, x, w) = (f.x = x; f.w = w; permutedims(w * permutedims(x)))
PyBridge.backward(f::RowDense, Δ) = (Δ * f.w, permutedims(Δ) * f.x)
PyBridge.paramshapes(::RowDense, x) = (weight = (5, x[2]),)

# A learnable slope of the sigmoid in x σ(βx); everything in place.
mutable struct Swish <: CustomFunction
    x
    β
    Swish() = new()
end
σ(z) = 1 / (1 + exp(-z))
PyBridge.forward!(out, f::Swish, x, β) = (f.x = x; f.β = β; @. out = x * σ(β * x); nothing)
function PyBridge.backward!(grads, f::Swish, Δ)
    x, β = f.x, f.β
    note(join([g === nothing ? "nothing" : "array" for g in grads], " "))
    grads[1] === nothing || (@. grads[1] = Δ * (σ(β * x) + x * β * σ(β * x) * (1 - σ(β * x))))
    if grads[2] !== nothing
        all = @. Δ * x^2 * σ(β * x) * (1 - σ(β * x))
        grads[2] .= size(β) == size(x) ? all : sum(all)
    end
    return nothing
end

# A float64 literal's worth of trouble is left out: everything in the type of what comes.
mutable struct Scale <: CustomFunction
    x
    w
    Scale() = new()
end
PyBridge.forward(f::Scale, x, w) = (note("Scale.forward"); f.x = x; f.w = w; x .* w)
PyBridge.backward(f::Scale, Δ) =
    (note("Scale.backward"); (Δ .* f.w, vec(sum(Δ .* f.x, dims = ndims(Δ) == 1 ? () : 2))))
PyBridge.outputspec(::Scale, x, w) = (size(x), eltype(x))
PyBridge.paramshapes(::Scale, x) = (weight = (x[1],),)

# Two inputs, one parameter, two results.
mutable struct SumDifference <: CustomFunction
    a
    w
    SumDifference() = new()
end
PyBridge.forward(f::SumDifference, a, b, w) = (f.a = a; f.w = w; (a .* w .+ b, a .* w .- b))
function PyBridge.backward(f::SumDifference, Δsum, Δdifference)
    both = Δsum .+ Δdifference
    return (both .* f.w, Δsum .- Δdifference, vec(sum(both .* f.a, dims = 2)))
end
PyBridge.outputspec(::SumDifference, a, b, w) = ((size(a), eltype(a)), (size(a), eltype(a)))
PyBridge.paramshapes(::SumDifference, a, b) = (weight = (a[1],),)

# States and modes. -----------------------------------------------------------------------------------------

# Batch normalisation of (channels, batch), after Ioffe & Szegedy 2015, with MXNet's conventions.
mutable struct Norm <: CustomFunction
    momentum
    eps
    x̂
    γ
    s
    trained
    Norm(; momentum = 0.9, eps = 1e-5) = new(momentum, eps)
end
function PyBridge.forward(f::Norm, x, γ, β, running_mean, running_var)
    T = eltype(x)
    m, ϵ = T(f.momentum), T(f.eps)
    f.trained = is_training()
    if f.trained
        μ = vec(sum(x, dims = 2)) ./ size(x, 2)
        v = vec(sum((x .- μ) .^ 2, dims = 2)) ./ size(x, 2)
        running_mean .= m .* running_mean .+ (1 - m) .* μ
        running_var .= m .* running_var .+ (1 - m) .* v
    else
        μ, v = copy(running_mean), copy(running_var)
    end
    f.s, f.γ = sqrt.(v .+ ϵ), γ
    f.x̂ = (x .- μ) ./ f.s
    return γ .* f.x̂ .+ β
end
function PyBridge.backward(f::Norm, Δ)
    n = size(Δ, 2)
    ∂β = vec(sum(Δ, dims = 2))
    ∂γ = vec(sum(Δ .* f.x̂, dims = 2))
    ∂x = f.trained ? f.γ ./ f.s .* (Δ .- ∂β ./ n .- f.x̂ .* ∂γ ./ n) : f.γ ./ f.s .* Δ
    return (∂x, ∂γ, ∂β, nothing, nothing)
end
PyBridge.outputspec(::Norm, x, more...) = (size(x), eltype(x))
PyBridge.paramshapes(::Norm, x) =
    (gamma = (x[1],), beta = (x[1],), running_mean = (x[1],), running_var = (x[1],))

# Counts its training calls in a state.
mutable struct Counter <: CustomFunction
    Counter() = new()
end
PyBridge.forward(::Counter, x, n) = (is_training() && (n .+= 1); copy(x))
PyBridge.backward(::Counter, Δ) = (copy(Δ), nothing)
PyBridge.outputspec(::Counter, x, n) = (size(x), eltype(x))

mutable struct Mode <: CustomFunction
    Mode() = new()
end
PyBridge.forward(::Mode, x) = (note(is_training()); fill!(similar(x), is_training()))
PyBridge.backward(::Mode, Δ) = (note("backward:$(is_training())"); zero(Δ))
PyBridge.outputspec(::Mode, x) = (size(x), eltype(x))

mutable struct Dropout <: CustomFunction
    rate
    mask
    Dropout(; rate = 0.5) = new(rate, nothing)
end
function PyBridge.forward(f::Dropout, x)
    is_training() || return x
    f.mask = eltype(x).(rand(size(x)...) .>= f.rate) ./ eltype(x)(1 - f.rate)
    return x .* f.mask
end
PyBridge.backward(f::Dropout, Δ) = f.mask === nothing ? Δ : Δ .* f.mask
PyBridge.outputspec(::Dropout, x) = (size(x), eltype(x))

# Structs whose fields are the parameters. ------------------------------------------------------------------

struct Affine
    weight::Matrix{Float64}
    bias::Vector{Float64}
end
function (l::Affine)(x)
    append!(empty!(ADDRESSES), (UInt(pointer(l.weight)), UInt(pointer(l.bias))))
    return l.weight * x .+ l.bias
end

struct Chain
    first::Affine
    label::String
    second::Affine
    rest::Tuple
end
(l::Chain)(x) = l.second(l.first(x)) .* l.rest[1]
chain() = Chain(Affine([1.0 2; 3 4; 5 6], [0.0, 1, 2]), "a chain", Affine(ones(2, 3), [0.5, 0.25]), ([2.0, 3.0], 7))
affine() = Affine([1.0 2; 3 4; 5 6], [0.0, 1, 2])

struct Tied
    one::Vector{Float64}
    other::Vector{Float64}
end
(l::Tied)(x) = x .* l.one .+ l.other
tied() = (a = [1.0, 2.0]; Tied(a, a))
overlapping() = (a = [1.0, 2.0, 3.0, 4.0]; Tied(a, reshape(reshape(a, 2, 2), 4)))

# An AD package in the form of its public protocol, that differentiates by central differences.
module Numeric
leaves(x::Array{<:AbstractFloat}) = Any[x]
leaves(x::Tuple) = reduce(vcat, map(leaves, collect(Any, x)); init = Any[])
leaves(x) = isstructtype(typeof(x)) && !(x isa AbstractString) && nfields(x) > 0 ?
    reduce(vcat, [leaves(getfield(x, i)) for i in 1:nfields(x)]; init = Any[]) : Any[]
function slopes(value, x::Array{<:AbstractFloat})
    g = zero(x)
    for i in eachindex(x)
        old = x[i]
        h = oftype(old, 1 // 1024)
        x[i] = old + h
        up = value()
        x[i] = old - h
        g[i] = (up - value()) / 2h
        x[i] = old
    end
    return g
end
slopes(value, x::Tuple) = map(part -> slopes(value, part), x)
function slopes(value, x)
    isempty(leaves(x)) && return nothing
    names = fieldnames(typeof(x))
    return NamedTuple{names}(map(name -> slopes(value, getfield(x, name)), names))
end
function pullback(f, xs...)
    y = f(xs...)
    back(Δ) = map(x -> slopes(() -> sum(f(xs...) .* Δ), x), xs)
    return y, back
end
end

# For some element types only, and without outputspec. --------------------------------------------------------

struct Double <: CustomFunction end
PyBridge.forward(::Double, x::Array{Float64}) = 2 .* x
PyBridge.backward(::Double, Δ) = 2 .* Δ

mutable struct Embedding <: CustomFunction
    rows
    size
    Embedding() = new()
end
PyBridge.forward(f::Embedding, i, w) = (f.rows = Int.(vec(i)) .+ 1; f.size = size(w); w[:, f.rows])
function PyBridge.backward(f::Embedding, Δ)
    g = zeros(eltype(Δ), f.size)
    for (k, row) in enumerate(f.rows)
        g[:, row] .+= Δ[:, k]
    end
    return (nothing, g)
end

struct Sum <: CustomFunction end
PyBridge.forward(::Sum, x) = sum(x)
PyBridge.backward(::Sum, Δ) = nothing

struct Positive <: CustomFunction end
PyBridge.forward(::Positive, x) = x .> 0
PyBridge.backward(::Positive, Δ) = nothing

# Misbehave. ------------------------------------------------------------------------------------------------

# Promises another size or another type than it gives.
struct WrongSpec <: CustomFunction
    how
    WrongSpec(; how = "size") = new(how)
end
function PyBridge.outputspec(f::WrongSpec, x)
    f.how == "size" && return ((7, 3), eltype(x))
    f.how == "type" && return (size(x), Float64)
    f.how == "count" && return ((size(x), eltype(x)), (size(x), eltype(x)))
    f.how == "text" && return "a size"
    f.how == "throws" && error("no specification today")
    return (size(x), eltype(x))
end
PyBridge.forward(::WrongSpec, x) = 2 .* x
PyBridge.backward(::WrongSpec, Δ) = 2 .* Δ

struct Fails <: CustomFunction
    where
    Fails(; where = "backward") = new(where)
end
const FAILING = Ref(true)
failing(flag) = (FAILING[] = flag; nothing)
PyBridge.outputspec(::Fails, x) = (size(x), eltype(x))
PyBridge.forward(f::Fails, x) =
    FAILING[] && f.where == "forward" ? error("no forward today") : 2 .* x
PyBridge.backward(f::Fails, Δ) =
    FAILING[] && f.where == "backward" ? error("no backward today") : 2 .* Δ

struct WrongShapes <: CustomFunction
    how
    WrongShapes(; how = "") = new(how)
end
PyBridge.forward(::WrongShapes, x, w) = x .* w
PyBridge.backward(::WrongShapes, Δ) = (Δ, Δ)
function PyBridge.paramshapes(f::WrongShapes, x)
    f.how == "name" && return (wait = (3,),)
    f.how == "dims" && return (weight = (3, 3),)
    f.how == "text" && return "a shape"
    f.how == "zero" && return (weight = (0,),)
    f.how == "throws" && error("no shapes today")
    return (weight = (x[1],),)
end

# Calls Python from forward and from backward.
run(::Nothing) = nothing
run(hook) = (hook(); nothing)
struct Hook <: CustomFunction
    onforward
    onbackward
    Hook(; onforward = nothing, onbackward = nothing) = new(onforward, onbackward)
end
PyBridge.outputspec(::Hook, x) = (size(x), eltype(x))
PyBridge.forward(f::Hook, x) = (note("Hook.forward"); run(f.onforward); 2 .* x)
PyBridge.backward(f::Hook, Δ) = (note("Hook.backward"); run(f.onbackward); 2 .* Δ)

# The same without an outputspec.
struct Unspecified <: CustomFunction
    onforward
    onbackward
    Unspecified(; onforward = nothing, onbackward = nothing) = new(onforward, onbackward)
end
PyBridge.forward(f::Unspecified, x) = (run(f.onforward); 2 .* x)
PyBridge.backward(f::Unspecified, Δ) = (run(f.onbackward); 2 .* Δ)

struct Collect <: CustomFunction end
PyBridge.outputspec(::Collect, x) = (size(x), eltype(x))
PyBridge.forward(::Collect, x) = (GC.gc(); y = 2 .* x; GC.gc(); y)
PyBridge.backward(::Collect, Δ) = (GC.gc(); g = 2 .* Δ; GC.gc(); g)

mutable struct Square <: CustomFunction
    x
    Square() = new()
end
PyBridge.outputspec(::Square, x) = (size(x), eltype(x))
PyBridge.forward(f::Square, x) = (f.x = x; x .* x)
PyBridge.backward(f::Square, Δ) = 2 .* Δ .* f.x

# Makes its result from nothing but its parameter.
mutable struct Constant <: CustomFunction
    Constant() = new()
end
PyBridge.outputspec(::Constant, w) = (size(w), eltype(w))
PyBridge.forward(::Constant, w) = 3 .* w
PyBridge.backward(::Constant, Δ) = 3 .* Δ

mutable struct Total <: CustomFunction
    size
    Total() = new()
end
PyBridge.outputspec(::Total, x) = ((1,), eltype(x))
PyBridge.forward(f::Total, x) = (f.size = size(x); sum(x))
PyBridge.backward(f::Total, Δ) = fill(first(Δ), f.size)

end
