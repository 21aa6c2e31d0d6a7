"""
    SoftDTW(; gamma = 1)(x, y)

The soft minimum, over all ways to align the series x and y in time, of the summed squared distances: dynamic time warping
with derivatives. `x` has size `(features, time, batch)`, `y` may be shorter or longer; the result has size `(batch,)`. The
smaller `gamma`, the nearer to the minimum itself. Cuturi and Blondel 2017, <https://arxiv.org/abs/1703.01541>.
"""
mutable struct SoftDTW <: CustomFunction
    gamma
    x
    y
    costs        # squared distances of all pairs, (time of x, time of y, batch)
    sums         # soft minima over all alignments up to a pair, with a border before the first
    SoftDTW(; gamma = 1) = new(gamma)
end

function PyBridge.forward(f::SoftDTW, x::AbstractArray{T,3}, y::AbstractArray{T,3}) where {T}
    (size(x, 1), size(x, 3)) == (size(y, 1), size(y, 3)) || throw(DimensionMismatch(
        "SoftDTW: x and y have sizes $(size(x)) and $(size(y)) in Julia; expected as many features and samples in both"))
    f.gamma > 0 || throw(ArgumentError("SoftDTW: gamma is $(f.gamma); expected a positive number"))
    f.x, f.y = x, y
    f.costs = similar(x, size(x, 2), size(y, 2), size(x, 3))
    f.sums = similar(x, size(x, 2) + 1, size(y, 2) + 1, size(x, 3))
    warp!(f.sums, f.costs, x, y, T(f.gamma))
    return f.sums[end, end, :]
end

PyBridge.outputspec(::SoftDTW, x, y) = ((size(x, 3),), eltype(x))

function warp!(sums, costs, x, y, γ)
    fill!(sums, Inf)
    @inbounds for b in axes(x, 3)
        sums[1, 1, b] = 0
        for j in axes(y, 2), i in axes(x, 2)
            d = zero(eltype(x))
            @simd for k in axes(x, 1)
                d += (x[k, i, b] - y[k, j, b])^2
            end
            costs[i, j, b] = d
            sums[i+1, j+1, b] = d + softmin(sums[i, j, b], sums[i, j+1, b], sums[i+1, j, b], γ)
        end
    end
end

"-γ log Σ exp(-z / γ), of which at most two may be infinite."
@inline function softmin(a, b, c, γ)
    least = min(a, b, c)
    return least - γ * log(exp((least - a) / γ) + exp((least - b) / γ) + exp((least - c) / γ))
end

function PyBridge.backward(f::SoftDTW, Δ)
    ∂x, ∂y = fill!(similar(f.x), 0), fill!(similar(f.y), 0)
    unwarp!(∂x, ∂y, Δ, f.sums, f.costs, f.x, f.y, eltype(Δ)(f.gamma))
    return ∂x, ∂y
end

# From the last pair back: each soft minimum divides its gradient among its three predecessors.
function unwarp!(∂x, ∂y, Δ, sums, costs, x, y, γ)
    part = similar(sums, size(sums, 1), size(sums, 2))
    @inbounds for b in axes(x, 3)
        fill!(part, 0)
        part[end, end] = Δ[b]
        for j in reverse(axes(y, 2)), i in reverse(axes(x, 2))
            p = part[i+1, j+1]
            s = sums[i+1, j+1, b] - costs[i, j, b]
            part[i, j] += p * exp((s - sums[i, j, b]) / γ)
            part[i, j+1] += p * exp((s - sums[i, j+1, b]) / γ)
            part[i+1, j] += p * exp((s - sums[i+1, j, b]) / γ)
            @simd for k in axes(x, 1)
                slope = 2p * (x[k, i, b] - y[k, j, b])
                ∂x[k, i, b] += slope
                ∂y[k, j, b] -= slope
            end
        end
    end
end
