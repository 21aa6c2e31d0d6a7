"""Indices: from one-based and inclusive to zero-based and half-open, from Julia's order of axes to Python's."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Optional

from . import tree as t
from .code import call, const, integer, method, negative, py, shifted, subscript
from .types import T

if TYPE_CHECKING:
    from .translator import Translator

_POSITIONS = ("list", "tuple", "str", "range", "pair", "namedtuple")


def element(tr: Translator, obj: t.Node, args: list[t.Node], store: bool = False) -> ast.expr:
    """obj[args], to read or (with `store`) to assign to."""
    kind = tr.type(obj)
    if isinstance(obj, t.Call) and tr.called(obj) == "size" and len(args) == 1 and not store:
        made = _size_of(tr, obj, args[0])
        if made is not None:
            return made
    if not args:
        if kind.kind == "nd":
            return method(tr.expr(obj), "asscalar")
        return tr.refuse(obj, "an empty index")
    if kind.kind == "dict":
        return subscript(tr.expr(obj), [_key(tr, args)])
    if len(args) == 1:
        return _single(tr, obj, args[0], kind, store)
    value = tr.expr(obj)
    places = [
        position(tr, arg, lambda number=number: _extent(tr, value, number, len(args)))
        for number, arg in enumerate(args, 1)
    ]
    places.reverse()
    while len(places) > 1 and _whole(places[-1]):
        places.pop()
    if all(_whole(place) for place in places):
        places = places[:1]
    return subscript(value, places)


def _key(tr: Translator, args: list[t.Node]) -> ast.expr:
    if len(args) == 1:
        return tr.expr(args[0])
    return ast.Tuple([tr.expr(arg) for arg in args], ast.Load())


def _single(tr: Translator, obj: t.Node, arg: t.Node, kind: T, store: bool) -> ast.expr:
    value = tr.expr(obj)
    what = tr.type(arg)
    if kind.kind == "any" and what.kind in ("str", "sym"):
        return subscript(value, [tr.expr(arg)])
    if kind.kind == "match":
        return subscript(value, [tr.expr(arg)])  # 0 is the whole in both
    if kind.kind == "namedtuple" and isinstance(arg, t.Sym):
        return ast.Attribute(value, tr.names.of(arg.id), ast.Load())
    if isinstance(arg, t.Colon):
        return _everything(value, kind, store)
    if what.kind in ("list", "arr") and what.elem is not None and what.elem.kind == "bool":
        return _masked(tr, value, tr.array(arg), kind)
    flat = kind.kind in ("arr", "nd") and kind.rank is not None and kind.rank > 1
    if kind.kind == "any":
        tr.check(obj, "the position in a vector: a dictionary keeps its key, a matrix counts through x.flat")
    if kind.kind in ("arr", "nd") and kind.rank is None and not _is_part(arg, what):
        tr.check(obj, "the position in a vector: a matrix counts through all its elements")
    if kind.kind == "nd" and flat:
        if _is_part(arg, what):
            return subscript(value, [position(tr, arg, lambda: py("_0.shape[0]", value))])
        value = method(value, "reshape", const(-1))
    elif flat:
        value = py("_0.flat", value)
    if what.kind in ("arr", "list") and kind.kind in ("list", "tuple", "str"):
        place = ast.Name(tr.names.fresh("i"), ast.Load())
        return py("[_0[_2 - 1] for _2 in _1]", value, tr.expr(arg), place)
    length = py("_0.size", value) if kind.kind in ("arr", "nd") and kind.rank != 1 else call("len", [value])
    return subscript(value, [position(tr, arg, lambda: length)])


def _masked(tr: Translator, value: ast.expr, mask: ast.expr, kind: T) -> ast.expr:
    """x[mask]; of a matrix the elements in memory's order, in both languages."""
    if kind.kind not in ("list", "tuple", "range"):
        return subscript(value, [mask])
    x, kept = (ast.Name(tr.names.fresh(word), ast.Load()) for word in ("x", "kept"))
    return py("[_2 for _2, _3 in zip(_0, _1) if _3]", value, mask, x, kept)


def _is_part(arg: t.Node, what: T) -> bool:
    return isinstance(arg, (t.Range, t.Colon)) or what.kind in ("range", "arr", "list")


def _everything(value: ast.expr, kind: T, store: bool) -> ast.expr:
    """x[:]: the target of an assignment to all; read, an NDArray itself, a vector's copy, a matrix laid flat."""
    if store or kind.kind == "any":
        return subscript(value, [ast.Slice()])
    if kind.kind == "nd":
        return value
    if kind.kind == "arr":
        return method(value, "copy" if kind.rank == 1 else "flatten")
    return subscript(value, [ast.Slice()])


def _extent(tr: Translator, value: ast.expr, dim: int, count: int) -> ast.expr:
    return subscript(py("_0.shape", value), [const(-dim)])


def _size_of(tr: Translator, obj: t.Call, arg: t.Node) -> Optional[ast.expr]:
    """size(x)[k] is x.shape[-k], size(x)[end] x.shape[0]."""
    shape = py("_0.shape", tr.expr(obj.args[0]))
    if isinstance(arg, t.End):
        return subscript(shape, [const(0)])
    if isinstance(arg, t.Number):
        return subscript(shape, [const(-arg.value)])
    return None


def _whole(place: ast.expr) -> bool:
    return isinstance(place, ast.Slice) and place.lower is place.upper is place.step is None


def from_end(node: t.Node) -> Optional[int]:
    """k for `end - k` with a literal k."""
    if isinstance(node, t.End) and not node.first:
        return 0
    if not (isinstance(node, t.Binary) and node.op == "-" and isinstance(node.right, t.Number)):
        return None
    back = node.right.value
    return back if isinstance(node.left, t.End) and not node.left.first and isinstance(back, int) else None


def position(tr: Translator, arg: t.Node, length) -> ast.expr:  # type: ignore[no-untyped-def]
    """One index of Julia's as one of Python's; `length` makes the extent of the axis, for what `end` needs."""
    if isinstance(arg, t.Colon):
        return ast.Slice()
    if isinstance(arg, t.Range):
        return _slice(tr, arg, length)
    back = from_end(arg)
    if back is not None:
        return const(-1 - back)
    kind = tr.type(arg)
    with tr.ending(length):
        value = tr.expr(arg)
    if kind.kind == "range":
        if isinstance(value, ast.Name):
            return ast.Slice(shifted(py("_0.start", value), -1), shifted(py("_0.stop", value), -1), None)
        return shifted(call("np.array", [value]), -1)
    if kind.kind == "list":
        return shifted(call("np.array", [value]), -1)
    if kind.kind == "arr" and kind.elem is not None and kind.elem.kind == "bool":
        return value
    if kind.kind in ("str", "sym"):
        return value
    if kind.kind == "nd":
        tr.check(arg, "an index that is an NDArray")
    return shifted(value, -1)


def offset(tr: Translator, node: t.Node) -> ast.expr:
    """A position that counts from one as one that counts from zero."""
    return position(tr, node, lambda: tr.refuse(node, "end outside of an index"))


def _slice(tr: Translator, arg: t.Range, length) -> ast.expr:  # type: ignore[no-untyped-def]
    with tr.ending(length):
        step = None if arg.step is None else tr.expr(arg.step)
        number = 1 if step is None else integer(step)
        if number is None:
            return shifted(call("np.array", [tr.expr(arg)]), -1)
        if number < 0:
            return _backwards(tr, arg, const(number))
        start = _lower(tr, arg.start)
        back = from_end(arg.stop)
        if back is not None:
            stop: Optional[ast.expr] = None if back == 0 else const(-back)
        else:
            stop = tr.expr(arg.stop)
        return ast.Slice(start, stop, None if number == 1 else step)


def _lower(tr: Translator, node: t.Node) -> Optional[ast.expr]:
    back = from_end(node)
    if back is not None:
        return const(-1 - back)
    made = shifted(tr.expr(node), -1)
    return None if integer(made) == 0 else made


def _backwards(tr: Translator, arg: t.Range, step: ast.expr) -> ast.expr:
    back = from_end(arg.start)
    start = None if back == 0 else const(-1 - back) if back is not None else shifted(tr.expr(arg.start), -1)
    stop = shifted(tr.expr(arg.stop), -2)
    number = integer(stop)
    if number is not None:
        return ast.Slice(start, None if number < 0 else stop, step)
    if start is None:
        return tr.refuse(arg, "a range downwards from the end to a place that is not written out")
    return shifted(call("np.arange", [shifted(start, 1), shifted(stop, 1), step]), -1)


def axis(tr: Translator, node: t.Node) -> ast.expr:
    """Julia's dimension d is Python's axis -d, whatever the rank."""
    if isinstance(node, (t.TupleForm, t.Vector)):
        return ast.Tuple([axis(tr, item) for item in node.items], ast.Load())
    if isinstance(node, t.Range) and isinstance(node.start, t.Number) and isinstance(node.stop, t.Number):
        return ast.Tuple([const(-dim) for dim in range(node.start.value, node.stop.value + 1)], ast.Load())
    kind = tr.type(node)
    value = tr.expr(node)
    if kind.kind == "tuple":
        place = ast.Name(tr.names.fresh("dim"), ast.Load())
        return py("tuple(-_1 for _1 in _0)", value, place)
    if kind.kind != "int":
        tr.check(node, "taken for one dimension, counted from the other end")
    return negative(value)


def shape(tr: Translator, nodes: list[t.Node]) -> ast.expr:
    """Sizes of Julia's as a shape of Python's: turned round."""
    if len(nodes) == 1:
        return _one_shape(tr, nodes[0])
    if any(isinstance(node, t.Splat) for node in nodes):
        items = [
            ast.Starred(_one_shape(tr, n.value), ast.Load()) if isinstance(n, t.Splat) else tr.expr(n)
            for n in nodes
        ]
        return ast.Tuple(items[::-1], ast.Load())
    return ast.Tuple([tr.expr(node) for node in reversed(nodes)], ast.Load())


def _one_shape(tr: Translator, node: t.Node) -> ast.expr:
    if isinstance(node, t.Splat):
        return _one_shape(tr, node.value)
    if isinstance(node, t.TupleForm):
        return ast.Tuple([tr.expr(item) for item in reversed(node.items)], ast.Load())
    kind = tr.type(node)
    value = tr.expr(node)
    if kind.kind == "tuple":
        return turned(value)
    if kind.kind == "any":
        tr.check(node, "taken for one size; a tuple of sizes is turned round, sizes[::-1]")
    return value


def turned(value: ast.expr) -> ast.expr:
    """A tuple of sizes the other way round; twice is nothing."""
    if isinstance(value, ast.Subscript) and ast.unparse(value.slice) in ("::-1", "::-1"):
        return value.value
    return subscript(value, [ast.Slice(None, None, const(-1))])


def joined_exprs(tr: Translator, values: list[ast.expr], dim: int, kinds: list[T]) -> ast.expr:
    """Arrays one behind the other along a dimension of Julia's."""
    if any(kind.kind == "nd" for kind in kinds):
        return call("mx.nd.concat", values, [("dim", _concat_axis(tr, kinds, dim))])
    ranks = {kind.rank for kind in kinds}
    if ranks == {dim - 1}:
        return call("np.stack", [ast.List(values, ast.Load())])
    return call("np.concatenate", [ast.List(values, ast.Load())], [("axis", const(-dim))])


def _concat_axis(tr: Translator, kinds: list[T], dim: int) -> ast.expr:
    ranks = [kind.rank for kind in kinds if kind.rank is not None]
    return const(max(ranks) - dim) if len(ranks) == len(kinds) else const(-dim)


def joined_arrays(tr: Translator, args: list[t.Node], dim: int, node: t.Node) -> ast.expr:
    """vcat, hcat, cat of the arguments."""
    kinds = [tr.type(arg.value) if isinstance(arg, t.Splat) else tr.type(arg) for arg in args]
    if len(args) == 1 and isinstance(args[0], t.Splat):
        sequence = tr.expr(args[0].value)
        inner = kinds[0].elem or T("any")
        if inner.kind == "nd":
            return call(
                "mx.nd.concat", [ast.Starred(sequence, ast.Load())], [("dim", _concat_axis(tr, [inner], dim))]
            )
        if dim == 2 and inner.rank == 1:
            return call("np.stack", [sequence])
        if inner.kind == "any":
            tr.check(
                node, "arrays joined along the last axis but " + str(dim - 1) if dim > 1 else "arrays joined"
            )
        return call("np.concatenate", [sequence], [("axis", const(-dim))])
    if dim == 1 and all(kind.kind == "list" for kind in kinds):
        return ast.List([ast.Starred(tr.expr(arg), ast.Load()) for arg in args], ast.Load())
    if dim == 1 and any(kind.scalar for kind in kinds):
        items = [
            tr.expr(arg) if kind.scalar else ast.Starred(tr.expr(arg), ast.Load())
            for arg, kind in zip(args, kinds)
        ]
        return call("np.array", [ast.List(items, ast.Load())])
    if any(kind.kind == "nd" for kind in kinds):
        ranks = [kind.rank for kind in kinds]
        values = [tr.expr(arg) for arg in args]
        if None in ranks:
            tr.check(node, f"joined along dimension {dim}, axis -{dim}")
        elif max(r for r in ranks if r is not None) < dim:
            values = [call("mx.nd.expand_dims", [value], [("axis", const(0))]) for value in values]
            kinds = [T("nd", dim) for _ in kinds]
        return joined_exprs(tr, values, dim, kinds)
    if any(kind.kind == "any" for kind in kinds):
        tr.check(node, f"joined along dimension {dim}, axis -{dim}: mx.nd.concat if these are NDArrays")
    values = [tr.array(arg) for arg in args]
    if dim == 2 and any((kind.rank or 0) > 1 for kind in kinds):  # beside a matrix, a vector is a column
        columns = [kind.kind in ("list", "range") or kind.rank == 1 for kind in kinds]
        values = [
            py("_0.reshape(1, -1)", value) if column else value for value, column in zip(values, columns)
        ]
    return joined_exprs(tr, values, dim, kinds)
