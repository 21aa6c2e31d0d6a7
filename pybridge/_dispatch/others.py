"""Other threads than the owner: their Julia work is done while the owner attends."""

from __future__ import annotations

import concurrent.futures
import ctypes
import itertools
import threading
import time
from collections.abc import Callable
from typing import Any

from .._libmxnet_trampoline import quick, waiting
from .failures import OK, julia_failure, raise_failure, unattended
from .owner import function_names, owner, ready
from .pump import Work, foreign_failures, works


def foreign_call(call_libmxnet: Callable[[], int], wait: Callable[[], int]) -> int:
    """A call by another thread that brings callbacks about: it makes the call, the owner serves if it attends."""
    call = quick.pb_begin_call()
    function, thread = ctypes.c_int64(), ctypes.c_int64()
    try:
        code = call_libmxnet() or wait()
    finally:
        outcome = quick.pb_end_call(call, ctypes.byref(function), ctypes.byref(thread))
        failure = foreign_failures.pop(call, None)
    if failure is None and outcome != OK:
        failure = unattended(function_names.get(function.value, "?"), outcome, thread.value)
    if failure is not None:
        raise_failure(failure, code)
    return code


_numbers = itertools.count(1)


def on_owner(work: Callable[[], Any], name: str) -> Any:
    """Run `work` on the owner: at once if this is it, else while it attends."""
    if threading.get_ident() == owner.ident:
        return work()
    number, wanted, thread = next(_numbers), Work(work), ctypes.c_int64()
    works[number] = wanted
    try:
        outcome = waiting.pb_run_on_owner(number, ctypes.byref(thread))
    finally:
        del works[number]
    if outcome != OK:
        raise unattended(name, outcome, thread.value)
    if wanted.failure is not None:
        raise wanted.failure
    return wanted.result


def serve(until: Any, timeout: float | None = None) -> None:
    """Serve the Julia calls of other threads, on the thread that owns Julia.

    Other threads may call Julia functions, or run a backward over them, only while the owner attends: inside this
    function, or inside a backward of its own.

    Args:
        until: what ends it: a `threading.Thread` that has finished, a `concurrent.futures.Future` that is done, a
            `threading.Event` that is set, or a callable without arguments that returns true.
        timeout: seconds after which TimeoutError is raised; None waits without a limit.

    Raises:
        TypeError: `until` is none of these.
        RuntimeError: this thread is not the one that started Julia, or it is inside a callback of a backward.
        TimeoutError: `timeout` seconds passed first.

    Examples:
        >>> import threading
        >>> import pybridge as pb
        >>> worker = threading.Thread(target=lambda: None)
        >>> worker.start()
        >>> pb.serve(until=worker, timeout=60)
    """
    done = _condition(until)
    ready()
    if owner.serving:
        kind, function = owner.callback
        raise RuntimeError(
            f"serve: called inside the {kind} of Julia function {function}. A {kind} of the thread that is to "
            "be served would wait for that one, and that one for the thread. Serve outside of callbacks."
        )
    if threading.get_ident() != owner.ident:
        raise RuntimeError("serve: only the owner, the thread that started Julia, can serve the others")
    limit = None if timeout is None else time.monotonic() + timeout
    failure = quick.pb_serve(lambda: done() or (limit is not None and time.monotonic() > limit), 10)
    if failure is not None:
        raise failure
    if owner.release():
        raise julia_failure()
    if not done():
        raise TimeoutError(f"serve: {until!r} was not done after {timeout:g} seconds")


def _condition(until: Any) -> Callable[[], bool]:
    if isinstance(until, threading.Thread):
        return lambda: not until.is_alive()
    if isinstance(until, concurrent.futures.Future):
        return until.done
    if isinstance(until, threading.Event):
        return until.is_set
    if callable(until):
        return lambda: bool(until())
    raise TypeError(
        f"serve: until is a {type(until).__name__}; expected a Thread, a Future, an Event or a callable"
    )
