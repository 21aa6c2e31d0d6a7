# A dozen layers and losses that MXNet lacks, as nodes of its autograd graph: read them, take them, change them.
#
# Inputs come first, learnable parameters after them; `backward` returns gradients in the same order. Python's
# (batch, features) is (features, batch) here, over the same memory: a column is a sample. Parameters are read the same
# way, so sizes in the docstrings are Julia's. Everything computes in the element type of its input.

module ExampleLayers

using PyBridge

include("layers/shapes.jl")
include("layers/activations.jl")
include("layers/pade.jl")
include("layers/normalisation.jl")
include("layers/radial.jl")
include("layers/spline.jl")
include("layers/quantiles.jl")
include("layers/crf.jl")
include("layers/alignment.jl")
include("layers/dynamics.jl")
include("layers/penalties.jl")

end
