"""
    CustomFunction

A differentiable function for MXNet's autograd graph. A subtype defines

- a constructor without positional arguments (keyword arguments come from `pb.function` and from the call);
- `PyBridge.forward(f, xs...)`, an array or a tuple of arrays, or `PyBridge.forward!(out, f, xs...)` together with
  [`PyBridge.outputspec`](@ref);
- `PyBridge.backward(f, Δs...)`, one gradient per argument of `forward` (`nothing` for zero), or
  `PyBridge.backward!(grads, f, Δs...)`.

Each call makes a fresh instance, so values saved in it for the backward never leak between calls. An NDArray of shape
`(a, b, c)` arrives as an `Array` of size `(c, b, a)` over the same memory; writing to it is forbidden.

```jldoctest; setup = :(using PyBridge)
julia> mutable struct Square <: CustomFunction
           x
           Square() = new()
       end

julia> PyBridge.forward(f::Square, x) = (f.x = x; x .^ 2);

julia> PyBridge.backward(f::Square, Δ) = @. 2 * f.x * Δ;

julia> f = Square(); PyBridge.forward(f, [1.0, 3.0])
2-element Array{Float64,1}:
 1.0
 9.0
```
"""
abstract type CustomFunction end

"""
    PyBridge.forward(f, xs...)

The value of the custom function `f` at `xs`: an array, a number, or a tuple of them. Whatever the backward needs is
saved in `f`. See [`CustomFunction`](@ref).
"""
function forward end

"""
    PyBridge.backward(f, Δs...)

The gradients with respect to every argument of `forward`, given the gradients `Δs` with respect to its results.
The memory of `Δs` is libmxnet's and lasts until the call returns: `copy` what is to be kept.
"""
function backward end

"""
    PyBridge.forward!(out, f, xs...)

In-place form of [`PyBridge.forward`](@ref): writes into `out` (a tuple of arrays when `outputspec` names several),
which is libmxnet's own memory.
"""
function forward! end

"""
    PyBridge.backward!(grads, f, Δs...)

In-place form of [`PyBridge.backward`](@ref): `grads` holds an array to be written, or `nothing` where no gradient is
wanted, for each argument of `forward`.
"""
function backward! end

"""
    PyBridge.outputspec(f, xs...) -> (size, eltype)

Size and element type of what `forward!` writes; a tuple of such pairs when there are several results. By default
those of the first array.

```jldoctest; setup = :(using PyBridge)
julia> struct Same <: CustomFunction end

julia> PyBridge.outputspec(Same(), zeros(Float32, 3, 2))
((3, 2), Float32)
```
"""
function outputspec(f, xs...)
    i = findfirst(x -> x isa AbstractArray, collect(Any, xs))
    i === nothing && throw(ArgumentError("outputspec: $(typeof(f)) got no array to take size and element type from"))
    return (size(xs[i]), eltype(xs[i]))
end

"""
    PyBridge.argkind(T) -> :array or :ndarray

What the custom function `T` wants its arguments as. Only `:array`, the default, is there so far.
"""
argkind(::Type) = :array

# ---- the mode ------------------------------------------------------------------------------------------------

const TRAINING = Ref(-1)   # of the call being served, -1 outside of one

"""
    is_training()

Whether the call being made is a training one (`pb.record()`, `pb.train_mode()`), for functions such as dropout.
"""
is_training() = TRAINING[] >= 0 ? TRAINING[] == 1 : C_IS_TRAINING[] != C_NULL && ccall(C_IS_TRAINING[], Cint, ()) != 0

# ---- calls from Julia ------------------------------------------------------------------------------------------

const REGISTERED = Dict{Any,Any}()   # CustomFunction type => the Python JuliaFunction that calls it

"""
    @registerfunc T

Let `T(x)`, with an MXNet `NDArray` (a Python object) among its arguments, call the custom function `T` as a node of
the graph, from Julia code. Calling it from Python needs no registration.
"""
macro registerfunc(T)
    # All of it is the caller's: hygiene would rename the `Type` of the method's own name.
    return esc(quote
        $_registrable($T)
        (::$Type{$T})(x::$Py, xs...; kw...) = $_call_registered($T, x, xs...; kw...)
        $T
    end)
end

_registrable(T) = T isa Type && T <: CustomFunction ||
    throw(ArgumentError("@registerfunc: $T is no subtype of PyBridge.CustomFunction"))

function _call_registered(type, xs...; kw...)
    f = get!(() -> pyimport("pybridge").function(type), REGISTERED, type)
    return f(xs...; kw...)
end
