"""
    SparseGroup(; sparsity = 1, grouping = 1)(weight, groups)

The sparse-group lasso, `sparsity * Σ|w| + grouping * Σ √(size of g) ‖w_g‖`, a number. `weight` has size `(features, units)`,
`groups` says of each feature to which group it belongs, by any whole numbers. The first part puts single weights to zero,
the second all weights of a group at once. Simon, Friedman, Hastie and Tibshirani 2013, J. Comput. Graph. Stat. 22.
"""
mutable struct SparseGroup <: CustomFunction
    sparsity
    grouping
    weight
    rows         # of weight, for each group
    norms
    SparseGroup(; sparsity = 1, grouping = 1) = new(sparsity, grouping)
end

function PyBridge.forward(f::SparseGroup, weight::AbstractVecOrMat{T}, groups) where {T}
    expect_size("SparseGroup", "groups", groups, (size(weight, 1),))
    f.weight = weight
    f.rows = [findall(==(g), groups) for g in unique(groups)]
    f.norms = [group_norm(weight, rows) for rows in f.rows]
    grouped = sum(group_factor(T, rows, weight) * norm for (rows, norm) in zip(f.rows, f.norms))
    return T(f.sparsity) * sum(abs, weight) + T(f.grouping) * grouped
end

PyBridge.outputspec(::SparseGroup, weight, groups) = ((1,), eltype(weight))

group_factor(::Type{T}, rows, weight) where {T} = sqrt(T(length(rows) * size(weight, 2)))

"The Euclidean norm, scaled so that squares neither overflow nor vanish."
function group_norm(weight, rows)
    w = view(weight, rows, :)
    largest = maximum(abs, w)
    iszero(largest) && return largest
    return largest * sqrt(sum(x -> (x / largest)^2, w))
end

function PyBridge.backward(f::SparseGroup, Δ)
    δ = first(Δ)
    T = typeof(δ)
    ∂ = (δ * T(f.sparsity)) .* sign.(f.weight)
    for (rows, norm) in zip(f.rows, f.norms)
        iszero(norm) && continue      # where all are zero, zero is a subgradient
        view(∂, rows, :) .+= (δ * T(f.grouping) * group_factor(T, rows, f.weight) / norm) .* view(f.weight, rows, :)
    end
    return ∂, nothing
end
