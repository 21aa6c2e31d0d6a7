# What pb.asjulia gives: an array that can be read in every way and written in none.

import Random

const RO = PB.ReadOnlyArray

"Does `f` refuse to write to a read-only array over `a`, and leave it as it was?"
function refused(f, a)
    before = copy(a)
    e = try
        f(RO(a))
        nothing
    catch exception
        exception
    end
    return e isa ArgumentError && occursin("read-only", e.msg) && occursin("writable=True", e.msg) && isequal(a, before)
end

const matrix = [1.0 3.0 5.0; 2.0 4.0 6.0]
const turned = PB._turned(reshape(collect(1.0:24.0), 2, 3, 4))

@testset "it is the array it lies over" begin
    for a in (matrix, turned, [1.0, 2.0], fill(3.0), zeros(0, 2), Int8[1 2], [true, false])
        r = RO(a)
        @test r == a && size(r) == size(a) && axes(r) == axes(a) && eltype(r) === eltype(a) && ndims(r) == ndims(a)
        @test IndexStyle(r) === IndexStyle(a)
        @test [x for x in r] == [x for x in a] && collect(r) == collect(a)
        @test all(r[i] === a[i] for i in eachindex(a))
        @test all(r[i] === a[i] for i in 1:length(a))
        @test all(r[i] === a[i] for i in CartesianIndices(a))
    end
    @test RO(fill(3.0))[] === 3.0
end

@testset "it is indexed as any array" begin
    r = RO(matrix)
    @test r[2, 3] === 6.0 && r[end] === 6.0 && r[:, 2] == [3.0, 4.0] && r[1, :] == [1.0, 3.0, 5.0]
    @test r[r .> 3] == [4.0, 5.0, 6.0] && r[[1, 4]] == [1.0, 4.0] && r[CartesianIndex(1, 2)] === 3.0
    @test view(r, :, 2) == [3.0, 4.0] && vec(r) == 1:6 && r' == matrix' && reshape(r, 3, 2) == reshape(matrix, 3, 2)
    @test_throws BoundsError r[7]
    @test_throws BoundsError r[3, 1]
    @test_throws BoundsError RO(turned)[5, 1, 1]
end

@testset "what is computed from it is a plain array" begin
    r = RO(matrix)
    @test r .+ 1 == matrix .+ 1 && r .+ 1 isa Matrix{Float64}
    @test sum(r) == 21.0 && sum(r, dims = 1) == [3.0 7.0 11.0] && maximum(r) == 6.0
    @test map(abs2, r) == abs2.(matrix) && map(abs2, r) isa Matrix{Float64}
    @test 2r == 2matrix && r + r == 2matrix && -r == -matrix
    for made in (similar(r), copy(r), collect(r), Array(r), r[:, :], permutedims(r), copy(RO(turned)), similar(RO(turned)))
        @test made isa Array{Float64}
    end
    @test similar(r, Int32, 4) isa Vector{Int32} && similar(r, Float32) isa Matrix{Float32}
    @test copy(RO(turned)) == turned
    @test convert(Array, r) == matrix && Matrix(r) == matrix
    @test hcat(r, r) == hcat(matrix, matrix) && vcat(r, matrix) isa Matrix
    @test sort(RO([3, 1, 2])) == [1, 2, 3]
end

@testset "linear algebra reads it where it lies" begin
    r = RO(matrix)
    @test r * r' == matrix * matrix' && r' * r == matrix' * matrix && r * [1, 0, 0] == [1.0, 2.0]
    @test r * permutedims(matrix) == matrix * matrix' && matrix * r' == matrix * matrix'
    @test BLAS.gemm('N', 'T', 1.0, r, r) == matrix * matrix'
    @test BLAS.gemv('N', 1.0, r, [1.0, 0.0, 0.0]) == [1.0, 2.0]
    @test dot(RO([1.0, 2.0]), RO([3.0, 4.0])) == 11.0 && norm(RO([3.0, 4.0])) == 5.0
    square = [4.0 1.0; 2.0 3.0]
    @test RO(square) \ [1.0, 2.0] ≈ square \ [1.0, 2.0] && det(RO(square)) ≈ 10
    @test mul!(zeros(2, 2), r, r') == matrix * matrix'
end

@testset "its memory is found: pointer, strides, elsize" begin
    r = RO(matrix)
    @test pointer(r) === pointer(matrix) && pointer(r, 3) === pointer(matrix, 3)
    @test strides(r) == (1, 2) && stride(r, 2) == 2
    t = RO(turned)
    @test pointer(t) === pointer(parent(turned)) && strides(t) == (6, 2, 1) && stride(t, 1) == 6
    @test Base.elsize(r) == 8 && Base.elsize(t) == 8 && Base.elsize(RO(Int8[1])) == 1
    GC.@preserve matrix @test unsafe_load(pointer(r), 2) === 2.0
    @test ccall(:memcmp, Cint, (Ptr{Float64}, Ptr{Float64}, Csize_t), r, matrix, 48) == 0
end

const writes = [
    "a[i]" => a -> a[1] = 0,
    "a[i, j]" => a -> a[2, 3] = 0,
    "a[i] of another type" => a -> a[1] = "text",
    "a[CartesianIndex]" => a -> a[CartesianIndex(1, 1)] = 0,
    "a[:]" => a -> a[:] = 1:6,
    "a[:, j]" => a -> a[:, 1] = [0, 0],
    "a[ranges]" => a -> a[1:2, 2:3] = zeros(2, 2),
    "a[mask]" => a -> a[a .> 3] = [0, 0, 0],
    "a[indices]" => a -> a[[1, 2]] = [0, 0],
    "a .= number" => a -> a .= 0,
    "a .= array" => a -> a .= zeros(2, 3),
    "a .+= 1" => a -> a .+= 1,
    "a[:, j] .= 0" => a -> a[:, 1] .= 0,
    "@. a = a^2" => a -> (@. a = a^2),
    "fill!" => a -> fill!(a, 0),
    "copyto!" => a -> copyto!(a, zeros(2, 3)),
    "copyto! of a part" => a -> copyto!(a, 1, [0.0], 1, 1),
    "copyto! of an iterator" => a -> copyto!(a, (0.0 for _ in 1:6)),
    "map!" => a -> map!(zero, a, a),
    "view" => a -> view(a, 1:1, 1:1)[1] = 0,
    "vec" => a -> vec(a)[1] = 0,
    "reshape" => a -> reshape(a, 3, 2)[1] = 0,
    "adjoint" => a -> a'[1] = 0,
    "reinterpret" => a -> reinterpret(Int64, a)[1] = 0,
    "reinterpret to smaller" => a -> reinterpret(Int32, a)[1] = 0,
    "PermutedDimsArray" => a -> PermutedDimsArray(a, (2, 1))[1] = 0,
    "permutedims!" => a -> permutedims!(a, zeros(3, 2), (2, 1)),
    "sum!" => a -> sum!(a, zeros(2, 3)),
    "cumsum!" => a -> cumsum!(a, zeros(2, 3), dims = 1),
    "sort!" => a -> sort!(a, dims = 2, rev = true),
    "rmul!" => a -> rmul!(a, 2),
    "lmul!" => a -> lmul!(2, a),
    "axpy!" => a -> axpy!(2.0, ones(2, 3), a),
    "mul!" => a -> mul!(a, ones(2, 2), ones(2, 3)),
    "read!" => a -> read!(IOBuffer(zeros(UInt8, 48)), a),
    "rand!" => a -> Random.rand!(a),
    "randn!" => a -> Random.randn!(a),
]

@testset "it refuses to be written" begin
    @testset "$name" for (name, write) in writes
        @test refused(write, copy(matrix))
    end
end

@testset "it refuses to be written in fewer or other dimensions" begin
    @test refused(a -> a[] = 0, fill(1.0))
    @test refused(a -> a[1] = 0, [1.0, 2.0])
    @test refused(a -> reverse!(a), [1.0, 2.0])
    @test refused(a -> sort!(a), [2.0, 1.0])
    @test refused(a -> a[1, 1, 1] = 0, PB._turned(reshape(collect(1.0:24.0), 2, 3, 4)))
    @test refused(a -> a[7] = 0, PB._turned(reshape(collect(1.0:24.0), 2, 3, 4)))
    @test refused(a -> a .= 0, PB._turned(reshape(collect(1.0:24.0), 2, 3, 4)))
    for grow in (a -> push!(a, 0), a -> pop!(a), a -> resize!(a, 5), a -> empty!(a), a -> append!(a, [0]))
        v = [1.0, 2.0]
        @test_throws Exception grow(RO(v))
        @test v == [1.0, 2.0]
    end
end

@testset "nothing to write is no error" begin
    @test fill!(RO(zeros(0)), 1) == zeros(0)
    @test (RO(zeros(0, 2)) .= 1) == zeros(0, 2)
end

@testset "it is known to share memory with a writable view of the same array" begin
    w = collect(1.0:6.0)
    r = RO(unsafe_wrap(Array, pointer(w), 6))   # what a second pb.asjulia of one NDArray gives
    @test Base.mightalias(w, r) && !Base.mightalias(copy(w), r)
    GC.@preserve w begin
        w .= view(r, 6:-1:1)
        @test w == 6:-1:1
        w[2:6] .= view(r, 1:5)
        @test w == [6, 6, 5, 4, 3, 2]
    end
end

@testset "it shows itself as an array" begin
    @test occursin("2×3", sprint(show, MIME("text/plain"), RO(matrix)))
    @test repr(RO([1, 2])) == "[1, 2]"
end
