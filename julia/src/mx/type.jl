# NDArray: one handle on an array of libmxnet.

const DType = Union{DTYPES...}
const DEFAULT_DTYPE = Float32

"""
    NDArray{T,N}

An array of libmxnet with element type `T` and `N` dimensions. libmxnet is row-major and Julia column-major, so what Python
calls an array of shape `(a, b, c)` is one of size `(c, b, a)` here, over the same memory.
"""
mutable struct NDArray{T,N}
    handle::Ptr{Cvoid}
    writable::Bool
    numpy::Bool     # Python made it as an mx.np array
    bytes::Int      # of memory that Julia alone may be keeping

    "Take over a handle; it is freed with the array."
    function NDArray{T,N}(handle::Ptr{Cvoid}, writable::Bool = true; numpy::Bool = false, bytes::Int = 0) where {T,N}
        x = new{T,N}(handle, writable, numpy, bytes)
        Threads.atomic_add!(LIVE_BYTES, bytes)
        return finalizer(_drop, x)
    end
end

const NDArrayOrReal = Union{NDArray,Real}
const VecOfNDArray = AbstractVector{<:NDArray}

# Finalizers call C only: they can run on any thread.
function _drop(x::NDArray)
    Threads.atomic_sub!(LIVE_BYTES, x.bytes)
    return _drop(x.handle)
end
_drop(handle::Ptr{Cvoid}) = ccall(PyBridge.C_DROP_ARRAY[], Cvoid, (Ptr{Cvoid},), handle)

# Julia's collector does not see libmxnet's memory: it is called when much of that waits.
const LIVE_BYTES = Threads.Atomic{Int}(0)
const PATIENCE = 64 * 2^20
const COLLECT_AT = Ref(PATIENCE)

function _collect()
    LIVE_BYTES[] > COLLECT_AT[] || return nothing
    GC.gc(false)
    LIVE_BYTES[] > COLLECT_AT[] ÷ 2 && GC.gc(true)
    COLLECT_AT[] = PATIENCE + 2 * LIVE_BYTES[]
    return nothing
end

# ---- what libmxnet says of an array ----------------------------------------------------------------------------

function _shape(handle::Ptr{Cvoid})
    ndim, dims = Ref{Cint}(0), Ref{Ptr{Int64}}(C_NULL)
    @mxcall(:MXNDArrayGetShapeEx64, (Ptr{Cvoid}, Ref{Cint}, Ref{Ptr{Int64}}), handle, ndim, dims)
    return Int(ndim[]), dims[]
end

function _dtype(handle::Ptr{Cvoid})
    code = Ref{Cint}(0)
    @mxcall(:MXNDArrayGetDType, (Ptr{Cvoid}, Ref{Cint}), handle, code)
    return Int(code[])
end

"""
    NDArray(handle[, writable])

The array that owns the libmxnet handle `handle`. Where there can be no such array, the handle is freed.
"""
function NDArray(handle::Ptr{Cvoid}, writable::Bool = true; numpy::Bool = false, owned::Bool = true)
    try
        return _of_code(handle, writable, numpy, owned, _dtype(handle))
    catch
        _drop(handle)
        rethrow()
    end
end

"The arrays that own the handles. Where one of them can be none, all are freed."
function _owning(handles::Vector{Ptr{Cvoid}}; numpy::Bool = false)
    arrays, taken = NDArray[], 0
    try
        for handle in handles
            taken += 1
            push!(arrays, NDArray(handle; numpy = numpy))
        end
    catch
        foreach(_drop, handles[taken+1:end])
        rethrow()
    end
    return arrays
end

function _of_code(handle, writable, numpy, owned, code)
    code == 0 && return _of_type(Float32, handle, writable, numpy, owned)
    code == 1 && return _of_type(Float64, handle, writable, numpy, owned)
    0 <= code < length(DTYPES) || throw(ArgumentError("NDArray: libmxnet's element type number $code has no Julia type here"))
    return _of_type(DTYPES[code+1], handle, writable, numpy, owned)
end

function _of_type(::Type{T}, handle, writable, numpy, owned) where {T}
    n, dims = _shape(handle)
    n < 0 && (n = 0)    # unknown: of an operator whose result's shape depends on values
    bytes = 0
    if owned
        bytes = sizeof(T)
        for i in 1:n
            bytes *= Int(unsafe_load(dims, i))
        end
        _collect()
    end
    n == 1 && return NDArray{T,1}(handle, writable; numpy = numpy, bytes = bytes)
    n == 2 && return NDArray{T,2}(handle, writable; numpy = numpy, bytes = bytes)
    n == 3 && return NDArray{T,3}(handle, writable; numpy = numpy, bytes = bytes)
    n == 4 && return NDArray{T,4}(handle, writable; numpy = numpy, bytes = bytes)
    return NDArray{T,n}(handle, writable; numpy = numpy, bytes = bytes)
end

Base.eltype(::Type{<:NDArray{T}}) where {T} = T
Base.eltype(::NDArray{T}) where {T} = T
Base.ndims(::NDArray{T,N}) where {T,N} = N
Base.ndims(::Type{<:NDArray{T,N}}) where {T,N} = N

function Base.size(x::NDArray{T,N}) where {T,N}
    n, dims = _shape(x.handle)
    n == N || throw(DimensionMismatch("NDArray: this array of $N dimensions has $n now"))
    return ntuple(i -> Int(unsafe_load(dims, N + 1 - i)), Val(N))
end
Base.size(x::NDArray, i::Integer) = i < 1 ? throw(ArgumentError("size: dimension $i; expected 1 or more")) : i > ndims(x) ? 1 : size(x)[i]
Base.length(x::NDArray) = prod(size(x))
Base.isempty(x::NDArray) = length(x) == 0

# ---- waiting, and memory ---------------------------------------------------------------------------------------

const WAIT_TO_READ = Waiting(:MXNDArrayWaitToRead)
const WAIT_TO_WRITE = Waiting(:MXNDArrayWaitToWrite)
const COPY_TO_CPU = Waiting(:MXNDArraySyncCopyToCPU)
const COPY_FROM_CPU = Waiting(:MXNDArraySyncCopyFromCPU)

"Wait until what writes to `x` is done, and return it."
_wait_to_read(x::NDArray) = (_may_wait(WAIT_TO_READ, x, x.handle); x)

"Wait until what reads `x` or writes to it is done, and return it."
_wait_to_write(x::NDArray) = (_may_wait(WAIT_TO_WRITE, x, x.handle); x)

const WAIT_ALL = Waiting(:MXNDArrayWaitAll)

"""
    waitall()

Wait for everything that libmxnet has been asked to do.
"""
waitall() = _served() ? _dispatched(:wait_for_everything, nothing) : _may_wait(WAIT_ALL, nothing)

"The elements of `x` into `a`, in the order in which they lie in memory."
function _copy_to!(a::Array{T}, x::NDArray{T}) where {T}
    isempty(a) || _may_wait(COPY_TO_CPU, (a, x), x.handle, pointer(a), length(a))
    return a
end

"The elements of `a` into `x`, in the order in which they lie in memory."
function _copy_from!(x::NDArray{T}, a::Array{T}) where {T}
    isempty(a) || _may_wait(COPY_FROM_CPU, (a, x), x.handle, pointer(a), length(a))
    return x
end

"""
    _allocate(T, size, device_type, device_id) -> NDArray{T,N}

A new array in libmxnet's memory, not initialised.
"""
function _allocate(::Type{T}, size::Dims{N}, device_type::Integer = 1, device_id::Integer = 0) where {T,N}
    shape, made = collect(Int64, reverse(size)), Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXNDArrayCreateEx64, (Ptr{Int64}, Cint, Cint, Cint, Cint, Cint, Ref{Ptr{Cvoid}}),
        shape, N, device_type, device_id, 0, dtype_code(T), made)
    _collect()
    return NDArray{T,N}(made[]; bytes = sizeof(T) * prod(size))
end

"""
    _memory(x, writing = false) -> Array

The Julia array over the memory of `x`, after waiting for it. It keeps that memory alive.
"""
function _memory(x::NDArray, writing::Bool = false)
    writing ? _wait_to_write(x) : _wait_to_read(x)
    return _memory_now(x)
end

"The same without waiting."
function _memory_now(x::NDArray{T,N}) where {T,N}
    isempty(x) && return Array{T,N}(undef, size(x))
    at, pin = Ref{Ptr{Cvoid}}(C_NULL), Ref{Ptr{Cvoid}}(C_NULL)
    @mxcall(:MXNDArrayGetData, (Ptr{Cvoid}, Ref{Ptr{Cvoid}}), x.handle, at)
    @mxcall(:MXNDArrayDetach, (Ptr{Cvoid}, Ref{Ptr{Cvoid}}), x.handle, pin)
    a = PyBridge._wrap(T, at[], size(x))
    PyBridge._attach_finalizer(PyBridge.Unpin(pin[], 0), a)
    return a
end
