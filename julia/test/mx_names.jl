# MXNet.jl's names, and the examples in the docstrings of those for NDArrays.

const mx = PB.mx

const EXPORTED = (
    :NDArray, :context, :expand_dims, Symbol("@inplace"), :σ, :sigmoid, :relu, :softmax, :log_softmax, :broadcast_to,
    :broadcast_axis, :broadcast_axes, :Context, :cpu, :gpu, :num_gpus, :gpu_memory_info)
const NAMED = (
    :MXError, :AbstractMXError, :MX_float, :DEFAULT_DTYPE, :DType, :NDArrayOrReal, :VecOfNDArray, :CPU, :GPU, :CPU_PINNED, :cpu_pinned,
    :current_context, :empty_cache, Symbol("@context"), Symbol("@cpu"), Symbol("@gpu"), :empty, :zeros, :ones, :fill, :slice,
    :copy_ignore_shape!, Symbol("@nd_as_jl"), :try_get_shared, :is_shared, :save, :load, :add_to!, :sub_from!, :mul_to!, :div_from!,
    :rdiv_from!, :mod_from!, :rmod_from!, :clip, :clip!, :Reshape, :dot, :transpose, :norm, :mean, :arcsin, :arccos, :arctan, :arcsinh,
    :arccosh, :arctanh, :broadcast_plus, :broadcast_add, :broadcast_sub, :broadcast_minus, :broadcast_mul, :broadcast_div,
    :broadcast_mod, :broadcast_power, :broadcast_equal, :broadcast_not_equal, :broadcast_greater, :broadcast_greater_equal,
    :broadcast_lesser, :broadcast_lesser_equal, :broadcast_maximum, :broadcast_minimum, :broadcast_hypot)

@testset "every name is there" begin
    @test setdiff(EXPORTED, names(mx)) == []
    @test filter(name -> !isdefined(mx, name), NAMED) == ()
    @test mx.MXError <: mx.AbstractMXError <: Exception
    @test mx.sqrt === sqrt && mx.sum === sum && mx.dot === dot && mx.transpose === transpose
    @test mx.zeros !== zeros && mx.ones !== ones && mx.fill !== fill
end

@testset "the broadcasts of older versions are dots" begin
    x, y = mx.NDArray([1.0 2.0; 3.0 4.0]), mx.NDArray([2.0, 3.0])
    for (name, f) in (
        :broadcast_plus => +, :broadcast_add => +, :broadcast_sub => -, :broadcast_minus => -, :broadcast_mul => *, :broadcast_div => /,
        :broadcast_mod => mod, :broadcast_power => ^, :broadcast_equal => ==, :broadcast_not_equal => !=, :broadcast_greater => >,
        :broadcast_greater_equal => >=, :broadcast_lesser => <, :broadcast_lesser_equal => <=, :broadcast_maximum => max,
        :broadcast_minimum => min, :broadcast_hypot => hypot)
        @test copy(getfield(mx, name)(x, y)) ≈ f.(copy(x), copy(y))
    end
end

"The last statement of every example in a docstring of mx that is `==` or `≈`."
function examples()
    found = Tuple{Any,String}[]
    for (binding, multi) in Base.Docs.meta(mx), text in values(multi.docs)
        for m in eachmatch(r"^```julia\n(using PyBridge: mx\n.*?)^```$"ms, join(text.text))
            push!(found, (binding.var, m[1]))
        end
    end
    return found
end

@testset "the example of $name" for (name, code) in examples()
    space = Core.eval(Main, Expr(:module, true, gensym("Example"), Expr(:block)))
    value = include_string(space, code)
    @test !(value isa Bool) || value
end
