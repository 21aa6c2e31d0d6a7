# The Julia half of `python -m pybridge demo`: a dense layer and an activation, as nodes of MXNet's autograd graph.
#
# MXNet stores rows first and Julia columns first, so the same memory reads backwards on this side (layout="julia"):
#
#     in Python                       here
#     x       (batch, features)       (features, batch)
#     weight  (units, features)       (features, units)
#     bias    (units,)                (units,)
#
# Each call makes a fresh instance, so what `forward` saves for `backward` never leaks from one call into another.

module DigitsLayers

using PyBridge

"""
    JuliaDense()(x, w, b)

Affine layer `wᵀx + b`, one column for each sample.
"""
mutable struct JuliaDense <: CustomFunction
    x
    w
    JuliaDense() = new()
end

function PyBridge.forward(f::JuliaDense, x, w, b)
    f.x, f.w = x, w          # the buffers of libmxnet themselves: saving them copies nothing
    return w' * x .+ b
end

function PyBridge.backward(f::JuliaDense, Δ)
    ∂x = f.w * Δ
    ∂w = f.x * Δ'
    ∂b = vec(sum(Δ, dims = 2))
    return (∂x, ∂w, ∂b)      # one gradient for each argument of forward
end

"""
    JuliaSwish(; beta = 1)(x)

Swish activation `x σ(βx)` (Ramachandran et al. 2017, <https://arxiv.org/abs/1710.05941>).
`beta` is a keyword argument: it comes from `pb.function("DigitsLayers.JuliaSwish", beta=1.0)` in Python.
"""
mutable struct JuliaSwish <: CustomFunction
    beta
    x
    JuliaSwish(; beta = 1) = new(beta)
end

sigmoid(z) = 1 / (1 + exp(-z))

function PyBridge.forward(f::JuliaSwish, x)
    f.x = x
    β = eltype(x)(f.beta)    # in float32 a float64 β would turn every result into float64
    return @. x * sigmoid(β * x)
end

function PyBridge.backward(f::JuliaSwish, Δ)
    β = eltype(f.x)(f.beta)
    return @. Δ * swish_slope(f.x, β)
end

function swish_slope(x, β)
    σ = sigmoid(β * x)
    return σ + β * x * σ * (1 - σ)
end

end
