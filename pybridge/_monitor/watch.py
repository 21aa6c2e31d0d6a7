"""Operators report what they take and give, while somebody watches.

1. Outside of hybridized blocks every operator is a call of MXImperativeInvokeEx, which is looked at from around.
2. A hybridized block runs, while watched, an operator of its own graph that has a hook, runs dynamically (with static
   shapes libmxnet skips operators, with static memory it shows old buffers) and inlines nothing (so that the backward
   has operators to show). The block's own cached operator and its flags are not touched: libmxnet cannot take a hook
   off again.
3. Julia functions say themselves that they were called.

What a watcher raises is kept until the call that it came from returns, and raised there.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import mxnet
from mxnet.gluon import Block, HybridBlock, Parameter

from .. import _blocks, _dispatch, _libmxnet, _libmxnet_hooks, functions, julia
from .._libmxnet import NDArray
from .._unseen import OWN, is_unseen, unseen

_initialize: Any = Parameter._finish_deferred_init
_CachedOp: Any = mxnet._ctypes.ndarray.CachedOp


class Watcher(Protocol):
    """Who wants to be told."""

    block: Block
    names: Sequence[str] | None
    monitor_all: bool
    backward: bool

    def begin(self, backward: bool) -> None:
        """A call of libmxnet begins that will report."""

    def wants(self, name: str) -> bool: ...

    def report(self, name: str, operator: str, array: NDArray, output: bool) -> None: ...


Reported = Callable[[str, str, int], None]


class _Here(threading.local):
    def __init__(self) -> None:
        self.reported: Reported | None = None  # who hears of the call that is under way
        self.failure: BaseException | None = None
        self.busy = False  # inside a watcher, whose own operators are nobody's concern


_here = _Here()
_watchers: tuple[Watcher, ...] = ()
_hooked: dict[int, _Hooked] = {}  # by the id of the cached operator that they run instead of
_under_way: list[tuple[int, Reported]] = []  # calls that report, with the thread that made them


def add(watcher: Watcher) -> None:
    global _watchers
    _watchers = (*_watchers, watcher)
    _install(True)


def remove(watcher: Watcher) -> None:
    global _watchers
    _watchers = tuple(w for w in _watchers if w is not watcher)
    if not _watchers:
        _install(False)
        _hooked.clear()


def _install(put: bool) -> None:
    for name, wrapper in _WRAPPERS.items():
        _libmxnet.around(name, wrapper, put)
    functions.watch(_julia_function if put else None)
    Parameter._finish_deferred_init = _initialize_unseen if put else _initialize


def _initialize_unseen(self: Any) -> None:
    """What a block's first call does for its parameters' sake is none of its operators."""
    with unseen():
        _initialize(self)


def _watching() -> Sequence[Watcher]:
    """Those who watch a block that is being called on this thread."""
    if _here.busy or is_unseen():
        return ()
    stack = _blocks.stack()
    return [w for w in _watchers if any(block is w.block for block in stack)]


def _tell(watchers: Sequence[Watcher], name: str, operator: str, array: NDArray, output: bool) -> None:
    here = _here
    if here.failure is not None:
        return
    before, here.busy = here.busy, True
    try:
        for watcher in watchers:
            if (output or watcher.monitor_all) and (watcher.names is None or watcher.wants(name)):
                watcher.report(name, operator, array, output)
    except BaseException as failure:  # raised again when libmxnet has returned
        here.failure = failure
    finally:
        here.busy = before


def _settle() -> BaseException | None:
    failure, _here.failure = _here.failure, None
    return failure


# ---- operators outside of graphs ----------------------------------------------------------------------------


def _imperative(call: Any, *arguments: Any) -> int:
    watchers = _watching()
    if not watchers:
        return int(call(*arguments))
    this = _libmxnet_hooks.ImperativeCall(arguments)
    block = _blocks.stack()[-1]
    function = sys._getframe(2).f_locals  # of the operator's Python function, which was told its name
    given = function.get("name")
    hint = this.operator.lower()
    node = block.prefix + (given if isinstance(given, str) else f"{hint}{_blocks.count(hint)}")
    if _libmxnet.is_recording():
        for watcher in watchers:
            if watcher.backward:
                raise _no_hook(block, f"its operator {this.operator} was recorded outside of a graph")
    for watcher in watchers:
        watcher.begin(backward=False)
    if any(watcher.monitor_all for watcher in watchers):
        names = this.argument_names
        for i, array in enumerate(this.inputs()):
            slot = names[i] if i < len(names) else f"arg{i}"
            _tell(watchers, f"{node}_{slot}", this.operator, array, False)
    code = int(call(*arguments))
    if not code:
        outputs = this.outputs()
        for i, array in enumerate(outputs):
            _tell(watchers, f"{node}_output{i if len(outputs) > 1 else ''}", this.operator, array, True)
    failure = _settle()
    if failure is not None:
        if not code:
            this.drop_outputs()
        raise failure
    return code


def _julia_function(name: str, arguments: Sequence[NDArray], results: Sequence[NDArray]) -> None:
    watchers = _watching()
    if not watchers:
        return
    hint = name.lower()
    node = f"{_blocks.stack()[-1].prefix}{hint}{_blocks.count(hint)}"
    for i, array in enumerate(arguments):
        _tell(watchers, f"{node}_arg{i}", name, array.detach(), False)
    for i, array in enumerate(results):
        _tell(watchers, f"{node}_output{i if len(results) > 1 else ''}", name, array.detach(), True)
    failure = _settle()
    if failure is not None:
        raise failure


# ---- graphs -------------------------------------------------------------------------------------------------


class _Hooked:
    """An operator with a hook that runs instead of a block's own cached operator."""

    def __init__(
        self, original: Any, symbol: Any, data: Sequence[int] | None, arguments: Sequence[Any]
    ) -> None:
        self.original = original  # kept, for it is found by its id
        flags: list[tuple[str, Any]] = [("inline_limit", 0)]
        if julia.started():
            # With Julia functions in a graph the dispatch's helper makes the call. It must not keep operators back for
            # a bulk: the owner, where the watchers run, would not wait for them and read what was there before.
            flags += [("forward_bulk_size", 0), ("backward_bulk_size", 0)]
        self.operator = _CachedOp(symbol, flags)
        self._data = data
        text = symbol.tojson(remove_amp_cast=False)
        self._sparse = "sparse" in text or "storage" in text or _libmxnet_hooks.any_sparse(arguments)

    def maker(self, arguments: Sequence[Any]) -> Callable[[int], NDArray]:
        return _libmxnet_hooks.maker(self._sparse or _libmxnet_hooks.any_sparse(arguments, self._data))


def _cached(call: Any, *arguments: Any) -> int:
    watchers = _watching()
    frame = sys._getframe(1)
    hooked = _with_hook(frame, arguments) if watchers else None
    if hooked is None:
        return int(call(*arguments))
    inputs = any(watcher.monitor_all for watcher in watchers)
    _libmxnet_hooks.set_hook(hooked.operator, _hook, inputs)
    arguments = _libmxnet_hooks.with_operator(arguments, hooked.operator)
    code = _heard(_hearing(watchers, hooked.maker(arguments), inputs), watchers, False, call, arguments)
    failure = _settle()
    if failure is not None:
        if not code:
            _libmxnet_hooks.drop_results(arguments)
        raise failure
    return code


def _with_hook(frame: Any, arguments: Sequence[Any]) -> _Hooked | None:
    """What runs instead of the operator that is called in `frame`; None where its graph is not known."""
    operator = frame.f_locals.get("self")
    found = _hooked.get(id(operator))
    if found is not None:
        return found
    symbol, data = getattr(operator, "_symbol", None), None
    if symbol is None:
        while frame is not None and frame.f_code is not HybridBlock._call_cached_op.__code__:
            frame = frame.f_back
        block = frame.f_locals["self"] if frame is not None else None
        if block is None or block._cached_op is not operator:
            return None
        symbol = block._cached_graph[1]
        data = [i for i, (is_data, _) in enumerate(block._cached_op_args) if is_data]
    made = _hooked[id(operator)] = _Hooked(operator, symbol, data, arguments)
    return made


def _backward(call: Any, *arguments: Any) -> int:
    watchers = [w for w in _watchers if w.backward] if not _here.busy else []
    if not watchers:
        return int(call(*arguments))
    code = _heard(
        _hearing(watchers, _libmxnet_hooks.maker(sparse=True), True), watchers, True, call, arguments
    )
    failure = _settle()
    if failure is not None:
        raise failure
    return code


def _heard(reported: Reported, watchers: Sequence[Watcher], backward: bool, call: Any, arguments: Any) -> int:
    """Make a call of libmxnet; what Python runs on this thread meanwhile are the watchers alone."""
    here = _here
    before, here.reported, here.busy = here.reported, reported, True
    made = (threading.get_ident(), reported)
    _under_way.append(made)
    try:
        for watcher in watchers:
            watcher.begin(backward=backward)
        return int(call(*arguments))
    finally:
        _under_way.remove(made)
        here.reported, here.busy = before, False


def _hearing(watchers: Sequence[Watcher], make: Callable[[int], NDArray], inputs: bool) -> Reported:
    """What takes the reports of one call, as quick as can be: it is called for every operator."""
    here = _here
    if len(watchers) > 1 or watchers[0].names is not None or not watchers[0].monitor_all:

        def several(name: str, operator: str, handle: int) -> None:
            array = make(handle)
            if OWN not in name and here.failure is None:
                _tell(watchers, name, operator, array, not (inputs and is_input(name, operator)))

        return several
    report = watchers[0].report

    def one(name: str, operator: str, handle: int) -> None:
        array = make(handle)
        if OWN not in name and here.failure is None:
            try:
                report(name, operator, array, not is_input(name, operator))
            except BaseException as failure:
                here.failure = failure

    return one


def _reported(name: str, operator: str, handle: Any) -> None:
    """A cached operator reports; never raises, for libmxnet would not know what to do with that."""
    reported = _here.reported
    if reported is not None:
        reported(name, operator, handle)
        return
    # The dispatch's helper makes the call, for there are Julia functions in the graph. The owner serves meanwhile.
    for caller, heard in _under_way[::-1]:
        if caller == julia.owner() != threading.get_ident():
            _dispatch.on_owner(functools.partial(heard, name, operator, handle), operator)
            return
    _libmxnet_hooks.free(handle)


@functools.lru_cache(maxsize=4096)
def is_input(name: str, operator: str) -> bool:
    """Is this the name of something that an operator takes, or of what it gives?"""
    if name.endswith("_output") or ("_backward_" in name and name.rpartition("_")[2].isdigit()):
        return False
    last = name.rpartition("_")[2]
    if (last.startswith("input") and last[5:].isdigit()) or (last.startswith("arg") and last[3:].isdigit()):
        return True
    return any(name.endswith(f"_{argument}") for argument in _libmxnet_hooks.argument_names(operator))


def _no_hook(block: Block, why: str) -> Exception:
    return ValueError(
        "monitor: backward=True sees the operators of hybridized blocks only; libmxnet has no hook for the backward "
        f"of {block.name} ({type(block).__name__}): {why}. Hybridize it, or do without backward=True."
    )


def check_backward(block: Block) -> None:
    """ValueError for a block, or a part of it, that computes without being hybridized."""
    if isinstance(block, HybridBlock) and block._active:
        return
    if isinstance(block, HybridBlock) or not block._children:
        raise _no_hook(block, "it is not hybridized")
    for child in block._children.values():
        check_backward(child)


_hook = _libmxnet_hooks.hook(_reported)
_WRAPPERS: dict[str, Any] = {
    "MXImperativeInvokeEx": _imperative,
    "MXInvokeCachedOpEx": _cached,
    "MXAutogradBackwardEx": _backward,
}
