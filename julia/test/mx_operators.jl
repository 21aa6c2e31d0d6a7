# libmxnet's operators by name: what is bound, how parameters are written, what is refused. That they compute what they
# compute in Python is for tests/test_mx_operators.py to say.

const mx = PB.mx

values_of(x) = copy(x)
f32(xs...) = mx.NDArray(Float32[xs...])

# ---- names -----------------------------------------------------------------------------------------------------

@testset "every operator has a name here" begin
    names = filter(n -> !startswith(n, "_backward"), mx.operator_names())
    @test length(names) > 800
    @test all(n -> isdefined(mx, Symbol(n)), names)
    found = Dict(n => getfield(mx, Symbol(n)) for n in names)
    @test all(f -> f isa Function, values(found))
    operators = filter(p -> p[2] isa mx.Operator, found)
    @test length(operators) > 800
    @test all(p -> String(p[2].name) == p[1], operators)
    @test all(p -> isconst(mx, Symbol(p[1])), operators)
    of_others = filter(p -> !(p[2] isa mx.Operator) && parentmodule(p[2]) !== mx, found)
    without = [n for (n, f) in of_others if !any(m -> occursin("NDArray", string(m.sig)), methods(f, mx))]
    @test without == ["identity"]   # of anything, and it is what it is called on
end

@testset "names of Base are Base's functions" begin
    for name in (:sum, :max, :min, :sort, :reverse, :repeat, :split, :identity, :cumsum, :exp, :reshape, :transpose)
        @test getfield(mx, name) === getfield(name === :transpose ? LinearAlgebra : Base, name)
    end
    @test split("a b") == ["a", "b"] && max(1, 2) == 2 && identity(3) === 3 && sort([2, 1]) == [1, 2] && repeat([1], 2) == [1, 1]
    @test copy(sort(f32(3, 1, 2))) == [1, 2, 3]
    @test copy(sort(f32(3, 1, 2), is_ascend = false)) == [3, 2, 1]
    @test copy(reverse(mx.NDArray([1 2; 3 4]), axis = 1)) == [3 4; 1 2]
    @test copy(repeat(f32(1, 2), repeats = 2)) == [1, 1, 2, 2]
    @test copy(cumsum(f32(1, 2, 3))) == [1, 3, 6]
    @test copy(identity(f32(1, 2))) == [1, 2]
    @test map(copy, split(f32(1, 2, 3, 4), num_outputs = 2, axis = 0)) == [[1, 2], [3, 4]]
    @test copy(max(mx.NDArray([1.0 5.0; 4.0 2.0]), axis = 1)) == [4, 5]
    @test copy(min(mx.NDArray([1.0 5.0; 4.0 2.0]), axis = 0)) == [1, 2]
end

@testset "binding again changes nothing" begin
    before = mx.FullyConnected
    mx._bind_operators()
    @test mx.FullyConnected === before
end

# ---- parameters ------------------------------------------------------------------------------------------------

@testset "a parameter is written as libmxnet reads it: $(repr(value))" for (value, text) in (
    1 => "1", -3 => "-3", Int8(5) => "5", UInt8(200) => "200", 0x10 => "16", big(2)^70 => "1180591620717411303424",
    true => "true", false => "false",
    1.5 => "1.5", 1f0 => "1.0", 0.1f0 => "0.10000000149011612", Float16(0.5) => "0.5", 1e-20 => "1.0e-20", 1 // 4 => "0.25",
    pi => "3.141592653589793", Inf => "Inf", -Inf => "-Inf",
    :relu => "relu", "relu" => "relu", SubString("xrelu", 2) => "relu", nothing => "None",
    Float32 => "float32", Float64 => "float64", Float16 => "float16", Int8 => "int8", UInt8 => "uint8", Int32 => "int32",
    Int64 => "int64", Bool => "bool",
    (2, 3) => "(3, 2)", (1, 2, 3) => "(3, 2, 1)", (7,) => "(7,)", () => "()", (nothing, 1) => "(1, None)", (Int32(1), 0x02) => "(2, 1)",
    (0.1, 0.2) => "(0.1, 0.2)", (1, 0.5) => "(1, 0.5)", (0.5,) => "(0.5,)", (true, false) => "(false, true)",
    [2, 3] => "[2, 3]", [0.1, 0.2] => "[0.1, 0.2]", Int[] => "[]", 1:3 => "[1, 2, 3]", [nothing, 1] => "[None, 1]", [(1, 2)] => "[(2, 1)]",
    mx.cpu() => "cpu(0)", mx.gpu(1) => "gpu(1)", mx.cpu_pinned() => "cpu_pinned(0)",
)
    @test mx.parameter(value) == text
end

@testset "tuples are sizes in Julia's order, vectors are as they are" begin
    @test size(mx._zeros(shape = (2, 3, 4))) == (2, 3, 4)
    @test size(mx._zeros(shape = [2, 3, 4])) == (4, 3, 2)
    @test size(mx._ones(shape = 5)) == (5,)
    x = mx.NDArray(reshape(Float32.(1:24), 2, 3, 4))
    @test size(mx.tile(x, reps = (2, 1, 3))) == (4, 3, 12)
    @test values_of(mx.slice_axis(x; axis = 2, [:begin => 1, :end => nothing]...)) == values_of(x)[2:2, :, :]
end

@testset "numbers arrive exactly" begin
    @test values_of(mx._plus_scalar(mx.zeros(Float64, 1), scalar = 0.1)) == [0.1]
    @test values_of(mx._plus_scalar(mx.zeros(Float64, 1), scalar = pi)) == [Float64(pi)]
    @test values_of(mx._plus_scalar(mx.zeros(Float64, 1), scalar = 1e-300)) ≈ [1e-300]
    @test values_of(mx._plus_scalar(mx.zeros(Float64, 1), scalar = Inf)) == [Inf]
    @test values_of(mx._plus_scalar(mx.zeros(Float64, 1), scalar = -1 // 3)) == [-1 / 3]
    @test eltype(mx.Cast(f32(1.5), dtype = Int32)) === Int32
    @test eltype(mx.Cast(f32(1.5), dtype = :int64)) === Int64
    @test eltype(mx.Cast(f32(1.5), dtype = "uint8")) === UInt8
    @test mx.context(mx._zeros(shape = (1,), ctx = mx.cpu(0))) == mx.cpu()
end

# ---- calls -----------------------------------------------------------------------------------------------------

@testset "large numbers are written without an exponent, as Python writes them" begin
    for x in (1e6, 1234567.5, -1061969961082.0, 123456.75, 9007199254740993.0, 9.5e15, 1e15 + 0.125)
        text = mx.parameter(x)
        @test !occursin("e", text) && parse(Float64, text) === x
    end
    @test mx.parameter(1e6) == "1000000.0" && mx.parameter(1234567.5) == "1234567.5" && mx.parameter(1e16) == "1.0e16"
    @test mx.parameter(-0.0) == "-0.0"
    for x in (424534559245.0, 1061969961082.0, 913900456057.0)
        @test values_of(mx._plus_scalar(mx.zeros(Float64, 1), scalar = x)) == [x]
        @test values_of(mx.zeros(Float64, 1) .+ x) == [x]
    end
end

@testset "one result is an NDArray, several are a vector" begin
    @test values_of(mx.square(f32(1, 2))) == [1, 4]
    @test mx.square(f32(1, 2)) isa mx.NDArray{Float32,1}
    parts = mx.SliceChannel(f32(1, 2, 3), num_outputs = 3, axis = 0)
    @test parts isa Vector{mx.NDArray} && map(values_of, parts) == [[1], [2], [3]]
    both = mx.topk(f32(3, 1, 2), k = 2, ret_typ = :both)
    @test map(values_of, both) == [[3, 2], [0, 2]]
end

@testset "operators of any number of arrays count them" begin
    a, b, c = f32(1, 2), f32(3, 4), f32(5, 6)
    @test values_of(mx.add_n(a, b, c)) == [9, 12]
    @test values_of(mx.add_n(a)) == [1, 2]
    @test values_of(mx.Concat(a, b, c, dim = 0)) == 1:6
    @test values_of(mx.concat(a, b, dim = 0)) == 1:4
    @test values_of(mx.stack(a, b)) == [1 3; 2 4]
    @test values_of(mx.concat(a, b, dim = 0, num_args = 2)) == 1:4
end

@testset "arrays by name" begin
    x, w, b = mx.NDArray(Float32[1 2; 3 4]), mx.NDArray(Float32[1 0 2; 0 1 2]), f32(10, 20, 30)
    right = Float32[1 0 2; 0 1 2]' * Float32[1 2; 3 4] .+ [10, 20, 30]
    @test values_of(mx.FullyConnected(x, w, b, num_hidden = 3)) == right
    @test values_of(mx.FullyConnected(x, weight = w, bias = b, num_hidden = 3)) == right
    @test values_of(mx.FullyConnected(x, bias = b, weight = w, num_hidden = 3)) == right
    @test values_of(mx.FullyConnected(bias = b, data = x, num_hidden = 3, weight = w)) == right
    @test values_of(mx.FullyConnected(x, w, bias = b, num_hidden = 3)) == right
    @test values_of(mx.FullyConnected(x, weight = w, no_bias = true, num_hidden = 3)) == right .- [10, 20, 30]
end

@testset "out" begin
    x, y = f32(1, 2), mx.zeros(2)
    @test mx.square(x, out = y) === y
    @test values_of(y) == [1, 4]
    a, b = mx.zeros(2), mx.zeros(2)
    outs = (a, b)
    @test mx.SliceChannel(f32(1, 2, 3, 4), num_outputs = 2, axis = 0, out = outs) === outs
    @test (values_of(a), values_of(b)) == ([1, 2], [3, 4])
    mx.SliceChannel(f32(5, 6, 7, 8), num_outputs = 2, axis = 0, out = [a, b])
    @test (values_of(a), values_of(b)) == ([5, 6], [7, 8])
end

@testset "NDArray as the first argument" begin
    w, g = f32(1, 2), f32(10, 20)
    @test mx.sgd_update(mx.NDArray, w, g; lr = 0.5, out = w) === w
    @test values_of(w) == [-4, -8]
    @test values_of(mx.square(mx.NDArray, f32(3))) == [9]
    @test values_of(mx.square(mx.NDArray{Float32,1}, f32(3))) == [9]
end

@testset "states of optimizers change in place" begin
    w, g, m = f32(1, 2), f32(1, 1), f32(0, 0)
    for _ in 1:2
        mx.sgd_mom_update(w, g, m; lr = 0.5, momentum = 0.5, out = w)
    end
    @test values_of(m) == [-0.75, -0.75]
    @test values_of(w) == [-0.25, 0.75]
end

# ---- what is refused -------------------------------------------------------------------------------------------

"The text of what `f()` throws, which must be of that type."
told(f, type) = (e = thrown(f); e isa type || throw(e); sprint(showerror, e))

@testset "misuse is told with names" begin
    x, w = mx.NDArray(Float32[1 2; 3 4]), mx.NDArray(Float32[1 0; 0 1])
    text = told(() -> mx.FullyConnected(x, w, num_hiden = 2), ArgumentError)
    @test occursin("FullyConnected", text) && occursin("no parameter num_hiden", text) && occursin("num_hidden, no_bias", text)
    text = told(() -> mx.square(x, axis = 1), ArgumentError)
    @test occursin("square: there is no parameter axis; it has none", text)
    text = told(() -> mx.FullyConnected(x, w, no_bias = true), ArgumentError)
    @test occursin("FullyConnected: parameter num_hidden", text) && occursin("missing", text)
    text = told(() -> mx.FullyConnected(x, data = x, num_hidden = 2), ArgumentError)
    @test occursin("array data is given twice", text)
    text = told(() -> mx.FullyConnected(x, wait = w, num_hidden = 2), ArgumentError)
    @test occursin("no array argument wait", text) && occursin("data, weight, bias", text)
    text = told(() -> mx.FullyConnected(x, bias = f32(1, 2), num_hidden = 2), ArgumentError)
    @test occursin("array weight is missing before bias", text)
    text = told(() -> mx.square(x, out = [1, 2]), ArgumentError)
    @test occursin("square: out is a Array{Int64,1}", text)
    @test occursin("square", told(() -> mx.square(x, out = 1.0), ArgumentError))
end

@testset "a missing required parameter is told even if no other is given" begin
    @test occursin("num_hidden", told(() -> mx.FullyConnected(mx.ones(2, 2), mx.ones(2, 2), mx.ones(2)), mx.MXError))
    @test occursin("dtype", told(() -> mx.Cast(f32(1)), mx.MXError))
end

@testset "what libmxnet refuses is an MXError" begin
    @test occursin("num_hidden", told(() -> mx.FullyConnected(mx.ones(2, 2), mx.ones(2, 2), mx.ones(2), num_hidden = "many"), mx.MXError))
    @test_throws mx.MXError mx.elemwise_add(mx.ones(2), mx.ones(3))
    @test_throws mx.MXError mx.square()
    @test_throws mx.MXError mx.square(mx.ones(2), mx.ones(2))
    @test_throws mx.MXError mx.square(mx.ones(2), out = mx.ones(3))
    @test_throws mx.MXError mx.Operator("no_such_operator")(mx.ones(2))
    @test values_of(mx.square(f32(3))) == [9]
end

@testset "parameters for symbols and those left out of descriptions pass" begin
    @test values_of(mx._linspace(start = 0, stop = 1, num = 3)) == [0, 0.5, 1]
    @test values_of(mx._linspace(start = 0, stop = 1, num = 2, endpoint = false)) == [0, 0.5]
    upper = mx.linalg_potrf(mx.NDArray([4.0 0.0; 0.0 9.0]), lower = false)
    @test values_of(upper) == [2 0; 0 3]
    @test values_of(mx.square(f32(3), __layout__ = "NCHW")) == [9]
end

# ---- text ------------------------------------------------------------------------------------------------------

@testset "operators are shown by name" begin
    @test string(mx.FullyConnected) == "mx.FullyConnected"
    @test repr(mx.Operator("dot")) == "mx.dot"
    @test sprint(show, MIME("text/plain"), mx.Convolution) == "mx.Convolution"
end

@testset "documentation says arrays and parameters" begin
    text = string(@doc mx.FullyConnected)
    for words in ("mx.FullyConnected(data, weight, bias; parameters...)", "Arrays", "Parameters", "num_hidden", "no_bias",
                  "Number of hidden nodes of the output.", "Tuples of integers")
        @test occursin(words, text)
    end
    text = string(@doc mx.square)
    @test occursin("mx.square(data)", text) && !occursin("Parameters", text)
    @test all(n -> Base.Docs.getdoc(getfield(mx, Symbol(n)), Union{}) !== nothing,
        filter(n -> isdefined(mx, Symbol(n)) && getfield(mx, Symbol(n)) isa mx.Operator, mx.operator_names()))
end
