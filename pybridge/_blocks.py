"""Which Gluon blocks are being called on this thread.

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

from mxnet.gluon import Block

_original = Block.__call__


class Call:
    """One call of an outermost block, with whatever others want to note about it."""

    __slots__ = ("notes",)

    def __init__(self) -> None:
        self.notes: dict[str, Any] = {}


class _Here(threading.local):
    def __init__(self) -> None:
        self.stack: list[Block] = _under_way()
        self.counts: list[dict[str, int]] = [{} for _ in self.stack]
        self.call = Call()
        self.last: weakref.WeakKeyDictionary[Block, Call] = weakref.WeakKeyDictionary()
        self.found = len(self.stack)  # blocks that only the stack can tell the end of
        for block in self.stack:
            self.last[block] = _last[block] = self.call

    def look(self) -> None:
        """Forget the blocks that were found under way, when they have ended."""
        if not _under_way():
            del self.stack[: self.found], self.counts[: self.found]
            self.found = 0


_last: weakref.WeakKeyDictionary[Block, Call] = weakref.WeakKeyDictionary()


def _call(self: Block, *args: Any) -> Any:
    here = _here
    if here.found:
        here.look()
    stack = here.stack
    if not stack:
        here.call = Call()
    stack.append(self)
    here.counts.append({})
    here.last[self] = _last[self] = here.call
    try:
        return _original(self, *args)
    finally:
        stack.pop()
        here.counts.pop()


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


def count(hint: str) -> int:
    """How many times this was asked about `hint` before, in the innermost call of a block."""
    counts = _here.counts[-1]
    number = counts.get(hint, 0)
    counts[hint] = number + 1
    return number


def current_call() -> Call:
    """The call of the outermost block that is under way on this thread."""
    return _here.call


def last_call(block: Block) -> Call | None:
    """The call of an outermost block in which `block` was last called: by this thread, else by any."""
    return _here.last.get(block) or _last.get(block)


def took_part(block: Block) -> None:
    """`block` belongs to the current call, though only a graph ran that was traced from it."""
    _here.last[block] = _last[block] = _here.call


_here = _Here()
Block.__call__ = _call
