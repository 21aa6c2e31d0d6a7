"""The Python sides of test_crosscheck_proof.py: MXNet operators, and backward passes written by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import pybridge  # noqa: F401 - before MXNet: puts NumPy's old names back

import mxnet as mx  # isort: skip

nd = mx.nd
EPSILON = 2.0**-7  # one number in float32 and in float64


def function(forward: Callable[..., Any], backward: Callable[..., Any]) -> Callable[..., Any]:
    """``forward(*xs)`` with the gradient ``backward(xs, *heads)``."""

    class Written(mx.autograd.Function):
        def forward(self, *xs):
            self.xs = [x.copy() for x in xs]
            return forward(*xs)

        def backward(self, *heads):
            return backward(self.xs, *heads)

    return lambda *xs: Written()(*xs)


def swish(x):
    return x * nd.sigmoid(x)


def swish_slope(x):
    s = nd.sigmoid(x)
    return s + x * s * (1 - s)


def swish_with(change: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Swish, its gradient made of the head gradient and x by ``change``."""
    return function(swish, lambda xs, head: change(head, xs[0]))


def stale(slope: Callable[[Any], Any], forward: Callable[[Any], Any]) -> Callable[..., Any]:
    """A function whose backward uses the input of whichever call came last."""
    kept: list[Any] = [None]

    def remember(x):
        kept[0] = x.copy()
        return forward(x)

    return function(remember, lambda xs, head: head * slope(kept[0]))


def writing(x):
    y = swish(x)
    x[:] = -x
    return y


def softmax(axis):
    return lambda x: nd.softmax(x, axis=axis)


def softmax_slope(xs, head, axis, along):
    s = nd.softmax(xs[0], axis=axis)
    return s * nd.broadcast_sub(head, (head * s).sum(axis=along, keepdims=True))


def logsoftmax(x):
    return nd.log_softmax(x, axis=-1)


def logsumexp(axis):
    def f(x):
        m = nd.BlockGrad(x.max(axis=axis, keepdims=True))
        return (nd.log(nd.exp(nd.broadcast_sub(x, m)).sum(axis=axis, keepdims=True)) + m).sum(axis=axis)

    return f


def affine(x, w, b):
    return nd.broadcast_add(nd.dot(x, w.T), b.expand_dims(0))


def affine_with(change: Callable[..., Any]) -> Callable[..., Any]:
    """Affine map, its three right gradients handed through ``change(gx, gw, gb, head)``."""

    def backward(xs, head):
        x, w, _ = xs
        return change(nd.dot(head, w), nd.dot(head.T, x), head.sum(axis=0), head)

    return function(affine, backward)


def normalise(x, axis):
    n = x.shape[axis]
    c = nd.broadcast_sub(x, x.sum(axis=axis, keepdims=True) / n)
    return nd.broadcast_div(c, nd.sqrt((c * c).sum(axis=axis, keepdims=True) / n + EPSILON))


def layernorm(x, g, b):
    scaled = nd.broadcast_mul(normalise(x, 1), g.expand_dims(0))
    return nd.broadcast_add(scaled, b.expand_dims(0))


def normalise_blocked(x):
    """Variance taken for a constant: its part of the gradient is missing."""
    n = x.shape[1]
    c = nd.broadcast_sub(x, x.sum(axis=1, keepdims=True) / n)
    v = nd.BlockGrad((c * c).sum(axis=1, keepdims=True) / n)
    return nd.broadcast_div(c, nd.sqrt(v + EPSILON))


def layernorm_blocked(x, g, b):
    scaled = nd.broadcast_mul(normalise_blocked(x), g.expand_dims(0))
    return nd.broadcast_add(scaled, b.expand_dims(0))


def huber(x):
    small = nd.abs(x) < 1
    return nd.where(small, x * x / 2, nd.abs(x) - 0.5)


def hinge(s, t):
    return nd.relu(1 - s * t).sum()


def relunet(x, w, b, v):
    return nd.dot(nd.relu(affine(x, w, b)), v)


def runningsum(x):
    return nd.dot(nd.array(np.tril(np.ones((x.size, x.size))), dtype=x.dtype), x)


def differences(x):
    return x[1:] - x[:-1]


def largest(axis):
    """The largest along an axis, its gradient to one of the tied."""
    return lambda x: nd.pick(x, nd.BlockGrad(x.argmax(axis=axis)), axis=axis)


def pairwise(x, y):
    return nd.broadcast_sub(x.expand_dims(1), y.expand_dims(0))


def squareddistances(x, y):
    return nd.square(pairwise(x, y)).sum(axis=2)


def squareddistances_expanded(x, y):
    squares = nd.broadcast_add((x * x).sum(axis=1).expand_dims(1), (y * y).sum(axis=1).expand_dims(0))
    return squares - 2 * nd.dot(x, y.T)


def distances(x, y):
    return nd.sqrt(squareddistances(x, y))


def outer(a, b):
    return nd.dot(a.reshape((-1, 1)), b.reshape((1, -1)))


def correlate(x, w):
    y = nd.Convolution(
        x.reshape((1, 1, -1)), w.reshape((1, 1, -1)), kernel=(w.size,), num_filter=1, no_bias=True
    )
    return y.reshape((-1,))


def rbf(x, y, gamma):
    return nd.exp(-nd.broadcast_mul(squareddistances(x, y), gamma.reshape((1, 1))))


def sumdifference(a, b):
    return [a + b, a - b]


def sinc(x):
    return nd.where(x == 0, nd.ones_like(x), nd.sin(x) / nd.where(x == 0, nd.ones_like(x), x))


def sinc_undefined(x):
    """Right values; 0 / 0 in the gradient at zero."""
    return nd.where(x == 0, nd.ones_like(x), nd.sin(x) / x)


def norm(x):
    return nd.sqrt((x * x).sum())


def middle(x):
    return nd.sort(x, axis=0)[x.size // 2]


def cosine(a, b):
    return (a * b).sum() / (norm(a) * norm(b))


def determinant(x):
    return x[0, 0] * x[1, 1] - x[0, 1] * x[1, 0]


def halves(x):
    n = x.shape[1] // 2
    return [x[:, :n], x[:, n:]]
