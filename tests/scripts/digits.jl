# A perceptron with one hidden layer on the handwritten digits, in batches, by stochastic gradient descent.
# julia digits.jl FILE: FILE holds `data` (8×8 pixels a picture, one picture a column) and `label`.
using MXNet
using Printf

length(ARGS) == 1 || (println(stderr, "usage: digits.jl FILE"); exit(2))

const n_hidden = 64
const batch_size = 100

d = mx.load(ARGS[1], mx.NDArray)
data, label = d[:data], d[:label]
n = size(data, 2)

mx.seed!(42)
glorot(out, in) = mx.rand(out, in, low = -sqrt(6 / (in + out)), high = sqrt(6 / (in + out)))
W₁, b₁ = glorot(n_hidden, 64), mx.zeros(n_hidden)
W₂, b₂ = glorot(10, n_hidden), mx.zeros(10)
params = [W₁, b₁, W₂, b₂]
grads = map(mx.attach_grad!, params)

function logits(x)
    h = mx.relu.(W₁ * x .+ b₁)
    W₂ * h .+ b₂
end

onehot(l) = mx.NDArray(Float32[l[i] == k for k in 0:9, i in 1:length(l)])

function loss(z, y)
    p = mx.log_softmax(z, 1)
    -sum(p .* y) / size(y, 2)
end

function accuracy(x, l)
    z = copy(logits(x))
    hits = count(i -> argmax(z[:, i]) - 1 == l[i], 1:length(l))
    return hits / length(l)
end

labels = Int.(copy(label))
for epoch in 1:15
    total = 0.0
    for first_column in 1:batch_size:n
        columns = first_column:min(first_column + batch_size - 1, n)
        x = mx.slice(data, columns)
        y = onehot(labels[columns])
        l = mx.record() do
            loss(logits(x), y)
        end
        mx.backward!(l)
        for (p, g) in zip(params, grads)
            p .-= 0.5 .* g
        end
        total += copy(l)[1]
    end
    epoch % 5 == 0 && @printf("epoch %2d: loss %.3f\n", epoch, total)
end

acc = accuracy(data, labels)
@printf("accuracy %.3f\n", acc)
exit(acc > 0.95 ? 0 : 1)
