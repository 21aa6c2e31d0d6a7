"""
    AbstractZero

The supertype of `ZeroTangent` and `NoTangent`.
"""
abstract type AbstractZero <: AbstractTangent end

"""
    ZeroTangent()

The derivative is zero.
"""
struct ZeroTangent <: AbstractZero end

"""
    NoTangent()

There is no derivative, because the primal value has no tangent space: a function without fields, an index, a symbol.
"""
struct NoTangent <: AbstractZero end

Base.iszero(::AbstractZero) = true
Base.zero(z::AbstractZero) = z
Base.iterate(z::AbstractZero) = (z, nothing)
Base.iterate(::AbstractZero, ::Nothing) = nothing
Base.first(z::AbstractZero) = z
Base.last(z::AbstractZero) = z
Base.length(::AbstractZero) = 1
Base.size(::AbstractZero) = ()
Base.getindex(z::AbstractZero, i...) = z
Base.getproperty(z::AbstractZero, ::Symbol) = z
Base.adjoint(z::AbstractZero) = z
Base.transpose(z::AbstractZero) = z
Base.sum(z::AbstractZero; dims = :) = z
Base.reshape(z::AbstractZero, size...) = z
Base.convert(::Type{T}, ::AbstractZero) where {T<:Number} = zero(T)
for f in (:real, :imag, :conj, :complex)
    @eval Base.$f(z::AbstractZero) = z
end
