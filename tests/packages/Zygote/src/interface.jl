"""
    pullback(f, args...) -> (y, back)

The value `f(args...)` and a function for which `back(Δ)` is a tuple with one gradient for each of `args`, given that of `y`:
a number or array for numbers and arrays, a tuple for a tuple, a named tuple of its fields for a struct. `nothing` means that
there is none, or that it is zero.
"""
function pullback(f, args...)
    y, back = _pullback(f, args...)
    return y, Δ -> Base.tail(back(Δ))
end

"`pullback`, with the gradient of `f` itself (for a closure, of what it has captured) in front."
function _pullback(@nospecialize(f), @nospecialize(args...))
    tape = Tape()
    inputs = map(x -> differentiable(x) ? Active(x) : x, (f, args...))
    y = call(tape, inputs...)
    return value(y), Δ -> map(fromtangent, backward(tape, y, Δ, inputs))
end

"""
    gradient(f, args...)

A tuple with the gradient of the number `f(args...)` for each of `args`: see [`pullback`](@ref).
"""
function gradient(f, args...)
    y, back = pullback(f, args...)
    return map(project, args, back(sensitivity(y)))
end

"""
    withgradient(f, args...)

`(val = f(args...), grad = gradient(f, args...))`. If `f` returns a tuple or named tuple, the gradient is that of its first
element.
"""
function withgradient(f, args...)
    y, back = pullback(f, args...)
    Δ = y isa Union{Tuple,NamedTuple} ? only_field(y, first(keys(y)), sensitivity(first(y))) : sensitivity(y)
    return (val = y, grad = map(project, args, back(Δ)))
end

sensitivity(y::Real) = one(y)
sensitivity(y::Complex) = error("Output is complex, so the gradient is not defined.")
sensitivity(::Nothing) = error("Output is nothing, so the gradient is not defined.")
sensitivity(y) = error("Output should be scalar; gradients are not defined for output $(repr(y))")

project(x, Δ) = Δ === nothing || !(x isa Union{Number,AbstractArray{<:Number}}) ? Δ : fromtangent(ProjectTo(x)(Δ))

function ChainRulesCore.rrule_via_ad(::ZygoteRuleConfig, f, args...)
    y, back = _pullback(f, args...)
    return y, Δ -> map(totangent, back(fromtangent(Δ)), (f, args...))
end

"""
    ignore(f)

`f()`, of which no derivative is taken.
"""
ignore(f) = ignore_derivatives(f)
