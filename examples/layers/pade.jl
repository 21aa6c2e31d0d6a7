"""
    Pade()(x, numerator, denominator)

The Padé activation `P(x) / (1 + |Q(x)|)`, which has no poles: `P(x) = Σ aₖ xᵏ` with coefficients `numerator` from k = 0 on,
`Q(x) = Σ bₖ xᵏ` with coefficients `denominator` from k = 1 on, the same for all features.
Molina, Schramowski and Kersting 2019, <https://arxiv.org/abs/1907.06732>.
"""
mutable struct Pade <: CustomFunction
    degrees
    x
    a
    b
    Pade(; degrees = (5, 4)) = new(degrees)
end

function PyBridge.forward!(y, f::Pade, x, a, b)
    ndims(a) == ndims(b) == 1 && !isempty(a) || throw(DimensionMismatch(
        "Pade: numerator and denominator have sizes $(size(a)) and $(size(b)); expected two vectors of coefficients"))
    f.x, f.a, f.b = x, a, b
    return pade!(y, x, a, b)
end

PyBridge.outputspec(::Pade, x, a, b) = (size(x), eltype(x))

PyBridge.backward!(grads, f::Pade, Δ) = pade_gradients!(
    place(grads[1], f.x), place(grads[2], f.a), place(grads[3], f.b), Δ, f.x, f.a, f.b)

"A polynomial with coefficients from the constant on, and its slope (Horner)."
function polynomial(a, x)
    p = q = zero(x)
    @inbounds for k in length(a):-1:1
        q = q * x + p
        p = p * x + a[k]
    end
    return p, q
end

function pade!(y, x, a, b)
    @inbounds for i in eachindex(y, x)
        y[i] = polynomial(a, x[i])[1] / (1 + abs(x[i] * polynomial(b, x[i])[1]))
    end
end

function pade_gradients!(∂x, ∂a, ∂b, Δ, x, a, b)
    fill!(∂a, 0)
    fill!(∂b, 0)
    @inbounds for i in eachindex(∂x, Δ, x)
        z = x[i]
        p, dp = polynomial(a, z)
        r, dr = polynomial(b, z)
        q, dq = z * r, r + z * dr
        below = 1 + abs(q)
        up = Δ[i] / below
        down = -up * sign(q) * p / below
        ∂x[i] = up * dp + down * dq
        power = one(z)
        for k in eachindex(a)
            ∂a[k] += up * power
            power *= z
        end
        power = z
        for k in eachindex(b)
            ∂b[k] += down * power
            power *= z
        end
    end
end

PyBridge.paramshapes(f::Pade, x) = (numerator = (f.degrees[1] + 1,), denominator = (f.degrees[2],))
