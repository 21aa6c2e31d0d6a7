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
from .._unseen import is_unseen, unseen

_initialize: Any = Parameter._finish_deferred_init
_CachedOp: Any = mxnet._ctypes.ndarray.CachedOp


class Watcher(Protocol):
    """Who wants to be told."""

    block: Block
    names: Sequence[str] | None
    monitor_all: bool
    backward: bool
    #: To be called in place of `report`, if every call of it is one of that.
    direct: Callable[[str, str, NDArray], Any] | None

    def begin(self, backward: bool) -> None:
        """A call of libmxnet begins that will report."""

    def wants(self, name: str) -> bool: ...

    def report(self, name: str, operator: str, array: NDArray, output: bool) -> None: ...


class _Here(threading.local):
    def __init__(self) -> None:
        self.failure: BaseException | None = None
        self.busy = False  # inside a watcher, whose own operators are nobody's concern


_here = _Here()
_watchers: tuple[Watcher, ...] = ()
_hooked: dict[int, _Hooked] = {}  # by the id of the cached operator that they run instead of
_under_way: list[int] = []  # the threads that make calls which report


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

    def __init__(self, original: Any, symbol: Any) -> None:
        self.original = original  # kept, for it is found by its id
        flags: list[tuple[str, Any]] = [("inline_limit", 0)]
        if julia.started():
            # With Julia functions in a graph the dispatch's helper makes the call. It must not keep operators back for
            # a bulk: the owner, where the watchers run, would not wait for them and read what was there before.
            flags += [("forward_bulk_size", 0), ("backward_bulk_size", 0)]
        self.operator = _CachedOp(symbol, flags)


def _cached(call: Any, *arguments: Any) -> int:
    watchers = _watching()
    frame = sys._getframe(1)
    hooked = _with_hook(frame) if watchers else None
    if hooked is None:
        return int(call(*arguments))
    inputs = any(watcher.monitor_all for watcher in watchers)
    _libmxnet_hooks.set_hook(hooked.operator, inputs)
    arguments = _libmxnet_hooks.with_operator(arguments, hooked.operator)
    code, failure = _heard(watchers, inputs, False, call, arguments)
    if failure is not None:
        if not code:
            _libmxnet_hooks.drop_results(arguments)
        raise failure
    return code


def _with_hook(frame: Any) -> _Hooked | None:
    """What runs instead of the operator that is called in `frame`; None where its graph is not known."""
    operator = frame.f_locals.get("self")
    found = _hooked.get(id(operator))
    if found is not None:
        return found
    symbol = getattr(operator, "_symbol", None)
    if symbol is None:
        while frame is not None and frame.f_code is not HybridBlock._call_cached_op.__code__:
            frame = frame.f_back
        block = frame.f_locals["self"] if frame is not None else None
        if block is None or block._cached_op is not operator:
            return None
        symbol = block._cached_graph[1]
    made = _hooked[id(operator)] = _Hooked(operator, symbol)
    return made


def _backward(call: Any, *arguments: Any) -> int:
    watchers = [w for w in _watchers if w.backward] if not _here.busy else []
    if not watchers:
        return int(call(*arguments))
    code, failure = _heard(watchers, True, True, call, arguments)
    if failure is not None:
        raise failure
    return code


def _heard(
    watchers: Sequence[Watcher], inputs: bool, backward: bool, call: Any, arguments: Any
) -> tuple[int, BaseException | None]:
    """Make a call of libmxnet; what Python runs on this thread meanwhile are the watchers alone."""
    thread = threading.get_ident()
    for watcher in watchers:
        watcher.begin(backward=backward)
    _here.busy = True
    _under_way.append(thread)
    _libmxnet_hooks.listen(_hearing(watchers, inputs, backward))
    try:
        code = int(call(*arguments))
    finally:
        failure = _libmxnet_hooks.no_longer()
        _under_way.remove(thread)
        _here.busy = False
    return code, failure


def _hearing(watchers: Sequence[Watcher], inputs: bool, backward: bool) -> Callable[[str, str, NDArray], Any]:
    """What hears of the operators of one call, as quick as can be: it is called for every one of them."""
    first = watchers[0]
    # A forward shows inputs only if they are wanted, a backward always.
    if len(watchers) == 1 and first.direct is not None and (first.monitor_all or not backward):
        return first.direct

    def tell(name: str, operator: str, array: NDArray) -> None:
        output = not (inputs and is_input(name, operator))
        for watcher in watchers:
            if (output or watcher.monitor_all) and (watcher.names is None or watcher.wants(name)):
                watcher.report(name, operator, array, output)

    return tell


def _from_helper(node: bytes, operator: bytes, handle: int) -> None:
    """The dispatch's helper makes the call, for there are Julia functions in the graph. The owner serves meanwhile."""
    if julia.owner() in _under_way:
        report = functools.partial(_libmxnet_hooks.report, node, operator, handle)
        _dispatch.on_owner(report, operator.decode())
    else:
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


_libmxnet_hooks.reports_of_helpers_go_to(_from_helper)
_WRAPPERS: dict[str, Any] = {
    "MXImperativeInvokeEx": _imperative,
    "MXInvokeCachedOpEx": _cached,
    "MXAutogradBackwardEx": _backward,
}
