#% literal_and_elements
m = [1 2 3; 4 5 6]
println(m[1, 2], " ", m[2, 1], " ", m[end, end], " ", size(m), " ", length(m))
#% rows_and_columns
m = [1 2 3; 4 5 6]
println(join(m[1, :], ","), " ", join(m[:, 2], ","), " ", join(m[2, 2:end], ","))
#% blocks
m = [1 2 3; 4 5 6; 7 8 9]
b = m[2:3, 1:2]
println(size(b), " ", b[1, 1], " ", b[2, 2])
#% negative_elements_in_rows
m = [1 -2; -3 4]
println(m[1, 2], " ", m[2, 1], " ", size(m))
#% transposed
m = [1 2 3; 4 5 6]
t = m'
println(size(t), " ", t[3, 1])
#% product
a = [1 2; 3 4]
b = [5 6; 7 8]
c = a * b
println(c[1, 1], " ", c[1, 2], " ", c[2, 1], " ", c[2, 2])
#% matrix_times_vector
a = [1 2 3; 4 5 6]
v = [1, 0, 2]
println(join(a * v, ","))
#% inner_and_outer_products
v = [1, 2, 3]
w = [4, 5]
println(v' * v, " ", (v * w')[3, 2], " ", size(v * w'))
#% reductions_over_dimensions
m = [1 2 3; 4 5 6]
println(join(sum(m, dims=1), ","), " ", join(sum(m, dims=2), ","), " ", sum(m))
#% reductions_keep_dimensions
m = [1 2 3; 4 5 6]
println(size(sum(m, dims=1)), " ", size(maximum(m, dims=2)))
#% mean_over_dimensions
using Statistics
m = [1.0 2.0; 3.0 4.0]
println(join(mean(m, dims=1), ","), " ", mean(m))
#% reshape_runs_down_columns
m = reshape(1:6, 2, 3)
println(m[1, 1], " ", m[2, 1], " ", m[1, 2], " ", m[2, 3])
#% reshape_with_a_tuple_and_vec
m = [1 3; 2 4]
println(join(vec(m), ","), " ", size(reshape(m, (4, 1))), " ", size(reshape(m, :, 1)))
#% linear_positions
m = [1 3; 2 4]
println(m[2], " ", m[3])
#% joined
a = [1 2; 3 4]
println(size(vcat(a, a)), " ", size(hcat(a, a)), " ", size([a; a]), " ", size([a a]), " ", size(cat(a, a, dims=3)))
#% joined_columns
a = [1, 2]
m = hcat(a, [3, 4])
println(size(m), " ", m[2, 1], " ", m[1, 2])
#% zeros_with_sizes
z = zeros(2, 3)
z[2, 3] = 5
println(size(z), " ", sum(z), " ", size(zeros(size(z))), " ", size(ones(3, 1)))
#% assigning_rows_and_columns
m = zeros(2, 2)
m[1, :] = [1, 2]
m[:, 2] .= 7
println(m[1, 1], " ", m[1, 2], " ", m[2, 2])
#% loops_over_both_dimensions
m = [1 2; 3 4]
t = 0
for i in 1:size(m, 1), j in 1:size(m, 2)
  global t += m[i, j] * i
end
println(t)
#% three_dimensions
a = reshape(collect(1:24), 2, 3, 4)
println(a[1, 2, 3], " ", a[2, 3, 4], " ", size(a[:, :, 1]), " ", size(a[1, :, :]), " ", size(sum(a, dims=(1, 2))))
#% permuted_dimensions
a = reshape(collect(1:24), 2, 3, 4)
p = permutedims(a, (3, 1, 2))
println(size(p), " ", p[3, 1, 2], " ", a[1, 2, 3])
#% dropped_dimensions
m = [1 2 3; 4 5 6]
println(join(dropdims(sum(m, dims=1), dims=1), ","))
#% size_taken_apart
m = zeros(2, 5)
rows, cols = size(m)
println(rows, " ", cols, " ", size(m)[1], " ", size(m)[end], " ", ndims(m))
#% elementwise_and_matrix_power
m = [1 1; 0 1]
println((m^3)[1, 2], " ", (m .^ 3)[1, 2])
#% solving
using LinearAlgebra
a = [2.0 0.0; 1.0 4.0]
x = a \ [2.0, 9.0]
println(round.(x[1], digits=6), " ", round(x[2], digits=6), " ", round(det(a), digits=6))
#% dot_and_norm
using LinearAlgebra
println(dot([1, 2], [3, 4]), " ", norm([3.0, 4.0]))
#% matrix_of_a_comprehension_times_vector
m = [i == j ? 1 : 0 for i in 1:3, j in 1:3]
println(join(m * [4, 5, 6], ","))
#% batches_of_columns
x = reshape(collect(1:12), 2, 6)
for k in 1:2:5
  b = x[:, k:k+1]
  println(sum(b))
end
#% cumulative_over_dimensions
m = [1 2; 3 4]
c = cumsum(m, dims=1)
println(c[2, 1], " ", c[2, 2])
#% row_vector_from_adjoint
v = [1, 2, 3]
m = [1 1 1; 2 2 2]
s = m .+ v'
println(s[1, 3], " ", s[2, 1])
#% blocks_and_rows_of_numbers
M = [1 2 3; 4 5 6]
a = [M; 7 8 9]
b = [1 2; M[:, 1:2]]
println(size(a), " ", a[3, 2], " ", size(b), " ", b[1, 2], " ", b[3, 1])
#% a_matrix_beside_a_vector
M = [1 2 3; 4 5 6]
b = [M [7, 8]]
c = hcat([9, 10], M)
println(size(b), " ", b[2, 4], " ", size(c), " ", c[2, 1], " ", c[1, 4])
#% elements_under_a_mask
M = [1 5 3; 4 2 6]
println(join(M[M .> 2], ","))
M[M .> 4] .= 0
println(join(vec(M), ","))
#% comprehension_over_a_matrix
M = [1 2 3; 4 5 6]
b = [x^2 for x in M]
d = map(x -> x + 1, M)
println(size(b), " ", b[2, 3], " ", size(d), " ", d[1, 2], " ", sum(b))
#% row_times_matrix
w = [1.0, 2.0]
X = [1.0 2 3; 4 5 6]
p = w' * X
println(size(p), " ", size(p, 2), " ", p[1, 3], " ", sum(p, dims=2)[1], " ", w' * w)
q = p .- X
println(size(q), " ", q[2, 3])
#% any_and_all_along_a_dimension
M = [1 0 3; 0 0 6]
a = any(M .> 0, dims=1)
b = all(M .> 0, dims=2)
println(size(a), " ", sum(a), " ", size(b), " ", sum(b))
#% parts_that_are_kept
M = [1 2; 3 4]
kept = []
push!(kept, M[:, 1])
columns = [M[:, j] for j in 1:2]
table = Dict("second" => M[:, 2])
pair = (M[1, :], 0)
third = M[:, 2]
M .*= 10
println(kept[1][2], " ", columns[2][1], " ", table["second"][2], " ", pair[1][2], " ", third[1], " ", M[2, 2])
#% columns_put_together
rows = [[1.0, 2.0], [3.0, 4.0]]
data = hcat(rows...)'
y = data[:, 2]
w = zeros(2)
w += y[2] * data[1, :]
println(size(data), " ", y[1], " ", join(w, ","))
