"""Blocks of MXNet.jl: recording and training scopes, and NDArrays as arrays for a while."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import call, name, text
from .mx_autograd import BLOCKS
from .rules import is_mx
from .types import arr

if TYPE_CHECKING:
    from .translator import Translator


def block_of(tr: Translator, node: t.Node) -> Optional[t.Lambda]:
    """The block of `mx.record() do … end`, None for anything else."""
    if not isinstance(node, t.Call) or not node.args or not isinstance(node.args[0], t.Lambda):
        return None
    fn = node.fn
    word = fn.name if isinstance(fn, t.Field) and is_mx(fn.obj) else ""
    return node.args[0] if word in BLOCKS else None


def scoped(tr: Translator, node: t.Call, dest: Any) -> None:
    """with pb.record(): the block's value goes where the call's would."""
    word = tr.called(node)
    tr.meet(word, tr.typer.rule(node))
    inner = node.args[0]
    assert isinstance(inner, t.Lambda)
    args = [tr.expr(arg) for arg in node.args[1:]]
    keywords = [(key, tr.expr(value)) for key, value in node.keywords]
    tr.emit(f"with {text(call(f'pb.{word}', args, keywords))}:")
    with tr.indented():
        tr.block(inner.body, dest)


def scoped_value(tr: Translator, node: t.Call) -> ast.expr:
    """The form with a function: pb.record takes one as MXNet.jl does."""
    word = tr.called(node)
    fn = node.args[0] if node.args else None
    if fn is None:
        return call(f"pb.{word}")
    rest = [tr.expr(arg) for arg in node.args[1:]]
    if rest or node.keywords:
        return tr.refuse(node, f"{word} with options inside an expression")
    return call(f"pb.{word}", [tr.function_value(fn)])


def as_julia_arrays(tr: Translator, node: t.MacroCall) -> None:
    """@nd_as_jl ro=(x, y) rw=z begin … end: copies as NumPy arrays; those of rw are written back."""
    tr.meet("@nd_as_jl", None)
    tr.met["@nd_as_jl"].target = "x.asnumpy(), z[:] = …"
    back: list[tuple[str, ast.expr]] = []
    shadowed: list[int] = []
    *declared, body = node.args
    for each in declared:
        if not (
            isinstance(each, t.Assign) and isinstance(each.target, t.Name) and each.target.id in ("ro", "rw")
        ):
            tr.refuse(node, "captures of @nd_as_jl other than ro= and rw=")
        captured = each.value.items if isinstance(each.value, (t.TupleForm, t.Vector)) else [each.value]
        for item in captured:
            if not isinstance(item, t.Name) or item.var is None:
                tr.refuse(node, "a capture of @nd_as_jl that is no variable")
            array = tr.expr(item)
            fresh = tr.names.fresh(f"{tr.names.of(item.id)}_np")
            tr.emit(f"{fresh} = {text(call(ast.Attribute(array, 'asnumpy', ast.Load())))}")
            if each.target.id == "rw":
                back.append((fresh, array))
            inner = node.scope.vars[item.id]
            tr.renamed[id(inner)] = fresh
            shadowed.append(id(inner))
    tr.block(body if isinstance(body, t.Block) else t.Block(body.at, [body]), None)
    for each_id in shadowed:
        tr.renamed.pop(each_id, None)
    for fresh, array in back:
        tr.emit(f"{text(array)}[:] = {fresh}")


__all__ = ["arr", "as_julia_arrays", "block_of", "name", "scoped", "scoped_value"]
