# A perceptron with one hidden layer, trained on XOR with autograd.
module Perceptron

using MXNet
import MXNet: mx
using Printf

export Network, train!, accuracy

"Weights and biases of both layers."
mutable struct Network
  w1::mx.NDArray
  b1::mx.NDArray
  w2::mx.NDArray
  b2::mx.NDArray
end

function Network(n_in::Int, n_hidden::Int, n_out::Int; scale=1.0)
  Network(mx.randn(n_hidden, n_in, σ=scale), mx.zeros(n_hidden),
          mx.randn(n_out, n_hidden, σ=scale), mx.zeros(n_out))
end

params(net) = [net.w1, net.b1, net.w2, net.b2]

# the forward pass: features run down the columns, samples along the rows
function (net::Network)(x)
  h = tanh.(net.w1 * x .+ net.b1)
  mx.σ.(net.w2 * h .+ net.b2)
end

"Binary cross entropy, averaged over the batch."
function cross_entropy(p, y)
  ϵ = 1f-6
  -mean(y .* log.(p .+ ϵ) .+ (1 .- y) .* log.(1 .- p .+ ϵ))
end

function train!(net, x, y; η=0.5, n_epoch=100, verbose=false)
  grads = [mx.attach_grad!(p) for p in params(net)]
  losses = Float64[]
  for epoch in 1:n_epoch
    loss = mx.record() do
      cross_entropy(net(x), y)
    end
    mx.backward!(loss)
    for (p, ∇) in zip(params(net), grads)
      @mx.inplace p -= η * ∇
    end
    push!(losses, first(loss))
    verbose && epoch % 20 == 0 && @printf("%4d  %.4f\n", epoch, losses[end])
  end
  losses
end

function accuracy(net, x, y)
  p = copy(net(x))
  sum((p .> 0.5) .== (copy(y) .> 0.5)) / length(p)
end

end # module

using MXNet
using .Perceptron

mx.srand(3)
x = mx.NDArray(Float32[0 0 1 1; 0 1 0 1])
y = mx.NDArray(Float32[0 1 1 0])

net = Network(2, 8, 1)
losses = train!(net, x, y, η=1.0, n_epoch=400)
println("losses fell: ", losses[end] < losses[1] / 5)
println("accuracy: ", accuracy(net, x, y))
