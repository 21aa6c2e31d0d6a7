function sigmoid(x)
    t = exp(-abs(x))
    return ifelse(x >= 0, inv(1 + t), t / (1 + t))
end
const σ = sigmoid
relu(x) = ifelse(x < 0, zero(x), x)
leakyrelu(x, a = oftype(x / 1, 0.01)) = max(a * x, x / 1)
elu(x, α = 1) = ifelse(x >= 0, x / 1, α * expm1(min(x, zero(x))))
softplus(x) = log1p(exp(-abs(x))) + relu(x)
swish(x) = x * sigmoid(x)
gelu(x) = x / 2 * (1 + tanh(oftype(x / 1, 0.7978845608028654) * (x + oftype(x / 1, 0.044715) * x^3)))

@scalar_rule sigmoid(x) Ω * (1 - Ω)
@scalar_rule relu(x::Real) x > 0
@scalar_rule softplus(x) sigmoid(x)

softmax(x; dims = 1) = exp.(logsoftmax(x; dims = dims))
function logsoftmax(x; dims = 1)
    shifted = x .- maximum(x; dims = dims)
    return shifted .- log.(sum(exp.(shifted); dims = dims))
end
