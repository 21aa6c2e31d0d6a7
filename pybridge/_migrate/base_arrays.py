"""Julia's arrays as NumPy's (and MXNet's where the argument is an NDArray): shapes and axes are turned round."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import binary, call, const, method, py, shifted, subscript
from .rules import Rule, base_name
from .types import (
    ANY,
    FLOAT,
    INT,
    NAT,
    NONE,
    NUM,
    SHAPE,
    T,
    arr,
    element,
    join,
    list_of,
    nd,
    range_of,
    tuple_of,
)

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator


def options(node: t.Call) -> dict[str, t.Node]:
    """The keyword arguments by name."""
    return {key: value for key, value in node.keywords if key}


# shapes


def _size(tr: Translator, node: t.Call) -> ast.expr:
    value = tr.expr(node.args[0])
    kind = tr.type(node.args[0])
    shape = py("np.shape(_0)", value) if kind.kind in ("list", "range", "numeric") else py("_0.shape", value)
    if len(node.args) == 1:
        return subscript(shape, [ast.Slice(None, None, const(-1))])
    dims = [tr.axis(arg) for arg in node.args[1:]]
    sizes = [subscript(shape, [dim]) for dim in dims]
    return sizes[0] if len(sizes) == 1 else ast.Tuple(sizes, ast.Load())


def _size_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    if len(args) == 2:
        return NAT
    rank = args[0].rank if len(args) == 1 else len(args) - 1
    return tuple_of(*[NAT] * rank) if rank is not None else SHAPE


def _axes(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) == 1:
        return tr.refuse(node, "axes of all dimensions: name one")
    size = _size(tr, node)
    return py("range(1, _0 + 1)", size)


def shape_rank(typer: Typer, nodes: list[t.Node]) -> Optional[int]:
    """How many dimensions a list of size arguments names."""
    if len(nodes) == 1:
        kind = typer.of(nodes[0])
        if kind.kind == "tuple":
            return len(kind.items) if kind.items is not None else None
    if any(isinstance(node, t.Splat) for node in nodes):
        return None
    return len(nodes)


def _split_type(node: t.Call) -> tuple[Optional[t.Node], list[t.Node]]:
    """An element type that comes first, and the sizes."""
    args = list(node.args)
    if args and isinstance(args[0], t.Name) and _is_type_name(args[0].id):
        return args[0], args[1:]
    if args and isinstance(args[0], t.Field) and _is_type_name(args[0].name):
        return args[0], args[1:]
    return None, args


def _is_type_name(name: str) -> bool:
    return name in _DTYPES or name in ("String", "Any")


_DTYPES = {
    "Float64": "float64",
    "Float32": "float32",
    "Float16": "float16",
    "MX_float": "float32",
    "Int": "int64",
    "Int64": "int64",
    "Int32": "int32",
    "Int16": "int16",
    "Int8": "int8",
    "UInt8": "uint8",
    "Bool": "bool",
    "UInt32": "uint32",
    "UInt64": "uint64",
    "ComplexF64": "complex128",
}


def dtype_of(node: Optional[t.Node]) -> str:
    """NumPy's name of an element type, "" if it is none."""
    if node is None:
        return ""
    return _DTYPES.get(base_name(node), "")


def _filled(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        kind, sizes = _split_type(node)
        if kind is not None and base_name(kind) not in _DTYPES:
            return tr.refuse(node, f"an array of {base_name(kind)}")
        if len(sizes) == 1 and tr.type(sizes[0]).arraylike:
            library = "mx.nd" if tr.type(sizes[0]).kind == "nd" else "np"
            return call(f"{library}.{word}_like", [tr.expr(sizes[0])])
        if not sizes:
            return call(f"np.{word}", [ast.Tuple([], ast.Load())])
        keywords = tr.dtype_keyword(kind, default="float64")
        return call(f"np.{word}", [tr.shape(sizes)], keywords)

    return emit


def _filled_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    kind, sizes = _split_type(node)
    if len(sizes) == 1 and typer.of(sizes[0]).arraylike:
        return typer.of(sizes[0])
    return arr(shape_rank(typer, sizes), typer.annotation(kind) or FLOAT)


def _fill(tr: Translator, node: t.Call) -> ast.expr:
    value, *sizes = node.args
    if tr.type(value).scalar:
        return call("np.full", [tr.shape(sizes), tr.expr(value)])
    if len(sizes) == 1:
        return binary(ast.List([tr.expr(value)], ast.Load()), "*", tr.expr(sizes[0]))
    return tr.refuse(node, "an array of things that are no numbers")


def _fill_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    if args[0].scalar:
        return arr(shape_rank(typer, node.args[1:]), args[0])
    return list_of(args[0])


def _array(tr: Translator, node: t.Call) -> ast.expr:
    """Array(x), Array{T}(undef, dims)."""
    undef = [a for a in node.args if isinstance(a, t.Name) and a.id == "undef"]
    sizes = [a for a in node.args if a not in undef]
    elem = node.fn.args[0] if isinstance(node.fn, t.Curly) and node.fn.args else None
    if undef or (isinstance(node.fn, t.Curly) and sizes and tr.type(sizes[0]).kind in ("int", "tuple")):
        if elem is not None and not dtype_of(elem):
            return call("np.empty", [tr.shape(sizes)], [("dtype", py("object"))])
        return call("np.empty", [tr.shape(sizes)], tr.dtype_keyword(elem))
    kind = tr.type(sizes[0]) if sizes else ANY
    made = (
        method(tr.expr(sizes[0]), "asnumpy") if kind.kind == "nd" else call("np.array", [tr.array(sizes[0])])
    )
    return method(made, "astype", const(dtype_of(elem))) if dtype_of(elem) else made


def _array_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    said = typer.annotation(node.fn)
    sizes = [a for a in node.args if not (isinstance(a, t.Name) and a.id == "undef")]
    if said is not None and said.rank is not None:
        return said
    if len(sizes) < len(node.args) or (sizes and typer.of(sizes[0]).kind == "int"):
        return arr(shape_rank(typer, sizes), said.elem if said else None)
    return arr(args[0].rank if args else None, said.elem if said else None)


def _similar(tr: Translator, node: t.Call) -> ast.expr:
    library = "mx.nd.zeros_like" if tr.type(node.args[0]).kind == "nd" else "np.empty_like"
    if len(node.args) > 1:
        return tr.refuse(node, "similar with another size or type: write np.empty")
    return call(library, [tr.expr(node.args[0])])


def _reshape(tr: Translator, node: t.Call) -> ast.expr:
    value, *sizes = node.args
    colons = [isinstance(size, t.Colon) or (isinstance(size, t.Name) and size.id == ":") for size in sizes]
    if any(colons):
        items = [const(-1) if colon else tr.expr(size) for size, colon in zip(sizes, colons)]
        return method(tr.array(value), "reshape", ast.Tuple(items[::-1], ast.Load()))
    return method(tr.array(value), "reshape", tr.shape(sizes))


def _reshape_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    rank = shape_rank(typer, node.args[1:])
    kind = args[0]
    if kind.kind == "nd":
        return nd(rank)
    return arr(rank, kind.elem)


def _vec(tr: Translator, node: t.Call) -> ast.expr:
    return method(tr.array(node.args[0]), "reshape", const(-1))


def _transpose(tr: Translator, node: t.Call) -> ast.expr:
    return tr.transposed(node.args[0])


def _transposed(typer: Typer, node: t.Call, args: list[T]) -> T:
    return T(args[0].kind, 2, args[0].elem) if args[0].kind in ("nd", "arr") else ANY


def _permutedims(tr: Translator, node: t.Call) -> ast.expr:
    """Axis k of n counts from the other end: the order is turned round and each number taken from n."""
    kind = tr.type(node.args[0])
    value = tr.expr(node.args[0])
    if len(node.args) == 1:
        return py("_0.T", value)
    order = node.args[1]
    items = order.items if isinstance(order, (t.TupleForm, t.Vector)) else []
    numbers = [item.value for item in items if isinstance(item, t.Number)]
    if not numbers or len(numbers) != len(items):
        return tr.refuse(node, "permutedims with an order that is not written out")
    axes = [const(len(numbers) - number) for number in reversed(numbers)]
    if kind.kind == "nd":
        return method(value, "transpose", ast.Tuple(axes, ast.Load()))
    return method(value, "transpose", *axes)


def _dropdims(tr: Translator, node: t.Call) -> ast.expr:
    dims = options(node).get("dims")
    if dims is None and len(node.args) > 1:
        dims = node.args[1]
    if dims is None:
        return tr.refuse(node, "dropdims without dims")
    return method(tr.expr(node.args[0]), "squeeze", axis=tr.axis(dims))


# reductions


def reduction(word: str, builtin: str = "") -> Any:
    """sum, maximum, …: over everything, or over `dims` with the axes kept."""

    def emit(tr: Translator, node: t.Call) -> ast.expr:
        dims = options(node).get("dims")
        args = list(node.args)
        first = args[0]
        maps = len(args) == 2 and (
            isinstance(first, t.Lambda) or tr.type(first).kind == "func" or tr.callable_name(first)
        )
        if maps:
            inner = tr.mapped(first, [args[1]], node, generator=bool(builtin))
            return call(builtin or f"np.{word}", [inner])
        kind = tr.type(first)
        if len(args) == 2 and dims is None and (kind.arraylike or kind.kind == "any"):
            dims = args[1]  # the form of Julia 0.6
        keywords = []
        if dims is not None and not (isinstance(dims, t.Colon)):
            keywords = [("axis", tr.axis(dims)), ("keepdims", const(True))]
        if (
            kind.kind in ("generator", "list", "range", "iterator", "tuple", "set")
            and builtin
            and not keywords
        ):
            whole = not (kind.elem is not None and kind.elem.kind == "nd" and word != "sum")
            if whole:
                return call(builtin, [tr.iterated(first)])
        value = tr.array(first)
        if kind.kind in ("nd", "arr") and word != "median":
            return call(ast.Attribute(value, word, ast.Load()), [], keywords)
        if kind.kind == "any" and dims is None:
            if builtin:
                tr.check(
                    node,
                    f"{builtin} goes through the first axis only: x.{word}() if this is an array",
                    "type",
                )
                return call(builtin, [value])
            tr.check(node, f"x.{word}() if this is an NDArray", "type")
        elif kind.kind == "any":
            return call(ast.Attribute(value, word, ast.Load()), [], keywords)
        return call(f"np.{word}", [value], keywords)

    return emit


def reduced(typer: Typer, node: t.Call, args: list[T]) -> T:
    """The type of a reduction."""
    kind = args[0] if args else ANY
    dims = "dims" in options(node) or (len(args) == 2 and kind.arraylike)
    if kind.kind == "nd":
        return nd(kind.rank) if dims else nd(1)
    if dims:
        return kind if kind.kind == "arr" else arr()
    fn = node.args[0] if node.args else None
    if len(args) == 2 and isinstance(fn, t.Lambda):
        for param in fn.params:
            typer.bind(param.target, element(args[1]))
        return args[0].elem or NUM
    if kind.elem is not None and kind.elem.scalar:
        name = base_name(node.fn)
        if name in ("mean", "std", "var", "median"):
            return FLOAT
        return INT if kind.elem.kind == "bool" else kind.elem
    if kind.kind in ("list", "generator", "iterator") and kind.elem is not None:
        return kind.elem
    return NUM if kind.kind in ("arr", "numeric", "range") else ANY


def _spread(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        dims = options(node).get("dims")
        keywords: list[tuple[Optional[str], ast.expr]] = []
        if dims is not None:
            keywords += [("axis", tr.axis(dims))]
        corrected = options(node).get("corrected")
        plain = isinstance(corrected, t.Const) and corrected.value is False
        if not plain:
            keywords.append(("ddof", const(1)))
        if dims is not None:
            keywords.append(("keepdims", const(True)))
        if tr.type(node.args[0]).kind == "nd":
            return tr.refuse(node, f"{word} of an NDArray")
        return call(f"np.{word}", [tr.array(node.args[0])], keywords)

    return emit


def _arg(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        dims = options(node).get("dims")
        kind = tr.type(node.args[0])
        value = tr.array(node.args[0])
        if dims is not None:
            if kind.kind != "nd":
                return tr.refuse(node, f"{word} over dims gives Cartesian indices: use np.{word}(x, axis=…)")
            keywords = [("axis", tr.axis(dims)), ("keepdims", const(True))]
            return shifted(call(ast.Attribute(value, word, ast.Load()), [], keywords), 1)
        if kind.kind == "nd":
            return shifted(method(value, word), 1)
        if kind.kind == "arr" and kind.rank != 1:
            tr.check(node, f"{word} of a matrix is a Cartesian index in Julia, here it is a linear one")
        return shifted(call("int", [call(f"np.{word}", [value])]), 1)

    return emit


def _find_extreme(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        value = tr.array(node.args[0])
        return py(f"(np.{word}(_0), int(np.arg{word}(_0)) + 1)", value)

    return emit


# putting together


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


# random numbers, ranges, linear algebra


def _random(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        args = list(node.args)
        if args and isinstance(args[0], t.Name) and args[0].id in ("rng", "GLOBAL_RNG"):
            args = args[1:]
        kind, sizes = _split_type(t.Call(node.at, node.fn, args))
        numpy = "np.random.rand" if word == "rand" else "np.random.randn"
        if not sizes:
            return call(numpy)
        if isinstance(sizes[0], t.Call) and tr.type(sizes[0]).kind == "any":
            return tr.refuse(node, "random numbers of a distribution from another package")
        first = tr.type(sizes[0])
        if first.kind in ("range", "list", "arr") and word == "rand":
            size = [("size", tr.shape(sizes[1:]))] if sizes[1:] else []
            source = sizes[0]
            if isinstance(source, t.Range) and source.step is None:
                low, high = tr.expr(source.start), shifted(tr.expr(source.stop), 1)
                return call("np.random.randint", [low, high], size)
            return call("np.random.choice", [tr.array(source)], size)
        if first.kind == "tuple":
            made: ast.expr = call(numpy, [ast.Starred(tr.shape(sizes), ast.Load())])
            shape = tr.shape(sizes)
            if isinstance(shape, ast.Tuple):
                made = call(numpy, shape.elts)
        else:
            made = call(numpy, [tr.expr(size) for size in reversed(sizes)])
        dtype = dtype_of(kind)
        return method(made, "astype", const(dtype)) if dtype and dtype != "float64" else made

    return emit


def _random_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    _kind, sizes = _split_type(node)
    if not sizes:
        return FLOAT
    first = typer.of(sizes[0])
    if first.kind in ("range", "list", "arr"):
        elem = element(first)
        return arr(shape_rank(typer, sizes[1:]), elem) if sizes[1:] else elem
    return arr(shape_rank(typer, sizes), FLOAT)


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


def _eltype(tr: Translator, node: t.Call) -> ast.expr:
    return py("_0.dtype", tr.expr(node.args[0]))


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


def _truths(value: bool) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        return call("np.full", [tr.shape(node.args), const(value)])

    return emit


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
    "rand": Rule(_random("rand"), _random_type, "np.random.rand"),
    "randn": Rule(_random("randn"), _random_type, "np.random.randn"),
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
    "shuffle": Rule("np.random.permutation(_0)", _as_array),
    "shuffle!": Rule("np.random.shuffle(_0)", NONE),
    "randperm": Rule("np.random.permutation(_0) + 1", arr(1, NAT)),
    "copy": Rule(_copy, _copied, "x.copy(), x.asnumpy()"),
    "deepcopy": Rule("_0.copy()", _same),
    "copy!": Rule(_copy_into, _same, "x[:] = y"),
    "copyto!": Rule(_copy_into, _same, "x[:] = y"),
    "fill!": Rule(_fill_into, _same, "x[:] = value"),
    "repeat": Rule(_repeat, _same, "np.tile, text * n"),
    "circshift": Rule("np.roll(_0, _1)", _same),
}
__all__ = ["RULES", "dtype_of", "options", "shape_rank"]
