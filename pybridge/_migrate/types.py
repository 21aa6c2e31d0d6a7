"""What is known statically of a value: scalar or array, of which library, of how many dimensions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Optional


@dataclass(frozen=True)
class T:
    """A type. `kind` is one of the names below; `rank` counts dimensions (None: unknown).

    `elem` is the type of what an array, list, range or dictionary's value holds; `items` are those of a tuple; `key`
    is a dictionary's. `name` is a struct's or function's; `nonneg` holds for integers that are not negative.
    """

    kind: str
    rank: Optional[int] = None
    elem: Optional[T] = None
    items: Optional[tuple[T, ...]] = None
    key: Optional[T] = None
    name: str = ""
    nonneg: bool = False

    @property
    def scalar(self) -> bool:
        """A single number or truth value."""
        return self.kind in ("int", "float", "bool", "num", "complex")

    @property
    def real(self) -> bool:
        """A number that is no truth value."""
        return self.kind in ("int", "float", "num")

    @property
    def arraylike(self) -> bool:
        """An array of MXNet or NumPy."""
        return self.kind in ("nd", "arr", "numeric")

    @property
    def listlike(self) -> bool:
        """A Python list, or what becomes one."""
        return self.kind == "list"


ANY = T("any")
INT, NAT = T("int"), T("int", nonneg=True)
FLOAT, NUM, BOOL, COMPLEX = T("float"), T("num"), T("bool"), T("complex")
STR, CHAR, SYM, NONE, TYPE = T("str"), T("char"), T("sym"), T("none"), T("type")
RNG = T("rng")  # a generator of random numbers
NUMERIC = T("numeric")  # numbers, single or in arrays of NumPy
SYMBOLIC, MODEL, PROVIDER, CONTEXT = T("symbolic"), T("model"), T("provider"), T("context")
OBJECT = T("object")  # an object of MXNet's: optimizer, metric, initializer
SHAPE = T("tuple")  # a tuple of unknown length


def nd(rank: Optional[int] = None) -> T:
    """An NDArray."""
    return T("nd", rank)


def arr(rank: Optional[int] = None, elem: Optional[T] = None) -> T:
    """A Julia Array, which becomes one of NumPy's."""
    return T("arr", rank, elem)


def list_of(elem: Optional[T]) -> T:
    """A list."""
    return T("list", 1, elem)


def tuple_of(*items: T) -> T:
    """A tuple of known length."""
    return T("tuple", items=items)


def range_of(elem: T) -> T:
    """A range."""
    return T("range", 1, elem)


def dict_of(key: Optional[T], value: Optional[T]) -> T:
    """A dictionary."""
    return T("dict", elem=value, key=key)


def struct(name: str) -> T:
    """An instance of a struct of the file."""
    return T("struct", name=name)


def function(name: str) -> T:
    """A function of the file."""
    return T("func", name=name)


def join(a: Optional[T], b: Optional[T]) -> Optional[T]:
    """What a value is that is one or the other; None is nothing yet."""
    if a is None or b is None or a == b:
        return a if b is None else b
    if a.kind == b.kind:
        items = None
        if a.items is not None and b.items is not None and len(a.items) == len(b.items):
            items = tuple(join(x, y) or ANY for x, y in zip(a.items, b.items))
        return replace(
            a,
            rank=a.rank if a.rank == b.rank else None,
            elem=join(a.elem, b.elem),
            items=items,
            key=join(a.key, b.key),
            name=a.name if a.name == b.name else "",
            nonneg=a.nonneg and b.nonneg,
        )
    if a.real and b.real:
        return NUM
    kinds = {a.kind, b.kind}
    if kinds <= {"int", "float", "num", "arr", "numeric", "range"}:
        return NUMERIC
    if "none" in kinds:  # nothing, or a value: the value decides how it is used
        return b if a.kind == "none" else a
    return ANY


def matrix_rank(t: T) -> int:
    """Of an array that is known to have several dimensions, how many; 0 for anything else."""
    return t.rank if t.kind == "arr" and t.rank is not None and t.rank > 1 else 0


def element(t: T) -> T:
    """What iterating gives."""
    if t.kind in ("list", "range", "iterator", "generator", "set") and t.elem is not None:
        return t.elem
    if t.kind == "arr":
        return t.elem or NUM
    if t.kind == "nd":
        return nd(1)
    if t.kind == "str":
        return CHAR
    if t.kind == "tuple" and t.items:
        joined: Optional[T] = None
        for item in t.items:
            joined = join(joined, item)
        return joined or ANY
    if t.kind == "dict":
        return T("pair", items=(t.key or ANY, t.elem or ANY))
    return ANY
