"""
    PyBridge

The Julia side of the Python package `pybridge`: differentiable functions written in Julia, as nodes of MXNet's
autograd graph. Subtype [`CustomFunction`](@ref), define `PyBridge.forward` and `PyBridge.backward`, and call it from
Python with `pb.function("MyFunction")`.
"""
module PyBridge

using PythonCall
import Random

# writing a function
export CustomFunction

# calling it on NDArrays from Julia
export @registerfunc

# asking for the mode
export is_training

include("block.jl")     # the memory that C, Python and Julia all see
include("links.jl")     # the C functions called from here
include("errors.jl")    # exceptions on their way to Python
include("views.jl")     # Julia arrays over libmxnet's memory, and the reverse
include("custom.jl")    # CustomFunction and its protocol
include("prepared.jl")  # what pb.function made ready to be called
include("structs.jl")   # structs whose array fields are parameters
include("sources.jl")   # where a gradient comes from: backward, pullback, rrule, an AD module
include("outputs.jl")   # results of a forward, into the block
include("nodes.jl")     # live nodes of the graph, and their backward
include("inference.jl") # shapes and types of what has not been computed yet
include("operators.jl") # functions as operators of symbolic graphs
include("entries.jl")   # what Python calls
include("mx/mx.jl")     # MXNet.jl's imperative API
include("registered.jl") # custom functions called from Julia code

end
