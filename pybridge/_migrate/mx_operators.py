"""Operators of libmxnet under their own names."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import call, const, subscript
from .rules import base_name
from .shapes import options
from .types import SYMBOLIC, T, nd

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator


def parameter(tr: Translator, value: t.Node) -> ast.expr:
    """A parameter of an operator: MXNet.jl turns tuples of sizes round, single numbers pass as they are."""
    if isinstance(value, t.TupleForm):
        return ast.Tuple([tr.expr(item) for item in reversed(value.items)], ast.Load())
    kind = tr.type(value)
    if kind.kind == "tuple":
        return subscript(tr.expr(value), [ast.Slice(None, None, const(-1))])
    return tr.expr(value)


def operator(tr: Translator, node: t.Call, name: str) -> ast.expr:
    """An operator of libmxnet under its own name."""
    args = [tr.expr(arg) for arg in node.args if not _is_array_type(arg)]
    keywords: list[tuple[Optional[str], ast.expr]] = []
    for key, value in node.keywords:
        if key == "name":
            continue
        if key in ("axis", "dim", "axes") and tr.type(value).kind not in ("int",):
            tr.check(node, f"{key} of {name} counts from MXNet's side already")
        keywords.append((key, parameter(tr, value)))
    return call(f"mx.nd.{name}", args, keywords)


def _is_array_type(node: t.Node) -> bool:
    return base_name(node) == "NDArray" and not isinstance(node, t.Call)


def _operator(name: str) -> Any:
    return lambda tr, node: operator(tr, node, name)


def _operator_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    keyword_types = [typer.of(value) for _, value in node.keywords]
    if any(kind.kind == "symbolic" for kind in (*args, *keyword_types)):
        return SYMBOLIC
    name = base_name(node.fn)
    if name in ("SliceChannel", "split"):
        return T("list", 1, nd(args[0].rank if args else None))
    if name in _SAME_RANK and args and args[0].kind == "nd":
        return args[0]
    if name in ("FullyConnected", "Flatten", "one_hot"):
        return nd(2)
    if name in ("Reshape", "reshape"):
        shape = options(node).get("shape")
        return nd(len(shape.items) if isinstance(shape, t.TupleForm) else None)
    return nd()


_SAME_RANK = frozenset(
    [
        "Activation",
        "LeakyReLU",
        "Dropout",
        "BatchNorm",
        "Convolution",
        "Deconvolution",
        "Pooling",
        "BlockGrad",
        "make_loss",
        "MakeLoss",
        "softmax",
        "log_softmax",
        "sigmoid",
        "relu",
        "tanh",
        "exp",
        "log",
        "sqrt",
        "square",
        "abs",
        "concat",
        "Concat",
        "add_n",
        "ElementWiseSum",
        "clip",
        "SoftmaxOutput",
        "SoftmaxActivation",
        "elemwise_add",
        "elemwise_mul",
        "elemwise_sub",
        "elemwise_div",
        "zeros_like",
        "ones_like",
        "identity",
        "broadcast_add",
        "broadcast_mul",
        "broadcast_sub",
        "broadcast_div",
        "broadcast_plus",
        "broadcast_minus",
        "smooth_l1",
        "InstanceNorm",
        "LayerNorm",
        "L2Normalization",
        "LRN",
        "UpSampling",
        "SwapAxis",
        "cast",
        "Cast",
    ]
)
