#% vector_elements_from_one
import numpy as np

v = np.array([10, 20, 30])
print(f"{v[0]} {v[-1]} {v[-2]}")
#% vector_parts
import numpy as np

v = np.array([1, 2, 3, 4, 5])
print(
    f"{','.join(map(str, v[1:4]))} {','.join(map(str, v[1:]))} {','.join(map(str, v[:-1]))} {','.join(map(str, v[-2:]))}"
)
#% vector_parts_with_steps
import numpy as np

v = np.array([1, 2, 3, 4, 5])
print(f"{','.join(map(str, v[::2]))} {','.join(map(str, v[::-1]))} {','.join(map(str, v[3:0:-1]))}")
#% vector_parts_with_variables
import numpy as np

v = np.array([1, 2, 3, 4, 5])
i, n = 2, 2
print(
    f"{','.join(map(str, v[i - 1 : i + n]))} {v[i]} {v[len(v) - n - 1]} {','.join(map(str, v[len(v) - n - 1 :]))}"
)
#% index_in_the_middle
import numpy as np

v = np.array([1, 2, 3, 4, 5])
print(v[int((len(v) + 1) / 2) - 1])
#% assigning_elements
import numpy as np

v = np.array([1, 2, 3])
v[1] = 20
v[-1] += 5
print(",".join(map(str, v)))
#% assigning_parts
import numpy as np

v = np.array([1, 2, 3, 4])
v[1:3] = np.array([7, 8])
v[:1] = 0
print(",".join(map(str, v)))
#% part_of_a_vector_is_a_copy
import numpy as np

a = np.array([1, 2, 3])
b = a[:2].copy()
b[0] = 100
print(f"{a[0]} {b[0]}")
#% growing_vectors
import numpy as np

v = []
v.append(1)
v.extend([2, 3])
v.extend(np.array([4, 5]))
v.insert(0, 0)
print(f"{','.join(map(str, v))} {v.pop()} {v.pop(0)} {len(v)}")
#% inserting_and_deleting
v = [1, 2, 3]
v.insert(1, 9)
del v[0]
print(",".join(map(str, v)))
#% dictionaries
d = {"a": 1, "b": 2}
d["c"] = 3
print(f"{d['a'] + d['c']} {'z' in d} {d.get('z', 0)} {len(d)}")
#% dictionary_loop
d = {"k": 7}
for k, v in d.items():
    print(k, v, sep="")
for p in d.items():
    print(p[0], p[1], sep="")
#% dictionary_keys_and_values
d = {1: "x", 2: "y"}
print(f"{','.join(map(str, sorted(d.keys())))} {','.join(sorted(d.values()))}")
#% dictionary_from_a_generator
d = {i: i**2 for i in range(1, 4)}
print(d[3])
#% dictionary_updates
d = {}
for w in ["a", "b", "a"]:
    d[w] = d.get(w, 0) + 1
print(d["a"], d["b"], sep="")
d.pop("a", None)
print(len(d))
#% get_with_default_made
d = {}
d.setdefault("a", []).append(1)
print(len(d["a"]))
#% tuples
t = 1, "two", 3.0
print(f"{t[0]}{t[1]}{t[2]} {len(t)}")
a, b, c = t
print(b)
#% named_tuples
import collections

p = collections.namedtuple("NamedTuple", ["x", "y"])(x=1, y=2)
print(f"{p.x + p.y} {p[1]}")
#% pairs
p = "a", 1
print(f"{p[0]} {p[1]} {p[0]}{p[-1]}")
#% sets
s = {1, 2, 2, 3}
s.add(4)
print(f"{len(s)} {3 in s} {9 in s} {9 not in s}")
#% comprehension
import numpy as np

print(
    f"{','.join(map(str, np.array([x**2 for x in range(1, 5)])))} {','.join(map(str, np.array([x for x in range(1, 11) if x % 3 == 0])))}"
)
#% comprehension_over_two_with_a_test
import numpy as np

print(",".join(map(str, np.array([a + b for a in range(1, 4) for b in range(1, 4) if a < b]))))
#% comprehension_grid
import numpy as np

m = np.array([[10 * i + j for i in range(1, 3)] for j in range(1, 4)])
print(f"{m[2, 1]} {m[1, 0]} {m.shape[-1]} {m.shape[-2]}")
#% generators
print(
    f"{sum((x**2 for x in range(1, 4)))} {max((abs(x) for x in [-5, 2]))} {'-'.join((str(x) for x in range(1, 4)))}"
)
#% membership_and_position
import numpy as np

v = np.array([4, 5, 6])
print(f"{5 in v} {next((i for i, x in enumerate(v, 1) if x == 6), None)}")
#% sorting
import numpy as np

print(
    f"{','.join(map(str, np.sort([3, 1, 2])))} {','.join(map(str, np.array(sorted([3, 1, 2], reverse=True))))} {','.join(sorted(['bb', 'a'], key=len))} {','.join(map(str, np.argsort(np.array([30, 10, 20]), kind='stable') + 1))}"
)
#% sorting_in_place
import numpy as np

v = np.array([3, 1, 2])
v.sort()
print(",".join(map(str, v)))
#% reversing_and_unique
import numpy as np

print(
    f"{','.join(map(str, np.array([1, 2, 3])[::-1]))} {','.join(map(str, list(dict.fromkeys([1, 2, 1]))))} {'abc'[::-1]}"
)
#% reductions_of_vectors
import numpy as np

v = np.array([3.0, 1.0, 2.0])
print(f"{v.sum()} {v.prod()} {v.max()} {v.min()} {int(np.argmax(v)) + 1} {int(np.argmin(v)) + 1}")
#% findmax
import numpy as np

m, i = np.max(np.array([3, 9, 2])), int(np.argmax(np.array([3, 9, 2]))) + 1
print(f"{m} {i}")
#% statistics
import numpy as np

v = np.array([1.0, 2.0, 3.0, 4.0])
print(f"{v.mean()} {round(np.std(v, ddof=1), 4)} {round(np.var(v, ddof=1), 4)} {np.median(v)}")
#% cumulative
import numpy as np

print(
    f"{','.join(map(str, np.cumsum(np.array([1, 2, 3]))))} {','.join(map(str, np.diff(np.array([1, 4, 9]))))}"
)
#% ranges
import numpy as np

r = range(2, 6)
print(f"{r[0]}{r[-1]}{len(r)} {3 in r} {','.join(map(str, np.arange(1, 4)))}")
#% ranges_of_floats
import numpy as np

print(" ".join(map(str, np.arange(0, 1 + 0.25 / 2, 0.25))))
#% range_with_length
import numpy as np

print(" ".join(map(str, np.linspace(0, 1, 5))))
#% empty_checks
import numpy as np

print(f"{not []} {np.array([1]).size == 0} {not ''} {not {}}")
#% vectors_of_vectors
vs = [[1, 2], [3]]
vs[1].append(4)
print(len(vs), vs[1][1], sep="")
#% first_and_last
import numpy as np

v = np.array([1, 2, 3])
print(v[0], v[-1], sep="")
#% copy_is_apart
import numpy as np

a = np.array([1, 2])
b = a.copy()
b[0] = 9
print(a[0])
#% set_operations
import numpy as np

print(
    f"{','.join(map(str, list(dict.fromkeys([*np.array([1, 2]), *np.array([2, 3])]))))} {','.join(map(str, [item_2 for item_2 in np.array([1, 2]) if item_2 in np.array([2, 3])]))} {','.join(map(str, [item_3 for item_3 in np.array([1, 2]) if item_3 not in np.array([2])]))}"
)
#% vcat_of_vectors
import numpy as np

print(
    f"{','.join(map(str, np.concatenate([np.array([1, 2]), np.array([3])], axis=-1)))} {','.join(map(str, np.concatenate([np.array([1, 2]), np.array([3])], axis=-1)))} {','.join(map(str, np.array([1, 2, 3])))}"
)
#% elements_used_as_positions
import numpy as np

names = ["a", "b", "c"]
order = np.array([3, 1, 2])
for i in order:
    print(names[i - 1], end="")
print()
#% loop_over_positions
import numpy as np

v = np.array([5, 6, 7])
for i in range(len(v)):
    v[i] = v[i] + 1
for i in range(len(v)):
    print(f"{v[i]} ", end="")
print()
#% loop_over_neighbours
import numpy as np

v = np.array([1, 4, 9, 16])
for i in range(1, len(v)):
    print(f"{v[i] - v[i + 1 - 2]} ", end="")
print()
#% boolean_masks
import numpy as np

v = np.array([1, 5, 2, 8])
print(f"{','.join(map(str, v[v > 3]))} {(v > 3).sum()}")
#% fill_and_zeros
import numpy as np

print(
    f"{','.join(map(str, np.full(3, 7)))} {','.join(map(str, np.zeros(2)))} {','.join(map(str, np.ones(2, dtype='int64')))}"
)
#% vector_of_strings
words = []
words.append("x")
print("".join(words), len(words), sep="")
#% deep_copies
import copy

import numpy as np

xs = [np.array([1, 2]), np.array([3])]
zs = copy.deepcopy(xs)
zs[1][0] = 60
print(f"{xs[1][0]} {zs[1][0]}")
#% named_tuples_as_options
import collections

nt = collections.namedtuple("NamedTuple", ["a", "b"])(a=1, b=2)


def f(*, a=0, b=0):
    return a + 10 * b


print(f"{f(**nt._asdict())} {nt.b} {nt.a}")
#% a_growing_vector_under_a_mask
import numpy as np

a = [1, 5, 3]
a.append(4)
print(",".join(map(str, [x for x, kept in zip(a, np.array(a) > 3) if kept])))
