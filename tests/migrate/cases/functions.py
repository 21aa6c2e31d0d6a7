#% short_form
def area(r):
    return 3 * r**2


print(area(2))
#% defaults
def greet(name, greeting="hello"):
    return greeting + ", " + name


print(f"{greet('you')}; {greet('you', 'bye')}")
#% defaults_are_made_at_each_call
def collect_one(x, into=None):
    if into is None:
        into = []
    into.append(x)
    return len(into)


print(collect_one(1), collect_one(2), sep="")
#% defaults_use_earlier_parameters
def f(a, b=None):
    if b is None:
        b = 2 * a
    return a + b


print(f"{f(1)} {f(1, 1)}")
#% keywords
def scale(x, *, by=2, plus=0):
    return by * x + plus


print(f"{scale(3)} {scale(3, by=3)} {scale(3, plus=1)}")
#% keywords_by_shorthand_splat
import collections

opts = collections.namedtuple("NamedTuple", ["by", "plus"])(by=4, plus=1)


def scale(x, *, by=2, plus=0):
    return by * x + plus


print(scale(3, by=opts.by, plus=opts.plus))
#% varargs
def total(*xs):
    return sum(xs)


print(total(1, 2, 3))
#% splat_into_a_call
import numpy as np


def add(a, b, c):
    return a + b + c


args = np.array([1, 2, 3])
print(f"{add(*args)} {add(1, *args[1:3])}")
#% keyword_varargs
def show_all(**kw):
    for k in sorted(kw.keys()):
        print(k)


show_all(b=1, a=2)
#% anonymous_functions
def double(x):
    return 2 * x


print(f"{[double(x_2) for x_2 in [1, 2, 3]][2]} {(lambda x: x + 1)(4)}")
#% anonymous_functions_of_two
import functools

print(functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]))
#% do_block
def each(x):
    y = x**2
    return y + 1


ys = [each(x_2) for x_2 in [1, 2, 3]]
print(",".join(map(str, ys)))
#% short_do_block
print(",".join(map(str, [10 * x for x in [1, 2, 3]])))
#% closures_share_a_variable
def counter():
    n = 0

    def step():
        nonlocal n
        n += 1
        return n

    return step


c = counter()
c()
c()
print(c())
#% closures_capture_loop_variables
fs = []
for i in range(1, 4):
    fs.append(lambda i=i: i)
print(fs[0](), fs[2](), sep="")
#% multiple_return_values
import numpy as np


def bounds(xs):
    return xs.min(), xs.max()


lo, hi = bounds(np.array([3, 1, 2]))
print(f"{lo} {hi}")
#% recursion
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


print(fib(10))
#% return_nothing
def quiet(x):
    x + 1
    return


print(quiet(1) is None)
#% methods_by_number_of_arguments
def size_of(a):
    return 1


def size_of_2(a, b):
    return 2


print(size_of(1), size_of_2(1, 2), sep="")
#% a_method_that_fills_in_a_default
def power(x, n=2):
    return x**n


print(f"{power(3)} {power(2, 3)}")
#% methods_by_type
import functools


@functools.singledispatch
def describe(x):
    raise TypeError(f"describe has no method for {type(x).__name__}")


@describe.register(int)
def _(x: int):
    return "integer"


@describe.register(str)
def _(x: str):
    return "text"


print(f"{describe(3)} {describe('a')}")
#% callbacks
import math


def apply(f, x):
    return f(x)


print(f"{apply(math.sqrt, 16.0)} {apply(lambda x: x + 1, 1)}")
#% composition
def inc(x):
    return x + 1


def twice(x):
    return 2 * x


print((lambda x: inc(twice(x)))(5))
#% filter_and_count
import numpy as np

xs = np.array([1, 2, 3, 4, 5, 6])
print(
    f"{','.join(map(str, [x_2 for x_2 in xs if x_2 % 2 == 0]))} {sum((1 for x in xs if x > 3))} {any((x > 5 for x in xs))} {all((x_3 % 2 == 1 for x_3 in xs))}"
)
#% map_over_two
print(",".join(map(str, [a + b for a, b in zip([1, 2], [10, 20])])))
#% mapreduce
print(sum((x**2 for x in [1, 2, 3])))
#% foreach
for x in [1, 2]:
    print(x)
#% functions_as_values_in_a_dictionary
# * of two matrices is b @ a
ops = {"add": lambda a, b: a + b, "mul": lambda a, b: a * b}  # migrate: check axis
print(f"{ops['add'](2, 3)} {ops['mul'](2, 3)}")
#% exclamation_marks
import numpy as np


def double(xs):
    for i in range(len(xs)):
        xs[i] *= 2


v = np.array([1, 2, 3])
double(v)
print(",".join(map(str, v)))
#% typed_parameters_and_return_types
def half(x: float):
    return x / 2


print(half(3.0))
#% docstrings
def shout(x):
    """shout(x)

    Louder.
    """
    return x.upper() + "!"


print(shout("hey"))
#% anonymous_function_in_long_form
def f(x):
    y = x + 1
    return y * 2


print(f(3))
#% where_clauses
def same(a, b):
    return a == b


print(same(1, 1))
#% destructured_parameters
def dist(pair):
    a, b = pair
    return abs(a - b)


print(dist((3, 7)))
#% ntuple_and_findfirst
print(
    f"{sum(tuple((i**2 for i in range(1, 4))))} {next((i_2 for i_2, x in enumerate([1, 2, 3, 4], 1) if x > 2), None)} {','.join(map(str, [i_3 for i_3, x in enumerate([1, 2, 3, 4], 1) if x > 2]))}"
)
#% global_in_a_function
hits = 0


def hit():
    global hits
    hits += 1
    return hits


hit()
hit()
print(hits)
#% names_of_python
import numpy as np

lambda_ = 3
list_ = np.array([1, 2])
print(lambda_ + len(list_))
#% unicode_names
grad = 1
x_dot = 2
x_hat = 3
x1 = 4
x_prime = 5
σ2 = 6
print(grad + x_dot + x_hat + x1 + x_prime + σ2)
#% a_part_that_a_function_writes_to
import numpy as np


def zero_first(z):
    z[0] = 0
    return z


q = np.array([1, 2, 3, 4])
r = zero_first(q[:2].copy())
print(f"{','.join(map(str, q))} {','.join(map(str, r))}")
#% a_part_that_a_function_gives
import numpy as np


def column(A):
    return A[0].copy()


M = np.array([[1, 3], [2, 4]])
c = column(M)
M[0, 0] = 10
print(",".join(map(str, c)))
#% the_contrary_of_a_function
print(
    f"{sum((1 for x in [0, 1, 2] if not x == 0))} {','.join([x_2 for x_2 in ['a', '', 'b'] if not not x_2])}"
)
#% letters_that_are_one
μ = 1.5
print(μ + 1)
