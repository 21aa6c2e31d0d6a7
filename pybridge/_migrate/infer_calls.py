"""The types of calls, and what calls say of parameters and fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tree as t
from .annotations import called_struct

if TYPE_CHECKING:
    from .infer import Typer
from .rules import BROADCAST, base_name, mx_name
from .scopes import Var
from .types import (
    ANY,
    FLOAT,
    NUM,
    NUMERIC,
    T,
    arr,
    join,
    list_of,
    nd,
    struct,
)


def call(typer: Typer, node: t.Call) -> T:
    args = [typer.of(arg) for arg in node.args]
    keywords = {key: typer.of(value) for key, value in node.keywords if key}
    for key, value in node.keywords:
        if key is None:
            typer.of(value)
    if isinstance(node.fn, t.Name) and node.fn.var is not None:
        return _own_call(typer, node, node.fn.var, args, keywords)
    if isinstance(node.fn, t.Lambda):
        return typer.of(node.fn).elem or ANY
    if isinstance(node.fn, t.Call):
        made = typer.of(node.fn)
        if made.kind == "struct" and made.name in typer.custom:
            return args[0] if args else ANY
        return made.elem or ANY if made.kind == "func" else ANY
    rule = typer.rule(node)
    if rule is None:
        typer.of(node.fn)
        return ANY
    said = rule.type
    result = said(typer, node, args) if callable(said) else said
    if (
        node.dotted
        and base_name(node.fn) not in BROADCAST
        and not result.arraylike
        and mx_name(node.fn) is None
    ):
        return list_of(result)
    return result


def _own_call(typer: Typer, node: t.Call, var: Var, args: list[T], keywords: dict[str, T]) -> T:
    name = var.name
    if isinstance(var.definition, t.StructDef):
        known = typer.structs[name]
        others = typer.functions.get(name)
        for method in others.methods if others is not None else ():
            if len(args) <= len(method.params):
                typer.passed(method, args, keywords)
        if not known.node.constructors and len(args) == len(known.node.entries):
            for entry, value in zip(known.node.entries, args):
                if isinstance(entry.target, t.Name):
                    known.coming[entry.target.id] = join(known.coming.get(entry.target.id), value)
        return struct(name)
    known_function = typer.functions.get(name) if isinstance(var.definition, t.FuncDef) else None
    if known_function is None:
        if var.type is not None and var.type.kind == "struct" and var.type.name in typer.custom:
            return args[0] if args else ANY
        if (
            var.type is not None
            and var.type.kind == "struct"
            and called_struct(var.type.name) in typer.functions
        ):
            callee = typer.functions[called_struct(var.type.name)]
            for method in callee.methods:
                typer.passed(method, args, keywords)
            return callee.coming or callee.result or ANY
        told = (var.type.elem or ANY) if var.type is not None and var.type.kind == "func" else ANY
        # a function that comes as a value: what it makes of NDArrays is taken for one
        return nd() if told.kind == "any" and any(arg.kind == "nd" for arg in args) else told
    if typer._in_kept:
        if node.dotted:
            args = [FLOAT for _ in args]
    elif node.dotted:
        known_function.dotted += 1
        args = [NUMERIC if a.kind in ("arr", "list", "range") else a for a in args]
    else:
        known_function.plain += 1
    for method in known_function.methods:
        if any(isinstance(arg, t.Splat) for arg in node.args):
            break
        fits = len(args) <= len(method.params) and all(
            p.default is not None for p in method.params[len(args) :]
        )
        if fits or any(p.splat for p in method.params):
            typer.passed(method, args, keywords)
    result = known_function.coming or known_function.result or ANY
    if node.dotted and any(a.kind == "numeric" for a in args) and not result.arraylike:
        original = [typer.of(arg) for arg in node.args]
        ranks = [a.rank for a in original if a.kind in ("arr", "list", "range")]
        return arr(max((r for r in ranks if r is not None), default=0) or None, NUM)
    return result
