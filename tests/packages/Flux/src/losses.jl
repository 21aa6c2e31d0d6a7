"Losses, of predictions and targets in this order."
module Losses

using Statistics
using ..Flux: logsoftmax

"`mean((ŷ .- y) .^ 2)`"
mse(ŷ, y) = mean(abs2.(ŷ .- y))
"`mean(abs.(ŷ .- y))`"
mae(ŷ, y) = mean(abs.(ŷ .- y))
"Cross-entropy of one-hot columns `y`, given scores before the softmax."
logitcrossentropy(ŷ, y) = mean(-sum(y .* logsoftmax(ŷ; dims = 1); dims = 1))

end
using .Losses: mse, mae, logitcrossentropy
