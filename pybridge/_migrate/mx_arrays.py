"""MXNet.jl's NDArray functions: creation, random numbers, operators, in-place arithmetic."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import call, const, method, py, subscript, update
from .dtypes import elements_of, static_dtype
from .operators import OPERATORS
from .rules import Rule
from .shapes import dtype_of, options, shape_rank
from .types import ANY, CONTEXT, NONE, T, nd

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator
from .mx_operators import _operator, _operator_type, operator


def _parted(tr: Any, node: t.Call) -> tuple[Optional[t.Node], list[t.Node], Optional[t.Node]]:
    """Element type, sizes and context of a call that creates an array."""
    args = [a for a in node.args if not (isinstance(a, t.Name) and a.id == "undef")]
    kind = node.fn.args[0] if isinstance(node.fn, t.Curly) and node.fn.args else None
    if args and dtype_of(args[0]):
        kind = args.pop(0)
    context = options(node).get("ctx") or options(node).get("context")
    of = tr.typer.of if hasattr(tr, "typer") else tr.of
    if len(args) > 1 and of(args[-1]).kind == "context":
        context = args.pop()
    return kind, args, context


def extras(
    tr: Translator, kind: Optional[t.Node], context: Optional[t.Node]
) -> list[tuple[Optional[str], ast.expr]]:
    """The keywords for dtype and context, where they are not MXNet's own defaults."""
    keywords: list[tuple[Optional[str], ast.expr]] = []
    if context is not None:
        keywords.append(("ctx", tr.expr(context)))
    if kind is not None:
        dtype = dtype_of(kind)
        if not dtype:
            keywords.append(("dtype", tr.expr(kind)))
        elif dtype != "float32":
            keywords.append(("dtype", const(dtype)))
    return keywords


def _created(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        kind, sizes, context = _parted(tr, node)
        if len(sizes) == 1 and tr.type(sizes[0]).kind == "nd":
            return call(f"mx.nd.{word}_like", [tr.expr(sizes[0])])
        return call(f"mx.nd.{word}", [tr.shape(sizes)], extras(tr, kind, context))

    return emit


def _created_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    _, sizes, _ = _parted(typer, node)
    if len(sizes) == 1 and typer.of(sizes[0]).kind == "nd":
        return typer.of(sizes[0])
    return nd(shape_rank(typer, sizes))


def _filled(tr: Translator, node: t.Call) -> ast.expr:
    value, *rest = node.args
    _, sizes, context = _parted(tr, t.Call(node.at, node.fn, rest, node.keywords))
    keywords = extras(tr, None, context)
    if tr.type(value).kind == "int":
        keywords.append(("dtype", const("int64")))
    elif isinstance(value, t.Number) and not value.single:
        keywords.append(("dtype", const("float64")))
    return call("mx.nd.full", [tr.shape(sizes), tr.expr(value)], keywords)


def as_ndarray(
    tr: Translator, value: t.Node, context: Optional[t.Node] = None, kind: Optional[t.Node] = None
) -> ast.expr:
    """A Julia array as an NDArray of the same element type, where mx.nd.array would make float32 of it."""
    keywords = extras(tr, kind, context)
    source = tr.array(value, literal=True)
    if tr.type(value).kind == "nd":
        return method(tr.expr(value), "copy")
    dtype = dtype_of(kind) or static_dtype(tr, value)
    if kind is None:
        if dtype and dtype != "float32":
            keywords.append(("dtype", const(dtype)))
        elif not dtype:
            held = elements_of(value)
            if isinstance(source, (ast.Name, ast.Attribute)):
                keywords.append(("dtype", py("_0.dtype", source)))
            elif isinstance(held, t.Name) and tr.type(held).kind == "arr":
                keywords.append(("dtype", py("_0.dtype", tr.expr(held))))
            elif tr.type(value).kind == "arr" and not keywords:
                return call("mx.nd.from_numpy", [source], [("zero_copy", const(False))])  # keeps the dtype
            else:
                keywords.append(("dtype", const("float64")))
                if tr.type(value).kind == "any":
                    tr.check(
                        value, "the element type is not known here; mx.nd.array keeps none by itself", "type"
                    )
    if (
        isinstance(source, ast.Call)
        and isinstance(value, (t.Vector, t.Matrix))
        and ast.unparse(source.func) == "np.array"
    ):
        source = source.args[0]  # lists do as well
    return call("mx.nd.array", [source], keywords)


def _ndarray(tr: Translator, node: t.Call) -> ast.expr:
    """NDArray(array), NDArray(T, array), NDArray(undef, dims), NDArray{T}(undef, dims)."""
    kind, rest, context = _parted(tr, node)
    undef = any(isinstance(a, t.Name) and a.id == "undef" for a in node.args)
    if undef:
        return call("mx.nd.empty", [tr.shape(rest)], extras(tr, kind, context))
    if len(rest) != 1:
        return tr.refuse(node, "NDArray of these arguments")
    return as_ndarray(tr, rest[0], context, kind)


def _ndarray_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    _, rest, _ = _parted(typer, node)
    if any(isinstance(a, t.Name) and a.id == "undef" for a in node.args):
        return nd(shape_rank(typer, rest))
    kind = typer.of(rest[0]) if rest else ANY
    return nd(kind.rank)


def _random(word: str, first: str, second: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        given = options(node)
        names = {
            "low": "low",
            "high": "high",
            "μ": "loc",
            "σ": "scale",
            "mean": "loc",
            "std": "scale",
            "mu": "loc",
            "sigma": "scale",
        }
        keywords: list[tuple[Optional[str], ast.expr]] = [
            (names[key], tr.expr(value)) for key, value in given.items() if key in names
        ]
        _, sizes, context = _parted(tr, node)
        if len(sizes) >= 3 and isinstance(sizes[-1], t.TupleForm):  # mx.rand(low, high, dims), the old form
            keywords = [(first, tr.expr(sizes[0])), (second, tr.expr(sizes[1]))]
            sizes = sizes[2:]
        keywords.append(("shape", tr.shape(sizes)))
        if context is not None:
            keywords.append(("ctx", tr.expr(context)))
        return call(f"mx.nd.random.{word}", [], keywords)

    return emit


def _random_into(word: str, first: str, second: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        target = tr.expr(node.args[0])
        names = {"low": first, "high": second, "μ": first, "σ": second}
        keywords: list[tuple[Optional[str], ast.expr]] = [
            (names.get(key, key), tr.expr(value)) for key, value in options(node).items()
        ]
        keywords += [("shape", py("_0.shape", target)), ("out", target)]
        return call(f"mx.nd.random.{word}", [], keywords)

    return emit


def _random_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    _, sizes, _ = _parted(typer, node)
    if len(sizes) >= 3 and isinstance(sizes[-1], t.TupleForm):
        sizes = sizes[2:]
    return nd(shape_rank(typer, sizes))


def _slice(tr: Translator, node: t.Call) -> ast.expr:
    obj, part = node.args
    return tr.expr(t.Index(node.at, obj, [part]))


def _same(typer: Typer, node: t.Call, args: list[T]) -> T:
    return args[0] if args else ANY


def _in_place(op: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        target, value = node.args[:2]
        tr.before(update(tr.assignable(target), op, tr.expr(value)))
        return tr.expr(target)

    return emit


def _clamp_into(tr: Translator, node: t.Call) -> ast.expr:
    target, low, high = node.args
    value = method(tr.expr(target), "clip", tr.expr(low), tr.expr(high))
    tr.before(ast.Assign([subscript(tr.assignable(target), [ast.Slice()])], value))
    return tr.expr(target)


def _activation(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        kind = tr.type(node.args[0])
        value = tr.expr(node.args[0])
        if kind.kind in ("arr", "numeric", "float", "int", "num", "list"):
            formula = {"sigmoid": "1 / (1 + np.exp(-_0))", "relu": "np.maximum(_0, 0)"}.get(word)
            if formula is None:
                return tr.refuse(node, f"{word} of a Julia array")
            return py(formula, tr.array(node.args[0]))
        if word not in ("softmax", "log_softmax"):
            return call(f"mx.nd.{word}", [value])
        given = options(node)
        if set(given) - {"axis"} or len(node.args) + len(given) > 2:
            return tr.refuse(node, f"{word} with these arguments")
        dims = [*node.args[1:], *given.values()]
        axis = tr.axis(dims[0]) if dims else const(0)
        return call(f"mx.nd.{word}", [value], [("axis", axis)])

    return emit


def _expand_dims(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) < 2:
        return operator(tr, node, "expand_dims")
    return call("mx.nd.expand_dims", [tr.expr(node.args[0])], [("axis", tr.axis(node.args[1]))])


def _expanded(typer: Typer, node: t.Call, args: list[T]) -> T:
    return nd(args[0].rank + 1 if args and args[0].rank is not None else None)


def _broadcast_to(tr: Translator, node: t.Call) -> ast.expr:
    return method(tr.expr(node.args[0]), "broadcast_to", tr.shape(node.args[1:]))


def _broadcast_axis(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) != 3:
        return operator(tr, node, "broadcast_axis")
    value, size = tr.expr(node.args[0]), tr.expr(node.args[2])
    dim = tr.expr(node.args[1])
    return call("mx.nd.broadcast_axis", [value], [("axis", py("_0.ndim - _1", value, dim)), ("size", size)])


def _load(tr: Translator, node: t.Call) -> ast.expr:
    return call("mx.nd.load", [tr.expr(node.args[0])])


RULES: dict[str, Rule] = {
    name: Rule(_operator(name), _operator_type, f"mx.nd.{name}") for name in sorted(OPERATORS)
}


for _gone in ("Custom",):
    RULES.pop(_gone, None)


for _base in [
    "sum",
    "mean",
    "prod",
    "max",
    "min",
    "argmax",
    "argmin",
    "dot",
    "reshape",
    "transpose",
    "size",
    "exp",
    "log",
    "sqrt",
    "abs",
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "sign",
    "floor",
    "ceil",
    "round",
    "trunc",
    "fix",
    "rint",
    "norm",
    "repeat",
    "flip",
    "diag",
    "erf",
    "gamma",
    "shuffle",
    "sort",
    "cumsum",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "cbrt",
    "degrees",
    "radians",
    "where",
]:
    RULES.pop(_base, None)


RULES |= {
    "where": Rule(_operator("where"), _operator_type, "mx.nd.where"),
    "rint": Rule(_operator("rint"), _operator_type, "mx.nd.rint"),
    "zeros": Rule(_created("zeros"), _created_type, "mx.nd.zeros", "sizes turned round"),
    "ones": Rule(_created("ones"), _created_type, "mx.nd.ones", "sizes turned round"),
    "empty": Rule(_created("empty"), _created_type, "mx.nd.empty", "sizes turned round"),
    "fill": Rule(
        _filled, lambda ty, n, a: nd(shape_rank(ty, n.args[1:])), "mx.nd.full", "sizes turned round"
    ),
    "NDArray": Rule(_ndarray, _ndarray_type, "mx.nd.array, mx.nd.empty", "the element type is kept"),
    "zeros_like": Rule("mx.nd.zeros_like(_0)", _same),
    "ones_like": Rule("mx.nd.ones_like(_0)", _same),
    "rand": Rule(
        _random("uniform", "low", "high"), _random_type, "mx.nd.random.uniform", "sizes turned round"
    ),
    "randn": Rule(
        _random("normal", "loc", "scale"), _random_type, "mx.nd.random.normal", "μ → loc, σ → scale"
    ),
    "rand!": Rule(_random_into("uniform", "low", "high"), _same, "mx.nd.random.uniform(out=x)"),
    "randn!": Rule(_random_into("normal", "loc", "scale"), _same, "mx.nd.random.normal(out=x)"),
    "srand": Rule("mx.random.seed(_0)", NONE),
    "srand!": Rule("mx.random.seed(_0)", NONE),
    "seed!": Rule("mx.random.seed(_0)", NONE),
    "slice": Rule(_slice, _same, "x[i - 1:j]", "the last Julia dimension is the first axis"),
    "add_to!": Rule(_in_place("+"), _same, "x += y"),
    "sub_from!": Rule(_in_place("-"), _same, "x -= y"),
    "mul_to!": Rule(_in_place("*"), _same, "x *= y"),
    "div_from!": Rule(_in_place("/"), _same, "x /= y"),
    "mod_from!": Rule(_in_place("%"), _same, "x %= y"),
    "clamp!": Rule(_clamp_into, _same, "x[:] = x.clip(low, high)"),
    "clip": Rule(lambda tr, n: operator(tr, n, "clip"), _same, "mx.nd.clip"),
    "σ": Rule(_activation("sigmoid"), _same, "mx.nd.sigmoid"),
    "sigmoid": Rule(_activation("sigmoid"), _same, "mx.nd.sigmoid"),
    "relu": Rule(_activation("relu"), _same, "mx.nd.relu"),
    "softmax": Rule(_activation("softmax"), _same, "mx.nd.softmax", "dim → axis=-dim; softmax.(x) is axis=0"),
    "log_softmax": Rule(_activation("log_softmax"), _same, "mx.nd.log_softmax", "dim → axis=-dim"),
    "expand_dims": Rule(_expand_dims, _expanded, "mx.nd.expand_dims", "dim → axis=-dim"),
    "broadcast_to": Rule(_broadcast_to, lambda ty, n, a: nd(shape_rank(ty, n.args[1:])), "x.broadcast_to"),
    "broadcast_axis": Rule(_broadcast_axis, _same, "mx.nd.broadcast_axis", "dim → x.ndim - dim"),
    "broadcast_axes": Rule(_broadcast_axis, _same, "mx.nd.broadcast_axis", "dim → x.ndim - dim"),
    "context": Rule("_0.context", CONTEXT),
    "cpu": Rule("mx.cpu(_all)", CONTEXT),
    "gpu": Rule("mx.gpu(_all)", CONTEXT),
    "num_gpus": Rule("mx.context.num_gpus()", T("int", nonneg=True)),
    "waitall": Rule("mx.nd.waitall()", NONE),
    "save": Rule("mx.nd.save(_0, _1)", NONE),
    "load": Rule(_load, ANY, "mx.nd.load"),
    "asarray": Rule("_0.asnumpy()", T("arr")),
    "try_get_shared": Rule("_0.asnumpy()", T("arr")),
    "is_shared": Rule("False", T("bool")),
}
