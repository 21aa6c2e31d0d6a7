# Arithmetic of arrays and numbers, with and without dots, and in place.

using PyBridge.mx: NDArray, @inplace

const mx = PB.mx
const A, B = [1.0 2.0; 3.0 4.0], [5.0 7.0; 9.0 11.0]
const FLOATS = (Float16, Float32, Float64)
const INTEGERS = (Int32, Int64)

close(x, a) = eltype(x) == eltype(a) && isapprox(copy(x), a, rtol = tolerance(eltype(a)))
tolerance(T) = T <: AbstractFloat ? sqrt(eps(T)) : 0

@testset "arrays of $T and numbers" for T in FLOATS
    a, b = T.(A), T.(B)
    x, y = NDArray(a), NDArray(b)
    @test close(x + y, a + b) && close(x - y, a - b) && close(-x, -a) && +x === x
    @test close(x .+ y, a .+ b) && close(x .- y, a .- b) && close(x .* y, a .* b) && close(x ./ y, a ./ b)
    for s in (2, T(0.5), 1.5f0, 3 // 4, true, π)
        t = T(s)
        @test close(x + s, a .+ t) && close(s + x, t .+ a) && close(x - s, a .- t) && close(s - x, t .- a)
        @test close(x * s, a .* t) && close(s * x, t .* a) && close(x / s, a ./ t)
        @test close(x .+ s, a .+ t) && close(s .+ x, t .+ a) && close(x .- s, a .- t) && close(s .- x, t .- a)
        @test close(x .* s, a .* t) && close(s .* x, t .* a) && close(x ./ s, a ./ t) && close(s ./ x, t ./ a)
        @test close(x .^ s, a .^ t) && close(s .^ x, t .^ a)
    end
    @test close(x .^ y, a .^ b) || T == Float16
    @test close(x .^ 2, a .^ 2) && close(x .^ 3, a .^ 3) && close(x .^ -1, a .^ -1) && close(x .^ 0, one.(a))
    @test close(ℯ .^ x, exp.(a)) && close(x .^ ℯ, a .^ T(ℯ)) && close(π .^ x, T(π) .^ a)
    @test close(y .% x, b .% a) && close(y % 2, b .% 2) && close(y .% 2, b .% 2) && close(11 .% x, 11 .% a)
    @test close(mod.(y, x), mod.(b, a)) && close(mod(y, 3), mod.(b, 3)) && close(mod.(-11, x), mod.(-11, a))
    @test copy(x) == a && copy(y) == b
end

@testset "small and large numbers reach libmxnet as they are: $T" for T in (Float32, Float64), s in (1e-8, 1e8, 1.0f-8, 123456789)
    @test close(mx.zeros(T, 2) .+ s, fill(T(s), 2))
end

@testset "what is not finite: $T" for T in FLOATS
    @test copy(1 ./ mx.zeros(T, 2)) == [Inf, Inf]
    @test copy(mx.zeros(T, 2) .+ Inf) == [Inf, Inf] && copy(mx.zeros(T, 2) .- Inf) == [-Inf, -Inf]
    @test all(isnan, copy(mx.zeros(T, 2) .+ NaN))
end

@testset "numbers lose their fractions before they meet integers: $T" for T in INTEGERS
    x = NDArray(T[1, 2, 3])
    @test close(x .+ 0.5, T[1, 2, 3]) && close(x .+ 2.9, T[3, 4, 5]) && close(x .- π, T[-2, -1, 0]) && close(x .* π, T[3, 6, 9])
    @test close(x ./ 2, T[0, 1, 1]) && close(x ./ 1.1, T[1, 2, 3]) && close(5.5 ./ x, T[5, 2, 1])
    @test close(x .^ 2, T[1, 4, 9]) && close(x .^ 1.1, T[1, 2, 3]) && close(x .^ 2.9, T[1, 4, 9]) && close(x .^ -1, T[1, 0, 0])
    @test close(2 .^ x, T[2, 4, 8]) && close(2.9 .^ x, T[2, 4, 8]) && close(0 .^ x, T[0, 0, 0])
    @test close(10 .- x, T[9, 8, 7]) && close(-x, T[-1, -2, -3])
    @test close(x .% 2, T[1, 0, 1]) && close(11 .% x, T[0, 1, 2])
end

@testset "integers are not divided by nothing" begin
    x = NDArray([1, 2, 3])
    for divide in (() -> x ./ 0.5, () -> x / 0, () -> x ./ -0.9, () -> mx.div_from!(x, 0.5))
        @test thrown(divide) isa AssertionError
    end
    @test copy(NDArray([1.0, 2.0]) ./ 0.5) == [2, 4]
    @test copy(x) == [1, 2, 3]
end

@testset "a remainder has the sign of the divisor" begin
    @test copy(NDArray([-5, 5]) .% 3) == [1, 2] == mod.([-5, 5], 3)
    @test copy(mod.(NDArray([5.0, -5.0]), NDArray([-3.0, -3.0]))) == mod.([5, -5], -3)
end

@testset "arrays of two types do not mix" begin
    @test_throws mx.MXError NDArray([1, 2]) .+ NDArray([1.0, 2.0])
    @test_throws mx.MXError NDArray([1.0, 2.0]) + NDArray([1.0, 2.0, 3.0])
end

@testset "products of matrices" begin
    for (a, b) in ((A, B), (A, [1.0, -1.0]), ([1.0 2.0 3.0; 4.0 5.0 6.0], [1.0 2.0; 3.0 4.0; 5.0 6.0]))
        @test copy(NDArray(a) * NDArray(b)) == a * b
    end
    @test copy(NDArray([1.0 2.0])' * NDArray([1.0 2.0])) == [1 2; 2 4]
    @test_throws mx.MXError NDArray(A) * NDArray([1.0, 2.0, 3.0])
end

@testset "in place" begin
    for (f!, f) in ((mx.add_to!, +), (mx.sub_from!, -), (mx.mul_to!, *), (mx.div_from!, /), (mx.mod_from!, mod))
        x, y = NDArray(B), NDArray(A)
        @test f!(x, y) === x && copy(x) == f.(B, A) && copy(y) == A
        @test copy(f!(NDArray(B), 2)) == f.(B, 2)
        @test copy(f!(NDArray(B), NDArray([1.0, 2.0]))) == f.(B, [1, 2])      # of a size that fits
    end
    x = NDArray(A)
    @test copy(mx.add_to!(x, x, 1, NDArray(B))) == 2A .+ 1 .+ B
    @test copy(mx.rdiv_from!(12, NDArray(A))) == 12 ./ A
    @test copy(mx.rmod_from!(11, NDArray(A))) == mod.(11, A)
    n = NDArray([1, 2])
    @test copy(mx.add_to!(n, 0.9)) == [1, 2]
end

@testset "@inplace writes into the array" begin
    x = y = NDArray(A)
    @inplace x += NDArray(B)
    @test x === y && copy(x) == A + B
    @inplace x -= 2
    @test copy(y) == A + B .- 2
    @inplace x .+= 1
    @inplace x .-= NDArray(B)
    @test copy(y) == A .- 1
    @inplace x .*= 6
    @inplace x ./= NDArray([1.0 2.0; 3.0 6.0])
    @test copy(y) == 6 .* (A .- 1) ./ [1 2; 3 6]
    @inplace x .%= 2
    @test x === y && copy(y) == mod.(6 .* (A .- 1) ./ [1 2; 3 6], 2)
    w, g = NDArray(A), NDArray(B)
    @inplace w += -0.5 * (g + 0.1 * w)
    @test copy(w) ≈ A - 0.5 * (B + 0.1 * A)
    failed = thrown(() -> macroexpand(@__MODULE__, :(@inplace x = 1)))
    @test occursin("unsupported inplace translation", sprint(showerror, failed))
end

@testset "between bounds" begin
    x = NDArray(A)
    @test copy(clamp(x, 2, 3.0)) == clamp.(A, 2, 3) == copy(mx.clip(x, 2, 3)) == copy(mx.clip(x, a_min = 2, a_max = 3))
    @test copy(clamp.(x, 2, 3)) == clamp.(A, 2, 3)
    @test copy(x) == A
    @test clamp!(x, 2, 3) === x && copy(x) == clamp.(A, 2, 3)
    @test copy(mx.clip!(NDArray(A), 2, 3)) == clamp.(A, 2, 3)
end

@testset "gradients of arithmetic" begin
    x, y = NDArray(A), NDArray(B)
    gx, gy = mx.attach_grad!(x), mx.attach_grad!(y)
    z = mx.record() do
        (x .* y .- 3 .* x) ./ 2 .+ x .^ 2 .- 1 ./ y
    end
    mx.backward!(z)
    @test copy(gx) ≈ (B .- 3) ./ 2 .+ 2A
    @test copy(gy) ≈ A ./ 2 .+ 1 ./ B .^ 2
    z = mx.record() do
        x * y
    end
    mx.backward!(z)
    @test copy(gx) ≈ ones(2, 2) * B'
    @test copy(gy) ≈ A' * ones(2, 2)
end
