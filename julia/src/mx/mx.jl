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

include("libmxnet.jl")  # calls of libmxnet's C functions
include("type.jl")      # NDArray: one handle on an array of libmxnet
include("invoke.jl")    # one imperative call of an operator
include("autograd.jl")  # attach_grad!, record, backward!
include("custom.jl")    # functions written in Julia as nodes of the graph
include("crossing.jl")  # one array in two languages

end
