# NDArrays as Julia arrays over the same memory, in files, and shown.

using PyBridge.mx: NDArray

const mx = PB.mx

@testset "a shared array is the memory of its NDArray" begin
    for sync in (:nop, :read, :write)
        x = NDArray([1.0 2.0; 3.0 4.0])
        mx._wait_to_read(x)
        a = mx.try_get_shared(x, sync = sync)
        @test a isa Matrix{Float64} && a == [1 2; 3 4]
        @test mx.is_shared(a, x) && !mx.is_shared(copy(a), x) && !mx.is_shared(Float32.(a), x) && !mx.is_shared(1, x)
        a[1, 2] = 7
        @test copy(x) == [1 7; 3 4]
        x[:] = 0
        mx._wait_to_read(x)
        @test a == zeros(2, 2)
    end
end

@testset "a shared array keeps the memory" begin
    a = mx.try_get_shared(NDArray(fill(3.0, 1000)), sync = :read)
    foreach(_ -> mx.fill(1.0, 1000), 1:50)
    GC.gc()
    foreach(_ -> mx.fill(2.0, 1000), 1:50)
    @test all(==(3), a)
end

@testset "what is read has been written, and what is written is read no more" begin
    x = mx.zeros(Float64, 300, 300)
    y = x .+ 1
    for _ in 1:20
        y = y * 0.5 .+ y * 0.5
    end
    @test all(==(1), mx.try_get_shared(y, sync = :read))
    z = y .+ x
    mx.try_get_shared(y, sync = :write) .= 5
    @test all(==(1), copy(z)) && all(==(5), copy(y))
end

@testset "@nd_as_jl gives Julia arrays to a block" begin
    x, y, z = mx.zeros(2, 3) .+ 5, mx.ones(2, 3), mx.zeros(2, 3)
    result = mx.@nd_as_jl ro = x rw = (y, z) begin
        @test x isa Array && y isa Array && z isa Array
        z .= x
        z[:, 1] = y[:, 1]
        y .= 0
    end
    @test result === nothing
    @test x isa NDArray && copy(x) == fill(5, 2, 3)
    @test copy(y) == zeros(2, 3)
    @test copy(z) == [1 5 5; 1 5 5]
end

@testset "what a block assigns to a variable is copied back" begin
    x = mx.zeros(Float64, 2)
    mx.@nd_as_jl rw = [x] begin
        x = [1.0, 2.0]
    end
    @test copy(x) == [1, 2]
    total = 0.0
    mx.@nd_as_jl ro = (x,) begin
        total = sum(x)
    end
    @test total == 3
end

@testset "errors of @nd_as_jl" begin
    x = mx.zeros(2)
    x.writable = false
    @test_throws AssertionError mx.@nd_as_jl rw = x begin
        x .= 1
    end
    for bad in (:(mx.@nd_as_jl), :(mx.@nd_as_jl ro = x x), :(mx.@nd_as_jl r = x begin end), :(mx.@nd_as_jl ro = x.y begin end))
        e = thrown(() -> macroexpand(@__MODULE__, bad))
        @test occursin("@nd_as_jl", sprint(showerror, e))
    end
end

@testset "files" begin
    file = tempname()
    a, b = rand(Float32, 2, 3), [1, 2, 3]
    mx.save(file, NDArray(a))
    found = mx.load(file, NDArray)
    @test found isa Vector{<:NDArray} && length(found) == 1 && copy(found[1]) == a

    mx.save(file, NDArray[NDArray(a), NDArray(b)])
    found = mx.load(file, NDArray)
    @test map(copy, found) == [a, b] && eltype(found[2]) == Int

    mx.save(file, Dict(:a => NDArray(a), :b => NDArray(b)))
    found = mx.load(file, NDArray)
    @test found isa Dict{Symbol,<:NDArray} && copy(found[:a]) == a && copy(found[:b]) == b && length(found) == 2
    mx.save(file, Dict("w" => NDArray(a)))
    @test copy(mx.load(file, NDArray)[:w]) == a
    rm(file)
    @test_throws mx.MXError mx.load(file, NDArray)
    @test_throws mx.MXError mx.save(joinpath(file, "no", "such"), NDArray(a))
end

@testset "arrays are shown as Julia's are" begin
    @test sprint(show, NDArray([1 2 3 4])) == "NDArray([1 2 3 4])"
    @test sprint(show, mx.zeros(2)) == "NDArray(Float32[0.0, 0.0])"
    whole(x) = sprint(show, MIME("text/plain"), x)
    @test whole(NDArray([1 2; 3 4])) == "2×2 NDArray{Int64,2} @ cpu0:\n 1  2\n 3  4"
    @test whole(NDArray([1.5])) == "1-element NDArray{Float64,1} @ cpu0:\n 1.5"
    @test whole(mx.zeros(0)) == "0-element NDArray{Float32,1} @ cpu0"
    @test summary(mx.zeros(2, 3, 4)) == "2×3×4 NDArray{Float32,3} @ cpu0"
    @test occursin("@ cpu3", whole(mx.zeros((2,), mx.cpu(3))))
end
