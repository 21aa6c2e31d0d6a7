"""Loops: their iterators, their variables, and counting from zero."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import call, integer, negated, shifted, text
from .scopes import targets

if TYPE_CHECKING:
    from .translator import Translator
from .destination import Dest


def deeper(lines: list[Any]) -> list[Any]:
    for line in lines:
        line.depth += 1
    return lines


def for_loop(tr: Translator, node: t.For, dest: Dest) -> None:
    opened = 0
    tr._loops.append(node.scope)
    depth = tr.depth
    try:
        for binding in node.bindings:
            _one_loop(tr, node, binding)
            tr.depth += 1
            opened += 1
        tr.block(node.body)
    finally:
        tr.depth = depth
        tr._loops.pop()


def _one_loop(tr: Translator, node: t.For, binding: t.Binding) -> None:
    iterable = binding.iterable
    for bound in targets(binding.target):
        _own_name(tr, node, bound)
    if tr.type(iterable).kind == "provider":
        source = tr.expr(iterable)
        tr.emit(ast.Expr(call(ast.Attribute(source, "reset", ast.Load()))))
        tr.emit(f"for {text(tr.target(binding.target))} in {text(source)}:")
        return
    made = from_zero(tr, [node.body], binding)
    if made is None:
        made = tr.iterated(iterable)
    tr.emit(f"for {text(tr.target(binding.target))} in {text(made)}:")


def _own_name(tr: Translator, node: t.For, bound: t.Name) -> None:
    """A loop's variable is new in Julia: where Python would overwrite one of the same name, it gets another."""
    scope = node.scope.parent
    while bound.var is not None and scope is not None:
        other = scope.vars.get(bound.id)
        if other is not None and other is not bound.var and not other.loop:
            tr.renamed[id(bound.var)] = tr.names.fresh(f"{tr.names.of(bound.id)}_inner")
            return
        if scope is node.scope.function:
            return
        scope = scope.parent


def from_zero(tr: Translator, bodies: list[t.Node], binding: t.Binding) -> Optional[ast.expr]:
    """A loop over positions counts from zero when its variable is mostly used as one."""
    target, iterable = binding.target, binding.iterable
    numbered = target.items[0] if isinstance(target, t.TupleForm) and target.items else target
    if not isinstance(numbered, t.Name) or numbered.var is None or numbered.var.assigned > 1:
        return None
    enumerates = (
        isinstance(iterable, t.Call)
        and tr.called(iterable) == "enumerate"
        and isinstance(target, t.TupleForm)
    )
    indices = isinstance(iterable, t.Call) and tr.called(iterable) in ("eachindex",) and numbered is target
    counts = isinstance(iterable, t.Range) and iterable.step is None and numbered is target
    if not (enumerates or indices or counts):
        return None
    positions, others = _uses(tr, bodies, numbered)
    if positions <= others and (others or enumerates):
        return None
    if counts and isinstance(iterable, t.Range):
        start, stop = shifted(tr.expr(iterable.start), -1), tr.expr(iterable.stop)
        if tr.type(iterable).kind != "range":
            return None
        made = call("range", [stop] if integer(start) == 0 else [start, stop])
    elif enumerates and isinstance(iterable, t.Call):
        made = call("enumerate", [tr.iterated(iterable.args[0])])
    else:
        whole = tr.expr(iterable)
        if not isinstance(whole, ast.Call):
            return None
        made = call("range", [shifted(whole.args[1], -1)])
    tr.zero_based.add(id(numbered.var))
    return made


def _uses(tr: Translator, bodies: list[t.Node], target: t.Name) -> tuple[int, int]:
    """How often the variable stands as a position (i, i + 1), and how often elsewhere."""
    positions = others = 0
    inside: set[int] = set()
    for each in (inner for body in bodies for inner in body.walk()):
        if isinstance(each, t.Index) and tr.type(each.obj).kind in ("arr", "list", "nd", "tuple", "str"):
            for arg in each.args:
                core = arg
                if isinstance(arg, t.Binary) and arg.op in ("+", "-") and isinstance(arg.right, t.Number):
                    core = arg.left
                if isinstance(core, t.Name) and core.var is target.var:
                    positions += 1
                    inside.add(id(core))
        if isinstance(each, t.Name) and each.var is target.var and id(each) not in inside:
            others += 1
        if isinstance(each, t.Lambda):
            others += sum(isinstance(x, t.Name) and x.var is target.var for x in each.walk())
    # a walk sees a name after the index that holds it
    return positions, others


def while_loop(tr: Translator, node: t.While, dest: Dest) -> None:
    with tr.captured() as ahead:
        test = tr.expr(node.test)
    tr._loops.append(node.scope)
    try:
        if ahead:
            tr.emit("while True:")
            with tr.indented():
                tr.lines.extend(deeper(ahead))
                tr.emit(f"if {text(negated(test))}:")
                with tr.indented():
                    tr.emit("break")
                tr.block(node.body)
            return
        tr.emit(f"while {text(test)}:")
        with tr.indented():
            tr.block(node.body)
    finally:
        tr._loops.pop()
