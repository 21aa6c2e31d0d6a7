"""What Julia's `mx` asks of the dispatch: calls of libmxnet that it must not make by itself, and arrays that cross.

Julia makes most calls of libmxnet directly. Those that can bring Julia functions about, and inside a served callback
those that can wait, come here: they are made as Python's own are.
"""

from __future__ import annotations

import ctypes
import threading
from typing import Any

from .. import _libmxnet, julia
from .._libmxnet import NDArray
from .interposed import OPERATORS
from .owner import function_names
from .pump import run_blocking

_last_results = threading.local()  # of `invoke`, until Julia has read them


def wait(name: str, words: int, count: int) -> None:
    """A call inside a served callback: a helper makes it while the owner pumps."""
    arguments = (ctypes.c_size_t * count).from_address(words)
    code = run_blocking(_libmxnet.address(name), arguments, None, name, OPERATORS.get(name, 0))
    _libmxnet.check_call(code)


def wait_for_everything() -> None:
    """`mx.waitall()` inside a served callback, which says why it cannot be."""
    _libmxnet.check_call(_libmxnet._LIB.MXNDArrayWaitAll())


def invoke(
    operator: int,
    n_inputs: int,
    inputs: int,
    n_outputs: int,
    outputs: int,
    n_params: int,
    keys: int,
    values: int,
    stypes: int,
) -> None:
    """A call of an operator that can have a Julia function behind it."""
    pointer = ctypes.c_void_p
    results = ctypes.POINTER(ctypes.c_void_p).from_address(outputs)
    _last_results.pointer = results  # what stands around the call may let it point to memory of Python's
    _libmxnet.check_call(
        _libmxnet._LIB.MXImperativeInvokeEx(
            pointer(operator),
            ctypes.c_int(n_inputs),
            pointer(inputs),
            ctypes.byref(ctypes.c_int.from_address(n_outputs)),
            ctypes.byref(results),
            ctypes.c_int(n_params),
            pointer(keys),
            pointer(values),
            ctypes.byref(ctypes.POINTER(ctypes.c_int).from_address(stypes)),
        )
    )


def backward(count: int, heads: int, head_grads: int, retain_graph: bool, train_mode: bool) -> None:
    """A backward that can reach Julia functions, or that marks of Python's stand around."""
    handles = ctypes.c_void_p * count
    _libmxnet.check_call(
        _libmxnet._LIB.MXAutogradBackwardEx(
            count,
            handles.from_address(heads),
            handles.from_address(head_grads) if head_grads else ctypes.c_void_p(),
            0,
            ctypes.c_void_p(),
            ctypes.c_int(retain_graph),
            ctypes.c_int(0),
            ctypes.c_int(train_mode),
            ctypes.c_void_p(),
            ctypes.c_void_p(),
        )
    )


def gradient(handle: int) -> int:
    """The handle of the gradient of an array; 0 if it has none."""
    found = ctypes.c_void_p()
    _libmxnet.check_call(_libmxnet._LIB.MXNDArrayGetGrad(ctypes.c_void_p(handle), ctypes.byref(found)))
    return found.value or 0


def described(x: NDArray) -> tuple[int | None, bool]:
    """The handle of an array of Python's (None: a sparse one), and whether it is an mx.np array."""
    if x.stype != "default":
        return None, False
    return x.handle.value, isinstance(x, _libmxnet.NumpyArray)


def array(handle: int, numpy: bool) -> NDArray:
    """The Python NDArray that has `handle`, too."""
    return _libmxnet.array(handle, numpy)


def seed(number: int) -> None:
    """Seed libmxnet's generator as `mx.random.seed` does."""
    _libmxnet.mxnet.random.seed(number)


def name_function(number: int, name: str) -> None:
    """Julia code has made a custom function ready by itself; messages call it by its name."""
    function_names[number] = name


def explain(failure: BaseException) -> tuple[str, Any]:
    """What an exception is to Julia: one of its own, one of libmxnet's by its text, or Python's."""
    if isinstance(failure, julia.JuliaError):
        return "julia", failure.exception
    if isinstance(failure, _libmxnet.MXNetError):
        return "libmxnet", str(failure)
    return "python", None
