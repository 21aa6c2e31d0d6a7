"""The ctypes boundary to the trampoline: its functions, and the addresses that it and Julia get."""

from __future__ import annotations

import ctypes
from typing import Any

from ._libmxnet import _LIB, address, check_call, watched
from ._trampoline import __file__ as _trampoline_file

#: Addresses that the trampoline gets, in the order of its struct `mx`.
TRAMPOLINE_CALLS = (
    "MXNDArrayFree",
    "MXNDArrayDetach",
    "MXNDArrayGetData",
    "MXNDArrayGetShapeEx64",
    "MXNDArrayGetDType",
    "MXNDArrayGetStorageType",
    "MXNDArrayGetContext",
    "MXNDArrayCreateEx64",
    "MXNDArrayWaitToRead",
    "MXNDArrayWaitToWrite",
    "MXNDArrayWaitAll",
    "MXNDArrayFromDLPackEx",
    "MXAutogradIsRecording",
    "MXAutogradIsTraining",
    "MXAutogradSetIsRecording",
    "MXAutogradSetIsTraining",
    "MXIsNumpyShape",
    "MXSetIsNumpyShape",
    "MXEngineSetBulkSize",
    "MXCustomFunctionRecord",
    "MXRandomSeed",
    "MXGetLastError",
)

_P, _I, _L, _Q = ctypes.c_void_p, ctypes.c_int, ctypes.c_long, ctypes.c_int64

_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "pb_link": (None, (_P, _I)),
    "pb_link_count": (_I, ()),
    "pb_set_owner": (None, ()),
    "pb_seed": (None, (_I,)),
    "pb_set_timeout": (None, (ctypes.c_double,)),
    "pb_is_owner": (_I, ()),
    "pb_live_nodes": (_L, ()),
    "pb_live_nodes_address": (_P, ()),
    "pb_live_operators_address": (_P, ()),
    "pb_created_states": (_L, ()),
    "pb_dead_operators": (_L, (_P, _L)),
    "pb_attending": (_I, ()),
    "pb_describe": (_I, (_P, _P, _I, _I)),
    "pb_release_block": (None, (_P,)),
    "pb_open_call": (_I, (_P, _P, _I, _I)),
    "pb_close_call": (_I, (_P, _P, _I)),
    "pb_job_error": (ctypes.c_char_p, ()),
    "pb_pumping": (_I, ()),
    "pb_serving": (_P, ()),
    "pb_inside": (_P, ()),
    "pb_run_on_owner": (_I, (_Q, _P)),
    "pb_begin_call": (_P, ()),
    "pb_end_call": (_I, (_P, _P, _P)),
    "pb_shutdown": (None, ()),
    "pb_pass_on_profiling": (None, ()),
    "pb_orphaned": (_I, ()),
    "pb_dead_values": (_L, ()),
    "pb_free_array": (_I, (_P,)),
    "pb_shared_arrays": (_L, ()),
    "pb_share": (_I, (_P,)),
    "pb_pinned_bytes": (_L, ()),
    "pb_copied_bytes": (_L, ()),
}


def _load() -> tuple[Any, Any]:
    """The trampoline twice: calls through the first release the GIL, calls through the second keep it."""
    released, held = ctypes.CDLL(_trampoline_file), ctypes.PyDLL(_trampoline_file)
    for name, (result, arguments) in _SIGNATURES.items():
        for library in (released, held):
            function = getattr(library, name)
            function.restype, function.argtypes = result, arguments
    o = ctypes.py_object
    with_python: dict[str, tuple[Any, tuple[Any, ...]]] = {
        "pb_serve_with": (None, (o,)),
        "pb_backward": (o, (_P, _P, _I, _P)),
        "pb_blocking": (o, (_P, o, _P, _I, _I, _I, _P)),
        "pb_serve": (o, (o, _I)),
        "pb_drain_values": (None, ()),
        "pb_wrap_dealloc": (_I, (o, ctypes.c_char_p)),
        "pb_hooks_with": (None, (o, o, o, o, ctypes.c_char_p)),
        "pb_on_operator": (None, (ctypes.c_char_p, ctypes.c_char_p, _P)),
        "pb_listen": (None, (o, o)),
        "pb_heard": (o, ()),
    }
    for name, (result, arguments) in with_python.items():
        function = getattr(held, name)
        function.restype, function.argtypes = result, arguments
    # The arguments of MXAutogradBackwardEx come as mxnet passes them: ctypes converts them as for libmxnet itself.
    held.pb_backward_ex.restype = o
    return released, held


#: Calls that can wait go through `waiting`; those that only look at a number keep the GIL.
waiting, quick = _load()


#: The name under which Julia functions are operators of symbolic graphs.
OPERATOR = "pybridge"

check_call(_LIB.MXCustomOpRegister(OPERATOR.encode(), ctypes.cast(quick.pb_new_operator, ctypes.c_void_p)))


#: Addresses that PyBridge gets, in the order of `link!` in julia/src/links.jl.
_PYBRIDGE_CALLS = (
    "pb_unpin",
    "pb_create",
    "pb_adopt",
    "pb_free",
    "pb_count_copy",
    "pb_pinned_bytes",
    "pb_is_training",
    "pb_last_error",
    "pb_dead_nodes",
    "pb_dead_roots",
    "pb_open_call",
    "pb_close_call",
    "pb_share",
    "pb_drop_array",
    "pb_released",
)


def pybridge_addresses() -> tuple[int | None, ...]:
    """Addresses of the C functions that Julia calls, and of the word where it says what it runs."""
    calls = (ctypes.cast(getattr(quick, name), ctypes.c_void_p).value for name in _PYBRIDGE_CALLS)
    return (*calls, quick.pb_inside())


def library_path() -> str:
    """The file that libmxnet was loaded from."""
    return str(_LIB._name)


def words_for_julia() -> tuple[int, int, int]:
    """Addresses of what Julia looks at before it makes a call by itself."""
    return quick.pb_live_nodes_address(), quick.pb_serving(), ctypes.addressof(watched)


def link() -> None:
    """Tell the trampoline where libmxnet's functions are."""
    addresses = (ctypes.c_void_p * len(TRAMPOLINE_CALLS))(*map(address, TRAMPOLINE_CALLS))
    assert quick.pb_link_count() == len(TRAMPOLINE_CALLS)
    quick.pb_link(addresses, len(TRAMPOLINE_CALLS))


link()
