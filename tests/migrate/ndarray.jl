#% elements_of_a_literal
x = mx.NDArray([1 2 3; 4 5 6])
println(size(x), " ", size(x, 1), " ", size(x, 2), " ", ndims(x), " ", length(x))
show_(x)
#% literal_of_floats
show_(mx.NDArray(Float32[1 2; 3 4]))
#% literal_of_a_vector
show_(mx.NDArray([1, 2, 3]))
#% from_an_array
a = [1.5 2.5; 3.5 4.5]
show_(mx.NDArray(a))
#% from_an_array_with_a_type
a = [1 2; 3 4]
show_(mx.NDArray(Float32, a))
#% zeros_and_ones
show_(mx.zeros(2, 3))
show_(mx.ones(3, 2))
show_(mx.zeros((4, 1)))
println(size(mx.zeros(2, 3, 4)))
#% like_another
x = mx.ones(2, 3)
show_(mx.zeros(x))
show_(mx.ones_like(x))
println(size(mx.zeros(size(x))))
#% filled
show_(mx.fill(7, 2, 3))
#% arithmetic_with_numbers
x = mx.NDArray(Float32[1 2; 3 4])
show_(2x)
show_(x .+ 1)
show_(1 .- x)
show_(x / 2)
show_(-x)
#% elementwise_of_two
x = mx.NDArray(Float32[1 2; 3 4])
y = mx.NDArray(Float32[5 6; 7 8])
show_(x + y)
show_(x .* y)
show_(y ./ x)
show_(x .- y)
show_(x .^ 2)
show_(2 .^ x)
#% matrix_product
x = mx.NDArray(Float32[1 2 3; 4 5 6])
y = mx.NDArray(Float32[1 0; 0 1; 2 2])
show_(x * y)
show_(y * x)
println(size(x * y), " ", size(y * x))
#% matrix_times_vector
x = mx.NDArray(Float32[1 2 3; 4 5 6])
v = mx.NDArray(Float32[1, 0, 2])
show_(x * v)
#% broadcast_over_columns
x = mx.NDArray(Float32[1 2 3; 4 5 6])
b = mx.NDArray(Float32[10, 20])
show_(x .+ b)
#% broadcast_over_rows
x = mx.NDArray(Float32[1 2 3; 4 5 6])
r = mx.NDArray(Float32[10 20 30])
show_(x .* r)
#% transposed
x = mx.NDArray(Float32[1 2 3; 4 5 6])
show_(x')
println(size(x'))
v = mx.NDArray(Float32[1, 2, 3])
println(size(v'))
#% reductions_over_one_dimension
x = mx.NDArray(Float32[1 2 3; 4 5 6])
show_(sum(x, dims=1))
show_(sum(x, dims=2))
show_(maximum(x, dims=1))
show_(minimum(x, dims=2))
println(size(sum(x, dims=1)), " ", size(sum(x, dims=2)))
#% means_over_one_dimension
using Statistics
x = mx.NDArray(Float32[1 2 3; 4 5 6])
show_(mean(x, dims=1))
show_(mean(x, dims=2))
#% reductions_over_two_dimensions
x = mx.NDArray(reshape(collect(1.0:24.0), 2, 3, 4))
show_(sum(x, dims=(1, 3)))
println(size(sum(x, dims=(1, 2))))
#% reduction_over_a_dimension_in_a_variable
x = mx.NDArray(Float32[1 2 3; 4 5 6])
for d in 1:2
  show_(sum(x, dims=d))
end
#% reshaped
x = mx.NDArray([1 2 3; 4 5 6])
show_(reshape(x, 3, 2))
println(size(reshape(x, 3, 2)), " ", size(reshape(x, (6,))), " ", size(reshape(x, 1, :)))
#% reshaped_like_another
x = mx.NDArray([1 2 3; 4 5 6])
y = mx.zeros(3, 2)
show_(reshape(x, size(y)))
#% permuted
x = mx.NDArray(reshape(collect(1:24), 2, 3, 4))
show_(permutedims(x, (3, 1, 2)))
println(size(permutedims(x, [2, 3, 1])))
#% one_more_dimension
x = mx.NDArray([1 2 3; 4 5 6])
println(size(mx.expand_dims(x, 1)), " ", size(mx.expand_dims(x, 2)), " ", size(mx.expand_dims(x, 3)))
#% joined
x = mx.NDArray(Float32[1 2; 3 4])
y = mx.NDArray(Float32[5 6; 7 8])
show_(vcat(x, y))
show_(hcat(x, y))
show_(cat(x, y, dims=1))
show_([x y])
show_([x; y])
println(size(vcat(x, y)), " ", size(hcat(x, y)))
#% joined_vectors
x = mx.NDArray(Float32[1, 2])
y = mx.NDArray(Float32[3, 4])
show_(vcat(x, y))
println(size(hcat(x, y)))
#% joined_by_the_operator
x = mx.NDArray(Float32[1 2; 3 4])
show_(mx.concat(x, x, dim=0))
show_(mx.concat(x, x; dim=1))
#% parts_along_the_last_dimension
x = mx.NDArray([1 2 3; 4 5 6])
show_(mx.slice(x, 2:3))
show_(mx.slice(x, 1:1))
#% parts_of_a_vector
v = mx.NDArray([1, 2, 3, 4])
show_(v[2:3])
#% assigning_everything
x = mx.zeros(2, 2)
x[:] = ones(2, 2)
show_(x)
y = mx.zeros(2, 2)
y[:] = x
show_(y)
x .= 3
show_(x)
#% updates_in_place
w = mx.ones(2, 2)
g = mx.NDArray(Float32[1 2; 3 4])
w .-= 0.5 .* g
show_(w)
w .*= 2
show_(w)
#% in_place_macro
w = mx.ones(2, 2)
g = mx.NDArray(Float32[1 2; 3 4])
v = w
@mx.inplace w += g
@mx.inplace w .*= 2
show_(v)
#% in_place_functions
w = mx.ones(2, 2)
g = mx.NDArray(Float32[1 2; 3 4])
mx.add_to!(w, g)
mx.mul_to!(w, 2)
mx.sub_from!(w, 1)
mx.div_from!(w, 2)
show_(w)
#% plus_equals_makes_a_new_array
w = mx.ones(2, 2)
v = w
w += mx.ones(2, 2)
show_(v)
show_(w)
#% activations
x = mx.NDArray(Float32[-1 2; 0 -3])
show_(mx.relu.(x))
show_(mx.σ.(x))
show_(tanh.(x))
#% elementary_functions
x = mx.NDArray(Float32[1 4; 9 16])
show_(sqrt.(x))
show_(log.(x))
show_(exp.(mx.zeros(2, 2)))
show_(abs.(-x))
#% clamped
x = mx.NDArray(Float32[-1 2; 0 -3])
show_(clamp.(x, -1, 1))
#% at_dot
x = mx.NDArray(Float32[1 2; 3 4])
show_(@. 2x^2 + exp(0 * x))
#% comparisons
x = mx.NDArray(Float32[1 2; 3 4])
y = mx.NDArray(Float32[1 3; 2 4])
show_(x .== y)
show_(x .> y)
#% operators_with_parameters
x = mx.NDArray(Float32[1 2; 3 4])
w = mx.NDArray(Float32[1 2 3; 4 5 6])
b = mx.NDArray(Float32[10, 20, 30])
show_(mx.FullyConnected(x, weight=w, bias=b, num_hidden=3))
show_(mx.Activation(x .- 2, act_type=:relu))
#% operators_turn_sizes_round
x = mx.NDArray(Float32[1 2 3; 4 5 6])
y = mx.Reshape(x, shape=(3, 2))
println(size(y))
show_(y)
#% copied_to_an_array
x = mx.NDArray([1 2; 3 4])
a = copy(x)
a[1, 2] = 100
println(a[1, 2], " ", a[2, 1])
show_(x)
#% copied_into
x = mx.zeros(2, 2)
copy!(x, [1 2; 3 4])
show_(x)
#% shapes_in_variables
dims = (2, 3)
x = mx.zeros(dims)
rows, cols = size(x)
println(rows, " ", cols, " ", size(x)[1], " ", size(x)[end])
y = mx.ones(cols, rows)
println(size(y))
#% own_function_broadcast
swish(x) = x / (1 + exp(-x))
show_(swish.(mx.NDArray(Float32[0 1; 2 3])))
#% layer_by_hand
function layer(x, w, b)
  tanh.(w * x .+ b)
end
x = mx.NDArray(Float32[1 2 3; 4 5 6])
w = mx.NDArray(Float32[0.1 0.2; 0.3 0.4; 0.5 0.6; 0.7 0.8])
b = mx.NDArray(Float32[0.1, 0.2, 0.3, 0.4])
y = layer(x, w, b)
println(size(y))
show_(y)
#% softmax_by_hand
function softmax_(x)
  e = exp.(x .- maximum(x, dims=1))
  e ./ sum(e, dims=1)
end
show_(softmax_(mx.NDArray(Float32[1 2; 3 5; 0 1])))
#% batches
x = mx.NDArray(reshape(collect(1.0f0:12.0f0), 2, 6))
for k in 1:2:5
  show_(mx.slice(x, k:k+1))
end
#% as_julia_arrays
x = mx.NDArray(Float32[1 2 3; 4 5 6])
y = mx.ones(2, 3)
z = mx.zeros(2, 3)
@mx.nd_as_jl ro=(x, y) rw=z begin
  z[:, 1] = x[:, 2] + y[:, 2]
  for j in 2:size(x, 2)
    z[1, j] = x[2, j]
  end
end
show_(z)
#% normalised
using Statistics
x = mx.NDArray(Float32[1 2 3; 4 6 8])
m = mean(x, dims=2)
c = x .- m
v = mean(c .^ 2, dims=2)
show_(c ./ sqrt.(v .+ 1.0f-5))
#% outer_product_by_broadcasting
v = mx.NDArray(Float32[1, 2, 3])
w = mx.NDArray(Float32[1 10])
show_(v .* w)
#% recorded_block_gives_its_value
x = mx.NDArray(Float32[1 2; 3 4])
y = mx.record() do
  t = x .* x
  t .+ 1
end
show_(y)
#% lists_of_arrays
params = [mx.ones(2), mx.zeros(3)]
for p in params
  println(size(p))
end
push!(params, mx.ones(1))
println(length(params))
#% dictionaries_of_arrays
params = Dict(:w => mx.ones(2, 3), :b => mx.zeros(2))
y = params[:w] .+ params[:b]
show_(y)
println(sum(length(v) for v in values(params)))
