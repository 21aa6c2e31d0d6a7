# Sizes and orders of dimensions.

using PyBridge.mx: NDArray

const mx = PB.mx
const A = collect(reshape(1.0:24, 2, 3, 4))

@testset "sizes" begin
    x = NDArray([1 2; 3 4; 5 6])
    @test size(x) == (3, 2)
    @test map(d -> size(x, d), (1, 2, 3, 4)) == (3, 2, 1, 1) == size(x, 1, 2, 3, 4)
    @test (@inferred size(x)) == (3, 2)
    @test_throws ArgumentError size(x, 0)
end

@testset "another size" begin
    x = NDArray(A)
    @test copy(reshape(x, 4, 3, 2)) == reshape(A, 4, 3, 2) == copy(reshape(x, (4, 3, 2))) == copy(reshape(x, [4, 3, 2]))
    @test copy(reshape(x, 24)) == vec(A)
    @test size(reshape(x, -1, 4)) == (6, 4)
    @test size(reshape(x, shape = (6, 4))) == size(mx.Reshape(x, shape = (6, 4))) == (6, 4)
    @test size(reshape(x, 0, -1)) == (2, 12)
    @test size(reshape(x, 6, 1, -1)) == (6, 1, 4)
    @test size(reshape(x, -2, 1, 1)) == (2, 3, 4, 1, 1)
    @test size(reshape(x, -3, 4)) == (6, 4)
    wide = mx.zeros(10, 5, 4)
    @test size(reshape(wide, -1, 0)) == (40, 5)
    @test size(reshape(wide, -1, 0, reverse = true)) == (50, 4)
    for dims in ((5, 5), (-1, 5), (0, 5), (5, 0, -1), (2, 3, 4, 2))
        @test_throws DimensionMismatch reshape(x, dims)
    end
    @test size(reshape(x, 6, :)) == (6, 4)
    @test copy(x) == A
end

@testset "a dimension more" begin
    x = NDArray([1 2; 3 4; 5 6])
    @test map(d -> size(mx.expand_dims(x, d)), (1, 2, 3)) == ((1, 3, 2), (3, 1, 2), (3, 2, 1))
    @test vec(copy(mx.expand_dims(x, 2))) == [1, 3, 5, 2, 4, 6]
end

@testset "transposed" begin
    v, m = NDArray([1.0, 2.0, 3.0]), NDArray([1.0 2.0 3.0; 4.0 5.0 6.0])
    @test copy(v') == [1 2 3] == copy(transpose(v)) == copy(permutedims(v))
    @test copy(m') == copy(m)' == copy(transpose(m)) == copy(permutedims(m))
    @test mx.transpose === transpose
end

@testset "dimensions in the order $order" for order in ([1, 2, 3], [2, 1, 3], [3, 1, 2], (2, 3, 1), (3, 2, 1))
    @test copy(permutedims(NDArray(A), order)) == permutedims(A, order)
end

@testset "side by side: $(size(a))" for a in ([1, 2], [1 2; 3 4], A, ones(2, 1, 3, 2))
    b = 2a
    x, y = NDArray(a), NDArray(b)
    @test copy([x y]) == [a b] && copy([x; y]) == [a; b]
    @test copy([x y 3y x]) == [a b 3b a] && copy([x; y; 3y; x]) == [a; b; 3b; a]
    @test copy(hcat(x)) == hcat(a)
    for d in 1:4
        @test copy(cat(x, y, dims = d)) == cat(a, b, dims = d) == copy(cat(d, x, y))
    end
end

@testset "side by side, with different numbers of dimensions, and in blocks" begin
    a, b = [1 2; 3 4], [5, 6]
    @test copy([NDArray(a) NDArray(b)]) == [a b]
    x = NDArray(a)
    @test copy([x 2x; 3x 4x]) == [a 2a; 3a 4a]
    @test copy([x 2x; [x x]]) == [a 2a; a a]
    @test_throws mx.MXError [x NDArray([1, 2, 3])]
end

@testset "repeated along dimensions of 1" begin
    x = NDArray([1 2 3])
    @test copy(mx.broadcast_to(x, (5, 3))) == repeat([1 2 3], 5) == copy(mx.broadcast_to(x, 5, 3))
    @test copy(mx.broadcast_to(NDArray([1, 2]), 2, 3)) == [1 1 1; 2 2 2]
    a = reshape([1, 2, 3], 1, 3, 1)
    for f in (mx.broadcast_axis, mx.broadcast_axes)
        @test copy(f(NDArray(a), 1, 4)) == [a; a; a; a]
        @test copy(f(NDArray(a), 3, 2)) == cat(a, a, dims = 3)
        @test copy(f(NDArray(a), (1, 3), (2, 4))) == repeat(a, 2, 1, 4) == copy(f(NDArray(a), [1, 3], [2, 4]))
    end
    @test_throws mx.MXError mx.broadcast_to(x, 5, 4)
end

@testset "gradients go through shapes" begin
    x = NDArray([1.0 2.0; 3.0 4.0])
    g = mx.attach_grad!(x)
    w = NDArray([1.0 2.0; 3.0 4.0])
    y = mx.record() do
        [reshape(x, 4); reshape(x', 4)] .* [reshape(w, 4); reshape(w, 4)]
    end
    mx.backward!(y)
    @test copy(g) == [1 2; 3 4] + [1 3; 2 4]
end
