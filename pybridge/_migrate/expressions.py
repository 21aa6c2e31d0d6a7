"""Expressions: names, literals, operators. Calls, indices and strings are rooms of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import (
    call,
    const,
    integer,
    list_of,
    name,
    negated,
    negative,
    py,
    shifted,
    subscript,
    tuple_of,
)
from .dtypes import static_dtype
from .types import T

if TYPE_CHECKING:
    from .translator import Translator
from .comparisons import compared
from .operations import operation

CONSTANTS = {
    "π": "math.pi",
    "pi": "math.pi",
    "ℯ": "math.e",
    "Inf": "math.inf",
    "Inf32": "math.inf",
    "NaN": "math.nan",
    "NaN32": "math.nan",
    "missing": "None",
    "stdout": "sys.stdout",
    "STDOUT": "sys.stdout",
    "stderr": "sys.stderr",
    "STDERR": "sys.stderr",
    "stdin": "sys.stdin",
    "PROGRAM_FILE": "__file__",
    "GLOBAL_RNG": "np.random",
    "Int": "int",
    "Int64": "int",
    "Integer": "int",
    "Float64": "float",
    "Float32": "np.float32",
    "Float16": "np.float16",
    "Int32": "np.int32",
    "Int8": "np.int8",
    "UInt8": "np.uint8",
    "Bool": "bool",
    "String": "str",
    "AbstractString": "str",
    "Symbol": "str",
    "Real": "float",
    "MX_float": "np.float32",
    "Any": "object",
    "e": "math.e",
}


def expr(tr: Translator, node: t.Node) -> ast.expr:
    """The Python expression for a form."""
    handler = _EXPR.get(type(node))
    if handler is not None:
        return handler(tr, node)
    if isinstance(node, (t.If, t.Let, t.Try, t.Block, t.Assign)):
        return tr.statement_value(node)
    if isinstance(node, t.Unknown):
        return tr.refuse(node, node.why)
    if isinstance(node, (t.Return, t.Jump)):
        return tr.refuse(node, "a jump inside an expression")
    return tr.refuse(node, f"{type(node).__name__.lower()} inside an expression")


def _name(tr: Translator, node: t.Name) -> ast.expr:
    if node.var is not None:
        return tr.variable(node.var)
    known = CONSTANTS.get(node.id)
    if known is not None:
        return name(known)
    if node.id == "ARGS":
        return py("sys.argv[1:]")
    if node.id == "im":
        return ast.Constant(1j)
    if node.id == "undef":
        return const(None)
    if node.id in tr.elsewhere:
        return name(tr.names.of(node.id))
    if node.id in ("NDArray", "SymbolicNode"):
        return name("mx.nd.NDArray" if node.id == "NDArray" else "mx.sym.Symbol")
    if tr.typer.rule(t.Call(node.at, node, [])) is not None:
        return tr.function_value(node)
    tr.unknown(node, node.id)
    return name(tr.names.of(node.id))


def _number(tr: Translator, node: t.Number) -> ast.expr:
    return const(node.value)


def _str(tr: Translator, node: t.Str) -> ast.expr:
    return tr.string(node)


def _tuple(tr: Translator, node: t.TupleForm) -> ast.expr:
    return tuple_of([expr(tr, item) for item in node.items])


def _named_tuple(tr: Translator, node: t.NamedTupleForm) -> ast.expr:
    keys = list_of([const(tr.names.of(key)) for key, _ in node.entries])
    made = call("collections.namedtuple", [const("NamedTuple"), keys])
    return call(made, [], [(tr.names.of(key), expr(tr, value)) for key, value in node.entries])


def _splat(tr: Translator, node: t.Splat) -> ast.expr:
    return ast.Starred(tr.iterated(node.value), ast.Load())


def _typed(tr: Translator, node: t.Typed) -> ast.expr:
    return expr(tr, node.value)


def _field(tr: Translator, node: t.Field) -> ast.expr:
    from .rules import STANDARD, base_name, is_mx

    if is_mx(node.obj):
        known = {"MX_float": "np.float32", "NDArray": "mx.nd.NDArray", "SymbolicNode": "mx.sym.Symbol"}
        if node.name in known:
            return name(known[node.name])
        if tr.typer.rule(t.Call(node.at, node, [])) is not None:
            return tr.function_value(node)
        tr.unknown(node, f"mx.{node.name}")
        return name(f"mx.{tr.names.of(node.name)}")
    if base_name(node.obj) in STANDARD and node.name in CONSTANTS:
        return name(CONSTANTS[node.name])
    kind = tr.type(node.obj)
    if kind.kind in ("pair",) and node.name in ("first", "second"):
        return subscript(expr(tr, node.obj), [const(0 if node.name == "first" else 1)])
    if kind.kind == "exception" and node.name == "msg":
        return call("str", [expr(tr, node.obj)])
    return ast.Attribute(expr(tr, node.obj), tr.names.of(node.name), ast.Load())


def _unary(tr: Translator, node: t.Unary) -> ast.expr:
    kind = tr.type(node.operand)
    if node.op in ("√", "∛"):
        fn = t.Name(node.at, "sqrt" if node.op == "√" else "cbrt")
        return expr(tr, t.Call(node.at, fn, [node.operand], dotted=node.dotted))
    value = tr.array(node.operand) if node.dotted or kind.kind == "range" else expr(tr, node.operand)
    if node.op == "-":
        if isinstance(value, ast.Constant) and isinstance(value.value, float):
            return const(-value.value)
        return negative(value)
    if node.op == "+":
        return value
    if node.op in ("!", "¬"):
        if kind.kind == "nd":
            return call("mx.nd.logical_not", [value])
        if kind.arraylike or node.dotted:
            return call("np.logical_not", [value])
        return negated(value)
    if node.op == "~":
        return ast.UnaryOp(ast.Invert(), value)
    if node.op == "&":
        return tr.refuse(node, "an address")
    return tr.refuse(node, f"the operator {node.op}")


def _binary(tr: Translator, node: t.Binary) -> ast.expr:
    return operation(tr, node.op, node.left, node.right, node)


def _logic(tr: Translator, node: t.Logic) -> ast.expr:
    op = ast.And() if node.op == "&&" else ast.Or()
    sides = [expr(tr, node.left), tr.unhoisted(node.right)]
    values: list[ast.expr] = []
    for side in sides:
        if isinstance(side, ast.BoolOp) and type(side.op) is type(op):
            values.extend(side.values)
        else:
            values.append(side)
    return ast.BoolOp(op, values)


def _ternary(tr: Translator, node: t.Ternary) -> ast.expr:
    return ast.IfExp(expr(tr, node.test), tr.unhoisted(node.yes), tr.unhoisted(node.no))


def _range(tr: Translator, node: t.Range) -> ast.expr:
    start, stop = expr(tr, node.start), expr(tr, node.stop)
    step = None if node.step is None else expr(tr, node.step)
    floats = [
        tr.type(part).kind in ("float",) for part in (node.start, node.stop, node.step) if part is not None
    ]
    if any(floats):
        one = step if step is not None else const(1)
        return py("np.arange(_0, _1 + _2 / 2, _2)", start, stop, one)
    if step is None:
        return call("range", [start, shifted(stop, 1)])
    number = integer(step)
    if number is not None:
        return call("range", [start, shifted(stop, 1 if number > 0 else -1), step])
    if (integer(start) or -1) >= 0 or tr.typer.of(node.step).nonneg:
        return call("range", [start, shifted(stop, 1), step])  # upwards: nobody counts down from one
    return call("range", [start, py("_0 + (1 if _1 > 0 else -1)", stop, step), step])


def _vector(tr: Translator, node: t.Vector) -> ast.expr:
    items = [expr(tr, item) for item in node.items]
    plain = list_of(items)
    if tr.type(node).kind != "arr" or tr.as_list(node):
        if len(node.items) == 1 and isinstance(node.items[0], t.Range):
            return list_of(items)
        return plain
    dtype = static_dtype(tr, node)
    keywords: list[tuple[Optional[str], ast.expr]] = (
        [("dtype", const(dtype))] if node.elem is not None and dtype else []
    )
    if all(isinstance(item, t.Number) and item.single for item in node.items):
        keywords = [("dtype", const("float32"))]
    return call("np.array", [plain], keywords)


def _matrix(tr: Translator, node: t.Matrix) -> ast.expr:
    """Rows of Julia's literal are columns of Python's: the array is written turned round."""
    cells = [tr.type(cell) for row in node.rows for cell in row]
    if not all(cell.scalar or cell.kind == "any" for cell in cells):
        if len(node.rows) == 1:
            return tr.joined_arrays(node.rows[0], 2, node)
        return tr.joined_exprs(
            [_row(tr, row, node) for row in node.rows], 1, [_row_type(tr, row) for row in node.rows]
        )
    if any(cell.kind == "any" for cell in cells):
        tr.check(node, "taken for a matrix of numbers")
    dtype = static_dtype(tr, node)
    keywords: list[tuple[Optional[str], ast.expr]] = []
    singles = [isinstance(c, t.Number) and c.single for row in node.rows for c in row]
    if (node.elem is not None and dtype) or (singles and all(singles)):
        keywords = [("dtype", const(dtype or "float32"))]
    if all(len(row) == 1 for row in node.rows):
        return call("np.array", [list_of([expr(tr, row[0]) for row in node.rows])], keywords)
    width = len(node.rows[0])
    if any(len(row) != width for row in node.rows):
        return tr.refuse(node, "rows of different lengths")
    columns = [list_of([expr(tr, row[place]) for row in node.rows]) for place in range(width)]
    return call("np.array", [list_of(columns)], keywords)


def _row(tr: Translator, row: list[t.Node], node: t.Matrix) -> ast.expr:
    """A row of blocks, or one of numbers beside such rows."""
    if all(tr.type(cell).scalar for cell in row):
        cells = [list_of([expr(tr, cell)]) for cell in row]
        return list_of(cells) if len(row) > 1 else cells[0]
    return tr.joined_arrays(row, 2, node) if len(row) > 1 else expr(tr, row[0])


def _row_type(tr: Translator, row: list[t.Node]) -> T:
    first = tr.type(row[0])
    return T("arr", 2 if len(row) > 1 else 1) if first.scalar else first


def _adjoint(tr: Translator, node: t.Adjoint) -> ast.expr:
    return tr.transposed(node.value)


def transposed(tr: Translator, node: t.Node) -> ast.expr:
    """A': of a vector a row, which is a column on this side."""
    kind = tr.type(node)
    value = expr(tr, node)
    if kind.scalar:
        return value
    if kind.kind == "list":
        return py("np.array(_0).reshape(-1, 1)", value)
    if kind.kind in ("nd", "arr") and kind.rank == 1:
        return py("_0.reshape((-1, 1))" if kind.kind == "nd" else "_0.reshape(-1, 1)", value)
    if kind.rank is None:
        tr.check(node, "the transpose of a vector is x.reshape((-1, 1))")
    return py("_0.T", value)


def _macro(tr: Translator, node: t.MacroCall) -> ast.expr:
    return tr.macro_value(node)


def _colon(tr: Translator, node: t.Colon) -> ast.expr:
    return py("slice(None)")


def _end(tr: Translator, node: t.End) -> ast.expr:
    return tr.end_here(node)


_EXPR: dict[type, Callable[[Any, Any], ast.expr]] = {
    t.Name: _name,
    t.Number: _number,
    t.Const: lambda tr, node: const(node.value),
    t.Str: _str,
    t.Char: lambda tr, node: const(node.value),
    t.Sym: lambda tr, node: const(node.id),
    t.Call: lambda tr, node: tr.call(node),
    t.Index: lambda tr, node: tr.part(node),
    t.End: _end,
    t.Colon: _colon,
    t.Field: _field,
    t.Binary: _binary,
    t.Unary: _unary,
    t.Compare: compared,
    t.Logic: _logic,
    t.Ternary: _ternary,
    t.Range: _range,
    t.TupleForm: _tuple,
    t.NamedTupleForm: _named_tuple,
    t.Vector: _vector,
    t.Matrix: _matrix,
    t.Comprehension: lambda tr, node: tr.comprehension(node),
    t.Lambda: lambda tr, node: tr.function_of(node),
    t.Splat: _splat,
    t.Adjoint: _adjoint,
    t.Typed: _typed,
    t.MacroCall: _macro,
    t.Curly: lambda tr, node: expr(tr, node.obj),
}
