"""What the pump in `_trampoline_pump.c` calls, and what calls it: the owner serves while a helper makes the call."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .. import _libmxnet
from .._libmxnet_trampoline import quick
from .block import H_CALL, H_DIRECT, H_KIND, H_NODE, HEADER, K_BACKWARD, K_CREATE, K_WORK
from .failures import FAILED, OK, julia_failure, raise_failure, readable
from .owner import owner, timeout

STALL = 8.0  # seconds without any thread of libmxnet at work, after which a wait inside a callback waits for itself


class Work:
    """What another thread wants done on the owner."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.failure: BaseException | None = None

    def run(self) -> int:
        try:
            self.result = self.work()
        except KeyboardInterrupt:
            raise  # the owner's
        except BaseException as failure:
            self.failure = readable(failure)
        return OK


works: dict[int, Work] = {}  # what other threads want done on the owner
foreign_failures: dict[int, BaseException] = {}  # of other threads' backwards, by call

_Header = ctypes.c_int64 * HEADER


def serve(block: int, create_graph: int) -> int:
    """Serve one request on the owner; returns its outcome. What is raised here is raised by the owner's own call."""
    outer, owner.served = owner.served, block
    try:
        return _serve(block, create_graph)
    finally:
        owner.served = outer


def _serve(block: int, create_graph: int) -> int:
    header = _Header.from_address(block)
    kind, call = header[H_KIND], header[H_CALL]
    if kind == K_WORK:
        return works[header[H_NODE]].run()
    if kind >= K_CREATE:
        return _answer(block, header[H_DIRECT])
    if call in foreign_failures:
        return FAILED  # after a failure the rest of the call is answered, but not run
    if kind == K_BACKWARD and create_graph and not call:
        raise _libmxnet.GraphError(
            f"backward with create_graph=True reached the Julia function {owner.name_of(block)}: its gradient cannot "
            "be differentiated again. Take first derivatives (create_graph=False), or write the function in MXNet "
            "operators."
        )
    if not (owner.backward if kind == K_BACKWARD else owner.run_operator)(block):
        return OK
    failure = julia_failure()
    if not call or isinstance(failure, KeyboardInterrupt):
        raise failure
    foreign_failures[call] = readable(failure)
    return FAILED


def _answer(block: int, asked_by: int) -> int:
    """Answer a question about an operator. Its failure is that of the call that the asking thread is making."""
    try:
        owner.answer(block)
    except BaseException as failure:
        if not asked_by:
            raise
        _libmxnet.keep_failure(asked_by, readable(failure))
        return FAILED
    _libmxnet.keep_failure(asked_by, None)
    return OK


def settle(failure: BaseException | None, code: int) -> int:
    """Raise what a pump has kept; else make libmxnet's text this thread's last error, and return its code."""
    if code:
        _libmxnet.set_error((quick.pb_job_error() or b"").decode("utf-8", "replace"))
    if failure is not None:
        raise_failure(failure, code)
    return code


def run_blocking(
    function: int, words: Any, keep: Any, name: str, stypes_at: int, settled: bool = False
) -> int:
    """Let a helper make a call that can block, or bring callbacks about, while the owner pumps on.

    `words` is a C array of the arguments, `keep` whatever they point into; `stypes_at` is the argument that gets the
    storage types of the results (0: the call has no results of its own); `settled` waits for the results, too.
    """
    code = ctypes.c_int()
    until = _Stall().now if owner.serving else None
    failure = quick.pb_blocking(
        ctypes.addressof(code), until, function, stypes_at, settled, len(words), words
    )
    if code.value == -2:
        _abandoned.append((words, keep))  # the helper still writes there when its wait ends
        kind, function_name = owner.callback
        raise _libmxnet.GraphError(
            f"{name} inside the {kind} of Julia function {function_name} waits for an array that depends on that "
            f"{kind} itself. Use only values that were computed before it."
        )
    return settle(failure, code.value)


_abandoned: list[tuple[Any, Any]] = []


class _Stall:
    """True once no thread of libmxnet has been at work for some seconds."""

    def __init__(self) -> None:
        limit = timeout()
        self.limit = min(STALL, limit) if limit else STALL
        self.since: float | None = None  # most calls end before anybody looks
        self.used = 0.0
        self.streak = 0  # of looks that found one running: those that wait wake up now and then, too

    def now(self) -> bool:
        at = time.monotonic()
        used, busy = _work_of_others()
        self.streak = self.streak + 1 if busy else 0
        if self.since is None or self.streak >= 5 or used - self.used > 0.1 * (at - self.since):
            self.since, self.used = at, used
        return at - self.since > self.limit


def _work_of_others() -> tuple[float, bool]:
    """Seconds of processor time of the threads that are not Python's, and whether one of them is at work.

    Where the system has no /proc, the processor time of the whole process has to do.
    """
    python = {str(thread.native_id) for thread in threading.enumerate()}
    used, busy, seen = 0.0, False, False
    for task in Path("/proc/self/task").glob("*"):
        if task.name in python:
            seen = True
            continue
        try:
            fields = (task / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        used += (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        busy = busy or fields[0] in "RD"
    return (used, busy) if seen else (time.process_time(), False)
