"""What a mark costs: forward and backward of two small convolutional networks, hybridized, with 0, 1 and 5 marks.

The cost of a mark goes with the size of the value, the work of a convolution with the square of its channels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pybridge as pb

import mxnet as mx  # isort: skip

MARKS = (0, 1, 5)
#: Channels of the first two convolutions, and of the other three.
CHANNELS = ((16, 32), (64, 128))


class Convolutional(mx.gluon.HybridBlock):  # type: ignore[misc]
    """Five convolutions, behind the first `marks` of which a value is marked."""

    def __init__(self, marks: int, channels: tuple[int, int]) -> None:
        super().__init__()
        nn = mx.gluon.nn
        self.marks = marks
        with self.name_scope():
            for i in range(5):
                setattr(self, f"c{i}", nn.Conv2D(channels[i >= 2], 3, padding=1, activation="relu"))
            self.pool, self.out = nn.MaxPool2D(2), nn.Dense(10)

    def hybrid_forward(self, F: Any, x: Any) -> Any:  # noqa: N803
        for i in range(5):
            x = getattr(self, f"c{i}")(x)
            if i < self.marks:
                x = pb.mark_vars(x)
            if i == 1:
                x = self.pool(x)
        return self.out(self.pool(x))


def steps(channels: tuple[int, int], batch: int = 32) -> dict[int, Callable[[], None]]:
    """A step for each number of marks: record, backward, and wait for everything."""
    x = mx.nd.random.normal(shape=(batch, 3, 32, 32))

    def step(net: Any) -> Callable[[], None]:
        net.initialize()
        net.hybridize()

        def run() -> None:
            with mx.autograd.record():
                y = net(x)
            y.backward()
            mx.nd.waitall()

        return run

    return {marks: step(Convolutional(marks, channels)) for marks in MARKS}
