# Products and norms.

"""
    dot(x::NDArray, y::NDArray) -> NDArray

Returns the sums of products along the last dimension of `x` and the first of `y`: for matrices, `x * y`.

```julia
using PyBridge: mx
x, y = mx.NDArray([1.0 2.0; 3.0 4.0]), mx.NDArray([1.0, -1.0])
copy(mx.dot(x, y)) == [-1, -1]
```
"""
LinearAlgebra.dot(x::NDArray, y::NDArray) = _one(op"dot", (y, x))

"""
    norm(x::NDArray, p = 2; dims = :) -> NDArray

Returns the 1-norm or 2-norm of all elements, or along dimensions as `sum` does.
"""
function LinearAlgebra.norm(x::NDArray, p::Real = 2; dims = :)
    p == 1 || p == 2 || throw(ArgumentError("norm: libmxnet has the norms 1 and 2 of an NDArray, not $p"))
    dims isa Colon && return _one(op"norm", (x,), ["ord"], [string(Int(p))])
    return _one(op"norm", (x,), ["ord", "axis", "keepdims"], [string(Int(p)), _tuple(map(-, Tuple(dims))), "1"])
end
