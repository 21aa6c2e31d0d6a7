"""What is asked of libmxnet about marked arrays, and the look at the graph before a backward over them."""

from __future__ import annotations

import functools
import json
import weakref
from collections import defaultdict
from typing import Any

from .. import _libmxnet, _libmxnet_marks
from .._libmxnet import GraphError

_BACKWARD = ("MXAutogradBackwardEx", "MXAutogradBackward", "MXAutogradComputeGradient")

#: Marks whose graph no backward has freed yet. They are gone with their arrays and gradients, from any thread.
_expected: dict[int, weakref.ref[Any]] = {}

_watching = False


def expect(mark: Any) -> None:
    """From now on a backward looks whether it does right by `mark`."""
    number = id(mark)
    _expected[number] = weakref.ref(mark, lambda _: _expected.pop(number, None))
    watch()


def forget(mark: Any) -> None:
    _expected.pop(id(mark), None)


def watch() -> None:
    """Answer for marked arrays from now on."""
    global _watching
    if not _watching:
        _watching = True
        for name, wrapper in _wrappers.items():
            _libmxnet.around(name, wrapper)


def _watch_no_longer() -> None:
    global _watching
    _watching = False
    for name in _BACKWARD:
        _libmxnet.around(name, _wrappers[name], put=False)
    if _expected or _libmxnet_marks.anything_tied():
        watch()  # another thread has made one in the meantime


def _backward(name: str, call: Any, *arguments: Any) -> int:
    expected = [mark for reference in list(_expected.values()) if (mark := reference()) is not None]
    if not expected and not _libmxnet_marks.anything_tied():
        _watch_no_longer()
        return int(call(*arguments))
    met = _look(expected, arguments) if expected else []
    if name == "MXAutogradBackwardEx":
        arguments, _kept = _libmxnet_marks.with_leaves(arguments)
    code = int(call(*arguments))
    if not code and not _libmxnet_marks.retains(name, arguments):
        for mark in met:
            forget(mark)
    return code


def _look(expected: list[Any], arguments: tuple[Any, ...]) -> list[Any]:
    """The marks that the graph of the heads holds; GraphError if it goes past one."""
    symbol = _libmxnet_marks.history(arguments[0], arguments[1])
    if symbol is None:
        return []  # libmxnet will say what is wrong with the heads
    graph = json.loads(symbol.tojson(remove_amp_cast=False))  # removing them, mxnet leaks a symbol each time
    nodes = graph["nodes"]
    place = {node["name"]: i for i, node in enumerate(nodes)}
    users: dict[tuple[int, int], list[int]] = defaultdict(list)
    for i, node in enumerate(nodes):
        for entry in node["inputs"]:
            users[entry[0], entry[1]].append(i)
    heads = {(head[0], head[1]) for head in graph["heads"]}
    met = []
    for mark in expected:
        leaf = place.get(_libmxnet.symbol(mark.leaf).name)
        if leaf is None:
            _check_not_passed(mark, place, users, heads)
            continue
        met.append(mark)
        (add,) = users[leaf, 0]
        if nodes[add]["op"] == "_copy":
            (add,) = users[add, 0]
        value = nodes[add]["inputs"][0]
        if mark.in_place and (len(users[value[0], value[1]]) > 1 or (value[0], value[1]) in heads):
            raise _used_before(mark, "some of the uses of it")
    return met


def _check_not_passed(mark: Any, place: dict[str, int], users: Any, heads: Any) -> None:
    """The graph does not hold the mark; if it holds the value that was marked, that was used without the mark."""
    value = _libmxnet.symbol(mark.source)
    if value is None:
        forget(mark)  # a backward has freed its graph
        return
    node = place.get(value.name)
    if node is None:
        return  # a graph of other arrays
    index = json.loads(value.tojson(remove_amp_cast=False))["heads"][0][1]
    if users[node, index] or (node, index) in heads:
        raise _used_before(mark, "every use of it")


def _used_before(mark: Any, which: str) -> GraphError:
    if mark.in_place:
        return GraphError(
            f"backward: {mark.function} was called on an intermediate value of shape {mark.shape} after it had been "
            f"used: {which} that these heads depend on came before the mark, and its gradient would be wrong. Call "
            f"{mark.function} right after the value is computed."
        )
    return GraphError(
        f"backward: a value of shape {mark.shape} was given to {mark.function}, but the code went on with the value "
        f"itself: {which} that these heads depend on is without the mark, and its gradient would be zero. Go on with "
        f"what {mark.function} returned: h = pb.{mark.function}(h)."
    )


def _gradient(call: Any, handle: Any, out: Any) -> int:
    mark = _libmxnet_marks.tied_to_handle(handle)
    if mark is None or _libmxnet_marks.is_leaf(handle):  # made one since, when its graph was gone
        return int(call(handle, out))
    _libmxnet_marks.keep_with(out, mark)
    return int(call(mark.leaf.handle, out))


def _copy(call: Any, handle: Any, out: Any) -> int:
    code = int(call(handle, out))
    mark = _libmxnet_marks.tied_to_handle(handle)
    if mark is not None and not code:
        _libmxnet_marks.tie_copy(out, mark)
    return code


_wrappers: dict[str, Any] = {name: functools.partial(_backward, name) for name in _BACKWARD}
_wrappers["MXNDArrayGetGrad"] = _gradient
_wrappers["MXShallowCopyNDArray"] = _copy
