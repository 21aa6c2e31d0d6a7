# Robust regression: a loss with a gradient of its own, compared with the squared loss.

from pathlib import Path

import numpy as np
import pybridge as pb
import mxnet as mx


pb.include(Path(__file__).with_name("custom_loss_functions.jl"))
Huber = pb.function("CustomLossFunctions.Huber")


# what the loss is of a single residual
def huber(r, δ):
    return r**2 / 2 if abs(r) <= δ else δ * (abs(r) - δ / 2)


# ---------------------------------------------------------------------------
# data: a line with noise, and a few samples that are far off
# ---------------------------------------------------------------------------


def make_data(n, *, slope=2.0, intercept=-1.0, noise=0.1, n_outlier=4):
    x = np.linspace(-1, 1, n)
    y = slope * x + intercept + noise * np.random.randn(n)
    for k in range(1, n_outlier + 1):
        y[len(y) - k] += 20
    return x, y


np.random.seed(7)
n = 60
x, y = make_data(n)
print(f"samples: {len(x)}, mean of y without outliers: {round(y[:-4].mean(), 1)}")

# one row of samples; the constant row carries the intercept
X = np.ones((n, 2), dtype="float32")
X[:, 0] = x
x_nd = mx.nd.array(X, dtype=X.dtype)
y_nd = mx.nd.array(y.reshape((n, 1)))

# ---------------------------------------------------------------------------
# training
# ---------------------------------------------------------------------------


def squared(y_hat, y):
    return (y_hat - y) ** 2 / 2


def fit(loss, *, η=0.2, n_step=300):
    """fit(loss; η, n_step)

    Minimize the mean of `loss` over the samples; returns slope and intercept.
    """
    w = mx.nd.zeros((2, 1))
    grad = pb.attach_grad(w)
    history = []
    for step in range(n_step):
        with pb.record():
            l = loss(mx.nd.dot(x_nd, w), y_nd).mean()
        pb.backward(l)
        w -= η * grad
        history.append(l.reshape(-1)[0].asscalar())
    a = w.asnumpy()
    assert history[-1] <= history[0], "the loss grew"
    return a[0, 0], a[1, 0], history


# an error of a fit: how far slope and intercept are from the line's
def distance(slope, intercept):
    return abs(slope - 2) + abs(intercept + 1)


results = {}
losses = [("huber", pb.function("CustomLossFunctions.Huber", δ=0.5)), ("squared", squared)]
for name, loss in losses:
    slope, intercept, history = fit(loss)
    results[name] = distance(slope, intercept)
    print(f"{name:<8} slope {slope:6.2f}  intercept {intercept:6.2f}  after {len(history)} steps")

if results["huber"] < 0.2 and results["squared"] > 1:
    print("the robust loss finds the line, the squared one does not")
else:
    print(f"unexpected: {results['huber']} {results['squared']}")

# ---------------------------------------------------------------------------
# a look at single residuals
# ---------------------------------------------------------------------------

for r in [-3.0, -0.5, 0.0, 0.25, 3.0]:
    print(f"{str(r).ljust(6)}{huber(r, 0.5)}  {r**2 / 2}")


def table(δs):
    rows = []
    for δ in δs:
        rows.append(f"δ={δ:.1f}: {huber(2.0, δ):.3f}")
    return "; ".join(rows)


print(table(np.array([0.5, 1.0, 2.0])))
