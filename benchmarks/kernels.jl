# The sigmoid that bench.py times: the same kernels as a node of the graph, and bare.
module Bench

using PyBridge

# exp without a branch, so that a loop over it becomes vector instructions; Julia's own does so from 1.6 on only.
# Reduction to |r| ≤ log(2)/2 and polynomial as in expf of S. L. Moshier's Cephes library (netlib.org/cephes).
@inline function vector_exp(x::Float32)
    x = min(max(x, -87.0f0), 88.0f0)
    n = round(1.442695f0 * x)
    r = muladd(n, 2.1219444f-4, muladd(n, -0.693359375f0, x))
    p = muladd(1.9875691f-4, r, 1.3981999f-3)
    p = muladd(muladd(muladd(muladd(p, r, 8.3334519f-3), r, 4.1665796f-2), r, 0.16666665f0), r, 0.5f0)
    p = muladd(p, r * r, r) + 1
    return p * reinterpret(Float32, (unsafe_trunc(Int32, n) + Int32(127)) << 23)
end

sigmoid!(y, x) = @inbounds @simd for i in eachindex(x, y)
    y[i] = 1 / (1 + vector_exp(-x[i]))
end

dsigmoid!(g, y, Δ) = @inbounds @simd for i in eachindex(g, y, Δ)
    g[i] = Δ[i] * y[i] * (1 - y[i])
end

mutable struct Sigmoid <: CustomFunction
    y
    Sigmoid() = new()
end
PyBridge.forward!(y, f::Sigmoid, x) = (f.y = y; sigmoid!(y, x))
PyBridge.backward!(grads, f::Sigmoid, Δ) = dsigmoid!(grads[1], f.y, Δ)

"One forward and backward by the bare kernels on the buffers of NDArrays."
bare(x, y, g, Δ) = (sigmoid!(y, x); dsigmoid!(g, y, Δ); nothing)

"Seconds that `n` rounds of `bare` take."
function bare_seconds(x, y, g, Δ, n)
    bare(x, y, g, Δ)
    return @elapsed for _ in 1:n
        bare(x, y, g, Δ)
    end
end

end
