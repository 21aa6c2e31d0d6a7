"""What names of Python hold, as leaves: arrays, numbers, texts, gradients, each with the path that leads to it.

A path is the name, followed by `.field`, `[index from 1]` and `{key}`, one in a line, as in `julia/src/verify.jl`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import PurePath
from typing import Any

import numpy as np

MOST_ITEMS = 1000
DEEPEST = 8
GRADIENT = "gradient"

_PLAIN = (bool, int, float, complex, np.bool_, np.number)

#: Called with path, kind ("ndarray", "array", "list", "number", "whole" for one beyond 64 bits, as text,
#: "text", "none") and value.
Emit = Callable[[str, str, Any], None]


def leaves(emit: Emit, path: str, x: Any, above: tuple[int, ...] = ()) -> None:
    """Everything of a value that can be compared; functions, modules and other libraries' objects are passed over."""
    from mxnet.ndarray import NDArray

    if len(above) >= DEEPEST or id(x) in above:
        return
    inside = (*above, id(x))
    if isinstance(x, NDArray):
        nd_leaves(emit, path, x)
    elif x is None:
        emit(path, "none", None)
    elif isinstance(x, (str, PurePath)):
        emit(path, "text", None)  # not compared
    elif _beyond_64_bits(x):
        emit(path, "whole", str(x))
    elif isinstance(x, _PLAIN):
        emit(path, "number", np.asarray(x))
    elif isinstance(x, Fraction):
        emit(path, "number", np.asarray(float(x)))
    elif isinstance(x, np.ndarray) and x.dtype != object:
        numbers = x.dtype.kind in "biufc"
        emit(path, "array" if numbers else "text", x if numbers else None)
    elif isinstance(x, (list, tuple, range, np.ndarray)) and not hasattr(x, "_fields"):
        _items(emit, path, x, inside)
    elif isinstance(x, Mapping):
        emit(f"{path}\nlength", "number", np.asarray(len(x)))
        for key, value in itertools.islice(x.items(), MOST_ITEMS):
            leaves(emit, f"{path}\n{{{_key(key)}}}", value, inside)
    elif isinstance(x, (set, frozenset)):
        _items(emit, path, _sorted(x), inside)
    elif hasattr(x, "_fields"):
        emit(f"{path}\nlength", "number", np.asarray(len(x)))
        for key, value in x._asdict().items():
            leaves(emit, f"{path}\n{{{key}}}", value, inside)
    elif _is_struct(x):
        for field, value in vars(x).items():
            leaves(emit, f"{path}\n.{field}", value, inside)


def _key(key: Any) -> str:
    """A dictionary's key as Julia's half writes it."""
    if isinstance(key, (bool, np.bool_)):
        return "true" if key else "false"
    if isinstance(key, (float, np.floating)):
        return f"{float(key):.17g}"
    if isinstance(key, tuple):
        return f"({', '.join(map(_key, key))})"
    return "nothing" if key is None else str(key)


def _sorted(x: Any) -> list[Any]:
    """A set's items in an order that does not depend on the language; those that have none count only."""
    return sorted(x) if all(isinstance(item, _PLAIN) and item == item for item in x) else [None] * len(x)


def _is_struct(x: Any) -> bool:
    """An instance of a class of the translated file."""
    if isinstance(x, type) or not hasattr(x, "__dict__"):
        return False
    return dataclasses.is_dataclass(x) or (type(x).__module__ == "__main__" and type(x).__mro__[1] is object)


def nd_leaves(emit: Emit, path: str, x: Any) -> None:
    """The values of an NDArray, and its gradient if it has one."""
    from .. import autograd

    emit(path, "ndarray", x.asnumpy())
    gradient = autograd.getgrad(x)
    if gradient is not None:
        emit(f"{path}\n{GRADIENT}", "ndarray", gradient.asnumpy())


def _items(emit: Emit, path: str, x: Any, inside: tuple[int, ...]) -> None:
    if all(isinstance(item, _PLAIN) and not _beyond_64_bits(item) for item in x):
        emit(path, "list", np.asarray(x, None if len(x) else np.float64))
        return
    emit(f"{path}\nlength", "number", np.asarray(len(x)))
    for i, item in enumerate(itertools.islice(x, MOST_ITEMS), 1):
        leaves(emit, f"{path}\n[{i}]", item, inside)


def _beyond_64_bits(x: Any) -> bool:
    return isinstance(x, int) and not -(2**63) <= x < 2**63


def shown(path: str) -> str:
    """A path as one would write it.

    Examples:
        >>> shown("net\\n.w1\\n[2]"), shown("w\\ngradient"), shown("results\\n{huber}"), shown("xs\\nlength")
        ('net.w1[2]', 'the gradient of w', "results['huber']", 'the length of xs')
    """
    first, *rest = path.split("\n")
    before, text = "", first or "the value"
    for part in rest:
        if part in (GRADIENT, "length"):
            before = f"the {part} of {before}"
        elif part.startswith("{"):
            text += f"[{part[1:-1]!r}]"
        else:
            text += part
    return before + text
