# Elements and slices: views of the same memory.

using PyBridge.mx: NDArray

const mx = PB.mx

@testset "an element is an array over the same memory: $(size(a))" for a in (
        collect(1.0:5), collect(reshape(1.0:30, 3, 10)), collect(reshape(1.0:24, 3, 2, 4)), collect(reshape(1.0:16, 2, 2, 2, 2)))
    x = NDArray(a)
    @test all(copy(x[i]) == [a[i]] for i in eachindex(a))
    @test x[2] isa NDArray{Float64,1} && x[2][] === a[2]
    x[4] = -4
    a[4] = -4
    @test copy(x) == a
    y = x[3]
    y[:] = 42
    a[3] = 42
    @test copy(x) == a
end

@testset "places outside of an array" begin
    x = NDArray([1 2; 3 4])
    for i in (-1, 0, 5, 42)
        @test_throws BoundsError x[i]
        @test_throws BoundsError x[i] = 1
    end
    @test_throws AssertionError x[0:1]
    @test_throws AssertionError x[2:3]
    @test_throws AssertionError x[2:1]
    @test_throws MethodError x[1, 2]
end

@testset "numbers out of arrays" begin
    x = NDArray([7 2; 3 4])
    @test x[] === first(x) === 7
    @test last(x) === 4 && first(x[3]) === 2
    @test firstindex(x) == 1 && lastindex(x) == 4
    @test copy(x[end]) == [4]
end

@testset "a slice is of the last dimension, over the same memory" begin
    a = collect(reshape(1.0:24, 2, 3, 4))
    x = NDArray(a)
    @test copy(x[2:3]) == a[:, :, 2:3] == copy(mx.slice(x, 2:3)) == copy(mx.sub(x, 2:3))
    @test x[:] === x[1:4] === mx.slice(x, :) === mx.slice(x, 1:4) === x
    x[2:3] = 0
    a[:, :, 2:3] .= 0
    @test copy(x) == a
    x[1:1] = ones(2, 3, 1)
    a[:, :, 1:1] .= 1
    @test copy(x) == a
    x[4:4] = NDArray(2 .* ones(2, 3, 1))
    a[:, :, 4:4] .= 2
    @test copy(x) == a
    x[2:3] .+= 5
    a[:, :, 2:3] .+= 5
    @test copy(x) == a
    @test_throws AssertionError x[1:2] = ones(2, 3, 1)
end

@testset "slices and elements are writable as their arrays are" begin
    x = NDArray(undef, 4, writable = false)
    @test !x[1:2].writable && !x[1].writable
    @test mx.zeros(4)[1:2].writable
end

@testset "everything at once" begin
    x = mx.zeros(Float64, 2, 2)
    x[:] = 0.1
    @test copy(x) == fill(0.1, 2, 2)
    x[:] = π
    @test copy(x) == fill(Float64(π), 2, 2)
    x[:] = [1 2; 3 4]
    @test copy(x) == [1 2; 3 4]
    x[:] = NDArray([5.0 6.0; 7.0 8.0])
    @test copy(x) == [5 6; 7 8]
    x[:] += 1
    @test copy(x) == [6 7; 8 9]
    n = NDArray([1, 2, 3])
    n[:] = π
    @test copy(n) == [3, 3, 3]
    @test_throws AssertionError x[:] = [1, 2, 3]
end

@testset "gradients go through elements and slices" begin
    x = NDArray([1.0 2.0; 3.0 4.0])
    g = mx.attach_grad!(x)
    y = mx.record() do
        x[2:2] .* 10 .+ x[3]
    end
    mx.backward!(y)
    @test copy(g) == [0 12; 0 10]
end
