# Julia arrays over libmxnet's memory, and NDArrays over Julia's. Nothing is copied in either direction.

"""
    Unpin(pin, bytes)

Finalizer of a view: gives back the second handle that kept the NDArray's memory. It calls C only, so it may run on
any thread.
"""
struct Unpin
    pin::Ptr{Cvoid}
    bytes::Int
end
(u::Unpin)(_) = (ccall(C_UNPIN[], Cvoid, (Ptr{Cvoid}, Clong), u.pin, u.bytes); nothing)

# From 1.11 on an Array is a handle on a Memory, which outlives it in whatever was reshaped from it.
@static if isdefined(Base, :Memory)
    _attach_finalizer(f, a::Array) = finalizer(f, getfield(a, :ref).mem)
else
    _attach_finalizer(f, a::Array) = finalizer(f, a)
end

function _wrap(::Type{T}, p::Ptr{Cvoid}, size::Dims{N}) where {T,N}
    # Without elements there is no memory to share, and libmxnet may have none at all.
    prod(size) == 0 && return Array{T,N}(undef, size)
    return unsafe_wrap(Array, Ptr{T}(p), size)
end

_size(d::Descriptor, ::Val{N}) where {N} = ntuple(i -> dim(d, N + 1 - i), Val(N))

function _view(::Type{T}, d::Descriptor) where {T}
    n = dims(d)
    n == 1 && return _wrap(T, data(d), _size(d, Val(1)))
    n == 2 && return _wrap(T, data(d), _size(d, Val(2)))
    n == 3 && return _wrap(T, data(d), _size(d, Val(3)))
    n == 4 && return _wrap(T, data(d), _size(d, Val(4)))
    n == 0 && return _wrap(T, data(d), ())
    return _wrap(T, data(d), ntuple(i -> dim(d, n + 1 - i), n))
end

"""
    array(d)

The Julia `Array` over the memory that `d` describes, which must stay alive by other means (see [`pinned`](@ref)).
"""
function array(d::Descriptor)
    c = code(d)
    c == 0 && return _view(Float32, d)
    c == 1 && return _view(Float64, d)
    return _view(DTYPES[c+1], d)
end

"""
    pinned(d)

As [`array`](@ref); the view takes over `d`'s pin and keeps the memory alive for as long as Julia can reach it.
"""
function pinned(d::Descriptor)
    a = array(d)
    p = pin(d)
    if p != C_NULL
        pin!(d, C_NULL)
        unpin = Unpin(p, bytes(d))
        # From 1.11 on all empty arrays share one Memory, which is never collected.
        isempty(a) ? unpin(a) : _attach_finalizer(unpin, a)
    end
    return a
end

"Dimensions in the other language's order, without a copy."
_turned(a::AbstractArray{T,N}) where {T,N} = N < 2 ? a : PermutedDimsArray(a, ntuple(i -> N + 1 - i, N))

_laid_out(a::AbstractArray, python::Bool) = python ? _turned(a) : a

"""
    PyBridge.ReadOnlyArray(parent)

Returns an array over the memory of `parent` that can be read in every way (indexing, broadcasting, linear algebra,
`pointer` and `strides`) and refuses `setindex!`, and with it `.=`, `fill!` and `copyto!`, with an `ArgumentError`. What
`pb.asjulia` gives. `similar` and `copy` give a plain `Array`.

```jldoctest; setup = :(using PyBridge)
julia> a = PyBridge.ReadOnlyArray([1.0, 2.0]); a .+ 1
2-element Array{Float64,1}:
 2.0
 3.0

julia> a[1] = 0
ERROR: ArgumentError: this view of an NDArray is read-only
```
"""
struct ReadOnlyArray{T,N,A<:AbstractArray{T,N}} <: AbstractArray{T,N}
    parent::A
end
Base.size(a::ReadOnlyArray) = size(a.parent)
Base.IndexStyle(::Type{<:ReadOnlyArray{T,N,A}}) where {T,N,A} = IndexStyle(A)
Base.@propagate_inbounds Base.getindex(a::ReadOnlyArray, i::Int) = a.parent[i]
Base.@propagate_inbounds Base.getindex(a::ReadOnlyArray{T,N}, i::Vararg{Int,N}) where {T,N} = a.parent[i...]
Base.strides(a::ReadOnlyArray) = strides(a.parent)
Base.elsize(::Type{<:ReadOnlyArray{T,N,A}}) where {T,N,A} = Base.elsize(A)
Base.unsafe_convert(::Type{Ptr{T}}, a::ReadOnlyArray{T}) where {T} = Base.unsafe_convert(Ptr{T}, a.parent)
Base.dataids(a::ReadOnlyArray) = Base.dataids(a.parent)   # or `w .= view(a, n:-1:1)` reads what it has just written
Base.unaliascopy(a::ReadOnlyArray) = ReadOnlyArray(Base.unaliascopy(a.parent))
function Base.setindex!(::ReadOnlyArray, _, ::Int...)
    throw(ArgumentError("this view of an NDArray is read-only: pb.asjulia(x, writable=True) gives one that can be written"))
end

# ---- the reverse: an NDArray over Julia's memory ---------------------------------------------------------------

const ROOTS = Dict{Int,Any}()   # Julia arrays that NDArrays lie over
const ROOTED = Dict{Ptr{Cvoid},Int}()   # how many of them lie at an address
const LAST_ROOT = Ref(0)

"Does a live NDArray lie over the memory of `a`?"
is_rooted(a::Array) = haskey(ROOTED, Ptr{Cvoid}(pointer(a)))

"Has the last NDArray over `a` died?  libmxnet lets go of what nobody holds when its work on it is done: a moment is given."
function _let_go(a::Array)
    for _ in 1:1000
        _each_dead(release_root, C_DEAD_ROOTS[])
        is_rooted(a) || return true
        Libc.systemsleep(1e-3)
    end
    return false
end

"""
Let the Julia array `a` become an NDArray; `d` describes it afterwards. It is rooted here until that dies. As an `argument` of
a function it is nobody's result: `is_rooted` leaves it out, for libmxnet may use that memory again before it dies.
"""
function adopt!(d::Descriptor, a::Array; argument::Bool = false)
    shape!(d, eltype(a), size(a))
    length(a) == 0 && return create!(d)
    key = LAST_ROOT[] += 1
    # Under another shape, so that `a` can be resized without moving or freeing this memory: Julia refuses that to
    # an array that shares its data (1.11 and later: gives it other memory, and this one stays).
    root = ndims(a) == 1 ? reshape(a, :, 1) : vec(a)
    at = Ptr{Cvoid}(pointer(a))
    ROOTS[key] = argument ? Ref(root) : root
    argument || (ROOTED[at] = get(ROOTED, at, 0) + 1)
    data!(d, pointer(a))
    if ccall(C_ADOPT[], Cint, (Ptr{Int64}, Int64), d.at, key) != 0
        release_root(key)
        throw(_libmxnet_error())
    end
    return nothing
end

"A new NDArray in libmxnet's memory, of the element type, context and shape that `d` holds."
function create!(d::Descriptor)
    ccall(C_CREATE[], Cint, (Ptr{Int64},), d.at) == 0 || throw(_libmxnet_error())
    return nothing
end

function release_root(key::Integer)
    haskey(ROOTS, Int(key)) || return nothing
    root = pop!(ROOTS, Int(key))
    root isa Ref && return nothing
    at = Ptr{Cvoid}(pointer(root))
    ROOTED[at] == 1 ? delete!(ROOTED, at) : (ROOTED[at] -= 1)
    return nothing
end

"""
    dense(a, python) -> Array or nothing

The `Array` that `a` is a view of, if `a` is the whole of it in the order that libmxnet needs: column-major with
reversed dimensions, or (`python`) row-major with the same. `nothing` if only a copy would do.
"""
dense(a::Array, python::Bool) = python && ndims(a) > 1 ? nothing : a
dense(a::ReadOnlyArray, ::Bool) = nothing
dense(a::AbstractArray, ::Bool) = nothing
function dense(a::PermutedDimsArray{T,N,perm}, python::Bool) where {T,N,perm}
    return python && perm == ntuple(i -> N + 1 - i, N) && parent(a) isa Array ? parent(a) : nothing
end
dense(a::Base.ReshapedArray, python::Bool) = nothing

"A copy of `a` in the order that libmxnet needs, as an `Array`."
function packed(a::AbstractArray{T,N}, python::Bool) where {T,N}
    copied = Array{T,N}(undef, python ? reverse(size(a)) : size(a))
    copyto!(copied, python ? _turned(a) : a)
    _count_copy(sizeof(copied))
    return copied
end
