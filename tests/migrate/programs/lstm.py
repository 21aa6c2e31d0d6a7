# A small LSTM cell, unrolled by hand, that learns to add up a sequence.

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pybridge as pb
import mxnet as mx


# sizes
n_in, n_hidden, n_step, n_batch = 1, 6, 4, 16


@dataclass(frozen=True)
class State:
    c: Any
    h: Any


@dataclass(frozen=True)
class Parameters:
    wx: Any  # input to gates
    wh: Any  # hidden to gates
    b: Any
    wy: Any  # hidden to output
    by: Any


def make_parameters(n_in, n_hidden):
    σ0 = 0.4
    return Parameters(
        mx.nd.random.normal(scale=σ0, shape=(n_in, 4 * n_hidden)),
        mx.nd.random.normal(scale=σ0, shape=(n_hidden, 4 * n_hidden)),
        mx.nd.zeros(4 * n_hidden),
        mx.nd.random.normal(scale=σ0, shape=(n_hidden, 1)),
        mx.nd.zeros(1),
    )


def lstm_cell(x: mx.nd.NDArray, state, p):
    """One step of the cell."""
    gates = mx.nd.dot(x, p.wx) + mx.nd.dot(state.h, p.wh) + p.b
    parts = mx.nd.SliceChannel(gates, num_outputs=4, axis=1)
    in_gate = mx.nd.sigmoid(parts[0])
    in_trans = mx.nd.tanh(parts[1])
    forget_gate = mx.nd.sigmoid(parts[2])
    out_gate = mx.nd.sigmoid(parts[3])

    c = forget_gate * state.c + in_gate * in_trans
    h = out_gate * mx.nd.tanh(c)
    return State(c, h)


def unroll(xs, p, n_hidden, n_batch):
    state = State(mx.nd.zeros((n_batch, n_hidden)), mx.nd.zeros((n_batch, n_hidden)))
    for x in xs:
        state = lstm_cell(x, state, p)
    return mx.nd.dot(state.h, p.wy) + p.by


mx.random.seed(5)
p = make_parameters(n_in, n_hidden)
weights = [p.wx, p.wh, p.b, p.wy, p.by]
grads = [pb.attach_grad(weight) for weight in weights]

losses = []
for iter_ in range(400):
    xs = [mx.nd.random.uniform(shape=(n_batch, n_in)) for _ in range(n_step)]
    target = functools.reduce(lambda a, b: a + b, xs)
    with pb.record():
        y_hat = unroll(xs, p, n_hidden, n_batch)
        loss = ((y_hat - target) ** 2).mean()
    pb.backward(loss)
    for w, grad in zip(weights, grads):
        w -= 0.2 * grad
    losses.append(loss.reshape(-1)[0].asscalar())

print(f"first losses are large: {np.mean(np.array(losses[:5])) > 0.5}")
print(f"last losses are small: {np.mean(np.array(losses[-5:])) < 0.15}")
