# How to go through what a model is made of.

"""
    functor(x) -> (children, rebuild)

The fields of a layer as a named tuple, and a function that makes such a layer of others. A leaf has none.
"""
functor(x) = ((), _ -> x)
functor(x::Tuple) = (x, identity)
functor(x::NamedTuple) = (x, identity)

isleaf(x) = isempty(first(functor(x)))

"""
    Flux.@layer T

Say that `T` is a layer, into which [`fmap`](@ref), [`trainables`](@ref) and [`destructure`](@ref) look.
`trainable=(names,)` says which fields are trained; all of them otherwise.
"""
macro layer(T, option = nothing)
    names = Meta.isexpr(option, :(=)) && option.args[1] === :trainable ? option.args[2] : nothing
    list = Meta.isexpr(names, :tuple) ? Tuple(names.args) : (names,)
    F, type = GlobalRef(@__MODULE__, :functor), esc(T)
    limits = names === nothing ? nothing :
        :($(GlobalRef(@__MODULE__, :trainable))(x::$type) = NamedTuple{$list}(map(n -> getfield(x, n), $list)))
    return quote
        $F(x::$type) = (fields(x), y -> $type((y[n] for n in fieldnames(typeof(x)))...))
        $limits
        nothing
    end
end

fields(x::T) where {T} = NamedTuple{fieldnames(T)}(ntuple(i -> getfield(x, i), fieldcount(T)))

"""
    trainable(layer)

A named tuple of those fields of a layer that are trained.
"""
trainable(x) = first(functor(x))

"""
    trainables(model)

The arrays of numbers that are trained, in order, each once.
"""
function trainables(model)
    found = AbstractArray[]
    visit(x) = x isa AbstractArray{<:Number} ? any(y -> y === x, found) || push!(found, x) : foreach(visit, trainable(x))
    visit(model)
    return found
end

"""
    fmap(f, model)

A model of the same structure with `f(leaf)` for each leaf. What is shared stays shared.
"""
function fmap(f, x, seen = IdDict())
    isleaf(x) && return x isa AbstractArray ? get!(() -> f(x), seen, x) : f(x)
    children, rebuild = functor(x)
    return rebuild(map(child -> fmap(f, child, seen), children))
end

"""
    destructure(model) -> (vector, rebuild)

All trained arrays in one vector, and a function that makes a model of another such vector.
"""
function destructure(model)
    arrays = trainables(model)
    flat = isempty(arrays) ? Float32[] : reduce(vcat, map(vec, arrays))
    function rebuild(v)
        length(v) == length(flat) || throw(DimensionMismatch("expected a vector of length $(length(flat))"))
        ends = cumsum(map(length, arrays))
        piece(i) = reshape(v[ends[i]-length(arrays[i])+1:ends[i]], size(arrays[i]))
        return fmap(x -> (i = findfirst(y -> y === x, arrays); i === nothing ? x : piece(i)), model)
    end
    return flat, rebuild
end

"""
    glorot_uniform([rng], sizes...)

Float32 numbers, uniform within ±√(6 / (inputs + outputs)) (Glorot and Bengio 2010).
"""
glorot_uniform(rng::AbstractRNG, sizes::Integer...) =
    (rand(rng, Float32, sizes...) .- 0.5f0) .* sqrt(24f0 / sum(sizes[1:min(2, end)]))
glorot_uniform(sizes::Integer...) = glorot_uniform(Random.GLOBAL_RNG, sizes...)
@non_differentiable glorot_uniform(::Any...)
