# Devices: contexts, the current one, and where arrays are made.

const mx = PB.mx

@testset "a context is a kind of device and a number" begin
    @test mx.cpu() == mx.Context(mx.CPU) == mx.Context(1, 0)
    @test mx.gpu(3) == mx.Context(mx.GPU, 3) == mx.Context(2, 3)
    @test mx.cpu_pinned().device_type === mx.CPU_PINNED
    @test (mx.gpu(3).device_type, mx.gpu(3).device_id) == (mx.GPU, 3)
    @test mx.cpu(0) != mx.cpu(1)
    @test_throws ArgumentError mx.Context(77)
end

@testset "contexts are shown in small letters" begin
    @test string(mx.cpu()) == "cpu0"
    @test string(mx.gpu(2)) == "gpu2"
end

@testset "the current context changes inside of the macros, and back" begin
    @test mx.current_context() == mx.cpu()
    seen = mx.@context mx.CPU 42 begin
        inner = mx.@context mx.GPU 24 mx.current_context()
        @test inner == mx.gpu(24)
        mx.current_context()
    end
    @test seen == mx.cpu(42)
    @test (mx.@context mx.GPU mx.current_context()) == mx.gpu(0)
    @test (mx.@cpu 3 mx.current_context()) == mx.cpu(3)
    @test (mx.@cpu mx.current_context()) == mx.cpu(0)
    @test (mx.@gpu 3 mx.current_context()) == mx.gpu(3)
    @test (mx.@gpu begin
        mx.current_context()
    end) == mx.gpu()
    @test_throws ErrorException mx.@gpu error("on purpose")
    @test mx.current_context() == mx.cpu()
end

@testset "variables of the caller are seen inside of the macros, and can be assigned" begin
    device, before = 5, nothing
    mx.@cpu device begin
        before = mx.current_context()
    end
    @test before == mx.cpu(5)
end

@testset "arrays are made in the current context, or in that given" begin
    @test mx.context(mx.zeros(2)) == mx.cpu()
    mx.@cpu 1 begin
        @test mx.context(mx.zeros(2)) == mx.cpu(1)
        @test mx.context(mx.ones(Float64, (2, 3))) == mx.cpu(1)
        @test mx.context(mx.NDArray(undef, 2, 3)) == mx.cpu(1)
        @test mx.context(mx.fill(3, 2)) == mx.cpu(1)
        @test mx.context(mx.zeros((2,), mx.cpu(2))) == mx.cpu(2)
        @test mx.context(mx.NDArray([1, 2])) == mx.cpu(0)
    end
    x = mx.zeros(Float32, (2,), mx.cpu(1))
    @test mx.context(similar(x)) == mx.cpu(1)
    @test mx.context(similar(x, ctx = mx.cpu(2))) == mx.cpu(2)
    @test mx.context(copy(x, mx.cpu(3))) == mx.cpu(3)
    @test mx.context(x .+ 1) == mx.cpu(1)
end

@testset "what libmxnet says of GPUs" begin
    @test mx.num_gpus() isa Int && mx.num_gpus() >= 0
    if mx.num_gpus() == 0
        @test_throws mx.MXError mx.gpu_memory_info()
        @test_throws mx.MXError mx.zeros((2,), mx.gpu())
    end
    @test mx.empty_cache() == mx.cpu()
end
