"""Vectors that grow have to be lists in Python: which literals end up in one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tree as t
from .scopes import targets

if TYPE_CHECKING:
    from .infer import Typer


def literals(typer: Typer) -> set[int]:
    """The vector literals and comprehensions that something is pushed to later on."""
    _through_calls(typer)
    found: set[int] = set()
    for node in typer.tree.walk():
        if isinstance(node, t.Assign) and not node.op:
            for bound in targets(node.target):
                if bound.var is not None and bound.var.grows:
                    _mark(found, node.value, False)
                if bound.var is not None and bound.var.inner_grows:
                    _mark(found, node.value, True)
            if isinstance(node.target, t.Field) and node.target.name in typer.top.growing_fields:
                _mark(found, node.value, False)
        elif isinstance(node, t.Call) and isinstance(node.fn, t.Name) and node.fn.id in typer.structs:
            for entry, arg in zip(typer.structs[node.fn.id].node.entries, node.args):
                if isinstance(entry.target, t.Name) and entry.target.id in typer.top.growing_fields:
                    _mark(found, arg, False)
    return found


def _mark(found: set[int], node: t.Node, inner: bool) -> None:
    if inner:
        found.update(id(each) for each in node.walk() if each is not node and isinstance(each, t.Vector))
    elif isinstance(node, (t.Vector, t.Comprehension)):
        found.add(id(node))


def _through_calls(typer: Typer) -> None:
    """A parameter that grows makes the variables grow that calls pass for it."""
    calls = [
        node
        for node in typer.tree.walk()
        if isinstance(node, t.Call) and isinstance(node.fn, t.Name) and node.fn.id in typer.functions
    ]
    for _ in range(3):
        for node in calls:
            assert isinstance(node.fn, t.Name)
            for method in typer.functions[node.fn.id].methods:
                for param, arg in zip(method.params, node.args):
                    if (
                        isinstance(param.target, t.Name)
                        and isinstance(arg, t.Name)
                        and arg.var
                        and param.target.var
                    ):
                        arg.var.grows = arg.var.grows or param.target.var.grows
                        arg.var.mutated = arg.var.mutated or param.target.var.mutated
