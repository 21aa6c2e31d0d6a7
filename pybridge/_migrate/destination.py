"""Where the value of a statement goes: nowhere, back to the caller, or into a variable."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from .translator import Translator


RETURN = "return"


Dest = Union[None, str, ast.expr]  # nowhere, returned, or assigned to


def deliver(tr: Translator, value: ast.expr, dest: Dest) -> None:
    """Send a value where it belongs."""
    if dest == RETURN:
        tr.emit(ast.Return(value))
    elif isinstance(dest, ast.expr):
        tr.emit(ast.Assign([dest], value))
    else:
        tr.emit(ast.Expr(value))
