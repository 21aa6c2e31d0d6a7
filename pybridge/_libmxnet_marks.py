"""What marks need of libmxnet beyond `_libmxnet`: objects tied to handles, and what a backward is called with.

mxnet's NDArrays have no room for an attribute and cannot be referred to weakly, but their handles are Python objects
that live as long as they do: what is tied to a handle is freed with its NDArray.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

import mxnet

from ._libmxnet import _LIB, NDArray, NumpyArray, array, check_call, real

#: The handles that something is tied to, by the address that libmxnet knows them by.
_tied: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()


def tie(x: NDArray, mark: Any) -> None:
    """Let `mark` live as long as `x`, and be found from it."""
    x.handle.pybridge_mark = mark
    _tied[x.handle.value] = x.handle


def untie(x: NDArray) -> None:
    vars(x.handle).pop("pybridge_mark", None)
    _tied.pop(x.handle.value, None)


def tied(x: NDArray) -> Any:
    """What is tied to `x`, or None."""
    return getattr(x.handle, "pybridge_mark", None)


def tied_to_handle(handle: Any) -> Any:
    """What is tied to the NDArray that passed `handle` to libmxnet, or None."""
    return getattr(handle, "pybridge_mark", None)


def is_leaf(handle: Any) -> bool:
    """Does libmxnet itself know a gradient for this handle?"""
    found = ctypes.c_void_p()
    check_call(real("MXNDArrayGetGrad")(handle, ctypes.byref(found)))
    if found.value is None:
        return False
    array(found.value)  # which frees it
    return True


def anything_tied() -> bool:
    return bool(_tied)


def keep(x: NDArray, mark: Any) -> None:
    """Let `mark` live as long as `x`, too."""
    x.handle.pybridge_kept = mark


def keep_with(reference: Any, mark: Any) -> None:
    """Let `mark` live as long as the handle that libmxnet writes through `reference`."""
    target = getattr(reference, "_obj", None)
    if target is not None:
        target.pybridge_kept = mark


def tie_copy(reference: Any, mark: Any) -> None:
    """Tie `mark` to the handle that libmxnet has written through `reference`, too."""
    target = getattr(reference, "_obj", None)
    if target is not None:
        target.pybridge_mark = mark
        _tied[target.value] = target


def swap(x: NDArray, y: NDArray) -> None:
    """Let each be the array that the other was."""
    x.handle, y.handle = y.handle, x.handle


def same(x: NDArray) -> NDArray:
    """Another NDArray of the same memory, at the same place of the graph."""
    found = ctypes.c_void_p()
    check_call(real("MXShallowCopyNDArray")(x.handle, ctypes.byref(found)))
    return array(found.value or 0, isinstance(x, NumpyArray))


def add(x: NDArray, leaf: NDArray, copy_x: bool, copy_leaf: bool) -> NDArray:
    """`x + leaf` of the kind of `x`, or of copies of them; both have the same shape and dtype."""
    numpy = isinstance(x, NumpyArray)
    terms = [a.as_nd_ndarray() if isinstance(a, NumpyArray) else a for a in (x, leaf)]
    terms = [mxnet.nd.identity(a) if copy else a for a, copy in zip(terms, (copy_x, copy_leaf))]
    made: NDArray = mxnet.nd.elemwise_add(*terms)
    return made.as_np_ndarray() if numpy else made


# ---- what a backward is called with -------------------------------------------------------------------------


def history(count: Any, heads: Any) -> Any:
    """The graph of the heads of a backward as one symbol; None when a head is in no graph."""
    symbols = []
    for handle in ctypes.cast(heads, ctypes.POINTER(ctypes.c_void_p))[: _number(count)]:
        found = ctypes.c_void_p()
        if _LIB.MXAutogradGetSymbol(ctypes.c_void_p(handle), ctypes.byref(found)):
            return None
        symbols.append(mxnet.symbol.Symbol(found))
    return symbols[0] if len(symbols) == 1 else mxnet.symbol.Group(symbols)


def retains(name: str, arguments: Sequence[Any]) -> bool:
    """Does this call of a backward keep the graph?"""
    if name == "MXAutogradBackwardEx":
        return bool(_number(arguments[5]) or _number(arguments[6]))
    return name == "MXAutogradBackward" and bool(_number(arguments[3]))


def with_leaves(arguments: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[Any]]:
    """The arguments of MXAutogradBackwardEx with the leaf of its mark for each variable that has one, and the marks."""
    count = _number(arguments[3])
    if not count:
        return arguments, []
    values = ctypes.cast(arguments[4], ctypes.POINTER(ctypes.c_void_p))[:count]
    handles = [_tied.get(value or 0) for value in values]
    marks = [None if handle is None or is_leaf(handle) else tied_to_handle(handle) for handle in handles]
    if not any(marks):
        return arguments, []
    leaves = [value if mark is None else mark.leaf.handle.value for value, mark in zip(values, marks)]
    return (*arguments[:4], (ctypes.c_void_p * count)(*leaves), *arguments[5:]), marks


def _number(argument: Any) -> int:
    return int(getattr(argument, "value", argument))
