"""
    MXNet

What `using MXNet` finds in a script that `pybridge run` runs: the module `mx` of PyBridge under MXNet.jl's name. Nobody else
puts this package on a load path.
"""
module MXNet

using PyBridge
const mx = PyBridge.mx
export mx

# MXNet.jl lets the names that mx exports be used without `mx.`, too.
using PyBridge.mx
eval(Expr(:export, filter(name -> name !== :mx, names(mx))...))

# What Julia had in Base when MXNet.jl's first scripts were written.
using LinearAlgebra: dot, norm
using Statistics: mean
export dot, mean, norm

end
