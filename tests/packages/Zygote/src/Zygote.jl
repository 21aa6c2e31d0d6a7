"""
A small stand-in for the registered package Zygote, for tests: the explicit style of its published documentation (`pullback`,
`gradient`, `withgradient`), written anew. Where Zygote transforms code, this interprets it: lowered Julia code is run step by
step, and each call with an `rrule` is a step on a tape. Slow, and right for any struct, closure, loop or branch.
"""
module Zygote

using ChainRulesCore, LinearAlgebra, Statistics
using Base.Broadcast: broadcasted, materialize

export gradient, withgradient, pullback

# Nearly every call has types of its own: specialising for them takes longer than the calls.
Base.Experimental.@optlevel 0

include("tape.jl")
include("calls.jl")
include("lowered.jl")
include("interface.jl")
include("numbers.jl")
include("arrays.jl")
include("broadcast.jl")

end
