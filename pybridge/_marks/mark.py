"""Marking an array, and undoing it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _libmxnet, _libmxnet_marks
from .._libmxnet import NDArray
from .._unseen import unseen
from ..recording import Scope
from . import backward
from .zeros import minus_zeros


class Mark:
    """The leaf that stands for an intermediate value, tied to the array that carries on with its gradient."""

    __slots__ = ("__weakref__", "function", "in_place", "leaf", "shape", "source")

    def __init__(self, function: str, leaf: NDArray, source: NDArray | None, in_place: bool) -> None:
        self.function = function
        self.leaf = leaf
        self.shape = leaf.shape
        #: The array as it was before, for the way back; None where a graph made the marked array.
        self.source = source
        #: The marked array is the user's own object, so every use of it has to come after the mark.
        self.in_place = in_place


def marked(function: str, x: NDArray, gradient: NDArray | None, req: str, in_place: bool) -> NDArray:
    """`x` as it goes on with a gradient of its own: a new array, recorded whatever the recording flag."""
    check(function, "x", x)
    leaf = new_leaf(x.shape, x.dtype, x.context, gradient, req)
    source = x if in_place else _libmxnet_marks.same(x)
    before = of(x) if in_place else None
    if before is not None and before.source is not None:
        source = before.source  # marked anew: nothing goes through the old leaf
        backward.forget(before)
    with Scope(True, None), unseen():
        # libmxnet hands one array to both terms of a sum as their gradient. Where it is to be added to the buffer of a
        # leaf, the other term would get the sum for its gradient, so a copy goes in between.
        y = _libmxnet_marks.add(source, leaf, not _libmxnet.is_intermediate(source), req == "add")
    mark = Mark(function, leaf, source, in_place)
    _libmxnet_marks.tie(y, mark)
    if gradient is not None:
        _libmxnet_marks.keep(gradient, mark)
    backward.expect(mark)
    return y


def mark(function: str, x: NDArray, gradient: NDArray | None, req: str) -> None:
    """Give the intermediate `x` itself a gradient. What used it before does not count."""
    y = marked(function, x, gradient, req, in_place=True)
    _libmxnet_marks.swap(x, y)
    found = of(x)
    if found.source is x:
        found.source = y  # which now is what x was


def new_leaf(
    shape: Sequence[int], dtype: Any, context: Any, gradient: NDArray | None = None, req: str = "write"
) -> NDArray:
    """A leaf of minus zeros with `gradient` (or new zeros) attached."""
    leaf = minus_zeros(shape, dtype, context)
    if gradient is None:
        with Scope(False, None), unseen():
            gradient = _libmxnet.zeros_like(leaf)
    _libmxnet.mark_variables([leaf], [gradient], [req])
    return leaf


def tie(y: NDArray, leaf: NDArray, function: str) -> None:
    """`leaf` was added on the way to `y`, inside a graph of its own: the gradient of `leaf` is that of `y`."""
    _libmxnet_marks.tie(y, Mark(function, leaf, None, False))
    backward.watch()


def of(x: NDArray) -> Any:
    """The mark of `x`, or None."""
    return _libmxnet_marks.tied(x)


def drop(x: NDArray) -> None:
    """Let `x` have no gradient any more."""
    mark = of(x)
    if mark is None or _libmxnet_marks.is_leaf(x.handle):
        _libmxnet_marks.untie(x)
        if _libmxnet.gradient(x) is not None:
            _libmxnet_marks.swap(x, x.detach())  # the same memory; graphs that hold the leaf keep their own
        return
    if mark.source is not None:
        _libmxnet_marks.swap(x, mark.source)
        backward.forget(mark)
    else:
        _libmxnet_marks.untie(x)


def check(function: str, argument: str, x: NDArray) -> None:
    """Can the intermediate value `x` have a gradient?"""
    if x.stype != "default":
        raise ValueError(
            f"{function}: {argument} has storage type {x.stype!r}; an intermediate value needs dense storage to have a "
            "gradient: convert it with .tostype('default')"
        )
    if str(x.dtype) == "bool" or getattr(x.dtype, "__name__", "") in ("bool", "bool_"):
        raise ValueError(f"{function}: {argument} has dtype bool, which has no gradient")
