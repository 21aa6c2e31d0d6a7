"""`monitor`: a function of one's own at every operator."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from mxnet.gluon import Block

from .. import _dispatch, julia
from .._libmxnet import NDArray
from ..arrays import asjulia
from . import watch


class Monitor:
    """A callback that is told of every operator of a block until it is removed. Made by `pb.monitor`.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.Dense(1, in_units=1, prefix="dense_")
        >>> net.initialize()
        >>> handle = pb.monitor(net, lambda name, operator, array: print(name, operator, array.shape))
        >>> _ = net(mx.nd.ones((2, 1)))
        dense_fwd_output FullyConnected (2, 1)
        >>> handle.remove()
        >>> _ = net(mx.nd.ones((2, 1)))
    """

    def __init__(
        self,
        block: Block,
        callback: Callable[[str, str, NDArray], Any],
        monitor_all: bool = False,
        names: Sequence[str] | None = None,
        backward: bool = False,
    ) -> None:
        self.block, self.callback = block, callback
        self.monitor_all, self.names, self.backward = monitor_all, names, backward
        self.direct = callback if names is None and type(self).report is Monitor.report else None
        self._wanted: dict[str, bool] = {}
        watch.add(self)

    def remove(self) -> None:
        """Tell the callback nothing more; the block runs again as before. A second time does nothing."""
        watch.remove(self)

    def begin(self, backward: bool) -> None:
        """Nothing to do when a call begins."""

    def wants(self, name: str) -> bool:
        """Does one of the patterns match `name`?"""
        if self.names is None:
            return True
        found = self._wanted.get(name)
        if found is None:
            found = self._wanted[name] = any(fnmatch.fnmatchcase(name, pattern) for pattern in self.names)
        return found

    def report(self, name: str, operator: str, array: NDArray, output: bool) -> None:
        """Tell the callback."""
        self.callback(name, operator, array)

    def __enter__(self) -> Monitor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.remove()


def monitor(
    block: Any,
    callback: Any,
    monitor_all: bool = False,
    *,
    names: str | Sequence[str] | None = None,
    backward: bool = False,
) -> Monitor:
    """Call a function with every operator that a block runs: node name, operator name and array.

    Works on blocks that are hybridized, that are not, and on trees of both. A hybridized block runs while it is
    monitored as a graph of the same operators that is scheduled dynamically and inlines nothing, whatever it was
    hybridized with; its own cached operator and its flags stay as they are, and it uses them again afterwards.

    Args:
        block: a Gluon block; what it calls belongs to it. A part of a block that is hybridized as a whole has no calls
            of its own: monitor that one, with `names`.
        callback: called with the name of the node and what it is (`dense0_fwd_output`, with `monitor_all` also
            `dense0_fwd_data`, …), the name of the operator, and the NDArray, whose memory may be used for something
            else when the callback has returned: copy what you keep. A Python callable, or a Julia function, which
            gets a read-only Julia array over the same memory, on the thread that owns Julia. What it raises comes out
            of the call of the block.
        monitor_all: inputs of operators as well as their outputs.
        names: glob patterns of the names to be told of; all by default.
        backward: the operators of backwards too, which libmxnet shows for hybridized blocks.

    Returns:
        A `Monitor`, active at once: a context manager, and a handle with `.remove()`.

    Raises:
        TypeError: `block` is no Gluon block, `callback` cannot be called, or `names` are no strings.
        ValueError: `backward` is set, and a part of the block computes without being hybridized.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.Dense(2, in_units=3, prefix="dense_dense0_")
        >>> net.initialize()
        >>> net.hybridize()
        >>> with pb.monitor(net, lambda name, operator, array: print(name, operator), monitor_all=True):
        ...     _ = net(mx.nd.ones((1, 3)))
        dense_dense0_fwd_data FullyConnected
        dense_dense0_fwd_weight FullyConnected
        dense_dense0_fwd_bias FullyConnected
        dense_dense0_fwd_output FullyConnected
    """
    check_block("monitor", block)
    if isinstance(callback, julia.value_base()) if julia.started() else False:
        callback = _for_julia(callback)
    elif not callable(callback):
        raise TypeError(
            f"monitor: callback is a {type(callback).__name__}; expected a Python callable or a Julia function"
        )
    patterns = [names] if isinstance(names, str) else None if names is None else list(names)
    if patterns is not None and not all(isinstance(pattern, str) for pattern in patterns):
        raise TypeError(f"monitor: names is {names!r}; expected glob patterns")
    if backward:
        watch.check_backward(block)
    return Monitor(block, callback, bool(monitor_all), patterns, bool(backward))


def check_block(function: str, block: Any) -> None:
    if not isinstance(block, Block):
        raise TypeError(f"{function}: block is a {type(block).__name__}; expected a gluon Block")


def _for_julia(function: Any) -> Callable[[str, str, NDArray], None]:
    def callback(name: str, operator: str, array: NDArray) -> None:
        view = asjulia(array)
        _dispatch.on_owner(lambda: function(name, operator, view), operator)

    return callback
