"""Making arrays and changing their shape: sizes and axes are turned round."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import binary, call, const, method, py, subscript
from .rules import base_name
from .types import (
    ANY,
    FLOAT,
    NAT,
    SHAPE,
    T,
    arr,
    list_of,
    nd,
    tuple_of,
)

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator


def options(node: t.Call) -> dict[str, t.Node]:
    """The keyword arguments by name."""
    return {key: value for key, value in node.keywords if key}


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
    given = options(node)
    if set(given) - {"shape"} or (given and sizes):
        return tr.refuse(node, f"reshape with the option {next(iter(given))}")
    sizes += given.values()
    if tr.type(value).kind == "nd" and isinstance(value, t.Name) and value.var and value.var.mutated:
        # In Python an NDArray's reshape shares its memory.
        return call("mx.nd.reshape", [tr.expr(value)], [("shape", _new_shape(tr, sizes))])
    return method(tr.array(value), "reshape", _new_shape(tr, sizes))


def _new_shape(tr: Translator, sizes: list[t.Node]) -> ast.expr:
    colons = [isinstance(size, t.Colon) or (isinstance(size, t.Name) and size.id == ":") for size in sizes]
    if any(colons):
        items = [const(-1) if colon else tr.expr(size) for size, colon in zip(sizes, colons)]
        return ast.Tuple(items[::-1], ast.Load())
    return tr.shape(sizes)


def _reshape_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    rank = shape_rank(typer, [*node.args[1:], *options(node).values()])
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


def _eltype(tr: Translator, node: t.Call) -> ast.expr:
    return py("_0.dtype", tr.expr(node.args[0]))


def _truths(value: bool) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        return call("np.full", [tr.shape(node.args), const(value)])

    return emit
