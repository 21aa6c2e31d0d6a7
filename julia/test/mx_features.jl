# What libmxnet says of itself: the same as it says to Python.

const mx = PB.mx

@testset "features are those of Python's runtime" begin
    python = PB.mx.PythonCall.pyimport("mxnet.runtime").Features()
    features = mx.feature_list()
    @test features isa Vector{mx.LibFeature} && length(features) == length(python) > 10
    for f in features
        @test PB.mx.PythonCall.pyconvert(Bool, python.is_enabled(f.name)) == f.enabled == mx.isenabled(Symbol(f.name))
    end
    @test allunique(map(f -> f.name, features))
end

@testset "features by name" begin
    @test mx.isenabled(:CPU_SSE) isa Bool
    @test !mx.isenabled(:NO_SUCH_FEATURE)
end

@testset "features are shown with marks" begin
    @test string(mx.LibFeature("OPENMP", true)) == "✔ OPENMP"
    @test string(mx.LibFeature("CUDA", false)) == "✖ CUDA"
end
