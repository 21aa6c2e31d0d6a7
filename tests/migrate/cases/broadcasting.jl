#% dotted_operators
v = [1, 2, 3]
println(join(v .+ 1, ","), " ", join(2 .* v, ","), " ", join(v .^ 2, ","), " ", join(v .- v, ","))
#% dotted_functions
println(join(sqrt.([1.0, 4.0, 9.0]), ","), " ", join(abs.([-1, 2]), ","))
#% fused
v = [1.0, 2.0]
println(join(2 .* v .^ 2 .+ 1, ","))
#% at_dot
v = [1.0, 2.0]
println(join((@. 2v^2 + sqrt(v) * 0), ","))
#% own_function_broadcast
f(x) = x^2 + 1
println(join(f.([1, 2, 3]), ","))
#% own_function_with_a_branch_broadcast
g(x) = x > 0 ? x : 0
println(join(g.([-1, 2, -3]), ","))
#% function_of_two_broadcast
h(x, y) = x * y + 1
println(join(h.([1, 2], [3, 4]), ","), " ", join(h.([1, 2], 10), ","))
#% in_place_dots
v = [1.0, 2.0]
w = v
v .+= 1
v .= v .* 2
println(join(w, ","))
#% rebinding_leaves_the_other_name
v = [1, 2]
w = v
v = v .+ 1
println(join(w, ","), " ", join(v, ","))
#% plus_equals_rebinds
v = [1, 2]
w = v
v += [10, 10]
println(join(w, ","), " ", join(v, ","))
#% dotted_comparisons
v = [1, 5, 3]
println(sum(v .> 2), " ", sum(v .== 3), " ", all(v .>= 1))
#% max_broadcast
println(join(max.([-1, 2], 0), ","), " ", join(min.([4, 5], [5, 4]), ","))
#% strings_broadcast
println(join(uppercase.(["a", "b"]), ","), " ", join(string.([1, 2], "x"), ","), " ", join(length.(["ab", "c"]), ","))
#% parse_broadcast
println(sum(parse.(Int, ["1", "2"])))
#% conversions_broadcast
println(join(Int.([1.0, 2.0]), ","), " ", join(floor.(Int, [1.7, 2.2]), ","))
#% matrix_and_vector
m = [1 2; 3 4]
v = [10, 20]
s = m .+ v
println(s[1, 1], " ", s[1, 2], " ", s[2, 1], " ", s[2, 2])
#% matrix_and_row
m = [1 2; 3 4]
r = [10 20]
s = m .+ r
println(s[1, 1], " ", s[1, 2], " ", s[2, 1], " ", s[2, 2])
#% exponentials
x = [0.0, 1.0]
p = exp.(x) ./ sum(exp.(x))
println(round(p[1], digits=4), " ", round(sum(p), digits=4))
#% dotted_pipe
println(join([1.0, 4.0] .|> sqrt, ","))
#% remainder_broadcast
println(join([-3, 4] .% 3, ","), " ", join(mod.([-3, 4], 3), ","))
#% ranges_broadcast
println(join((1:3) .* 2, ","))
#% scalar_function_of_both_kinds
k(x) = exp(x) * 2
println(k(0.0), " ", join(k.([0.0, 0.0]), ","))
#% relu_by_hand
relu_(x) = max.(x, 0)
println(join(relu_([-1.0, 2.0]), ","))
#% softmax_by_hand
function softmax_(x)
  e = exp.(x .- maximum(x))
  e ./ sum(e)
end
println(round.(softmax_([1.0, 1.0])[1], digits=3))
