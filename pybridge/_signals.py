"""Giving signals back to Python after Julia has started.

With ``handle-signals=yes``, which a stack overflow and the garbage collection of several Julia threads need,
Julia blocks SIGINT, SIGTERM and others in the thread that starts it and waits for them in a thread of its own.
Unblocked again, they go to Python's handlers: Ctrl-C is KeyboardInterrupt, SIGTERM ends the process.
"""

from __future__ import annotations

import signal
import threading
from dataclasses import dataclass

#: What Julia blocks.
TAKEN = tuple(
    getattr(signal, name)
    for name in ("SIGINT", "SIGTERM", "SIGQUIT", "SIGABRT", "SIGUSR1")
    if hasattr(signal, name)
)


@dataclass(frozen=True)
class Held:
    """Which signals were blocked in this thread at some time."""

    blocked: frozenset[int]


def hold() -> Held:
    """Note what is blocked now, before Julia starts."""
    return Held(frozenset(signal.pthread_sigmask(signal.SIG_BLOCK, ())))


def give_back(before: Held | None) -> None:
    """Unblock what Julia has blocked since ``before``, and let Python's handlers, the user's own, stand.

    All of it: what stays blocked here is blocked in every process that this one starts, too.

    Arguments:
        before: what was blocked before Julia started; None if Julia was started by others.
    """
    if threading.current_thread() is not threading.main_thread():
        return  # Python handles signals in the main thread alone
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    for number in TAKEN:
        if number not in blocked or (before is not None and number in before.blocked):
            continue
        handler = signal.getsignal(number)
        if handler is not None:  # None: set by C code, which Python cannot set again
            signal.signal(number, handler)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {number})


def blocked_now() -> list[str]:
    """The names of those signals that should reach Python and do not."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    return [signal.Signals(number).name for number in (signal.SIGINT, signal.SIGTERM) if number in blocked]
