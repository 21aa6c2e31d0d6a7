"""
    ProjectTo(x)

Returns `project`, for which `project(dx)` is `dx` as a tangent of `x`: of its element type (for integers their `float`) and
size, real if `x` is, and `NoTangent()` if `x` has no tangents. Zeros stay zeros, thunks become thunks.
"""
struct ProjectTo{P,D}
    details::D
    ProjectTo{P}(details) where {P} = new{P,typeof(details)}(details)
end

ProjectTo(x::Number) = ProjectTo{typeof(float(x))}(nothing)
ProjectTo(::Bool) = ProjectTo{NoTangent}(nothing)
ProjectTo(::Union{Symbol,AbstractString,Char,Type,Nothing,Function,Val}) = ProjectTo{NoTangent}(nothing)
ProjectTo(x::AbstractArray{T}) where {T<:Number} = ProjectTo{AbstractArray}((ProjectTo(zero(T)), axes(x)))
ProjectTo(x::AbstractArray{Bool}) = ProjectTo{NoTangent}(nothing)
ProjectTo(::AbstractZero) = ProjectTo{NoTangent}(nothing)
ProjectTo(_) = ProjectTo{Any}(nothing)      # structures and other types are taken as they come

(p::ProjectTo)(dx::AbstractZero) = dx
(p::ProjectTo)(dx::AbstractThunk) = @thunk(p(unthunk(dx)))
(p::ProjectTo)(dx::NotImplemented) = dx
(p::ProjectTo{Any})(dx) = dx
(p::ProjectTo{NoTangent})(dx) = NoTangent()
(p::ProjectTo{NoTangent})(dx::AbstractZero) = NoTangent()
(p::ProjectTo{NoTangent})(dx::AbstractThunk) = NoTangent()
(p::ProjectTo{T})(dx::Number) where {T<:Real} = T(real(dx))
(p::ProjectTo{T})(dx::Number) where {T<:Complex} = T(dx)

function (p::ProjectTo{AbstractArray})(dx::AbstractArray)
    element, space = p.details
    length(dx) == prod(length.(space)) || throw(DimensionMismatch(
        "the tangent of an array with axes $space cannot have axes $(axes(dx))"))
    values = element isa ProjectTo{NoTangent} || _fits(element, eltype(dx)) ? dx : map(element, dx)
    return axes(values) == space ? values : reshape(values, map(length, space))
end
(p::ProjectTo{AbstractArray})(dx::Number) = p(fill(dx))
_fits(::ProjectTo{P}, ::Type{T}) where {P,T} = P === T
