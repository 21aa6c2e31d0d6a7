"""MXNet.jl's optimizers, metrics, initializers, data providers and models."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import attribute, call, const, method, py, subscript
from .rules import Rule
from .shapes import options
from .types import ANY, NONE, OBJECT, PROVIDER, SYMBOLIC, T, arr, list_of, nd

if TYPE_CHECKING:
    from .translator import Translator

_COMMON = {
    "η": "learning_rate",
    "lr": "learning_rate",
    "λ": "wd",
    "weight_decay": "wd",
    "clip": "clip_gradient",
    "grad_clip": "clip_gradient",
    "scale": "rescale_grad",
    "grad_scale": "rescale_grad",
}
_BETAS = {
    "β1": "beta1",
    "β2": "beta2",
    "beta1": "beta1",
    "beta2": "beta2",
    "ϵ": "epsilon",
    "ε": "epsilon",
    "epsilon": "epsilon",
}
# Name in Python, the names of the parameters, and MXNet.jl's defaults where MXNet's differ.
OPTIMIZERS: dict[str, tuple[str, dict[str, str], dict[str, float]]] = {
    "SGD": ("SGD", {"μ": "momentum", "momentum": "momentum"}, {"learning_rate": 0.01, "wd": 0.0001}),
    "ADAM": ("Adam", _BETAS, {"learning_rate": 0.001, "wd": 0.00001}),
    "AdaGrad": ("AdaGrad", {"ϵ": "eps", "ε": "eps"}, {"learning_rate": 0.1, "eps": 1e-6, "wd": 0.00001}),
    "AdaDelta": (
        "AdaDelta",
        {"ρ": "rho", "rho": "rho", "ϵ": "epsilon", "ε": "epsilon"},
        {"rho": 0.95, "epsilon": 1e-6, "wd": 0.00001},
    ),
    "AdaMax": ("Adamax", _BETAS, {"learning_rate": 0.002, "wd": 0.00001}),
    "RMSProp": (
        "RMSProp",
        {"ρ": "gamma1", "rho": "gamma1", "ϵ": "epsilon", "ε": "epsilon"},
        {"learning_rate": 0.001, "gamma1": 0.9, "epsilon": 1e-6, "wd": 0.00001},
    ),
    "Nadam": ("Nadam", _BETAS, {"learning_rate": 0.001, "wd": 0.00001}),
}
METRICS = {
    "Accuracy": "Accuracy",
    "MSE": "MSE",
    "ACE": "CrossEntropy",
    "MultiACE": "CrossEntropy",
    "NMSE": "",
}


def _optimizer(name: str) -> Any:
    target, own, defaults = OPTIMIZERS[name]

    def emit(tr: Translator, node: t.Call) -> ast.expr:
        said: dict[str, ast.expr] = {}
        for key, value in options(node).items():
            word = own.get(key) or _COMMON.get(key)
            if word is None:
                return tr.refuse(node, f"{key} of mx.{name}: a schedule is an mx.lr_scheduler in Python")
            if word in ("clip_gradient", "rescale_grad") and isinstance(value, t.Number) and value.value == 0:
                continue
            said[word] = tr.expr(value)
        for word, default in defaults.items():
            said.setdefault(word, const(default))
        return call(f"mx.optimizer.{target}", [], list(said.items()))

    return emit


def _metric(name: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        if not METRICS[name]:
            return tr.refuse(node, f"mx.{name}: MXNet's Python has no such metric")
        return call(f"mx.metric.{METRICS[name]}")

    return emit


def _multi_metric(tr: Translator, node: t.Call) -> ast.expr:
    return call("mx.metric.CompositeEvalMetric", [tr.expr(arg) for arg in node.args])


def _uniform(tr: Translator, node: t.Call) -> ast.expr:
    given = options(node)
    scale = node.args[0] if node.args else given.get("scale")
    return call("mx.init.Uniform", [tr.expr(scale)] if scale is not None else [])


def _normal(tr: Translator, node: t.Call) -> ast.expr:
    given = options(node)
    mean = node.args[0] if node.args else given.get("mu") or given.get("μ")
    sigma = node.args[1] if len(node.args) > 1 else given.get("sigma") or given.get("σ")
    if mean is not None and not (isinstance(mean, t.Number) and mean.value == 0):
        return tr.refuse(node, "a NormalInitializer whose mean is not zero")
    return call("mx.init.Normal", [tr.expr(sigma)] if sigma is not None else [const(0.01)])


_XAVIER = {
    "xv_uniform": "uniform",
    "xv_normal": "gaussian",
    "xv_gaussian": "gaussian",
    "xv_avg": "avg",
    "xv_in": "in",
    "xv_out": "out",
}


def _xavier(tr: Translator, node: t.Call) -> ast.expr:
    words = {"distribution": "rnd_type", "regularization": "factor_type", "magnitude": "magnitude"}
    keywords: list[tuple[Optional[str], ast.expr]] = []
    for key, value in options(node).items():
        if isinstance(value, t.Field) and value.name in _XAVIER:
            keywords.append((words[key], const(_XAVIER[value.name])))
        else:
            keywords.append((words.get(key, key), tr.expr(value)))
    return call("mx.init.Xavier", [], keywords)


def _provider(tr: Translator, node: t.Call) -> ast.expr:
    """ArrayDataProvider(:data => X, :label => Y; batch_size): samples are the first axis in Python."""
    args = list(node.args)
    sources: list[ast.expr] = []
    for number, arg in enumerate(args[:2]):
        pairs = arg.items if isinstance(arg, (t.Vector, t.TupleForm)) else [arg]
        if all(isinstance(p, t.Binary) and p.op == "=>" for p in pairs):
            named = [p for p in pairs if isinstance(p, t.Binary)]
            sources.append(ast.Dict([tr.expr(p.left) for p in named], [tr.array(p.right) for p in named]))
        elif number == 0:
            sources.append(tr.array(arg))
        else:
            sources.append(tr.array(arg))
    given = options(node)
    keywords: list[tuple[Optional[str], ast.expr]] = []
    for key, value in given.items():
        if key in ("batch_size", "shuffle"):
            keywords.append((key, tr.expr(value)))
        elif key not in ("data_padding", "label_padding"):
            return tr.refuse(node, f"{key} of ArrayDataProvider")
    if "batch_size" not in given and sources:
        first = sources[0].values[0] if isinstance(sources[0], ast.Dict) else sources[0]
        keywords.insert(0, ("batch_size", call("len", [first])))
    return call("mx.io.NDArrayIter", sources, keywords)


def _mx_provider(target: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        return call(f"mx.io.{target}", [], [(key, tr.expr(value)) for key, value in node.keywords])

    return emit


def _batch(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        return attribute(tr.expr(node.args[-1]), word)

    return emit


def get_from_batch(tr: Translator, node: t.Call) -> ast.expr:
    """mx.get(provider, batch, :name); of a metric its value."""
    if len(node.args) == 1:
        return method(tr.expr(node.args[0]), "get")
    batch = tr.expr(node.args[1])
    name = node.args[2].id if len(node.args) > 2 and isinstance(node.args[2], t.Sym) else ""
    if len(node.args) != 3 or not name:
        return tr.refuse(node, "mx.get with a name that is not written out")
    word = "label" if "label" in name else "data"
    if name not in ("data", "label", "softmax_label"):
        tr.check(node, f"taken for the first {word} of the batch", "batch")
    return subscript(attribute(batch, word), [const(0)])


def _network(tr: Translator, node: t.Call) -> ast.expr:
    return tr.network(node)


def _count_samples(tr: Translator, node: t.Call) -> ast.expr:
    return py("_0.data[0].shape[0] - _0.pad", tr.expr(node.args[-1]))


def _feed_forward(tr: Translator, node: t.Call) -> ast.expr:
    return tr.feed_forward(node)


def _fit(tr: Translator, node: t.Call) -> ast.expr:
    return tr.fit(node)


def _predict(tr: Translator, node: t.Call) -> ast.expr:
    return tr.predicted(node)


def _unsupported(why: str) -> Any:
    return lambda tr, node: tr.refuse(node, why)


RULES: dict[str, Rule] = {
    **{
        name: Rule(
            _optimizer(name),
            OBJECT,
            f"mx.optimizer.{target}",
            ", ".join(f"{k} → {v}" for k, v in own.items()),
        )
        for name, (target, own, _) in OPTIMIZERS.items()
    },
    **{
        name: Rule(_metric(name), OBJECT, f"mx.metric.{t_}" if t_ else "refused")
        for name, t_ in METRICS.items()
    },
    "MultiMetric": Rule(_multi_metric, OBJECT, "mx.metric.CompositeEvalMetric"),
    "UniformInitializer": Rule(_uniform, OBJECT, "mx.init.Uniform"),
    "NormalInitializer": Rule(_normal, OBJECT, "mx.init.Normal", "mean zero only"),
    "XavierInitializer": Rule(_xavier, OBJECT, "mx.init.Xavier"),
    "ArrayDataProvider": Rule(_provider, PROVIDER, "mx.io.NDArrayIter"),
    "MNISTProvider": Rule(_mx_provider("MNISTIter"), PROVIDER, "mx.io.MNISTIter"),
    "ImageRecordProvider": Rule(_mx_provider("ImageRecordIter"), PROVIDER, "mx.io.ImageRecordIter"),
    "CSVProvider": Rule(_mx_provider("CSVIter"), PROVIDER, "mx.io.CSVIter"),
    "get_data": Rule(_batch("data"), list_of(nd()), "batch.data"),
    "get_label": Rule(_batch("label"), list_of(nd()), "batch.label"),
    "get": Rule(get_from_batch, nd(), "batch.data[0], batch.label[0], metric.get()"),
    "count_samples": Rule(_count_samples, T("int", nonneg=True), "batch size less pad"),
    "get_batch_size": Rule("_0.batch_size", T("int", nonneg=True)),
    "eachbatch": Rule("_0", lambda typer, n, args: args[0]),
    "Variable": Rule(_network, SYMBOLIC, "the input of a Gluon block"),
    "MLP": Rule(_network, SYMBOLIC, "gluon.nn.HybridSequential of gluon.nn.Dense"),
    "FeedForward": Rule(_feed_forward, T("model"), "a Gluon block, initialized by the training loop"),
    "fit": Rule(_fit, NONE, "a training loop with gluon.Trainer"),
    "train": Rule(_fit, NONE, "a training loop with gluon.Trainer"),
    "predict": Rule(_predict, arr(2), "net(batch.data[0]) over the batches"),
    "Group": Rule(_unsupported("several outputs of a symbolic network"), SYMBOLIC, "refused"),
    "bind": Rule(_unsupported("binding an executor: call the Gluon block instead"), ANY, "refused"),
    "simple_bind": Rule(_unsupported("binding an executor: call the Gluon block instead"), ANY, "refused"),
    "forward": Rule(_unsupported("running an executor: call the Gluon block instead"), ANY, "refused"),
    "infer_shape": Rule(
        _unsupported("shapes of a symbol: Gluon infers them at the first call"), ANY, "refused"
    ),
    "list_arguments": Rule(
        _unsupported("arguments of a symbol: net.collect_params() lists a block's"), ANY, "refused"
    ),
    "list_outputs": Rule(_unsupported("outputs of a symbol"), ANY, "refused"),
    "load_checkpoint": Rule(
        _unsupported("a checkpoint of symbols: gluon.SymbolBlock.imports reads one"), ANY, "refused"
    ),
    "save_checkpoint": Rule(
        _unsupported("a checkpoint of symbols: net.save_parameters writes a block's"), ANY, "refused"
    ),
    "to_graphviz": Rule(_unsupported("drawing a symbol: mx.viz.plot_network draws one"), ANY, "refused"),
    "KVStore": Rule("mx.kv.create(_0)", OBJECT),
    "init!": Rule("_0.init(_1, _2)", NONE),
    "pull!": Rule("_0.pull(_1, out=_2)", NONE),
    "push!": Rule("_0.push(_1, _2)", NONE),
    "reset!": Rule("_0.reset()", NONE),
    "update!": Rule(
        _unsupported("an update by hand: gluon.Trainer, or optimizer.update with a state"), NONE, "refused"
    ),
    "getupdater": Rule("mx.optimizer.get_updater(_0)", T("func")),
    "get_updater": Rule("mx.optimizer.get_updater(_0)", T("func")),
}
