# Rules for arrays.

const Numbers = AbstractArray{<:Number}

project_all(xs...) = map(ProjectTo, xs)

function ChainRulesCore.rrule(::typeof(*), a::AbstractVecOrMat{<:Number}, b::AbstractVecOrMat{<:Number})
    pa, pb = project_all(a, b)
    function times_pullback(Δ)
        δ = unthunk(Δ)
        return NoTangent(), @thunk(pa(δ * b')), @thunk(pb(a' * δ))
    end
    return a * b, times_pullback
end

ChainRulesCore.rrule(::typeof(*), a::Number, b::Numbers) =
    (a * b, Δ -> (NoTangent(), @thunk(dot(b, unthunk(Δ))), @thunk(ProjectTo(b)(a * unthunk(Δ)))))
ChainRulesCore.rrule(::typeof(*), a::Numbers, b::Number) =
    (a * b, Δ -> (NoTangent(), @thunk(ProjectTo(a)(unthunk(Δ) * b)), @thunk(dot(a, unthunk(Δ)))))
ChainRulesCore.rrule(::typeof(/), a::Numbers, b::Number) =
    (a / b, Δ -> (NoTangent(), @thunk(ProjectTo(a)(unthunk(Δ) / b)), @thunk(-dot(a, unthunk(Δ)) / b^2)))

function ChainRulesCore.rrule(::typeof(*), a::AbstractVecOrMat, b::AbstractVecOrMat, c::AbstractVecOrMat)
    ab, back1 = rrule(*, a, b)
    abc, back2 = rrule(*, ab, c)
    function times_pullback(Δ)
        _, Δab, Δc = back2(Δ)
        _, Δa, Δb = back1(Δab)
        return NoTangent(), Δa, Δb, Δc
    end
    return abc, times_pullback
end

ChainRulesCore.rrule(::typeof(+), xs::Numbers...) = (+(xs...), Δ -> (NoTangent(), map(x -> ProjectTo(x)(Δ), xs)...))
ChainRulesCore.rrule(::typeof(-), x::Numbers) = (-x, Δ -> (NoTangent(), ProjectTo(x)(-unthunk(Δ))))
ChainRulesCore.rrule(::typeof(-), x::Numbers, y::Numbers) =
    (x - y, Δ -> (NoTangent(), ProjectTo(x)(Δ), @thunk(ProjectTo(y)(-unthunk(Δ)))))

for f in (:adjoint, :transpose)
    @eval ChainRulesCore.rrule(::typeof($f), x::AbstractVecOrMat{<:Number}) =
        ($f(x), Δ -> (NoTangent(), ProjectTo(x)(collect($f(unthunk(Δ))))))
end
ChainRulesCore.rrule(::typeof(permutedims), x::Numbers, order) =
    (permutedims(x, order), Δ -> (NoTangent(), permutedims(unthunk(Δ), invperm(order)), NoTangent()))
ChainRulesCore.rrule(::typeof(permutedims), x::AbstractMatrix) =
    (permutedims(x), Δ -> (NoTangent(), permutedims(unthunk(Δ))))
ChainRulesCore.rrule(::typeof(reshape), x::Numbers, size...) =
    (reshape(x, size...), Δ -> (NoTangent(), ProjectTo(x)(unthunk(Δ)), map(_ -> NoTangent(), size)...))
for f in (:vec, :copy, :collect)
    @eval ChainRulesCore.rrule(::typeof($f), x::Numbers) = ($f(x), Δ -> (NoTangent(), ProjectTo(x)(unthunk(Δ))))
end
ChainRulesCore.rrule(::typeof(dropdims), x::Numbers; dims) =
    (dropdims(x; dims = dims), Δ -> (NoTangent(), ProjectTo(x)(unthunk(Δ))))

"Δ of a reduction, with the size that was reduced."
spread(x, Δ) = Δ .* fill!(similar(x, Bool), true)

ChainRulesCore.rrule(::typeof(sum), x::Numbers; dims = :) =
    (sum(x; dims = dims), Δ -> (NoTangent(), @thunk(ProjectTo(x)(spread(x, unthunk(Δ))))))
function ChainRulesCore.rrule(config::ZygoteRuleConfig, ::typeof(sum), f, x::Numbers; dims = :)
    mapped, back = rrule(config, broadcasted, f, x)
    function sum_pullback(Δ)
        _, Δf, Δx = back(spread(x, unthunk(Δ)))
        return NoTangent(), Δf, Δx
    end
    return sum(mapped; dims = dims), sum_pullback
end
function ChainRulesCore.rrule(::typeof(mean), x::Numbers; dims = :)
    y = mean(x; dims = dims)
    return y, Δ -> (NoTangent(), @thunk(ProjectTo(x)(spread(x, unthunk(Δ)) ./ (length(x) ÷ length(y)))))
end
for f in (:maximum, :minimum)
    @eval function ChainRulesCore.rrule(::typeof($f), x::Numbers; dims = :)
        y = $f(x; dims = dims)
        # Of equal ones the first has it all.
        chosen = x .== y
        first_only = chosen .& (cumulated(chosen, dims) .== 1)
        return y, Δ -> (NoTangent(), ProjectTo(x)(unthunk(Δ) .* first_only))
    end
end
cumulated(chosen, ::Colon) = reshape(cumsum(vec(chosen)), size(chosen))
cumulated(chosen, dims) = cumsum(chosen; dims = first(dims))
ChainRulesCore.rrule(::typeof(dot), x::Numbers, y::Numbers) =
    (dot(x, y), Δ -> (NoTangent(), ProjectTo(x)(unthunk(Δ) .* y), ProjectTo(y)(unthunk(Δ) .* x)))
ChainRulesCore.rrule(::typeof(norm), x::Numbers) =
    (y = norm(x); (y, Δ -> (NoTangent(), iszero(y) ? zero(x) : ProjectTo(x)(unthunk(Δ) .* x ./ y))))

function ChainRulesCore.rrule(::typeof(getindex), x::AbstractArray, at...)
    function getindex_pullback(Δ)
        δ = unthunk(Δ)
        if eltype(x) <: Number
            g = zero(similar(x, float(eltype(x))))
            # Indices may come twice: what they get adds up.
            for (i, d) in zip(vec(collect(view(LinearIndices(x), at...))), δ)
                g[i] += d
            end
            return NoTangent(), g, map(_ -> NoTangent(), at)...
        end
        g = Array{Any}(nothing, size(x))
        view(g, at...) .= ndims(view(g, at...)) == 0 ? Ref(fromtangent(δ)) : δ
        return NoTangent(), g, map(_ -> NoTangent(), at)...
    end
    return x[at...], getindex_pullback
end

# `for v in x`
function ChainRulesCore.rrule(::ZygoteRuleConfig, ::typeof(iterate), x::Array{<:Number}, state = 1)
    function iterate_pullback(Δ)
        g = zero(float.(x))
        g[state] = fromtangent(Δ) === nothing ? 0 : fromtangent(Δ)[1]
        return NoTangent(), g, NoTangent()
    end
    return iterate(x, state), iterate_pullback
end

for (f, along) in ((:vcat, 1), (:hcat, 2))
    @eval function ChainRulesCore.rrule(::typeof($f), xs::Union{Number,Numbers}...)
        y = $f(xs...)
        function cat_pullback(Δ)
            δ, from = unthunk(Δ), 0
            parts = map(xs) do x
                n = x isa Number ? 1 : size(x, $along)
                at = ntuple(d -> d == $along ? (from+1:from+n) : Colon(), ndims(y))
                from += n
                return x isa Number ? δ[first(view(LinearIndices(δ), at...))] : ProjectTo(x)(δ[at...])
            end
            return NoTangent(), parts...
        end
        return y, cat_pullback
    end
end

function ChainRulesCore.rrule(config::ZygoteRuleConfig, ::typeof(map), f, x::Union{AbstractArray,Tuple}, rest...)
    pairs = map((v...) -> rrule_via_ad(config, f, v...), x, rest...)
    function map_pullback(Δ)
        δ = unthunk(Δ)
        parts = map((p, d) -> p[2](d), pairs, δ isa Tangent ? Tuple(ChainRulesCore.backing(δ)) : δ)
        of(k) = map(p -> unthunk(p[k]), parts)
        collected(k) = x isa Tuple ? Tangent{typeof(x)}(of(k)...) : of(k)
        return NoTangent(), reduce(+, of(1)), (collected(k) for k in 2:length(rest) + 2)...
    end
    return map(first, pairs), map_pullback
end
