"""Julia's type annotations as types."""

from __future__ import annotations

from typing import Any, Optional

from . import tree as t
from .types import (
    BOOL,
    CHAR,
    FLOAT,
    INT,
    NONE,
    NUM,
    RNG,
    STR,
    SYM,
    SYMBOLIC,
    T,
    arr,
    dict_of,
    list_of,
    nd,
    struct,
)


def called_struct(name: str) -> str:
    """The key of the methods that make instances of a struct callable."""
    return f"(::{name})"


def annotated(node: Optional[t.Node], structs: Any = ()) -> Optional[T]:
    """The type that a Julia type means."""
    if isinstance(node, t.Curly):
        base = last_name(node.obj)
        inner = [annotated(arg, structs) for arg in node.args]
        rank = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], t.Number) else None
        if base in ("Vector", "AbstractVector"):
            return _vector(inner[0])
        if base in ("Matrix", "AbstractMatrix"):
            return arr(2, inner[0])
        if base in ("Array", "AbstractArray"):
            return _vector(inner[0]) if rank == 1 else arr(rank, inner[0])
        if base == "NDArray":
            return nd(rank)
        if base == "Dict":
            return dict_of(inner[0], inner[1] if len(inner) > 1 else None)
        if base in ("Tuple", "NTuple"):
            return T("tuple")
        return None
    name = last_name(node)
    if name in structs:
        return struct(name)
    return _ANNOTATIONS.get(name)


def _vector(elem: Optional[T]) -> T:
    if elem is not None and (elem.scalar):
        return arr(1, elem)
    return list_of(elem)


def last_name(node: Optional[t.Node]) -> str:
    return node.id if isinstance(node, t.Name) else node.name if isinstance(node, t.Field) else ""


_ANNOTATIONS: dict[str, T] = {
    **dict.fromkeys(
        ["Int", "Int64", "Int32", "Int16", "Int8", "UInt8", "Integer", "UInt", "UInt64", "UInt32"], INT
    ),
    **dict.fromkeys(["Float64", "Float32", "Float16", "AbstractFloat", "MX_float"], FLOAT),
    "Real": NUM,
    "Number": NUM,
    "Bool": BOOL,
    **dict.fromkeys(["String", "AbstractString"], STR),
    "Char": CHAR,
    "Symbol": SYM,
    "NDArray": nd(),
    "SymbolicNode": SYMBOLIC,
    "Nothing": NONE,
    "Vector": arr(1),
    "AbstractVector": arr(1),
    "Matrix": arr(2),
    "AbstractMatrix": arr(2),
    "Array": arr(),
    "AbstractArray": arr(),
    "Dict": T("dict"),
    "Context": T("context"),
    "Tuple": T("tuple"),
    **dict.fromkeys(["AbstractRNG", "MersenneTwister"], RNG),
    "Function": T("func"),
}
