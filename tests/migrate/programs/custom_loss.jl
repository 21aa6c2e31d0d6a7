# Robust regression: a loss with a gradient of its own, compared with the squared loss.
using MXNet
using Printf
using Random
using Statistics

"""
    Huber(; δ = 1.0)

Quadratic near zero, linear beyond `δ`.
"""
mutable struct Huber
  δ; r
  Huber(; δ=1.0) = new(δ)
end

@mx.customfunc Huber

# the value, kept for the way back
mx.forward(f::Huber, ŷ, y) = (f.r = ŷ .- y; huber.(f.r, f.δ))

# bounded by δ, so that an outlier pulls no harder than its neighbours
mx.backward!(f::Huber, Δ) = (g = Δ .* clamp.(f.r, -f.δ, f.δ); (g, -g))

# what the loss is of a single residual
huber(r, δ) = abs(r) <= δ ? r^2 / 2 : δ * (abs(r) - δ / 2)

# ---------------------------------------------------------------------------
# data: a line with noise, and a few samples that are far off
# ---------------------------------------------------------------------------

function make_data(n; slope=2.0, intercept=-1.0, noise=0.1, n_outlier=4)
  x = collect(range(-1, stop=1, length=n))
  y = slope .* x .+ intercept .+ noise .* randn(n)
  for k in 1:n_outlier
    y[end-k+1] += 20
  end
  return x, y
end

Random.seed!(7)
n = 60
x, y = make_data(n)
println("samples: ", length(x), ", mean of y without outliers: ", round(mean(y[1:end-4]), digits=1))

# one row of samples; the constant row carries the intercept
X = ones(Float32, 2, n)
X[1, :] = x
x_nd = mx.NDArray(X)
y_nd = mx.NDArray(Float32, reshape(y, 1, n))

# ---------------------------------------------------------------------------
# training
# ---------------------------------------------------------------------------

squared(ŷ, y) = (ŷ .- y) .^ 2 / 2

"""
    fit(loss; η, n_step)

Minimize the mean of `loss` over the samples; returns slope and intercept.
"""
function fit(loss; η=0.2, n_step=300)
  w = mx.zeros(1, 2)
  ∇ = mx.attach_grad!(w)
  history = Float64[]
  for step in 1:n_step
    l = mx.record() do
      mean(loss(w * x_nd, y_nd))
    end
    mx.backward!(l)
    w .-= η .* ∇
    push!(history, first(l))
  end
  a = copy(w)
  @assert history[end] <= history[1] "the loss grew"
  return a[1, 1], a[1, 2], history
end

# an error of a fit: how far slope and intercept are from the line's
distance(slope, intercept) = abs(slope - 2) + abs(intercept + 1)

results = Dict{Symbol,Float64}()
losses = [(:huber, Huber(δ=0.5)), (:squared, squared)]
for (name, loss) in losses
  slope, intercept, history = fit(loss)
  results[name] = distance(slope, intercept)
  @printf("%-8s slope %6.2f  intercept %6.2f  after %d steps\n", name, slope, intercept, length(history))
end

if results[:huber] < 0.2 && results[:squared] > 1
  println("the robust loss finds the line, the squared one does not")
else
  println("unexpected: ", results[:huber], " ", results[:squared])
end

# ---------------------------------------------------------------------------
# a look at single residuals
# ---------------------------------------------------------------------------

for r in [-3.0, -0.5, 0.0, 0.25, 3.0]
  println(rpad(r, 6), huber(r, 0.5), "  ", r^2 / 2)
end

function table(δs)
  rows = String[]
  for δ in δs
    push!(rows, @sprintf("δ=%.1f: %.3f", δ, huber(2.0, δ)))
  end
  join(rows, "; ")
end

println(table([0.5, 1.0, 2.0]))
