"""Simple symbolic networks as Gluon blocks: a chain of layers from one input, with a loss at its end."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import call, const, integer, name, text
from .mx_operators import parameter
from .rules import base_name, mx_rules
from .shapes import options

if TYPE_CHECKING:
    from .translator import Translator

LOSSES = {
    "SoftmaxOutput": ("gluon.loss.SoftmaxCrossEntropyLoss", "softmax"),
    "Softmax": ("gluon.loss.SoftmaxCrossEntropyLoss", "softmax"),
    "LinearRegressionOutput": ("gluon.loss.L2Loss", ""),
    "LogisticRegressionOutput": ("gluon.loss.SigmoidBinaryCrossEntropyLoss", "sigmoid"),
    "MAERegressionOutput": ("gluon.loss.L1Loss", ""),
}


@dataclass
class Net:
    """A network: the block it builds on, the layers behind that, the loss, and what predictions pass through."""

    base: Optional[str] = None
    layers: list[ast.Call] = field(default_factory=list)
    loss: Optional[str] = None
    loss_name: str = ""
    output: str = ""
    emitted: bool = False

    @property
    def empty(self) -> bool:
        """Only an input so far."""
        return self.base is None and not self.layers


def value(tr: Translator, node: t.Node) -> ast.expr:
    """A network inside an expression: a block that has a name already."""
    net = build(tr, node)
    if net.base is not None and not net.layers:
        return name(net.base)
    if net.layers and net.base is None and net.loss is None and len(net.layers) == 1:
        return net.layers[0]
    return tr.refuse(node, "a symbolic network inside an expression: give it a name")


def build(tr: Translator, node: t.Node) -> Net:
    """The network that an expression means."""
    if isinstance(node, t.Name) and node.var is not None:
        known = _known(tr).get(id(node.var))
        if known is None:
            tr.refuse(node, f"{node.id} is a symbolic network that was not made in this file")
        if known.empty:
            return Net(loss=known.loss)
        return Net(base=tr.names.of(node.id), loss=known.loss, loss_name=known.loss_name, output=known.output)
    if isinstance(node, t.MacroCall) and node.name == "var":
        return Net()
    if isinstance(node, t.MacroCall) and node.name == "chain":
        tr.meet("@chain", None)
        tr.met["@chain"].target = "gluon.nn.HybridSequential"
        return _chain(tr, node)
    if isinstance(node, t.Call):
        word = base_name(node.fn)
        rule = mx_rules().get(word)
        tr.meet(word, rule)
        if word == "Variable":
            return Net()
        given = [arg for arg in node.args if tr.type(arg).kind == "symbolic"]
        given += [v for key, v in node.keywords if key == "data"]
        if not given:
            tr.refuse(node, "a layer without an input")
        return layer(tr, node, build(tr, given[0]), given)
    return tr.refuse(node, "a network that branches: write it as a gluon.HybridBlock")


def _known(tr: Translator) -> dict[int, Net]:
    if tr.networks is None:
        tr.networks = {}
    known: dict[int, Net] = tr.networks
    return known


def _chain(tr: Translator, node: t.MacroCall) -> Net:
    links: list[t.Node] = []
    rest: t.Node = node.args[0]
    while isinstance(rest, t.Binary) and rest.op == "=>":
        links.append(rest.left)
        rest = rest.right
    links.append(rest)
    net = build(tr, links[0])
    for link in links[1:]:
        if not isinstance(link, t.Call):
            tr.refuse(link, "a link of a chain that is no call")
        tr.meet(base_name(link.fn), mx_rules().get(base_name(link.fn)))
        net = layer(tr, link, net, [])
    return net


def layer(tr: Translator, node: t.Call, net: Net, given: list[t.Node]) -> Net:
    """One more layer."""
    word = base_name(node.fn)
    if net.loss is not None:
        tr.refuse(node, "a layer behind a loss")
    extra = [
        a
        for a in given[1:]
        if not (isinstance(a, t.Name) and a.var and _known(tr).get(id(a.var), Net()).empty)
    ]
    if word in LOSSES:
        net.loss, net.output = LOSSES[word]
        return net
    if extra or any(k in ("weight", "bias", "gamma", "beta") for k, _ in node.keywords):
        tr.refuse(node, "a layer with several inputs or shared parameters: write it as a gluon.HybridBlock")
    made = _LAYERS.get(word)
    if made is None:
        if node.dotted or word in ("sigmoid", "tanh", "relu", "exp", "log", "sqrt", "square"):
            net.layers.append(call("gluon.nn.HybridLambda", [const({"σ": "sigmoid"}.get(word, word))]))
            return net
        tr.refuse(node, f"mx.{word} in a symbolic network: write it as a gluon.HybridBlock")
    for each in made(tr, node):
        _append(net, each)
    return net


def _append(net: Net, made: ast.Call) -> None:
    """An activation behind a dense or convolutional layer becomes its argument."""
    last = net.layers[-1] if net.layers else None
    if last is not None and text(made.func) == "gluon.nn.Activation":
        kind = text(last.func)
        taken = {keyword.arg for keyword in last.keywords}
        if (kind.endswith("Dense") or "Conv" in kind) and "activation" not in taken:
            place = next((i for i, k in enumerate(last.keywords) if k.arg == "prefix"), len(last.keywords))
            last.keywords.insert(place, ast.keyword("activation", made.args[0]))
            return
    net.layers.append(made)


def _prefix(tr: Translator, node: t.Call) -> list[tuple[Optional[str], ast.expr]]:
    given = options(node).get("name")
    if given is None:
        return []
    shown = tr.expr(given)
    if isinstance(shown, ast.Constant):
        return [("prefix", const(f"{shown.value!s}_"))]
    return [("prefix", ast.BinOp(shown, ast.Add(), const("_")))]


def _true(node: Optional[t.Node]) -> bool:
    return isinstance(node, t.Const) and node.value is True


def _dense(tr: Translator, node: t.Call) -> list[ast.Call]:
    given = options(node)
    if "num_hidden" not in given:
        tr.refuse(node, "FullyConnected without num_hidden")
    keywords: list[tuple[Optional[str], ast.expr]] = []
    if _true(given.get("no_bias")):
        keywords.append(("use_bias", const(False)))
    if "flatten" in given:
        keywords.append(("flatten", tr.expr(given["flatten"])))
    return [call("gluon.nn.Dense", [tr.expr(given["num_hidden"])], keywords + _prefix(tr, node))]


def _activation(tr: Translator, node: t.Call) -> list[ast.Call]:
    given = options(node)
    if "act_type" not in given:
        tr.refuse(node, "Activation without act_type")
    return [call("gluon.nn.Activation", [tr.expr(given["act_type"])])]


def _plain_size(made: ast.expr) -> ast.expr:
    """(5, 5) as 5."""
    if isinstance(made, ast.Tuple) and made.elts:
        numbers = {integer(item) for item in made.elts}
        if len(numbers) == 1 and None not in numbers:
            return made.elts[0]
    return made


def _rank(tr: Translator, node: t.Call) -> int:
    kernel = options(node).get("kernel")
    if isinstance(kernel, t.TupleForm):
        return len(kernel.items)
    return tr.refuse(node, "a kernel that is not written out")


def _convolution(tr: Translator, node: t.Call) -> list[ast.Call]:
    given = options(node)
    words = {
        "kernel": "kernel_size",
        "stride": "strides",
        "pad": "padding",
        "dilate": "dilation",
        "num_group": "groups",
    }
    keywords: list[tuple[Optional[str], ast.expr]] = []
    for key, value_ in given.items():
        if key in words:
            keywords.append((words[key], _plain_size(parameter(tr, value_))))
        elif key == "no_bias":
            if _true(value_):
                keywords.append(("use_bias", const(False)))
        elif key not in ("num_filter", "name", "workspace", "cudnn_tune"):
            tr.refuse(node, f"Convolution with {key}")
    suffix = "Transpose" if base_name(node.fn) == "Deconvolution" else ""
    target = f"gluon.nn.Conv{_rank(tr, node)}D{suffix}"
    return [call(target, [tr.expr(given["num_filter"])], keywords + _prefix(tr, node))]


def _pooling(tr: Translator, node: t.Call) -> list[ast.Call]:
    given = options(node)
    kind = given.get("pool_type")
    word = {"max": "Max", "avg": "Avg"}.get(kind.id if isinstance(kind, t.Sym) else "max")
    if word is None:
        tr.refuse(node, "pooling that is neither max nor avg")
    if _true(given.get("global_pool")):
        rank = _rank(tr, node) if "kernel" in given else 2
        return [call(f"gluon.nn.Global{word}Pool{rank}D")]
    keywords: list[tuple[Optional[str], ast.expr]] = []
    if "kernel" in given:
        keywords.append(("pool_size", _plain_size(parameter(tr, given["kernel"]))))
    strides = _plain_size(parameter(tr, given["stride"])) if "stride" in given else const(1)
    keywords.append(("strides", strides))
    if "pad" in given:
        keywords.append(("padding", _plain_size(parameter(tr, given["pad"]))))
    if isinstance(given.get("pooling_convention"), t.Sym):
        keywords.append(("ceil_mode", const(given["pooling_convention"].id == "full")))  # type: ignore[attr-defined]
    return [call(f"gluon.nn.{word}Pool{_rank(tr, node)}D", [], keywords)]


def _mlp(tr: Translator, node: t.Call) -> list[ast.Call]:
    spec = node.args[-1]
    if not isinstance(spec, t.Vector):
        tr.refuse(node, "an MLP whose layers are not written out")
    hidden = options(node).get("hidden_activation")
    default = tr.expr(hidden) if hidden is not None else const("relu")
    prefix = options(node).get("prefix")
    made = []
    for number, item in enumerate(spec.items, 1):
        keywords: list[tuple[Optional[str], ast.expr]] = []
        units: t.Node = item
        if isinstance(item, t.TupleForm):
            units = item.items[0]
            keywords.append(("activation", tr.expr(item.items[1])))
        elif number < len(spec.items):
            keywords.append(("activation", default))
        if isinstance(prefix, t.Sym):
            keywords.append(("prefix", const(f"{prefix.id}fc{number}_")))
        made.append(call("gluon.nn.Dense", [tr.expr(units)], keywords))
    return made


def _dropout(tr: Translator, node: t.Call) -> list[ast.Call]:
    rate = options(node).get("p")
    return [call("gluon.nn.Dropout", [tr.expr(rate) if rate is not None else const(0.5)])]


def _batch_norm(tr: Translator, node: t.Call) -> list[ast.Call]:
    given = options(node)
    words = {"eps": "epsilon", "momentum": "momentum"}
    keywords: list[tuple[Optional[str], ast.expr]] = [
        (words[key], tr.expr(value_)) for key, value_ in given.items() if key in words
    ]
    if "eps" not in given:
        keywords.append(("epsilon", const(0.001)))
    fixed = given.get("fix_gamma")
    if not (isinstance(fixed, t.Const) and fixed.value is False):
        keywords.append(("scale", const(False)))
    return [call("gluon.nn.BatchNorm", [], keywords + _prefix(tr, node))]


def _leaky(tr: Translator, node: t.Call) -> list[ast.Call]:
    given = options(node)
    kind = given.get("act_type")
    word = kind.id if isinstance(kind, t.Sym) else "leaky"
    slope = tr.expr(given["slope"]) if "slope" in given else const(0.25)
    if word == "leaky":
        return [call("gluon.nn.LeakyReLU", [slope])]
    if word == "elu":
        return [call("gluon.nn.ELU", [slope])]
    return tr.refuse(node, f"LeakyReLU of the kind {word}")


def _reshape(tr: Translator, node: t.Call) -> list[ast.Call]:
    shape = options(node).get("shape")
    if shape is None:
        tr.refuse(node, "Reshape without a shape")
    inner = call("F.reshape", [name("x")], [("shape", parameter(tr, shape))])
    args = ast.arguments([], [ast.arg("F"), ast.arg("x")], None, [], [], None, [])
    return [call("gluon.nn.HybridLambda", [ast.Lambda(args, inner)])]


def _embedding(tr: Translator, node: t.Call) -> list[ast.Call]:
    given = options(node)
    sizes = [tr.expr(given[key]) for key in ("input_dim", "output_dim") if key in given]
    return [call("gluon.nn.Embedding", sizes, _prefix(tr, node))]


_LAYERS: dict[str, Any] = {
    "FullyConnected": _dense,
    "Activation": _activation,
    "Convolution": _convolution,
    "Deconvolution": _convolution,
    "Pooling": _pooling,
    "Flatten": lambda tr, node: [call("gluon.nn.Flatten")],
    "MLP": _mlp,
    "Dropout": _dropout,
    "BatchNorm": _batch_norm,
    "LeakyReLU": _leaky,
    "Reshape": _reshape,
    "Embedding": _embedding,
    "BlockGrad": lambda tr, node: [call("gluon.nn.HybridLambda", [const("BlockGrad")])],
}


def assignment(tr: Translator, node: t.Assign) -> bool:
    """net = …: the block under its name, and its loss beside it. False for anything else."""
    from . import training

    if node.op or node.dotted or not isinstance(node.target, t.Name) or node.target.var is None:
        return False
    if training.is_model(tr, node.value):
        training.model(tr, node)
        return True
    if tr.type(node.value).kind != "symbolic" or not isinstance(
        node.value, (t.Call, t.MacroCall, t.Name, t.Binary)
    ):
        return False
    target = tr.names.of(node.target.id)
    put(tr, node.target.var, target, build(tr, node.value))
    return True


def put(tr: Translator, var: Any, target: str, net: Net) -> None:
    """Write a network under a name."""
    if net.base == target:
        if net.layers:
            tr.emit(ast.Expr(call(f"{target}.add", list(net.layers))))
    elif net.layers:
        tr.emit(f"{target} = gluon.nn.HybridSequential()")
        first: list[ast.expr] = [name(net.base)] if net.base else []
        tr.emit(ast.Expr(call(f"{target}.add", [*first, *net.layers])))
    elif net.base:
        tr.emit(f"{target} = {net.base}")
    if net.loss is not None and not net.loss_name:
        net.loss_name = tr.names.fresh(f"{target}_loss")
        tr.emit(f"{net.loss_name} = {net.loss}()")
    _known(tr)[id(var)] = Net(
        base=target if not net.empty else None,
        loss=net.loss,
        loss_name=net.loss_name,
        output=net.output,
    )
