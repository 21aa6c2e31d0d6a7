"""
    AbstractLuxLayer

The supertype of layers. A layer `l` has `initialparameters(rng, l)`, `initialstates(rng, l)` and is called as
`y, st = l(x, ps, st)`.
"""
abstract type AbstractLuxLayer end

"""
    initialparameters(rng, layer)

The layer's parameters at the beginning, a named tuple; empty by default.
"""
initialparameters(::AbstractRNG, ::AbstractLuxLayer) = NamedTuple()
initialparameters(rng::AbstractRNG, layers::NamedTuple) = map(l -> initialparameters(rng, l), layers)

"""
    initialstates(rng, layer)

What the layer keeps between calls and is not trained, a named tuple; empty by default.
"""
initialstates(::AbstractRNG, ::AbstractLuxLayer) = NamedTuple()
initialstates(rng::AbstractRNG, layers::NamedTuple) = map(l -> initialstates(rng, l), layers)

"""
    setup(rng, layer) -> (ps, st)

Parameters and states of a layer, and of all layers within.
"""
setup(rng::AbstractRNG, layer) = (initialparameters(rng, layer), initialstates(rng, layer))

"""
    apply(layer, x, ps, st) -> (y, st)

Call the layer.
"""
apply(layer::AbstractLuxLayer, x, ps, st) = layer(x, ps, st)

count_numbers(x::AbstractArray) = length(x)
count_numbers(x::NamedTuple) = isempty(x) ? 0 : sum(map(count_numbers, Tuple(x)))
count_numbers(x) = 1

"How many numbers the parameters of a layer have."
parameterlength(layer) = count_numbers(initialparameters(Random.GLOBAL_RNG, layer))
"How many entries the states of a layer have."
statelength(layer) = count_numbers(initialstates(Random.GLOBAL_RNG, layer))

"""
    testmode(st)
    trainmode(st)

The states with `training` switched off or on in all layers.
"""
testmode(st::NamedTuple) = with_training(st, Val(false))
trainmode(st::NamedTuple) = with_training(st, Val(true))
with_training(x, mode) = x
with_training(st::NamedTuple, mode) =
    NamedTuple{keys(st)}(map(k -> k === :training ? mode : with_training(st[k], mode), keys(st)))
