"""Calls of libmxnet that can bring Julia callbacks about, or block inside one: they go through the dispatch.

Set once on `mxnet.base._LIB`, so that `pb.backward`, `y.backward()`, `mx.autograd`, `mx.contrib.autograd` and a Gluon
training loop all behave alike.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from .. import _libmxnet, julia
from .._libmxnet_trampoline import quick
from .calls import seed_julia
from .failures import julia_failure
from .graphs import holds_julia, make_anew, wait_for_results
from .others import foreign_call
from .owner import owner
from .pump import run_blocking, settle

_BACKWARD = ("MXAutogradBackwardEx", "MXAutogradBackward", "MXAutogradComputeGradient")

#: Calls that can wait for the engine. Inside a served callback a helper makes them.
_BLOCKING = (
    "MXNDArrayWaitToRead",
    "MXNDArrayWaitToWrite",
    "MXNDArraySyncCopyToCPU",
    "MXNDArraySyncCopyFromCPU",
    "MXNDArraySyncCopyFromNDArray",
    "MXNDArraySyncCheckFormat",
    "MXNDArraySave",
    "MXNDArrayToDLPack",
    "MXNDArrayGetData",
    "MXNetFuncCall",
)

#: Calls of operators. Their results lie in the calling thread's own storage; which argument gets the storage types.
OPERATORS = {"MXImperativeInvokeEx": 8, "MXInvokeCachedOpEx": 5}

#: Calls of executors.
_EXECUTORS = ("MXExecutorForward", "MXExecutorBackward", "MXExecutorBackwardEx")

_live = ctypes.c_long.from_address(quick.pb_live_nodes_address())
_live_operators = ctypes.c_long.from_address(quick.pb_live_operators_address())


def _words(arguments: tuple[Any, ...]) -> Any:
    """The arguments of a C call as machine words: integers, and pointers to whatever ctypes passes by reference."""
    return (ctypes.c_size_t * len(arguments))(*map(_word, arguments))


def _word(argument: Any) -> int:
    if argument is None:
        return 0
    if isinstance(argument, int):
        return argument & 0xFFFFFFFFFFFFFFFF
    if isinstance(argument, bytes):
        return ctypes.cast(ctypes.c_char_p(argument), ctypes.c_void_p).value or 0
    if isinstance(argument, (ctypes.Array, ctypes.Structure)):
        return ctypes.addressof(argument)
    if isinstance(argument, ctypes._SimpleCData) and isinstance(argument.value, (int, bool)):
        return int(argument.value) & 0xFFFFFFFFFFFFFFFF
    return ctypes.cast(argument, ctypes.c_void_p).value or 0  # byref(), pointers, functions, null


def _backward(name: str) -> None:
    real = _libmxnet.real(name)
    address = _libmxnet.address(name)
    function, backward_ex = ctypes.c_void_p(address), quick.pb_backward_ex

    def call(*arguments: Any) -> int:
        if not _live.value:
            return int(real(*arguments))
        if owner.forked:
            return _backward_in_child(real, arguments)
        if threading.get_ident() != owner.ident:
            return foreign_call(lambda: int(real(*arguments)), _wait_for_everything)
        code = ctypes.c_int()
        if len(arguments) == 10:
            failure = backward_ex(ctypes.byref(code), function, *arguments)
        else:
            words = _words(arguments)
            failure = quick.pb_backward(ctypes.addressof(code), address, len(words), words)
        if owner.release() and failure is None:
            failure = julia_failure()
        return settle(failure, code.value)

    _libmxnet.interpose(name, call)


def _backward_in_child(real: Any, arguments: tuple[Any, ...]) -> int:
    """A backward in a forked child, while nodes of its parent are alive: they have no Julia there."""
    code = int(real(*arguments)) or int(_libmxnet.real("MXNDArrayWaitAll")())
    if quick.pb_orphaned():
        raise RuntimeError(julia.FORKED)
    return code


def _blocking(name: str) -> None:
    real = _libmxnet.real(name)
    address = _libmxnet.address(name)

    def call(*arguments: Any) -> int:
        if not owner.serving or threading.get_ident() != owner.ident:
            return int(real(*arguments))
        return run_blocking(address, _words(arguments), arguments, name, 0)

    _libmxnet.interpose(name, call)


def _operator(name: str, stypes_at: int) -> None:
    real = _libmxnet.real(name)
    address = _libmxnet.address(name)

    def call(*arguments: Any) -> int:
        in_julia = _live_operators.value and holds_julia(arguments[0])
        if not in_julia and (not owner.serving or threading.get_ident() != owner.ident):
            return int(real(*arguments))
        if not in_julia:
            return run_blocking(address, _words(arguments), arguments, name, stypes_at)
        if owner.forked:
            raise RuntimeError(julia.FORKED)
        code = -1
        try:
            code = call_with_julia(arguments)
        finally:
            if code:
                make_anew(arguments[0])
        return code

    def call_with_julia(arguments: tuple[Any, ...]) -> int:
        if threading.get_ident() != owner.ident:
            return foreign_call(
                lambda: int(real(*arguments)), lambda: wait_for_results(arguments[3], arguments[4])
            )
        code = run_blocking(address, _words(arguments), arguments, name, stypes_at, settled=True)
        if owner.release():
            raise julia_failure()
        return code

    _libmxnet.interpose(name, call)


def _executor(name: str) -> None:
    real = _libmxnet.real(name)
    address = _libmxnet.address(name)

    def call(*arguments: Any) -> int:
        if not holds_julia(arguments[0]):
            return int(real(*arguments))
        if owner.forked:
            raise RuntimeError(julia.FORKED)
        if threading.get_ident() != owner.ident:
            return foreign_call(lambda: int(real(*arguments)), _wait_for_everything)
        if owner.serving:
            kind, function = owner.callback
            raise _libmxnet.GraphError(
                f"{name} of a graph with Julia functions inside the {kind} of Julia function {function}: an "
                "executor cannot be waited for there. Use a hybridized Gluon block."
            )
        code = run_blocking(address, _words(arguments), arguments, name, 0)
        code = code or run_blocking(_libmxnet.address("MXNDArrayWaitAll"), _words(()), (), name, 0)
        if owner.release():
            raise julia_failure()
        return code

    _libmxnet.interpose(name, call)


def _wait_for_everything() -> int:
    return int(_libmxnet.real("MXNDArrayWaitAll")())


def _seed(name: str) -> None:
    """`mx.random.seed` holds for what helpers draw, too."""
    real = _libmxnet.real(name)

    def call(seed: Any, *context: Any) -> int:
        quick.pb_seed(seed)
        seed_julia(int(getattr(seed, "value", seed)))
        return int(real(seed, *context))

    _libmxnet.interpose(name, call)


def _wait_for_all(*arguments: Any) -> int:
    if owner.serving and threading.get_ident() == owner.ident:
        kind, function = owner.callback
        raise _libmxnet.GraphError(
            f"mx.nd.waitall() inside the {kind} of Julia function {function} would wait for that {kind} "
            "itself. Wait for the arrays that you need (x.wait_to_read())."
        )
    return int(_libmxnet.real("MXNDArrayWaitAll")(*arguments))


def _install() -> None:
    for name in _BACKWARD:
        _backward(name)
    for name in _BLOCKING:
        _blocking(name)
    for name, stypes_at in OPERATORS.items():
        _operator(name, stypes_at)
    for name in _EXECUTORS:
        _executor(name)
    _libmxnet.interpose("MXNDArrayWaitAll", _wait_for_all)


for _name in ("MXRandomSeed", "MXRandomSeedContext"):
    _seed(_name)  # before Julia starts as well

julia.on_start(_install)  # without Julia every call is libmxnet's own
