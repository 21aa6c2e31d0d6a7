# The Julia package's own tests. `Pkg.test` runs them where a registered PythonCall is; tests/test_julia_package.py runs
# them in the bridge's process, where libmxnet is at hand too (`LINKED`). Arguments name the files to run, instead of all.

using Test

include("common.jl")

# the files that need nothing but Julia, and those that need libmxnet
const PLAIN = (
    "block.jl", "views.jl", "readonly.jl", "protocol.jl", "prepared.jl", "results.jl", "inplace.jl", "gradients.jl",
    "docstrings.jl",
)
const BRIDGED = (
    "graph.jl", "mx_context.jl", "mx_construction.jl", "mx_indexing.jl", "mx_shape.jl", "mx_arithmetic.jl", "mx_broadcast.jl",
    "mx_functions.jl", "mx_memory.jl", "mx_names.jl",
    "mx_operators.jl", "mx_random.jl", "mx_features.jl", "mx_symbolic.jl", "mx_autograd.jl", "mx_custom.jl",
)

@testset "PyBridge" begin
    for file in (isempty(ARGS) ? (PLAIN..., BRIDGED...) : ARGS)
        if file in BRIDGED && !LINKED
            @info "$file needs libmxnet: tests/test_julia_package.py runs it"
        else
            @testset "$file" begin
                include(file)
            end
        end
    end
end
