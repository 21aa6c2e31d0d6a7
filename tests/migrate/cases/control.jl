#% if_elseif_else
function sign_word(x)
  if x > 0
    "plus"
  elseif x < 0
    "minus"
  else
    "zero"
  end
end
println(sign_word(3), sign_word(-3), sign_word(0))
#% for_with_step
for i in 10:-3:1
  println(i)
end
#% for_over_two_iterators
for i in 1:2, j in 1:3
  println(i, j)
end
#% for_over_strings_and_chars
for c in "abc"
  print(c, "-")
end
println()
#% while_with_break_and_continue
n = 0
total = 0
while true
  global n, total
  n += 1
  n > 10 && break
  n % 2 == 0 && continue
  total += n
end
println(n, " ", total)
#% short_circuit_return
function first_big(xs)
  for x in xs
    x > 10 && return x
  end
  return nothing
end
println(first_big([1, 20, 30]), " ", isnothing(first_big([1])))
#% or_as_unless
function check(x)
  x > 0 || return "no"
  "yes"
end
println(check(1), check(-1))
#% let_block_keeps_the_outer_name
x = 1
let x = 5
  println(x)
end
println(x)
#% let_as_a_value
y = let a = 2, b = 3
  a * b
end
println(y)
#% begin_as_a_value
z = begin
  t = 3
  t + 1
end
println(z)
#% if_as_a_value
x = 7
kind = if x % 2 == 0
  "even"
else
  "odd"
end
println(kind)
#% try_catch
function safe(f)
  try
    f()
  catch e
    "failed: " * e.msg
  end
end
println(safe(() -> "fine"), " ", safe(() -> error("bad")))
#% try_finally
function noisy()
  try
    return 1
  finally
    println("done")
  end
end
println(noisy())
#% throw_and_type_of_errors
function checked(x)
  x < 0 && throw(ArgumentError("negative"))
  x
end
try
  checked(-1)
catch e
  println(e isa ArgumentError, " ", e.msg)
end
#% nested_loops_with_accumulators
function table(n)
  s = 0
  for i in 1:n
    for j in i:n
      s += i * j
    end
  end
  s
end
println(table(4))
#% loop_variable_stays_outside
i = 100
for i in 1:3
  println(i)
end
println(i)
#% enumerate_counts_from_one
for (i, x) in enumerate(["a", "b"])
  println(i, x)
end
#% zip_of_two
for (a, b) in zip([1, 2, 3], [4, 5, 6])
  println(a * b)
end
#% while_with_condition
n = 27
steps = 0
while n != 1
  global n = n % 2 == 0 ? n ÷ 2 : 3n + 1
  global steps += 1
end
println(steps)
#% if_without_else_as_value
x = 1
y = if x > 5
  3
end
println(y === nothing)
#% ternary_with_effects
x = 3
x > 2 ? println("big") : println("small")
#% assert_passes
x = 3
@assert x == 3 "not three"
println("ok")
#% for_in_with_element_of_sign
for x ∈ [3, 4]
  println(x)
end
#% nested_functions_and_early_returns
function find(xs, wanted)
  for (i, x) in enumerate(xs)
    if x == wanted
      return i
    end
  end
  0
end
println(find([5, 6, 7], 6), find([5], 6))
#% let_assigns_names_of_its_own
x = 1
let
  x = 2
  println(x)
end
println(x)
#% let_in_a_function_changes_its_variable
function f()
  x = 1
  let
    x = 2
  end
  x
end
println(f())
#% range_with_a_step_in_a_variable
k = 3
for i in 1:k:10
  print(i, " ")
end
println()
