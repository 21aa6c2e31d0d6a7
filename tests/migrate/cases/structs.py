#% struct_with_fields
from dataclasses import dataclass


@dataclass(frozen=True)
class Point:
    x: float
    y: float


p = Point(1.0, 2.0)
print(p.x + p.y)
#% mutable_struct
from dataclasses import dataclass


@dataclass
class Counter:
    n: int


def step(c):
    c.n += 1


c = Counter(0)
step(c)
step(c)
print(c.n)
#% inner_constructor
import math


class Ratio:
    def __init__(self, a, b):
        g = math.gcd(a, b)
        self.num = a // g
        self.den = b // g


r = Ratio(6, 4)
print(f"{r.num}/{r.den}")
#% incomplete_constructor
class Box:
    def __init__(self):
        self.value = None
        self.count = 0


b = Box()
b.value = 3
print(b.value, b.count, sep="")
#% keyword_struct
from dataclasses import dataclass


@dataclass
class Options:
    rate: float = 0.5
    steps: int = 10


o = Options(steps=3)
print(f"{o.rate} {o.steps}")
#% callable_struct
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Scale:
    by: Any

    def __call__(s, x):
        return s.by * x


double = Scale(2)
print(double(21))
#% abstract_types_and_methods
import functools
from dataclasses import dataclass
from typing import Any


class Shape:
    pass


@dataclass(frozen=True)
class Square(Shape):
    side: Any


@dataclass(frozen=True)
class Circle(Shape):
    radius: Any


@functools.singledispatch
def area(s):
    raise TypeError(f"area has no method for {type(s).__name__}")


@area.register(Square)
def _(s):
    return s.side**2


@area.register(Circle)
def _(c):
    return 3 * c.radius**2


for s in [Square(2), Circle(1)]:
    print(area(s))
print(isinstance(Square(1), Shape))
#% show_method
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Money:
    amount: Any

    def __str__(m):
        return f"${m.amount}"


print(Money(5))
#% struct_holding_a_vector
from dataclasses import dataclass
from typing import Any


@dataclass
class Stack:
    items: Any


s = Stack([])
s.items.append(4)
s.items.append(5)
print(f"{len(s.items)} {s.items[-1]} {s.items.pop()}")
#% parametric_struct
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Pair2:
    a: Any
    b: Any


q = Pair2(1, 2)
print(q.a + q.b)
#% linked_structs
from dataclasses import dataclass
from typing import Any


@dataclass
class Node:
    value: int
    next_: Any


n = Node(1, Node(2, None))
print(f"{n.next_.value} {n.next_.next_ is None}")
#% module_with_functions
FACTOR = 2


def twice(x):
    return FACTOR * x


print(twice(4))
#% deep_copy_of_a_struct
import copy
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass
class Meter:
    n: int
    seen: Any


m = Meter(1, np.array([1, 2]))
best = copy.deepcopy(m)
m.n = 5
m.seen[0] = 7
print(f"{best.n} {best.seen[0]} {m.n} {m.seen[0]}")
