# Random arrays: their range and moments, seeds, and that both languages draw from one generator.

const mx = PB.mx
const pynd = PB.mx.PythonCall.pyimport("mxnet")
const pyconvert = PB.mx.PythonCall.pyconvert

average(a) = sum(a) / length(a)
deviation(a) = sqrt(average(abs2.(a .- average(a))))

"A Python NDArray as numbers, in the order of memory."
numbers(x) = pyconvert(Vector{Float64}, x.reshape(-1).astype("float64").asnumpy().tolist())
in_memory(x) = Float64.(vec(copy(x)))

const N = 40_000

@testset "uniform numbers" begin
    mx.seed!(1)
    for (low, high) in ((0, 1), (-2, 3), (5.5, 5.75))
        x = copy(mx.rand(200, 200; low = low, high = high))
        @test x isa Matrix{Float32} && size(x) == (200, 200)
        @test all(v -> low <= v <= high, x)
        width = high - low
        @test abs(average(x) - (low + high) / 2) < 5 * width / sqrt(12N)
        @test abs(deviation(x) - width / sqrt(12)) < 0.01 * width
        @test minimum(x) < low + width / 100 && maximum(x) > high - width / 100
    end
    @test length(unique(copy(mx.rand(1000)))) > 990
end

@testset "normal numbers" begin
    mx.seed!(2)
    for (μ, σ) in ((0, 1), (-3, 0.5), (100, 2.5))
        x = Float64.(copy(mx.randn(200, 200; μ = μ, σ = σ)))
        @test abs(average(x) - μ) < 5 * σ / sqrt(N)
        @test abs(deviation(x) - σ) < 0.02 * σ
        inside = count(v -> abs(v - μ) < σ, x) / N
        @test abs(inside - 0.6827) < 0.015
    end
end

@testset "arrays are filled in place: $T" for T in (Float32, Float64, Float16)
    mx.seed!(3)
    x = mx.zeros(T, 100, 100)
    @test mx.rand!(x; low = 2, high = 4) === x
    a = copy(x)
    @test a isa Matrix{T} && all(v -> 2 <= v <= 4, a) && length(unique(a)) > 500
    @test abs(average(Float64.(a)) - 3) < 0.05
    @test mx.randn!(x; μ = -1, σ = 2) === x
    a = Float64.(copy(x))
    @test abs(average(a) + 1) < 0.1 && abs(deviation(a) - 2) < 0.1
    y = mx.zeros(T, 3)
    mx.rand!(y)
    @test all(v -> 0 <= v <= 1, copy(y)) && any(v -> v != 0, copy(y))
    mx.randn!(y)
    @test any(v -> v != 0, copy(y))
end

@testset "sizes" begin
    @test size(mx.rand(2, 3, 4)) == (2, 3, 4) && size(mx.randn(5)) == (5,)
    @test mx.context(mx.rand(2; context = mx.cpu())) == mx.cpu()
    @test eltype(mx.rand(2)) === Float32 && eltype(mx.randn(2)) === Float32
end

@testset "the same seed gives the same numbers" begin
    draw() = (copy(mx.rand(3, 2)), copy(mx.randn(4)), copy(mx.rand!(mx.zeros(Float64, 5))))
    mx.seed!(7)
    first_time, next = draw(), draw()
    mx.seed!(7)
    @test draw() == first_time && draw() == next && first_time != next
    mx.seed!(8)
    @test draw() != first_time
    mx.srand(7)
    @test draw() == first_time
end

@testset "both languages draw from one generator" begin
    pynd.random.seed(11)
    right = numbers(pynd.nd.random.uniform(-1, 2, shape = (3, 4)))
    mx.seed!(11)
    @test in_memory(mx.rand(4, 3; low = -1, high = 2)) == right
    pynd.random.seed(11)
    @test in_memory(mx.rand(4, 3; low = -1, high = 2)) == right

    mx.seed!(12)
    right = in_memory(mx.randn(4, 3; μ = 1, σ = 3))
    pynd.random.seed(12)
    @test numbers(pynd.nd.random.normal(1, 3, shape = (3, 4))) == right
    pynd.random.seed(12)
    numbers(pynd.nd.random.normal(1, 3, shape = (3, 4)))        # one stream: what Python draws is gone
    @test in_memory(mx.randn(4, 3; μ = 1, σ = 3)) != right
end

@testset "sampling operators follow the seed" begin
    mx.seed!(5)
    a = copy(mx.random_poisson(lam = 4, shape = (2, 50)))
    b = copy(mx.shuffle(mx.NDArray(Float32.(1:20))))
    mx.seed!(5)
    @test copy(mx.random_poisson(lam = 4, shape = (2, 50))) == a && size(a) == (2, 50)
    @test copy(mx.shuffle(mx.NDArray(Float32.(1:20)))) == b && sort(b) == 1:20 && b != 1:20
end

@testset "arrays that are not writable are refused, and numbers of no floating type" begin
    fixed = mx.NDArray{Float32}(undef, 2; writable = false)
    @test_throws AssertionError mx.rand!(fixed)
    @test_throws AssertionError mx.randn!(fixed)
    @test_throws mx.MXError mx.rand!(mx.zeros(Int32, 2))
end
