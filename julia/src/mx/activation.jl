# Activation functions.

export σ, sigmoid, relu, softmax, log_softmax

"""
    σ.(x::NDArray)
    sigmoid.(x::NDArray)

Returns `1 ./ (1 .+ exp.(-x))`.

```julia
using PyBridge: mx
copy(mx.sigmoid.(mx.zeros(2))) == [0.5, 0.5]
```
"""
σ(x::NDArray) = _each(op"sigmoid", x)
const sigmoid = σ

"""
    relu.(x::NDArray)

Returns `max.(x, 0)`.
"""
relu(x::NDArray) = _each(op"relu", x)

"""
    softmax.(x::NDArray, d = ndims(x))

Returns the exponentials of `x`, divided by their sums along dimension `d`.

```julia
using PyBridge: mx
copy(sum(mx.softmax.(mx.NDArray([1.0 2.0; 3.0 5.0]), 1), dims = 1)) ≈ [1 1]
```
"""
softmax(x::NDArray, d::Integer) = _along(op"softmax", x, d)
softmax(x::NDArray; axis::Integer = ndims(x)) = softmax(x, axis)

"""
    log_softmax.(x::NDArray, d = ndims(x))

Returns the logarithms of [`softmax`](@ref).
"""
log_softmax(x::NDArray, d::Integer) = _along(op"log_softmax", x, d)
log_softmax(x::NDArray; axis::Integer = ndims(x)) = log_softmax(x, axis)

_along(op::Operator, x::NDArray{T,N}, d) where {T,N} = _one(op, (x,), ["axis"], [string(-d)])::NDArray{T,N}
