"""A `JuliaBlock` as Julia's side: its parameters, and how they go with those of a Gluon block on Python's."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import _libmxnet, autograd
from .._libmxnet import mxnet
from . import sides
from .array import Array
from .sides import Side


def is_julia_block(fn: Any) -> bool:
    if not isinstance(fn, mxnet.gluon.Block):
        return False
    from ..gluon import JuliaBlock  # this room is not entered for functions

    return isinstance(fn, JuliaBlock)


def settle(block: Any, arguments: Sequence[Any], numpy: bool) -> None:
    """Call a Gluon block once if the shapes of its parameters are not known yet."""
    if not isinstance(block, mxnet.gluon.Block):
        return
    parameters = block.collect_params().values()
    if all(p._data is not None for p in parameters):
        return
    bare = [p.name for p in parameters if p._data is None and not p._deferred_init]
    if bare:
        raise ValueError(
            f"crosscheck: parameter {bare[0]} of {block.name} has no values; call initialize() first"
        )
    with autograd.pause():
        block(*[_given(a, numpy) for a in arguments])


def _given(a: Any, numpy: bool) -> Any:
    if not isinstance(a, np.ndarray):
        return a
    return _libmxnet.copied(a.astype(np.float32) if a.dtype.kind == "f" else a, numpy)


def side(block: Any, numpy: bool) -> Side:
    """The side of a `JuliaBlock`; its parameters follow the inputs, in its own order."""
    return Side(
        "Julia", block.function.name, sides._block_call(block, list(sides.parameters_of(block))), numpy
    )


def match(
    python: Mapping[str, Array], julia: Mapping[str, Array], mapping: Mapping[str, Any] | None, inputs: int
) -> list[int]:
    """Where each parameter of Python's block stands among the arguments of Julia's: by name, or as `mapping` says.

    Raises:
        ValueError: a name is on one side only, or two parameters that belong together have different shapes.
    """
    names = list(julia)
    places = []
    for name, values in python.items():
        if mapping is None:
            other: Any = name
        elif name in mapping:
            other = mapping[name]
        else:
            raise ValueError(
                f"crosscheck: params names {sorted(mapping)}; the block's parameters are {sorted(python)}"
            )
        if not isinstance(other, str):
            other = dict(enumerate(names, inputs)).get(operator.index(other), other)
        if other not in julia:
            raise ValueError(
                f"crosscheck: parameter {name} of Python's block goes with {other!r}, which Julia's block does not "
                f"have: its parameters are {names}. Say which belong together: params={{{name!r}: {names[:1]}[0]}}"
            )
        if julia[other].shape != values.shape:
            raise ValueError(
                f"crosscheck: parameter {name} has shape {values.shape} in Python's block and {julia[other].shape} "
                f"in Julia's ({other})"
            )
        places.append(inputs + names.index(other))
    if sorted(places) != list(range(inputs, inputs + len(names))):
        alone = [n for i, n in enumerate(names, inputs) if i not in places]
        raise ValueError(
            f"crosscheck: the parameters {alone} of Julia's block go with none of Python's, or two go with one"
        )
    return places
