# What Lux's documentation says of layers, parameters and states.

import Lux
using Random, Statistics, Zygote

const RNG = MersenneTwister(0)
const XS = Float32[1 2 3; 4 5 7]

@testset "setup gives parameters and states as named tuples" begin
    ps, st = Lux.setup(RNG, Lux.Dense(2 => 3, tanh))
    @test keys(ps) == (:weight, :bias) && size(ps.weight) == (3, 2) && ps.bias == zeros(Float32, 3) && st == NamedTuple()
    @test keys(Lux.setup(RNG, Lux.Dense(2 => 3; use_bias = false))[1]) == (:weight,)
    model = Lux.Chain(Lux.Dense(2 => 3), x -> 2x, Lux.BatchNorm(3))
    ps, st = Lux.setup(RNG, model)
    @test keys(ps) == (:layer_1, :layer_2, :layer_3) == keys(st) && ps.layer_2 == NamedTuple()
    @test keys(ps.layer_3) == (:scale, :bias) && keys(st.layer_3) == (:running_mean, :running_var, :training)
    @test Lux.parameterlength(model) == 6 + 3 + 3 + 3 && Lux.parameterlength(Lux.NoOpLayer()) == 0
end

@testset "a call gives the result and the new states" begin
    model = Lux.Chain(Lux.Dense(2 => 3, tanh), Lux.WrappedFunction(x -> 2x))
    ps, st = Lux.setup(RNG, model)
    y, same = model(XS, ps, st)
    @test y ≈ 2 .* tanh.(ps.layer_1.weight * XS .+ ps.layer_1.bias) && same == st
    @test Lux.apply(model, XS, ps, st)[1] == y
    @test Lux.Chain(first = Lux.Dense(2 => 1))(XS, (first = (weight = [1f0 1f0], bias = [1f0]),), (first = NamedTuple(),)) ==
        (Float32[6 8 11], (first = NamedTuple(),))
end

@testset "batch normalisation keeps running statistics, and uses them in test mode" begin
    layer = Lux.BatchNorm(2)
    ps, st = Lux.setup(RNG, layer)
    y, new = layer(XS, ps, st)
    @test mean(y; dims = 2) ≈ zeros(2, 1) atol = 1e-6
    @test std(y; dims = 2, corrected = false) ≈ ones(2, 1) rtol = 1e-4
    @test new.running_mean ≈ 0.1f0 .* vec(mean(XS; dims = 2))
    @test new.running_var ≈ 0.9f0 .+ 0.1f0 .* vec(var(XS; dims = 2)) && eltype(new.running_var) == Float32
    @test st.running_mean == zeros(Float32, 2)
    tested, unchanged = layer(XS, ps, Lux.testmode(st))
    @test tested ≈ XS rtol = 1e-4
    @test unchanged.running_mean == st.running_mean && Lux.trainmode(unchanged).training === Val(true)
end

@testset "dropout draws from its state's generator" begin
    layer = Lux.Dropout(0.5)
    ps, st = Lux.setup(RNG, layer)
    y, new = layer(ones(Float32, 100), ps, st)
    @test Set(y) == Set(Float32[0, 2]) && layer(ones(Float32, 100), ps, st)[1] == y
    @test layer(ones(Float32, 100), ps, new)[1] != y
    @test layer(XS, ps, Lux.testmode(st))[1] === XS
end

@testset "gradients with respect to parameters have their structure" begin
    model = Lux.Chain(Lux.Dense(2 => 2), Lux.BatchNorm(2), Lux.Dense(2 => 1; use_bias = false))
    ps, st = Lux.setup(RNG, model)
    (y, new), back = pullback((x, p, s) -> model(x, p, s), XS, ps, st)
    Δx, Δps, Δst = back((ones(Float32, 1, 3), nothing))
    @test Δps.layer_2.bias ≈ 3 .* vec(ps.layer_3.weight) && keys(Δps.layer_3) == (:weight,)
    @test maximum(abs, Δps.layer_1.bias) < 1e-5     # the mean takes it out
    @test new.layer_2.running_mean isa Vector{Float32}
    f(bias) = sum(abs2, model(XS, merge(ps, (layer_2 = merge(ps.layer_2, (bias = bias,)),)), st)[1])
    @test gradient(p -> sum(abs2, model(XS, p, st)[1]), ps)[1].layer_2.bias ≈ gradient(f, ps.layer_2.bias)[1]
end
