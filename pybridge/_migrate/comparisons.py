"""Comparisons and their chains."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import (
    binary,
    call,
    compare,
    const,
    method,
    negated,
    py,
)

if TYPE_CHECKING:
    from .translator import Translator


_PYTHON_COMPARISONS = {"≤": "<=", "≥": ">=", "≠": "!=", "∈": "in", "∉": "not in", "in": "in"}


def compared(tr: Translator, node: t.Compare) -> ast.expr:
    plain = all(_PYTHON_COMPARISONS.get(op, op) in ("==", "!=", "<", "<=", ">", ">=") for op in node.ops)
    kinds = [tr.type(item) for item in node.items]
    if plain and not any(k.kind in ("arr", "nd") for k in kinds):
        rest: list[Any] = []
        for op, item in zip(node.ops, node.items[1:]):
            rest += [_identity(_PYTHON_COMPARISONS.get(op, op), item), tr.expr(item)]
        return compare(tr.expr(node.items[0]), *rest)
    tests = [
        _comparison(tr, op, left, right, node)
        for op, left, right in zip(node.ops, node.items, node.items[1:])
    ]
    if len(tests) == 1:
        return tests[0]
    if any(op.startswith(".") for op in node.ops):
        made = tests[0]
        for test in tests[1:]:
            made = binary(made, "&", test)
        return made
    return ast.BoolOp(ast.And(), tests)


def _identity(op: str, right: t.Node) -> str:
    if isinstance(right, t.Const) and right.value is None and op in ("==", "!="):
        return "is" if op == "==" else "is not"
    return op


def _comparison(tr: Translator, op: str, left: t.Node, right: t.Node, node: t.Node) -> ast.expr:
    a, b = tr.type(left), tr.type(right)
    if op.startswith(".") and len(op) > 1:
        python = _PYTHON_COMPARISONS.get(op[1:], op[1:])
        if python in ("in", "not in"):
            return call(
                "np.isin",
                [tr.array(left), tr.array(right)],
                [("invert", const(True))] if python == "not in" else [],
            )
        if python in ("===", "≡"):
            python = "=="
        if python in ("≈",):
            return call("np.isclose", [tr.array(left), tr.array(right)])
        return compare(tr.array(left), python, tr.array(right))
    python = _PYTHON_COMPARISONS.get(op, op)
    if op in ("===", "≡", "!==", "≢"):
        same = op in ("===", "≡")
        none = isinstance(right, t.Const) or isinstance(left, t.Const)
        simple = a.kind in ("sym", "str", "int", "float", "num", "char", "bool") or isinstance(
            right, (t.Sym, t.Number)
        )
        if simple and not none:
            return compare(tr.expr(left), "==" if same else "!=", tr.expr(right))
        return compare(tr.expr(left), "is" if same else "is not", tr.expr(right))
    if op in ("≈", "≉"):
        made = approximately(tr, left, right, {})
        return made if op == "≈" else negated(made)
    if op == "isa":
        return tr.instance_of(left, right, node)
    if op == "<:":
        return call("issubclass", [tr.expr(left), tr.expr(right)])
    if op in ("⊆", "⊈", "⊊"):
        made = py("set(_0) <= set(_1)" if op != "⊊" else "set(_0) < set(_1)", tr.expr(left), tr.expr(right))
        return negated(made) if op == "⊈" else made
    if op == "∋":
        return compare(tr.expr(right), "in", tr.expr(left))
    if python in ("==", "!=") and (a.kind in ("arr", "nd") and b.kind in ("arr", "nd")):
        x, y = (
            method(tr.expr(side), "asnumpy") if kind.kind == "nd" else tr.expr(side)
            for side, kind in ((left, a), (right, b))
        )
        made = call("np.array_equal", [x, y])
        return made if python == "==" else negated(made)
    if python in ("==", "!=", "<", "<=", ">", ">=", "in", "not in"):
        return compare(tr.expr(left), _identity(python, right), tr.expr(right))
    return tr.refuse(node, f"the comparison {op}")


def approximately(tr: Translator, left: t.Node, right: t.Node, given: dict[str, t.Node]) -> ast.expr:
    """≈: relative to the square root of the machine's precision, as in Julia."""
    a, b = tr.type(left), tr.type(right)
    x, y = (
        method(tr.expr(side), "asnumpy") if kind.kind == "nd" else tr.expr(side)
        for side, kind in ((left, a), (right, b))
    )
    if a.scalar and b.scalar:
        keywords: list[tuple[Optional[str], ast.expr]] = [
            (
                "rel_tol",
                tr.expr(given["rtol"]) if "rtol" in given else const(0.0 if "atol" in given else 1.5e-8),
            )
        ]
        if "atol" in given:
            keywords.append(("abs_tol", tr.expr(given["atol"])))
        return call("math.isclose", [x, y], keywords)
    options: list[tuple[Optional[str], ast.expr]] = [
        (key, tr.expr(value)) for key, value in given.items() if key in ("rtol", "atol")
    ]
    return call("np.allclose", [x, y], options)
