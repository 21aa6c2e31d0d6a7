"""
    RMSNorm(; epsilon = 1e-6)(x, gain)

Each sample divided by the root mean square of its features, `gain .* x ./ sqrt(mean(x²) + ε)`, with a learnable `gain` of
size `(features,)`. Zhang and Sennrich 2019, <https://arxiv.org/abs/1910.07467>.
"""
mutable struct RMSNorm <: CustomFunction
    epsilon
    x
    gain
    scales       # 1 / root mean square, one for each sample
    RMSNorm(; epsilon = 1e-6) = new(epsilon)
end

function PyBridge.forward!(y, f::RMSNorm, x, gain)
    expect_size("RMSNorm", "gain", gain, (size(x, 1),))
    f.x, f.gain = x, gain
    f.scales = similar(x, size(columns(x), 2))
    return rmsnorm!(columns(y), f.scales, columns(x), gain, eltype(x)(f.epsilon))
end

PyBridge.outputspec(::RMSNorm, x, gain) = (size(x), eltype(x))

PyBridge.backward!(grads, f::RMSNorm, Δ) = rmsnorm_gradients!(
    columns(place(grads[1], f.x)), place(grads[2], f.gain), columns(Δ), columns(f.x), f.gain, f.scales)

function rmsnorm!(y, scales, x, gain, ε)
    n = size(x, 1)
    @inbounds for j in axes(x, 2)
        squares = zero(eltype(x))
        @simd for i in 1:n
            squares += x[i, j]^2
        end
        r = 1 / sqrt(squares / n + ε)
        scales[j] = r
        @simd for i in 1:n
            y[i, j] = gain[i] * x[i, j] * r
        end
    end
end

function rmsnorm_gradients!(∂x, ∂gain, Δ, x, gain, scales)
    n = size(x, 1)
    fill!(∂gain, 0)
    @inbounds for j in axes(x, 2)
        r = scales[j]
        along = zero(eltype(x))
        @simd for i in 1:n
            along += Δ[i, j] * gain[i] * x[i, j]
        end
        along *= r^2 / n
        @simd for i in 1:n
            ∂x[i, j] = r * (Δ[i, j] * gain[i] - x[i, j] * along)
            ∂gain[i] += Δ[i, j] * x[i, j] * r
        end
    end
end

PyBridge.paramshapes(::RMSNorm, x) = (gain = (x[1],),)
