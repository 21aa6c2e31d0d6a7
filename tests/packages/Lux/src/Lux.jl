"""
A small stand-in for the registered package Lux, for tests: layers without parameters of their own, whose parameters and
states are named tuples that go in and out of each call, following its published documentation, written anew.
"""
module Lux

using Random, Statistics

export Dense, Chain, BatchNorm, Dropout, WrappedFunction, NoOpLayer
export AbstractLuxLayer, initialparameters, initialstates, parameterlength, statelength

include("interface.jl")
include("layers.jl")
include("stateful.jl")

end
