# Results of a forward: which memory becomes an NDArray, and what is told of those that cannot.

const plain_result = prepared(name = "R")
const python_result = prepared(name = "R", python = true)

result(y, inputs = (); p = plain_result) = PB.result(p, 1, y, inputs)

@testset "an array becomes the NDArray itself" begin
    for y in ([1.0, 2.0], ones(Float32, 2, 3), [true, false], Int8[], fill(1.0))
        @test result(y) === y
    end
    turned = PB._turned(zeros(2, 3))
    @test result(turned; p = python_result) === parent(turned)
end

@testset "a number becomes an array of no dimensions" begin
    for y in (2.0, 2f0, true, 3, Float16(1))
        a = result(y)
        @test a isa Array{typeof(y),0} && a[] === y
    end
end

@testset "what is no array of its own is copied" begin
    x = reshape(collect(1.0:6.0), 2, 3)
    for y in (x, vec(x), reshape(x, 3, 2), x', view(x, :, 1:2), view(x, :, :), PB._turned(x))
        a = result(y, (x,))
        @test a isa Array && a == y && !PB._overlap(a, x)
    end
    a = result(PB._turned(x), (x,); p = python_result)
    @test a == x && !PB._overlap(a, x)
    a = result(collect(x'), (x,); p = python_result)   # row-major memory for a column-major array
    @test a == x
    @test result(1:3) == [1, 2, 3] && result([1, 2] .> 1) isa Vector{Bool}
    @test result(PB.ReadOnlyArray(x)) !== x
end

@testset "what cannot be an NDArray is told" begin
    for y in ("text", nothing, :a, [[1.0]] => 1, (a = [1.0],), Dict(), identity)
        @test misused(() -> result(y), :type, "R", "result 1", string(typeof(y)), "expected")
    end
    for y in ([1.0im], ["a"], Any[1.0], [[1.0], [2.0]], BigFloat[1], UInt16[1], Union{Float64,Missing}[1.0], Real[1.0])
        @test misused(() -> result(y), :value, "R", "result 1", string(eltype(y)), "Float32")
    end
    for y in (1im, big"1.0", 1 // 2, π, 0x0001)
        @test misused(() -> result(y), :value, "R", "result 1", string(typeof(y)))
    end
    @test misused(() -> PB.result(plain_result, 3, "text", ()), :type, "result 3")
end

@testset "shapes that mx.nd arrays cannot have are told, and taken with np_shape" begin
    p = plain_result
    for size in ((), (0,), (2, 0, 3))
        @test misused(() -> with_block(b -> PB._check_shape(b, p, 2, size), ()), :value, "R", "result 2", string(size), "np_shape")
        for flags in (PB.FLAG_NUMPY, PB.FLAG_NP_SHAPE)
            @test with_block(b -> PB._check_shape(b, p, 2, size), (), flags = flags) === nothing
        end
    end
    @test with_block(b -> PB._check_shape(b, p, 1, (1, 2)), ()) === nothing
    @test misused(() -> with_block(b -> PB._check_shape(b, p, 1, ntuple(_ -> 1, 17)), ()), :value, "17 dimensions", "16")
end

@testset "results are checked before the first becomes an NDArray" begin
    roots = length(PB.ROOTS)
    for (ys, kind, words) in (
        ((), :value, ("empty tuple",)),
        (([1.0], "text"), :type, ("result 2", "String")),
        (([1.0], [1.0im]), :value, ("result 2",)),
        (([1.0], Float64[]), :value, ("result 2", "(0,)")),
        (ntuple(_ -> [1.0], 9), :value, ("9 results", "8")),
    )
        # were an NDArray made here, root_count would tell (and, without libmxnet, the process be gone)
        @test misused(() -> with_block(b -> PB.adopt_results!(b, plain_result, ys, ()), ([1.0],)), kind, "R", words...)
        @test length(PB.ROOTS) == roots
    end
end

@testset "a pullback's function returns a pair" begin
    for wrong in (3.0, [1.0], nothing, ([1.0],), ([1.0], identity, 3))
        p = prepared(x -> wrong; name = "R")
        @test misused(
            () -> PB.run_call(p, p.target, ([1.0],), NamedTuple(), true),
            :type, "R", "(y, back)", string(typeof(wrong)))
    end
end
