"""The layers of examples/layers.jl once more, in MXNet's own operators."""

from __future__ import annotations

import pybridge  # noqa: F401 - puts NumPy's old names back

import mxnet as mx  # isort: skip


def swish(x, beta):
    return x * (x * beta).sigmoid()


def mish(x):
    return x * ((1 + x.exp()).log()).tanh()


def snake(x, a):
    return x + (x * a).sin() ** 2 / a


def pade(x, a, b):
    over = sum(a[k] * x**k for k in range(len(a)))
    under = sum(b[k] * x ** (k + 1) for k in range(len(b)))
    return over / (1 + under.abs())


def rms_norm(x, gain):
    return gain * x / ((x**2).mean(axis=-1, keepdims=True) + 1e-6).sqrt()


def rbf(x, centres, widths):
    squares = ((x.expand_dims(1) - centres.expand_dims(0)) ** 2).sum(axis=2)
    return (-squares / (2 * widths**2)).exp()


def quantile_loss(prediction, target):
    e = target.expand_dims(1) - prediction
    return (
        sum(mx.nd.maximum(level * e[:, i], (level - 1) * e[:, i]) for i, level in enumerate((0.1, 0.5, 0.9)))
        / 3
    )


def rk4(rate, dt, steps):
    def solve(u, *parameters):
        for _ in range(steps):
            k1 = rate(u, *parameters)
            k2 = rate(u + dt / 2 * k1, *parameters)
            k3 = rate(u + dt / 2 * k2, *parameters)
            k4 = rate(u + dt * k3, *parameters)
            u = u + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return u

    return solve


def mlp_rate(u, w1, b1, w2, b2):
    return mx.nd.dot((mx.nd.dot(u, w1.T) + b1).tanh(), w2.T) + b2


def crf_loss(e, labels, transitions, start, stop):
    def log_sum_exp(z, axis):
        top = z.max(axis=axis, keepdims=True)
        return ((z - top).exp().sum(axis=axis, keepdims=True).log() + top).squeeze(axis)

    alpha = start + e[:, 0]
    for t in range(1, e.shape[1]):
        alpha = e[:, t] + log_sum_exp(alpha.expand_dims(2) + transitions.expand_dims(0), 1)
    score = start.take(labels[:, 0]) + stop.take(labels[:, -1])
    for t in range(e.shape[1]):
        score = score + e[:, t].pick(labels[:, t])
    for t in range(1, e.shape[1]):
        score = score + mx.nd.gather_nd(transitions, mx.nd.stack(labels[:, t - 1], labels[:, t]))
    return log_sum_exp(alpha + stop, 1) - score


def sparse_group(w, groups):
    penalty = 0.3 * w.abs().sum()
    for rows in ([0, 1], [2, 3, 4]):
        group = w.T.take(mx.nd.array(rows))
        penalty = penalty + 0.7 * float(group.size) ** 0.5 * (group**2).sum().sqrt()
    return penalty


def linear_rate(u, a):
    return mx.nd.dot(u, a.T)
