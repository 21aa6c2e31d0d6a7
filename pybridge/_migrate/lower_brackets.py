"""Forms in brackets: indices, vectors, matrices, comprehensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .tree import (
    Comprehension,
    Curly,
    Field,
    Index,
    Matrix,
    Name,
    Node,
    Vector,
)

if TYPE_CHECKING:
    from .lower import Lowering


def _index(low: Lowering, node: Any) -> Node:
    obj, brackets = low.named(node)[:2]
    target = low.expr(obj)
    if brackets.type == "comprehension_expression":
        made = low.expr(brackets)
        if isinstance(made, Comprehension):
            made.elem = target
        return made
    if brackets.type == "matrix_expression":
        matrix = low.expr(brackets)
        if isinstance(matrix, (Matrix, Vector)):
            matrix.elem = target
        return matrix
    items = low.exprs(low.named(brackets))
    if is_type(target):
        return Vector(low.at(node), items, target)
    return Index(low.at(node), target, items)


def is_type(node: Node) -> bool:
    """Whether a name before brackets is an element type rather than an array, going by how types are spelt."""
    if isinstance(node, Curly):
        return is_type(node.obj)
    name = node.id if isinstance(node, Name) else node.name if isinstance(node, Field) else ""
    return name in _TYPES


_TYPES = frozenset(
    [
        "Any",
        "Int",
        "Int8",
        "Int16",
        "Int32",
        "Int64",
        "UInt8",
        "UInt",
        "UInt16",
        "UInt32",
        "UInt64",
        "Float16",
        "Float32",
        "Float64",
        "Bool",
        "String",
        "Char",
        "Symbol",
        "Real",
        "Number",
        "Integer",
        "AbstractFloat",
        "AbstractString",
        "Array",
        "Vector",
        "Matrix",
        "Tuple",
        "NDArray",
        "SymbolicNode",
        "Dict",
        "Pair",
        "Function",
        "MX_float",
        "Union",
        "Set",
        "Nothing",
        "Complex",
        "ComplexF64",
        "Context",
    ]
)


def _vector(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    if len(kids) == 1:
        row = low.row(kids)
        if len(row) > 1:
            return Matrix(low.at(node), [row])
        return Vector(low.at(node), row)
    return Vector(low.at(node), low.exprs(kids))


def _matrix(low: Lowering, node: Any) -> Node:
    rows = [low.row(low.named(row)) for row in low.named(node)]
    if all(len(row) == 1 for row in rows):
        return Matrix(low.at(node), rows) if len(rows) > 1 else Vector(low.at(node), rows[0])
    return Matrix(low.at(node), rows)


def _comprehension(low: Lowering, node: Any) -> Node:
    return low.comprehension(node, low.expr(low.named(node)[0]))


def _generator(low: Lowering, node: Any) -> Node:
    return low.comprehension(node, low.expr(low.named(node)[0]), generator=True)
