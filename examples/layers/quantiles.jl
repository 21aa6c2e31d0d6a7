"""
    QuantileLoss(; levels = (0.1, 0.5, 0.9))(prediction, target)

The pinball loss of each sample, the mean over `levels` τ of `max(τe, (τ - 1)e)` with `e = target - prediction`: least where the
prediction is the τ-quantile of the target. `prediction` has size `(levels, batch)`, `target` `(batch,)`.
Koenker and Bassett 1978, "Regression quantiles", Econometrica 46.
"""
mutable struct QuantileLoss <: CustomFunction
    levels
    prediction
    target
    QuantileLoss(; levels = (0.1, 0.5, 0.9)) = new(levels)
end

function PyBridge.forward(f::QuantileLoss, prediction::AbstractMatrix{T}, target::AbstractVector{T}) where {T}
    expect_size("QuantileLoss", "prediction", prediction, (length(f.levels), length(target)))
    all(τ -> 0 < τ < 1, f.levels) ||
        throw(ArgumentError("QuantileLoss: levels are $(f.levels); expected numbers between 0 and 1"))
    f.prediction, f.target = prediction, target
    return pinball(prediction, target, T.(collect(f.levels)))
end

PyBridge.outputspec(::QuantileLoss, prediction, target) = (size(target), eltype(target))

function PyBridge.backward(f::QuantileLoss, Δ)
    ∂prediction, ∂target = similar(f.prediction), similar(f.target)
    pinball_gradients!(∂prediction, ∂target, Δ, f.prediction, f.target, eltype(Δ).(collect(f.levels)))
    return ∂prediction, ∂target
end

function pinball(prediction, target, τ)
    loss = similar(target)
    @inbounds for j in eachindex(target)
        sum = zero(eltype(target))
        @simd for i in eachindex(τ)
            e = target[j] - prediction[i, j]
            sum += max(τ[i] * e, (τ[i] - 1) * e)
        end
        loss[j] = sum / length(τ)
    end
    return loss
end

function pinball_gradients!(∂prediction, ∂target, Δ, prediction, target, τ)
    n = length(τ)
    @inbounds for j in eachindex(target)
        sum = zero(eltype(target))
        @simd for i in eachindex(τ)
            e = target[j] - prediction[i, j]
            # At e = 0 any slope from τ - 1 to τ will do, and 0 is one.
            slope = Δ[j] / n * (τ[i] * (e > 0) + (τ[i] - 1) * (e < 0))
            ∂prediction[i, j] = -slope
            sum += slope
        end
        ∂target[j] = sum
    end
end
