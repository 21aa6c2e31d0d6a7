# One call: natively where nothing is active, by its rule where there is one, otherwise by looking into its code.

"What rules learn of the AD system that calls them."
struct ZygoteRuleConfig <: RuleConfig{Union{HasReverseMode,NoForwardsMode}} end

function call(tape, @nospecialize(f), @nospecialize(xs...))
    f isa Active || any(x -> x isa Active, xs) || return f(xs...)
    g = value(f)
    is_keyword_call(g, xs) && return keyword_call(tape, g, xs...)
    g isa Core.Builtin && return builtin(tape, g, xs...)
    by_rule = rule_call(tape, f, xs, NamedTuple())
    return by_rule === nothing ? interpret(tape, f, xs) : something(by_rule)
end

# `f(x; kw...)` is lowered to `Core.kwfunc(f)(kw, f, x)`, and since Julia 1.9 to `Core.kwcall(kw, f, x)`.
const KWCALL = isdefined(Core, :kwcall) ? Core.kwcall : nothing
is_keyword_call(@nospecialize(g), @nospecialize(xs)) = length(xs) >= 2 && value(xs[1]) isa NamedTuple &&
    (KWCALL === nothing ? g === Core.kwfunc(value(xs[2])) : g === KWCALL)

function keyword_call(tape, @nospecialize(g), @nospecialize(keywords), @nospecialize(f), @nospecialize(xs...))
    by_rule = rule_call(tape, f, xs, value(keywords))
    return by_rule === nothing ? interpret(tape, g, (keywords, f, xs...)) : something(by_rule)
end

"`Some` of the result if there is a rule, `nothing` if there is none."
function rule_call(tape, @nospecialize(f), @nospecialize(xs), @nospecialize(keywords))
    ruled = rrule(ZygoteRuleConfig(), value(f), map(value, xs)...; keywords...)
    ruled === nothing && return nothing
    y, pullback = ruled
    back(Δ) = map(fromtangent, pullback(totangent(Δ, y)))
    return Some(record!(tape, y, (f, xs...), back))
end

builtin(tape, f, xs...) = f in CONSTANT ? f(map(value, xs)...) : error(
    "Zygote: no gradient of the builtin $f; write an rrule for the function that calls it")

const CONSTANT = (
    isa, ===, <:, typeof, isdefined, nfields, sizeof, fieldtype, throw, Core.apply_type, Core.svec, Core.arraysize,
)

function builtin(tape, ::typeof(getfield), x, field, options...)
    v, name = value(x), value(field)
    return record!(tape, getfield(v, name), (x,), Δ -> (only_field(v, name, Δ),))
end

builtin(tape, ::typeof(tuple), xs...) =
    record!(tape, map(value, xs), xs, Δ -> Δ isa Tuple ? Δ : map(_ -> nothing, xs))

builtin(tape, ::typeof(typeassert), x, T) = (typeassert(value(x), value(T)); x)
builtin(tape, ::typeof(ifelse), condition, x, y) = value(condition) ? x : y

builtin(tape, ::typeof(Core._apply_iterate), iterate, f, containers...) =
    call(tape, f, (x for c in containers for x in elements(tape, c))...)

elements(tape, c) = c
function elements(tape, c::Active)
    c.value isa Union{Tuple,NamedTuple} && return (builtin(tape, getfield, c, i) for i in 1:length(c.value))
    return (call(tape, getindex, c, i) for i in 1:length(c.value))
end

const MUTATION = "Mutating arrays is not supported"
builtin(tape, ::typeof(setfield!), x, field, y) = value(x) isa Core.Box ? setfield!(x, field, y) :
    error("Zygote: setting fields of structs is not supported by this stand-in")
builtin(tape, ::typeof(Core.arrayset), xs...) = error(MUTATION)
builtin(tape, ::typeof(Core.arrayref), check, a, i...) = call(tape, getindex, a, i...)
for f in (:setindex!, :push!, :copyto!, :fill!)
    @eval ChainRulesCore.rrule(::ZygoteRuleConfig, ::typeof($f), ::AbstractArray, ::Any...) = error(MUTATION)
end
ChainRulesCore.rrule(::ZygoteRuleConfig, ::typeof(Base.materialize!), ::Any...) = error(MUTATION)
