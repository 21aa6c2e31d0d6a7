#=
Linear regression by gradient descent: the weights of a known linear model
are found again from noisy samples.
=#
using MXNet
using Printf
using Random

# hyper parameters
const n_samples = 200
const n_features = 3
η = 0.1          # learning rate
n_epoch = 40

# the model that is to be found again
w_true = Float32[2 -3.4 0.5]
b_true = 4.2f0

Random.seed!(1)
X = randn(Float32, n_features, n_samples)
y = w_true * X .+ b_true .+ 0.01f0 .* randn(Float32, 1, n_samples)

x_nd = mx.NDArray(X)
y_nd = mx.NDArray(y)

w = mx.zeros(1, n_features)
b = mx.zeros(1)
∇w = mx.attach_grad!(w)
∇b = mx.attach_grad!(b)

"""
    model(x)

The prediction for a batch of columns.
"""
model(x) = w * x .+ b

"The mean of squared differences."
squared_loss(ŷ, y) = mean((ŷ .- y) .^ 2)

for epoch in 1:n_epoch
  loss = mx.record() do
    squared_loss(model(x_nd), y_nd)
  end
  mx.backward!(loss)

  # a step downhill
  w .-= η .* ∇w
  b .-= η .* ∇b

  if epoch % 10 == 0
    @printf("epoch %d: loss %.6f\n", epoch, first(loss))
  end
end

error_w = maximum(abs.(copy(w) .- w_true))
println("largest error of a weight below 0.01: ", error_w < 0.01)
