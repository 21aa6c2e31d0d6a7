# The dense layer that throughput.py trains: GEMMs that write straight into libmxnet's memory.
module BenchLayers

using PyBridge
using LinearAlgebra: mul!, BLAS

"A row-major (a, b) array is a column-major (b, a) one here: w is (in, units), x is (in, batch)."
mutable struct Dense <: CustomFunction
    x
    w
    Dense() = new()
end
PyBridge.outputspec(::Dense, x, w, b) = ((size(w, 2), size(x, 2)), eltype(x))

function PyBridge.forward!(y, f::Dense, x, w, b)
    f.x, f.w = x, w
    mul!(y, w', x)
    y .+= b
    return nothing
end

function PyBridge.backward!(grads, f::Dense, Δ)
    ∂x, ∂w, ∂b = grads
    ∂x === nothing || mul!(∂x, f.w, Δ)
    ∂w === nothing || mul!(∂w, f.x, Δ')
    ∂b === nothing || sum!(∂b, Δ)
    return nothing
end

"Seconds of the multiplications of one such layer, forward and backward: the least of `rounds`."
function gemm_seconds(inputs, units, batch, rounds)
    x, w, Δ = (rand(Float32, size...) for size in ((inputs, batch), (inputs, units), (units, batch)))
    y, ∂x, ∂w = similar(Δ), similar(x), similar(w)
    run() = (mul!(y, w', x); mul!(∂x, w, Δ); mul!(∂w, x, Δ'))
    run()
    return minimum(@elapsed(run()) for _ in 1:rounds)
end

end
