"""
    Tangent{P}(; fields...)
    Tangent{P}(elements...)

The tangent of a struct or named tuple of type `P`, and of a tuple. Fields of `P` that are not given are zero.
"""
struct Tangent{P,T} <: AbstractTangent
    backing::T
    function Tangent{P,T}(backing) where {P,T}
        P <: Tuple && !(T <: Tuple) &&
            throw(ArgumentError("the tangent of a tuple is backed by a tuple, not by a $T"))
        !(P <: Tuple) && P !== Any && T <: Tuple && !isempty(backing) &&
            throw(ArgumentError("the tangent of $P is given by field names, not by position"))
        P <: NamedTuple && !(T <: NamedTuple) &&
            throw(ArgumentError("the tangent of a named tuple is backed by a named tuple, not by a $T"))
        return new{P,T}(backing)
    end
end

function Tangent{P}(; fields...) where {P}
    backing = (; fields...)
    P <: Tuple && isempty(backing) && return Tangent{P,Tuple{}}(())
    return Tangent{P,typeof(backing)}(backing)
end
Tangent{P}(elements...) where {P} = Tangent{P,typeof(elements)}(elements)

"""
    backing(x)

The named tuple or tuple within a tangent; a struct's fields as a named tuple; named tuples and tuples as they are.
"""
backing(t::Tangent) = getfield(t, :backing)
backing(t::Union{Tuple,NamedTuple}) = t
backing(x::T) where {T} = NamedTuple{fieldnames(T)}(ntuple(i -> getfield(x, i), fieldcount(T)))

# What is not there is zero; what was put off is computed when it is looked at.
_entry(b, key) = haskey(b, key) ? unthunk(b[key]) : ZeroTangent()

Base.getproperty(t::Tangent, key::Symbol) = _entry(backing(t), key)
Base.getproperty(t::Tangent, key::Int) = _entry(backing(t), key)
Base.getindex(t::Tangent, key::Union{Symbol,Int}) = unthunk(backing(t)[key])
Base.propertynames(t::Tangent) = keys(backing(t))
Base.keys(t::Tangent) = keys(backing(t))
Base.haskey(t::Tangent, key) = haskey(backing(t), key)
Base.length(t::Tangent) = length(backing(t))
Base.iterate(t::Tangent, state...) = iterate(backing(t), state...)
Base.first(t::Tangent) = first(backing(canonicalize(t)))
Base.last(t::Tangent) = last(backing(canonicalize(t)))
Base.eltype(::Type{<:Tangent{P,T}}) where {P,T} = eltype(T)
Base.hash(t::Tangent, h::UInt) = hash(backing(canonicalize(t)), hash(Tangent, h))
Base.zero(::Tangent) = ZeroTangent()
Base.iszero(t::Tangent) = all(iszero, values(backing(t)))

Base.:(==)(a::Tangent{P}, b::Tangent{P}) where {P} = backing(canonicalize(a)) == backing(canonicalize(b))
Base.:(==)(::Tangent, ::Tangent) = false

Base.map(f, t::Tangent{P}) where {P} = _tangent(P, map(f, backing(t)))
_tangent(::Type{P}, b) where {P} = Tangent{P,typeof(b)}(b)

"""
    canonicalize(t::Tangent{P})

The same tangent with an entry for each field of `P`, in the order of its fields. An `ArgumentError` if it has others.
"""
canonicalize(t::Tangent{<:Tuple}) = t
canonicalize(t::Tangent{Any}) = t
function canonicalize(t::Tangent{P,<:NamedTuple}) where {P}
    b = backing(t)
    extra = setdiff(keys(b), fieldnames(P))
    isempty(extra) ||
        throw(ArgumentError("the tangent has fields that $P has not: $(join(extra, ", "))"))
    return _tangent(P, NamedTuple{fieldnames(P)}(map(n -> get(b, n, ZeroTangent()), fieldnames(P))))
end
canonicalize(t::Tangent{P,Tuple{}}) where {P} = canonicalize(_tangent(P, NamedTuple()))
