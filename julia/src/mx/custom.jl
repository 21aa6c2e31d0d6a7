# Functions written in Julia as nodes of the graph: what MXNet.jl never shipped.

export forward

"""
    forward(f, xs...)

To be defined for the instances that a function made by [`@custom`](@ref) returns: the value of `f` at `xs`.
"""
function forward end

"""
    argkind(F) -> :ndarray or :array

Returns what `forward` and `backward!` of instances of type `F` want their arguments as: `mx.NDArray`s, or plain Julia arrays
over the same memory.
"""
argkind(::Type) = :ndarray

"An instance made by a function of `@custom`, in the words of PyBridge."
struct Instance{F} <: CustomFunction
    f::F
end
PyBridge.forward(c::Instance, xs...) = forward(c.f, xs...)
PyBridge.backward(c::Instance, Δs...) = backward!(c.f, Δs...)
PyBridge.argkind(::Type{Instance{F}}) where {F} = Base.invokelatest(argkind, F)

"""
    @custom f(xs...; kw...) = instance
    @custom function f(xs...; kw...)
        ...
        return instance
    end

Define a differentiable function: its body makes an instance of any type `F`, for which `mx.forward(f::F, xs...)` returns
the value and `mx.backward!(f::F, Δs...)` the gradients of the arguments (`nothing` for zero), given those of the results.
What the backward needs is saved in the instance.

```julia
mutable struct Swish
    σ
    y
    Swish() = new()
end

mx.@custom swish(x) = Swish()

function mx.forward(f::Swish, x)
    f.σ = mx.sigmoid(x)
    return f.y = x .* f.σ
end

mx.backward!(f::Swish, Δ) = (f.y .+ f.σ .* (1 .- f.y)) .* Δ
```
"""
macro custom(definition)
    definition isa Expr && definition.head in (:(=), :function) && length(definition.args) == 2 ||
        throw(ArgumentError("@custom: expected a function definition, f(xs...) = instance"))
    signature, body = definition.args
    call = signature
    while call isa Expr && call.head in (:where, :(::))
        call = call.args[1]
    end
    call isa Expr && call.head === :call || throw(ArgumentError("@custom: expected a function definition, f(xs...) = instance"))
    name = string(call.args[1])
    positional = filter(a -> !(a isa Expr && a.head === :parameters), call.args[2:end])
    arguments = map(_argument_name, positional)
    number = Ref(0)     # of the function, once it has been called
    # The definition is the caller's; hygiene would rename its arguments.
    return esc(Expr(:function, signature, quote
        local instance = (() -> $body)()
        $_call_instance($number, $name, instance, ($(arguments...),))
    end))
end

"""
    @customfunc T

Let instances `f` of `T` be called on NDArrays as differentiable functions, `f(xs...)`, with `mx.forward(f, xs...)` and
`mx.backward!(f, Δs...)`, which get plain arrays over the same memory. What these return is converted to the element type
of their arguments, so that a `2.0` in a formula widens nothing, as with NDArrays. Returns `T`.

```julia
mutable struct Cube
    x
    Cube() = new()
end

mx.@customfunc Cube

mx.forward(f::Cube, x) = (f.x = x; x .^ 3)
mx.backward!(f::Cube, Δ) = 3 .* f.x .^ 2 .* Δ
```
"""
macro customfunc(T)
    number = Ref(0)
    # All of it is the caller's: hygiene would rename the argument of the method.
    return esc(quote
        (f::$T)(x, xs...) = $_call_narrowing($number, $(string(T)), f, (x, xs...))
        $T
    end)
end

"An instance of a type of `@customfunc`, in the words of PyBridge."
struct Narrowing{F} <: CustomFunction
    f::F
end
PyBridge.forward(c::Narrowing, xs...) = _narrowed(xs, forward(c.f, xs...))
PyBridge.backward(c::Narrowing, Δs...) = _narrowed(Δs, backward!(c.f, Δs...))

_narrowed(like, y) = y
_narrowed(like, ys::Tuple) = map(y -> _narrowed(like, y), ys)
function _narrowed(like, y::AbstractArray)
    i = findfirst(x -> x isa AbstractArray, like)
    T = eltype(like[i])
    return eltype(y) === T ? y : convert(Array{T}, y)
end

_call_narrowing(number::Ref{Int}, name, f, arguments) =
    _call_node(_prepared!(number, name, Narrowing), Narrowing(f), arguments, NamedTuple())

function _argument_name(a)
    a isa Symbol && return a
    a isa Expr && a.head === :(::) && length(a.args) == 2 && return a.args[1]
    a isa Expr && a.head === :kw && return _argument_name(a.args[1])
    a isa Expr && a.head === :... && return Expr(:..., _argument_name(a.args[1]))
    throw(ArgumentError("@custom: every argument needs a name, got $a"))
end

_call_instance(number::Ref{Int}, name, instance, arguments) =
    _call_node(_prepared!(number, name, Instance), Instance(instance), arguments, NamedTuple())

"The number under which Julia code has made a custom function ready; Python knows its name."
function _prepared!(number::Ref{Int}, name, type)
    if number[] == 0
        number[] = PyBridge.prepare(type, name, false, false, Dict())
        _python().name_function(number[], String(name))
    end
    return number[]
end

const REGISTERED = IdDict{Any,Ref{Int}}()

"Call the registered custom function `type` on NDArrays."
call_registered(type, arguments::Tuple, keywords) =
    _call_node(_prepared!(get!(() -> Ref(0), REGISTERED, type), string(type), type), type, arguments, (; keywords...))

const ROOM = 64     # for results

"Call a custom function on NDArrays and constants: one node of the graph, if autograd is recording."
function _call_node(number::Int, target, arguments::Tuple, keywords)
    slots = Int[i for i in 1:length(arguments) if arguments[i] isa NDArray]
    isempty(slots) && throw(ArgumentError("$(PyBridge.PREPARED[number].name): expected at least one NDArray among the arguments"))
    arrays = NDArray[arguments[i] for i in slots]
    foreach(_wait_to_read, arrays)      # here, where waiting lets others go on
    words, handles = Base.zeros(Int64, PyBridge.HEADER + PyBridge.WORDS * (length(arrays) + ROOM)), _handles(arrays)
    GC.@preserve words handles arrays begin
        b = PyBridge.Block(pointer(words))
        b[PyBridge.H_FUNCTION], b[PyBridge.H_ROOM] = number, ROOM
        _open(b, handles, number, slots)
        failed, unrecorded = true, Cint(0)
        try
            PyBridge.within(b) do
                _run(b, PyBridge.PREPARED[number], target, arguments, slots, keywords)
            end
            failed = false
        finally
            failed && PyBridge.free_results!(b)
            unrecorded = ccall(PyBridge.C_CLOSE_CALL[], Cint, (Ptr{Int64}, Ptr{Ptr{Cvoid}}, Cint), b.at, handles, failed)
        end
        n = length(arrays)
        made = Ptr{Cvoid}[PyBridge.handle(PyBridge.descriptor(b, n + i)) for i in 1:b[PyBridge.H_OUTPUTS]]
        results = Tuple(_owning(made; numpy = arrays[1].numpy))
        _check(unrecorded)
        return b[PyBridge.H_SEVERAL] == 0 ? results[1] : results
    end
end

const UNFIT = Dict(
    2 => "is sparse", 3 => "is on a GPU", 4 => "has an element type that Julia cannot share",
    5 => "has an unknown shape, or more than $(PyBridge.MAXDIM) dimensions")

function _open(b, handles, number, slots)
    bad = ccall(PyBridge.C_OPEN_CALL[], Cint, (Ptr{Int64}, Ptr{Ptr{Cvoid}}, Cint, Cint), b.at, handles, length(handles), 0)
    bad == 0 && return nothing
    index, reason = divrem(Int(bad), 8)
    reason == 1 && throw(MXError(_last_error()))
    throw(ArgumentError("$(PyBridge.PREPARED[number].name): argument $(slots[index+1]) $(UNFIT[reason])"))
end

function _run(b, p, target, arguments, slots, keywords)
    xs = PyBridge._inputs(b, length(slots))
    PyBridge._release()
    laid = Any[arguments...]
    kind = target isa CustomFunction ? typeof(target) : target
    laid[slots] = collect(Any, map(x -> PyBridge.argument(p, kind, x), xs))
    PyBridge._forward(b, p, target, xs, Tuple(laid), slots, merge(p.keywords, keywords))
    return nothing
end

# ---- NDArrays as arguments -------------------------------------------------------------------------------------

"The NDArray over the memory of the Julia array `a`."
function over(a::Array)
    words = Base.zeros(Int64, PyBridge.HEADER + PyBridge.WORDS)
    GC.@preserve words begin
        d = PyBridge._blank(PyBridge.Block(pointer(words)), 1)
        PyBridge.adopt!(d, a, false)
        return NDArray(PyBridge.handle(d); owned = false)
    end
end

PyBridge.as_ndarray(a::Array) = over(a)
PyBridge.plain(x::NDArray) = _memory(x)
PyBridge.done_with(x::NDArray) = (_wait_to_write(x); nothing)
