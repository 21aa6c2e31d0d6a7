# The sigmoid that bench.py times: the same kernels as a node of the graph, and bare.
module Bench

using PyBridge

sigmoid!(y, x) = @inbounds @simd for i in eachindex(x, y)
    y[i] = 1 / (1 + exp(-x[i]))
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
