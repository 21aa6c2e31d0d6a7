# Whether a custom function has in-place forms: asked of Julia's methods, again whenever they have changed.

has(method, f, xs...) = PB._has_inplace(method, f, xs)

@testset "$method is found once it is defined, for the arguments it takes" for method in (:forward!, :backward!)
    generic = getfield(PB, method)
    T = Symbol("Late_", method === :forward! ? "forward" : "backward")
    @eval struct $T <: CustomFunction end
    f = Base.invokelatest(getfield(@__MODULE__, T))
    x, y = [1.0], ones(2, 2)
    ask(xs...) = Base.invokelatest(has, generic, f, xs...)
    @test !ask(x) && !ask(y)
    @test !ask(x)   # from the cache
    @eval PB.$method(out, f::$T, x::Vector) = nothing
    @test ask(x)
    @test !ask(y) && !ask(x, x) && !ask()
    @eval PB.$method(out, f::$T, xs...) = nothing
    @test ask(x) && ask(y) && ask(x, y) && ask(x, "a constant", nothing) && ask()
end

@testset "the two forms are asked for separately" begin
    @eval struct OnlyForward <: CustomFunction end
    @eval PB.forward!(out, ::OnlyForward, x) = nothing
    f = Base.invokelatest(() -> OnlyForward())
    @test Base.invokelatest(has, PB.forward!, f, [1.0])
    @test !Base.invokelatest(has, PB.backward!, f, [1.0])
end

@testset "a method for a supertype counts" begin
    @eval abstract type Family <: CustomFunction end
    @eval struct Child <: Family end
    @eval PB.forward!(out, ::Family, x::AbstractMatrix{<:Real}) = nothing
    f = Base.invokelatest(() -> Child())
    @test Base.invokelatest(has, PB.forward!, f, ones(2, 2))
    @test Base.invokelatest(has, PB.forward!, f, PB._turned(ones(2, 2)))
    @test !Base.invokelatest(has, PB.forward!, f, ones(2))
end
