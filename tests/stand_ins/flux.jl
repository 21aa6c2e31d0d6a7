# What Flux's documentation says of layers and their parameters.

using Flux

const A, B = Float32[1 2; 3 4], Float32[0.5, 1]
const XS = Float32[0.1 0.2 -0.4; -0.3 0.1 0.5]
model() = Chain(Dense(A, B, tanh), Dense(Float32[1 -1], false))

struct Affine
    weight
    bias
end
Flux.@layer Affine
(a::Affine)(x) = a.weight * x .+ a.bias

struct Partly
    trained
    fixed
end
Flux.@layer Partly trainable=(trained,)

@testset "a dense layer is σ.(W * x .+ b)" begin
    d = Dense(3 => 2, relu)
    @test size(d.weight) == (2, 3) && d.bias == zeros(Float32, 2) && d.σ === relu && eltype(d.weight) == Float32
    @test Dense(A, B, tanh)(XS) == tanh.(A * XS .+ B)
    @test Dense(A, false)(XS) == A * XS && Dense(A, false).bias === false
    @test size(Dense(2 => 4)(rand(Float32, 2, 5, 3))) == (4, 5, 3)
    @test_throws DimensionMismatch Dense(3 => 2)(XS)
end

@testset "a chain calls one layer after the other" begin
    m = model()
    @test m(XS) == m[2](m[1](XS)) && length(m) == 2
    named = Chain(first = Dense(A, B), second = x -> 2x)
    @test named(XS) == 2 .* (A * XS .+ B) && named[:first].weight === A
    @test SkipConnection(Dense(A, B), +)(XS) ≈ XS .+ A * XS .+ B
end

@testset "the gradient of a model has the model's structure" begin
    m = model()
    g = gradient(m -> sum(m(XS)), m)[1]
    @test keys(g) == (:layers,) && keys(g.layers[1]) == (:weight, :bias, :σ)
    h = tanh.(A * XS .+ B)
    δ = Float32[1, -1] .* (1 .- h .^ 2)
    @test g.layers[2].weight ≈ sum(h; dims = 2)' && g.layers[2].bias === nothing && g.layers[1].σ === nothing
    @test g.layers[1].weight ≈ δ * XS' && g.layers[1].bias ≈ vec(sum(δ; dims = 2))
    @test gradient(m -> sum(m(XS)), Chain(first = Dense(A, B)))[1].layers.first.bias == Float32[3, 3]
end

@testset "trained arrays are found in order, each once" begin
    m = model()
    @test Flux.trainables(m) == [A, B, Float32[1 -1]] && Flux.trainables(m)[1] === A
    d = Dense(A, B)
    @test length(Flux.trainables(Chain(d, d))) == 2
    @test Flux.trainables(Affine([1.0], [2.0])) == [[1.0], [2.0]]
    @test Flux.trainables(Partly([1.0], [2.0])) == [[1.0]] && keys(Flux.trainable(Partly(1, 2))) == (:trained,)
    children, rebuild = Flux.functor(Affine([1.0], [2.0]))
    @test children == (weight = [1.0], bias = [2.0]) && rebuild(children) isa Affine
    @test Flux.fmap(x -> x isa AbstractArray ? 2x : x, m)(XS) == Dense(2Float32[1 -1], false)(Dense(2A, 2B, tanh)(XS))
end

@testset "a model goes into one vector and back" begin
    v, rebuild = Flux.destructure(model())
    @test v == [vec(A); B; 1; -1] && rebuild(v)(XS) == model()(XS)
    @test rebuild(2v)(XS) == Dense(2Float32[1 -1], false)(Dense(2A, 2B, tanh)(XS))
    @test_throws DimensionMismatch rebuild(v[1:2])
end

@testset "activations and losses have their known values and slopes" begin
    @test sigmoid(0.0) == 0.5 && sigmoid(-1000.0) == 0 && σ(1000f0) === 1f0
    @test softplus(0.0) ≈ log(2) && softplus(1000.0) == 1000.0 && relu(-1) == 0 && swish(0f0) === 0f0
    @test elu(-1.0) ≈ exp(-1) - 1 && leakyrelu(-1f0) === -0.01f0
    @test gelu(3.0) ≈ 3 rtol = 2e-3
    @test gradient(x -> sum(relu.(x)), [-1.0, 2.0]) == ([0.0, 1.0],)
    @test gradient(softplus, 0.0)[1] ≈ 0.5 && gradient(swish, 0.0)[1] ≈ 0.5
    @test sum(softmax(XS); dims = 1) ≈ ones(1, 3)
    @test Flux.mse([1.0, 3.0], [0.0, 1.0]) == 2.5 && Flux.Losses.mae([1.0, 3.0], [0.0, 1.0]) == 1.5
    @test Flux.logitcrossentropy(zeros(2, 3), [1 0 1; 0 1 0]) ≈ log(2)
    @test gradient(x -> Flux.logitcrossentropy(x, [1.0 0.0]'), reshape([0.0, 0.0], 2, 1))[1] ≈ [-0.5, 0.5]
end
