"""The values that were marked in the last call of each block."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

from mxnet.gluon import Block, HybridBlock

from .. import _blocks
from .._libmxnet import NDArray

Path = tuple["weakref.ref[Block]", ...]

_NOTE = "marks"


def path(blocks: Sequence[Block]) -> Path:
    return tuple(weakref.ref(block) for block in blocks)


def register(value: NDArray, inside: Path = ()) -> None:
    """A value is marked in the blocks that are being called, and in those of `inside`."""
    marks = _blocks.current_call().notes.setdefault(_NOTE, [])
    marks.append((value, (*path(_blocks.stack()), *inside)))
    for reference in inside:
        block = reference()
        if block is not None:
            _blocks.took_part(block)


def marks_of(block: Block) -> list[NDArray]:
    """The values that were marked inside `block` in the last call, in the order in which that went."""
    call = _blocks.last_call(block)
    if call is None:
        return []
    marks = call.notes.get(_NOTE, ())
    return [value for value, around in marks if any(reference() is block for reference in around)]


def tracing_block() -> tuple[HybridBlock, list[Any]] | None:
    """The block whose graph is being traced on this thread, and the list of its inputs, which is new in every trace."""
    for frame in _blocks.frames():
        if frame.f_code is HybridBlock._get_graph.__code__:
            return frame.f_locals["self"], frame.f_locals["symbol_inputs"]
    return None
