# Rules for functions of numbers, and for what has no derivative.

@scalar_rule +(x) true
@scalar_rule +(x, y) (true, true)
@scalar_rule -(x) (-1,)
@scalar_rule -(x, y) (true, -1)
@scalar_rule *(x, y) (y, x)
@scalar_rule /(x, y) (inv(y), -(Ω / y))
@scalar_rule \(x, y) (-(Ω / x), inv(x))
@scalar_rule ^(x::Real, y::Real) (y * x^(y - one(y)), iszero(x) ? zero(Ω) : Ω * log(oftype(Ω, abs(x))))
@scalar_rule inv(x) (-abs2(Ω),)
@scalar_rule exp(x) Ω
@scalar_rule expm1(x) (Ω + one(Ω),)
@scalar_rule log(x) inv(x)
@scalar_rule log1p(x) inv(x + one(x))
@scalar_rule log2(x) inv(x * log(oftype(Ω, 2)))
@scalar_rule sqrt(x) inv(2 * Ω)
@scalar_rule sin(x) cos(x)
@scalar_rule cos(x) (-sin(x),)
@scalar_rule tan(x) (one(Ω) + Ω^2,)
@scalar_rule atan(x) inv(one(x) + x^2)
@scalar_rule sinh(x) cosh(x)
@scalar_rule cosh(x) sinh(x)
@scalar_rule tanh(x) (one(Ω) - Ω^2,)
@scalar_rule abs(x::Real) sign(x)
@scalar_rule abs2(x::Real) (2 * x,)
@scalar_rule max(x::Real, y::Real) (x > y, !(x > y))
@scalar_rule min(x::Real, y::Real) (x < y, !(x < y))
@scalar_rule hypot(x::Real, y::Real) (x / Ω, y / Ω)
@scalar_rule muladd(x, y, z) (y, x, true)
@scalar_rule float(x) true
@scalar_rule identity(x) true

function ChainRulesCore.rrule(f::Union{typeof(+),typeof(*)}, x::Number, y::Number, z::Number, rest::Number...)
    xs = (x, y, z, rest...)
    partials = f === (+) ? map(one, xs) : ntuple(i -> prod(xs[j] for j in eachindex(xs) if j != i), length(xs))
    return f(xs...), Δ -> (NoTangent(), map(p -> p * unthunk(Δ), partials)...)
end

function ChainRulesCore.rrule(::typeof(Base.literal_pow), ::typeof(^), x::Number, ::Val{p}) where {p}
    return x^p, Δ -> (NoTangent(), NoTangent(), p * x^(p - 1) * unthunk(Δ), NoTangent())
end

ChainRulesCore.rrule(::Type{T}, x::Number) where {T<:Number} = (T(x), Δ -> (NoTangent(), ProjectTo(x)(unthunk(Δ))))
ChainRulesCore.rrule(::typeof(convert), ::Type{T}, x::Number) where {T<:Number} =
    (convert(T, x), Δ -> (NoTangent(), NoTangent(), ProjectTo(x)(unthunk(Δ))))

for f in (
    :size, :length, :ndims, :eltype, :axes, :eachindex, :firstindex, :lastindex, :keys, :similar, :zero, :one, :oneunit,
    :zeros, :ones, :sign, :floor, :ceil, :round, :trunc, :iszero, :isnan, :isfinite, :isinf, :isempty, :iseven, :isodd,
    :(==), :(!=), :(<), :(<=), :(>), :(>=), :isless, :isequal, :isapprox, :!, :div, :cld, :fld, :in, :(:), :string, :print, :println, :repr,
    :rand, :randn, :eps, :typemin, :typemax, :checkbounds, :hash, :show, :argmax, :argmin,
)
    @eval @non_differentiable Base.$f(::Any...)
end
