# Sizes and orders of dimensions. Julia's dimension `d` of `n` is libmxnet's axis `n - d`, or `-d`.

export expand_dims, broadcast_to, broadcast_axis, broadcast_axes

Base.size(x::NDArray, i::Integer, j::Integer, more::Integer...) = map(d -> size(x, d), (i, j, more...))

const RESHAPE = ["shape", "reverse"]

"""
    reshape(x::NDArray, dims...; reverse = false) -> NDArray

Returns the elements of `x` as an array of another size. `-1` stands for what is left, `0` for the dimension of `x` at this
place, counted from the end if `reverse`; `-2`, `-3` and `-4` are those of libmxnet's operator.

```julia
using PyBridge: mx
x = mx.zeros(10, 5, 4)
size(reshape(x, -1, 0)) == (40, 5)
size(reshape(x, -1, 0, reverse = true)) == (50, 4)
```
"""
function Base.reshape(x::NDArray, dims::Union{Tuple{Vararg{Integer}},AbstractVector{<:Integer}}; reverse::Bool = false)
    _check_fits(x, dims, reverse)
    return _one(op"Reshape", (x,), RESHAPE, [_tuple(dims), reverse ? "0" : "1"])
end
"libmxnet finds out when it computes that a size does not fit, and then it is the error of whatever comes next."
function _check_fits(x::NDArray, dims, reverse::Bool)
    any(d -> d < -1, dims) && return nothing     # codes of its own
    offset = reverse ? ndims(x) - length(dims) : 0
    known = prod(Int[d == 0 ? size(x, max(i + offset, 1)) : d for (i, d) in enumerate(dims) if d != -1])
    n = length(x)
    (-1 in dims ? known > 0 && n % known == 0 : known == n) || throw(DimensionMismatch(
        "reshape: the array of size $(size(x)) has $n elements, which are not those of an array of size $(Tuple(dims))"))
    return nothing
end

Base.reshape(x::NDArray, dims::Union{Integer,Colon}...; reverse::Bool = false, shape = dims) =
    reshape(x, map(d -> d isa Colon ? -1 : d, shape); reverse = reverse)

"""
    Reshape(x::NDArray; shape) -> NDArray

The old name of `reshape`.
"""
Reshape(x::NDArray; shape) = reshape(x, shape)

"""
    expand_dims(x::NDArray, d) -> NDArray

Returns `x` with a dimension of 1 put in as the `d`th.
"""
expand_dims(x::NDArray, d::Integer) = _one(op"expand_dims", (x,), ["axis"], [string(-d)])

# ---- order of dimensions ---------------------------------------------------------------------------------------

Base.permutedims(x::NDArray, order) =
    _one(op"transpose", (x,), ["axes"], [_tuple(map(d -> length(order) - d, Tuple(order)))])
Base.permutedims(x::NDArray{T,1}) where {T} = transpose(x)
Base.permutedims(x::NDArray{T,2}) where {T} = transpose(x)

LinearAlgebra.transpose(x::NDArray{T,1}) where {T} = reshape(x, (1, length(x)))
LinearAlgebra.transpose(x::NDArray{T,2}) where {T} = _one(op"transpose", (x,))
LinearAlgebra.adjoint(x::NDArray{T,1}) where {T} = transpose(x)
LinearAlgebra.adjoint(x::NDArray{T,2}) where {T} = transpose(x)

# ---- arrays side by side ---------------------------------------------------------------------------------------

"""
    cat(xs::NDArray...; dims) -> NDArray

Returns the arrays one after the other along dimension `dims`. `hcat` and `vcat`, and `[x y]` and `[x; y]`, are those of
dimensions 2 and 1.
"""
function Base.cat(x::NDArray, xs::NDArray...; dims::Integer)
    n = max(dims, ndims(x), map(ndims, xs)...)
    all_of_them = map(y -> _with_ndims(y, n), (x, xs...))
    return _one(op"Concat", all_of_them, ["num_args", "dim"], [string(length(all_of_them)), string(n - dims)])
end
Base.cat(dims::Integer, x::NDArray, xs::NDArray...) = cat(x, xs...; dims = dims)

_with_ndims(x::NDArray, n::Int) = ndims(x) == n ? x : reshape(x, (size(x)..., ntuple(_ -> 1, n - ndims(x))...))

Base.hcat(x::NDArray, xs::NDArray...) = cat(x, xs...; dims = 2)
Base.vcat(x::NDArray, xs::NDArray...) = cat(x, xs...; dims = 1)
function Base.hvcat(rows::Tuple{Vararg{Int}}, x::NDArray, xs::NDArray...)
    blocks, ends = (x, xs...), cumsum(collect(rows))
    return vcat((hcat(blocks[e-r+1:e]...) for (r, e) in zip(rows, ends))...)
end

# ---- repeating along dimensions of 1 ---------------------------------------------------------------------------

"""
    broadcast_to(x::NDArray, dims...) -> NDArray

Returns `x` repeated along its dimensions of 1, to an array of size `dims`.

```julia
using PyBridge: mx
copy(mx.broadcast_to(mx.NDArray([1 2 3]), 2, 3)) == [1 2 3; 1 2 3]
```
"""
broadcast_to(x::NDArray, dims::Tuple) = _one(op"broadcast_to", (_with_ndims(x, length(dims)),), ["shape"], [_tuple(dims)])
broadcast_to(x::NDArray, dims::Integer...) = broadcast_to(x, dims)

"""
    broadcast_axis(x::NDArray, d, n) -> NDArray
    broadcast_axes(x::NDArray, d, n) -> NDArray

Returns `x` repeated `n` times along its dimension `d` of 1; both can be tuples or vectors.
"""
broadcast_axis(x::NDArray, d, n) =
    _one(op"broadcast_axis", (x,), ["axis", "size"], [_tuple(map(i -> ndims(x) - i, Tuple(d))), _tuple(n)])
const broadcast_axes = broadcast_axis
