"Float32 numbers, uniform within ±√(6 / (inputs + outputs)) (Glorot and Bengio 2010)."
glorot_uniform(rng::AbstractRNG, out::Integer, in::Integer) =
    (rand(rng, Float32, out, in) .- 0.5f0) .* sqrt(24f0 / (out + in))
zeros32(rng::AbstractRNG, sizes...) = zeros(Float32, sizes...)

"""
    Dense(in => out, activation = identity; init_weight, init_bias, use_bias = true)

`activation.(weight * x .+ bias)`. Parameters: `weight` of size `(out, in)` and, with `use_bias`, `bias` of size `(out,)`.
"""
struct Dense{F,W,B} <: AbstractLuxLayer
    activation::F
    in_dims::Int
    out_dims::Int
    init_weight::W
    init_bias::B
    use_bias::Bool
end
Dense((in, out)::Pair{<:Integer,<:Integer}, activation = identity;
      init_weight = glorot_uniform, init_bias = zeros32, use_bias::Bool = true) =
    Dense(activation, Int(in), Int(out), init_weight, init_bias, use_bias)

function initialparameters(rng::AbstractRNG, d::Dense)
    weight = d.init_weight(rng, d.out_dims, d.in_dims)
    return d.use_bias ? (weight = weight, bias = d.init_bias(rng, d.out_dims)) : (weight = weight,)
end

function (d::Dense)(x::AbstractVecOrMat, ps, st::NamedTuple)
    y = ps.weight * x
    return d.activation.(d.use_bias ? y .+ ps.bias : y), st
end

"""
    Chain(layers...)

One layer after the other; functions are wrapped. Parameters and states are `(layer_1 = …, layer_2 = …)`.
"""
struct Chain{L<:NamedTuple} <: AbstractLuxLayer
    layers::L
end
function Chain(layers...)
    names = ntuple(i -> Symbol(:layer_, i), length(layers))
    return Chain(NamedTuple{names}(map(wrapped, layers)))
end
Chain(; layers...) = Chain(map(wrapped, (; layers...)))
wrapped(l::AbstractLuxLayer) = l
wrapped(f) = WrappedFunction(f)

initialparameters(rng::AbstractRNG, c::Chain) = initialparameters(rng, c.layers)
initialstates(rng::AbstractRNG, c::Chain) = initialstates(rng, c.layers)

function (c::Chain)(x, ps, st::NamedTuple{names}) where {names}
    y, states = applied(Tuple(c.layers), x, Tuple(ps), Tuple(st))
    return y, NamedTuple{names}(states)
end
applied(::Tuple{}, x, ::Tuple{}, ::Tuple{}) = (x, ())
function applied(layers, x, ps, st)
    y, state = first(layers)(x, first(ps), first(st))
    z, states = applied(Base.tail(layers), y, Base.tail(ps), Base.tail(st))
    return z, (state, states...)
end
Base.getindex(c::Chain, i) = c.layers[i]
Base.length(c::Chain) = length(c.layers)

"""
    WrappedFunction(f)

`f(x)`, as a layer.
"""
struct WrappedFunction{F} <: AbstractLuxLayer
    func::F
end
(w::WrappedFunction)(x, ps, st::NamedTuple) = (w.func(x), st)

"The input as it is."
struct NoOpLayer <: AbstractLuxLayer end
(::NoOpLayer)(x, ps, st::NamedTuple) = (x, st)
