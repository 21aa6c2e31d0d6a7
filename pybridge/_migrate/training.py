"""mx.FeedForward, mx.fit and mx.predict as a Gluon block, its training loop, and its predictions."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Optional

from . import tree as t
from .code import call, const, name, py, text
from .rules import base_name
from .shapes import options
from .symbolic import Net, build, put

if TYPE_CHECKING:
    from .translator import Translator


@dataclass
class Model:
    """What FeedForward was given: the network's loss and output, and where it computes."""

    net: Net
    context: Optional[ast.expr]
    initialized: bool = False


def is_model(tr: Translator, node: t.Node) -> bool:
    """mx.FeedForward(net)."""
    return isinstance(node, t.Call) and tr.type(node).kind == "model" and base_name(node.fn) == "FeedForward"


def model(tr: Translator, node: t.Assign) -> None:
    """model = mx.FeedForward(net, context=…)."""
    made, target = node.value, node.target
    assert isinstance(made, t.Call) and isinstance(target, t.Name)
    tr.meet("FeedForward", tr.typer.rule(made))
    net = build(tr, made.args[0])
    if net.loss is None:
        tr.refuse(node, "a model whose network ends without a loss")
    context = (
        options(made).get("context")
        or options(made).get("ctx")
        or (made.args[1] if len(made.args) > 1 else None)
    )
    if isinstance(context, (t.Vector, t.Comprehension)):
        tr.refuse(node, "a model on several devices: gluon.utils.split_and_load")
    place = tr.names.of(target.id)
    put(tr, target.var, place, net)
    shown = tr.expr(context) if context is not None else None
    _models(tr)[id(target.var)] = Model(tr.networks[id(target.var)], shown)


def _models(tr: Translator) -> dict[int, Model]:
    models: dict[int, Model] = tr.state.setdefault("models", {})
    return models


def _model(tr: Translator, node: t.Node) -> Model:
    if isinstance(node, t.Name) and node.var is not None and id(node.var) in _models(tr):
        return _models(tr)[id(node.var)]
    return tr.refuse(node, "a model that was not made in this file")


def feed_forward(tr: Translator, node: t.Call) -> ast.expr:
    """FeedForward inside an expression."""
    return tr.refuse(node, "mx.FeedForward inside an expression: give the model a name")


def _batch(word: str, batch: str, context: Optional[ast.expr]) -> ast.expr:
    made = py(f"{batch}.{word}[0]")
    if context is None or text(context) == "mx.cpu()":
        return made
    return call(ast.Attribute(made, "as_in_context", ast.Load()), [context])


_KNOWN = frozenset(
    ["n_epoch", "eval_data", "eval_metric", "initializer", "callbacks", "force_init", "verbosity", "kvstore"]
)


def fit(tr: Translator, node: t.Call) -> ast.expr:
    """mx.fit(model, optimizer, provider; …) as the loop that it runs."""
    if len(node.args) != 3:
        tr.refuse(node, "mx.fit with other arguments than a model, an optimizer and data")
    known = _model(tr, node.args[0])
    given = options(node)
    for key in given:
        if key not in _KNOWN:
            tr.refuse(node, f"mx.fit with {key}")
    block, data = text(tr.expr(node.args[0])), text(tr.expr(node.args[2]))
    fresh = tr.names.fresh
    trainer, metric, epoch, batch = fresh("trainer"), fresh("metric"), fresh("epoch"), fresh("batch")
    output, loss = fresh("output"), fresh("loss")
    if not known.initialized or _forced(given):
        _initialize(tr, block, known, given)
    known.initialized = True
    tr.emit(f"{trainer} = gluon.Trainer({block}.collect_params(), {text(tr.expr(node.args[1]))})")
    wanted = given.get("eval_metric")
    made = tr.expr(wanted) if wanted is not None else py("mx.metric.Accuracy()")
    tr.emit(f"{metric} = {text(made)}")
    probabilities = known.net.output if "CrossEntropy" in text(made) else ""
    shown = f"mx.nd.{probabilities}({{}})" if probabilities else "{}"
    epochs = tr.expr(given["n_epoch"]) if "n_epoch" in given else const(10)
    tr.emit(f"for {epoch} in range({text(epochs)}):")
    with tr.indented():
        tr.emit(f"{data}.reset()")
        tr.emit(f"{metric}.reset()")
        tr.emit(f"for {batch} in {data}:")
        with tr.indented():
            tr.emit("with pb.record():")
            with tr.indented():
                tr.emit(f"{output} = {block}({text(_batch('data', batch, known.context))})")
                label = text(_batch("label", batch, known.context))
                tr.emit(f"{loss} = {known.net.loss_name}({output}, {label})")
            tr.emit(f"pb.backward({loss})")
            tr.emit(f"{trainer}.step({data}.batch_size)")
            tr.emit(f"{metric}.update({batch}.label, [{shown.format(output)}])")
        tr.emit(f'print(f"epoch {{{epoch} + 1}}: {{{metric}.get()}}")')
        if "eval_data" in given:
            _evaluate(tr, text(tr.expr(given["eval_data"])), block, metric, batch, known, shown)
        _callbacks(tr, given.get("callbacks"), block, epoch)
    return const(None)


def _forced(given: dict[str, t.Node]) -> bool:
    forced = given.get("force_init")
    return isinstance(forced, t.Const) and forced.value is True


def _initialize(tr: Translator, block: str, known: Model, given: dict[str, t.Node]) -> None:
    initializer = tr.expr(given["initializer"]) if "initializer" in given else py("mx.init.Uniform(0.01)")
    keywords: list[tuple[Optional[str], ast.expr]] = []
    if known.context is not None and text(known.context) != "mx.cpu()":
        keywords.append(("ctx", known.context))
    if known.initialized:
        keywords.append(("force_reinit", const(True)))
    tr.emit(ast.Expr(call(f"{block}.initialize", [initializer], keywords)))


def _evaluate(
    tr: Translator, data: str, block: str, metric: str, batch: str, known: Model, shown: str
) -> None:
    tr.emit(f"{data}.reset()")
    tr.emit(f"{metric}.reset()")
    tr.emit(f"for {batch} in {data}:")
    with tr.indented():
        output = f"{block}({text(_batch('data', batch, known.context))})"
        tr.emit(f"{metric}.update({batch}.label, [{shown.format(output)}])")
    tr.emit(f'print(f"  validation: {{{metric}.get()}}")')


def _callbacks(tr: Translator, node: Optional[t.Node], block: str, epoch: str) -> None:
    for item in node.items if isinstance(node, t.Vector) else []:
        word = (
            base_name(item.fn) if isinstance(item, t.Call) and isinstance(item.fn, (t.Field, t.Name)) else ""
        )
        if word == "do_checkpoint" and isinstance(item, t.Call):
            prefix = text(tr.expr(item.args[0]))
            tr.emit(f'{block}.save_parameters({prefix} + f"-{{{epoch} + 1:04d}}.params")')
        elif word == "speedometer":
            tr.check(item, "mx.speedometer only printed how fast it went", "callback")
            tr.emit("pass")
        else:
            tr.refuse(item, f"the callback {word or 'given here'}")


def predicted(tr: Translator, node: t.Call) -> ast.expr:
    """mx.predict(model, provider): what the network says of every sample, padding left out."""
    if len(node.args) != 2:
        tr.refuse(node, "mx.predict with a callback: loop over the batches")
    known = _model(tr, node.args[0])
    block, data = text(tr.expr(node.args[0])), tr.expr(node.args[1])
    batch = tr.names.fresh("batch")
    tr.before(ast.Expr(call(ast.Attribute(data, "reset", ast.Load()))))
    made = f"{block}({text(_batch('data', batch, known.context))})"
    if known.net.output:
        made = f"mx.nd.{known.net.output}({made})"
    return py(
        f"np.concatenate([{made}.asnumpy()[:len({batch}.data[0]) - {batch}.pad] for {batch} in _0])",
        data,
    )


__all__ = ["Model", "feed_forward", "fit", "is_model", "model", "name", "predicted"]
