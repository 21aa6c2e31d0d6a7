"""Operators on two operands: what Julia means by them depends on the types."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Optional

from . import tree as t
from .base_math import quotient, remainder
from .code import (
    binary,
    call,
    integer,
    method,
    py,
    tuple_of,
)
from .types import T

if TYPE_CHECKING:
    from .translator import Translator


def _complex_or_product(tr: Translator, node: t.Binary) -> Optional[ast.expr]:
    unit = isinstance(node.right, t.Name) and node.right.id == "im" and node.right.var is None
    return ast.Constant(complex(0, node.left.value)) if unit and isinstance(node.left, t.Number) else None


def operation(tr: Translator, op: str, left: t.Node, right: t.Node, node: t.Node) -> ast.expr:
    """left op right, for an operator of Julia's."""
    dotted = getattr(node, "dotted", False) or tr.is_elementwise(node)
    if op == "=>":
        return tuple_of([tr.expr(left), tr.expr(right)])
    if op == "//":
        return call("fractions.Fraction", [tr.expr(left), tr.expr(right)])
    if op in ("⋅", "∪", "∩"):
        word = {"⋅": "dot", "∪": "union", "∩": "intersect"}[op]
        return tr.expr(t.Call(node.at, t.Name(node.at, word), [left, right]))
    a, b = tr.type(left), tr.type(right)
    if dotted and "tuple" in (a.kind, b.kind):
        return tr.refuse(node, f"{op} of a tuple's items one by one")
    if op == "÷":
        return quotient(tr, left, right, dotted)
    if op == "%":
        return remainder(tr, left, right, dotted)
    if op == "*" and not dotted:
        return _product(tr, left, right, a, b, node)
    if op == "^":
        return _power(tr, left, right, a, b, dotted, node)
    if op == "/" and not dotted and a.arraylike and b.arraylike and "numeric" not in (a.kind, b.kind):
        return tr.refuse(node, "the quotient of two matrices: np.linalg.solve")
    if op == "\\":
        if dotted:
            return binary(tr.array(right), "/", tr.array(left))
        x, y = tr.expr(left), tr.expr(right)
        if b.rank == 1:
            return call("np.linalg.solve", [py("_0.T", x), y])
        if b.rank == 2:
            return py("np.linalg.solve(_0.T, _1.T).T", x, y)
        return tr.refuse(node, "the solution of a system whose right side may be a matrix: np.linalg.solve")
    if "char" in (a.kind, b.kind) and op in ("+", "-"):
        return _characters(tr, op, left, right, a, b)
    python = {"⊻": "^", "++": "+", ">>>": ">>"}.get(op, op)
    if python not in ("+", "-", "*", "/", "&", "|", "^", "<<", ">>"):
        return tr.refuse(node, f"the operator {op}")
    wants = dotted or a.arraylike or b.arraylike or "range" in (a.kind, b.kind)
    x, y = (tr.array(left), tr.array(right)) if wants else (tr.expr(left), tr.expr(right))
    if "nd" in (a.kind, b.kind) and "arr" in (a.kind, b.kind):
        tr.check(node, "an NDArray meets a NumPy array", "type")
    return binary(x, python, y)


def _product(tr: Translator, left: t.Node, right: t.Node, a: T, b: T, node: t.Node) -> ast.expr:
    special = _complex_or_product(tr, node) if isinstance(node, t.Binary) else None
    if special is not None:
        return special
    if a.kind in ("str", "char") and b.kind in ("str", "char"):
        return tr.concatenated_strings(left, right)
    if a.kind in ("str", "char") or b.kind in ("str", "char"):
        return tr.concatenated_strings(left, right)
    if a.scalar or b.scalar:
        wants = "range" in (a.kind, b.kind) or "list" in (a.kind, b.kind)
        x, y = (tr.array(left), tr.array(right)) if wants else (tr.expr(left), tr.expr(right))
        return binary(x, "*", y)
    if a.kind == "numeric" or b.kind == "numeric":
        return binary(tr.expr(left), "*", tr.expr(right))
    if "symbolic" in (a.kind, b.kind):
        return binary(tr.expr(left), "*", tr.expr(right))
    if "nd" in (a.kind, b.kind) and {a.kind, b.kind} <= {"nd", "arr"}:
        return call("mx.nd.dot", [tr.expr(right), tr.expr(left)])
    if a.kind in ("arr", "list") and b.kind in ("arr", "list"):
        if isinstance(right, t.Adjoint) and tr.type(right.value).rank == 1:
            return call("np.outer", [tr.array(right.value), tr.array(left)])
        if isinstance(left, t.Adjoint) and tr.type(left.value).rank == b.rank == 1:
            return binary(tr.array(right), "@", tr.array(left.value))
        return binary(tr.array(right), "@", tr.array(left))
    x, y = tr.expr(left), tr.expr(right)
    what = (
        f"mx.nd.dot({ast.unparse(y)}, {ast.unparse(x)})"
        if tr.uses_mx
        else f"{ast.unparse(y)} @ {ast.unparse(x)}"
    )
    tr.check(node, f"* of two matrices is {what}")
    return binary(x, "*", y)


def _power(tr: Translator, left: t.Node, right: t.Node, a: T, b: T, dotted: bool, node: t.Node) -> ast.expr:
    if a.kind in ("str", "char") and not dotted:
        return binary(tr.expr(left), "*", tr.expr(right))
    if a.kind in ("arr",) and not dotted and a.rank != 1:
        return call("np.linalg.matrix_power", [tr.expr(left), tr.expr(right)])
    if a.kind == "nd" and not dotted:
        return tr.refuse(node, "the power of a matrix")
    x, y = (tr.array(left), tr.array(right)) if dotted else (tr.expr(left), tr.expr(right))
    if isinstance(left, t.Name) and left.var is None and left.id in ("ℯ", "e") and b.kind == "nd":
        return call("mx.nd.exp", [y])
    if a.kind == "arr" and a.elem is not None and a.elem.kind == "int" and (integer(y) or 0) < 0:
        x = method(x, "astype", py("float"))
    return binary(x, "**", y)


def _characters(tr: Translator, op: str, left: t.Node, right: t.Node, a: T, b: T) -> ast.expr:
    x = call("ord", [tr.expr(left)]) if a.kind == "char" else tr.expr(left)
    y = call("ord", [tr.expr(right)]) if b.kind == "char" else tr.expr(right)
    made = binary(x, op, y)
    return made if a.kind == b.kind else call("chr", [made])
