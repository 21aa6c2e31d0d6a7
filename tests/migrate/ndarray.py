#% elements_of_a_literal
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]], dtype="int64")
print(f"{x.shape[::-1]} {x.shape[-1]} {x.shape[-2]} {x.ndim} {x.size}")
show_(x)
#% literal_of_floats
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

show_(mx.nd.array([[1, 3], [2, 4]]))
#% literal_of_a_vector
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

show_(mx.nd.array([1, 2, 3], dtype="int64"))
#% from_an_array
import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

a = np.array([[1.5, 3.5], [2.5, 4.5]])
show_(mx.nd.array(a, dtype=a.dtype))
#% from_an_array_with_a_type
import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

a = np.array([[1, 3], [2, 4]])
show_(mx.nd.array(a))
#% zeros_and_ones
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

show_(mx.nd.zeros((3, 2)))
show_(mx.nd.ones((2, 3)))
show_(mx.nd.zeros((1, 4)))
print(mx.nd.zeros((4, 3, 2)).shape[::-1])
#% like_another
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.ones((3, 2))
show_(mx.nd.zeros_like(x))
show_(mx.nd.ones_like(x))
print(mx.nd.zeros(x.shape).shape[::-1])
#% filled
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

show_(mx.nd.full((3, 2), 7, dtype="int64"))
#% arithmetic_with_numbers
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
show_(2 * x)
show_(x + 1)
show_(1 - x)
show_(x / 2)
show_(-x)
#% elementwise_of_two
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
y = mx.nd.array([[5, 7], [6, 8]])
show_(x + y)
show_(x * y)
show_(y / x)
show_(x - y)
show_(x**2)
show_(2**x)
#% matrix_product
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
y = mx.nd.array([[1, 0, 2], [0, 1, 2]])
show_(mx.nd.dot(y, x))
show_(mx.nd.dot(x, y))
print(f"{mx.nd.dot(y, x).shape[::-1]} {mx.nd.dot(x, y).shape[::-1]}")
#% matrix_times_vector
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
v = mx.nd.array([1, 0, 2])
show_(mx.nd.dot(v, x))
#% broadcast_over_columns
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
b = mx.nd.array([10, 20])
show_(x + b)
#% broadcast_over_rows
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
r = mx.nd.array([[10], [20], [30]])
show_(x * r)
#% transposed
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
show_(x.T)
print(x.T.shape[::-1])
v = mx.nd.array([1, 2, 3])
print(v.reshape((-1, 1)).shape[::-1])
#% reductions_over_one_dimension
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
show_(x.sum(axis=-1, keepdims=True))
show_(x.sum(axis=-2, keepdims=True))
show_(x.max(axis=-1, keepdims=True))
show_(x.min(axis=-2, keepdims=True))
print(f"{x.sum(axis=-1, keepdims=True).shape[::-1]} {x.sum(axis=-2, keepdims=True).shape[::-1]}")
#% means_over_one_dimension
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
show_(x.mean(axis=-1, keepdims=True))
show_(x.mean(axis=-2, keepdims=True))
#% reductions_over_two_dimensions
import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array(np.arange(1.0, 24.0 + 1 / 2, 1).reshape((4, 3, 2)), dtype="float64")
show_(x.sum(axis=(-1, -3), keepdims=True))
print(x.sum(axis=(-1, -2), keepdims=True).shape[::-1])
#% reduction_over_a_dimension_in_a_variable
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
for d in range(1, 3):
    show_(x.sum(axis=-d, keepdims=True))
#% reshaped
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]], dtype="int64")
show_(x.reshape((2, 3)))
print(
    f"{x.reshape((2, 3)).shape[::-1]} {x.reshape((6,)).shape[::-1]} {x.reshape((-1, 1)).shape[::-1]}"
)
#% reshaped_like_another
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]], dtype="int64")
y = mx.nd.zeros((2, 3))
show_(x.reshape(y.shape))
#% permuted
import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array(np.arange(1, 25).reshape((4, 3, 2)), dtype="int64")
show_(x.transpose((1, 2, 0)))
print(x.transpose((2, 0, 1)).shape[::-1])
#% one_more_dimension
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]], dtype="int64")
print(
    f"{mx.nd.expand_dims(x, axis=-1).shape[::-1]} {mx.nd.expand_dims(x, axis=-2).shape[::-1]} {mx.nd.expand_dims(x, axis=-3).shape[::-1]}"
)
#% joined
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
y = mx.nd.array([[5, 7], [6, 8]])
show_(mx.nd.concat(x, y, dim=1))
show_(mx.nd.concat(x, y, dim=0))
show_(mx.nd.concat(x, y, dim=1))
show_(mx.nd.concat(x, y, dim=0))
show_(mx.nd.concat(x, y, dim=1))
print(f"{mx.nd.concat(x, y, dim=1).shape[::-1]} {mx.nd.concat(x, y, dim=0).shape[::-1]}")
#% joined_vectors
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([1, 2])
y = mx.nd.array([3, 4])
show_(mx.nd.concat(x, y, dim=0))
print(mx.nd.concat(mx.nd.expand_dims(x, axis=0), mx.nd.expand_dims(y, axis=0), dim=0).shape[::-1])
#% joined_by_the_operator
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
show_(mx.nd.concat(x, x, dim=0))
show_(mx.nd.concat(x, x, dim=1))
#% parts_along_the_last_dimension
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]], dtype="int64")
show_(x[1:3])
show_(x[:1])
#% parts_of_a_vector
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

v = mx.nd.array([1, 2, 3, 4], dtype="int64")
show_(v[1:3])
#% assigning_everything
import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.zeros((2, 2))
x[:] = np.ones((2, 2))
show_(x)
y = mx.nd.zeros((2, 2))
y[:] = x
show_(y)
x[:] = 3
show_(x)
#% updates_in_place
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

w = mx.nd.ones((2, 2))
g = mx.nd.array([[1, 3], [2, 4]])
w -= 0.5 * g
show_(w)
w *= 2
show_(w)
#% in_place_macro
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

w = mx.nd.ones((2, 2))
g = mx.nd.array([[1, 3], [2, 4]])
v = w
w += g
w *= 2
show_(v)
#% in_place_functions
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

w = mx.nd.ones((2, 2))
g = mx.nd.array([[1, 3], [2, 4]])
w += g
w *= 2
w -= 1
w /= 2
show_(w)
#% plus_equals_makes_a_new_array
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

w = mx.nd.ones((2, 2))
v = w
w = w + mx.nd.ones((2, 2))
show_(v)
show_(w)
#% activations
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[-1, 0], [2, -3]])
show_(mx.nd.relu(x))
show_(mx.nd.sigmoid(x))
show_(mx.nd.tanh(x))
#% elementary_functions
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 9], [4, 16]])
show_(mx.nd.sqrt(x))
show_(mx.nd.log(x))
show_(mx.nd.exp(mx.nd.zeros((2, 2))))
show_(mx.nd.abs(-x))
#% clamped
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[-1, 0], [2, -3]])
show_(x.clip(-1, 1))
#% at_dot
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
show_(2 * x**2 + mx.nd.exp(0 * x))
#% comparisons
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
y = mx.nd.array([[1, 2], [3, 4]])
show_(x == y)
show_(x > y)
#% operators_with_parameters
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
w = mx.nd.array([[1, 4], [2, 5], [3, 6]])
b = mx.nd.array([10, 20, 30])
show_(mx.nd.FullyConnected(x, weight=w, bias=b, num_hidden=3))
show_(mx.nd.Activation(x - 2, act_type="relu"))
#% operators_turn_sizes_round
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
y = mx.nd.Reshape(x, shape=(2, 3))
print(y.shape[::-1])
show_(y)
#% copied_to_an_array
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]], dtype="int64")
a = x.asnumpy()
a[1, 0] = 100
print(f"{a[1, 0]} {a[0, 1]}")
show_(x)
#% copied_into
import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.zeros((2, 2))
x[:] = np.array([[1, 3], [2, 4]])
show_(x)
#% shapes_in_variables
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

dims = 2, 3
x = mx.nd.zeros(dims[::-1])
rows, cols = x.shape[::-1]
print(f"{rows} {cols} {x.shape[-1]} {x.shape[0]}")
y = mx.nd.ones((rows, cols))
print(y.shape[::-1])
#% own_function_broadcast
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx


def swish(x):
    return x / (1 + mx.nd.exp(-x))


show_(swish(mx.nd.array([[0, 2], [1, 3]])))
#% layer_by_hand
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx


def layer(x, w, b):
    return mx.nd.tanh(mx.nd.dot(x, w) + b)


x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
w = mx.nd.array([[0.1, 0.3, 0.5, 0.7], [0.2, 0.4, 0.6, 0.8]])
b = mx.nd.array([0.1, 0.2, 0.3, 0.4])
y = layer(x, w, b)
print(y.shape[::-1])
show_(y)
#% softmax_by_hand
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx


def softmax_(x):
    e = mx.nd.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


show_(softmax_(mx.nd.array([[1, 3, 0], [2, 5, 1]])))
#% batches
import numpy as np
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array(np.arange(1.0, 12.0 + 1 / 2, 1).reshape((6, 2)))
for k in range(1, 6, 2):
    show_(x[k - 1 : k + 1])
#% as_julia_arrays
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 5], [3, 6]])
y = mx.nd.ones((3, 2))
z = mx.nd.zeros((3, 2))
x_np = x.asnumpy()
y_np = y.asnumpy()
z_np = z.asnumpy()
z_np[0] = x_np[1] + y_np[1]
for j in range(1, x_np.shape[-2]):
    z_np[j, 0] = x_np[j, 1]
z[:] = z_np
show_(z)
#% normalised
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

x = mx.nd.array([[1, 4], [2, 6], [3, 8]])
m = x.mean(axis=-2, keepdims=True)
c = x - m
v = (c**2).mean(axis=-2, keepdims=True)
show_(c / mx.nd.sqrt(v + 1e-05))
#% outer_product_by_broadcasting
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

v = mx.nd.array([1, 2, 3])
w = mx.nd.array([[1], [10]])
show_(v * w)
#% recorded_block_gives_its_value
import pybridge as pb
import mxnet as mx

x = mx.nd.array([[1, 3], [2, 4]])
with pb.record():
    t = x * x
    y = t + 1
show_(y)
#% lists_of_arrays
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

params = [mx.nd.ones(2), mx.nd.zeros(3)]
for p in params:
    print(p.shape[::-1])
params.append(mx.nd.ones(1))
print(len(params))
#% dictionaries_of_arrays
import pybridge  # noqa: F401  (MXNet wants it first)
import mxnet as mx

params = {"w": mx.nd.ones((3, 2)), "b": mx.nd.zeros(2)}
y = params["w"] + params["b"]
show_(y)
print(sum((v.size for v in params.values())))
