# New arrays, and copies between arrays, Julia and libmxnet.

using PyBridge.mx: NDArray

const mx = PB.mx
const TYPES = (Float16, Float32, Float64, UInt8, Int8, Int32, Int64, Bool)

@testset "an array that is not initialised has the type and size asked for" begin
    for x in (NDArray{Int,2}(undef, 5, 4), NDArray{Int,2}(undef, (5, 4)), NDArray{Int}(undef, 5, 4), NDArray{Int}(undef, (5, 4)))
        @test x isa NDArray{Int,2} && size(x) == (5, 4) && x.writable
    end
    @test NDArray(undef, 2, 3) isa NDArray{Float32,2}
    @test NDArray(undef, (2, 3)) isa NDArray{Float32,2}
    @test mx.empty(2, 3) isa NDArray{Float32,2}
    @test mx.empty(Float64, 2, 3) isa NDArray{Float64,2}
    @test mx.empty((2, 3)) isa NDArray{Float32,2}
    @test mx.empty(Int32, (2, 3), mx.cpu()) isa NDArray{Int32,2}
    @test !NDArray(undef, 2, writable = false).writable
    @test !NDArray{Int,1}(undef, 2, writable = false).writable
    @test_throws MethodError NDArray{Int,1}(undef, 5, 5)
    @test_throws MethodError NDArray{Int,1}(undef, (5, 5))
    @test_throws ArgumentError NDArray{UInt16}(undef, 2)
end

@testset "an array of $T is the Julia array it is made of" for T in TYPES
    a = T[1 0 1; 1 1 0]
    x = NDArray(a)
    @test x isa NDArray{T,2}
    @test size(x) == (2, 3) && length(x) == 6 && ndims(x) == 2 && eltype(x) == T
    @test copy(x) == a && copy(x) isa Matrix{T}
    @test copy(mx.zeros(T, 2, 3)) == zeros(T, 2, 3)
    @test copy(mx.ones(T, (2, 3))) == ones(T, 2, 3)
end

@testset "ranges, views and other types become arrays" begin
    @test copy(NDArray(1:4)) == [1, 2, 3, 4] && eltype(NDArray(1:4)) == Int
    @test copy(NDArray(1.0:3)) == [1, 2, 3]
    a = reshape(1.0:12, 3, 4)
    @test copy(NDArray(a')) == a'
    @test copy(NDArray(view(collect(a), 2:3, 1:2))) == a[2:3, 1:2]
    @test copy(NDArray(Float32, [1, 2, 3])) == [1, 2, 3] && eltype(NDArray(Float32, [1, 2, 3])) == Float32
    @test copy(NDArray(Int, [1.0, 2.0])) == [1, 2]
    @test_throws InexactError NDArray(Int, [1.5])
    @test_throws MethodError NDArray([1 // 2])
    @test_throws MethodError NDArray(["a"])
end

@testset "a new array has memory of its own" begin
    a = [1.0, 2.0]
    x = NDArray(a)
    a[1] = 7
    @test copy(x) == [1, 2]
    b = copy(x)
    b[1] = 7
    @test copy(x) == [1, 2]
end

@testset "filled arrays" begin
    @test mx.zeros(2, 3) isa NDArray{Float32,2} && mx.ones((2, 3)) isa NDArray{Float32,2}
    @test copy(mx.fill(42, 2, 3)) == fill(42, 2, 3) && mx.fill(42, 2, 3) isa NDArray{Int,2}
    @test copy(mx.fill(2.5f0, (2, 3))) == fill(2.5f0, 2, 3) && mx.fill(2.5f0, 2) isa NDArray{Float32,1}
    @test copy(mx.fill(0.1, 2)) == [0.1, 0.1]
    @test copy(mx.fill(2^53 + 1, 2)) == [2^53 + 1, 2^53 + 1]
    @test copy(fill!(mx.zeros(2, 2), 3)) == [3 3; 3 3]
    x = NDArray(Float64[1 2; 3 4])
    for like in (mx.zeros(x), zeros(x))
        @test copy(like) == zeros(2, 2) && like isa NDArray{Float64,2}
    end
    for like in (mx.ones(x), ones(x))
        @test copy(like) == ones(2, 2) && like isa NDArray{Float64,2}
    end
    @test copy(x) == [1 2; 3 4]
    @test copy(mx.fill(Inf, 1)) == [Inf] && isnan(mx.fill(NaN, 1)[])
end

@testset "similar arrays" begin
    x = mx.zeros(Float64, 2, 3)
    @test similar(x) isa NDArray{Float64,2} && size(similar(x)) == (2, 3)
    @test similar(x).writable && !similar(x, writable = false).writable
    x.writable = false
    @test !similar(x).writable
end

@testset "copies from one array into another" begin
    x, y = NDArray([1.0 2.0; 3.0 4.0]), mx.zeros(Float64, 2, 2)
    @test copy!(y, x) === y && copy(y) == [1 2; 3 4]
    x[:] = 0
    @test copy(y) == [1 2; 3 4]
    z = mx.zeros(Float32, 2, 2)
    @test eltype(copy!(z, y)) == Float32 && copy(z) == [1 2; 3 4]     # between types
    @test copy!(z, 1:2 |> a -> [a a]) === z && copy(z) == [1 1; 2 2]
    @test (@test_logs (:warn, r"itself") copy!(y, y)) === y
    @test_throws mx.MXError copy!(mx.zeros(3), mx.zeros(2))
end

@testset "copies between Julia's arrays and libmxnet's" begin
    x = NDArray(Float32[1, 2])
    @test copy!(zeros(Float32, 2), x) == [1, 2]
    @test copy!(zeros(2), x) == [1, 2]
    @test copy!(zeros(Int, 2), x) == [1, 2]
    @test_throws InexactError copy!(zeros(Int, 1), NDArray([0.5]))
    @test_throws AssertionError copy!(zeros(3), x)
    @test_throws AssertionError copy!(x, [1.0, 2.0, 3.0])
    @test_throws AssertionError copy!(x, [1.0 2.0])
    @test copy(copy!(x, 3:4)) == [3, 4]
    @test_throws InexactError copy!(mx.zeros(Int, 2), [0.5, 1])
    @test copy(copyto!(mx.zeros(2, 2), [1.0, 2, 3, 4])) == [1 3; 2 4]
    @test copy(copyto!(mx.zeros(2, 2), NDArray(Float32[1, 2, 3, 4]))) == [1 3; 2 4]
    @test copyto!(zeros(4), NDArray([1 3; 2 4])) == [1, 2, 3, 4]
    @test copy(mx.copy_ignore_shape!(mx.zeros(2, 2), [1, 2, 3, 4])) == [1 3; 2 4]
    @test_throws AssertionError copyto!(mx.zeros(2), [1.0])
    @test copy(copy(1:3, mx.cpu())) == [1, 2, 3]
    @test copy(copy(x, mx.cpu())) == copy(x)
end

@testset "conversions to Julia's arrays" begin
    x = NDArray([1 2; 3 4])
    @test Array(x) == [1 2; 3 4] && Array(x) isa Matrix{Int}
    @test Array{Float64}(x) isa Matrix{Float64}
    @test collect(x) == [1 2; 3 4]
    @test convert(Array{Float32}, x) isa Matrix{Float32}
    @test convert(Array{Float32,2}, x) == [1 2; 3 4]
end

@testset "deep copies share nothing" begin
    x = NDArray([1.0, 2.0])
    y = deepcopy(x)
    many = deepcopy(Dict(:a => x, :b => x))
    x[:] = 42
    @test copy(y) == [1, 2] && copy(many[:a]) == [1, 2]
    @test many[:a] === many[:b] !== x
    x.writable = false
    @test !deepcopy(x).writable && copy(deepcopy(x)) == [42, 42]
end

@testset "an array without elements" begin
    x = mx.zeros(0)
    @test size(x) == (0,) && isempty(x) && copy(x) == Float32[]
    @test copy(NDArray(zeros(3, 0))) == zeros(3, 0)
end

@testset "what is not writable refuses to be written" begin
    x = NDArray([1.0, 2.0])
    x.writable = false
    for write in (
        () -> x[:] = 1, () -> x[:] = [3.0, 4.0], () -> x[1] = 1, () -> x[1:1] = 1, () -> x .= 1, () -> x .+= 1, () -> fill!(x, 1),
        () -> copy!(x, [1.0, 2.0]), () -> copy!(x, mx.zeros(Float64, 2)), () -> mx.add_to!(x, 1), () -> mx.sub_from!(x, x),
        () -> mx.mul_to!(x, 2), () -> mx.div_from!(x, 2), () -> mx.rdiv_from!(2, x), () -> mx.mod_from!(x, x),
        () -> mx.mod_from!(x, 2), () -> mx.rmod_from!(2, x), () -> clamp!(x, 0, 1), () -> mx.clip!(x, 0, 1))
        e = thrown(write)
        @test e isa AssertionError && occursin("writable", e.msg)
    end
    @test copy(x) == [1, 2]
end
