# Stand-in: typed pointers to C structs, as much of them as PythonCall uses.
#
#   p.field      pointer to a field       p[]    load; a pointer comes as an UnsafePtr
#   p[] = x      store                    p[!]   load; a pointer comes as it is
module UnsafePointers

export UnsafePtr

struct UnsafePtr{T}
    address::Ptr{T}
    UnsafePtr{T}(p::Ptr) where {T} = new{T}(Ptr{T}(p))
end

UnsafePtr(p::Ptr{T}) where {T} = UnsafePtr{T}(p)
UnsafePtr{T}(p::UnsafePtr) where {T} = UnsafePtr{T}(address(p))

address(p::UnsafePtr) = getfield(p, :address)

wrap(x) = x
wrap(x::Ptr) = UnsafePtr(x)

function Base.getproperty(p::UnsafePtr{T}, name::Symbol) where {T}
    i = Base.fieldindex(T, name)
    return UnsafePtr{fieldtype(T, i)}(Ptr{Cvoid}(address(p)) + fieldoffset(T, i))
end

Base.propertynames(::UnsafePtr{T}, private::Bool = false) where {T} = fieldnames(T)

Base.getindex(p::UnsafePtr, i::Integer = 1) = wrap(unsafe_load(address(p), i))
Base.getindex(p::UnsafePtr, ::typeof(!)) = unsafe_load(address(p))
Base.getindex(p::UnsafePtr, ::typeof(!), i::Integer) = unsafe_load(address(p), i)

function Base.setindex!(p::UnsafePtr{T}, x, i::Integer = 1) where {T}
    unsafe_store!(address(p), convert(T, x), i)
    return p
end

Base.Ptr{T}(p::UnsafePtr) where {T} = Ptr{T}(address(p))
Base.convert(::Type{Ptr{T}}, p::UnsafePtr) where {T} = Ptr{T}(p)
Base.cconvert(::Type{Ptr{T}}, p::UnsafePtr) where {T} = Ptr{T}(p)
Base.cconvert(::Type{Ptr{Cvoid}}, p::UnsafePtr) = Ptr{Cvoid}(p)
Base.UInt(p::UnsafePtr) = UInt(address(p))

Base.:(==)(p::UnsafePtr, q::UnsafePtr) = UInt(p) == UInt(q)
Base.:(==)(p::UnsafePtr, q::Ptr) = UInt(p) == UInt(q)
Base.:(==)(p::Ptr, q::UnsafePtr) = q == p
Base.hash(p::UnsafePtr, h::UInt) = hash(UInt(p), h)

Base.String(p::UnsafePtr{<:Union{Int8,UInt8}}) = unsafe_string(Ptr{UInt8}(p))

Base.show(io::IO, p::UnsafePtr{T}) where {T} = print(io, "UnsafePtr{", T, "}(", address(p), ")")

end
