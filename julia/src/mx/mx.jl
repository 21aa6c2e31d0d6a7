"""
    PyBridge.mx

MXNet.jl's imperative API (NDArray, operators, random numbers, autograd, custom functions) on the libmxnet that Python has
loaded. Names and behaviour are MXNet.jl's. What can wait or bring callbacks about goes through pybridge's dispatch.
"""
module mx

import ..PyBridge
using ..PyBridge: CustomFunction, DTYPES, dtype_code
using PythonCall: PythonCall, Py, pyconvert
import Libdl
import LinearAlgebra
import Markdown
import Statistics
using LinearAlgebra: adjoint, dot, norm, transpose
using Statistics: mean

include("libmxnet.jl")  # calls of libmxnet's C functions
include("type.jl")      # NDArray: one handle on an array of libmxnet
include("invoke.jl")    # one imperative call of an operator
include("autograd.jl")  # attach_grad!, record, backward!
include("context.jl")   # devices
include("construction.jl") # new arrays
include("copying.jl")   # between arrays, and between Julia and libmxnet
include("indexing.jl")  # elements and slices: views of the same memory
include("shape.jl")     # sizes and orders of dimensions
include("arithmetic.jl") # of arrays of one size, and with numbers
include("inplace.jl")   # x += y into the memory of x
include("elementwise.jl") # functions of one array
include("activation.jl") # sigmoid, relu, softmax
include("broadcast.jl") # dots
include("comparison.jl") # arrays of ones and zeros
include("reduction.jl") # sum, mean, argmax
include("linalg.jl")    # products and norms
include("shared.jl")    # NDArrays as Julia arrays
include("io.jl")        # files of arrays
include("show.jl")      # how arrays are shown
include("operators.jl") # all operators of libmxnet, by name
include("random.jl")    # random arrays
include("features.jl")  # what libmxnet was built with
include("symbolic.jl")  # recorded graphs, to be looked at
include("deprecated.jl") # older names
include("custom.jl")    # functions written in Julia as nodes of the graph
include("crossing.jl")  # one array in two languages

end
