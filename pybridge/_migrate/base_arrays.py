"""Julia's arrays as NumPy's (and MXNet's where the argument is an NDArray): shapes and axes are turned round."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import binary, call, const, method, py, subscript
from .rules import Rule, base_name
from .types import (
    ANY,
    FLOAT,
    NAT,
    NUM,
    T,
    arr,
    element,
    join,
    nd,
    range_of,
    tuple_of,
)

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator
from .reductions import _arg, _find_extreme, _spread, reduced, reduction
from .shapes import (
    _array,
    _array_type,
    _axes,
    _dropdims,
    _eltype,
    _fill,
    _fill_type,
    _filled,
    _filled_type,
    _permutedims,
    _reshape,
    _reshape_type,
    _similar,
    _size,
    _size_type,
    _transpose,
    _transposed,
    _truths,
    _vec,
    dtype_of,
    options,
    shape_rank,
)


def _cat(tr: Translator, node: t.Call) -> ast.expr:
    name = base_name(node.fn)
    dims: Optional[t.Node] = options(node).get("dims")
    args = list(node.args)
    if name == "cat" and dims is None and args and tr.type(args[0]).kind == "int":
        dims = args.pop(0)  # the form of Julia 0.6
    number = {"vcat": 1, "hcat": 2}.get(name)
    if number is None:
        if not isinstance(dims, t.Number):
            return tr.refuse(node, "cat along a dimension that is not written out")
        number = dims.value
    return tr.joined_arrays(args, number, node)


def _cat_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    args = [(kind.elem or ANY) if isinstance(arg, t.Splat) else kind for arg, kind in zip(node.args, args)]
    arrays = [arg for arg in args if arg.kind in ("nd", "arr", "list")]
    number = {"vcat": 1, "hcat": 2}.get(base_name(node.fn))
    if any(a.kind == "list" for a in args) and number == 1 and not any(a.kind == "nd" for a in args):
        return next(a for a in args if a.kind == "list")
    kind = "nd" if any(arg.kind == "nd" for arg in args) else "arr"
    ranks = [arg.rank for arg in arrays if arg.kind != "list"]
    if not ranks or None in ranks:
        rank = number if args and all(a.scalar for a in args) else None
    else:
        rank = max([r for r in ranks if r is not None] + ([number] if number else []))
    elem: Optional[T] = None
    for arg in args:
        elem = join(elem, arg.elem if not arg.scalar else arg)
    return T(kind, rank, elem if kind == "arr" else None)


def _range(tr: Translator, node: t.Call) -> ast.expr:
    given = options(node)
    if base_name(node.fn) in ("LinRange", "linspace"):
        return call("np.linspace", [tr.expr(arg) for arg in node.args])
    first = tr.expr(node.args[0])
    stop = given.get("stop") or (node.args[1] if len(node.args) > 1 else None)
    if "length" in given and stop is not None:
        return call("np.linspace", [first, tr.expr(stop), tr.expr(given["length"])])
    if "step" in given and stop is not None:
        return tr.expr(t.Range(node.at, node.args[0], stop, given["step"]))
    if "step" in given and "length" in given:
        step, count = tr.expr(given["step"]), tr.expr(given["length"])
        return py("_0 + _1 * np.arange(_2)", first, step, count)
    return tr.refuse(node, "a range of this form")


def _dot(tr: Translator, node: t.Call) -> ast.expr:
    a, b = node.args
    if "nd" in (tr.type(a).kind, tr.type(b).kind):
        return call("mx.nd.dot", [tr.expr(b), tr.expr(a)])
    return call("np.dot", [tr.array(a), tr.array(b)])


def _norm(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    value = tr.array(node.args[0])
    rest = [tr.expr(arg) for arg in node.args[1:]]
    if kind.kind == "nd":
        return method(value, "norm", *rest)
    if kind.rank != 1:
        value = method(value, "ravel")
    return call("np.linalg.norm", [value, *rest])


def _solve(tr: Translator, node: t.Call) -> ast.expr:
    return py("np.linalg.inv(_0)", tr.expr(node.args[0]))


def _cumulative(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        dims = options(node).get("dims")
        keywords = [("axis", tr.axis(dims))] if dims is not None else []
        library = "mx.nd" if tr.type(node.args[0]).kind == "nd" else "np"
        return call(f"{library}.{word}", [tr.array(node.args[0])], keywords)

    return emit


def _as_array(typer: Typer, node: t.Call, args: list[T]) -> T:
    kind = args[0]
    return kind if kind.kind in ("nd", "arr") else arr(1, element(kind))


def _copy(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    if len(node.args) == 2:
        if kind.kind == "nd":
            return method(value, "copyto", tr.expr(node.args[1]))
        return call("mx.nd.array", [tr.array(node.args[0])], [("ctx", tr.expr(node.args[1]))])
    if kind.kind == "nd":
        return method(value, "asnumpy")
    if kind.kind == "any":
        tr.check(node, "copy of an NDArray is a Julia array: x.asnumpy() if this is one", "type")
    return method(value, "copy")


def _deep_copy(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) != 1:
        return tr.refuse(node, f"deepcopy with {len(node.args)} arguments")
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    flat = kind.kind == "nd" or (kind.kind == "arr" and kind.elem is not None and kind.elem.scalar)
    return method(value, "copy") if flat else call("copy.deepcopy", [value])


def _copied(typer: Typer, node: t.Call, args: list[T]) -> T:
    if len(args) == 2:
        return nd(args[0].rank)
    return arr(args[0].rank, NUM) if args[0].kind == "nd" else args[0]


def _copy_into(tr: Translator, node: t.Call) -> ast.expr:
    target, source = node.args[:2]
    value = tr.expr(source)
    if tr.type(target).kind == "arr" and tr.type(source).kind == "nd":
        value = method(value, "asnumpy")
    tr.before(ast.Assign([subscript(tr.assignable(target), [ast.Slice()])], value))
    return tr.expr(target)


def _fill_into(tr: Translator, node: t.Call) -> ast.expr:
    target, value = node.args
    tr.before(ast.Assign([subscript(tr.assignable(target), [ast.Slice()])], tr.expr(value)))
    return tr.expr(target)


def _same(typer: Typer, node: t.Call, args: list[T]) -> T:
    return args[0] if args else ANY


def _repeat(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    given = options(node)
    if "inner" in given and "outer" not in given and kind.rank == 1:
        return call("np.repeat", [tr.array(node.args[0]), tr.expr(given["inner"])])
    if given:
        return tr.refuse(node, "repeat with inner and outer: np.tile and np.repeat")
    counts = [tr.expr(arg) for arg in node.args[1:]]
    if kind.kind in ("str", "list", "char"):
        return binary(value, "*", counts[0])
    library = "mx.nd.tile" if kind.kind == "nd" else "np.tile"
    if kind.rank is not None and kind.rank > len(counts):
        counts += [const(1)] * (kind.rank - len(counts))
    return call(library, [value, ast.Tuple(counts[::-1], ast.Load())])


RULES: dict[str, Rule] = {
    "size": Rule(_size, _size_type, "x.shape[::-1], x.shape[-dim]"),
    "ndims": Rule("_0.ndim", NAT),
    "axes": Rule(_axes, range_of(NAT), "range(1, x.shape[-dim] + 1)"),
    "eltype": Rule(_eltype, T("type"), "x.dtype"),
    "zeros": Rule(_filled("zeros"), _filled_type, "np.zeros"),
    "ones": Rule(_filled("ones"), _filled_type, "np.ones"),
    "fill": Rule(_fill, _fill_type, "np.full"),
    "trues": Rule(_truths(True), lambda ty, n, a: arr(len(a)), "np.full"),
    "falses": Rule(_truths(False), lambda ty, n, a: arr(len(a)), "np.full"),
    "Array": Rule(_array, _array_type, "np.array, np.empty, x.asnumpy()"),
    "Matrix": Rule(_array, _array_type, "np.array, np.empty"),
    "similar": Rule(_similar, _same, "np.empty_like, mx.nd.zeros_like"),
    "reshape": Rule(_reshape, _reshape_type, "x.reshape(sizes turned round)"),
    "vec": Rule(
        _vec, lambda ty, n, a: T("nd" if a[0].kind == "nd" else "arr", 1, a[0].elem), "x.reshape(-1)"
    ),
    "transpose": Rule(_transpose, _transposed, "x.T"),
    "adjoint": Rule(_transpose, _transposed, "x.T"),
    "permutedims": Rule(_permutedims, _same, "x.transpose(axes turned round)"),
    "dropdims": Rule(_dropdims, lambda ty, n, a: T(a[0].kind, None), "x.squeeze(axis=-dim)"),
    "squeeze": Rule(_dropdims, lambda ty, n, a: T(a[0].kind, None), "x.squeeze(axis=-dim)"),
    "sum": Rule(reduction("sum", "sum"), reduced, "x.sum(axis=-dim, keepdims=True), sum"),
    "prod": Rule(reduction("prod", "math.prod"), reduced, "x.prod(axis=-dim, keepdims=True), math.prod"),
    "maximum": Rule(reduction("max", "max"), reduced, "x.max(axis=-dim, keepdims=True), max"),
    "minimum": Rule(reduction("min", "min"), reduced, "x.min(axis=-dim, keepdims=True), min"),
    "mean": Rule(reduction("mean"), reduced, "x.mean(axis=-dim, keepdims=True), np.mean"),
    "median": Rule(reduction("median"), reduced, "np.median"),
    "std": Rule(_spread("std"), reduced, "np.std(x, ddof=1)"),
    "var": Rule(_spread("var"), reduced, "np.var(x, ddof=1)"),
    "extrema": Rule("(np.min(_0), np.max(_0))", tuple_of(NUM, NUM)),
    "argmax": Rule(
        _arg("argmax"), lambda ty, n, a: nd(a[0].rank) if a[0].kind == "nd" else NAT, "np.argmax(x) + 1"
    ),
    "argmin": Rule(
        _arg("argmin"), lambda ty, n, a: nd(a[0].rank) if a[0].kind == "nd" else NAT, "np.argmin(x) + 1"
    ),
    "indmax": Rule(_arg("argmax"), NAT, "np.argmax(x) + 1"),
    "findmax": Rule(_find_extreme("max"), tuple_of(NUM, NAT), "np.max(x), np.argmax(x) + 1"),
    "findmin": Rule(_find_extreme("min"), tuple_of(NUM, NAT), "np.min(x), np.argmin(x) + 1"),
    "vcat": Rule(_cat, _cat_type, "np.concatenate, mx.nd.concat"),
    "hcat": Rule(_cat, _cat_type, "np.concatenate, mx.nd.concat"),
    "cat": Rule(_cat, _cat_type, "np.concatenate, mx.nd.concat"),
    "range": Rule(_range, arr(1, FLOAT), "np.linspace, np.arange"),
    "LinRange": Rule(_range, arr(1, FLOAT), "np.linspace"),
    "linspace": Rule(_range, arr(1, FLOAT), "np.linspace"),
    "dot": Rule(
        _dot, lambda ty, n, a: nd(1) if "nd" in (a[0].kind, a[-1].kind) else NUM, "np.dot, mx.nd.dot(y, x)"
    ),
    "norm": Rule(_norm, lambda ty, n, a: nd(1) if a[0].kind == "nd" else FLOAT, "np.linalg.norm, x.norm()"),
    "inv": Rule(_solve, _same, "np.linalg.inv"),
    "det": Rule("np.linalg.det(_0)", FLOAT),
    "tr": Rule("np.trace(_0)", NUM),
    "diag": Rule("np.diag(_0)", lambda ty, n, a: arr(1, a[0].elem)),
    "kron": Rule("np.kron(_0, _1)", _same),
    "cumsum": Rule(_cumulative("cumsum"), _as_array, "np.cumsum"),
    "cumprod": Rule(_cumulative("cumprod"), _as_array, "np.cumprod"),
    "diff": Rule("np.diff(_0)", _as_array),
    "sortperm": Rule("np.argsort(_0, kind='stable') + 1", arr(1, NAT)),
    "copy": Rule(_copy, _copied, "x.copy(), x.asnumpy()"),
    "deepcopy": Rule(_deep_copy, _same, "x.copy(), copy.deepcopy(x)"),
    "copy!": Rule(_copy_into, _same, "x[:] = y"),
    "copyto!": Rule(_copy_into, _same, "x[:] = y"),
    "fill!": Rule(_fill_into, _same, "x[:] = value"),
    "repeat": Rule(_repeat, _same, "np.tile, text * n"),
    "circshift": Rule("np.roll(_0, _1)", _same),
}


__all__ = ["RULES", "dtype_of", "options", "shape_rank"]
