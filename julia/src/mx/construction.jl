# New arrays.

export NDArray

const MX_float = Float32

function NDArray{T,N}(::UndefInitializer, dims::NTuple{N,Integer}; writable::Bool = true, ctx::Context = current_context()) where {T,N}
    x = _allocate(T, map(Int, dims), Int(ctx.device_type), ctx.device_id)
    x.writable = writable
    return x
end
NDArray{T,N}(::UndefInitializer, dims::Vararg{Integer,N}; kw...) where {T,N} = NDArray{T,N}(undef, dims; kw...)
NDArray{T}(::UndefInitializer, dims::NTuple{N,Integer}; kw...) where {T,N} = NDArray{T,N}(undef, dims; kw...)
NDArray{T}(::UndefInitializer, dims::Vararg{Integer,N}; kw...) where {T,N} = NDArray{T,N}(undef, dims; kw...)

"""
    NDArray{T,N}(undef, dims...; writable = true, ctx = current_context())
    NDArray{T}(undef, dims...; ...)
    NDArray(undef, dims...; ...)

Returns an array that is not initialised; its element type is `Float32` if none is given. What is not `writable` refuses
in-place operations with an `AssertionError`.

    NDArray(a)
    NDArray(T, a)

Returns a copy of the Julia array `a` on the CPU, as elements of type `T`.

```julia
using PyBridge: mx
x = mx.NDArray(Float32, [1 2; 3 4])
copy(x .+ 1) == [2 3; 4 5]
```
"""
NDArray(::UndefInitializer, dims::NTuple{N,Integer}; kw...) where {N} = NDArray{DEFAULT_DTYPE,N}(undef, dims; kw...)
NDArray(::UndefInitializer, dims::Vararg{Integer,N}; kw...) where {N} = NDArray{DEFAULT_DTYPE,N}(undef, dims; kw...)
NDArray(a::AbstractArray{<:DType}) = copy(a, cpu())
NDArray(::Type{T}, a::AbstractArray) where {T<:DType} = copy(convert(AbstractArray{T}, a), cpu())

Base.similar(x::NDArray{T,N}; writable::Bool = x.writable, ctx::Context = context(x)) where {T,N} =
    NDArray{T,N}(undef, size(x); writable = writable, ctx = ctx)

# ---- filled ----------------------------------------------------------------------------------------------------

"""
    fill(value, dims, ctx = current_context()) -> NDArray
    fill(value, dims...) -> NDArray

Returns an array of elements `value`, of its type.
"""
fill(value::T, dims::NTuple{N,Integer}, ctx::Context = current_context()) where {T,N} =
    _fill!(NDArray{T,N}(undef, dims; ctx = ctx), value)
fill(value, dims::Integer...) = fill(value, dims)

"""
    zeros([T], dims, ctx = current_context()) -> NDArray
    zeros([T], dims...) -> NDArray
    zeros(x::NDArray) -> NDArray

Returns an array of zeros: of type `T` (`Float32`), or as `x`.
"""
zeros(::Type{T}, dims::NTuple{N,Int}, ctx::Context = current_context()) where {T<:DType,N} = fill(zero(T), dims, ctx)
zeros(::Type{T}, dims::Int...) where {T<:DType} = zeros(T, dims)
zeros(dims::NTuple{N,Int}, ctx::Context = current_context()) where {N} = zeros(DEFAULT_DTYPE, dims, ctx)
zeros(dims::Int...) = zeros(dims)
zeros(x::NDArray{T,N}) where {T,N} = _one(ZEROS_LIKE, (x,))::NDArray{T,N}
Base.zeros(x::NDArray) = zeros(x)

"""
    ones([T], dims, ctx = current_context()) -> NDArray
    ones([T], dims...) -> NDArray
    ones(x::NDArray) -> NDArray

Returns an array of ones: of type `T` (`Float32`), or as `x`.
"""
ones(::Type{T}, dims::NTuple{N,Int}, ctx::Context = current_context()) where {T<:DType,N} = fill(one(T), dims, ctx)
ones(::Type{T}, dims::Int...) where {T<:DType} = ones(T, dims)
ones(dims::NTuple{N,Int}, ctx::Context = current_context()) where {N} = ones(DEFAULT_DTYPE, dims, ctx)
ones(dims::Int...) = ones(dims)
ones(x::NDArray{T,N}) where {T,N} = _one(op"ones_like", (x,))::NDArray{T,N}
Base.ones(x::NDArray) = ones(x)

"""
    empty([T], dims, ctx = current_context()) -> NDArray
    empty([T], dims...) -> NDArray

The old name of `NDArray{T}(undef, dims...)`.
"""
empty(::Type{T}, dims::NTuple{N,Int}, ctx::Context = current_context()) where {T<:DType,N} = NDArray{T,N}(undef, dims; ctx = ctx)
empty(::Type{T}, dims::Int...) where {T<:DType} = empty(T, dims)
empty(dims::NTuple{N,Int}, ctx::Context = current_context()) where {N} = empty(DEFAULT_DTYPE, dims, ctx)
empty(dims::Int...) = empty(dims)

"""
    fill!(x::NDArray, value) -> x
"""
Base.fill!(x::NDArray, value) = (x[:] = value; x)

const FULL = ["dtype", "value"]

function _fill!(x::NDArray{T}, value::Real) where {T}
    _check_writable(x)
    isempty(x) && return x
    # The operator's parameter is a double.
    value isa Integer && Float64(value) != value && return _copy_from!(x, Base.fill(convert(T, value), size(x)))
    invoke!((x,), op"_full", (), FULL, [_dtype_name(T), _number(value)])
    return x
end

_dtype_name(::Type{T}) where {T} = lowercase(string(nameof(T)))

# ---- numbers as libmxnet reads them ----------------------------------------------------------------------------

_number(s::Bool) = s ? "1" : "0"
_number(s::Integer) = string(s)
_number(s::Real) = _number(Float64(s))
function _number(s::Float64)
    1e6 <= abs(s) < 1e16 || return string(s)
    # Without the exponent, as Python writes it: libmxnet rounds when it reads one.
    mantissa, exponent = split(string(s), 'e')
    whole, part = split(mantissa, '.')
    n = parse(Int, exponent)
    part = rpad(part, n + 1, '0')
    return string(whole, part[1:n], '.', part[n+1:end])
end

"Numbers, one for each dimension, in libmxnet's order."
_tuple(dims) = string("(", join(reverse(Tuple(dims)), ","), ",)")
