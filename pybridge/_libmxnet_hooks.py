"""What monitoring needs of libmxnet beyond `_libmxnet`: hooks on cached operators, arguments of operators."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from typing import Any

import mxnet
from mxnet import _global_var

from ._libmxnet import _LIB, MXNetError, NDArray, NumpyArray, array, check_call, operator_handle, real
from ._libmxnet_trampoline import quick
from ._unseen import OWN

#: An operator reports its name, the names of its arguments and their kinds.
_texts = ctypes.POINTER(ctypes.c_char_p)


def set_hook(operator: Any, inputs: bool) -> None:
    """Let a cached operator report its operators' outputs, and (with `inputs`) before that their inputs.

    libmxnet has no way to take a hook off again.
    """
    function = ctypes.cast(quick.pb_on_operator, ctypes.c_void_p)
    check_call(_LIB.MXCachedOpRegisterOpHook(operator.handle, function, ctypes.c_bool(inputs)))


def listen(heard: Callable[[str, str, NDArray], Any]) -> None:
    """Let `heard` hear of the operators of the call that this thread makes next, until `no_longer`."""
    quick.pb_listen(heard, NumpyArray if mxnet.util.is_np_array() else NDArray)


def no_longer() -> BaseException | None:
    """The call is over; returns what was raised first, after which nobody heard of anything."""
    failure: BaseException | None = quick.pb_heard()
    return failure


def reports_of_helpers_go_to(function: Callable[[bytes, bytes, int], None]) -> None:
    """A helper of the dispatch calls `function` with what its call reports: `report` is to be called on the owner."""
    quick.pb_hooks_with(ctypes.c_void_p, NDArray, _global_var._ndarray_cls, function, OWN.encode())


def report(node: bytes, operator: bytes, handle: int) -> None:
    """As if this thread had made the call."""
    quick.pb_on_operator(node, operator, handle)


def free(handle: int) -> None:
    check_call(_LIB.MXNDArrayFree(ctypes.c_void_p(handle)))


def borrowed(handles: Any, count: int) -> list[NDArray]:
    """NDArrays of the same memory as the first `count` of `handles`, outside of any graph."""
    found = []
    numpy = mxnet.util.is_np_array()
    for handle in ctypes.cast(handles, ctypes.POINTER(ctypes.c_void_p))[:count]:
        copy = ctypes.c_void_p()
        check_call(real("MXNDArrayDetach")(ctypes.c_void_p(handle), ctypes.byref(copy)))
        found.append(array(copy.value or 0, numpy, 0 if numpy else -1))
    return found


class ImperativeCall:
    """The arguments of MXImperativeInvokeEx."""

    def __init__(self, arguments: Sequence[Any]) -> None:
        self._creator = arguments[0].value
        self._inputs, self._outputs = (arguments[1], arguments[2]), (arguments[3]._obj, arguments[4]._obj)
        self._stypes = arguments[8]._obj
        self._out_given = bool(self._outputs[0].value)
        self.operator, self.argument_names = _described(self._creator)

    def inputs(self) -> list[NDArray]:
        return borrowed(self._inputs[1], int(getattr(self._inputs[0], "value", self._inputs[0])))

    def outputs(self) -> list[NDArray]:
        """The results, which the caller will find though other operators run before it looks.

        libmxnet leaves the results in storage of the thread, where the next operator would put its own.
        """
        count = self._outputs[0].value
        if not self._out_given:
            _keep(self._outputs[1], ctypes.c_void_p, count)
        _keep(self._stypes, ctypes.c_int, count)
        return borrowed(self._outputs[1], count)

    def drop_outputs(self) -> None:
        """Free the results of a call whose caller will get an exception instead."""
        if not self._out_given:
            _free_all(self._outputs[1], self._outputs[0].value)


def _keep(pointer: Any, kind: Any, count: int) -> None:
    """Let `pointer` point to a copy of the `count` elements there, which lives as long as it does."""
    copy = (kind * count)(*ctypes.cast(pointer, ctypes.POINTER(kind))[:count])
    pointer.pybridge_kept = copy
    ctypes.cast(ctypes.byref(pointer), ctypes.POINTER(ctypes.c_void_p))[0] = ctypes.addressof(copy)


def drop_results(arguments: Sequence[Any]) -> None:
    """The same for the arguments of MXInvokeCachedOpEx."""
    _free_all(arguments[4]._obj, arguments[3]._obj.value)


def with_operator(arguments: tuple[Any, ...], operator: Any) -> tuple[Any, ...]:
    """The arguments of MXInvokeCachedOpEx for another cached operator."""
    return (operator.handle, *arguments[1:])


def _free_all(handles: Any, count: int) -> None:
    for handle in ctypes.cast(handles, ctypes.POINTER(ctypes.c_void_p))[:count]:
        free(handle)


@functools.cache
def _described(creator: int) -> tuple[str, tuple[str, ...]]:
    """An operator's name, and the names of its arguments that are arrays."""
    name, text, variable = ctypes.c_char_p(), ctypes.c_char_p(), ctypes.c_char_p()
    count = ctypes.c_uint32()
    names, kinds, texts = _texts(), _texts(), _texts()
    returned = ctypes.c_char_p()
    check_call(
        _LIB.MXSymbolGetAtomicSymbolInfo(
            ctypes.c_void_p(creator),
            *(ctypes.byref(each) for each in (name, text, count, names, kinds, texts, variable, returned)),
        )
    )
    arrays = tuple(
        names[i].decode()
        for i in range(count.value)
        if kinds[i].startswith((b"NDArray", b"Symbol")) and b"[]" not in kinds[i]
    )
    return (name.value or b"?").decode(), arrays


@functools.cache
def argument_names(operator: str) -> tuple[str, ...]:
    """The names of the arrays that the operator of this name takes; none for an unknown one."""
    try:
        handle = operator_handle(operator)
    except MXNetError:
        return ()
    return _described(handle)[1]
