"""Macros: printing, logging, tests, and those that only say how to compile."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from . import tree as t
from .code import py, update

if TYPE_CHECKING:
    from .translator import Translator

_LOGGED = {"info": "info", "warn": "warning", "error": "error", "debug": "debug"}
# What these say to Julia's compiler has no meaning in Python.
_IGNORED = frozenset(
    [
        "inbounds",
        "simd",
        "inline",
        "noinline",
        "fastmath",
        "views",
        "view",
        "nospecialize",
        "polly",
        "propagate_inbounds",
        "pure",
        "sync",
        "mx",
    ]
)


def value(tr: Translator, node: t.MacroCall) -> ast.expr:
    """A macro inside an expression."""
    args = [arg for arg in node.args if not isinstance(arg, t.Comment)]
    if node.name == "sprintf":
        return tr.sprintf(args, node)
    if node.name == "view" and args and isinstance(args[0], t.Index) and tr.type(args[0].obj).kind == "list":
        return tr.refuse(node, "a view of a vector that grows, which is a list in Python")
    if node.name in _IGNORED and args:
        return tr.expr(args[-1])
    if node.name == "chain":
        return tr.network(node)
    if node.name == "var":
        return tr.network(node)
    if node.name == "__DIR__":
        return py("os.path.dirname(os.path.abspath(__file__))")
    if node.name == "__FILE__":
        return py("__file__")
    if node.name == "isdefined":
        return tr.refuse(node, "a test whether a name is defined")
    if node.name == "time":
        tr.check(node, "@time is taken away: it only measured", "macro")
        return tr.expr(args[-1])
    if node.name in ("show", "printf") or node.name in _LOGGED:
        return _printing(tr, node, args)
    if node.name == "elapsed":
        return tr.refuse(node, "@elapsed inside an expression: take time.perf_counter() before and after")
    return tr.refuse(node, f"the macro @{node.name}")


def _printing(tr: Translator, node: t.MacroCall, args: list[t.Node]) -> ast.expr:
    if node.name == "printf":
        return tr.printf(args, node)
    if node.name == "show":
        return tr.shown(args)
    return tr.logged(_LOGGED[node.name], args, node)


def statement(tr: Translator, node: t.MacroCall, dest: Any) -> bool:
    """A macro as a statement; False when it is an expression like any other."""
    args = [arg for arg in node.args if not isinstance(arg, t.Comment)]
    last = args[-1] if args else None
    if node.name == "nd_as_jl":
        tr.as_julia_arrays(node)
    elif node.name == "inplace":
        _inplace(tr, node, last)
    elif node.name in ("show", "printf") or node.name in _LOGGED:
        tr.emit(ast.Expr(_printing(tr, node, args)))
    elif node.name == "assert":
        message = tr.expr(args[1]) if len(args) > 1 else None
        tr.emit(ast.Assert(tr.expr(args[0]), message))
    elif node.name in ("test", "test_broken", "test_skip"):
        _test(tr, node, args)
    elif node.name == "test_throws":
        return _throws(tr, node, args)
    elif node.name == "testset":
        _test_set(tr, node, args)
    elif node.name in ("customfunc", "registerfunc"):
        return True  # pb.function stands where the struct was
    elif node.name in ("time", "timev", "btime"):
        tr.check(node, "@time is taken away: it only measured", "macro")
        if last is not None:
            tr.statement(last, dest)
    elif node.name in _IGNORED and last is not None:
        tr.statement(last, dest)
    elif node.name == "kwdef" and isinstance(last, t.StructDef):
        last.keyword = True
        tr.statement(last, dest)
    elif node.name == "doc" and isinstance(last, t.FuncDef):
        if isinstance(args[0], t.Str):
            last.doc = args[0]
        tr.statement(last, dest)
    else:
        return False
    return True


def _inplace(tr: Translator, node: t.MacroCall, last: Any) -> None:
    if not isinstance(last, t.Assign) or not last.op:
        tr.refuse(node, "@inplace on something that is no update")
    tr.meet("@inplace", None)
    tr.met["@inplace"].target = "x += y, x -= y, …"
    if last.op not in ("+", "-", "*", "/", "%"):
        tr.refuse(node, f"@inplace with {last.op}=")
    tr.emit(update(tr.target(last.target), last.op, tr.expr(last.value)))


def _test(tr: Translator, node: t.MacroCall, args: list[t.Node]) -> None:
    if node.name != "test":
        tr.emit(f"# @{node.name} {tr.source.text(args[0].at.start, args[0].at.stop)}")
        return
    given = {
        arg.target.id: arg.value
        for arg in args[1:]
        if isinstance(arg, t.Assign) and isinstance(arg.target, t.Name)
    }
    first = args[0]
    if isinstance(first, t.Compare) and first.ops == ["≈"]:
        tr.emit(ast.Assert(tr.approximately(first.items[0], first.items[1], given), None))
        return
    tr.emit(ast.Assert(tr.expr(first), None))


def _throws(tr: Translator, node: t.MacroCall, args: list[t.Node]) -> bool:
    from .base_system import ERRORS

    error = ERRORS.get(args[0].id if isinstance(args[0], t.Name) else "", "Exception")
    tr.emit(f"with pytest.raises({error}):")
    with tr.indented():
        tr.statement(args[1], None)
    return True


def _test_set(tr: Translator, node: t.MacroCall, args: list[t.Node]) -> None:
    title = next((arg for arg in args if isinstance(arg, t.Str)), None)
    body = args[-1]
    words = "".join(part for part in title.parts if isinstance(part, str)) if title is not None else "all"
    plain = "".join(letter if letter.isalnum() else "_" for letter in words.lower()).strip("_") or "all"
    name = tr.names.fresh(f"test_{plain}")
    tr.emit(f"def {name}():")
    with tr.indented():
        tr.block(body if isinstance(body, t.Block) else t.Block(body.at, [body]), None)
