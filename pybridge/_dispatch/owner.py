"""What there is once: the owner thread, and Julia as seen from it."""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .. import julia
from .._libmxnet_trampoline import quick
from .block import H_FUNCTION, H_KIND, HEADER, K_BACKWARD, K_FORWARD

_serving = ctypes.c_int.from_address(quick.pb_serving())
_inside = ctypes.c_int64.from_address(quick.pb_inside())


class _Owner:
    ident: int | None = None
    bridge: Any = None  # the Julia module PyBridge
    forward: Callable[[int], int]
    backward: Callable[[int], int]
    run_operator: Callable[[int], int]
    release: Callable[[], int]
    answer: Callable[[int], None]  # questions about operators (operators.py)
    forked = False
    seed: int | None = None  # of mx.random.seed, for Julia to follow
    served = 0  # the block of the request that is being served

    @property
    def serving(self) -> int:
        """Depth of requests being served: callbacks of libmxnet, and work for other threads."""
        return _serving.value

    @property
    def inside(self) -> str | None:
        """The Julia function that runs now."""
        return function_names.get(_inside.value)

    @contextmanager
    def running(self, function: int) -> Iterator[None]:
        """Julia runs this function meanwhile, though through no entry of PyBridge, which would say so itself."""
        outer, _inside.value = _inside.value, function
        try:
            yield
        finally:
            _inside.value = outer

    @property
    def callback(self) -> tuple[str, str]:
        """What is being served, for messages: "forward" or "backward", and of which Julia function."""
        if not self.served:
            return "backward", self.inside or "?"
        kind = (ctypes.c_int64 * HEADER).from_address(self.served)[H_KIND]
        # A question about an operator, or another thread's work, is of whatever Julia runs for it.
        name = self.name_of(self.served) if kind in (K_BACKWARD, K_FORWARD) else self.inside or "?"
        return "backward" if kind == K_BACKWARD else "forward", name

    def name_of(self, block: int) -> str:
        """The function that a request is for."""
        return function_names.get(ctypes.c_int64.from_address(block + 8 * H_FUNCTION).value, "?")


owner = _Owner()

#: Names of prepared functions by number, for messages about calls that never reached Julia.
function_names: dict[int, str] = {}

#: What keeps a prepared function, by its number; when it dies, the function is forgotten.
callers: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


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
