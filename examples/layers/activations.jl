# Activations of one number each, with a parameter for each feature or none. They write straight into MXNet's memory.

"""
    Swish()(x, beta)

`x σ(βx)` with a learnable steepness for each feature: `beta` of size `(features,)`.
Ramachandran, Zoph and Le 2017, <https://arxiv.org/abs/1710.05941>.
"""
mutable struct Swish <: CustomFunction
    x
    beta
    Swish() = new()
end

function PyBridge.forward!(y, f::Swish, x, β)
    expect_size("Swish", "beta", β, (size(x, 1),))
    f.x, f.beta = x, β
    return swish!(columns(y), columns(x), β)
end

PyBridge.backward!(grads, f::Swish, Δ) =
    swish_gradients!(columns(place(grads[1], f.x)), place(grads[2], f.beta), columns(Δ), columns(f.x), f.beta)

function swish!(y, x, β)
    @inbounds for j in axes(x, 2), i in axes(x, 1)
        y[i, j] = x[i, j] * sigmoid(β[i] * x[i, j])
    end
end

function swish_gradients!(∂x, ∂β, Δ, x, β)
    fill!(∂β, 0)
    @inbounds for j in axes(x, 2), i in axes(x, 1)
        σ = sigmoid(β[i] * x[i, j])
        bend = x[i, j] * σ * (1 - σ)
        ∂x[i, j] = Δ[i, j] * (σ + β[i] * bend)
        ∂β[i] += Δ[i, j] * x[i, j] * bend
    end
end

"""
    Mish()(x)

`x tanh(log(1 + exp(x)))`. Misra 2019, <https://arxiv.org/abs/1908.08681>.
"""
mutable struct Mish <: CustomFunction
    x
    Mish() = new()
end

function PyBridge.forward!(y, f::Mish, x)
    f.x = x
    return mish!(y, x)
end

PyBridge.backward!(grads, f::Mish, Δ) = mish_gradient!(place(grads[1], f.x), Δ, f.x)

# With e = exp(x) the hyperbolic tangent is e(e + 2) / (e(e + 2) + 2); its distance to one, without cancellation,
# 2 / (e(e + 2) + 2). For positive x both are written in exp(-x), which does not overflow.
function tanh_softplus(x)
    t = exp(-abs(x))
    x > 0 || return t * (t + 2) / (t * (t + 2) + 2), 2 / (t * (t + 2) + 2)
    below = 1 + 2t * (1 + t)
    return (1 + 2t) / below, 2t * t / below
end

function mish!(y, x)
    @inbounds for i in eachindex(y, x)
        y[i] = x[i] * tanh_softplus(x[i])[1]
    end
end

function mish_gradient!(∂x, Δ, x)
    @inbounds for i in eachindex(∂x, Δ, x)
        t, rest = tanh_softplus(x[i])
        ∂x[i] = Δ[i] * (t + x[i] * rest * (1 + t) * sigmoid(x[i]))
    end
end

"""
    Snake()(x, frequency)

`x + sin²(ax) / a` with a learnable frequency a for each feature, for what is periodic; `x` where a is zero. `frequency` is of
size `(features,)`. Ziyin, Hartwig and Ueda 2020, <https://arxiv.org/abs/2006.08195>.
"""
mutable struct Snake <: CustomFunction
    x
    frequency
    Snake() = new()
end

function PyBridge.forward!(y, f::Snake, x, a)
    expect_size("Snake", "frequency", a, (size(x, 1),))
    f.x, f.frequency = x, a
    return snake!(columns(y), columns(x), a)
end

PyBridge.backward!(grads, f::Snake, Δ) = snake_gradients!(
    columns(place(grads[1], f.x)), place(grads[2], f.frequency), columns(Δ), columns(f.x), f.frequency)

# sin²(ax)/a = x sin(u) sin(u)/u with u = ax, which has no pole, and the slope in a does not cancel for small u.
over(s, u) = ifelse(iszero(u), one(u), s / u)

function snake!(y, x, a)
    @inbounds for j in axes(x, 2), i in axes(x, 1)
        u = a[i] * x[i, j]
        s = sin(u)
        y[i, j] = x[i, j] * (1 + s * over(s, u))
    end
end

function snake_gradients!(∂x, ∂a, Δ, x, a)
    fill!(∂a, 0)
    @inbounds for j in axes(x, 2), i in axes(x, 1)
        u = a[i] * x[i, j]
        s, c = sincos(u)
        r = over(s, u)
        ∂x[i, j] = Δ[i, j] * (1 + 2s * c)
        ∂a[i] += Δ[i, j] * x[i, j]^2 * r * (2c - r)
    end
end

PyBridge.outputspec(::Union{Swish,Mish,Snake}, x, parameters...) = (size(x), eltype(x))

PyBridge.paramshapes(::Swish, x) = (beta = (x[1],),)
PyBridge.paramshapes(::Snake, x) = (frequency = (x[1],),)
