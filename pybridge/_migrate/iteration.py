"""Going through collections: map and its relatives, sorting, finding."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import tree as t
from .code import call, const, method, py, subscript
from .lengths import length
from .rules import base_name
from .shapes import options
from .types import (
    ANY,
    NAT,
    T,
    arr,
    element,
    list_of,
    matrix_rank,
)
from .types import tuple_of as tuple_type

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator


def _map(tr: Translator, node: t.Call) -> ast.expr:
    """map(f, xs): a comprehension when f is a short anonymous function."""
    fn, *iterables = node.args
    return tr.mapped(fn, iterables, node)


def _map_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    from .infer import join as _join  # noqa: F401 - one lattice

    fn, *_iterables = node.args
    if isinstance(fn, t.Lambda):
        for param, iterable in zip(fn.params, args[1:]):
            typer.bind(param.target, element(iterable))
        result = args[0].elem or ANY
    elif args[0].kind == "func" and args[0].name in typer.functions:
        known = typer.functions[args[0].name]
        known.plain += 1
        for method_ in known.methods:
            typer.passed(method_, [element(arg) for arg in args[1:]], {})
        result = known.result or ANY
    else:
        result = ANY
    if args[1:] and args[1].kind == "tuple":
        return T("tuple")
    if len(args) == 2 and matrix_rank(args[1]):
        return arr(args[1].rank, result if result.scalar else None)
    return list_of(result)


def _filter(tr: Translator, node: t.Call) -> ast.expr:
    fn, iterable = node.args
    kind = tr.type(iterable)
    if kind.kind == "dict":
        return tr.filtered_dict(fn, iterable, node)
    return tr.filtered(fn, iterable, node)


def _filter_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    if isinstance(node.args[0], t.Lambda):
        for param in node.args[0].params:
            typer.bind(param.target, element(args[1]))
    if args[1].kind == "dict":
        return args[1]
    return list_of(element(args[1]))


_FOLDED = {"+": "sum", "*": "math.prod", "max": "max", "min": "min", "&": "all", "|": "any"}


def _reduce(tr: Translator, node: t.Call) -> ast.expr:
    """reduce(+, xs): the built-in for known operators, functools.reduce else."""
    fn, iterable = node.args[:2]
    start = {k: v for k, v in node.keywords if k}.get("init")
    operator = fn.id if isinstance(fn, t.Name) and fn.var is None else ""
    kind = tr.type(iterable)
    if operator in ("vcat", "hcat") and start is None:
        return tr.concatenated(operator, iterable, node)
    if operator == "*" and (element(kind).kind == "str"):
        return method(const(""), "join", tr.expr(iterable))
    if operator in _FOLDED and element(kind).kind != "nd" and kind.kind != "nd":
        args = [tr.iterated(iterable)]
        if start is None:
            return call(_FOLDED[operator], args)
        if operator == "+":
            return call("sum", [*args, tr.expr(start)])
        if operator == "*":
            return call("math.prod", args, [("start", tr.expr(start))])
    args = [tr.function_value(fn), tr.iterated(iterable)]
    if start is not None:
        args.append(tr.expr(start))
    return call("functools.reduce", args)


def _reduce_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    if len(args) < 2:
        return ANY
    fn = node.args[0]
    if isinstance(fn, t.Lambda):
        for param in fn.params:
            typer.bind(param.target, element(args[1]))
    if isinstance(fn, t.Name) and fn.id in ("vcat", "hcat"):
        inner = element(args[1])
        return T(inner.kind, None if fn.id == "hcat" else inner.rank) if inner.arraylike else arr()
    return element(args[1])


def _mapreduce(tr: Translator, node: t.Call) -> ast.expr:
    fn, op, *iterables = node.args
    mapped = tr.mapped(fn, iterables, node, generator=True)
    operator = op.id if isinstance(op, t.Name) and op.var is None else ""
    if operator in _FOLDED:
        return call(_FOLDED[operator], [mapped])
    return call("functools.reduce", [tr.function_value(op), mapped])


def _foreach(tr: Translator, node: t.Call) -> ast.expr:
    fn, *iterables = node.args
    return tr.foreach(fn, iterables, node)


def _any_all(tr: Translator, node: t.Call) -> ast.expr:
    word = base_name(node.fn)
    dims = options(node).get("dims")
    if dims is not None:
        x = tr.array(node.args[-1])
        return call(f"np.{word}", [x], [("axis", tr.axis(dims)), ("keepdims", const(True))])
    if len(node.args) == 2:
        return call(word, [tr.mapped(node.args[0], [node.args[1]], node, generator=True)])
    kind = tr.type(node.args[0])
    if kind.kind in ("arr", "numeric"):
        return call(f"np.{word}", [tr.expr(node.args[0])])
    return call(word, [tr.iterated(node.args[0])])


def _count(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) == 2:
        return tr.counted(node.args[0], node.args[1], node)
    kind = tr.type(node.args[0])
    if kind.kind in ("arr", "numeric"):
        return call("np.count_nonzero", [tr.expr(node.args[0])])
    return call("sum", [tr.iterated(node.args[0])])


def _enumerate(tr: Translator, node: t.Call) -> ast.expr:
    return py("enumerate(_0, 1)", tr.iterated(node.args[0]))


def _enumerated(typer: Typer, node: t.Call, args: list[T]) -> T:
    return T("iterator", elem=tuple_type(NAT, element(args[0])))


def _each_index(tr: Translator, node: t.Call) -> ast.expr:
    return py("range(1, _0 + 1)", length(tr, node))


def _zipped(typer: Typer, node: t.Call, args: list[T]) -> T:
    return T("iterator", elem=tuple_type(*(element(arg) for arg in args)))


def _collect(tr: Translator, node: t.Call) -> ast.expr:
    arg = node.args[-1]
    kind = tr.type(arg)
    if isinstance(arg, t.Comprehension):
        return tr.expr(
            t.Comprehension(
                arg.at, arg.value, arg.bindings, arg.test, arg.elem, False, arg.product, arg.scope
            )
        )
    if kind.kind == "range":
        return tr.array(arg) if tr.type(node).kind == "arr" else call("list", [tr.expr(arg)])
    if kind.kind == "arr":
        made = tr.expr(arg)
        return made if isinstance(made, ast.Call) else method(made, "copy")
    return call("list", [tr.iterated(arg)])


def _collected(typer: Typer, node: t.Call, args: list[T]) -> T:
    kind = args[-1]
    if kind.kind == "range":
        return arr(1, kind.elem)
    if kind.kind == "arr":
        return kind
    if kind.kind == "generator" and kind.elem is not None and kind.elem.scalar:
        return arr(1, kind.elem)
    return list_of(kind.elem if kind.kind in ("iterator", "generator") else element(kind))


def _sorted(tr: Translator, node: t.Call) -> ast.expr:
    source = node.args[0]
    if isinstance(source, t.Call) and tr.called(source) == "collect" and len(source.args) == 1:
        source = source.args[0]
    kind = tr.type(node.args[0])
    value = tr.iterated(source)
    options = {key: v for key, v in node.keywords if key}
    unknown = set(options) - {"by", "rev"}
    if unknown or len(node.args) > 1:
        return tr.refuse(node, "sort with lt or an algorithm")
    keywords = []
    if "by" in options:
        keywords.append(("key", tr.function_value(options["by"])))
    if "rev" in options:
        keywords.append(("reverse", tr.expr(options["rev"])))
    if kind.kind == "arr" and not keywords:
        return call("np.sort", [value])
    made = call("sorted", [value], keywords)
    return call("np.array", [made]) if kind.kind == "arr" else made


def _sort_in_place(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    options = {key: v for key, v in node.keywords if key}
    if kind.kind == "arr" and options:
        tr.before(ast.Assign([subscript(tr.assignable(node.args[0]), [ast.Slice()])], _sorted(tr, node)))
        return tr.expr(node.args[0])
    keywords = []
    if "by" in options:
        keywords.append(("key", tr.function_value(options["by"])))
    if "rev" in options:
        keywords.append(("reverse", tr.expr(options["rev"])))
    return call(ast.Attribute(tr.expr(node.args[0]), "sort", ast.Load()), [], keywords)


def _reverse(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    dims = {key: v for key, v in node.keywords if key}.get("dims")
    if dims is not None:
        library = "mx.nd.flip" if kind.kind == "nd" else "np.flip"
        return call(library, [value], [("axis", tr.axis(dims))])
    if kind.kind in ("str", "list", "tuple", "arr", "range"):
        return subscript(value, [ast.Slice(None, None, const(-1))])
    return py("list(reversed(_0))", value)


def _reverse_in_place(tr: Translator, node: t.Call) -> ast.expr:
    value = tr.expr(node.args[0])
    if tr.type(node.args[0]).kind == "arr":
        back = subscript(value, [ast.Slice(None, None, const(-1))])
        tr.before(ast.Assign([subscript(tr.assignable(node.args[0]), [ast.Slice()])], method(back, "copy")))
        return value
    return method(value, "reverse")


def _unique(tr: Translator, node: t.Call) -> ast.expr:
    return py("list(dict.fromkeys(_0))", tr.iterated(node.args[0]))


def _find_all(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) == 1:
        return py("np.flatnonzero(_0) + 1", tr.expr(node.args[0]))
    return tr.found(node.args[0], node.args[1], node, every=True)


def _find_first(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) == 1:
        return py("int(np.argmax(_0)) + 1", tr.expr(node.args[0]))
    if tr.type(node.args[1]).kind == "str":
        return tr.refuse(node, "findfirst in a string gives a range: use str.find")
    return tr.found(node.args[0], node.args[1], node, every=False)


def _ntuple(tr: Translator, node: t.Call) -> ast.expr:
    fn, count = node.args
    numbers = t.Range(node.at, t.Number(node.at, 1), count)
    return call("tuple", [tr.mapped(fn, [numbers], node, generator=True)])
