#% vector_elements_from_one
v = [10, 20, 30]
println(v[1], " ", v[end], " ", v[end-1])
#% vector_parts
v = [1, 2, 3, 4, 5]
println(join(v[2:4], ","), " ", join(v[2:end], ","), " ", join(v[1:end-1], ","), " ", join(v[end-1:end], ","))
#% vector_parts_with_steps
v = [1, 2, 3, 4, 5]
println(join(v[1:2:end], ","), " ", join(v[end:-1:1], ","), " ", join(v[4:-1:2], ","))
#% vector_parts_with_variables
v = [1, 2, 3, 4, 5]
i, n = 2, 2
println(join(v[i:i+n], ","), " ", v[i+1], " ", v[length(v)-n], " ", join(v[end-n:end], ","))
#% index_in_the_middle
v = [1, 2, 3, 4, 5]
println(v[(end + 1) ÷ 2])
#% assigning_elements
v = [1, 2, 3]
v[2] = 20
v[end] += 5
println(join(v, ","))
#% assigning_parts
v = [1, 2, 3, 4]
v[2:3] = [7, 8]
v[1:1] .= 0
println(join(v, ","))
#% part_of_a_vector_is_a_copy
a = [1, 2, 3]
b = a[1:2]
b[1] = 100
println(a[1], " ", b[1])
#% growing_vectors
v = Int[]
push!(v, 1)
push!(v, 2, 3)
append!(v, [4, 5])
pushfirst!(v, 0)
println(join(v, ","), " ", pop!(v), " ", popfirst!(v), " ", length(v))
#% inserting_and_deleting
v = [1, 2, 3]
insert!(v, 2, 9)
deleteat!(v, 1)
println(join(v, ","))
#% dictionaries
d = Dict("a" => 1, "b" => 2)
d["c"] = 3
println(d["a"] + d["c"], " ", haskey(d, "z"), " ", get(d, "z", 0), " ", length(d))
#% dictionary_loop
d = Dict("k" => 7)
for (k, v) in d
  println(k, v)
end
for p in d
  println(p.first, p.second)
end
#% dictionary_keys_and_values
d = Dict(1 => "x", 2 => "y")
println(join(sort(collect(keys(d))), ","), " ", join(sort(collect(values(d))), ","))
#% dictionary_from_a_generator
d = Dict(i => i^2 for i in 1:3)
println(d[3])
#% dictionary_updates
d = Dict{String,Int}()
for w in ["a", "b", "a"]
  d[w] = get(d, w, 0) + 1
end
println(d["a"], d["b"])
delete!(d, "a")
println(length(d))
#% get_with_default_made
d = Dict{String,Vector{Int}}()
push!(get!(d, "a", Int[]), 1)
println(length(d["a"]))
#% tuples
t = (1, "two", 3.0)
println(t[1], t[2], t[3], " ", length(t))
a, b, c = t
println(b)
#% named_tuples
p = (x = 1, y = 2)
println(p.x + p.y, " ", p[2])
#% pairs
p = "a" => 1
println(p.first, " ", p.second, " ", first(p), last(p))
#% sets
s = Set([1, 2, 2, 3])
push!(s, 4)
println(length(s), " ", 3 in s, " ", 9 ∈ s, " ", 9 ∉ s)
#% comprehension
println(join([x^2 for x in 1:4], ","), " ", join([x for x in 1:10 if x % 3 == 0], ","))
#% comprehension_over_two_with_a_test
println(join([(a + b) for a in 1:3 for b in 1:3 if a < b], ","))
#% comprehension_grid
m = [10i + j for i in 1:2, j in 1:3]
println(m[2, 3], " ", m[1, 2], " ", size(m, 1), " ", size(m, 2))
#% generators
println(sum(x^2 for x in 1:3), " ", maximum(abs(x) for x in [-5, 2]), " ", join((string(x) for x in 1:3), "-"))
#% membership_and_position
v = [4, 5, 6]
println(5 in v, " ", findfirst(x -> x == 6, v))
#% sorting
println(join(sort([3, 1, 2]), ","), " ", join(sort([3, 1, 2], rev=true), ","), " ", join(sort(["bb", "a"], by=length), ","), " ", join(sortperm([30, 10, 20]), ","))
#% sorting_in_place
v = [3, 1, 2]
sort!(v)
println(join(v, ","))
#% reversing_and_unique
println(join(reverse([1, 2, 3]), ","), " ", join(unique([1, 2, 1]), ","), " ", reverse("abc"))
#% reductions_of_vectors
v = [3.0, 1.0, 2.0]
println(sum(v), " ", prod(v), " ", maximum(v), " ", minimum(v), " ", argmax(v), " ", argmin(v))
#% findmax
m, i = findmax([3, 9, 2])
println(m, " ", i)
#% statistics
using Statistics
v = [1.0, 2.0, 3.0, 4.0]
println(mean(v), " ", round(std(v), digits=4), " ", round(var(v), digits=4), " ", median(v))
#% cumulative
println(join(cumsum([1, 2, 3]), ","), " ", join(diff([1, 4, 9]), ","))
#% ranges
r = 2:5
println(first(r), last(r), length(r), " ", 3 in r, " ", join(collect(1:3), ","))
#% ranges_of_floats
println(join(collect(0:0.25:1), " "))
#% range_with_length
println(join(range(0, stop=1, length=5), " "))
#% empty_checks
println(isempty([]), " ", isempty([1]), " ", isempty(""), " ", isempty(Dict()))
#% vectors_of_vectors
vs = [[1, 2], [3]]
push!(vs[2], 4)
println(length(vs), vs[2][2])
#% first_and_last
v = [1, 2, 3]
println(first(v), last(v))
#% copy_is_apart
a = [1, 2]
b = copy(a)
b[1] = 9
println(a[1])
#% set_operations
println(join(union([1, 2], [2, 3]), ","), " ", join(intersect([1, 2], [2, 3]), ","), " ", join(setdiff([1, 2], [2]), ","))
#% vcat_of_vectors
println(join(vcat([1, 2], [3]), ","), " ", join([[1, 2]; [3]], ","), " ", join([1; 2; 3], ","))
#% elements_used_as_positions
names = ["a", "b", "c"]
order = [3, 1, 2]
for i in order
  print(names[i])
end
println()
#% loop_over_positions
v = [5, 6, 7]
for i in 1:length(v)
  v[i] = v[i] + 1
end
for i in eachindex(v)
  print(v[i], " ")
end
println()
#% loop_over_neighbours
v = [1, 4, 9, 16]
for i in 2:length(v)
  print(v[i] - v[i-1], " ")
end
println()
#% boolean_masks
v = [1, 5, 2, 8]
println(join(v[v .> 3], ","), " ", sum(v .> 3))
#% fill_and_zeros
println(join(fill(7, 3), ","), " ", join(zeros(2), ","), " ", join(ones(Int, 2), ","))
#% vector_of_strings
words = String[]
push!(words, "x")
println(join(words), length(words))
#% deep_copies
xs = [[1, 2], [3]]
zs = deepcopy(xs)
zs[2][1] = 60
println(xs[2][1], " ", zs[2][1])
#% named_tuples_as_options
nt = (a=1, b=2)
f(; a=0, b=0) = a + 10b
println(f(; nt...), " ", nt[:b], " ", nt.a)
#% a_growing_vector_under_a_mask
a = [1, 5, 3]
push!(a, 4)
println(join(a[a .> 3], ","))
