# Reductions: of everything, to an array of one element, or along dimensions, which stay as 1.

const ALONG = ["axis", "keepdims"]

_reduced(op::Operator, x::NDArray{T}, ::Colon) where {T} = _one(op, (x,))
_reduced(op::Operator, x::NDArray, dims) = _one(op, (x,), ALONG, [_tuple(map(-, unique(dims))), "1"])

"""
    sum(x::NDArray; dims = :) -> NDArray

Also `mean`, `prod`, `maximum` and `minimum`. Returns an array of one element, or, with `dims` a number, a tuple or a vector of
dimensions, of size 1 in these.

```julia
using PyBridge: mx
x = mx.NDArray([1.0 2.0; 3.0 4.0])
sum(x)[] == 10
copy(sum(x, dims = 1)) == [4 6]
```
"""
Base.sum(x::NDArray; dims = :) = _reduced(op"sum", x, dims)
Base.prod(x::NDArray; dims = :) = _reduced(op"prod", x, dims)
Base.maximum(x::NDArray; dims = :) = _reduced(op"max", x, dims)
Base.minimum(x::NDArray; dims = :) = _reduced(op"min", x, dims)
Statistics.mean(x::NDArray; dims = :) = _reduced(op"mean", x, dims)

# With the dimensions as a second argument; spelt out, for Base has methods for a function and an array.
for D in (Integer, Tuple{Vararg{Integer}}, AbstractArray{<:Integer})
    @eval begin
        Base.sum(x::NDArray, dims::$D) = sum(x; dims = dims)
        Base.prod(x::NDArray, dims::$D) = prod(x; dims = dims)
        Base.maximum(x::NDArray, dims::$D) = maximum(x; dims = dims)
        Base.minimum(x::NDArray, dims::$D) = minimum(x; dims = dims)
        Statistics.mean(x::NDArray, dims::$D) = mean(x; dims = dims)
    end
end

"""
    argmax(x::NDArray; dims = :) -> NDArray

Also `argmin`. Returns the places of the largest (smallest) elements, counted from 1 along dimension `dims` or in the order of
memory.

```julia
using PyBridge: mx
copy(argmax(mx.NDArray([1.0 5.0; 4.0 2.0]), dims = 1)) == [2 1]
```
"""
Base.argmax(x::NDArray; dims = :) = _place(op"argmax", x, dims)
Base.argmin(x::NDArray; dims = :) = _place(op"argmin", x, dims)

_place(op::Operator, x::NDArray, ::Colon) = _one(op, (x,)) + 1
_place(op::Operator, x::NDArray, d::Integer) = _one(op, (x,), ALONG, [string(-d), "1"]) + 1
