# CustomFunction and what it has by default.

struct Bare <: CustomFunction end

mutable struct SpecificSpec <: CustomFunction end
PB.outputspec(::SpecificSpec, x, n) = ((n, size(x, 2)), Float64)

@testset "three names are exported" begin
    @test Set(names(PB)) == Set([:PyBridge, :CustomFunction, Symbol("@registerfunc"), :is_training])
    @test isabstracttype(CustomFunction)
    # MXNet.jl's names are free for those who want them
    @test !isdefined(@__MODULE__, :backward!) && !isdefined(@__MODULE__, :forward)
end

@testset "a custom function has no methods by itself" begin
    x = [1.0f0]
    for call in (() -> PB.forward(Bare(), x), () -> PB.backward(Bare(), x), () -> PB.forward!(x, Bare(), x),
                 () -> PB.backward!((x,), Bare(), x))
        e = thrown(call)
        @test e isa MethodError && occursin("Bare", sprint(showerror, e))
    end
end

@testset "outputspec is that of the first array" begin
    @test PB.outputspec(Bare(), zeros(Float32, 3, 2)) === ((3, 2), Float32)
    @test PB.outputspec(Bare(), zeros(2), zeros(Int8, 5)) === ((2,), Float64)
    @test PB.outputspec(Bare(), 1, "label", nothing, zeros(Float16, 4), zeros(2)) === ((4,), Float16)
    @test PB.outputspec(Bare(), fill(1.0)) === ((), Float64)
    @test PB.outputspec(Bare(), zeros(0, 3)) === ((0, 3), Float64)
    @test PB.outputspec(Bare(), PB._turned(zeros(2, 3, 4))) === ((4, 3, 2), Float64)
    @test PB.outputspec(Bare(), (zeros(2), zeros(3)), zeros(4)) === ((4,), Float64)   # a tuple is a constant
    @test PB.outputspec(SpecificSpec(), zeros(2, 3), 7) === ((7, 3), Float64)
end

@testset "outputspec without an array is an error that names the function" begin
    for xs in ((), (1, 2), ("text", nothing), ((zeros(2),),))
        e = thrown(() -> PB.outputspec(Bare(), xs...))
        @test e isa ArgumentError && occursin("Bare", e.msg) && occursin("no array", e.msg)
    end
end

@testset "what outputspec returned is one result, several, or an error" begin
    p = prepared(name = "Spec")
    @test PB._specs(p, ((3, 2), Float32)) === (((3, 2), Float32),)
    @test PB._specs(p, ((), Float32)) === (((), Float32),)
    @test PB._specs(p, (((3,), Float32), ((), Int8))) === (((3,), Float32), ((), Int8))
    @test PB._specs(p, (((3,), Float32),)) === (((3,), Float32),)
    for wrong in ((3, Float32), ((3,), "Float32"), [((3,), Float32)], (3,), nothing, ((3,),), Float32, (((3,), Float32), 4))
        @test misused(() -> PB._specs(p, wrong), :value, "Spec", "outputspec", repr(wrong), "(size, eltype)")
    end
end

@testset "sizes of outputspec that cannot be are told before anything is made" begin
    p = prepared(name = "Spec")
    for (size, words) in ((-3,) => ("-3",), (2.5,) => ("2.5",), ("3",) => ("3",))
        @test misused(() -> with_block(b -> PB.create_results!(b, p, (size, Float32)), (zeros(2),)), :value, "Spec", words...)
    end
    @test misused(() -> with_block(b -> PB.create_results!(b, p, ()), (zeros(2),)), :value, "outputspec")
    @test misused(() -> with_block(b -> PB.create_results!(b, p, ((3,), ComplexF32)), (zeros(2),)), :value, "Spec", "result 1", "Float32")
    @test misused(() -> with_block(b -> PB.create_results!(b, p, (((3,), Float32), ((0,), Float32))), (zeros(2),)),
        :value, "Spec", "result 2", "(0,)", "np_shape")
    @test misused(() -> with_block(b -> PB.create_results!(b, p, ntuple(_ -> ((1,), Float32), 9)), (zeros(2),)), :value, "9 results", "8")
    @test misused(() -> with_block(b -> PB.create_results!(b, p, (ntuple(_ -> 1, 17), Float32)), (zeros(2),)), :value, "17 dimensions", "16")
end

@testset "arguments are wanted as arrays" begin
    @test PB.argkind(Bare) === :array
    @test PB.argkind(CustomFunction) === :array
end

@testset "is_training is that of the call being served, and libmxnet's outside of one" begin
    @test is_training() isa Bool
    @test PB.TRAINING[] == -1
    @test !is_training()
    for mode in (0, 1)
        PB.TRAINING[] = mode
        @test is_training() === (mode == 1)
        PB.TRAINING[] = -1
    end
    seen = Any[]
    function ask(b)
        push!(seen, is_training())
        # nested, of the other mode
        with_block(c -> PB._enter(_ -> push!(seen, is_training()), c.at), (), flags = PB.FLAG_TRAINING & ~b[PB.H_FLAGS])
        push!(seen, is_training())
    end
    with_block(b -> PB._enter(ask, b.at), (), flags = PB.FLAG_TRAINING | PB.FLAG_NUMPY)
    with_block(b -> PB._enter(ask, b.at), (), flags = PB.FLAG_RECORDING)
    @test seen == [true, false, true, false, true, false]
    with_block(b -> PB._enter(_ -> error("on purpose"), b.at), (), flags = PB.FLAG_TRAINING)
    @test PB.TRAINING[] == -1 && PB.take_failure()[1] == ErrorException("on purpose")
end

@testset "@registerfunc takes custom functions alone" begin
    for wrong in (:Int, :sin, :(Base.RefValue), :(Bare()), "text")
        e = thrown(() -> @eval @registerfunc $wrong)
        e = e isa LoadError ? e.error : e
        @test e isa ArgumentError && occursin("CustomFunction", e.msg)
    end
end

@testset "@registerfunc gives the type and leaves its other constructors alone" begin
    @eval module Registered
        using PyBridge
        mutable struct Scale <: CustomFunction
            factor
            Scale(; factor = 1) = new(factor)
        end
        const got = @registerfunc Scale
        struct Wrapped{T} <: CustomFunction
            x::T
        end
        @registerfunc Wrapped
    end
    @test Base.invokelatest(() -> Registered.got === Registered.Scale)
    @test Base.invokelatest(() -> Registered.Scale(factor = 3).factor === 3)
    @test Base.invokelatest(() -> Registered.Wrapped(1).x === 1)
    @test Base.invokelatest(() -> any(m -> Union{PB.PythonCall.Py,PB.mx.NDArray} in m.sig.parameters, methods(Registered.Scale)))
end
