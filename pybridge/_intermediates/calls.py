"""Which blocks are being called, and the marks of the last call of each.

`Block.__call__` is wrapped when this room is entered. That can be in the middle of a call, at the first `mark_vars` of
a process: the blocks that are then under way are found on the stack.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Sequence
from types import FrameType
from typing import Any

from mxnet.gluon import Block, HybridBlock

from .._libmxnet import NDArray

_original = Block.__call__

Path = tuple["weakref.ref[Block]", ...]


class Run:
    """One call of an outermost block, and the values that were marked in it, each with the blocks around it."""

    def __init__(self) -> None:
        self.marks: list[tuple[NDArray, Path]] = []


class _Here(threading.local):
    def __init__(self) -> None:
        self.stack: list[Block] = _under_way()
        self.run = Run()
        self.found = len(self.stack)  # blocks that only the stack can tell the end of
        for block in self.stack:
            _last[block] = self.run

    def look(self) -> None:
        """Forget the blocks that were found under way, when they have ended."""
        if not _under_way():
            del self.stack[: self.found]
            self.found = 0


_last: weakref.WeakKeyDictionary[Block, Run] = weakref.WeakKeyDictionary()


def _call(self: Block, *args: Any) -> Any:
    here = _here
    if here.found:
        here.look()
    stack = here.stack
    if not stack:
        here.run = Run()
    stack.append(self)
    _last[self] = here.run
    try:
        return _original(self, *args)
    finally:
        stack.pop()


def _under_way() -> list[Block]:
    """The blocks whose unwrapped calls are on this thread's stack, the outermost first."""
    found = []
    for frame in frames():
        if frame.f_code is _original.__code__ and (
            frame.f_back is None or frame.f_back.f_code is not _call.__code__
        ):
            found.append(frame.f_locals["self"])
    return found[::-1]


def frames() -> list[FrameType]:
    """This thread's frames, the innermost first."""
    found = []
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def stack() -> Sequence[Block]:
    """The blocks that are being called on this thread, the outermost first."""
    if _here.found:
        _here.look()
    return _here.stack


def path(blocks: Sequence[Block]) -> Path:
    return tuple(weakref.ref(block) for block in blocks)


def register(value: NDArray, inside: Path = ()) -> None:
    """A value is marked in the blocks that are being called, and in those of `inside`."""
    run = _here.run
    run.marks.append((value, (*path(stack()), *inside)))
    for reference in inside:
        block = reference()
        if block is not None:
            _last[block] = run


def marks_of(block: Block) -> list[NDArray]:
    """The values that were marked inside `block` in the last call, in the order in which that went."""
    run = _last.get(block)
    if run is None:
        return []
    return [value for value, around in run.marks if any(reference() is block for reference in around)]


def tracing_block() -> tuple[HybridBlock, list[Any]] | None:
    """The block whose graph is being traced on this thread, and the list of its inputs, which is new in every trace."""
    for frame in frames():
        if frame.f_code is HybridBlock._get_graph.__code__:
            return frame.f_locals["self"], frame.f_locals["symbol_inputs"]
    return None


_here = _Here()
Block.__call__ = _call
