"""
    RK4(; field = "linear", dt = 0.1, steps = 1, hidden = 16)(u, parameters...)

The solution of `du/dt = field(u)` after `steps` steps of length `dt` from `u`, of size `(features, batch)`, by the classical
Runge-Kutta method; its gradients are those of the discrete steps (discrete adjoint), exact to rounding. `field` is

- `"linear"`: `A'u`, with the parameter `a` of size `(features, features)`; in Python `du/dt = A u`;
- `"mlp"`: `W₂' tanh.(W₁'u .+ b₁) .+ b₂`, with `w1`, `b1`, `w2`, `b2` and `hidden` units between (a neural ODE);
- any Julia value with methods of [`rate`](@ref) and [`rate_pullback`](@ref).

Kutta 1901; Chen and others 2018, <https://arxiv.org/abs/1806.07366>.
"""
mutable struct RK4 <: CustomFunction
    field
    dt
    steps
    hidden
    states       # before each step; stages are computed again on the way back
    parameters
    RK4(; field = "linear", dt = 0.1, steps = 1, hidden = 16) = new(field_named(field), dt, steps, hidden)
end

struct LinearField end
struct MLPField end

field_named(field) = field
field_named(name::AbstractString) = name == "linear" ? LinearField() : name == "mlp" ? MLPField() :
    throw(ArgumentError("RK4: there is no field \"$name\"; expected \"linear\", \"mlp\" or a Julia value"))

"""
    rate(field, u, parameters...)

`du/dt` at `u`.
"""
function rate end

"""
    rate_pullback(field, Δ, u, parameters...)

The gradients of [`rate`](@ref) with respect to `u` and each of the parameters, given that of its result.
"""
function rate_pullback end

rate(::LinearField, u, a) = a' * u
rate_pullback(::LinearField, Δ, u, a) = (a * Δ, u * Δ')

rate(::MLPField, u, w1, b1, w2, b2) = w2' * tanh.(w1' * u .+ b1) .+ b2
function rate_pullback(::MLPField, Δ, u, w1, b1, w2, b2)
    h = tanh.(w1' * u .+ b1)
    δ = (w2 * Δ) .* (1 .- h .^ 2)
    return w1 * δ, u * δ', vec(sum(δ; dims = 2)), h * Δ', vec(sum(Δ; dims = 2))
end

function PyBridge.forward(f::RK4, u::AbstractMatrix{T}, parameters...) where {T}
    f.steps >= 1 || throw(ArgumentError("RK4: steps is $(f.steps); expected at least 1"))
    f.parameters = parameters
    f.states = [u]
    for _ in 1:f.steps
        push!(f.states, rk4_step(f.field, T(f.dt), f.states[end], parameters))
    end
    return pop!(f.states)
end

PyBridge.outputspec(::RK4, u, parameters...) = (size(u), eltype(u))

function rk4_step(field, h, u, p)
    k1 = rate(field, u, p...)
    k2 = rate(field, u .+ (h / 2) .* k1, p...)
    k3 = rate(field, u .+ (h / 2) .* k2, p...)
    k4 = rate(field, u .+ h .* k3, p...)
    return u .+ (h / 6) .* (k1 .+ 2 .* k2 .+ 2 .* k3 .+ k4)
end

function PyBridge.backward(f::RK4, Δ)
    ∂p = map(x -> fill!(similar(x), 0), f.parameters)
    λ = Δ
    for u in Iterators.reverse(f.states)
        λ = rk4_adjoint!(∂p, f.field, eltype(Δ)(f.dt), λ, u, f.parameters)
    end
    return (λ, ∂p...)
end

"One step back: the gradient at its beginning, given that at its end; those of the parameters are added."
function rk4_adjoint!(∂p, field, h, λ, u, p)
    function pull(Δ, u)
        gradients = rate_pullback(field, Δ, u, p...)
        foreach((sum, part) -> sum .+= part, ∂p, Base.tail(gradients))
        return first(gradients)
    end
    u2 = u .+ (h / 2) .* rate(field, u, p...)
    u3 = u .+ (h / 2) .* rate(field, u2, p...)
    u4 = u .+ h .* rate(field, u3, p...)
    ∂4 = pull((h / 6) .* λ, u4)
    ∂3 = pull((h / 3) .* λ .+ h .* ∂4, u3)
    ∂2 = pull((h / 3) .* λ .+ (h / 2) .* ∂3, u2)
    ∂1 = pull((h / 6) .* λ .+ (h / 2) .* ∂2, u)
    return λ .+ ∂1 .+ ∂2 .+ ∂3 .+ ∂4
end

PyBridge.paramshapes(f::RK4, u) = field_shapes(f.field, u[1], f.hidden)
field_shapes(::LinearField, n, hidden) = (a = (n, n),)
field_shapes(::MLPField, n, hidden) = (w1 = (n, hidden), b1 = (hidden,), w2 = (hidden, n), b2 = (n,))
