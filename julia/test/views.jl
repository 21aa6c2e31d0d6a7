# Julia arrays over described memory, and the memory under Julia arrays.

"All orders of the dimensions 1:n."
orders(n) = n == 0 ? [()] : [(o[1:i-1]..., n, o[i:end]...) for o in orders(n - 1) for i in 1:n]

@testset "an array lies over the memory it is described at" begin
    @testset "$T, $n dimensions" for (T, n) in [[(T, 2) for T in PB.DTYPES]; [(Float32, n) for n in (0, 1, 3, 4, 5, 6, PB.MAXDIM)]]
        a = Array{T,n}(undef, ntuple(i -> i > 6 ? 1 : min(i, 3), n))
        copyto!(a, map(i -> T(i % 2), 1:length(a)))
        with_block((a,)) do b
            v = PB.array(PB.descriptor(b, 1))
            @test typeof(v) === typeof(a) && size(v) == size(a) && v == a
            @test pointer(v) === pointer(a)
        end
    end
end

@testset "an array of no elements is described by its size alone" begin
    words = zeros(Int64, PB.WORDS)
    GC.@preserve words begin
        d = PB.Descriptor(pointer(words))
        for size in ((0,), (3, 0), (0, 2, 3), (2, 3, 0, 1, 5))
            PB.shape!(d, Float32, size)
            PB.data!(d, C_NULL)
            a = PB.array(d)
            @test a isa Array{Float32,length(size)} && Base.size(a) == size
        end
    end
end

@testset "turning reverses the dimensions without a copy" begin
    a = reshape(collect(1.0:24.0), 2, 3, 4)
    t = PB._turned(a)
    @test size(t) == (4, 3, 2)
    @test all(t[k, j, i] == a[i, j, k] for i in 1:2, j in 1:3, k in 1:4)
    @test pointer(parent(t)) == pointer(a)
    @test PB._turned([1, 2]) isa Vector && PB._turned(fill(1)) isa Array{Int,0}
    @test PB._laid_out(a, false) === a && PB._laid_out(a, true) == t
end

# What `forward` may return: a name, the array, and whether its own memory will do in Julia's and in Python's layout.
const base = reshape(collect(1.0:24.0), 2, 3, 4)
const returned = Any[
    ("Vector", [1.0, 2.0], true, true),
    ("Matrix", [1.0 2.0; 3.0 4.0], true, false),
    ("3-d Array", copy(base), true, false),
    ("0-d Array", fill(1.0), true, true),
    ("empty Vector", Float64[], true, true),
    ("empty Matrix", zeros(0, 3), true, false),
    ("UnitRange", 1:5, false, false),
    ("StepRangeLen", 0.0:0.5:2.0, false, false),
    ("BitVector", [1.0, 2.0] .> 1, false, false),
    ("BitMatrix", base[:, :, 1] .> 2, false, false),
    ("SubArray, contiguous", view(base, :, :, 2), false, false),
    ("SubArray, strided", view(base, 1, 1:2:3, :), false, false),
    ("SubArray of all", view(base, :, :, :), false, false),
    ("ReshapedArray", reshape(view(base, :, 1:2, :), 4, 4), false, false),
    ("Array, reshaped", reshape(base, 6, 4), true, false),
    ("Adjoint", base[:, :, 1]', false, false),
    ("Transpose", transpose(base[:, :, 1]), false, false),
    ("Adjoint of a Vector", [1.0, 2.0]', false, false),
    ("Diagonal", Diagonal([1.0, 2.0]), false, false),
    ("ReinterpretArray", reinterpret(Int64, [1.0, 2.0]), false, false),
    ("ReadOnlyArray", PB.ReadOnlyArray(copy(base)), false, false),
    ("ReadOnlyArray, turned", PB.ReadOnlyArray(PB._turned(copy(base))), false, false),
    ("PermutedDimsArray of a Vector", PermutedDimsArray([1.0, 2.0], (1,)), false, true),
    ("PermutedDimsArray of a SubArray", PermutedDimsArray(view(base, :, :, 1:2), (3, 2, 1)), false, false),
]
for order in orders(3)
    push!(returned, ("PermutedDimsArray $order", PermutedDimsArray(copy(base), order), false, order == (3, 2, 1)))
end

@testset "the six orders are all there" begin
    @test sort(orders(3)) == [(1, 2, 3), (1, 3, 2), (2, 1, 3), (2, 3, 1), (3, 1, 2), (3, 2, 1)]
end

@testset "dense and packed" begin @testset "$name" for (name, a, julia, python) in returned
    for (layout, dense) in ((false, julia), (true, python))
        d = PB.dense(a, layout)
        p = PB.packed(a, layout)
        @test (d !== nothing) == dense
        @test p isa Array{eltype(a),ndims(a)}
        # Described, its shape is the reverse of its size: what NDArray users see is `a` itself, or its reverse.
        @test size(p) == (layout ? reverse(size(a)) : size(a))
        @test collect(a) == (layout ? collect(PB._turned(p)) : p)
        if d !== nothing
            @test d isa Array && d == p && typeof(d) === typeof(p)
            @test isempty(d) || pointer(d) == pointer(a isa Array ? a : parent(a))
        end
        @test !PB._overlap(p, base)
    end
end end

@testset "two arrays overlap where they share a byte" begin
    a = collect(1:10)
    part(from, to) = unsafe_wrap(Array, pointer(a, from), to - from + 1)
    GC.@preserve a begin
        @test PB._overlap(a, a) && PB._overlap(a, reshape(a, 2, 5))
        @test PB._overlap(part(1, 5), part(5, 10)) && PB._overlap(part(5, 10), part(1, 5))
        @test PB._overlap(part(3, 4), a) && PB._overlap(a, part(3, 4))
        @test !PB._overlap(part(1, 5), part(6, 10)) && !PB._overlap(part(6, 10), part(1, 5))
        @test !PB._overlap(a, copy(a))
        @test !PB._overlap(Int[], a) && !PB._overlap(a, Int[])
        # another element type
        bytes = unsafe_wrap(Array, Ptr{UInt8}(pointer(a)) + 79, 1)
        @test PB._overlap(a, bytes) && !PB._overlap(part(1, 9), bytes)
    end
end
