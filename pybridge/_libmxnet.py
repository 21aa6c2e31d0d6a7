"""The ctypes boundary to libmxnet: handles, flags, errors, interposed calls.

`mxnet.base._LIB` is the one `ctypes.CDLL` that all of mxnet's modules share, and they look functions up on it at
every call. Setting an attribute there therefore replaces a function for all of them; `interpose` does that, once a
name, and `real` gives the function that was there before. No other module knows libmxnet's C API.
"""

from __future__ import annotations

import ctypes
import functools
import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

# The trampoline before libmxnet: a fork calls the handlers of the two in the reverse order.
from . import _numpy_aliases, _trampoline  # noqa: F401

_numpy_aliases.restore()

import mxnet  # noqa: E402  (the aliases come first: mxnet 1.9.1 does not import without them)
from mxnet import _global_var  # noqa: E402
from mxnet.base import _LIB, MXNetError, check_call  # noqa: E402
from mxnet.ndarray import NDArray  # noqa: E402

NumpyArray = mxnet.np.ndarray

#: Element types that can cross the border, by libmxnet's number.
DTYPES = {0: "float32", 1: "float64", 2: "float16", 3: "uint8", 4: "int32", 5: "int8", 6: "int64", 7: "bool"}

GRAD_REQS = {"null": 0, "nop": 0, "write": 1, "inplace": 2, "add": 3}


# ---- errors -------------------------------------------------------------------------------------------------


class GraphError(MXNetError):
    """Misuse of the autograd graph: an array outside any graph, a second backward, an in-place write into it.

    A subclass of `mxnet.base.MXNetError`, so code that catches MXNet's own error catches it too.
    """


mxnet.base.register_error("GraphError", lambda text: GraphError(text.replace("GraphError: ", "", 1)))

#: What libmxnet says about misuse of the graph, and what it means.
_MEANINGS = (
    (
        "Assigning to NDArrays that are already in a computational graph",
        "an in-place operation (+=, *=, y[...] = v, out=) inside record on an array that is part of the graph. "
        "The old value may be needed for the gradient. Write y = y + 1 instead of y += 1, or do it outside record "
        "(or under pb.pause()) on an array that no graph holds.",
    ),
    (
        "Cannot differentiate node because it is not in a computational graph",
        "backward: a head is in no recorded graph. Compute it inside `with pb.record():` from an array that has "
        "a gradient attached (attach_grad). A graph is gone after its first backward unless that was called with "
        "retain_graph=True.",
    ),
    (
        "There are no inputs in computation graph that require gradients",
        "backward: no array in the graph of the heads requires a gradient. Call attach_grad (with a grad_req other "
        "than 'null') before recording. A gradient that came through a Julia function or an autograd.Function "
        "cannot be differentiated again.",
    ),
    (
        "because it is unreachable from the outputs",
        "grad: the heads do not depend on one of the variables (or on a copy of it that was made before recording).",
    ),
    (
        "because it does not require gradient",
        "grad: one of the variables has no gradient attached. Call attach_grad on it: on a leaf before recording, on "
        "an intermediate result before it is used.",
    ),
    (
        r"Not reached[\s\S]*c_api_function\.cc",
        "a symbol that holds a Julia function (or an mxnet.autograd.Function) was executed. The recorded history of "
        "an array can be read, but such a node runs only where it was recorded.",
    ),
    (
        "is non-differentiable because it didn't register FGradient attribute",
        "a second derivative through an operator that has none. A Julia function (like an mxnet.autograd.Function) "
        "can be differentiated once.",
    ),
)

_pending_error = threading.local()
_kept_failures: dict[int, BaseException] = {}


def explain(text: str) -> str:
    """libmxnet's error text, with a clear `GraphError: …` in front where the cause is misuse of the graph."""
    for pattern, meaning in _MEANINGS:
        if re.search(pattern, text):
            said = re.sub(r"\s+", " ", text.split("Check failed: ")[-1]).strip()
            return f"GraphError: {meaning} [libmxnet: {said}]"
    return text


def set_error(text: str) -> None:
    """Make `text` the calling thread's last error of libmxnet, for the `check_call` that follows."""
    _pending_error.text = text


def keep_failure(thread: int, failure: BaseException | None) -> None:
    """Let the call of libmxnet that `thread` is making, and that is about to fail, raise `failure`."""
    _kept_failures.pop(thread, None)
    if failure is not None:
        _kept_failures[thread] = failure


def _last_error() -> bytes:
    kept = _kept_failures.pop(threading.get_ident(), None)
    if kept is not None:
        raise kept
    text = _pending_error.__dict__.pop("text", None)
    if text is None:
        text = (real("MXGetLastError")() or b"").decode("utf-8", "replace")
    return explain(text).encode()


def last_error() -> MXNetError:
    """The exception for the calling thread's last error of libmxnet."""
    error: MXNetError = mxnet.base.get_last_ffi_error()
    return error


# ---- interposed calls ---------------------------------------------------------------------------------------

_real: dict[str, Any] = {}
_interposed: dict[str, Callable[..., int | bytes]] = {}
_around: dict[str, tuple[Callable[..., int], ...]] = {}

#: Whether anything stands around a call. Julia looks here before it makes a call of its own that Python's would wrap.
watched = ctypes.c_int()


def real(name: str) -> Any:
    """libmxnet's own function `name`, whether or not it is interposed."""
    return _real.get(name) or getattr(_LIB, name)


def address(name: str) -> int:
    """The address of libmxnet's own function `name`."""
    found = ctypes.cast(real(name), ctypes.c_void_p).value
    assert found is not None
    return found


def interpose(name: str, function: Callable[..., int | bytes]) -> None:
    """Let every caller of `mxnet.base._LIB.<name>` call `function` instead."""
    _real.setdefault(name, getattr(_LIB, name))
    _interposed[name] = function
    _put(name)


def around(name: str, wrapper: Callable[..., int], put: bool = True) -> None:
    """Let `wrapper(call, *arguments)` stand around every call of `mxnet.base._LIB.<name>`; without `put` no longer.

    It stands outside of what is interposed there, now or later: a call that goes through the dispatch still does.
    """
    _real.setdefault(name, getattr(_LIB, name))
    others = tuple(w for w in _around.get(name, ()) if w != wrapper)
    _around[name] = (*others, wrapper) if put else others
    watched.value = any(_around.values())
    _put(name)


def _put(name: str) -> None:
    call = _interposed.get(name, _real[name])
    for wrapper in _around.get(name, ()):
        call = functools.partial(wrapper, call)
    setattr(_LIB, name, call)


interpose("MXGetLastError", _last_error)


# ---- flags --------------------------------------------------------------------------------------------------


def is_recording() -> bool:
    current = ctypes.c_bool()
    check_call(_LIB.MXAutogradIsRecording(ctypes.byref(current)))
    return current.value


def is_training() -> bool:
    current = ctypes.c_bool()
    check_call(_LIB.MXAutogradIsTraining(ctypes.byref(current)))
    return current.value


def set_recording(flag: bool) -> bool:
    previous = ctypes.c_int()
    check_call(_LIB.MXAutogradSetIsRecording(ctypes.c_int(flag), ctypes.byref(previous)))
    return bool(previous.value)


def set_training(flag: bool) -> bool:
    previous = ctypes.c_int()
    check_call(_LIB.MXAutogradSetIsTraining(ctypes.c_int(flag), ctypes.byref(previous)))
    return bool(previous.value)


def is_np_shape() -> bool:
    """Are zero-size and zero-dimensional shapes taken literally on this thread?"""
    return bool(mxnet.util.is_np_shape())


# ---- arrays and the graph -----------------------------------------------------------------------------------


def array(handle: int, numpy: bool = False, stype: int = 0) -> NDArray:
    """The NDArray (`mx.nd`, or `mx.np` with `numpy`) that owns `handle`."""
    make = _global_var._np_ndarray_cls if numpy else _global_var._ndarray_cls
    made: NDArray = make(ctypes.c_void_p(handle), stype=stype)
    return made


def wait(x: NDArray, writing: bool = False) -> None:
    """Wait for the writes to `x` that are under way, and (`writing`) for the reads."""
    check_call((_LIB.MXNDArrayWaitToWrite if writing else _LIB.MXNDArrayWaitToRead)(x.handle))


def handles(arrays: Sequence[NDArray | None]) -> Any:
    """A C array of the handles of `arrays`; None becomes a null handle."""
    return (ctypes.c_void_p * len(arrays))(*[None if a is None else a.handle.value for a in arrays])


def mark_variables(variables: Sequence[NDArray], gradients: Sequence[NDArray], reqs: Sequence[str]) -> None:
    numbers = (ctypes.c_uint32 * len(reqs))(*[GRAD_REQS[r] for r in reqs])
    check_call(_LIB.MXAutogradMarkVariables(len(variables), handles(variables), numbers, handles(gradients)))


def gradient(x: NDArray) -> NDArray | None:
    found = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetGrad(x.handle, ctypes.byref(found)))
    return None if found.value is None else array(found.value, isinstance(x, NumpyArray))


def zeros_like(x: NDArray) -> NDArray:
    made: NDArray = (mxnet.np if isinstance(x, NumpyArray) else mxnet.nd).zeros_like(x)
    return made


def copied(a: Any, numpy: bool = False) -> NDArray:
    """A new NDArray with the contents of a NumPy array (C order). Nothing can use its memory yet, so nothing is waited
    for: `mx.nd.array` asks the engine's threads, which costs more than copying a small array does."""
    made: NDArray = (mxnet.np if numpy else mxnet.nd).empty(a.shape, dtype=a.dtype)
    data = ctypes.c_void_p()
    check_call(_LIB.MXNDArrayGetData(made.handle, ctypes.byref(data)))
    if a.nbytes:
        ctypes.memmove(data, a.ctypes.data, a.nbytes)
    return made


def is_intermediate(x: NDArray) -> bool:
    """Was `x` computed inside a recorded graph?  A leaf's history is nothing but itself."""
    history = symbol(x)
    return history is not None and history.get_children() is not None


def operator_handle(name: str) -> int:
    """The handle of libmxnet's operator `name`."""
    found = ctypes.c_void_p()
    check_call(_LIB.NNGetOpHandle(name.encode(), ctypes.byref(found)))
    assert found.value is not None
    return found.value


def shallow_copy(symbol: Any) -> ctypes.c_void_p:
    """A handle of its own on the graph of a symbol; whoever has it frees it."""
    copy = ctypes.c_void_p()
    check_call(_LIB.MXShallowCopySymbol(symbol, ctypes.byref(copy)))
    return copy


def symbol_text(handle: Any) -> bytes:
    """The JSON of a symbol, subgraphs and all."""
    text = ctypes.c_char_p()
    check_call(_LIB.MXSymbolSaveToJSON(handle, ctypes.byref(text)))
    return text.value or b""


def symbol(x: NDArray) -> Any:
    """The recorded history of `x` as an `mx.sym.Symbol`; None when it is in no graph."""
    found = ctypes.c_void_p()
    if _LIB.MXAutogradGetSymbol(x.handle, ctypes.byref(found)):
        return None
    return mxnet.symbol.Symbol(found)


def backward(
    heads: Sequence[NDArray],
    head_grads: Sequence[NDArray | None] | None,
    variables: Sequence[NDArray] | None,
    retain_graph: bool,
    create_graph: bool,
    train_mode: bool,
) -> list[NDArray] | None:
    """One call of MXAutogradBackwardEx; returns the gradients of `variables`, if any are given."""
    results = ctypes.POINTER(ctypes.c_void_p)()
    stypes = ctypes.POINTER(ctypes.c_int)()
    check_call(
        _LIB.MXAutogradBackwardEx(
            len(heads),
            handles(heads),
            ctypes.c_void_p() if head_grads is None else handles(head_grads),
            len(variables) if variables else 0,
            handles(variables) if variables else ctypes.c_void_p(),
            ctypes.c_int(retain_graph),
            ctypes.c_int(create_graph),
            ctypes.c_int(train_mode),
            ctypes.byref(results) if variables else ctypes.c_void_p(),
            ctypes.byref(stypes) if variables else ctypes.c_void_p(),
        )
    )
    if not variables:
        return None
    return [array(results[i], isinstance(v, NumpyArray), stypes[i]) for i, v in enumerate(variables)]
