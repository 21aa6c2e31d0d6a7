"""`trace`: a time line of every operator, for Perfetto and chrome://tracing."""

from __future__ import annotations

import json
import os
import threading
import time
import warnings
from pathlib import Path
from typing import Any, Union

from mxnet.gluon import Block

from .._libmxnet import NDArray
from .callback import Monitor, check_block
from .watch import check_backward


class Trace(Monitor):
    """A time line of every operator of a block, written when removed. Made by `pb.trace`.

    `events` holds what is written, in the Trace Event Format of Chromium.

    Examples:
        >>> import pybridge as pb, mxnet as mx, json
        >>> net = mx.gluon.nn.Dense(1, in_units=1, prefix="dense_")
        >>> net.initialize()
        >>> net.hybridize()
        >>> with pb.trace(net, "trace.json") as trace:
        ...     with pb.record():
        ...         y = net(mx.nd.ones((1, 1)))
        ...     pb.backward(y)
        >>> [(event["name"], event["cat"]) for event in trace.events]
        [('FullyConnected', 'forward'), ('_backward_FullyConnected', 'backward')]
    """

    def __init__(self, block: Block, path: Path, backward: bool) -> None:
        self.path, self.events = path, []  # type: Path, list[dict[str, Any]]
        self._since = self._begun = time.perf_counter()
        self._node, self._phase = "", "forward"
        super().__init__(block, lambda *_: None, backward=backward)

    def begin(self, backward: bool) -> None:
        """The first operator of a call starts now."""
        self._since, self._node = time.perf_counter(), ""
        self._phase = "backward" if backward else "forward"

    def report(self, name: str, operator: str, array: NDArray, output: bool) -> None:
        """One operator more, or one more output of the last one."""
        array.wait_to_read()
        now = time.perf_counter()
        node = _node(name)
        outputs = self.events[-1]["args"]["outputs"] if node == self._node else []
        if outputs and name not in [output for output, _ in outputs]:
            outputs.append([name, list(array.shape)])
            self.events[-1]["dur"] = 1e6 * (now - self._begun) - self.events[-1]["ts"]
        else:
            self.events.append(
                {
                    "name": operator,
                    "cat": self._phase,
                    "ph": "X",
                    "ts": 1e6 * (self._since - self._begun),
                    "dur": 1e6 * (now - self._since),
                    "pid": os.getpid(),
                    "tid": threading.get_native_id(),
                    "args": {"node": node, "outputs": [[name, list(array.shape)]]},
                }
            )
            self._node = node
        self._since = time.perf_counter()

    def remove(self) -> None:
        """Write the file, and watch no longer."""
        super().remove()
        self.path.write_text(
            json.dumps({"traceEvents": self.events, "displayTimeUnit": "ms"}), encoding="utf-8"
        )


def _node(name: str) -> str:
    """The node that an output is of: `dense0_fwd` of `dense0_fwd_output`, `…_backward` of `…_backward_1`."""
    return name.rpartition("_")[0] or name


def trace(block: Any, path: Union[str, os.PathLike[str]], *, backward: bool | None = None) -> Trace:
    """Write a time line of every operator that a block runs, forward and backward, for Perfetto or chrome://tracing.

    Each operator is waited for, so that its time is its own.

    Args:
        block: a Gluon block.
        path: the file, in Chromium's Trace Event Format, written at the end.
        backward: the operators of backwards too. By default so if the whole block is hybridized; if not, libmxnet has
            no hook for them, and a warning says so.

    Returns:
        A `Trace`, active at once: a context manager, and a handle with `.remove()`.

    Raises:
        TypeError: `block` is no Gluon block.
        ValueError: `backward` is True, and a part of the block computes without being hybridized.
        OSError: the file cannot be written.

    Examples:
        >>> import pybridge as pb, mxnet as mx, json, pathlib
        >>> net = mx.gluon.nn.Dense(1, in_units=1)
        >>> net.initialize()
        >>> with pb.trace(net, "trace.json", backward=False):
        ...     _ = net(mx.nd.ones((1, 1)))
        >>> len(json.loads(pathlib.Path("trace.json").read_text())["traceEvents"])
        1
    """
    check_block("trace", block)
    target = Path(path)
    target.touch()  # better an error now than after the work
    if backward is None:
        try:
            check_backward(block)
            backward = True
        except ValueError as why:
            warnings.warn(f"trace: forward only. {why}", stacklevel=2)
            backward = False
    elif backward:
        check_backward(block)
    return Trace(block, target, backward)
