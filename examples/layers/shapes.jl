# What the layers ask of their arguments.

"`x` with one column for each sample, whatever dimensions it has."
columns(x) = reshape(x, size(x, 1), :)

"Complain unless the argument `name` of `layer` has this size."
function expect_size(layer, name, x, expected)
    size(x) == expected ||
        throw(DimensionMismatch("$layer: $name has size $(size(x)) in Julia; expected $expected"))
    return nothing
end

"Where to put a gradient that may not be wanted."
place(gradient, like) = gradient === nothing ? similar(like) : gradient

"1 / (1 + exp(-z)), without overflow."
function sigmoid(z)
    t = exp(-abs(z))
    return ifelse(z >= 0, one(t), t) / (1 + t)
end

"log(1 + exp(z)), without overflow."
softplus(z) = max(z, zero(z)) + log1p(exp(-abs(z)))
