#% literal_and_elements
import numpy as np

m = np.array([[1, 4], [2, 5], [3, 6]])
print(f"{m[1, 0]} {m[0, 1]} {m[-1, -1]} {m.shape[::-1]} {m.size}")
#% rows_and_columns
import numpy as np

m = np.array([[1, 4], [2, 5], [3, 6]])
print(f"{','.join(map(str, m[:, 0]))} {','.join(map(str, m[1]))} {','.join(map(str, m[1:, 1]))}")
#% blocks
import numpy as np

m = np.array([[1, 4, 7], [2, 5, 8], [3, 6, 9]])
b = m[:2, 1:3]
print(f"{b.shape[::-1]} {b[0, 0]} {b[1, 1]}")
#% negative_elements_in_rows
import numpy as np

m = np.array([[1, -3], [-2, 4]])
print(f"{m[1, 0]} {m[0, 1]} {m.shape[::-1]}")
#% transposed
import numpy as np

m = np.array([[1, 4], [2, 5], [3, 6]])
t = m.T
print(f"{t.shape[::-1]} {t[0, 2]}")
#% product
import numpy as np

a = np.array([[1, 3], [2, 4]])
b = np.array([[5, 7], [6, 8]])
c = b @ a
print(f"{c[0, 0]} {c[1, 0]} {c[0, 1]} {c[1, 1]}")
#% matrix_times_vector
import numpy as np

a = np.array([[1, 4], [2, 5], [3, 6]])
v = np.array([1, 0, 2])
print(",".join(map(str, v @ a)))
#% inner_and_outer_products
import numpy as np

v = np.array([1, 2, 3])
w = np.array([4, 5])
print(f"{v @ v} {np.outer(w, v)[1, 2]} {np.outer(w, v).shape[::-1]}")
#% reductions_over_dimensions
import numpy as np

m = np.array([[1, 4], [2, 5], [3, 6]])
print(
    f"{','.join(map(str, m.sum(axis=-1, keepdims=True).flat))} {','.join(map(str, m.sum(axis=-2, keepdims=True).flat))} {m.sum()}"
)
#% reductions_keep_dimensions
import numpy as np

m = np.array([[1, 4], [2, 5], [3, 6]])
print(f"{m.sum(axis=-1, keepdims=True).shape[::-1]} {m.max(axis=-2, keepdims=True).shape[::-1]}")
#% mean_over_dimensions
import numpy as np

m = np.array([[1.0, 3.0], [2.0, 4.0]])
print(f"{','.join(map(str, m.mean(axis=-1, keepdims=True).flat))} {m.mean()}")
#% reshape_runs_down_columns
import numpy as np

m = np.arange(1, 7).reshape((3, 2))
print(f"{m[0, 0]} {m[0, 1]} {m[1, 0]} {m[2, 1]}")
#% reshape_with_a_tuple_and_vec
import numpy as np

m = np.array([[1, 2], [3, 4]])
print(
    f"{','.join(map(str, m.reshape(-1)))} {m.reshape((1, 4)).shape[::-1]} {m.reshape((1, -1)).shape[::-1]}"
)
#% linear_positions
import numpy as np

m = np.array([[1, 2], [3, 4]])
print(f"{m.flat[1]} {m.flat[2]}")
#% joined
import numpy as np

a = np.array([[1, 3], [2, 4]])
print(
    f"{np.concatenate([a, a], axis=-1).shape[::-1]} {np.concatenate([a, a], axis=-2).shape[::-1]} {np.concatenate([a, a], axis=-1).shape[::-1]} {np.concatenate([a, a], axis=-2).shape[::-1]} {np.stack([a, a]).shape[::-1]}"
)
#% joined_columns
import numpy as np

a = np.array([1, 2])
m = np.stack([a, np.array([3, 4])])
print(f"{m.shape[::-1]} {m[0, 1]} {m[1, 0]}")
#% zeros_with_sizes
import numpy as np

z = np.zeros((3, 2))
z[2, 1] = 5
print(f"{z.shape[::-1]} {z.sum()} {np.zeros(z.shape).shape[::-1]} {np.ones((1, 3)).shape[::-1]}")
#% assigning_rows_and_columns
import numpy as np

m = np.zeros((2, 2))
m[:, 0] = np.array([1, 2])
m[1] = 7
print(f"{m[0, 0]} {m[1, 0]} {m[1, 1]}")
#% loops_over_both_dimensions
import numpy as np

m = np.array([[1, 3], [2, 4]])
t = 0
for i in range(1, m.shape[-1] + 1):
    for j in range(m.shape[-2]):
        t += m[j, i - 1] * i
print(t)
#% three_dimensions
import numpy as np

a = np.arange(1, 25).reshape((4, 3, 2))
print(
    f"{a[2, 1, 0]} {a[3, 2, 1]} {a[0].shape[::-1]} {a[:, :, 0].shape[::-1]} {a.sum(axis=(-1, -2), keepdims=True).shape[::-1]}"
)
#% permuted_dimensions
import numpy as np

a = np.arange(1, 25).reshape((4, 3, 2))
p = a.transpose(1, 2, 0)
print(f"{p.shape[::-1]} {p[1, 0, 2]} {a[2, 1, 0]}")
#% dropped_dimensions
import numpy as np

m = np.array([[1, 4], [2, 5], [3, 6]])
print(",".join(map(str, m.sum(axis=-1, keepdims=True).squeeze(axis=-1))))
#% size_taken_apart
import numpy as np

m = np.zeros((5, 2))
rows, cols = m.shape[::-1]
print(f"{rows} {cols} {m.shape[-1]} {m.shape[0]} {m.ndim}")
#% elementwise_and_matrix_power
import numpy as np

m = np.array([[1, 0], [1, 1]])
print(f"{np.linalg.matrix_power(m, 3)[1, 0]} {(m**3)[1, 0]}")
#% solving
import numpy as np

a = np.array([[2.0, 1.0], [0.0, 4.0]])
x = np.linalg.solve(a.T, np.array([2.0, 9.0]))
print(f"{round(x.flat[0], 6)} {round(x.flat[1], 6)} {round(np.linalg.det(a), 6)}")
#% dot_and_norm
import numpy as np

print(f"{np.dot(np.array([1, 2]), np.array([3, 4]))} {np.linalg.norm(np.array([3.0, 4.0]))}")
#% matrix_of_a_comprehension_times_vector
import numpy as np

m = np.array([[1 if i == j else 0 for i in range(1, 4)] for j in range(1, 4)])
print(",".join(map(str, np.array([4, 5, 6]) @ m)))
#% batches_of_columns
import numpy as np

x = np.arange(1, 13).reshape((6, 2))
for k in range(1, 6, 2):
    b = x[k - 1 : k + 1]
    print(b.sum())
#% cumulative_over_dimensions
import numpy as np

m = np.array([[1, 3], [2, 4]])
c = np.cumsum(m, axis=-1)
print(f"{c[0, 1]} {c[1, 1]}")
#% row_vector_from_adjoint
import numpy as np

v = np.array([1, 2, 3])
m = np.array([[1, 2], [1, 2], [1, 2]])
s = m + v.reshape(-1, 1)
print(f"{s[2, 0]} {s[0, 1]}")
#% blocks_and_rows_of_numbers
import numpy as np

M = np.array([[1, 4], [2, 5], [3, 6]])
a = np.concatenate([M, [[7], [8], [9]]], axis=-1)
b = np.concatenate([[[1], [2]], M[:2]], axis=-1)
print(f"{a.shape[::-1]} {a[1, 2]} {b.shape[::-1]} {b[1, 0]} {b[0, 2]}")
#% a_matrix_beside_a_vector
import numpy as np

M = np.array([[1, 4], [2, 5], [3, 6]])
b = np.concatenate([M, np.array([7, 8]).reshape(1, -1)], axis=-2)
c = np.concatenate([np.array([9, 10]).reshape(1, -1), M], axis=-2)
print(f"{b.shape[::-1]} {b[3, 1]} {c.shape[::-1]} {c[0, 1]} {c[3, 0]}")
#% elements_under_a_mask
import numpy as np

M = np.array([[1, 4], [5, 2], [3, 6]])
print(",".join(map(str, M[M > 2])))
M[M > 4] = 0
print(",".join(map(str, M.reshape(-1))))
#% comprehension_over_a_matrix
import numpy as np

M = np.array([[1, 4], [2, 5], [3, 6]])
b = np.array([x**2 for x in M.flat]).reshape(M.shape)
d = np.array([x + 1 for x in M.flat]).reshape(M.shape)
print(f"{b.shape[::-1]} {b[2, 1]} {d.shape[::-1]} {d[1, 0]} {b.sum()}")
#% row_times_matrix
import numpy as np

w = np.array([1.0, 2.0])
X = np.array([[1.0, 4], [2, 5], [3, 6]])
p = X @ w.reshape(-1, 1)
print(f"{p.shape[::-1]} {p.shape[-2]} {p[2, 0]} {p.sum(axis=-2, keepdims=True).flat[0]} {w @ w}")
q = p - X
print(f"{q.shape[::-1]} {q[2, 1]}")
#% any_and_all_along_a_dimension
import numpy as np

M = np.array([[1, 0], [0, 0], [3, 6]])
a = np.any(M > 0, axis=-1, keepdims=True)
b = np.all(M > 0, axis=-2, keepdims=True)
print(f"{a.shape[::-1]} {np.sum(a)} {b.shape[::-1]} {np.sum(b)}")
#% parts_that_are_kept
import numpy as np

M = np.array([[1, 3], [2, 4]])
kept = []
kept.append(M[0].copy())
columns = [M[j].copy() for j in range(2)]
table = {"second": M[1].copy()}
pair = M[:, 0].copy(), 0
third = M[1].copy()
M *= 10
# the position in a vector: a dictionary keeps its key, a matrix counts through x.flat
print(
    f"{kept[0][1]} {columns[1][0]} {table['second'][1]} {pair[0][1]} {third[0]} {M[1, 1]}"
)  # migrate: check axis
#% columns_put_together
import numpy as np

rows = [np.array([1.0, 2.0]), np.array([3.0, 4.0])]
data = np.stack(rows).T
y = data[1]
w = np.zeros(2)
w = w + y[1] * data[:, 0]
print(f"{data.shape[::-1]} {y[0]} {','.join(map(str, w))}")
