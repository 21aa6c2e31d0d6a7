"""Which of libmxnet's graphs have Julia functions in them: only their calls have to go through a helper."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import _libmxnet, julia
from .._libmxnet_trampoline import OPERATOR, quick

_OPERATOR_IN_JSON = f'"op_type": "{OPERATOR}"'.encode()

#: Calls that bind a graph: an executor's operators get their states then.
_BINDING = ("MXExecutorBindEX", "MXExecutorSimpleBindEx", "MXExecutorSimpleBindEx64", "MXExecutorReshapeEx")

_with_julia: set[int] = set()  # handles of cached graphs, executors and operators
_made_from: dict[int, tuple[ctypes.c_void_p, tuple[Any, ...]]] = {}  # of cached graphs: symbol and flags
_live_operators = ctypes.c_long.from_address(quick.pb_live_operators_address())


def holds_julia(handle: Any) -> bool:
    """Has the cached graph, the executor or the operator a Julia function in it?"""
    return (handle.value if isinstance(handle, ctypes.c_void_p) else handle) in _with_julia


def wait_for_results(count: Any, results: Any) -> int:
    """Wait for the results of a call of operators, which came back through `count` and `results`."""
    codes = [
        int(_libmxnet.real("MXNDArrayWaitToRead")(ctypes.c_void_p(results._obj[i])))
        for i in range(count._obj.value)
    ]
    return next((code for code in codes if code), 0)


def _cached(name: str) -> None:
    real = _libmxnet.real(name)

    def call(symbol: Any, *arguments: Any) -> int:
        code = int(real(symbol, *arguments))
        if not code and _live_operators.value and _OPERATOR_IN_JSON in _libmxnet.symbol_text(symbol):
            handle = arguments[-1]._obj.value
            _with_julia.add(handle)
            _made_from[handle] = (_libmxnet.shallow_copy(symbol), arguments[:-1])
        return code

    _libmxnet.interpose(name, call)


def make_anew(handle: Any) -> None:
    """Put a new cached graph in the place of one whose call has failed.

    When the inference of shapes has failed once, libmxnet takes it for done the next time that inputs have these
    shapes.
    """
    made_from = _made_from.pop(handle.value or 0, None) if isinstance(handle, ctypes.c_void_p) else None
    if made_from is None:
        return  # an operator
    symbol, flags = made_from
    new = ctypes.c_void_p()
    if _libmxnet.real("MXCreateCachedOpEx")(symbol, *flags, ctypes.byref(new)):
        _made_from[handle.value] = made_from
        return
    _with_julia.discard(handle.value)
    _libmxnet.real("MXFreeCachedOp")(handle)
    handle.value = new.value
    _with_julia.add(new.value or 0)
    _made_from[new.value or 0] = made_from


def _bound(name: str) -> None:
    real = _libmxnet.real(name)

    def call(*arguments: Any) -> int:
        before = quick.pb_created_states()
        code = int(real(*arguments))
        if not code and quick.pb_created_states() > before:
            _with_julia.add(arguments[-1]._obj.value)
        return code

    _libmxnet.interpose(name, call)


def _freed(name: str) -> None:
    real = _libmxnet.real(name)

    def call(handle: Any) -> int:
        _with_julia.discard(handle.value)
        made_from = _made_from.pop(handle.value, None)
        if made_from is not None:
            _libmxnet.real("MXSymbolFree")(made_from[0])
        return int(real(handle))

    _libmxnet.interpose(name, call)


def _install() -> None:
    _cached("MXCreateCachedOpEx")
    for name in _BINDING:
        _bound(name)
    for name in ("MXFreeCachedOp", "MXExecutorFree"):
        _freed(name)
    _with_julia.add(_libmxnet.operator_handle("Custom"))


julia.on_start(_install)  # a graph with Julia in it starts Julia before it is bound
