"""Calls of Julia: the block is filled, an entry of PyBridge runs, the results become NDArrays."""

from __future__ import annotations

import collections
import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Any

from .. import _libmxnet, julia
from .._libmxnet import NDArray
from .._libmxnet_trampoline import quick, waiting
from .block import (
    FLAG_NUMPY,
    H_FLAGS,
    H_FUNCTION,
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
    try:
        block = free.pop()
    except IndexError:
        block = (ctypes.c_int64 * (HEADER + WORDS * (room + RESULTS)))()
    ctypes.memset(block, 0, 8 * HEADER)
    block[H_ROOM] = RESULTS
    return block


def _give_back(block: Any) -> None:
    _blocks[(len(block) - HEADER) // WORDS - RESULTS].append(block)


def _wait_while_serving(arrays: Sequence[NDArray], written: int = 0) -> None:
    """Inside a served callback a wait pumps; what comes after it no longer has to wait."""
    if owner.serving:
        for i, a in enumerate(arrays):
            _libmxnet.wait(a, writing=i >= len(arrays) - written)


def _unfit(bad: int, name: str, positions: Sequence[int]) -> Exception:
    index, reason = divmod(bad, 8)
    if reason == 1:
        return _libmxnet.last_error()
    which = f"argument {positions[index]}" if positions else "nd"
    return ValueError(f"{name}: {which} cannot be shared with Julia: {_WHY[reason]}")


def call(
    function: int,
    arrays: Sequence[NDArray],
    positions: Sequence[int],
    staged: tuple[Sequence[Any], dict[str, Any]] | None,
    written: int = 0,
) -> NDArray | tuple[NDArray, ...]:
    """Call the prepared Julia function number `function`: one node of the graph if autograd is recording.

    `arrays` are its NDArrays, at the argument `positions`, of which it may write to the last `written`; `staged` holds
    all positional arguments (the arrays' places empty) and the keywords, if there is anything but arrays.
    """
    if owner.forked:
        ready()
    name = function_names[function]
    numpy = isinstance(arrays[0], _libmxnet.NumpyArray)
    block = _take_block(len(arrays))
    try:
        block[H_FUNCTION] = function
        block[H_FLAGS] = FLAG_NUMPY if numpy else 0
        _wait_while_serving(arrays, written)
        handles = _libmxnet.handles(arrays)
        bad = waiting.pb_open_call(block, handles, len(arrays), written)
        if bad:
            raise _unfit(bad, name, positions)
        failed = True
        try:
            if threading.get_ident() == owner.ident:
                _enter(block, staged)
            else:
                on_owner(lambda: _enter(block, staged), name)
            failed = False
        finally:
            unrecorded = waiting.pb_close_call(block, handles, failed)
        first = HEADER + WORDS * len(arrays)
        results = [_libmxnet.array(block[first + WORDS * i], numpy) for i in range(block[H_OUTPUTS])]
        if unrecorded:
            raise _libmxnet.last_error()
        return tuple(results) if block[H_SEVERAL] else results[0]
    finally:
        _give_back(block)


def _enter(block: Any, staged: tuple[Sequence[Any], dict[str, Any]] | None) -> None:
    if _dead_functions:
        _forget_dead_functions()
    if owner.seed is not None:
        seed_julia()
    if staged is not None:
        arguments, keywords = staged
        slot = owner.bridge.Slot()
        owner.bridge.stage([slot if a is None else a[0] for a in arguments], keywords)
        block[H_STAGED] = 1
    if owner.forward(ctypes.addressof(block)):
        raise julia_failure()


def _release() -> None:
    """Let Julia forget what libmxnet and Python have let go of."""
    if owner.release():
        raise julia_failure()
    _forget_dead_functions()


def _forget_dead_functions() -> None:
    while _dead_functions:
        number = _dead_functions.pop()
        function_names.pop(number, None)
        owner.bridge.forget(number)


def prepare(
    target: Any,
    pullback: bool,
    python_layout: bool,
    keywords: dict[str, Any],
    ad: Any = None,
    fields: Sequence[str] = (),
) -> tuple[int, str]:
    """Make a Julia function ready to be called; returns its number and its name."""
    ready()
    name = target if isinstance(target, str) else ask_bridge("target_name", "function", target, read=str)
    number = ask_bridge(
        "prepare", name, target, name, pullback, python_layout, keywords, ad, list(fields), read=int
    )
    function_names[number] = name
    return number, name


def forget(number: int) -> None:
    """The prepared function `number` will not be called again; its nodes live on. Any thread may say so."""
    _dead_functions.append(number)


def ask_bridge(function: str, name: str, *arguments: Any, read: Callable[[Any], Any] | None = None) -> Any:
    """Call a function of PyBridge on the owner, through juliacall; misuse is raised as `julia_failure` says.

    `read` makes Python's values of the Julia value that comes back: to look into one is the owner's to do, too.
    """

    def work() -> Any:
        _release()
        bridge = owner.bridge  # not before: looking a name up in Julia is the owner's to do, too
        status, result = bridge.attempt(getattr(bridge, function), *arguments)
        if status:
            raise julia_failure()
        return result if read is None else read(result)

    return on_owner(work, name)


def seed_julia(seed: int | None = None) -> None:
    """Let Julia's random numbers follow `mx.random.seed`; on another thread, or before Julia starts, later."""
    if seed is not None:
        owner.seed = seed
    if owner.bridge is not None and threading.get_ident() == owner.ident and not owner.forked:
        seed, owner.seed = owner.seed, None
        getattr(owner.bridge, "seed!")(seed)


def copied_bytes() -> int:
    """Bytes copied so far where a pointer could not cross: gradients and results that Julia made elsewhere."""
    return int(quick.pb_copied_bytes())


def pinned_bytes() -> int:
    """Bytes of NDArrays that Julia's views keep alive now."""
    return int(quick.pb_pinned_bytes())


def live_counts() -> dict[str, int]:
    """Nodes and adopted arrays that the owner's tables hold, and the nodes that libmxnet holds."""
    ready()
    _release()
    bridge = owner.bridge
    return {
        "nodes": int(bridge.node_count()),
        "roots": int(bridge.root_count()),
        "libmxnet": int(quick.pb_live_nodes()),
    }


# ---- buffers ----


def view(x: NDArray, writable: bool, python_layout: bool) -> Any:
    """The Julia array over the memory of `x`."""
    ready()
    block = _take_block(1)
    try:
        _wait_while_serving([x], int(writable))
        bad = waiting.pb_describe(block, _libmxnet.handles([x]), 1, writable)
        if bad:
            raise _unfit(bad, "asjulia", [])
        return ask_bridge("view_at", "asjulia", ctypes.addressof(block), writable, python_layout)
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
        ask_bridge("adopt_at", "asndarray", ctypes.addressof(block), array, numpy or _libmxnet.is_np_shape())
        return _libmxnet.array(block[HEADER], numpy)
    finally:
        _give_back(block)
