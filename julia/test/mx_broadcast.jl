# Dots: arrays of sizes that fit, expressions, other functions, comparisons.

using PyBridge.mx: NDArray

const mx = PB.mx
const M, COLUMN, ROW = [1.0 2.0 3.0; 4.0 5.0 6.0], [1.0, 2.0], [3.0 5.0 7.0]

@testset "$f. of a matrix, a column and a row" for f in (+, -, *, /, ^, max, min, hypot, ==, !=, <, <=, >, >=)
    for (a, b) in ((M, COLUMN), (COLUMN, M), (M, ROW), (ROW, M), (COLUMN, ROW), (M, M), (M, 2.0), (2.0, M))
        x, y = map(v -> v isa Array ? NDArray(v) : v, (a, b))
        z = f.(x, y)
        @test z isa NDArray{Float64} && copy(z) ≈ f.(a, b)
        @test copy(broadcast(f, x, y)) ≈ f.(a, b)
    end
end

@testset "comparisons of integers give integers" begin
    x, y = NDArray([1 2 3; 4 5 6]), NDArray([1, 6])
    @test copy(x .== y) == [1 0 0; 0 0 1] && (x .== y) isa NDArray{Int,2}
    @test copy(x .> 2) == [0 0 1; 1 1 1] && copy(2 .> x) == [1 0 0; 0 0 0]
end

@testset "expressions" begin
    x, y = NDArray(M), NDArray(COLUMN)
    @test copy(x .* y .+ 1) == M .* COLUMN .+ 1
    @test copy(@. x + 2 * y + x + 1) == @. M + 2 * COLUMN + M + 1
    @test copy(@. x^2 + exp(-x) * sqrt(y) / (1 + abs(x))) ≈ @. M^2 + exp(-M) * sqrt(COLUMN) / (1 + abs(M))
    @test copy(@. max(x, 2, y)) == @. max(M, 2, COLUMN)
    @test copy(x .+ (1 .+ 2)) == M .+ 3
    @test copy(2 .^ x) == 2 .^ M
    @test copy(x) == M && copy(y) == COLUMN
end

@testset "operations in a function that is dotted are dots, too" begin
    x, y = NDArray(M[:, 1:2]), NDArray([2.0 0.5; 1.0 3.0])
    a, b = copy(x), copy(y)
    for f in (v -> v * v, v -> v / (1 + exp(-v)), v -> v^2 - 3v, v -> -max(v, 2) / sqrt(v), v -> (v .* 2) * v)
        @test copy(f.(x)) ≈ f.(a)
    end
    @test copy((v -> mx.σ(v) * mx.relu(v - 2)).(x)) ≈ (v -> max(v - 2, 0) / (1 + exp(-v))).(a)
    g(u, v) = u * v + u / v - 2u^v
    @test copy(g.(x, y)) ≈ g.(a, b) && copy(g.(x, 2)) ≈ g.(a, 2) && copy(g.(2, y)) ≈ g.(2, b)
    z = NDArray(a)
    ∇ = mx.attach_grad!(z)
    mx.backward!(mx.record(() -> (v -> v * v * v).(z)))
    @test copy(∇) ≈ 3 .* a .^ 2
end

@testset "functions of NDArrays are called with the whole arrays" begin
    x = NDArray(M)
    double(v) = 2v
    @test copy(double.(x)) == 2M
    total(v::NDArray) = sum(v * mx.ones(Float64, 3, 1))
    @test copy(total.(x)) ≈ [sum(M)]
    @test identity.(x) === x
    @test copy(Float32.(x)) == M && Float32.(x) isa NDArray{Float32,2}
    @test copy(Int.(NDArray([1.5, -1.5]))) == [1, -1]
    for (f, words) in ((() -> cospi.(x), ("cospi", "NDArray")), (() -> x .+ M, ("+", "Array{Float64", "NDArray(a)")))
        e = thrown(f)
        @test e isa ArgumentError && all(w -> occursin(w, e.msg), words)
    end
end

@testset "assignments with dots write into the array" begin
    x = same = mx.zeros(Float64, 2, 3)
    x .= 7
    @test copy(x) == fill(7, 2, 3)
    x .= M
    @test copy(x) == M
    x .= NDArray(COLUMN)
    @test copy(x) == [1 1 1; 2 2 2]
    x .= ROW
    @test copy(x) == [3 5 7; 3 5 7]
    x .= NDArray(M) .* 2 .- 1
    @test copy(x) == 2M .- 1
    x .+= 1
    x .*= NDArray(COLUMN)
    @test copy(x) == 2M .* COLUMN
    x .= 1 .+ 2
    @test copy(x) == fill(3, 2, 3)
    x[:] .= 4
    x[2:2] .-= 1
    @test copy(x) == [4 3 4; 4 3 4]
    @test (@test_logs x .= x) === x
    @test x === same
    n = mx.zeros(Int, 2)
    n .= NDArray([1.5, 2.5])
    @test copy(n) == [1, 2]
    @test_throws mx.MXError x .= NDArray([1.0, 2.0, 3.0])
end

@testset "gradients are of the sizes of what was broadcast" begin
    x, y = NDArray(M), NDArray(COLUMN)
    gx, gy = mx.attach_grad!(x), mx.attach_grad!(y)
    z = mx.record() do
        x .* y .+ max.(x, 3)
    end
    mx.backward!(z)
    @test copy(gx) == [1 1 2; 3 3 3]      # where x is 3, max passes the gradient on
    @test copy(gy) == vec(sum(M, dims = 2))
end
