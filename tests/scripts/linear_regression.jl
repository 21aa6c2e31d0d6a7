# Linear regression: gradient descent by hand on the gradients that autograd gives.
using MXNet
using Random

Random.seed!(7)
mx.seed!(7)

n = 256
w★ = Float32[2.0, -3.4]
X = randn(Float32, 2, n)
y = w★' * X .+ 4.2f0 .+ 0.01f0 .* randn(Float32, 1, n)

xs = mx.NDArray(X)
ys = mx.NDArray(y)
w = mx.randn(1, 2, σ = 0.01)
b = mx.zeros(1)
∇w = mx.attach_grad!(w)
∇b = mx.attach_grad!(b)

losses = Float64[]
for epoch in 1:60
    l = mx.record() do
        ŷ = w * xs .+ b
        mean((ŷ .- ys) .^ 2)
    end
    mx.backward!(l)
    push!(losses, copy(l)[1])
    @mx.inplace w -= 0.2 * ∇w
    @mx.inplace b -= 0.2 * ∇b
end

@assert losses[end] < losses[1] / 1000
println("w = ", round.(copy(w), digits = 1), ", b = ", round.(copy(b), digits = 1))
