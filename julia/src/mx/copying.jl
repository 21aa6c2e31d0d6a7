# Between arrays, and between Julia and libmxnet.

"""
    copy(x::NDArray) -> Array
    copy(x::NDArray, ctx::Context) -> NDArray
    copy(a::AbstractArray, ctx::Context) -> NDArray

Returns a copy: as a Julia array, or as an NDArray on the device given.

```julia
using PyBridge: mx
x = copy([1.0 2.0; 3.0 4.0], mx.cpu())
copy(x) == [1 2; 3 4]
```
"""
Base.copy(x::NDArray{T,N}) where {T,N} = _copy_to!(Array{T,N}(undef, size(x)), x)
Base.copy(x::NDArray{T,N}, ctx::Context) where {T,N} = copy!(NDArray{T,N}(undef, size(x); ctx = ctx), x)
Base.copy(a::AbstractArray{T,N}, ctx::Context) where {T,N} = copy!(NDArray{T,N}(undef, size(a); ctx = ctx), a)

"""
    copy!(destination, source) -> destination

Copy elements between NDArrays, or between an NDArray and a Julia array of its size.
"""
function Base.copy!(to::NDArray, from::NDArray)
    _check_writable(to)
    if to.handle == from.handle
        @warn "Copying an NDArray to itself"
        return to
    end
    invoke!((to,), op"_copyto", (from,))
    return to
end

function Base.copy!(to::Array{T}, from::NDArray) where {T<:Real}
    _same_size(to, from)
    return _fetch!(to, from)
end

function Base.copy!(to::NDArray, from::AbstractArray)
    _check_writable(to)
    _same_size(to, from)
    return _store!(to, from)
end

function _same_size(a, b)
    size(a) == size(b) || throw(AssertionError("sizes $(size(a)) and $(size(b)) differ"))
    return nothing
end

"""
    copyto!(destination, source) -> destination

As [`copy!`](@ref) between arrays of as many elements each, whatever their sizes.
"""
Base.copyto!(to::NDArray, from::AbstractArray) = copy_ignore_shape!(to, from)
Base.copyto!(to::NDArray, from::NDArray) = copy!(to, size(to) == size(from) ? from : reshape(from, size(to)))

function Base.copyto!(to::Array{T}, from::NDArray) where {T<:Real}
    _same_length(to, from)
    return _fetch!(to, from)
end

"""
    copy_ignore_shape!(x::NDArray, a::AbstractArray) -> x

Copy as many elements as `x` has, in the order in which they lie in memory.
"""
function copy_ignore_shape!(to::NDArray, from::AbstractArray)
    _check_writable(to)
    _same_length(to, from)
    return _store!(to, from)
end

function _same_length(a, b)
    length(a) == length(b) || throw(AssertionError("$(length(a)) and $(length(b)) elements"))
    return nothing
end

_fetch!(to::Array{T}, from::NDArray{T}) where {T} = _copy_to!(to, from)
_fetch!(to::Array, from::NDArray) = copyto!(to, copy(from))

_store!(to::NDArray{T}, from::Array{T}) where {T} = _copy_from!(to, from)
_store!(to::NDArray{T}, from::AbstractArray{S,N}) where {T,S,N} = _copy_from!(to, convert(Array{T,N}, from))

# ---- conversion ------------------------------------------------------------------------------------------------

Base.Array(x::NDArray) = copy(x)
Base.Array{T}(x::NDArray) where {T} = convert(Array{T}, copy(x))
Base.collect(x::NDArray) = copy(x)
Base.convert(::Type{A}, x::NDArray) where {A<:Array} = convert(A, copy(x))

"A copy that no recorded graph leads to."
function Base.deepcopy_internal(x::NDArray, seen::IdDict)
    haskey(seen, x) && return seen[x]
    y = similar(x)
    y.writable = true
    _in_mode(() -> copy!(y, x), false, nothing)
    y.writable = x.writable
    seen[x] = y
    return y
end
