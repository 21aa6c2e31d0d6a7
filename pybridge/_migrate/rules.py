"""What a call of a known function becomes: a rule for each name, gathered from the tables by subject."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Optional, Union

from . import tree as t
from .types import ANY, T

if TYPE_CHECKING:
    import ast

    from .infer import Typer
    from .translator import Translator

Emit = Union[str, "Callable[[Translator, t.Call], ast.expr]"]
Typed = Union[T, "Callable[[Typer, t.Call, list[T]], T]"]


_HOLE = re.compile(r"\b_(all|[0-2])\b")
_SHOWN = {"all": "…", "0": "x", "1": "y", "2": "z"}


@dataclass(frozen=True)
class Rule:
    """A template for the call (`_0`, `_1`, `_all` are its arguments) or a function that makes it, and its type.

    `target` is what the table of names says; by default the template.
    """

    emit: Emit
    type: Typed = ANY
    target: str = ""
    note: str = ""

    @property
    def shown(self) -> str:
        """The target for tables and reports; a template with x, y and z in its holes."""
        text = self.target or (self.emit if isinstance(self.emit, str) else "")
        return _HOLE.sub(lambda hole: _SHOWN[hole[1]], text)


# Broadcasting is in these rules' own hands; other functions go element by element in a comprehension.
BROADCAST = frozenset(
    [
        "exp",
        "expm1",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "cbrt",
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "arcsin",
        "arccos",
        "arctan",
        "abs",
        "abs2",
        "sign",
        "gamma",
        "lgamma",
        "erf",
        "isnan",
        "isinf",
        "isfinite",
        "floor",
        "ceil",
        "trunc",
        "round",
        "deg2rad",
        "rad2deg",
        "min",
        "max",
        "clamp",
        "div",
        "rem",
        "mod",
        "fld",
        "cld",
        "Int",
        "Int64",
        "Int32",
        "Float64",
        "Float32",
        "Float16",
        "float",
        "hypot",
        "xor",
        "iseven",
        "isodd",
        "σ",
        "sigmoid",
        "relu",
        "softmax",
        "log_softmax",
        "zero",
        "one",
        "mod1",
        "identity",
        "real",
        "imag",
    ]
)

# Packages whose names are Julia's own or come with Julia.
STANDARD = frozenset(
    [
        "Base",
        "Core",
        "Statistics",
        "Random",
        "LinearAlgebra",
        "Printf",
        "Test",
        "Dates",
        "Iterators",
        "Logging",
        "DelimitedFiles",
        "Mmap",
        "Pkg",
        "InteractiveUtils",
        "Libdlib",
        "Serialization",
        "SparseArrays",
        "Distributed",
        "SharedArrays",
        "Sockets",
        "UUIDs",
        "Unicode",
    ]
)


@lru_cache(maxsize=1)
def base_rules() -> dict[str, Rule]:
    """Julia's own functions."""
    from . import base_arrays, base_collections, base_math, base_random, base_strings, base_system

    return {
        **base_math.RULES,
        **base_collections.RULES,
        **base_arrays.RULES,
        **base_random.RULES,
        **base_strings.RULES,
        **base_system.RULES,
    }


@lru_cache(maxsize=1)
def mx_rules() -> dict[str, Rule]:
    """MXNet.jl's functions."""
    from . import mx_arrays, mx_autograd, mx_objects

    return {**mx_arrays.RULES, **mx_autograd.RULES, **mx_objects.RULES}


# What `using MXNet` brings into scope without the prefix.
EXPORTED = frozenset(
    [
        "NDArray",
        "context",
        "expand_dims",
        "σ",
        "sigmoid",
        "relu",
        "softmax",
        "log_softmax",
        "broadcast_to",
        "broadcast_axis",
        "broadcast_axes",
        "Variable",
        "cpu",
        "gpu",
        "FeedForward",
        "predict",
        "MLP",
        "ACE",
        "Accuracy",
        "MSE",
        "MultiACE",
        "MultiMetric",
        "NMSE",
        "SeqMetric",
        "UniformInitializer",
        "NormalInitializer",
        "XavierInitializer",
        "AdaDelta",
        "AdaGrad",
        "ADAM",
        "AdaMax",
        "Nadam",
        "RMSProp",
        "SGD",
        "ArrayDataProvider",
        "SymbolicNode",
        "KVStore",
        "clip",
        "empty",
        "Context",
    ]
)


def base_name(fn: t.Node) -> str:
    """The plain name of what is called."""
    if isinstance(fn, t.Curly):
        return base_name(fn.obj)
    if isinstance(fn, t.Name):
        return fn.id
    return fn.name if isinstance(fn, t.Field) else ""


def is_mx(node: t.Node) -> bool:
    """`mx` or `MXNet.mx`."""
    if isinstance(node, t.Name):
        return node.id in ("mx", "MXNet") and node.var is None
    return isinstance(node, t.Field) and node.name == "mx" and is_mx(node.obj)


def mx_name(fn: t.Node) -> Optional[str]:
    """The name after `mx.`, or one that MXNet exports; None for others."""
    if isinstance(fn, t.Curly):
        return mx_name(fn.obj)
    if isinstance(fn, t.Field) and is_mx(fn.obj):
        return fn.name
    if isinstance(fn, t.Name) and fn.var is None and fn.id in EXPORTED and fn.id not in base_rules():
        return fn.id
    return None


def lookup(typer: Any, fn: t.Node) -> Optional[Rule]:
    """The rule for a call, None when no table has the name."""
    own = mx_name(fn)
    if own is not None:
        return mx_rules().get(own) or base_rules().get(own)
    if isinstance(fn, t.Field):
        return base_rules().get(fn.name) if base_name(fn.obj) in STANDARD else None
    name = base_name(fn)
    return base_rules().get(name)
