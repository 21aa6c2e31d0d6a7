# A perceptron with one hidden layer, trained on XOR with autograd.

from dataclasses import dataclass

import pybridge as pb
import mxnet as mx


@dataclass
class Network:
    """Weights and biases of both layers."""

    w1: mx.nd.NDArray
    b1: mx.nd.NDArray
    w2: mx.nd.NDArray
    b2: mx.nd.NDArray

    # the forward pass: features run down the columns, samples along the rows
    def __call__(net, x):
        h = mx.nd.tanh(mx.nd.dot(x, net.w1) + net.b1)
        return mx.nd.sigmoid(mx.nd.dot(h, net.w2) + net.b2)


def make_network(n_in: int, n_hidden: int, n_out: int, *, scale=1.0):
    return Network(
        mx.nd.random.normal(scale=scale, shape=(n_in, n_hidden)),
        mx.nd.zeros(n_hidden),
        mx.nd.random.normal(scale=scale, shape=(n_hidden, n_out)),
        mx.nd.zeros(n_out),
    )


def params(net):
    return [net.w1, net.b1, net.w2, net.b2]


def cross_entropy(p, y):
    """Binary cross entropy, averaged over the batch."""
    ε = 1e-06
    return -(y * mx.nd.log(p + ε) + (1 - y) * mx.nd.log(1 - p + ε)).mean()


def train(net, x, y, *, η=0.5, n_epoch=100, verbose=False):
    grads = [pb.attach_grad(p) for p in params(net)]
    losses = []
    for epoch in range(1, n_epoch + 1):
        with pb.record():
            loss = cross_entropy(net(x), y)
        pb.backward(loss)
        for p, grad in zip(params(net), grads):
            p -= η * grad
        losses.append(loss.reshape(-1)[0].asscalar())
        if verbose:
            if epoch % 20 == 0:
                print(f"{epoch:4d}  {losses[-1]:.4f}")
    return losses


def accuracy(net, x, y):
    p = net(x).asnumpy()
    return ((p > 0.5) == (y.asnumpy() > 0.5)).sum() / p.size


mx.random.seed(3)
x = mx.nd.array([[0, 0], [0, 1], [1, 0], [1, 1]])
y = mx.nd.array([[0], [1], [1], [0]])

net = make_network(2, 8, 1)
losses = train(net, x, y, η=1.0, n_epoch=400)
print(f"losses fell: {losses[-1] < losses[0] / 5}")
print(f"accuracy: {accuracy(net, x, y)}")
