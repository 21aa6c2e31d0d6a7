"""
A small stand-in for the registered package Flux, for tests: a few layers as callable structs, and the functions that go
through a model's parameters, following its published documentation, written anew.
"""
module Flux

using ChainRulesCore, Random, Statistics
using Zygote: Zygote, gradient, withgradient, pullback

export Dense, Chain, Scale, SkipConnection
export relu, sigmoid, σ, leakyrelu, elu, softplus, swish, gelu, softmax, logsoftmax
export gradient, withgradient, pullback

include("activations.jl")
include("parameters.jl")
include("layers.jl")
include("losses.jl")

end
