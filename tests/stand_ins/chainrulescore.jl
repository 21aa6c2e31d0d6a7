# What ChainRulesCore's documentation says of tangents and rules.

using ChainRulesCore
using ChainRulesCore: backing, NotImplemented, NotImplementedException

struct Weighted
    w::Vector{Float64}
    b::Float64
    name::String
end
half(x) = x / 2
twice(x) = 2x
product(x, y) = x * y
powered(x, n) = x^n
steps(x; by = 1) = x ÷ by

@testset "zeros add nothing and stay zero when multiplied" begin
    @test ZeroTangent() + 2.0 === 2.0 === 2.0 + NoTangent()
    @test 3 * ZeroTangent() === ZeroTangent() && NoTangent() * [1.0] === NoTangent()
    @test NoTangent() + ZeroTangent() === ZeroTangent()
    @test NoTangent() isa AbstractZero && ZeroTangent() isa AbstractTangent
    @test iszero(NoTangent()) && convert(Float32, ZeroTangent()) === 0f0
    @test ZeroTangent().anything === ZeroTangent() && ZeroTangent()[3] === ZeroTangent()
    @test ZeroTangent() .+ [1.0, 2.0] == [1.0, 2.0]
end

@testset "thunks are computed when unthunked, each time, and not before" begin
    count = Ref(0)
    t = @thunk(begin count[] += 1; [1.0, 2.0] end)
    @test t isa Thunk && t isa AbstractThunk && count[] == 0
    @test unthunk(t) == [1.0, 2.0] && count[] == 1
    @test t + [1.0, 1.0] == [2.0, 3.0] && 2 * t == [2.0, 4.0] && count[] == 3
    @test unthunk(5) == 5
    @test ZeroTangent() + t === t && count[] == 3
    @test unthunk(@thunk(@thunk(7))) == 7
end

@testset "an inplaceable thunk adds itself" begin
    t = InplaceableThunk(Δ -> (Δ .+= 10), @thunk([10.0, 10.0]))
    @test unthunk(t) == [10.0, 10.0]
    Δ = [1.0, 2.0]
    @test add!!(Δ, t) === Δ == [11.0, 12.0]
    @test add!!(1.0, 2.0) == 3.0
end

@testset "a structural tangent has the fields given, the others are zero" begin
    t = Tangent{Weighted}(b = 2.0, w = @thunk([1.0]))
    @test t.b == 2.0 && t.w == [1.0] && t.name === ZeroTangent()
    @test keys(backing(t)) == (:b, :w) && propertynames(t) == (:b, :w)
    c = canonicalize(t)
    @test keys(backing(c)) == (:w, :b, :name) && c.name === ZeroTangent()
    @test_throws ArgumentError canonicalize(Tangent{Weighted}(c = 1.0))
    @test Tangent{Weighted}(w = [1.0]) + Tangent{Weighted}(b = 3.0) == Tangent{Weighted}(b = 3.0, w = [1.0])
    @test (t + Tangent{Weighted}(b = 1.0)).b == 3.0 && (t + t).w == [2.0]
    @test (2 * t).b == 4.0 && (-t).b == -2.0
    @test backing(Weighted([1.0], 2.0, "w")) == (w = [1.0], b = 2.0, name = "w")
end

@testset "tuples and named tuples have tangents, too" begin
    t = Tangent{Tuple{Float64,Int}}(2.0, NoTangent())
    a, b = t
    @test a == 2.0 && b === NoTangent() && t[1] == 2.0 && length(t) == 2 && first(t) == 2.0
    n = Tangent{NamedTuple{(:a, :b),Tuple{Float64,Float64}}}(b = 1.0)
    @test n.a === ZeroTangent() && (a = 1.0, b = 2.0) + n == (a = 1.0, b = 3.0)
    @test (1.0, 2) + t == (3.0, 2)
    @test_throws ArgumentError Tangent{Tuple{Float64}}(a = 1.0)
    @test_throws ArgumentError Tangent{Weighted}(1.0)
    @test map(x -> 2 * x, t) == Tangent{Tuple{Float64,Int}}(4.0, NoTangent())
end

@testset "where there is no rule, rrule and frule give nothing" begin
    @test rrule(half, 1.0) === nothing && frule((NoTangent(), 1.0), half, 1.0) === nothing
    @test rrule(half, 1.0; by = 2) === nothing
end

struct Config <: RuleConfig{Union{HasReverseMode,NoForwardsMode}} end
struct Bare <: RuleConfig{Union{}} end
ChainRulesCore.rrule(::RuleConfig{>:HasReverseMode}, ::typeof(half), x) = (x / 2, Δ -> (NoTangent(), Δ / 2))

@testset "a rule can ask for what the AD system can do" begin
    @test rrule(half, 1.0) === nothing && rrule(Bare(), half, 1.0) === nothing
    y, back = rrule(Config(), half, 3.0)
    @test y == 1.5 && back(1.0) == (NoTangent(), 0.5)
    ChainRulesCore.rrule(::typeof(twice), x) = (2x, Δ -> (NoTangent(), 2Δ))
    @test Base.invokelatest(rrule, Bare(), twice, 4.0)[1] == 8.0
end

@scalar_rule product(x, y) (y, x)
@scalar_rule powered(x::Real, n::Integer) @setup(q = Ω / x) (n * q, NoTangent())
@non_differentiable steps(::Any)

@testset "scalar rules multiply Δ by the partial derivatives" begin
    y, back = rrule(product, 3.0, 4.0)
    @test y == 12.0 && back(2.0) == (NoTangent(), 8.0, 6.0) && back(@thunk(2.0)) == (NoTangent(), 8.0, 6.0)
    y, back = rrule(powered, 2.0, 3)
    @test y == 8.0 && back(1.0)[2] == 12.0
    @test rrule(powered, 2.0, 3.0) === nothing
end

@testset "what is not differentiable has no tangent for any argument" begin
    y, back = rrule(steps, 7; by = 2)
    @test y == 3 && back(1.0) == (NoTangent(), NoTangent())
    @test ignore_derivatives(() -> 3) == 3 && rrule(ignore_derivatives, 2.0)[2](1.0)[2] === NoTangent()
end

@testset "a tangent that is not implemented says so" begin
    t = @not_implemented("nobody has done it")
    @test t isa NotImplemented && t + 1.0 === t && 2.0 * t === t && ZeroTangent() * t === ZeroTangent()
    @test occursin("nobody has done it", sprint(showerror, NotImplementedException(t)))
end

@testset "projection gives the element type, the size and the realness of the primal" begin
    @test ProjectTo(1f0)(2.0) === 2f0 && ProjectTo(1.0)(2.0 + 3im) === 2.0 && ProjectTo(3)(2) === 2.0
    @test ProjectTo(Float32[1, 2])([1.0, 2.0]) isa Vector{Float32}
    @test size(ProjectTo([1.0 2.0; 3.0 4.0])([1.0, 2.0, 3.0, 4.0])) == (2, 2)
    @test ProjectTo([1.0 2.0]')([1.0, 2.0]) == reshape([1.0, 2.0], 2, 1)
    @test ProjectTo(true)(1.0) === NoTangent() === ProjectTo([true])([1.0]) === ProjectTo(:a)(1.0)
    @test ProjectTo(1.0)(ZeroTangent()) === ZeroTangent()
    @test unthunk(ProjectTo(1f0)(@thunk(2.0))) === 2f0
    @test_throws DimensionMismatch ProjectTo([1.0, 2.0])([1.0])
end
