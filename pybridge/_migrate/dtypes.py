"""Element types of arrays, as far as the source says them: mx.nd.array takes none over by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import tree as t
from .rules import base_name, mx_name
from .shapes import _DTYPES, dtype_of

if TYPE_CHECKING:
    from .translator import Translator

#: Functions that move elements about.
_SAME_ELEMENTS = frozenset({"collect", "reshape", "vec", "copy", "permutedims", "transpose", "reverse"})
_WIDTHS = ("int64", "float16", "float32", "float64")


def static_dtype(tr: Translator, node: t.Node) -> str:
    """The dtype of an array where the source says it, "" where it does not."""
    if isinstance(node, (t.Vector, t.Matrix)):
        if node.elem is not None:
            return dtype_of(node.elem)
        cells = node.items if isinstance(node, t.Vector) else [cell for row in node.rows for cell in row]
        kinds = {tr.type(cell).kind for cell in cells}
        if kinds == {"int"}:
            return "int64"
        if kinds and kinds <= {"int", "float"}:
            singles = [isinstance(cell, t.Number) and cell.single for cell in cells]
            return "float32" if all(singles) else "float64"
    if isinstance(node, t.Comprehension) and node.elem is not None:
        return dtype_of(node.elem)
    if isinstance(node, t.Index) and not tr.type(node).scalar:
        return _operand_dtype(tr, node.obj)
    if isinstance(node, t.Call):
        name = base_name(node.fn)
        if name in ("rand", "randn", "zeros", "ones"):
            said = [dtype_of(arg) for arg in node.args[:2] if isinstance(arg, (t.Name, t.Field))]
            return next(filter(None, said), "float64" if mx_name(node.fn) is None else "float32")
        if name in ("Float32", "Float64", "Int", "Int64", "Int32") and node.args:
            return _DTYPES[name]
        if name == "fill" and node.args:
            return _operand_dtype(tr, node.args[0])
        if name in ("hcat", "vcat", "cat"):
            found = [_operand_dtype(tr, arg) for arg in node.args]
            return found[0] if len(set(found)) == 1 else ""
        if name in _SAME_ELEMENTS and node.args:
            return static_dtype(tr, node.args[0])
        if name in ("range", "LinRange"):
            return "float64"
    if isinstance(node, t.Range) and tr.type(node).kind == "range":
        return "int64"
    if isinstance(node, t.Range):
        ends = [_operand_dtype(tr, end) for end in (node.start, node.step, node.stop) if end is not None]
        return _wider("+", ends)
    if isinstance(node, (t.Unary, t.Adjoint)):
        return _operand_dtype(tr, node.operand if isinstance(node, t.Unary) else node.value)
    if isinstance(node, t.Binary) and node.op in ("+", "-", "*", "/", "^"):
        return _wider(node.op, [_operand_dtype(tr, node.left), _operand_dtype(tr, node.right)])
    return ""


def _operand_dtype(tr: Translator, node: t.Node) -> str:
    """The dtype of an operand; a whole number that is written out widens nothing but other whole numbers."""
    if isinstance(node, t.Number):
        whole = isinstance(node.value, int)
        return "int64" if whole else "float32" if node.single else "float64"
    held = elements_of(node)
    if isinstance(held, t.Name) and held.var is not None:
        return _dtype_of_variable(tr, held.var)
    return static_dtype(tr, node)


def _dtype_of_variable(tr: Translator, var: Any) -> str:
    """The dtype that every assignment gives a variable, "" if they differ or one does not say."""
    dtypes: dict[int, str] = tr.state.setdefault("dtypes of variables", {})
    if id(var) not in dtypes:
        dtypes[id(var)] = ""  # while it is looked for: x = x + 1
        values = [
            each.value
            for each in tr.typer.tree.walk()
            if isinstance(each, t.Assign) and isinstance(each.target, t.Name) and each.target.var is var
        ]
        found = {_operand_dtype(tr, value) for value in values}
        dtypes[id(var)] = found.pop() if len(found) == 1 else ""
    return dtypes[id(var)]


def _wider(op: str, dtypes: list[str]) -> str:
    if not all(dtype in _WIDTHS for dtype in dtypes):
        return ""
    widest = max(dtypes, key=_WIDTHS.index)
    return "float64" if op == "/" and widest == "int64" else widest


def elements_of(node: t.Node) -> t.Node:
    """The array whose elements these are, moved about."""
    while isinstance(node, (t.Call, t.Adjoint)):
        if isinstance(node, t.Adjoint):
            node = node.value
        elif base_name(node.fn) in _SAME_ELEMENTS and node.args:
            node = node.args[0]
        else:
            break
    return node
