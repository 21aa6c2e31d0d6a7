# Functions of one array, reductions, products and norms.

using Statistics
using PyBridge.mx: NDArray, σ, sigmoid, relu, softmax, log_softmax

const mx = PB.mx

@testset "$f of $T, with and without the dot" for T in (Float32, Float64), (f, a) in (
        (abs, [-1.5, 2]), (sign, [-1.5, 0, 2]), (round, [-1.6, 1.4]), (ceil, [-1.5, 1.4]), (floor, [-1.5, 1.4]), (trunc, [-1.6, 1.6]),
        (sqrt, [0, 2, 4]), (cbrt, [-8, 3]), (abs2, [-2, 3]), (exp, [-1, 2]), (expm1, [-1e-3, 2]), (log, [0.5, 2]), (log2, [0.5, 8]),
        (log10, [0.5, 100]), (log1p, [1e-3, 2]), (sin, [0.1, 3]), (cos, [0.1, 3]), (tan, [0.1, 1]), (asin, [-0.5, 0.5]),
        (acos, [-0.5, 0.5]), (atan, [-3, 3]), (sinh, [-1, 1]), (cosh, [-1, 1]), (tanh, [-1, 1]), (asinh, [-2, 2]), (acosh, [1.5, 3]),
        (atanh, [-0.5, 0.5]), (deg2rad, [90, 180]), (rad2deg, [1, 3]))
    a = T.(a)
    x = NDArray(a)
    @test copy(f.(x)) ≈ f.(a) && f.(x) isa NDArray{T,1}
    @test copy(f(x)) ≈ f.(a)
    @test copy(x) == a
    @test (@inferred f(x)) isa NDArray{T,1}
end

@testset "the names of older versions" begin
    x = NDArray([0.1, 0.5])
    for (old, f) in ((mx.arcsin, asin), (mx.arccos, acos), (mx.arctan, atan), (mx.arcsinh, asinh), (mx.arctanh, atanh))
        @test copy(old(x)) ≈ f.(copy(x))
    end
    @test copy(mx.arccosh(x .+ 1)) ≈ acosh.(copy(x) .+ 1)
end

@testset "inverses: of elements with the dot, of a matrix without" begin
    a = [1.0 2.0; 3.0 4.0]
    @test copy(inv.(NDArray(a))) ≈ inv.(a)
    @test copy(inv(NDArray(a))) ≈ inv(a)
end

@testset "activation functions of $T" for T in (Float32, Float64)
    a = T[0.1 0.2; -0.3 -0.4]
    x = NDArray(a)
    @test copy(σ.(x)) ≈ 1 ./ (1 .+ exp.(-a)) && σ === sigmoid
    @test copy(sigmoid(x)) ≈ copy(sigmoid.(x))
    @test copy(relu.(x)) == max.(a, 0) == copy(relu(x))
    for d in 1:2
        p = exp.(a) ./ sum(exp.(a), dims = d)
        @test copy(softmax.(x, d)) ≈ p ≈ copy(softmax(x, axis = d)) && copy(log_softmax.(x, d)) ≈ log.(p)
    end
    @test copy(softmax.(x)) ≈ copy(softmax.(x, 2)) && copy(log_softmax.(x)) ≈ copy(log_softmax.(x, 2))
    @test copy(softmax.(NDArray(T[1, 2, 3]))) ≈ exp.(1:3) ./ sum(exp.(1:3))
    @test copy(relu.(NDArray([1, 2, -3]))) == [1, 2, 0]
end

const A = collect(reshape(1.0:24, 2, 3, 4)) ./ 8

@testset "$f" for f in (sum, mean, prod, maximum, minimum)
    x = NDArray(A)
    @test f(x) isa NDArray{Float64,1} && copy(f(x)) ≈ [f(A)] && f(x)[] ≈ f(A)
    for d in (1, 2, 3, (1, 2), [1, 3], (3, 1), (1, 2, 3))
        @test copy(f(x, dims = d)) ≈ f(A, dims = d)
        @test copy(f(x, d)) ≈ f(A, dims = d)
    end
    @test_throws mx.MXError f(x, dims = 4)
    @test copy(x) == A
end

@testset "sums of other types" begin
    @test sum(NDArray([1, 2, 3]))[] === 6
    @test sum(NDArray(Float16[1, 2]))[] === Float16(3)
end

@testset "places of the largest and the smallest: $f" for f in (argmax, argmin)
    for a in ([1.0 5.0 3.0; 4.0 2.0 6.0], [1.0 5.0 3.0; NaN 2.0 6.0])
        for d in 1:2
            @test copy(f(NDArray(a), dims = d)) == map(i -> i[d], f(a, dims = d))
        end
    end
    a = [1.0 5.0 3.0; 4.0 2.0 6.0]
    @test Int(f(NDArray(a))[]) == LinearIndices(a)[f(a)]
end

@testset "products and norms" begin
    a, b = [1.0 2.0 3.0; 4.0 5.0 6.0], [1.0 -1.0; 2.0 0.5; -3.0 1.0]
    x, y = NDArray(a), NDArray(b)
    @test copy(mx.dot(x, y)) == a * b == copy(dot(x, y)) == copy(x ⋅ y)
    @test dot(NDArray([1.0, 2.0]), NDArray([3.0, 4.0]))[] == 11
    @test_throws mx.MXError dot(mx.zeros(1, 2), mx.zeros(1, 2, 3))
    @test norm(y)[] ≈ norm(b) && norm(y, 1)[] ≈ norm(b, 1)
    @test copy(norm(y, dims = 1)) ≈ sqrt.(sum(abs2, b, dims = 1))
    @test copy(norm(y, 1, dims = (1, 2))) ≈ sum(abs, b, dims = (1, 2))
    @test_throws ArgumentError norm(y, 3)
end

"The gradient of the sum of `f` at `a`, by autograd."
function gradient(f, a)
    x = NDArray(a)
    g = mx.attach_grad!(x)
    mx.backward!(mx.record(() -> f(x)))
    return copy(g)
end

@testset "gradients" begin
    a = [0.3, 0.6]
    @test gradient(x -> sin.(x), a) ≈ cos.(a)
    @test gradient(x -> exp.(x) .+ sqrt.(x), a) ≈ exp.(a) .+ 0.5 ./ sqrt.(a)
    @test gradient(x -> σ.(x), a) ≈ exp.(-a) ./ (1 .+ exp.(-a)) .^ 2
    @test gradient(x -> relu.(x), [-1.0, 2.0]) == [0, 1]
    @test gradient(x -> sum(x .* x), a) ≈ 2a
    @test gradient(x -> mean(x .* x, dims = 1), a) ≈ a
    @test gradient(x -> maximum(x), a) == [0, 1]
    @test gradient(x -> norm(x), a) ≈ a ./ norm(a)
    @test gradient(x -> log_softmax.(x, 1)[1:1], a) ≈ [1, 0] .- exp.(a) ./ sum(exp.(a))
    @test gradient(x -> dot(x, x), a) ≈ 2a
end
