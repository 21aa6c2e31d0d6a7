"""
    CustomFunction

A differentiable function for MXNet's autograd graph. A subtype `T` defines

- a constructor without positional arguments: each call makes a fresh instance `T(; kw...)`, whose keyword arguments
  are those of `pb.function` and of the call, so values saved for the backward never leak between calls;
- [`PyBridge.forward`](@ref), or [`PyBridge.forward!`](@ref) together with [`PyBridge.outputspec`](@ref);
- [`PyBridge.backward`](@ref) or [`PyBridge.backward!`](@ref).

An NDArray of shape `(a, b, c)` arrives as an `Array` of size `(c, b, a)` over the same memory, with
`layout="python"` as a `PermutedDimsArray` of size `(a, b, c)`. It is valid for as long as Julia holds it; writing to it
is forbidden. Python gets what the methods throw as `pb.JuliaError`, and a `TypeError` or `ValueError` where they do
not keep to this protocol ([`PyBridge.Misuse`](@ref)).

```jldoctest; setup = :(using PyBridge)
julia> mutable struct Power <: CustomFunction
           n
           x
           Power(; n = 2) = new(n)
       end

julia> PyBridge.forward(f::Power, x) = (f.x = x; x .^ f.n);

julia> PyBridge.backward(f::Power, Δ) = f.n .* f.x .^ (f.n - 1) .* Δ;

julia> f = Power(n = 3); PyBridge.forward(f, [1.0, 2.0])
2-element Array{Float64,1}:
 1.0
 8.0

julia> PyBridge.backward(f, [1.0, 1.0])
2-element Array{Float64,1}:
  3.0
 12.0
```
"""
abstract type CustomFunction end

"""
    PyBridge.forward(f, xs...)

Returns the value of the custom function `f` at `xs`: an array, a number, or a tuple of them. Whatever the backward
needs is saved in `f`, the arrays `xs` and the result included.

`xs` are the positional arguments of the call: arrays over the NDArrays' memory, not to be written to, and constants as
they are. An `Array` that is returned becomes an NDArray over the same memory: return a fresh one each time, and do not
write to it afterwards. Other kinds of arrays, and results that share memory with an argument or another result, are
copied once. A number becomes shape `(1,)`, or `()` among `mx.np` arrays. Element types are those of libmxnet
([`PyBridge.dtype_code`](@ref)).

There is no method by itself: a `MethodError` says that `f` has none for these arguments.

```jldoctest; setup = :(using PyBridge)
julia> struct MinMax <: CustomFunction end

julia> PyBridge.forward(::MinMax, x) = extrema(x);

julia> PyBridge.forward(MinMax(), [3.0, 1.0, 2.0])
(1.0, 3.0)
```
"""
function forward end

"""
    PyBridge.backward(f, Δs...)

Returns the gradients with respect to the positional arguments of `forward`, given the gradients `Δs` with respect to
its results: a tuple with one entry for each argument, constants included, or the bare entry if there is one argument.
An entry is an array of the size *and element type* of the argument (for one element also a number), or `nothing` for
zero.

`Δs` are libmxnet's memory and last until the call returns: `copy` what is to be kept. They may be returned. A gradient
that does not fit is an error which names the argument, and then none is written. Mind literals: `2.0 .* Δ` is `Float64`
for a `Float32` Δ; `2 .* Δ` and `eltype(Δ)(0.1) .* Δ` are not.

```jldoctest; setup = :(using PyBridge)
julia> mutable struct Scale <: CustomFunction
           by
           Scale() = new()
       end

julia> PyBridge.forward(f::Scale, x, by) = (f.by = eltype(x)(by); f.by .* x);

julia> PyBridge.backward(f::Scale, Δ) = (f.by .* Δ, nothing);

julia> f = Scale(); PyBridge.forward(f, Float32[1, 2], 0.5);

julia> PyBridge.backward(f, Float32[10, 10])
(Float32[5.0, 5.0], nothing)
```
"""
function backward end

"""
    PyBridge.forward!(out, f, xs...)

In-place form of [`PyBridge.forward`](@ref), taken instead of it where a method is defined for `f` and arguments of
these types: writes *every* element of `out`, which is libmxnet's memory and not initialised. The value returned does not
matter. `out` is an array of the size and element type that [`PyBridge.outputspec`](@ref) says, a tuple of arrays when
that says several. It may be saved in `f`.

```jldoctest; setup = :(using PyBridge)
julia> struct Twice <: CustomFunction end

julia> PyBridge.forward!(out, ::Twice, x) = (out .= 2 .* x);

julia> out = zeros(2); PyBridge.forward!(out, Twice(), [1.0, 2.0]); out
2-element Array{Float64,1}:
 2.0
 4.0
```
"""
function forward! end

"""
    PyBridge.backward!(grads, f, Δs...)

In-place form of [`PyBridge.backward`](@ref), taken instead of it where a method is defined for `f` and gradients of
these types. `grads` is a tuple with an entry for each positional argument of `forward`: an array of its size, of which
*every* element is to be written (it is not initialised), or `nothing` for a constant and where no gradient is wanted.
The value returned does not matter. `grad_req="add"` is seen to by the caller: write, do not add.

```jldoctest; setup = :(using PyBridge)
julia> struct Negative <: CustomFunction end

julia> PyBridge.backward!(grads, ::Negative, Δ) = grads[1] === nothing || (grads[1] .= .-Δ);

julia> g = zeros(2); PyBridge.backward!((g,), Negative(), [1.0, 2.0]); g
2-element Array{Float64,1}:
 -1.0
 -2.0
```
"""
function backward! end

"""
    PyBridge.outputspec(f, xs...) -> (size, eltype)

Returns size and element type of what [`PyBridge.forward!`](@ref) writes for `f` at `xs`; a tuple of such pairs when there
are several results. By default those of the first array among `xs`; an `ArgumentError` if there is none. Sizes are in
the order in which `f` sees its arguments.

```jldoctest; setup = :(using PyBridge)
julia> struct Same <: CustomFunction end

julia> PyBridge.outputspec(Same(), zeros(Float32, 3, 2))
((3, 2), Float32)

julia> struct ColumnSums <: CustomFunction end

julia> PyBridge.outputspec(::ColumnSums, x) = ((size(x, 2),), eltype(x));

julia> PyBridge.outputspec(ColumnSums(), zeros(Float32, 3, 2))
((2,), Float32)
```
"""
function outputspec(f, xs...)
    i = findfirst(x -> x isa AbstractArray, collect(Any, xs))
    i === nothing && throw(ArgumentError("outputspec: $(typeof(f)) got no array to take size and element type from"))
    return (size(xs[i]), eltype(xs[i]))
end

"""
    PyBridge.argkind(T) -> :array or :ndarray

Returns what the custom function type `T` wants its arguments as, in `forward` and `backward`: plain arrays (`:array`, the
default), or `PyBridge.mx.NDArray`s over the same memory (`:ndarray`), on which the operators of `mx` work. Define a method
for a type of your own. Anything else is a `ValueError` in Python.

```jldoctest; setup = :(using PyBridge)
julia> struct OnNDArrays <: CustomFunction end

julia> PyBridge.argkind(::Type{OnNDArrays}) = :ndarray;

julia> PyBridge.argkind(CustomFunction), PyBridge.argkind(OnNDArrays)
(:array, :ndarray)
```
"""
argkind(::Type) = :array

# ---- the mode ------------------------------------------------------------------------------------------------

const TRAINING = Ref(-1)   # of the call being served, -1 outside of one

"""
    is_training()

Returns whether the call being made is a training one (`pb.record()`, `pb.train_mode()`), for functions such as dropout;
in a backward, the `train_mode` of that backward. Outside of a call, what libmxnet says of the current thread.

```jldoctest; setup = :(using PyBridge)
julia> is_training()
false
```

```julia
mutable struct Dropout <: CustomFunction
    rate
    mask
    Dropout(; rate = 0.5) = new(rate, nothing)
end

function PyBridge.forward(f::Dropout, x)
    is_training() || return x
    f.mask = eltype(x).(rand(Float64, size(x)) .> f.rate) ./ eltype(x)(1 - f.rate)
    return x .* f.mask
end

PyBridge.backward(f::Dropout, Δ) = f.mask === nothing ? Δ : Δ .* f.mask
```
"""
is_training() = TRAINING[] >= 0 ? TRAINING[] == 1 : C_IS_TRAINING[] != C_NULL && ccall(C_IS_TRAINING[], Cint, ()) != 0
