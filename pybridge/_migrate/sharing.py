"""Parts of arrays are copies in Julia and views in NumPy: it matters where one is kept and either is written to."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

from . import tree as t
from .code import method
from .indexing import element
from .rules import base_name
from .scopes import GROWS, Var

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator


def part(tr: Translator, node: t.Index) -> ast.expr:
    """x[…], with a copy where something keeps it that may see later changes, or changes it."""
    made = element(tr, node.obj, node.args)
    if "kept parts" not in tr.state:
        tr.state["kept parts"] = dict(_kept(tr.typer))
        tr.state["given"] = _given_what_changes(tr.typer)
    changed = tr.state["kept parts"].get(id(node))
    if changed is None:
        return made
    return own(tr, node, made, changed or _source_changes(node, tr.state["given"]))


def own(tr: Translator, node: t.Index, made: ast.expr, changes: bool) -> ast.expr:
    """What stands for a part, copied if it is a view and changes matter."""
    if not changes or not isinstance(made, ast.Subscript) or tr.type(node).scalar:
        return made
    if tr.type(node.obj).kind not in ("arr", "any") or tr.type(node).kind not in ("arr", "any"):
        return made
    places = made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]
    row = not any(isinstance(place, ast.Slice) for place in places)
    if row and not any(isinstance(arg, t.Colon) for arg in node.args):
        return made  # an element, or places that are listed
    return method(made, "copy")


def in_variable(tr: Translator, node: t.Index, target: Var, made: ast.expr) -> ast.expr:
    """y = x[…]."""
    return own(tr, node, made, target.mutated or _source_changes(node))


def _source_changes(node: t.Index, given: frozenset[Var] = frozenset()) -> bool:
    source: t.Node = node
    while isinstance(source, (t.Index, t.Field)):
        source = source.obj
    var = source.var if isinstance(source, t.Name) else None
    return var is not None and (var.mutated or var in given)


def _given_what_changes(typer: Typer) -> frozenset[Var]:
    """Parameters for which some call passes an array that is written to."""
    return frozenset(
        param.target.var
        for node in typer.tree.walk()
        if isinstance(node, t.Call) and isinstance(node.fn, t.Name) and node.fn.id in typer.functions
        for method in typer.functions[node.fn.id].methods
        for param, arg in zip(method.params, node.args)
        if isinstance(param.target, t.Name) and param.target.var is not None
        if isinstance(arg, t.Name) and arg.var is not None and arg.var.mutated
    )


def _kept(typer: Typer) -> Iterator[tuple[int, bool]]:
    """The parts that are kept, and whether what keeps them writes to them."""
    for node in typer.tree.walk():
        for value, writes in _keeps(typer, node):
            if isinstance(value, t.Index):
                yield id(value), writes


def _keeps(typer: Typer, node: t.Node) -> Iterator[tuple[Optional[t.Node], bool]]:
    if isinstance(node, t.Call):
        yield from _arguments(typer, node)
    elif isinstance(node, t.Comprehension):
        yield node.value, False
    elif isinstance(node, (t.TupleForm, t.Vector)):
        yield from ((item, False) for item in node.items)
    elif isinstance(node, t.NamedTupleForm):
        yield from ((value, False) for _, value in node.entries)
    elif isinstance(node, t.Binary) and node.op == "=>":
        yield node.right, False
    elif (
        isinstance(node, t.Assign) and isinstance(node.target, (t.Index, t.Field)) and not node.dotted
    ) or isinstance(node, t.Return):
        yield node.value, False
    elif isinstance(node, (t.FuncDef, t.Lambda)) and node.body.items:
        yield node.body.items[-1], False


def _arguments(typer: Typer, node: t.Call) -> Iterator[tuple[Optional[t.Node], bool]]:
    word = base_name(node.fn)
    if word in GROWS:
        yield from ((arg, False) for arg in node.args[1:])
    elif isinstance(node.fn, t.Name) and word in typer.structs:
        yield from ((arg, False) for arg in [*node.args, *(value for _, value in node.keywords)])
    elif isinstance(node.fn, t.Name) and word in typer.functions:
        for function in typer.functions[word].methods:
            for param, arg in zip(function.params, node.args):
                var = param.target.var if isinstance(param.target, t.Name) else None
                if var is not None and var.mutated:
                    yield arg, True
