#% struct_with_fields
struct Point
  x::Float64
  y::Float64
end
p = Point(1.0, 2.0)
println(p.x + p.y)
#% mutable_struct
mutable struct Counter
  n::Int
end
function step!(c::Counter)
  c.n += 1
end
c = Counter(0)
step!(c)
step!(c)
println(c.n)
#% inner_constructor
struct Ratio
  num::Int
  den::Int
  function Ratio(a, b)
    g = gcd(a, b)
    new(a ÷ g, b ÷ g)
  end
end
r = Ratio(6, 4)
println(r.num, "/", r.den)
#% incomplete_constructor
mutable struct Box
  value
  count::Int
  Box() = new(nothing, 0)
end
b = Box()
b.value = 3
println(b.value, b.count)
#% keyword_struct
Base.@kwdef mutable struct Options
  rate::Float64 = 0.5
  steps::Int = 10
end
o = Options(steps=3)
println(o.rate, " ", o.steps)
#% callable_struct
struct Scale
  by
end
(s::Scale)(x) = s.by * x
double = Scale(2)
println(double(21))
#% abstract_types_and_methods
abstract type Shape end
struct Square <: Shape
  side
end
struct Circle <: Shape
  radius
end
area(s::Square) = s.side^2
area(c::Circle) = 3 * c.radius^2
for s in [Square(2), Circle(1)]
  println(area(s))
end
println(Square(1) isa Shape)
#% show_method
struct Money
  amount
end
Base.show(io::IO, m::Money) = print(io, "\$", m.amount)
println(Money(5))
#% struct_holding_a_vector
mutable struct Stack
  items::Vector{Int}
end
s = Stack(Int[])
push!(s.items, 4)
push!(s.items, 5)
println(length(s.items), " ", s.items[end], " ", pop!(s.items))
#% parametric_struct
struct Pair2{T}
  a::T
  b::T
end
q = Pair2(1, 2)
println(q.a + q.b)
#% linked_structs
mutable struct Node
  value::Int
  next
end
n = Node(1, Node(2, nothing))
println(n.next.value, " ", n.next.next === nothing)
#% module_with_functions
module Tools
export twice
const FACTOR = 2
twice(x) = FACTOR * x
end
println(Tools.twice(4))
#% deep_copy_of_a_struct
mutable struct Meter
  n::Int
  seen::Vector{Int}
end
m = Meter(1, [1, 2])
best = deepcopy(m)
m.n = 5
m.seen[1] = 7
println(best.n, " ", best.seen[1], " ", m.n, " ", m.seen[1])
