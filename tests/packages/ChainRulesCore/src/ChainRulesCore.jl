"""
A small stand-in for the registered package ChainRulesCore, for tests: what its published documentation says of `rrule`s and of
the tangents that they return, written anew.
"""
module ChainRulesCore

# rules
export rrule, frule, rrule_via_ad, frule_via_ad
export RuleConfig, HasReverseMode, NoReverseMode, HasForwardsMode, NoForwardsMode
export @scalar_rule, @non_differentiable, ignore_derivatives
# tangents
export AbstractTangent, AbstractZero, ZeroTangent, NoTangent, Tangent
export AbstractThunk, Thunk, InplaceableThunk, @thunk, @not_implemented
# operations on them
export unthunk, canonicalize, ProjectTo, add!!

"""
    AbstractTangent

The supertype of the tangents that are neither numbers nor arrays.
"""
abstract type AbstractTangent end
Base.broadcastable(t::AbstractTangent) = Ref(t)

include("zeros.jl")
include("thunks.jl")
include("structures.jl")
include("missing_rules.jl")
include("arithmetic.jl")
include("projection.jl")
include("rules.jl")
include("macros.jl")

end
