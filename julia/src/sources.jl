# Where the gradient of a call comes from: the function's own `backward`, or its pullback; else a ChainRules `rrule`; else
# the AD module that the user gave. The packages are the user's: here their public protocols are spoken, and no more.

"The module ChainRulesCore, if anybody has loaded it."
function chainrules()
    CHAINRULES[] === nothing || return CHAINRULES[]
    for m in Base.loaded_modules_array()
        nameof(m) === :ChainRulesCore && isdefined(m, :rrule) && (CHAINRULES[] = m)
    end
    return CHAINRULES[]
end

const CHAINRULES = Ref{Any}(nothing)

"Has ChainRulesCore an `rrule` for `f`, other than the one for everything, which says that there is none?"
function _has_rule(f)
    rules = chainrules()
    rules === nothing && return false
    found = methods(rules.rrule, Tuple{f isa Type ? Type{f} : typeof(f),Vararg{Any}})
    return any(m -> Base.unwrap_unionall(m.sig).parameters[2] !== Any, collect(found))
end

"A custom function without a `backward`, as a function of the arguments of its `forward`."
struct Forward
    f::Any
end
(c::Forward)(xs...) = forward(c.f, xs...)

"A struct as a function of its inputs and, after them, of its array fields."
struct OfFields
    layer::Any
    paths::Vector{Vector{Symbol}}
end

function _split(c::OfFields, arguments)
    n = length(arguments) - length(c.paths)
    return rebuilt(c.layer, c.paths, collect(Any, arguments[n+1:end])), arguments[1:n]
end

"What is called for one call of the prepared function: an instance with a `backward`, or something without."
function begin_call(p::Prepared, target, keywords, arguments)
    (p.pullback || target isa CustomFunction) && return target
    if target isa Type && target <: CustomFunction
        f = isempty(keywords) ? Base.invokelatest(p.make) : Base.invokelatest(target; keywords...)
        return _has_backward(f) || p.ad === nothing && chainrules() === nothing ? f : Forward(f)
    end
    return isempty(p.fields) ? target : OfFields(target, p.fields)
end

"What a backward is asked of, when that is no `CustomFunction`."
struct Pullback
    kind::Symbol        # :own, :rrule, :ad
    back::Any
    result::Any         # the type of what the function returned
    fields::Vector{Vector{Symbol}}
end

"Run the call; returns its value, and what its backward needs (`nothing` if none is `wanted`)."
function run_call(p::Prepared, call::CustomFunction, arguments, keywords, wanted::Bool)
    return Base.invokelatest(forward, call, arguments...), call
end

function run_call(p::Prepared, call, arguments, keywords, wanted::Bool)
    if p.pullback
        made = Base.invokelatest(call, arguments...; keywords...)
        made isa Tuple{Any,Any} ||
            _type_error(p.name, ": with pullback=True a function returns (y, back); this one returned a ", typeof(made))
        return made[1], Pullback(:own, made[2], Nothing, p.fields)
    end
    f, xs = call isa OfFields ? _split(call, arguments) : (call, arguments)
    wanted || return Base.invokelatest(f, xs...; _keywords_of(call, keywords)...), nothing
    y, kind, back = _pulled_back(p, call, f, xs, _keywords_of(call, keywords))
    return y, Pullback(kind, back, typeof(y), p.fields)
end

_keywords_of(call, keywords) = call isa Forward ? NamedTuple() : keywords

function _pulled_back(p::Prepared, call, f, xs, keywords)
    rules = chainrules()
    if rules !== nothing
        rule = call isa Forward ? Base.invokelatest(rules.rrule, forward, f.f, xs...) :
            Base.invokelatest(rules.rrule, f, xs...; keywords...)
        # The first tangents are of what is no argument: the function, and of a custom one the instance.
        rule === nothing || return rule[1], :rrule, call isa Forward ? Δ -> Base.tail(rule[2](Δ)) : rule[2]
    end
    ad = resolve_ad(p)
    ad === nothing && _no_gradient(p, f)
    # The function itself is an argument here, so that its own fields get tangents, too.
    y, back = Base.invokelatest(ad.pullback, (f, xs...) -> f(xs...; keywords...), f, xs...)
    return y, :ad, back
end

resolve_ad(p::Prepared) = p.ad isa Path ? _lookup(p.ad.parts, string(p.name, ": ad")) : p.ad

function _no_gradient(p::Prepared, target)
    kind = target isa Forward ? typeof(target.f) : target isa Type ? target : typeof(target)
    own = kind <: CustomFunction ? string("PyBridge.backward has no method for ", kind) :
        string("it is no subtype of PyBridge.CustomFunction but a ", target isa Type ? typeof(target) : kind)
    rule = chainrules() === nothing ? "no package has loaded ChainRulesCore, so there is no rrule" :
        "ChainRulesCore has no rrule for it (with these arguments)"
    hint = target isa Function ? ". A function that returns (y, back) needs pullback=True" : ""
    _type_error(p.name, ": nothing says what its gradient is: ", own, "; ", rule, "; no AD module was given (ad=pb.jl.Zygote)", hint)
end

"The gradients of the `n` arguments of the call, given those of its results."
function (p::Pullback)(deltas, n::Int)
    p.kind === :own && return Base.invokelatest(p.back, deltas...)
    tangents = Base.invokelatest(p.back, _cotangent(p, deltas))
    tangents === nothing && return ntuple(_ -> nothing, n)
    of_inputs = map(plain_tangent, Base.tail(Tuple(tangents)))
    return (of_inputs..., map(path -> _tangent_at(tangents[1], path), p.fields)...)
end

function _cotangent(p::Pullback, deltas)
    p.result <: Tuple || return _like(p.result, deltas[1])
    parts = ntuple(i -> _like(fieldtype(p.result, i), deltas[i]), length(deltas))
    return p.kind === :rrule ? chainrules().Tangent{p.result}(parts...) : parts
end

_like(T, Δ) = T <: Number ? first(Δ) : Δ

"""
    plain_tangent(t)

A tangent in the words of Base: an array or number, `nothing` for zero, a tuple or named tuple for that of a struct.
"""
function plain_tangent(t)
    t isa Union{Nothing,AbstractArray,Number,Tuple,NamedTuple} && return t
    t isa Base.RefValue && return plain_tangent(t[])   # Zygote's, of a mutable struct
    rules = chainrules()
    if rules !== nothing
        t isa rules.AbstractThunk && return plain_tangent(Base.invokelatest(rules.unthunk, t))
        t isa rules.AbstractZero && return nothing
        t isa rules.Tangent && return rules.backing(rules.canonicalize(t))
    end
    return t
end
