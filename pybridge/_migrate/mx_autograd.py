"""MXNet.jl's autograd front end, which pybridge has under the same names without the exclamation mark."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from . import tree as t
from .code import call
from .rules import Rule
from .types import ANY, BOOL, NONE, SYMBOLIC, T

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator

BLOCKS = ("record", "pause", "train_mode", "predict_mode")


def _front(name: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        return call(
            f"pb.{name}",
            [tr.expr(arg) for arg in node.args],
            [(key, tr.expr(value)) for key, value in node.keywords],
        )

    return emit


def _block(tr: Translator, node: t.Call) -> ast.expr:
    """mx.record(f), or the block form inside an expression."""
    return tr.scoped_value(node)


def _block_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    kind = args[0] if args else ANY
    if kind.kind == "func" and kind.name in typer.functions:
        return typer.functions[kind.name].result or ANY
    return kind.elem or ANY


def _same(typer: Typer, node: t.Call, args: list[T]) -> T:
    return args[0] if args else ANY


RULES: dict[str, Rule] = {
    "attach_grad!": Rule(_front("attach_grad"), _same, "pb.attach_grad"),
    "attach_grad": Rule(_front("attach_grad"), _same, "pb.attach_grad"),
    "getgrad": Rule("pb.getgrad(_0)", _same),
    "grad": Rule("pb.getgrad(_0)", _same),
    "∇": Rule("pb.getgrad(_0)", _same),
    "mark_variables!": Rule(_front("mark_variables"), NONE, "pb.mark_variables"),
    "mark_variables": Rule(_front("mark_variables"), NONE, "pb.mark_variables"),
    "backward!": Rule(_front("backward"), NONE, "pb.backward"),
    "backward": Rule(_front("backward"), NONE, "pb.backward"),
    "symbol": Rule("pb.symbol(_0)", SYMBOLIC),
    "is_recording": Rule("pb.is_recording()", BOOL),
    "is_training": Rule("pb.is_training()", BOOL),
    "set_recording": Rule("pb.set_recording(_0)", BOOL),
    "set_training": Rule("pb.set_training(_0)", BOOL),
    **{word: Rule(_block, _block_type, f"with pb.{word}():") for word in BLOCKS},
}
