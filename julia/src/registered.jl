# Custom functions called from Julia code.

const REGISTERED = Dict{Any,Any}()   # CustomFunction type => the Python JuliaFunction that calls it

"""
    @registerfunc T

Let `T(x, more...; kw...)`, with a `PyBridge.mx.NDArray` or a Python `NDArray` as its first argument, call the custom function
`T` as a node of the graph, from Julia code. Returns `T`; an `ArgumentError` if that is no subtype of
[`CustomFunction`](@ref). `T(x)` returns an `NDArray` of the kind of `x`, or a tuple of them. Calling `T` from Python needs no
registration.

```julia
using PyBridge
using PyBridge.PythonCall: pyimport, pyconvert

mutable struct Sigmoid <: CustomFunction
    y
    Sigmoid() = new()
end

PyBridge.forward(f::Sigmoid, x) = (f.y = @. 1 / (1 + exp(-x)))
PyBridge.backward(f::Sigmoid, Δ) = @. Δ * f.y * (1 - f.y)
@registerfunc Sigmoid

mx, pb = pyimport("mxnet"), pyimport("pybridge")
x = mx.nd.zeros(3)
pb.attach_grad(x)
y = pb.record() do
    2 * Sigmoid(x)
end
y.backward()
@assert pyconvert(Float64, x.grad.sum().asscalar()) == 1.5
```
"""
macro registerfunc(T)
    # All of it is the caller's: hygiene would rename the `Type` of the method's own name.
    return esc(quote
        $_registrable($T)
        (::$Type{$T})(x::$(Union{Py,mx.NDArray}), xs...; kw...) = $_call_registered($T, x, xs...; kw...)
        $T
    end)
end

_registrable(T) = T isa Type && T <: CustomFunction ||
    throw(ArgumentError("@registerfunc: $T is no subtype of PyBridge.CustomFunction"))

_call_registered(type, x::mx.NDArray, xs...; kw...) = mx.call_registered(type, (x, xs...), kw)
function _call_registered(type, xs...; kw...)
    f = get!(() -> pyimport("pybridge").function(type), REGISTERED, type)
    return f(xs...; kw...)
end
