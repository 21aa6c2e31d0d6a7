"""The Python exceptions for what goes wrong in Julia, or on the way there."""

from __future__ import annotations

import sys
import traceback

from .. import _libmxnet, julia
from .owner import owner, timeout

OK, FAILED, UNSERVED, TIMED_OUT, FORKED, INTERRUPTED = range(6)  # outcomes of a request


def julia_failure() -> BaseException:
    """The Python exception for what an entry reported."""
    exception, trace = owner.bridge.take_failure()
    said = owner.bridge.misuse(exception)
    if said is not None:
        kind, message = str(said[0]), str(said[1])
        types = {"type": TypeError, "value": ValueError, "graph": _libmxnet.GraphError}
        return types[kind](message)
    return julia.translate(exception, trace)


def owner_position() -> str:
    """Where the owner stands, for the message of a request that waited for it in vain."""
    where = f"inside Julia function {owner.inside}, called from" if owner.inside else "at"
    frame = sys._current_frames().get(owner.ident or 0)
    stack = "".join(traceback.format_stack(frame)) if frame else "  (the owner thread is gone)\n"
    return f"The owner thread is {where}:\n{stack}"


def unattended(function: str, outcome: int, thread: int | str) -> Exception:
    if outcome == UNSERVED:
        return RuntimeError(
            f"the Julia function {function} runs on the thread that started Julia, and that thread does not attend. "
            "Let it call pb.serve(until=this thread) while other threads use Julia functions."
        )
    if outcome == INTERRUPTED:
        return RuntimeError(f"the owner of Julia was interrupted while it ran the Julia function {function}")
    if outcome == FAILED:
        return RuntimeError(f"the Julia function {function} was not run: the process is ending")
    if outcome == FORKED:
        return RuntimeError(
            f"os.fork() came while the backward of the Julia function {function} waited on thread {thread} for the "
            "owner of Julia. Fork before other threads use Julia functions, or when they have ended."
        )
    return TimeoutError(
        f"the Julia function {function} waited on thread {thread} for more than PYBRIDGE_TIMEOUT={timeout():g} "
        f"seconds, while the owner of Julia neither served nor pumped. {owner_position()}"
        f"The call that waited was made at:\n{''.join(traceback.format_stack(sys._getframe(2)))}"
    )


def raise_failure(failure: BaseException, code: int) -> None:
    # libmxnet's own error of the same call is not lost: it is what the failure was raised from.
    raise failure from (_libmxnet.last_error() if code else failure.__cause__)


def readable(failure: BaseException) -> BaseException:
    """A Julia exception that another thread will print: only the owner can ask Julia for its text."""
    return failure.keep_text() if isinstance(failure, julia.JuliaError) else failure
