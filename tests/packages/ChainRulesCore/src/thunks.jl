"""
    AbstractThunk

The supertype of tangents whose computation has been put off: see [`unthunk`](@ref).
"""
abstract type AbstractThunk <: AbstractTangent end

"""
    Thunk(f)

A tangent that `f()` computes, each time it is asked for.
"""
struct Thunk{F} <: AbstractThunk
    f::F
end

"""
    @thunk expression

Put the computation of `expression` off: `Thunk(() -> expression)`.
"""
macro thunk(expression)
    return :(Thunk(() -> $(esc(expression))))
end

"""
    InplaceableThunk(add!, val::Thunk)

A thunk that can also add itself: `add!(Δ)` does what `Δ .+= unthunk(val)` does, and returns Δ.
"""
struct InplaceableThunk{T<:Thunk,F} <: AbstractThunk
    add!::F
    val::T
end

"""
    unthunk(x)

Compute what was put off; anything that is no thunk is returned as it is.
"""
unthunk(x) = x
unthunk(x::Thunk) = unthunk(x.f())
unthunk(x::InplaceableThunk) = unthunk(x.val)

Base.iszero(x::AbstractThunk) = iszero(unthunk(x))
Base.first(x::AbstractThunk) = first(unthunk(x))
Base.last(x::AbstractThunk) = last(unthunk(x))
Base.iterate(x::AbstractThunk) = (v = unthunk(x); _with(v, iterate(v)))
Base.iterate(::AbstractThunk, (v, state)) = _with(v, iterate(v, state))
_with(v, ::Nothing) = nothing
_with(v, (element, state)) = (element, (v, state))
Base.getindex(x::AbstractThunk, i...) = getindex(unthunk(x), i...)
for f in (:adjoint, :transpose, :vec, :real, :imag, :conj, :sum)
    @eval Base.$f(x::AbstractThunk; kw...) = $f(unthunk(x); kw...)
end
Base.broadcastable(x::AbstractThunk) = Base.broadcastable(unthunk(x))
Base.convert(::Type{T}, x::AbstractThunk) where {T<:Number} = convert(T, unthunk(x))
