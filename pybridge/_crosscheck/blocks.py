"""A Gluon block as a side, on Python's or, as a `JuliaBlock`, on Julia's: its parameters are arguments, too."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from .. import _libmxnet, autograd
from .._libmxnet import NDArray, mxnet
from .array import Array
from .sides import Side, is_leaf


def is_block(fn: Any) -> bool:
    return isinstance(fn, mxnet.gluon.Block)


def is_julia_block(fn: Any) -> bool:
    if not is_block(fn):
        return False
    from ..gluon import JuliaBlock  # this room is not entered for functions

    return isinstance(fn, JuliaBlock)


def settle(block: Any, arguments: Sequence[Any], numpy: bool) -> None:
    """Call a Gluon block once if the shapes of its parameters are not known yet."""
    if not is_block(block):
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


def parameters_of(fn: Any) -> dict[str, Array]:
    """The parameters of a Gluon block by name, of anything else none."""
    if not is_block(fn):
        return {}
    found = fn.collect_params()
    prefix = getattr(fn, "prefix", "")
    names = [name[len(prefix) :] if name.startswith(prefix) else name for name in found]
    return {name: p.data().asnumpy() for name, p in zip(names, found.values()) if p.grad_req != "null"}


def python_side(block: Any, numpy: bool) -> Side:
    """The side of Python's block; its parameters follow the inputs, in its own order."""
    return Side("Python", getattr(block, "name", type(block).__name__), _call(block), numpy)


def julia_side(block: Any, numpy: bool) -> Side:
    """The side of a `JuliaBlock`, likewise."""
    return Side("Julia", block.function.name, _call(block), numpy)


def _call(block: Any) -> Callable[..., Any]:
    """A function of the inputs and the parameters."""
    every = list(block.collect_params().values())
    parameters = [p for p in every if p.grad_req != "null"]
    states = [
        p for p in every if p.grad_req == "null"
    ]  # running statistics: each call starts from theirs, on copies

    def call(*given: Any) -> Any:
        count = len(given) - len(parameters)
        dtype = next((a.dtype for a in reversed(given) if is_leaf(a)), None)
        copies = [_as_float(p.data(), dtype) for p in states]
        with _lent([*parameters, *states], [*given[count:], *copies]), _imperative(block):
            return block(*given[:count])

    return call


def _as_float(a: NDArray, dtype: Any) -> NDArray:
    """A copy, in `dtype` if it holds floating-point numbers."""
    return a.astype(dtype) if dtype is not None and is_leaf(a) else a.copy()


@contextmanager
def _imperative(block: Any) -> Any:
    """Run a hybridized block as if it were not: its compiled graph may have memory of its own for the parameters."""
    active = []
    blocks = [block]
    while blocks:
        b = blocks.pop()
        blocks += b._children.values()
        if getattr(b, "_active", False) and not isinstance(b, mxnet.gluon.SymbolBlock):
            active.append(b)
    for b in active:
        b._active = False
    try:
        yield
    finally:
        for b in active:
            b._active = True


@contextmanager
def _lent(parameters: Sequence[Any], arrays: Sequence[NDArray]) -> Any:
    """Let the parameters of a block be these very arrays, leaves of the graph that is recorded."""
    before = [(p._data, p._grad) for p in parameters]
    try:
        for p, a in zip(parameters, arrays):
            p._data = [a]
        yield
    finally:
        for p, (data, grad) in zip(parameters, before):
            p._data, p._grad = data, grad


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


def positions(names: Sequence[str], mapping: Mapping[str, Any] | None, inputs: int) -> list[int]:
    """Where each of the block's parameters stands among the Julia function's arguments; places count from 0."""
    if mapping is None:
        return list(range(inputs, inputs + len(names)))
    missing = [name for name in names if name not in mapping]
    if missing or len(mapping) != len(names):
        raise ValueError(
            f"crosscheck: params names {sorted(mapping)}; the block's parameters are {sorted(names)}"
        )
    return [operator.index(mapping[name]) for name in names]
