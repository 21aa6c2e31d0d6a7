# A robust loss written as a differentiable function of its own.
using MXNet
using Printf

"""
    Huber(; δ = 1.0)

Quadratic near zero, linear beyond `δ`.
"""
mutable struct Huber
  δ::Float64
  r
  Huber(; δ=1.0) = new(δ)
end

@mx.customfunc Huber

# what the loss is of a single residual
huber(r, δ) = abs(r) <= δ ? r^2 / 2 : δ * (abs(r) - δ / 2)

function mx.forward(f::Huber, ŷ, y)
  f.r = ŷ .- y
  huber.(f.r, f.δ)
end

function mx.backward!(f::Huber, Δ)
  g = Δ .* clamp.(f.r, -f.δ, f.δ)
  g, -g
end

x = mx.NDArray(Float32[1 2 3 4 5 6])
y = mx.NDArray(Float32[2 4 6 8 10 100])   # the last sample is an outlier

w = mx.NDArray(Float32[0.5])
∇w = mx.attach_grad!(w)
loss = Huber(δ=0.5)

for step in 1:60
  l = mx.record() do
    sum(loss(w .* x, y))
  end
  mx.backward!(l)
  w .-= 0.01 .* ∇w
end

@printf("w = %.2f\n", first(w))
