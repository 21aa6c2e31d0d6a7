# A script of things that a person has to decide on.

import pybridge  # noqa: F401  (MXNet wants it first)
from mxnet import gluon

# migrate: no counterpart known for the package Distributions
# migrate: no counterpart known for the package Plots

# migrate: a macro: write a function in its place
#   macro twice(ex)
#     quote
#       $(esc(ex))
#       $(esc(ex))
#     end
#   end


# migrate: the macro @generated
#   @generated function unrolled(x::NTuple{N}) where N
#     :(+($((:(x[$i]) for i in 1:N)...)))
#   end
def unrolled(*args, **kwargs):
    raise NotImplementedError("refused.jl:13: the macro @generated")


def clock():
    # migrate: ccall runs code that is put together at run time
    #   ccall(:clock, Int32, ())
    raise NotImplementedError("refused.jl:17: ccall runs code that is put together at run time")


def run_it(text):
    # migrate: eval runs code that is put together at run time
    #   eval(Meta.parse(text))
    raise NotImplementedError("refused.jl:19: eval runs code that is put together at run time")


# migrate: a shell command: write it with subprocess
#   files = read(`ls`, String)
raise NotImplementedError("refused.jl:21: a shell command: write it with subprocess")

a = gluon.nn.HybridSequential()
a.add(gluon.nn.Dense(8))
b = gluon.nn.HybridSequential()
b.add(a, gluon.nn.Activation("relu"))
# migrate: a network that branches: write it as a gluon.HybridBlock
#   branched = a + b
raise NotImplementedError("refused.jl:26: a network that branches: write it as a gluon.HybridBlock")
# migrate: binding an executor: call the Gluon block instead
#   exec = mx.simple_bind(branched, mx.cpu(), data=(4, 2))
raise NotImplementedError("refused.jl:27: binding an executor: call the Gluon block instead")

# migrate: η_sched of mx.SGD: a schedule is an mx.lr_scheduler in Python
#   schedule = mx.SGD(η_sched=mx.LearningRate.Exp(0.1))
raise NotImplementedError(
    "refused.jl:29: η_sched of mx.SGD: a schedule is an mx.lr_scheduler in Python"
)


def unknown(x, w):
    return w * x  # migrate: check axis (* of two matrices is mx.nd.dot(x, w))


# migrate: random numbers of a distribution from another package
#   noise = rand(Normal(0, 1), 3)
raise NotImplementedError("refused.jl:32: random numbers of a distribution from another package")

# migrate: a method added to Base.getindex
#   Base.getindex(x::mx.NDArray, s::String) = x


def later(x):
    # migrate: the macro @goto
    #   @goto finish
    raise NotImplementedError("refused.jl:37: the macro @goto")
    # migrate: the macro @label
    #   @label finish
    raise NotImplementedError("refused.jl:38: the macro @label")
    return x


# this one is fine
print(f"still here: {1 + 1}")
