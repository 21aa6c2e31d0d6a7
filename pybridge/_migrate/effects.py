"""Calls that are statements in Python: errors, loops over effects, files that are opened or included."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import tree as t
from .code import call, name, text
from .notes import Note

if TYPE_CHECKING:
    from .translator import Translator
from .destination import Dest


def raising(tr: Translator, node: t.Call, dest: Dest) -> bool:
    if tr.called(node) not in ("error", "throw", "rethrow") or (
        isinstance(node.fn, t.Name) and node.fn.var is not None
    ):
        return False
    tr.state["raising"] = True
    try:
        tr.call(node)
    finally:
        tr.state["raising"] = False
    tr.emit(ast.Raise(tr.state.pop("raise", None), None))
    return True


def looped(tr: Translator, node: t.Call) -> bool:
    """foreach(f, xs) and map for its effects are loops."""
    word = tr.called(node)
    if word != "foreach" or len(node.args) != 2:
        return False
    fn, iterable = node.args
    if isinstance(fn, t.Lambda) and len(fn.params) == 1:
        tr.emit(f"for {text(tr.target(fn.params[0].target))} in {text(tr.iterated(iterable))}:")
        with tr.indented():
            tr.block(fn.body)
        return True
    place = tr.names.fresh("each")
    tr.emit(f"for {place} in {text(tr.iterated(iterable))}:")
    with tr.indented():
        tr.emit(ast.Expr(call(tr.function_value(fn), [name(place)])))
    return True


def opened(tr: Translator, node: t.Call, dest: Dest) -> bool:
    """open(path) do file … end."""
    if tr.called(node) != "open" or not node.args or not isinstance(node.args[0], t.Lambda):
        return False
    fn = node.args[0]
    file = text(tr.target(fn.params[0].target)) if fn.params else "_"
    tr.emit(f"with {text(call('open', [tr.expr(arg) for arg in node.args[1:]]))} as {file}:")
    with tr.indented():
        tr.block(fn.body, dest)
    return True


def included(tr: Translator, node: t.Call) -> bool:
    """include("other.jl") brings the other file's names in."""
    if not (
        isinstance(node.fn, t.Name)
        and node.fn.id == "include"
        and node.fn.var is None
        and len(node.args) == 1
    ):
        return False
    path = node.args[0]
    if not isinstance(path, t.Str) or any(not isinstance(part, str) for part in path.parts):
        tr.refuse(node, "include of a computed path")
    shown = "".join(path.parts)
    module = shown.removesuffix(".jl").replace("-", "_").lstrip("./").replace("/", ".")
    names = tr.included.get(shown)
    if not all(part.isidentifier() for part in module.split(".")):
        tr.refuse(node, f"include of {shown}: its name is no module's")
    if names is None:
        tr.notes.append(
            Note(
                "package", node.at.row, node.at.end_row, node.at.col, f"{shown} is not among the files given"
            )
        )
        tr.emit(f"from {module} import *  # noqa: F403  # migrate: {shown} is not among the files given")
    elif names:
        tr.emit(f"from {module} import {', '.join(names)}")
    else:
        tr.emit(f"import {module}")
    return True
