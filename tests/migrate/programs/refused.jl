# A script of things that a person has to decide on.
using MXNet
using Distributions
using Plots

macro twice(ex)
  quote
    $(esc(ex))
    $(esc(ex))
  end
end

@generated function unrolled(x::NTuple{N}) where N
  :(+($((:(x[$i]) for i in 1:N)...)))
end

clock() = ccall(:clock, Int32, ())

run_it(text) = eval(Meta.parse(text))

files = read(`ls`, String)

data = mx.Variable(:data)
a = mx.FullyConnected(data, num_hidden=8)
b = mx.Activation(a, act_type=:relu)
branched = a + b
exec = mx.simple_bind(branched, mx.cpu(), data=(4, 2))

schedule = mx.SGD(η_sched=mx.LearningRate.Exp(0.1))

unknown(x, w) = w * x
noise = rand(Normal(0, 1), 3)

Base.getindex(x::mx.NDArray, s::String) = x

function later(x)
  @goto finish
  @label finish
  x
end

# this one is fine
println("still here: ", 1 + 1)
