"""
    MonotoneSpline(; bins = 8, bound = 3)(x, widths, heights, slopes)

A monotone function of each feature, learnt as a spline of rational quadratics on [-bound, bound] and the identity outside,
with an inverse in closed form ([`inverse`](@ref)). `widths` and `heights` of the bins have size `(bins, features)`, `slopes` at
the knots between them `(bins - 1, features)`. All may be any numbers: softmax and softplus make them positive. Where all are
zero the function is the identity.
Gregory and Delbourgo 1982, IMA J. Numer. Anal. 2; Durkan and others 2019, <https://arxiv.org/abs/1906.04032>.
"""
mutable struct MonotoneSpline <: CustomFunction
    bins
    bound
    x
    parameters
    MonotoneSpline(; bins = 8, bound = 3) = new(bins, bound)
end

"No bin is narrower or flatter than this part of the whole, no slope at a knot less than this."
const LEAST = 1 // 1000

"What the parameters of one feature mean: corners of the bins, and slopes there."
struct Knots{T}
    x::Vector{T}
    y::Vector{T}
    slope::Vector{T}
end

function Knots(widths::AbstractVector{T}, heights, slopes, bound) where {T}
    # softplus(shift) + LEAST is 1: a straight line to begin with.
    shift = T(log(expm1(1 - float(LEAST))))
    inner = softplus.(slopes .+ shift) .+ T(LEAST)
    return Knots{T}(corners(widths, T(bound)), corners(heights, T(bound)), [one(T); inner; one(T)])
end

"Corners from -bound to bound, in steps that are the softmax of `raw`, mixed with equal ones."
function corners(raw::AbstractVector{T}, bound) where {T}
    steps = shares(raw)
    n = length(raw)
    at = cumsum([-bound; (2bound) .* (T(LEAST) .+ (1 - n * T(LEAST)) .* steps)])
    at[end] = bound
    return at
end

function shares(raw)
    e = exp.(raw .- maximum(raw))
    return e ./ sum(e)
end

function check_spline(f::MonotoneSpline, x, widths, heights, slopes)
    n = f.bins
    expect_size("MonotoneSpline", "widths", widths, (n, size(x, 1)))
    expect_size("MonotoneSpline", "heights", heights, (n, size(x, 1)))
    expect_size("MonotoneSpline", "slopes", slopes, (n - 1, size(x, 1)))
end

knots(f::MonotoneSpline, (widths, heights, slopes), i) =
    Knots(view(widths, :, i), view(heights, :, i), view(slopes, :, i), f.bound)

function PyBridge.forward!(y, f::MonotoneSpline, x, parameters...)
    check_spline(f, x, parameters...)
    f.x, f.parameters = x, parameters
    for i in axes(x, 1)
        spline!(view(columns(y), i, :), view(columns(x), i, :), knots(f, parameters, i))
    end
end

PyBridge.outputspec(::MonotoneSpline, x, parameters...) = (size(x), eltype(x))

function PyBridge.backward!(grads, f::MonotoneSpline, Δ)
    ∂ = map(place, grads, (f.x, f.parameters...))
    for i in axes(f.x, 1)
        rows = map(a -> view(columns(a), i, :), (∂[1], Δ, f.x))
        raw = map(a -> view(a, :, i), f.parameters)
        spline_gradients!(rows[1], map(a -> view(a, :, i), ∂[2:4]), rows[2], rows[3], knots(f, f.parameters, i), raw)
    end
end

"The bin in which `x` lies, 0 outside."
bin(corners, x) = x > first(corners) && x < last(corners) ? searchsortedlast(corners, x) : 0

"Width, height and the slopes at both ends of a bin."
@inline measures(s::Knots, k) = @inbounds (s.x[k+1] - s.x[k], s.y[k+1] - s.y[k], s.slope[k], s.slope[k+1])

function spline!(y, x, s::Knots)
    @inbounds for j in eachindex(y, x)
        k = bin(s.x, x[j])
        if k == 0
            y[j] = x[j]
            continue
        end
        w, h, d0, d1 = measures(s, k)
        t = (x[j] - s.x[k]) / w
        q = t * (1 - t)
        mean = h / w
        y[j] = s.y[k] + h * (mean * t^2 + d0 * q) / (mean + (d0 + d1 - 2mean) * q)
    end
end

function spline_gradients!(∂x, (∂widths, ∂heights, ∂slopes), Δ, x, s::Knots{T}, (widths, heights, slopes)) where {T}
    n = length(widths)
    ∂w, ∂h, ∂d = zeros(T, n), zeros(T, n), zeros(T, n + 1)
    ∂left, ∂low = zeros(T, n + 1), zeros(T, n + 1)      # of the bins' lower corners
    @inbounds for j in eachindex(∂x, Δ, x)
        k = bin(s.x, x[j])
        if k == 0
            ∂x[j] = Δ[j]
            continue
        end
        w, h, d0, d1 = measures(s, k)
        t = (x[j] - s.x[k]) / w
        q, turn = t * (1 - t), 1 - 2t
        mean = h / w
        bend = d0 + d1 - 2mean
        above, below = mean * t^2 + d0 * q, mean + bend * q
        r = above / below
        up = Δ[j] * h / below
        ∂t = up * (2mean * t + d0 * turn - r * bend * turn)
        ∂mean = up * (t^2 - r * (1 - 2q))
        ∂x[j] = ∂t / w
        ∂left[k] -= ∂t / w
        ∂low[k] += Δ[j]
        ∂w[k] -= (∂t * t + ∂mean * mean) / w
        ∂h[k] += Δ[j] * r + ∂mean / w
        ∂d[k] += up * q * (1 - r)
        ∂d[k+1] -= up * q * r
    end
    corner_gradients!(∂widths, ∂w, ∂left, widths, last(s.x))
    corner_gradients!(∂heights, ∂h, ∂low, heights, last(s.y))
    shift = T(log(expm1(1 - float(LEAST))))
    @inbounds for k in 1:n-1
        ∂slopes[k] = ∂d[k+1] * sigmoid(slopes[k] + shift)
    end
end

"From steps and corners back to what is under the softmax: each step moves all corners after it."
function corner_gradients!(∂raw, ∂step, ∂corner, raw::AbstractVector{T}, bound) where {T}
    n = length(raw)
    after = zero(T)
    for k in n:-1:1
        after += ∂corner[k+1]
        ∂step[k] += after
    end
    p = shares(raw)
    inner = sum(p .* ∂step)
    ∂raw .= (2bound * (1 - n * T(LEAST))) .* p .* (∂step .- inner)
end

"""
    inverse(f::MonotoneSpline, y, widths, heights, slopes)

The x for which the spline is `y`.
"""
function inverse(f::MonotoneSpline, y, parameters...)
    check_spline(f, y, parameters...)
    x = similar(y)
    for i in axes(y, 1)
        inverse!(view(columns(x), i, :), view(columns(y), i, :), knots(f, parameters, i))
    end
    return x
end

function inverse!(x, y, s::Knots)
    @inbounds for j in eachindex(x, y)
        k = bin(s.y, y[j])
        if k == 0
            x[j] = y[j]
            continue
        end
        w, h, d0, d1 = measures(s, k)
        mean, up = h / w, y[j] - s.y[k]
        a = h * (mean - d0) + up * (d0 + d1 - 2mean)
        b = h * d0 - up * (d0 + d1 - 2mean)
        c = -mean * up
        x[j] = s.x[k] + w * 2c / (-b - sqrt(b^2 - 4a * c))
    end
end

PyBridge.paramshapes(f::MonotoneSpline, x) =
    (widths = (f.bins, x[1]), heights = (f.bins, x[1]), slopes = (f.bins - 1, x[1]))
