"""
    RBF(; units)(x, centres, widths)

Gaussian radial basis functions: `exp(-‖x - cₖ‖² / 2wₖ²)` for each of the `centres`, which have size `(features, units)`, with
`widths` of size `(units,)`, none of them zero. The result has size `(units, batch)`.
Broomhead and Lowe 1988, "Multivariable functional interpolation and adaptive networks", Complex Systems 2.
"""
mutable struct RBF <: CustomFunction
    units
    x
    centres
    widths
    distances    # squared, of size (units, batch)
    y
    RBF(; units = 16) = new(units)
end

function PyBridge.forward(f::RBF, x::AbstractMatrix, centres, widths)
    expect_size("RBF", "centres", centres, (size(x, 1), length(widths)))
    any(iszero, widths) && throw(DomainError(0, "RBF: width $(findfirst(iszero, widths)) is zero"))
    f.x, f.centres, f.widths = x, centres, widths
    f.distances = squared_distances(x, centres)
    return f.y = exp.(.-f.distances ./ (2 .* widths .^ 2))
end

PyBridge.outputspec(::RBF, x, centres, widths) = ((length(widths), size(x, 2)), eltype(x))

"Summed up from differences: ‖x‖² - 2x⋅c + ‖c‖² would lose the digits of near ones."
function squared_distances(x, c)
    d = similar(x, size(c, 2), size(x, 2))
    @inbounds for j in axes(x, 2), k in axes(c, 2)
        s = zero(eltype(x))
        @simd for i in axes(x, 1)
            s += (x[i, j] - c[i, k])^2
        end
        d[k, j] = s
    end
    return d
end

function PyBridge.backward(f::RBF, Δ)
    pull = Δ .* f.y ./ f.widths .^ 2
    ∂x = f.centres * pull .- f.x .* sum(pull; dims = 1)
    ∂centres = f.x * pull' .- f.centres .* sum(pull; dims = 2)'
    ∂widths = vec(sum(pull .* f.distances; dims = 2)) ./ f.widths
    return ∂x, ∂centres, ∂widths
end

PyBridge.paramshapes(f::RBF, x) = (centres = (x[1], f.units), widths = (f.units,))
