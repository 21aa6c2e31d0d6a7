"""What a look at every operator costs: a callback that does nothing, on LeNet and ResNet-18, hybridized.

Each hook stays on its network, as in use; the one that `pb.monitor` took off again was on the network without.
Upstream's `register_op_hook` cannot be taken off again, so it has a network of its own. Its callback gets bytes and a
handle that nobody frees; "with arrays" makes of them what `pb.monitor` hands out, and frees it.
"""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from typing import Any

import pybridge as pb

import mxnet as mx  # isort: skip


_monitors: list[Any] = []  # on until the next measurement


def lenet() -> tuple[Any, Any]:
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.Conv2D(20, 5, activation="tanh"), nn.MaxPool2D(2, 2), nn.Conv2D(50, 5, activation="tanh"))
    net.add(nn.MaxPool2D(2, 2), nn.Dense(500, activation="tanh"), nn.Dense(10))
    return net, mx.nd.random.normal(shape=(1, 1, 28, 28))


def resnet18() -> tuple[Any, Any]:
    return mx.gluon.model_zoo.vision.resnet18_v1(), mx.nd.random.normal(shape=(1, 3, 32, 32))


NETWORKS = {"LeNet": lenet, "ResNet-18": resnet18}


def nothing(name: Any, operator: Any, array: Any) -> None:
    """The callback."""


def with_array(name: bytes, operator: bytes, handle: int) -> None:
    nothing(name.decode(), operator.decode(), mx.nd.NDArray(ctypes.c_void_p(handle)))


def candidates(
    network: Callable[[], tuple[Any, Any]], monitor_all: bool
) -> tuple[dict[str, Callable[[], None]], int]:
    """Forwards to be timed, and how many times a callback is called in one."""

    def forward(net: Any, x: Any) -> Callable[[], None]:
        def run() -> None:
            net(x)
            mx.nd.waitall()

        return run

    def made() -> tuple[Any, Any]:
        net, x = network()
        net.initialize()
        net.hybridize()
        net(x)
        return net, x

    while _monitors:
        _monitors.pop().remove()
    net, x = made()
    plain = forward(net, x)
    calls = []
    with pb.monitor(net, lambda *_: calls.append(0), monitor_all):
        plain()

    watched, x = made()
    _monitors.append(pb.monitor(watched, nothing, monitor_all))
    runs = {"none": plain, "pb.monitor": forward(watched, x)}
    for name, callback in (("upstream", nothing), ("upstream, with arrays", with_array)):
        other, x = made()
        other.register_op_hook(callback, monitor_all)
        runs[name] = quietly(forward(other, x))
    runs["none, after one was removed"] = plain
    return runs, len(calls)


def quietly(run: Callable[[], None]) -> Callable[[], None]:
    def quiet() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its test for static shapes is always true
            run()

    return quiet
