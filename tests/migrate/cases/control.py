#% if_elseif_else
def sign_word(x):
    if x > 0:
        return "plus"
    elif x < 0:
        return "minus"
    else:
        return "zero"


print(sign_word(3), sign_word(-3), sign_word(0), sep="")
#% for_with_step
for i in range(10, 0, -3):
    print(i)
#% for_over_two_iterators
for i in range(1, 3):
    for j in range(1, 4):
        print(i, j, sep="")
#% for_over_strings_and_chars
for c in "abc":
    print(f"{c}-", end="")
print()
#% while_with_break_and_continue
n = 0
total = 0
while True:
    n += 1
    if n > 10:
        break
    if n % 2 == 0:
        continue
    total += n
print(f"{n} {total}")
#% short_circuit_return
import numpy as np


def first_big(xs):
    for x in xs:
        if x > 10:
            return x
    return


print(f"{first_big(np.array([1, 20, 30]))} {first_big(np.array([1])) is None}")
#% or_as_unless
def check(x):
    if not x > 0:
        return "no"
    return "yes"


print(check(1), check(-1), sep="")
#% let_block_keeps_the_outer_name
x = 1
x_inner = 5
print(x_inner)
print(x)
#% let_as_a_value
a = 2
b = 3
y = a * b
print(y)
#% begin_as_a_value
t = 3
z = t + 1
print(z)
#% if_as_a_value
x = 7
if x % 2 == 0:
    kind = "even"
else:
    kind = "odd"
print(kind)
#% try_catch
def safe(f):
    try:
        return f()
    except Exception as e:
        return "failed: " + str(e)


def function():
    raise RuntimeError("bad")


print(f"{safe(lambda: 'fine')} {safe(function)}")
#% try_finally
def noisy():
    try:
        return 1
    finally:
        print("done")


print(noisy())
#% throw_and_type_of_errors
def checked(x):
    if x < 0:
        raise ValueError("negative")
    return x


try:
    checked(-1)
except Exception as e:
    print(f"{isinstance(e, ValueError)} {str(e)}")
#% nested_loops_with_accumulators
def table(n):
    s = 0
    for i in range(1, n + 1):
        for j in range(i, n + 1):
            s += i * j
    return s


print(table(4))
#% loop_variable_stays_outside
i = 100
for i_inner in range(1, 4):
    print(i_inner)
print(i)
#% enumerate_counts_from_one
for i, x in enumerate(["a", "b"], 1):
    print(i, x, sep="")
#% zip_of_two
import numpy as np

for a, b in zip(np.array([1, 2, 3]), np.array([4, 5, 6])):
    print(a * b)
#% while_with_condition
n = 27
steps = 0
while n != 1:
    n = n // 2 if n % 2 == 0 else 3 * n + 1
    steps += 1
print(steps)
#% if_without_else_as_value
x = 1
if x > 5:
    y = 3
else:
    y = None
print(y is None)
#% ternary_with_effects
x = 3
if x > 2:
    print("big")
else:
    print("small")
#% assert_passes
x = 3
assert x == 3, "not three"
print("ok")
#% for_in_with_element_of_sign
for x in [3, 4]:
    print(x)
#% nested_functions_and_early_returns
import numpy as np


def find(xs, wanted):
    for i, x in enumerate(xs, 1):
        if x == wanted:
            return i
    return 0


print(find(np.array([5, 6, 7]), 6), find(np.array([5]), 6), sep="")
#% let_assigns_names_of_its_own
x = 1
x_inner = 2
print(x_inner)
print(x)
#% let_in_a_function_changes_its_variable
def f():
    x = 1
    x = 2
    return x


print(f())
#% range_with_a_step_in_a_variable
k = 3
for i in range(1, 11, k):
    print(f"{i} ", end="")
print()
