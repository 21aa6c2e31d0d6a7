"""
    rrule([config::RuleConfig], f, xs...; kw...)

Returns `(y, pullback)` if there is a rule for `f` at `xs`, otherwise `nothing`. `pullback(Δy)` returns a tuple with a
tangent for `f` itself and one for each of `xs`; keyword arguments have none.
"""
rrule(::Any, ::Vararg{Any}; kw...) = nothing

"""
    frule([config::RuleConfig], (Δf, Δxs...), f, xs...; kw...)

Returns `(y, Δy)` if there is a rule, otherwise `nothing`.
"""
frule(::Any, ::Any, ::Vararg{Any}; kw...) = nothing

"""
    RuleConfig{features}

The supertype of what an AD system hands to rules, to say what it can do: `RuleConfig{>:HasReverseMode}` in a rule's
signature asks for one that can differentiate in reverse.
"""
abstract type RuleConfig{T} end

abstract type ReverseModeCapability end
abstract type ForwardsModeCapability end
"The AD system has a reverse mode, [`rrule_via_ad`](@ref)."
struct HasReverseMode <: ReverseModeCapability end
"The AD system has no reverse mode."
struct NoReverseMode <: ReverseModeCapability end
"The AD system has a forward mode, [`frule_via_ad`](@ref)."
struct HasForwardsMode <: ForwardsModeCapability end
"The AD system has no forward mode."
struct NoForwardsMode <: ForwardsModeCapability end

# Rules that do not ask who calls are found with a configuration, too.
rrule(::RuleConfig, f, xs...; kw...) = rrule(f, xs...; kw...)
frule(::RuleConfig, Δs, f, xs...; kw...) = frule(Δs, f, xs...; kw...)

"`rrule_via_ad(config, f, xs...)` has the AD system of `config` do what an `rrule` does."
function rrule_via_ad end
"`frule_via_ad(config, Δs, f, xs...)` has the AD system of `config` do what an `frule` does."
function frule_via_ad end

"""
    ignore_derivatives(f)
    ignore_derivatives(x)

`f()`, or `x` itself, of which no derivative is taken.
"""
ignore_derivatives(f::Base.Callable) = f()
ignore_derivatives(x) = x

rrule(::typeof(ignore_derivatives), x) = (ignore_derivatives(x), Δ -> (NoTangent(), NoTangent()))
