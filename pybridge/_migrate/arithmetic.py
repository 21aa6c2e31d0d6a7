"""The types of arithmetic."""

from __future__ import annotations

from .types import (
    ANY,
    BOOL,
    COMPLEX,
    FLOAT,
    NUM,
    NUMERIC,
    STR,
    SYMBOLIC,
    T,
    arr,
    nd,
)


def counted(value: T) -> T:
    """Ranges and lists that arithmetic makes arrays of."""
    if value.kind == "range":
        return arr(1, value.elem)
    if value.kind == "list":
        return arr(1, value.elem)
    return value


def arithmetic(op: str, left: T, right: T, dotted: bool) -> T:
    """The type of `left op right`."""
    left, right = (counted(x) if dotted or x.kind == "range" else x for x in (left, right))
    if left.scalar and right.scalar:
        return scalars(op, left, right)
    if "symbolic" in (left.kind, right.kind):
        return SYMBOLIC
    if op == "*" and not dotted:
        if left.kind in ("str", "char") and right.kind in ("str", "char"):
            return STR
        if left.arraylike and right.arraylike and "numeric" not in (left.kind, right.kind):
            kind = "nd" if "nd" in (left.kind, right.kind) else "arr"
            known = left.rank is not None and right.rank is not None
            rank = max(left.rank + right.rank - 2, 0) if known else None  # type: ignore[operator]
            if rank == 0 and kind == "arr":
                return NUM
            return T(kind, rank if rank else (1 if rank == 0 else None), FLOAT if kind == "arr" else None)
    if left.kind in ("str", "sym") and op == "^":
        return STR
    for one, other in ((left, right), (right, left)):
        if one.kind == "nd":
            if other.scalar:
                return nd(one.rank)
            if other.arraylike:
                known = one.rank is not None and other.rank is not None
                return nd(max(one.rank, other.rank) if known else None)  # type: ignore[type-var]
            return nd() if other.kind == "any" and dotted else (nd(one.rank) if op != "*" else nd())
    arrays = [x for x in (left, right) if x.kind == "arr"]
    if arrays:
        ranks = [x.rank for x in arrays]
        rank = max(r for r in ranks if r is not None) if None not in ranks else None
        others = [x for x in (left, right) if x.kind != "arr"]
        if all(x.scalar for x in others):
            elem = scalars(op, left.elem or left, right.elem or right)
            return arr(rank, elem if elem.scalar else None)
        return arr(rank if not others else None)
    if "numeric" in (left.kind, right.kind):
        return NUMERIC
    return ANY


def scalars(op: str, left: T, right: T) -> T:
    kinds = {left.kind, right.kind}
    if "complex" in kinds:
        return COMPLEX
    if op in ("/",):
        return FLOAT
    if kinds <= {"bool"} and op in ("&", "|", "⊻"):
        return BOOL
    if kinds <= {"int", "bool"}:
        keeps = op in ("+", "*", "÷", "%", "^", ">>", "<<", "&")
        return T("int", nonneg=keeps and left.nonneg and right.nonneg)
    if "float" in kinds:
        return FLOAT
    return NUM
