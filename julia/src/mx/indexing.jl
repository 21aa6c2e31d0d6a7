# Elements and slices: views of the same memory.

"""
    slice(x::NDArray, start:stop) -> NDArray
    slice(x::NDArray, :) -> x

Returns a range of the last dimension of `x`, over the same memory.

```julia
using PyBridge: mx
x = mx.zeros(2, 4)
y = mx.slice(x, 2:3)
y[:] = 1
copy(x) == [0 1 1 0; 0 1 1 0]
```
"""
slice(x::NDArray, ::Colon) = x
function slice(x::NDArray{T,N}, r::AbstractUnitRange{<:Integer}) where {T,N}
    n = size(x, N)
    1 <= first(r) <= last(r) <= n || throw(AssertionError("slice $r of a dimension of $n"))
    length(r) == n && return x
    return NDArray{T,N}(_slice(x.handle, r), x.writable)
end

"""
    sub(x::NDArray, start:stop) -> NDArray

The old name of [`slice`](@ref).
"""
sub(x::NDArray, r) = slice(x, r)

function _slice(handle::Ptr{Cvoid}, r)
    made = Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXNDArraySlice64, (Ptr{Cvoid}, Int64, Int64, Ref{Ptr{Cvoid}}), handle, first(r) - 1, last(r), made)
    return made[]
end

function _flat(x::NDArray{T}) where {T}
    made, dims = Ref{Ptr{Cvoid}}(C_NULL), Int64[-1]
    @mxcall(:MXNDArrayReshape64, (Ptr{Cvoid}, Cint, Ptr{Int64}, Bool, Ref{Ptr{Cvoid}}), x.handle, 1, dims, false, made)
    return NDArray{T,1}(made[], x.writable)
end

"""
    x[i] -> NDArray
    x[start:stop] -> NDArray
    x[:] -> x
    x[] -> number

`x[i]` is an array of the `i`th element alone and `x[start:stop]` a [`slice`](@ref), both over the memory of `x`. `x[]` waits
for `x` and returns its first element.
"""
function Base.getindex(x::NDArray{T}, i::Integer) where {T}
    1 <= i <= length(x) || throw(BoundsError(x, i))
    line = ndims(x) == 1 ? x : _flat(x)
    return NDArray{T,1}(_slice(line.handle, i:i), x.writable)
end
Base.getindex(x::NDArray, ::Colon) = x
Base.getindex(x::NDArray, r::AbstractUnitRange{<:Integer}) = slice(x, r)
Base.getindex(x::NDArray) = first(x)

Base.firstindex(::NDArray) = 1
Base.lastindex(x::NDArray) = length(x)
Base.first(x::NDArray) = copy(length(x) == 1 ? x : x[1])[1]
Base.last(x::NDArray) = copy(x[length(x)])[1]

"""
    x[i] = number
    x[start:stop] = value
    x[:] = value

Write one element, a [`slice`](@ref) or everything; `value` is a number or an array of that size.
"""
Base.setindex!(x::NDArray, value::Real, ::Colon) = _fill!(x, value)
Base.setindex!(x::NDArray, value::Union{NDArray,AbstractArray}, ::Colon) = copy!(x, value)

function Base.setindex!(x::NDArray, value::Real, i::Integer)
    _check_writable(x)
    return _fill!(x[i], value)
end

function Base.setindex!(x::NDArray, value::Union{Real,NDArray,AbstractArray}, r::AbstractUnitRange{<:Integer})
    _check_writable(x)
    return setindex!(slice(x, r), value, :)
end
