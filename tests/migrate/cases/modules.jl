#% constants_of_one_name
const SCALE = 3.0
module Inner
const SCALE = 5.0
half(x) = x / SCALE
end
println(Inner.half(10.0), " ", SCALE, " ", Inner.SCALE)
#% functions_of_one_name
f(x) = x + 1
module A
export f
f(x) = 10x
g(x) = f(f(x))
end
module B
using ..A: g
f(x) = 100x
h(x) = f(x) + g(x)
end
println(f(1), " ", A.f(1), " ", B.f(1), " ", A.g(1), " ", B.h(1))
#% structs_of_one_name
module Lengths
struct Value
  n
end
double(v::Value) = Value(2v.n)
end
struct Value
  text
end
v, w = Value("long"), Lengths.double(Lengths.Value(4))
println(v.text, " ", w.n)
#% globals_of_one_name
module Counter
count = 0
function more()
  global count
  count += 2
  return count
end
end
count = 7
Counter.more(); Counter.more()
println(count, " ", Counter.count)
#% local_names_stay
x = 1
module M
x = 2
f(x; y = x) = x * y
g(y) = x * y
h() = (x = 5; x + 1)
end
println(x, " ", M.x, " ", M.f(3), " ", M.f(3, y = 4), " ", M.g(10), " ", M.h(), " ", M.x)
#% modules_inside_modules
module Outer
const k = 1
module Deep
const k = 2
f(x) = k * x
end
g(x) = k * x + Deep.f(x)
end
const k = 3
println(k, " ", Outer.k, " ", Outer.Deep.k, " ", Outer.g(10), " ", Outer.Deep.f(10))
#% used_names_are_the_module_s
module First
area(r) = 3r
end
module Second
export area
area(r) = 4r
end
using .Second
println(area(1), " ", First.area(1), " ", Second.area(1))
#% a_variable_of_the_member_s_name
module Shapes
area(r) = 3r
end
function report(r)
  area = Shapes.area(r)
  return area + 1
end
println(report(2), " ", Shapes.area(1))
