# A small LSTM cell, unrolled by hand, that learns to add up a sequence.
using MXNet
using Statistics

# sizes
n_in, n_hidden, n_step, n_batch = 1, 6, 4, 16

struct State
  c
  h
end

struct Parameters
  wx    # input to gates
  wh    # hidden to gates
  b
  wy    # hidden to output
  by
end

function Parameters(n_in, n_hidden)
  σ0 = 0.4
  Parameters(mx.randn(4n_hidden, n_in, σ=σ0), mx.randn(4n_hidden, n_hidden, σ=σ0), mx.zeros(4n_hidden),
             mx.randn(1, n_hidden, σ=σ0), mx.zeros(1))
end

"One step of the cell."
function lstm_cell(x::mx.NDArray, state::State, p::Parameters)
  gates = p.wx * x .+ p.wh * state.h .+ p.b
  parts = mx.SliceChannel(gates, num_outputs=4, axis=1)
  in_gate     = mx.σ.(parts[1])
  in_trans    = tanh.(parts[2])
  forget_gate = mx.σ.(parts[3])
  out_gate    = mx.σ.(parts[4])

  c = forget_gate .* state.c .+ in_gate .* in_trans
  h = out_gate .* tanh.(c)
  return State(c, h)
end

function unroll(xs, p, n_hidden, n_batch)
  state = State(mx.zeros(n_hidden, n_batch), mx.zeros(n_hidden, n_batch))
  for x in xs
    state = lstm_cell(x, state, p)
  end
  p.wy * state.h .+ p.by
end

mx.srand(5)
p = Parameters(n_in, n_hidden)
weights = [p.wx, p.wh, p.b, p.wy, p.by]
grads = map(mx.attach_grad!, weights)

losses = Float64[]
for iter in 1:400
  xs = [mx.rand(n_in, n_batch) for _ in 1:n_step]
  target = reduce((a, b) -> a .+ b, xs)
  loss = mx.record() do
    ŷ = unroll(xs, p, n_hidden, n_batch)
    mean((ŷ .- target) .^ 2)
  end
  mx.backward!(loss)
  for (w, ∇) in zip(weights, grads)
    w .-= 0.2 .* ∇
  end
  push!(losses, first(loss))
end

println("first losses are large: ", mean(losses[1:5]) > 0.5)
println("last losses are small: ", mean(losses[end-4:end]) < 0.15)
