"""Right after Julia's start, at a fork, and at the end."""

from __future__ import annotations

import atexit
import ctypes
import os
import threading
from collections.abc import Callable

from .. import _libmxnet, _libmxnet_trampoline, julia
from .._libmxnet_trampoline import quick, waiting
from . import from_julia
from .owner import owner, timeout
from .pump import serve


def _install() -> None:
    """Called once, on the owner, right after Julia has started."""
    main = julia.start()
    main.seval("import PyBridge")
    bridge = main.PyBridge
    check = os.environ.get("PYBRIDGE_CHECK", "") not in ("", "0")
    getattr(bridge, "link!")(_libmxnet_trampoline.pybridge_addresses(), check)
    words = _libmxnet_trampoline.words_for_julia()
    getattr(bridge.mx, "link!")(_libmxnet_trampoline.library_path(), *words, from_julia)
    _libmxnet.interpose("MXNDArrayFree", waiting.pb_free_array)  # Julia may hold the same handle
    forward, backward, operator, release = (int(address) for address in bridge.entries())
    # PYFUNCTYPE keeps the GIL: Julia code may call Python.
    owner.forward = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(forward)
    owner.backward = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(backward)
    owner.run_operator = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(operator)
    owner.release = ctypes.PYFUNCTYPE(ctypes.c_int)(release)
    owner.ident = threading.get_ident()
    owner.bridge = bridge
    quick.pb_set_timeout(timeout())
    quick.pb_set_owner()
    if quick.pb_wrap_dealloc(julia.value_base(), b"juliacall.ValueBase"):
        raise RuntimeError("pybridge: juliacall's base type is not what this version of pybridge knows")
    quick.pb_pass_on_profiling()
    os.register_at_fork(after_in_child=_after_fork_in_child)
    os.fork = _fork_outside_callbacks(os.fork)
    # Before threading joins its threads, where a thread may wait for an owner that will not come back.
    getattr(threading, "_register_atexit", atexit.register)(waiting.pb_shutdown)
    atexit.register(waiting.pb_shutdown)


def _after_fork_in_child() -> None:
    owner.forked = True
    julia.forget_in_child()


def _fork_outside_callbacks(fork: Callable[[], int]) -> Callable[[], int]:
    def checked() -> int:
        if quick.pb_pumping():
            # libmxnet's own fork handler waits for its threads, and they wait for the owner.
            raise RuntimeError(
                "os.fork() inside a Julia callback, or while a backward runs one, would deadlock; fork outside, or use "
                "subprocess"
            )
        return fork()

    return checked


quick.pb_serve_with(serve)  # operators of a loaded graph are asked for before Julia starts
julia.on_start(_install)
