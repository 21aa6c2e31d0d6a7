"""`nan_guard`: the first operator that gives a NaN or an Inf."""

from __future__ import annotations

from typing import Any

import numpy as np
from mxnet.gluon import Block

from .._libmxnet import NDArray
from .callback import Monitor, check_block
from .moments import Moments, moments
from .watch import check_backward


class NanGuard(Monitor):
    """Raises at the first NaN or Inf that an operator of a block gives, until removed. Made by `pb.nan_guard`.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.Dense(1, in_units=1)
        >>> net.initialize()
        >>> guard = pb.nan_guard(net)
        >>> _ = net(mx.nd.ones((1, 1)))
        >>> guard.remove()
    """

    def __init__(self, block: Block, backward: bool = False) -> None:
        self._taken: dict[str, Moments] = {}
        self._given = True
        super().__init__(block, lambda *_: None, monitor_all=True, backward=backward)

    def report(self, name: str, operator: str, array: NDArray, output: bool) -> None:
        """Look at one array."""
        if not output:
            if self._given:
                self._taken.clear()
            self._given = False
            self._taken[name] = moments(array)
            return
        taken = {} if self._given else self._taken
        if np.dtype(array.dtype).kind == "f":
            found = moments(array)
            if not found.finite:
                raise FloatingPointError(_said(name, operator, array, found, taken))
        self._given = self._given or not name.endswith("_output0")

    def begin(self, backward: bool) -> None:
        """A new call: what was taken before has nothing to do with it."""
        self._given = True


def _said(name: str, operator: str, array: NDArray, found: Moments, taken: dict[str, Moments]) -> str:
    inputs = "; ".join(f"{key}: {value}" for key, value in taken.items()) or "not known (a backward)"
    return (
        f"nan_guard: operator {operator} at node {name} of shape {array.shape} gave {found.nans} NaN and {found.infs} "
        f"Inf (the rest: {found}). Its inputs: {inputs}"
    )


def nan_guard(block: Any, *, backward: bool = False) -> NanGuard:
    """Raise at the first operator of a block that gives a NaN or an Inf, with its name and the ranges of its inputs.

    Args:
        block: a Gluon block, hybridized or not.
        backward: the operators of backwards too (hybridized blocks only), whose inputs libmxnet does not show.

    Returns:
        A `NanGuard`, active at once: a context manager, and a handle with `.remove()`. The call of the block (with
        `backward`, that of a backward) raises FloatingPointError.

    Raises:
        TypeError: `block` is no Gluon block.
        ValueError: `backward` is set, and a part of the block computes without being hybridized.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.HybridLambda("log", prefix="net_")
        >>> with pb.nan_guard(net):
        ...     net(mx.nd.array([1.0, 0.0]))
        Traceback (most recent call last):
        FloatingPointError: nan_guard: operator log at node net_log0_output ... gave 0 NaN and 1 Inf ...
    """
    check_block("nan_guard", block)
    if backward:
        check_backward(block)
    return NanGuard(block, backward)
