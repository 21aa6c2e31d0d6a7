"""Sums, extremes and means: over everything, or over dimensions that are kept."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import call, const, method, py, shifted
from .rules import base_name
from .types import (
    ANY,
    FLOAT,
    INT,
    NUM,
    T,
    arr,
    element,
    nd,
)

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator
from .shapes import (
    options,
)


def reduction(word: str, builtin: str = "") -> Any:
    """sum, maximum, …: over everything, or over `dims` with the axes kept."""

    def emit(tr: Translator, node: t.Call) -> ast.expr:
        dims = options(node).get("dims")
        args = list(node.args)
        first = args[0]
        maps = len(args) == 2 and (
            isinstance(first, t.Lambda) or tr.type(first).kind == "func" or tr.callable_name(first)
        )
        if maps:
            inner = tr.mapped(first, [args[1]], node, generator=bool(builtin))
            return call(builtin or f"np.{word}", [inner])
        kind = tr.type(first)
        if len(args) == 2 and dims is None and (kind.arraylike or kind.kind == "any"):
            dims = args[1]  # the form of Julia 0.6
        keywords = []
        if dims is not None and not (isinstance(dims, t.Colon)):
            keywords = [("axis", tr.axis(dims)), ("keepdims", const(True))]
        if (
            kind.kind in ("generator", "list", "range", "iterator", "tuple", "set")
            and builtin
            and not keywords
        ):
            whole = not (kind.elem is not None and kind.elem.kind == "nd" and word != "sum")
            if whole:
                return call(builtin, [tr.iterated(first)])
        value = tr.array(first)
        if kind.kind in ("nd", "arr") and word != "median":
            return call(ast.Attribute(value, word, ast.Load()), [], keywords)
        if kind.kind == "any" and dims is None:
            if builtin:
                tr.check(
                    node,
                    f"{builtin} goes through the first axis only: x.{word}() if this is an array",
                    "type",
                )
                return call(builtin, [value])
            tr.check(node, f"x.{word}() if this is an NDArray", "type")
        elif kind.kind == "any":
            return call(ast.Attribute(value, word, ast.Load()), [], keywords)
        return call(f"np.{word}", [value], keywords)

    return emit


def reduced(typer: Typer, node: t.Call, args: list[T]) -> T:
    """The type of a reduction."""
    kind = args[0] if args else ANY
    dims = "dims" in options(node) or (len(args) == 2 and kind.arraylike)
    if kind.kind == "nd":
        return nd(kind.rank) if dims else nd(1)
    if dims:
        return kind if kind.kind == "arr" else arr()
    fn = node.args[0] if node.args else None
    if len(args) == 2 and isinstance(fn, t.Lambda):
        for param in fn.params:
            typer.bind(param.target, element(args[1]))
        return args[0].elem or NUM
    if kind.elem is not None and kind.elem.scalar:
        name = base_name(node.fn)
        if name in ("mean", "std", "var", "median"):
            return FLOAT
        return INT if kind.elem.kind == "bool" else kind.elem
    if kind.kind in ("list", "generator", "iterator") and kind.elem is not None:
        return kind.elem
    return NUM if kind.kind in ("arr", "numeric", "range") else ANY


def _spread(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        dims = options(node).get("dims")
        keywords: list[tuple[Optional[str], ast.expr]] = []
        if dims is not None:
            keywords += [("axis", tr.axis(dims))]
        corrected = options(node).get("corrected")
        plain = isinstance(corrected, t.Const) and corrected.value is False
        if not plain:
            keywords.append(("ddof", const(1)))
        if dims is not None:
            keywords.append(("keepdims", const(True)))
        if tr.type(node.args[0]).kind == "nd":
            return tr.refuse(node, f"{word} of an NDArray")
        return call(f"np.{word}", [tr.array(node.args[0])], keywords)

    return emit


def _arg(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        dims = options(node).get("dims")
        kind = tr.type(node.args[0])
        value = tr.array(node.args[0])
        if dims is not None:
            if kind.kind != "nd":
                return tr.refuse(node, f"{word} over dims gives Cartesian indices: use np.{word}(x, axis=…)")
            keywords = [("axis", tr.axis(dims)), ("keepdims", const(True))]
            return shifted(call(ast.Attribute(value, word, ast.Load()), [], keywords), 1)
        if kind.kind == "nd":
            return shifted(method(value, word), 1)
        if kind.kind == "arr" and kind.rank != 1:
            tr.check(node, f"{word} of a matrix is a Cartesian index in Julia, here it is a linear one")
        return shifted(call("int", [call(f"np.{word}", [value])]), 1)

    return emit


def _find_extreme(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        value = tr.array(node.args[0])
        return py(f"(np.{word}(_0), int(np.arg{word}(_0)) + 1)", value)

    return emit
