#% short_form
area(r) = 3 * r^2
println(area(2))
#% defaults
greet(name, greeting="hello") = greeting * ", " * name
println(greet("you"), "; ", greet("you", "bye"))
#% defaults_are_made_at_each_call
function collect_one(x, into=Int[])
  push!(into, x)
  length(into)
end
println(collect_one(1), collect_one(2))
#% defaults_use_earlier_parameters
f(a, b=2a) = a + b
println(f(1), " ", f(1, 1))
#% keywords
function scale(x; by=2, plus=0)
  by * x + plus
end
println(scale(3), " ", scale(3, by=3), " ", scale(3; plus=1))
#% keywords_by_shorthand_splat
opts = (by=4, plus=1)
scale(x; by=2, plus=0) = by * x + plus
println(scale(3; by=opts.by, plus=opts.plus))
#% varargs
total(xs...) = sum(xs)
println(total(1, 2, 3))
#% splat_into_a_call
add(a, b, c) = a + b + c
args = [1, 2, 3]
println(add(args...), " ", add(1, args[2:3]...))
#% keyword_varargs
function show_all(; kw...)
  for k in sort(collect(keys(kw)))
    println(k)
  end
end
show_all(b=1, a=2)
#% anonymous_functions
double = x -> 2x
println(map(double, [1, 2, 3])[3], " ", (x -> x + 1)(4))
#% anonymous_functions_of_two
println(reduce((a, b) -> a * b, [1, 2, 3, 4]))
#% do_block
ys = map([1, 2, 3]) do x
  y = x^2
  y + 1
end
println(join(ys, ","))
#% short_do_block
println(join(map([1, 2, 3]) do x
  10x
end, ","))
#% closures_share_a_variable
function counter()
  n = 0
  function step()
    n += 1
    n
  end
  step
end
c = counter()
c(); c()
println(c())
#% closures_capture_loop_variables
fs = []
for i in 1:3
  push!(fs, () -> i)
end
println(fs[1](), fs[3]())
#% multiple_return_values
function bounds(xs)
  return minimum(xs), maximum(xs)
end
lo, hi = bounds([3, 1, 2])
println(lo, " ", hi)
#% recursion
fib(n) = n < 2 ? n : fib(n - 1) + fib(n - 2)
println(fib(10))
#% return_nothing
function quiet(x)
  x + 1
  return
end
println(quiet(1) === nothing)
#% methods_by_number_of_arguments
size_of(a) = 1
size_of(a, b) = 2
println(size_of(1), size_of(1, 2))
#% a_method_that_fills_in_a_default
power(x, n) = x^n
power(x) = power(x, 2)
println(power(3), " ", power(2, 3))
#% methods_by_type
describe(x::Int) = "integer"
describe(x::String) = "text"
println(describe(3), " ", describe("a"))
#% callbacks
apply(f, x) = f(x)
println(apply(sqrt, 16.0), " ", apply(x -> x + 1, 1))
#% composition
inc(x) = x + 1
twice(x) = 2x
println((inc ∘ twice)(5))
#% filter_and_count
xs = [1, 2, 3, 4, 5, 6]
println(join(filter(iseven, xs), ","), " ", count(x -> x > 3, xs), " ", any(x -> x > 5, xs), " ", all(isodd, xs))
#% map_over_two
println(join(map((a, b) -> a + b, [1, 2], [10, 20]), ","))
#% mapreduce
println(mapreduce(x -> x^2, +, [1, 2, 3]))
#% foreach
foreach([1, 2]) do x
  println(x)
end
#% functions_as_values_in_a_dictionary
ops = Dict("add" => (a, b) -> a + b, "mul" => (a, b) -> a * b)
println(ops["add"](2, 3), " ", ops["mul"](2, 3))
#% exclamation_marks
function double!(xs)
  for i in 1:length(xs)
    xs[i] *= 2
  end
end
v = [1, 2, 3]
double!(v)
println(join(v, ","))
#% typed_parameters_and_return_types
function half(x::Float64)::Float64
  x / 2
end
println(half(3.0))
#% docstrings
"""
    shout(x)

Louder.
"""
shout(x) = uppercase(x) * "!"
println(shout("hey"))
#% anonymous_function_in_long_form
f = function (x)
  y = x + 1
  y * 2
end
println(f(3))
#% where_clauses
same(a::T, b::T) where {T<:Real} = a == b
println(same(1, 1))
#% destructured_parameters
dist((a, b)) = abs(a - b)
println(dist((3, 7)))
#% ntuple_and_findfirst
println(sum(ntuple(i -> i^2, 3)), " ", findfirst(x -> x > 2, [1, 2, 3, 4]), " ", join(findall(x -> x > 2, [1, 2, 3, 4]), ","))
#% global_in_a_function
hits = 0
function hit()
  global hits += 1
end
hit(); hit()
println(hits)
#% names_of_python
lambda = 3
list = [1, 2]
println(lambda + length(list))
#% unicode_names
∇ = 1
ẋ = 2
x̂ = 3
x₁ = 4
x′ = 5
σ² = 6
println(∇ + ẋ + x̂ + x₁ + x′ + σ²)
#% a_part_that_a_function_writes_to
function zero_first!(z)
  z[1] = 0
  return z
end
q = [1, 2, 3, 4]
r = zero_first!(q[1:2])
println(join(q, ","), " ", join(r, ","))
#% a_part_that_a_function_gives
column(A) = A[:, 1]
M = [1 2; 3 4]
c = column(M)
M[1, 1] = 10
println(join(c, ","))
#% the_contrary_of_a_function
println(count(!iszero, [0, 1, 2]), " ", join(filter(!isempty, ["a", "", "b"]), ","))
#% letters_that_are_one
µ = 1.5
println(μ + 1)
