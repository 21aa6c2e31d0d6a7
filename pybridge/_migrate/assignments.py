"""Assignments: new values, updates, and writes into what is there."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Optional

from . import tree as t
from .blocks import block_of
from .code import update
from .functional import simple_body

if TYPE_CHECKING:
    from .translator import Translator
from .destination import RETURN, Dest, deliver


def assign(tr: Translator, node: t.Assign, dest: Dest) -> None:
    value = node.value
    if isinstance(value, t.Assign) and not node.op:
        tr.statement(value)
        value = value.target
    if tr.symbolic_assignment(node):
        return
    if node.dotted:
        _broadcast_assign(tr, node, value)
    elif node.op:
        _update(tr, node)
    else:
        _plain(tr, node, value, dest)
    if dest is not None and not (dest == RETURN and tr.state.get("changes")):
        if isinstance(node.target, (t.Name, t.Field)):
            deliver(tr, tr.expr(node.target), dest)
        elif isinstance(node.target, t.TupleForm) or isinstance(dest, ast.expr):
            deliver(tr, tr.expr(node.value), dest)


def _plain(tr: Translator, node: t.Assign, value: t.Node, dest: Dest) -> None:
    if isinstance(node.target, t.Name) and node.target.unclear:
        tr.check(
            node, f"{node.target.id} is the file's; in Julia 1 a loop's own, unless it says global", "scope"
        )
    target = tr.target(node.target)
    if isinstance(node.target, t.Index) and isinstance(target, ast.Call):
        tr.refuse(node, "an assignment to this")
    if isinstance(value, (t.If, t.Let, t.Try, t.Block)) or block_of(tr, value) is not None:
        if isinstance(value, t.If) and (_value := _conditional(tr, value)) is not None:
            tr.emit(ast.Assign([target], _value))
            return
        if isinstance(node.target, (t.Name, t.Field, t.TupleForm)):
            tr.statement(value, target)
            return
    if isinstance(value, t.Lambda) and isinstance(node.target, t.Name):
        body = simple_body(tr, value)
        plain = body is not None and all(isinstance(p.target, t.Name) and not p.splat for p in value.params)
        tr.defined_before(value, tr.names.of(node.target.id), exact=True, single=body if plain else None)
        return
    made = tr.expr(value)
    if isinstance(value, t.Index) and isinstance(node.target, t.Name) and node.target.var is not None:
        made = tr.own_part(value, node.target.var, made)
    tr.emit(ast.Assign([target], made))


def _conditional(tr: Translator, node: t.If) -> Optional[ast.expr]:
    """A short if/else as a conditional expression."""
    from .functional import _as_expression

    if node.at.end_row != node.at.row:
        return None
    made = _as_expression(node)
    return tr.expr(made) if made is not None else None


def _update(tr: Translator, node: t.Assign) -> None:
    """x += y: in place for numbers and elements, a new value for what other names may share."""
    target, kind = node.target, tr.type(node.target)
    value = tr.type(node.value)
    if node.op in ("÷", "%", "^", "//", "⊻", "\\", "⋅", ">>>"):
        made = tr.operation(node.op, target, node.value, node)
        tr.emit(ast.Assign([tr.target(target)], made))
        return
    if node.op == "*" and (kind.kind in ("str", "char") or value.kind in ("str", "char")):
        tr.emit(update(tr.target(target), "+", tr.expr(node.value)))
        return
    single = kind.scalar or kind.kind == "str"
    element_of = isinstance(target, t.Index) and not kind.arraylike
    whole = isinstance(target, t.Index) and kind.arraylike
    if whole and isinstance(node.op, str) and node.op in "+-/":
        tr.emit(update(tr.target(target), node.op, tr.expr(node.value)))
        return
    if ((single or element_of) and value.scalar) or (
        (single and node.op in ("+", "-")) and not value.arraylike
    ):
        tr.emit(update(tr.target(target), node.op, tr.expr(node.value)))
        return
    tr.emit(
        ast.Assign(
            [tr.target(target)],
            tr.operation(node.op, target, node.value, t.Binary(node.at, node.op, target, node.value)),
        )
    )


def _broadcast_assign(tr: Translator, node: t.Assign, value: t.Node) -> None:
    """x .= y and x .+= y write into x."""
    target = node.target
    kind = tr.type(target)
    if node.op:
        if node.op in ("+", "-", "*", "/") and kind.kind != "list":
            tr.emit(update(tr.target(target), node.op, tr.array(value)))
            return
        made = tr.operation(node.op, target, value, t.Binary(node.at, node.op, target, value, True))
    else:
        made = tr.array(value)
    if isinstance(target, t.Index):
        tr.emit(ast.Assign([tr.target(target)], made))
    else:
        tr.emit(ast.Assign([ast.Subscript(tr.expr(target), ast.Slice(), ast.Store())], made))
