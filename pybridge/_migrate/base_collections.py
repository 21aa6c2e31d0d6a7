"""Lists, dictionaries, sets, tuples, iteration, and functions of functions."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from . import tree as t
from .code import binary, call, compare, const, method, name, negated, py, subscript, tuple_of
from .lengths import length
from .rules import Rule
from .types import (
    ANY,
    BOOL,
    FLOAT,
    NAT,
    NONE,
    T,
    arr,
    dict_of,
    element,
    join,
    list_of,
    range_of,
)
from .types import tuple_of as tuple_type

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator
from .iteration import (
    _any_all,
    _collect,
    _collected,
    _count,
    _each_index,
    _enumerate,
    _enumerated,
    _filter,
    _filter_type,
    _find_all,
    _find_first,
    _foreach,
    _map,
    _map_type,
    _mapreduce,
    _ntuple,
    _reduce,
    _reduce_type,
    _reverse,
    _reverse_in_place,
    _sort_in_place,
    _sorted,
    _unique,
    _zipped,
)


def _same(typer: Typer, node: t.Call, args: list[T]) -> T:
    return args[0] if args else ANY


def _element(typer: Typer, node: t.Call, args: list[T]) -> T:
    return element(args[0]) if args else ANY


def _push(tr: Translator, node: t.Call) -> ast.expr:
    target, *values = node.args
    kind = tr.type(target)
    if kind.kind == "set":
        return method(tr.expr(target), "add", tr.expr(values[0]))
    if kind.kind == "dict":
        return method(
            tr.expr(target), "update", call("dict", [ast.List([tr.expr(v) for v in values], ast.Load())])
        )
    if len(values) == 1 and not isinstance(values[0], t.Splat):
        return method(tr.expr(target), "append", tr.expr(values[0]))
    return method(tr.expr(target), "extend", ast.List([tr.expr(v) for v in values], ast.Load()))


def _append(tr: Translator, node: t.Call) -> ast.expr:
    target = tr.expr(node.args[0])
    return method(target, "extend", tr.expr(node.args[1]))


def _prepend(tr: Translator, node: t.Call) -> ast.expr:
    target = tr.assignable(node.args[0])
    tr.before(ast.Assign([subscript(target, [ast.Slice(None, const(0), None)])], tr.expr(node.args[1])))
    return tr.expr(node.args[0])


def _insert(tr: Translator, node: t.Call) -> ast.expr:
    target, place, value = node.args
    return method(tr.expr(target), "insert", tr.offset(place), tr.expr(value))


def _pop(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    rest = [tr.expr(arg) for arg in node.args[1:]]
    return method(tr.expr(node.args[0]), "pop", *(rest if kind.kind == "dict" else []))


def _delete_at(tr: Translator, node: t.Call) -> ast.expr:
    tr.before(ast.Delete([tr.element(node.args[0], [node.args[1]], store=True)]))
    return tr.expr(node.args[0])


def _delete(tr: Translator, node: t.Call) -> ast.expr:
    if tr.type(node.args[0]).kind == "set":
        return method(tr.expr(node.args[0]), "discard", tr.expr(node.args[1]))
    return method(tr.expr(node.args[0]), "pop", tr.expr(node.args[1]), const(None))


def _has_key(tr: Translator, node: t.Call) -> ast.expr:
    return compare(tr.expr(node.args[1]), "in", tr.expr(node.args[0]))


def _get(tr: Translator, node: t.Call) -> ast.expr:
    first = node.args[0]
    if isinstance(first, t.Lambda):
        body = tr.simple_body(first)
        kind = tr.type(node.args[1])
        if body is None:
            return tr.refuse(node, "get with a longer block: test for the key instead")
        key, obj = tr.expr(node.args[2]), tr.expr(node.args[1])
        if kind.kind in ("dict", "any"):
            return ast.IfExp(compare(key, "in", obj), subscript(obj, [key]), tr.expr(body))
    kind = tr.type(first)
    if kind.kind in ("dict", "any") and len(node.args) == 3:
        return method(tr.expr(first), "get", tr.expr(node.args[1]), tr.expr(node.args[2]))
    if kind.kind in ("list", "arr", "tuple", "str") and len(node.args) == 3:
        index, obj = tr.offset(node.args[1]), tr.expr(first)
        return py("_1[_0] if 0 <= _0 < len(_1) else _2", index, obj, tr.expr(node.args[2]))
    return tr.refuse(node, "get of this kind of value")


def _get_default(tr: Translator, node: t.Call) -> ast.expr:
    if isinstance(node.args[0], t.Lambda):
        body = tr.simple_body(node.args[0])
        if body is None:
            return tr.refuse(node, "get! with a longer block")
        obj, key = tr.expr(node.args[1]), tr.expr(node.args[2])
        return method(obj, "setdefault", key, tr.expr(body))
    return method(*(tr.expr(node.args[0]), "setdefault"), *(tr.expr(arg) for arg in node.args[1:]))


def _value_of(typer: Typer, node: t.Call, args: list[T]) -> T:
    obj = args[1] if isinstance(node.args[0], t.Lambda) and len(args) > 1 else args[0]
    return join(obj.elem if obj.elem else None, args[-1] if len(args) == 3 else None) or ANY


def _keys(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    if kind.kind in ("dict", "any"):
        return method(value, "keys")
    return py("range(1, len(_0) + 1)", value)


def _pairs(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    if kind.kind == "dict" or kind.kind == "any":
        return method(tr.expr(node.args[0]), "items")
    if kind.kind == "namedtuple":
        return method(method(tr.expr(node.args[0]), "_asdict"), "items")
    return py("enumerate(_0, 1)", tr.expr(node.args[0]))


def _merge(tr: Translator, node: t.Call) -> ast.expr:
    if tr.type(node.args[0]).kind == "namedtuple":
        return tr.refuse(node, "merging named tuples")
    values = [tr.expr(arg) for arg in node.args]
    return ast.Dict([None] * len(values), values)


def _dict(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) == 1 and isinstance(node.args[0], t.Comprehension):
        return tr.dict_comprehension(node.args[0])
    if node.args and all(isinstance(arg, t.Binary) and arg.op == "=>" for arg in node.args):
        pairs = [arg for arg in node.args if isinstance(arg, t.Binary)]
        return ast.Dict([tr.expr(p.left) for p in pairs], [tr.expr(p.right) for p in pairs])
    if node.keywords and not node.args:
        return call("dict", [], [(key, tr.expr(value)) for key, value in node.keywords])
    if not node.args:
        return ast.Dict([], [])
    if any(isinstance(arg, t.Splat) for arg in node.args):
        values = [
            tr.expr(a.value) if isinstance(a, t.Splat) else ast.List([tr.expr(a)], ast.Load())
            for a in node.args
        ]
        if len(values) == 1:
            return call("dict", values)
        return tr.refuse(node, "a dictionary of splatted pairs and others")
    return call("dict", [tr.expr(node.args[0])])


def _dict_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    if isinstance(node.fn, t.Curly):
        said = typer.annotation(node.fn)
        if said is not None:
            return said
    key = value = None
    for arg in args:
        pair = arg.elem if arg.kind == "generator" and arg.elem is not None else arg
        if pair.kind == "pair" and pair.items:
            key, value = join(key, pair.items[0]), join(value, pair.items[1])
    return dict_of(key, value)


def _set(tr: Translator, node: t.Call) -> ast.expr:
    if node.args and isinstance(node.args[0], t.Vector) and node.args[0].items:
        return ast.Set([tr.expr(item) for item in node.args[0].items])
    return call("set", [tr.expr(arg) for arg in node.args])


def _pair(tr: Translator, node: t.Call) -> ast.expr:
    return tuple_of([tr.expr(arg) for arg in node.args])


def _vector(tr: Translator, node: t.Call) -> ast.expr:
    """Vector{T}(), Vector{T}(undef, n), Vector(xs)."""
    args = [arg for arg in node.args if not (isinstance(arg, t.Name) and arg.id in ("undef", "nothing"))]
    said = tr.typer.annotation(node.fn)
    if said is not None and said.kind == "arr" and said.elem is not None and args:
        return call("np.empty", [tr.shape(args)], tr.dtype_keyword(node.fn))
    if not args:
        return ast.List([], ast.Load())
    if len(args) == 1 and tr.type(args[0]).kind == "int":
        return binary(ast.List([const(None)], ast.Load()), "*", tr.expr(args[0]))
    if len(args) == 1 and not tr.type(args[0]).scalar:
        return call("list", [tr.expr(args[0])])
    return call("np.empty", [tr.shape(args)], tr.dtype_keyword(node.fn))


def _vector_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    said = typer.annotation(node.fn)
    if not node.args:
        return list_of(said.elem if said is not None else None)
    if said is not None and said.kind == "arr":
        dims = [a for a in node.args if not (isinstance(a, t.Name) and a.id in ("undef", "nothing"))]
        return arr(said.rank or len(dims), said.elem)
    return said or list_of(element(args[0]))


def _first_last(last: bool) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        kind = tr.type(node.args[0])
        value = tr.expr(node.args[0])
        if len(node.args) == 2:
            count = tr.expr(node.args[1])
            part = (
                ast.Slice(ast.UnaryOp(ast.USub(), count), None, None)
                if last
                else ast.Slice(None, count, None)
            )
            return subscript(value, [part])
        if kind.kind == "nd":
            return method(py("_0.reshape(-1)[_1]", value, -1 if last else 0), "asscalar")
        if kind.kind == "arr" and kind.rank != 1:
            return py("_0.flat[_1]", value, -1 if last else 0)
        if kind.kind == "dict":
            return py("next(iter(_0.items()))", value)
        if kind.kind in ("any", "iterator", "generator", "set") and not last:
            return py("next(iter(_0))", value)
        return subscript(value, [const(-1 if last else 0)])

    return emit


def _end_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    if len(args) == 2:
        return args[0]
    return FLOAT if args[0].kind == "nd" else element(args[0])


def _is_empty(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    if kind.kind in ("nd", "arr"):
        return py("_0.size == 0", value)
    return py("len(_0) == 0", value) if kind.kind == "any" else negated(value)


def _in(tr: Translator, node: t.Call) -> ast.expr:
    return compare(tr.expr(node.args[0]), "in", tr.expr(node.args[1]))


def _tuple(tr: Translator, node: t.Call) -> ast.expr:
    return tuple_of([tr.expr(arg) for arg in node.args])


def _as_tuple(tr: Translator, node: t.Call) -> ast.expr:
    return call("tuple", [tr.expr(arg) for arg in node.args])


def _partition(tr: Translator, node: t.Call) -> ast.expr:
    xs, n = tr.expr(node.args[0]), tr.expr(node.args[1])
    i = name(tr.names.fresh("start"))
    return py("[_0[_2 : _2 + _1] for _2 in range(0, len(_0), _1)]", xs, n, i)


def _setdiff(op: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        a, b = node.args
        if tr.type(a).kind == "set":
            return binary(tr.expr(a), op, call("set", [tr.expr(b)]))
        x = name(tr.names.fresh("item"))
        if op == "-":
            return py("[_2 for _2 in _0 if _2 not in _1]", tr.expr(a), tr.expr(b), x)
        if op == "&":
            return py("[_2 for _2 in _0 if _2 in _1]", tr.expr(a), tr.expr(b), x)
        return py("list(dict.fromkeys([*_0, *_1]))", tr.expr(a), tr.expr(b))

    return emit


RULES: dict[str, Rule] = {
    "length": Rule(length, NAT, "len(x), x.size"),
    "push!": Rule(_push, _same, "x.append(y)"),
    "pushfirst!": Rule("_0.insert(0, _1)", NONE),
    "append!": Rule(_append, _same, "x.extend(y)"),
    "prepend!": Rule(_prepend, _same, "x[:0] = y"),
    "pop!": Rule(_pop, _element, "x.pop()"),
    "popfirst!": Rule("_0.pop(0)", _element),
    "insert!": Rule(_insert, NONE, "x.insert(i - 1, y)"),
    "deleteat!": Rule(_delete_at, _same, "del x[i - 1]"),
    "delete!": Rule(_delete, _same, "x.pop(key, None)"),
    "empty!": Rule("_0.clear()", NONE),
    "haskey": Rule(_has_key, BOOL, "key in x"),
    "get": Rule(_get, _value_of, "x.get(key, default)"),
    "get!": Rule(_get_default, _value_of, "x.setdefault(key, default)"),
    "keys": Rule(
        _keys,
        lambda typer, n, args: T("iterator", elem=args[0].key if args[0].kind == "dict" else NAT),
        "x.keys()",
    ),
    "values": Rule("_0.values()", lambda typer, n, args: T("iterator", elem=args[0].elem)),
    "pairs": Rule(_pairs, lambda typer, n, args: T("iterator", elem=element(args[0])), "x.items()"),
    "merge": Rule(_merge, _same, "{**a, **b}"),
    "merge!": Rule("_0.update(_1)", _same),
    "Dict": Rule(_dict, _dict_type, "{key: value}"),
    "OrderedDict": Rule(_dict, _dict_type, "{key: value}"),
    "IdDict": Rule(_dict, _dict_type, "{key: value}"),
    "Set": Rule(_set, lambda typer, n, args: T("set", elem=element(args[0]) if args else None), "set(x)"),
    "Pair": Rule(_pair, lambda typer, n, args: T("pair", items=tuple(args)), "(a, b)"),
    "Vector": Rule(_vector, _vector_type, "[], np.empty"),
    "map": Rule(_map, _map_type, "[f(x) for x in xs]"),
    "filter": Rule(_filter, _filter_type, "[x for x in xs if f(x)]"),
    "reduce": Rule(_reduce, _reduce_type, "sum, functools.reduce"),
    "foldl": Rule(_reduce, _reduce_type, "functools.reduce"),
    "mapreduce": Rule(_mapreduce, ANY, "sum(f(x) for x in xs)"),
    "mapfoldl": Rule(_mapreduce, ANY, "functools.reduce"),
    "foreach": Rule(_foreach, NONE, "for x in xs: f(x)"),
    "any": Rule(_any_all, BOOL, "any"),
    "all": Rule(_any_all, BOOL, "all"),
    "count": Rule(_count, NAT, "sum(f(x) for x in xs)"),
    "enumerate": Rule(_enumerate, _enumerated, "enumerate(x, 1)"),
    "zip": Rule("zip(_all)", _zipped),
    "eachindex": Rule(_each_index, lambda typer, n, args: range_of(NAT), "range(1, len(x) + 1)"),
    "collect": Rule(_collect, _collected, "list(x), np.arange"),
    "sort": Rule(_sorted, _same, "sorted(x), np.sort(x)"),
    "sort!": Rule(_sort_in_place, NONE, "x.sort()"),
    "reverse": Rule(_reverse, _same, "x[::-1]"),
    "reverse!": Rule(_reverse_in_place, _same, "x.reverse()"),
    "unique": Rule(_unique, lambda typer, n, args: list_of(element(args[0])), "list(dict.fromkeys(x))"),
    "first": Rule(_first_last(False), _end_type, "x[0]"),
    "last": Rule(_first_last(True), _end_type, "x[-1]"),
    "isempty": Rule(_is_empty, BOOL, "not x"),
    "in": Rule(_in, BOOL, "x in y"),
    "findall": Rule(
        _find_all,
        lambda typer, n, args: list_of(NAT) if len(args) == 2 else arr(1, NAT),
        "np.flatnonzero(x) + 1",
    ),
    "findfirst": Rule(_find_first, NAT, "next(i for i, x in enumerate(xs, 1) if f(x))"),
    "ntuple": Rule(_ntuple, T("tuple"), "tuple(f(i) for i in range(1, n + 1))"),
    "tuple": Rule(_tuple, lambda typer, n, args: tuple_type(*args), "(a, b)"),
    "Tuple": Rule(_as_tuple, T("tuple"), "tuple(x)"),
    "partition": Rule(_partition, lambda typer, n, args: list_of(args[0])),
    "product": Rule("itertools.product(_all)", T("iterator")),
    "flatten": Rule("itertools.chain.from_iterable(_0)", T("iterator")),
    "take": Rule("itertools.islice(_0, _1)", lambda typer, n, args: T("iterator", elem=element(args[0]))),
    "drop": Rule(
        "itertools.islice(_0, _1, None)", lambda typer, n, args: T("iterator", elem=element(args[0]))
    ),
    "cycle": Rule("itertools.cycle(_0)", T("iterator")),
    "setdiff": Rule(_setdiff("-"), _same, "[x for x in a if x not in b]"),
    "intersect": Rule(_setdiff("&"), _same, "[x for x in a if x in b]"),
    "union": Rule(_setdiff("|"), _same, "list(dict.fromkeys([*a, *b]))"),
    "issubset": Rule("set(_0) <= set(_1)", BOOL),
    "allunique": Rule("len(set(_0)) == len(_0)", BOOL),
    "isdisjoint": Rule("set(_0).isdisjoint(_1)", BOOL),
    "sizehint!": Rule("_0", NONE),
    "keytype": Rule("type(next(iter(_0)))", ANY),
    "firstindex": Rule("1", NAT),
    "lastindex": Rule("len(_0)", NAT),
    "nothing": Rule("None", NONE),
}


__all__ = ["RULES"]
