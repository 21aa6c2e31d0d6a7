"""What a look at every operator costs: a callback that does nothing, on LeNet and ResNet-18, hybridized.

Each has a network of its own, for one that runs twice in a row finds its parameters in the cache; a hook stays there,
as in use. The callback of upstream's `register_op_hook` gets bytes and a handle that nobody frees; "with arrays" makes
of them what `pb.monitor` hands out, and frees it.
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
    warnings.simplefilter("ignore")  # upstream's test for static shapes is always true
    was_watched = made()
    calls = []
    with pb.monitor(was_watched[0], lambda *_: calls.append(0), monitor_all):
        forward(*was_watched)()

    watched, x = made()
    _monitors.append(pb.monitor(watched, nothing, monitor_all))
    runs = {"none": forward(*made()), "pb.monitor": forward(watched, x)}
    for name, callback in (("upstream", nothing), ("upstream, with arrays", with_array)):
        other, x = made()
        other.register_op_hook(callback, monitor_all)
        runs[name] = forward(other, x)
    runs["none, after one was removed"] = forward(*was_watched)
    return runs, len(calls)
