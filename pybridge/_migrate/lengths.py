"""How long something is."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import tree as t
from .code import call, py

if TYPE_CHECKING:
    from .translator import Translator


def length(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    if kind.kind == "nd" or (kind.kind == "arr" and kind.rank != 1):
        return py("_0.size", value)
    if kind.kind == "numeric":
        return call("np.size", [value])
    if kind.kind == "any":
        tr.check(node, "len counts the first axis only: x.size if this is an array of several dimensions")
    return call("len", [value])
