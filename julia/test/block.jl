# The block, and libmxnet's numbers of the element types. That the words are where C and Python have them is for
# tests/test_julia_package.py to say, which reads those files.

@testset "a header's words are read and written in place" begin
    words = zeros(Int64, PB.HEADER)
    GC.@preserve words begin
        b = PB.Block(pointer(words))
        b[PB.H_NODE] = 7
        b[PB.H_SEVERAL] = true
        @test words[PB.H_NODE] == 7 && words[PB.H_SEVERAL] == 1
        @test b[PB.H_NODE] === 7
    end
end

@testset "descriptors follow the header" begin
    words = collect(Int64, 1:PB.HEADER+3*PB.WORDS)
    GC.@preserve words begin
        b = PB.Block(pointer(words))
        for i in 1:3
            @test PB._word(PB.descriptor(b, i), 1) == PB.HEADER + (i - 1) * PB.WORDS + 1
        end
    end
end

@testset "no two words of a header or a descriptor are the same" begin
    header = (PB.H_FUNCTION, PB.H_NODE, PB.H_FLAGS, PB.H_INPUTS, PB.H_OUTPUTS, PB.H_STAGED, PB.H_SEVERAL, PB.H_STATUS, PB.H_ROOM)
    @test allunique(header) && all(h -> 1 <= h <= PB.HEADER, header)
    @test 8 + PB.MAXDIM <= PB.WORDS
    flags = (PB.FLAG_TRAINING, PB.FLAG_RECORDING, PB.FLAG_NUMPY, PB.FLAG_NP_SHAPE)
    @test reduce(|, flags) == sum(flags)
end

@testset "a shape is Julia's size in reverse" begin
    words = zeros(Int64, PB.WORDS)
    GC.@preserve words begin
        d = PB.Descriptor(pointer(words))
        @test PB.shape!(d, Float64, (4, 3, 2)) === d
        @test (PB.code(d), PB.dims(d)) == (1, 3)
        @test [PB.dim(d, i) for i in 1:3] == [2, 3, 4]
        @test PB._size(d, Val(3)) == (4, 3, 2)
        PB.shape!(d, Bool, ())
        @test (PB.code(d), PB.dims(d)) == (7, 0)
        PB.shape!(d, Int8, ntuple(i -> i, PB.MAXDIM))
        @test PB.dim(d, PB.MAXDIM) == 1 && PB.dim(d, 1) == PB.MAXDIM
    end
end

@testset "every element type has libmxnet's number" begin
    # from mshadow/base.h
    numbers = [Float32 => 0, Float64 => 1, Float16 => 2, UInt8 => 3, Int32 => 4, Int8 => 5, Int64 => 6, Bool => 7]
    for (T, number) in numbers
        @test PB.dtype_code(T) === number
        @test PB.DTYPES[number+1] === T
    end
    @test length(PB.DTYPES) == length(numbers)
end

@testset "any other element type is an error that names it and those there are" begin
    for T in (ComplexF64, UInt16, UInt64, Int128, BigFloat, String, Any, Real, AbstractFloat, Union{})
        e = thrown(() -> PB.dtype_code(T))
        @test e isa ArgumentError
        @test occursin(string(T), e.msg) && occursin("Float32, Float64, Float16", e.msg)
    end
end

@testset "no method of PyBridge is ambiguous" begin
    @test isempty(Test.detect_ambiguities(PB))
end
