"""Marks in a graph while it is traced: a copy with a label, by which the blocks around it are found again."""

from __future__ import annotations

import itertools
import uuid
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

import mxnet
from mxnet.gluon import Block, HybridBlock
from mxnet.symbol.numpy import _Symbol

from .. import _blocks
from .._libmxnet import GraphError
from . import calls
from .rewrite import MARK

# Labels are written to exported graphs, too: those of another process are not ours.
_process = uuid.uuid4().hex
_numbers = itertools.count(1)
_paths: dict[str, calls.Path] = {}

#: The labels of the last trace of each block, with the list of inputs that tells it from earlier ones.
_traces: weakref.WeakKeyDictionary[Block, tuple[list[Any], list[str]]] = weakref.WeakKeyDictionary()


def mark(value: Any) -> Any:
    """The symbol `value` with a mark behind it."""
    label = f"{_process}-{next(_numbers)}"
    stack = list(_blocks.stack())
    tracing = calls.tracing_block()
    if tracing is not None:
        root, inputs = tracing
        if root in stack:
            stack = stack[len(stack) - stack[::-1].index(root) :]
        trace = _traces.get(root)
        if trace is None or trace[0] is not inputs:
            _forget(trace[1] if trace is not None else [])
            trace = _traces[root] = (inputs, [])
            weakref.finalize(root, _forget, trace[1]).atexit = False
        trace[1].append(label)
    _paths[label] = calls.path(stack)
    plain = value.as_nd_ndarray() if isinstance(value, _Symbol) else value
    marked = mxnet.symbol._internal._copy(plain, name="mark", attr={MARK: label})
    return marked.as_np_ndarray() if isinstance(value, _Symbol) else marked


def any_marks() -> bool:
    return bool(_paths)


def _forget(labels: Iterable[str]) -> None:
    for label in labels:
        _paths.pop(label, None)


def known(marks: Mapping[str, int]) -> dict[str, int]:
    """Those of the marks of a graph that were traced here; in a graph from a file they are plain copies."""
    return {label: node for label, node in marks.items() if label in _paths}


def path(label: str) -> calls.Path:
    """The blocks around a mark, inside the one whose graph it is in."""
    return _paths[label]


def order(label: str) -> int:
    """Sorts marks in the order in which they were made."""
    return int(label.rpartition("-")[2])


def expected(block: Any) -> list[str]:
    """The labels that the trace of `block` made which its graph is of."""
    trace = _traces.get(block) if isinstance(block, HybridBlock) else None
    if trace is None or not block._cached_graph or block._cached_graph[0] is not trace[0]:
        return []
    return trace[1]


def check_used(expected: Iterable[str], found: Iterable[str]) -> None:
    """A mark that no output depends on would have a zero gradient in silence."""
    if not set(expected) <= set(found):
        raise GraphError(
            "mark_vars: no output of the block depends on what mark_vars returned, so its gradient would be zero. Go "
            "on with what it returned: h = pb.mark_vars(h)."
        )
