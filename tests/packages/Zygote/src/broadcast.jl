# Broadcasts are computed at once, element by element, with one pullback for each element.

ChainRulesCore.rrule(::ZygoteRuleConfig, ::typeof(materialize), x) = (x, Δ -> (NoTangent(), Δ))

function ChainRulesCore.rrule(config::ZygoteRuleConfig, ::typeof(broadcasted), f, xs...)
    y = broadcast(f, xs...)
    y isa AbstractArray || return scalar_broadcast(config, f, xs...)
    backs = broadcast((v...) -> rrule_via_ad(config, f, v...)[2], xs...)
    function broadcast_pullback(Δ)
        parts = broadcast((back, δ) -> map(unthunk, back(δ)), backs, unthunk(Δ))
        Δf = isempty(parts) || !differentiable(f) ? NoTangent() : reduce(+, map(first, parts))
        Δxs = ntuple(k -> unbroadcast(xs[k], parts, k + 1), length(xs))
        return NoTangent(), Δf, Δxs...
    end
    return y, broadcast_pullback
end

function scalar_broadcast(config, f, xs...)
    y, back = rrule_via_ad(config, f, map(x -> x isa Ref ? x[] : x, xs)...)
    return y, Δ -> (NoTangent(), back(unthunk(Δ))...)
end

"The gradient of an argument: the sum over the dimensions along which it was repeated."
unbroadcast(x, parts, k) = NoTangent()
unbroadcast(x::Bool, parts, k) = NoTangent()
unbroadcast(x::Number, parts, k) = ProjectTo(x)(sum(known(p[k]) for p in parts))
unbroadcast(x::Ref, parts, k) = isempty(parts) ? NoTangent() : Tangent{typeof(x)}(x = reduce(+, map(p -> p[k], parts)))
unbroadcast(x::AbstractArray{Bool}, parts, k) = NoTangent()
function unbroadcast(x::AbstractArray{<:Number}, parts, k)
    isempty(parts) && return zero(float.(x))
    repeated = filter(d -> size(x, d) == 1, ntuple(identity, ndims(parts)))
    return ProjectTo(x)(sum(map(p -> known(p[k]), parts); dims = repeated))
end
known(Δ) = Δ
known(::AbstractZero) = false
