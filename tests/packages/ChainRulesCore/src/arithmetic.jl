# Sums and multiples of tangents. Who comes first decides: what is not implemented, then the zeros, thunks, structures.

Base.:+(a::NotImplemented, ::NotImplemented) = a
Base.:*(a::NotImplemented, ::NotImplemented) = a
Base.:-(a::NotImplemented) = a
for T in (:NoTangent, :ZeroTangent, :AbstractThunk, :Tangent, :Any)
    product = T in (:NoTangent, :ZeroTangent) ? :known : :unknown   # zero times the unknown is zero
    @eval Base.:+(unknown::NotImplemented, ::$T) = unknown
    @eval Base.:+(::$T, unknown::NotImplemented) = unknown
    @eval Base.:*(unknown::NotImplemented, known::$T) = $product
    @eval Base.:*(known::$T, unknown::NotImplemented) = $product
end

Base.:+(::NoTangent, ::NoTangent) = NoTangent()
Base.:-(::NoTangent, ::NoTangent) = NoTangent()
Base.:-(::NoTangent) = NoTangent()
Base.:*(::NoTangent, ::NoTangent) = NoTangent()
for T in (:ZeroTangent, :AbstractThunk, :Tangent, :Any)
    @eval Base.:+(::NoTangent, b::$T) = b
    @eval Base.:+(a::$T, ::NoTangent) = a
    @eval Base.:-(::NoTangent, b::$T) = -b
    @eval Base.:-(a::$T, ::NoTangent) = a
    @eval Base.:*(::NoTangent, ::$T) = NoTangent()
    @eval Base.:*(::$T, ::NoTangent) = NoTangent()
end

Base.:+(::ZeroTangent, ::ZeroTangent) = ZeroTangent()
Base.:-(::ZeroTangent, ::ZeroTangent) = ZeroTangent()
Base.:-(::ZeroTangent) = ZeroTangent()
Base.:*(::ZeroTangent, ::ZeroTangent) = ZeroTangent()
for T in (:AbstractThunk, :Tangent, :Any)
    @eval Base.:+(::ZeroTangent, b::$T) = b
    @eval Base.:+(a::$T, ::ZeroTangent) = a
    @eval Base.:-(::ZeroTangent, b::$T) = -b
    @eval Base.:-(a::$T, ::ZeroTangent) = a
    @eval Base.:*(::ZeroTangent, ::$T) = ZeroTangent()
    @eval Base.:*(::$T, ::ZeroTangent) = ZeroTangent()
end

Base.:-(a::AbstractThunk) = -unthunk(a)
for op in (:+, :-, :*)
    @eval Base.$op(a::AbstractThunk, b::AbstractThunk) = $op(unthunk(a), unthunk(b))
    for T in (:Tangent, :Any)
        @eval Base.$op(a::AbstractThunk, b::$T) = $op(unthunk(a), b)
        @eval Base.$op(a::$T, b::AbstractThunk) = $op(a, unthunk(b))
    end
end
Base.:/(a::AbstractThunk, b::Number) = unthunk(a) / b

function Base.:+(a::Tangent{P}, b::Tangent{P}) where {P}
    x, y = backing(a), backing(b)
    x isa Tuple && y isa Tuple && return _tangent(P, map(+, x, y))
    names = Tuple(union(keys(x), keys(y)))
    return _tangent(P, NamedTuple{names}(map(n -> get(x, n, ZeroTangent()) + get(y, n, ZeroTangent()), names)))
end
Base.:-(t::Tangent) = map(-, t)
Base.:*(s::Number, t::Tangent) = map(x -> s * x, t)
Base.:*(t::Tangent, s::Number) = map(x -> x * s, t)
Base.:/(t::Tangent, s::Number) = map(x -> x / s, t)

# A tangent may be added to what it is the tangent of.
Base.:+(x::P, t::Tangent{P}) where {P<:Tuple} = map(+, x, backing(t))
function Base.:+(x::P, t::Tangent{P}) where {P}
    moved = map((value, change) -> value + change, backing(x), backing(canonicalize(t)))
    return P <: NamedTuple ? P(Tuple(moved)) : P(moved...)
end
Base.:+(t::Tangent{P}, x::P) where {P} = x + t

"""
    add!!(x, y)

`x + y`, into the memory of `x` where that is possible: use only what is returned.
"""
add!!(x, y) = x + y
add!!(x, y::AbstractZero) = x
add!!(x, y::AbstractThunk) = add!!(x, unthunk(y))
add!!(x::Array, y::InplaceableThunk) = y.add!(x)
add!!(x::Array{<:AbstractFloat,N}, y::AbstractArray{<:Real,N}) where {N} = (x .+= y)
