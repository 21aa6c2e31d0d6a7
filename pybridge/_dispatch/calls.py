"""Calls of Julia: the block is filled, an entry of PyBridge runs, the results become NDArrays."""

from __future__ import annotations

import collections
import ctypes
import threading
from collections.abc import Sequence
from typing import Any

from .. import _libmxnet, julia
from .._libmxnet import NDArray, quick, waiting
from .block import (
    FLAG_NUMPY,
    FLAG_RECORDING,
    H_FLAGS,
    H_FUNCTION,
    H_NODE,
    H_OUTPUTS,
    H_ROOM,
    H_SEVERAL,
    H_STAGED,
    HEADER,
    RESULTS,
    WORDS,
)
from .failures import julia_failure
from .others import on_owner
from .owner import function_names, owner, ready

_blocks: dict[int, list[Any]] = {}
_dead_functions: collections.deque[int] = collections.deque()

_WHY = {
    2: "sparse storage; convert it with .tostype('default')",
    3: "on a GPU; copy it with .as_in_context(mx.cpu())",
    4: "an element type that Julia cannot share; convert it with .astype('float32')",
    5: "an unknown shape, or more than 16 dimensions",
}


def _take_block(arrays: int) -> Any:
    """A zeroed block with room for `arrays` inputs; blocks are used again (calls can be nested)."""
    room = 1 << max(3, arrays.bit_length())
    free = _blocks.setdefault(room, [])
    block = free.pop() if free else (ctypes.c_int64 * (HEADER + WORDS * (room + RESULTS)))()
    ctypes.memset(block, 0, 8 * HEADER)
    block[H_ROOM] = RESULTS
    return block


def _give_back(block: Any) -> None:
    _blocks[(len(block) - HEADER) // WORDS - RESULTS].append(block)


def _describe(
    block: Any, arrays: Sequence[NDArray], name: str, positions: Sequence[int], writing: bool
) -> Any:
    if owner.serving:  # wait as a callback does: pumping
        for a in arrays:
            _libmxnet.wait(a, writing)
    handles = _libmxnet.handles(arrays)
    bad = waiting.pb_describe(block, handles, len(arrays), writing)
    if bad:
        index, reason = divmod(bad, 8)
        if reason == 1:
            raise _libmxnet.last_error()
        which = f"argument {positions[index]}" if positions else "nd"
        raise ValueError(f"{name}: {which} cannot be shared with Julia: {_WHY[reason]}")
    return handles


def call(
    function: int,
    arrays: Sequence[NDArray],
    positions: Sequence[int],
    staged: tuple[Sequence[Any], dict[str, Any]] | None,
) -> NDArray | tuple[NDArray, ...]:
    """Call the prepared Julia function number `function`: one node of the graph if autograd is recording.

    `arrays` are its NDArrays, at the argument `positions`; `staged` holds all positional arguments (the arrays'
    places empty) and the keywords, if there is anything but arrays.
    """
    if owner.forked:
        ready()
    name = function_names[function]
    here = threading.get_ident() == owner.ident
    numpy = bool(arrays) and isinstance(arrays[0], _libmxnet.NumpyArray)
    block = _take_block(len(arrays))
    try:
        block[H_FUNCTION] = function
        block[H_FLAGS] = FLAG_NUMPY if numpy else 0
        handles = _describe(block, arrays, name, positions, writing=False)
        recording = bool(block[H_FLAGS] & FLAG_RECORDING) and len(arrays) > 0
        if recording:
            block[H_NODE] = quick.pb_new_node()
            quick.pb_set_recording(0)
        try:
            if here:
                _enter(block, name, staged)
            else:
                on_owner(lambda: _enter(block, name, staged), name)
        except BaseException:
            waiting.pb_release_block(block)
            raise
        finally:
            if recording:
                quick.pb_set_recording(1)
        first = HEADER + WORDS * len(arrays)
        results = [_libmxnet.array(block[first + WORDS * i], numpy) for i in range(block[H_OUTPUTS])]
        if recording and waiting.pb_record(
            block[H_NODE], function, len(arrays), handles, len(results), _libmxnet.handles(results)
        ):
            raise _libmxnet.last_error()
        return tuple(results) if block[H_SEVERAL] else results[0]
    finally:
        _give_back(block)


def _enter(block: Any, name: str, staged: tuple[Sequence[Any], dict[str, Any]] | None) -> None:
    _release()
    if staged is not None:
        arguments, keywords = staged
        slot = owner.bridge.Slot()
        owner.bridge.stage([slot if a is None else a[0] for a in arguments], keywords)
        block[H_STAGED] = 1
    inside, owner.inside = owner.inside, name
    try:
        status = owner.forward(ctypes.addressof(block))
    finally:
        owner.inside = inside
    if status:
        raise julia_failure()


def _release() -> None:
    """Let Julia forget what libmxnet and Python have let go of."""
    if owner.release():
        raise julia_failure()
    while _dead_functions:
        number = _dead_functions.pop()
        function_names.pop(number, None)
        owner.bridge.forget(number)


def prepare(target: Any, name: str, pullback: bool, python_layout: bool, keywords: dict[str, Any]) -> int:
    """Make a Julia function ready to be called; returns its number."""
    ready()
    number = int(_checked("prepare", name, target, name, pullback, python_layout, keywords))
    function_names[number] = name
    return number


def forget(number: int) -> None:
    """The prepared function `number` will not be called again; its nodes live on. Any thread may say so."""
    _dead_functions.append(number)


def _checked(function: str, name: str, *arguments: Any) -> Any:
    """Call a function of PyBridge on the owner, through juliacall; misuse is raised as `julia_failure` says."""

    def work() -> Any:
        _release()
        bridge = owner.bridge  # not before: looking a name up in Julia is the owner's to do, too
        status, result = bridge.attempt(getattr(bridge, function), *arguments)
        if status:
            raise julia_failure()
        return result

    return on_owner(work, name)


# ---- buffers ----


def view(x: NDArray, writable: bool, python_layout: bool) -> Any:
    """The Julia array over the memory of `x`."""
    ready()
    block = _take_block(1)
    try:
        _describe(block, [x], "asjulia", [], writing=writable)
        return _checked("view_at", "asjulia", ctypes.addressof(block), writable, python_layout)
    finally:
        waiting.pb_release_block(block)
        _give_back(block)


def adopt(array: Any, numpy: bool) -> NDArray:
    """The NDArray over the memory of the Julia array `array`."""
    ready()
    if not isinstance(array, julia.value_base()):
        raise TypeError(f"asndarray: jl_array is a {type(array).__name__}; expected a Julia array")
    block = _take_block(1)
    try:
        _checked("adopt_at", "asndarray", ctypes.addressof(block), array, numpy or _libmxnet.is_np_shape())
        return _libmxnet.array(block[HEADER], numpy)
    finally:
        _give_back(block)
