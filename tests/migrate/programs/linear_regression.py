# Linear regression by gradient descent: the weights of a known linear model
# are found again from noisy samples.

import numpy as np
import pybridge as pb
import mxnet as mx


# hyper parameters
n_samples = 200
n_features = 3
η = 0.1  # learning rate
n_epoch = 40

# the model that is to be found again
w_true = np.array([[2], [-3.4], [0.5]], dtype="float32")
b_true = 4.2

np.random.seed(1)
X = np.random.randn(n_samples, n_features).astype("float32")
y = X @ w_true + b_true + 0.01 * np.random.randn(n_samples, 1).astype("float32")

x_nd = mx.nd.array(X, dtype=X.dtype)
y_nd = mx.nd.array(y, dtype=y.dtype)

w = mx.nd.zeros((n_features, 1))
b = mx.nd.zeros(1)
grad_w = pb.attach_grad(w)
grad_b = pb.attach_grad(b)


def model(x):
    """model(x)

    The prediction for a batch of columns.
    """
    return mx.nd.dot(x, w) + b


def squared_loss(y_hat, y):
    """The mean of squared differences."""
    return ((y_hat - y) ** 2).mean()


for epoch in range(1, n_epoch + 1):
    with pb.record():
        loss = squared_loss(model(x_nd), y_nd)
    pb.backward(loss)

    # a step downhill
    w -= η * grad_w
    b -= η * grad_b

    if epoch % 10 == 0:
        print(f"epoch {epoch}: loss {loss.reshape(-1)[0].asscalar():.6f}")

error_w = np.abs(w.asnumpy() - w_true).max()
print(f"largest error of a weight below 0.01: {error_w < 0.01}")
