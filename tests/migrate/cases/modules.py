#% constants_of_one_name
SCALE = 3.0
Inner_SCALE = 5.0


def half(x):
    return x / Inner_SCALE


print(f"{half(10.0)} {SCALE} {Inner_SCALE}")
#% functions_of_one_name
def f(x):
    return x + 1


def A_f(x):
    return 10 * x


def g(x):
    return A_f(A_f(x))


def B_f(x):
    return 100 * x


def h(x):
    return B_f(x) + g(x)


print(f"{f(1)} {A_f(1)} {B_f(1)} {g(1)} {h(1)}")
#% structs_of_one_name
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Lengths_Value:
    n: Any


def double(v):
    return Lengths_Value(2 * v.n)


@dataclass(frozen=True)
class Value:
    text: Any


v, w = Value("long"), double(Lengths_Value(4))
print(f"{v.text} {w.n}")
#% globals_of_one_name
Counter_count = 0


def more():
    global Counter_count
    Counter_count += 2
    return Counter_count


count = 7
more()
more()
print(f"{count} {Counter_count}")
#% local_names_stay
x = 1
M_x = 2


def f(x, *, y=None):
    if y is None:
        y = x
    return x * y


def g(y):
    return M_x * y


def h():
    x = 5
    return x + 1


print(f"{x} {M_x} {f(3)} {f(3, y=4)} {g(10)} {h()} {M_x}")
#% modules_inside_modules
Outer_k = 1
Deep_k = 2


def f(x):
    return Deep_k * x


def g(x):
    return Outer_k * x + f(x)


k = 3
print(f"{k} {Outer_k} {Deep_k} {g(10)} {f(10)}")
#% used_names_are_the_module_s
def First_area(r):
    return 3 * r


def area(r):
    return 4 * r


print(f"{area(1)} {First_area(1)} {area(1)}")
#% a_variable_of_the_member_s_name
def Shapes_area(r):
    return 3 * r


def report(r):
    area = Shapes_area(r)
    return area + 1


print(f"{report(2)} {Shapes_area(1)}")
