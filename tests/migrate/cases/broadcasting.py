#% dotted_operators
import numpy as np

v = np.array([1, 2, 3])
print(
    f"{','.join(map(str, v + 1))} {','.join(map(str, 2 * v))} {','.join(map(str, v**2))} {','.join(map(str, v - v))}"
)
#% dotted_functions
import numpy as np

print(
    f"{','.join(map(str, np.sqrt(np.array([1.0, 4.0, 9.0]))))} {','.join(map(str, np.abs(np.array([-1, 2]))))}"
)
#% fused
import numpy as np

v = np.array([1.0, 2.0])
print(",".join(map(str, 2 * v**2 + 1)))
#% at_dot
import numpy as np

v = np.array([1.0, 2.0])
print(",".join(map(str, 2 * v**2 + np.sqrt(v) * 0)))
#% own_function_broadcast
import numpy as np


def f(x):
    return x**2 + 1


print(",".join(map(str, f(np.array([1, 2, 3])))))
#% own_function_with_a_branch_broadcast
def g(x):
    return x if x > 0 else 0


print(",".join(map(str, [g(x_2) for x_2 in [-1, 2, -3]])))
#% function_of_two_broadcast
import numpy as np


def h(x, y):
    return x * y + 1


print(
    f"{','.join(map(str, h(np.array([1, 2]), np.array([3, 4]))))} {','.join(map(str, h(np.array([1, 2]), 10)))}"
)
#% in_place_dots
import numpy as np

v = np.array([1.0, 2.0])
w = v
v += 1
v[:] = v * 2
print(",".join(map(str, w)))
#% rebinding_leaves_the_other_name
import numpy as np

v = np.array([1, 2])
w = v
v = v + 1
print(f"{','.join(map(str, w))} {','.join(map(str, v))}")
#% plus_equals_rebinds
import numpy as np

v = np.array([1, 2])
w = v
v = v + np.array([10, 10])
print(f"{','.join(map(str, w))} {','.join(map(str, v))}")
#% dotted_comparisons
import numpy as np

v = np.array([1, 5, 3])
print(f"{(v > 2).sum()} {(v == 3).sum()} {np.all(v >= 1)}")
#% max_broadcast
import numpy as np

print(
    f"{','.join(map(str, np.maximum(np.array([-1, 2]), 0)))} {','.join(map(str, np.minimum(np.array([4, 5]), np.array([5, 4]))))}"
)
#% strings_broadcast
print(
    f"{','.join([x.upper() for x in ['a', 'b']])} {','.join([f'{x_2}x' for x_2 in [1, 2]])} {','.join(map(str, [len(x_3) for x_3 in ['ab', 'c']]))}"
)
#% parse_broadcast
print(sum([int(x) for x in ["1", "2"]]))
#% conversions_broadcast
import numpy as np

print(
    f"{','.join(map(str, np.array([1.0, 2.0]).astype('int64')))} {','.join(map(str, np.floor(np.array([1.7, 2.2])).astype(int)))}"
)
#% matrix_and_vector
import numpy as np

m = np.array([[1, 3], [2, 4]])
v = np.array([10, 20])
s = m + v
print(f"{s[0, 0]} {s[1, 0]} {s[0, 1]} {s[1, 1]}")
#% matrix_and_row
import numpy as np

m = np.array([[1, 3], [2, 4]])
r = np.array([[10], [20]])
s = m + r
print(f"{s[0, 0]} {s[1, 0]} {s[0, 1]} {s[1, 1]}")
#% exponentials
import numpy as np

x = np.array([0.0, 1.0])
p = np.exp(x) / np.exp(x).sum()
print(f"{round(p[0], 4)} {round(p.sum(), 4)}")
#% dotted_pipe
import numpy as np

print(",".join(map(str, np.sqrt(np.array([1.0, 4.0])))))
#% remainder_broadcast
import numpy as np

print(
    f"{','.join(map(str, np.fmod(np.array([-3, 4]), 3)))} {','.join(map(str, np.array([-3, 4]) % 3))}"
)
#% ranges_broadcast
import numpy as np

print(",".join(map(str, np.arange(1, 4) * 2)))
#% scalar_function_of_both_kinds
import numpy as np


def k(x):
    return np.exp(x) * 2


print(f"{k(0.0)} {','.join(map(str, [k(x_2) for x_2 in [0.0, 0.0]]))}")
#% relu_by_hand
import numpy as np


def relu_(x):
    return np.maximum(x, 0)


print(",".join(map(str, relu_(np.array([-1.0, 2.0])))))
#% softmax_by_hand
import numpy as np


def softmax_(x):
    e = np.exp(x - x.max())
    return e / e.sum()


print(round(softmax_(np.array([1.0, 1.0]))[0], 3))
