"""The pump: the owner serves requests while a helper thread makes the call that brings them about."""

from __future__ import annotations

import collections
import ctypes
import itertools
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import _libmxnet
from .._libmxnet import quick, waiting
from .block import H_CALL, H_FUNCTION, HEADER
from .failures import FAILED, OK, julia_failure, raise_failure, readable
from .owner import function_names, owner, timeout

if TYPE_CHECKING:
    from .others import Ticket

STALL = 5.0  # seconds without any thread at work, after which a wait inside a callback waits for itself
DONE, QUIET = 1, 2
TICK = 50  # milliseconds after which the pump lets Python handle signals

tickets: collections.deque[Ticket] = collections.deque()
foreign_failures: dict[int, BaseException] = {}
pumps: list[Pump] = []
_pump_numbers = itertools.count(1)


class Pump:
    """One pump on the owner's stack: a call whose requests it serves, and the first failure among them."""

    def __init__(self, create_graph: bool = False) -> None:
        self.number = next(_pump_numbers)
        self.create_graph = create_graph
        self.failure: BaseException | None = None

    def fail(self, failure: BaseException) -> None:
        if self.failure is None:
            self.failure = failure

    def run(
        self,
        job: int | None,
        settle: bool = False,
        until: Callable[[], bool] | None = None,
        tick: int = TICK,
    ) -> int:
        """Serve requests until `job` is done or `until()`; what goes wrong is kept in `failure`.

        Returns DONE, QUIET (with `settle`: the job is done, but callbacks of it may still come) or 0 (`until`).
        """
        pumps.append(self)
        take, number = waiting.pb_next, self.number
        try:
            while True:
                outcome = -1
                try:
                    while True:
                        came: int | None = take(number, job, tick, outcome, settle)
                        outcome = -1
                        if came is not None and came > QUIET:
                            outcome = self.serve(came)
                        elif came is not None:
                            return came
                        elif until is not None and until():
                            return 0
                        while tickets:
                            tickets.popleft().run()
                except BaseException as failure:
                    self.fail(failure)  # KeyboardInterrupt too is raised when the call has been served
                    waiting.pb_answer_taken(number, FAILED)
                    if job is None:
                        return 0
        finally:
            pumps.pop()

    def serve(self, block: int) -> int:
        """Serve one request; returns its outcome."""
        header = _Header.from_address(block)
        call = header[H_CALL]
        if (foreign_failures.get(call) if call else self.failure) is not None:
            return FAILED  # after a failure the rest of the call is answered, but not run
        inside, owner.inside = owner.inside, function_names.get(header[H_FUNCTION])
        owner.serving += 1
        try:
            if self.create_graph:
                raise _libmxnet.GraphError(
                    f"backward with create_graph=True reached the Julia function {owner.inside}: its gradient cannot "
                    "be differentiated again. Take first derivatives (create_graph=False), or write the function in "
                    "MXNet operators."
                )
            if not owner.backward(block):
                return OK
            failure: BaseException = julia_failure()
        except BaseException as raised:
            failure = raised
        finally:
            owner.serving -= 1
            owner.inside = inside
        if call:
            foreign_failures[call] = readable(failure)
        else:
            self.fail(failure)
        return FAILED


_Header = ctypes.c_int64 * HEADER


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def serve_inline(block: int) -> int:
    """A callback that arrived on the owner itself: a call that no helper made (the GIL was released for it)."""
    if pumps:
        return pumps[-1].serve(block)
    pump = Pump()
    outcome = pump.serve(block)
    if pump.failure is not None:
        # There is no call of ours that could raise it.
        sys.excepthook(type(pump.failure), pump.failure, pump.failure.__traceback__)
    return outcome


def run_backward(job: int | None, create_graph: bool) -> int:
    """Serve while a helper makes a backward's call, and until none of its callbacks can come any more.

    Returns the call's code. On failure libmxnet's text is set as this thread's last error; a failure of a Julia
    callback is raised. Inside a served callback this returns as soon as everything is scheduled.
    """
    pump = Pump(create_graph)
    came = pump.run(_started(job), settle=owner.serving == 0)
    code = _finish(job)
    if came == QUIET and not code:
        # Other nodes are alive, so none can tell from their number: wait for the whole engine.
        job = _started(waiting.pb_start(_libmxnet.address("MXNDArrayWaitAll"), 0, 0, None))
        pump.run(job)
        code = _finish(job)
    if owner.release():
        pump.fail(julia_failure())
    if pump.failure is not None:
        raise_failure(pump.failure, code)
    return code


def run_blocking(function: int, words: Any, keep: Any, name: str) -> int:
    """Let a helper make a call that can block inside a served callback, while the owner pumps on.

    `words` is a C array of the arguments, `keep` whatever they point into.
    """
    job = _started(waiting.pb_start(function, 0, len(words), words))
    pump = Pump()
    if pump.run(job, until=_Stall().now) != DONE:
        _abandoned.append((job, words, keep))  # the helper still writes there when its wait ends
        quick.pb_abandon(job)
        raise _libmxnet.GraphError(
            f"{name} inside the backward of Julia function {owner.inside} waits for an array that depends on that "
            "backward itself. Use only values that were computed before it."
        )
    code = _finish(job)
    if pump.failure is not None:
        raise_failure(pump.failure, code)
    return code


def _started(job: int | None) -> int:
    if not job:
        raise RuntimeError("pybridge: no thread could be started to make the call")
    return job


_abandoned: list[tuple[int, Any, Any]] = []


class _Stall:
    """True once no other thread of the process has been at work for some seconds."""

    def __init__(self) -> None:
        limit = timeout()
        self.limit = min(STALL, limit) if limit else STALL
        self.since = time.monotonic()
        self.used = quick.pb_process_time()

    def now(self) -> bool:
        at, used = time.monotonic(), quick.pb_process_time()
        if used - self.used > 0.2 * (at - self.since) or _another_thread_is_at_work():
            self.since, self.used = at, used
        return at - self.since > self.limit


def _another_thread_is_at_work() -> bool:
    """Is one running or waiting for a processor, or for a disk?  (Linux; elsewhere processor time has to do.)"""
    me = str(threading.get_native_id())
    for thread in Path("/proc/self/task").glob("*"):
        try:
            state = (thread / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:  # it has ended
            continue
        if thread.name != me and state in "RD":
            return True
    return False


def _finish(job: int | None) -> int:
    """The return code of a finished job; its error text becomes this thread's."""
    code: int = quick.pb_finish(job)
    if code:
        _libmxnet.set_error((quick.pb_job_error() or b"").decode("utf-8", "replace"))
    return code
