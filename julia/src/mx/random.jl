# Random arrays, from libmxnet's generator.

"""
    rand!(x; low = 0, high = 1) -> x

Fill `x` with numbers drawn uniformly from `[low, high)`.
"""
function rand!(x::NDArray{T}; low::Real = 0, high::Real = 1) where {T}
    invoke!((x,), op"_random_uniform", (), ["low", "high", "shape", "dtype"],
        [parameter(float(low)), parameter(float(high)), parameter(size(x)), parameter(T)])
    return x
end

"""
    rand(dims...; low = 0, high = 1, context = current_context()) -> NDArray{Float32}

A new array of numbers drawn uniformly from `[low, high)`.
"""
rand(dims::Integer...; low = 0, high = 1, context = current_context()) =
    rand!(empty(Int.(dims), context); low = low, high = high)

"""
    randn!(x; μ = 0, σ = 1) -> x

Fill `x` with numbers drawn from a normal distribution.
"""
function randn!(x::NDArray{T}; μ::Real = 0, σ::Real = 1) where {T}
    invoke!((x,), op"_random_normal", (), ["loc", "scale", "shape", "dtype"],
        [parameter(float(μ)), parameter(float(σ)), parameter(size(x)), parameter(T)])
    return x
end

"""
    randn(dims...; μ = 0, σ = 1, context = current_context()) -> NDArray{Float32}

A new array of numbers drawn from a normal distribution.
"""
randn(dims::Integer...; μ = 0, σ = 1, context = current_context()) = randn!(empty(Int.(dims), context); μ = μ, σ = σ)

"""
    seed!(seed)

Seed libmxnet's generator, for both languages, as Python's `mx.random.seed` does.
"""
function seed!(seed::Integer)
    _python().seed(seed)
    return nothing
end

# Its name in older versions.
const srand = seed!
