"""The NumPy names that MXNet 1.9.1 still uses: removed in NumPy 1.24, put back where they are missing.

With NumPy 1.24 to 1.26 ``import mxnet`` dies on ``np.bool``, though its metadata admits them.
"""

from __future__ import annotations

import builtins
from typing import Any

# What each name was: a built-in type, not a NumPy scalar type, so that np.dtype(np.int) stays what it was.
ALIASES: dict[str, Any] = {
    "bool": builtins.bool,
    "int": builtins.int,
    "float": builtins.float,
    "complex": builtins.complex,
    "object": builtins.object,
    "str": builtins.str,
}


def restore() -> list[str]:
    """Put the removed names back into NumPy; returns those that were missing.

    Must run before mxnet is imported. Does nothing where NumPy has the names, and asks in a way that makes
    NumPy 1.20 to 1.25 warn of nothing.
    """
    import numpy as np

    # Not hasattr: it would call NumPy's module __getattr__, which warns of deprecated and coming names. In NumPy 1.20
    # to 1.23 the deprecated names come from there, so the table behind it says whether they exist.
    deprecated = vars(np).get("__deprecated_attrs__") or {}
    missing = [name for name in ALIASES if name not in vars(np) and name not in deprecated]
    for name in missing:
        setattr(np, name, ALIASES[name])
    return missing
