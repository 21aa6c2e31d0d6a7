"""What there is once: the owner thread, and Julia as seen from it."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from .. import julia


class _Owner:
    ident: int | None = None
    bridge: Any = None  # the Julia module PyBridge
    forward: Callable[[int], int]
    backward: Callable[[int], int]
    release: Callable[[], int]
    inside: str | None = None  # the Julia function that runs now
    serving = 0  # depth of callbacks and foreign calls being served
    forked = False


owner = _Owner()

#: Names of prepared functions by number, for messages about calls that never reached Julia.
function_names: dict[int, str] = {}


def timeout() -> float:
    """Seconds that a request may wait for an owner that does not attend (PYBRIDGE_TIMEOUT; 0: for ever)."""
    text = os.environ.get("PYBRIDGE_TIMEOUT", "60")
    try:
        seconds = float(text)
    except ValueError:
        raise ValueError(
            f"PYBRIDGE_TIMEOUT is {text!r}; expected a number of seconds, 0 for no limit"
        ) from None
    return max(seconds, 0.0)


def ready() -> Any:
    """Start Julia if need be; returns the Julia module PyBridge. Its functions are the owner's to call."""
    if owner.forked:
        raise RuntimeError(julia.FORKED)
    if owner.bridge is None:
        julia.start()
        assert owner.bridge is not None
    return owner.bridge
