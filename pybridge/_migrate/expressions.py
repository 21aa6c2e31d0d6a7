"""Expressions: names, literals, operators. Calls, indices and strings are rooms of their own."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .base_math import ELEMENTWISE, quotient, remainder
from .code import (
    binary,
    call,
    compare,
    const,
    integer,
    list_of,
    method,
    name,
    negated,
    negative,
    py,
    shifted,
    subscript,
    tuple_of,
)
from .mx_arrays import static_dtype
from .types import T

if TYPE_CHECKING:
    from .translator import Translator

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


def _complex_or_product(tr: Translator, node: t.Binary) -> Optional[ast.expr]:
    unit = isinstance(node.right, t.Name) and node.right.id == "im" and node.right.var is None
    return ast.Constant(complex(0, node.left.value)) if unit and isinstance(node.left, t.Number) else None


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
    from .rules import is_mx

    if is_mx(node.obj):
        known = {"MX_float": "np.float32", "NDArray": "mx.nd.NDArray", "SymbolicNode": "mx.sym.Symbol"}
        if node.name in known:
            return name(known[node.name])
        if tr.typer.rule(t.Call(node.at, node, [])) is not None:
            return tr.function_value(node)
        tr.unknown(node, f"mx.{node.name}")
        return name(f"mx.{tr.names.of(node.name)}")
    kind = tr.type(node.obj)
    if kind.kind in ("pair",) and node.name in ("first", "second"):
        return subscript(expr(tr, node.obj), [const(0 if node.name == "first" else 1)])
    if kind.kind == "exception" and node.name == "msg":
        return call("str", [expr(tr, node.obj)])
    if isinstance(node.obj, t.Name) and node.obj.id in tr.modules and node.obj.var is None:
        return name(tr.names.of(node.name))
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


def operation(tr: Translator, op: str, left: t.Node, right: t.Node, node: t.Node) -> ast.expr:
    """left op right, for an operator of Julia's."""
    dotted = getattr(node, "dotted", False) or tr.is_elementwise(node)
    if op == "=>":
        return tuple_of([expr(tr, left), expr(tr, right)])
    if op == "÷":
        return quotient(tr, left, right, dotted)
    if op == "%":
        return remainder(tr, left, right, dotted)
    if op == "//":
        return call("fractions.Fraction", [expr(tr, left), expr(tr, right)])
    if op in ("⋅", "∪", "∩"):
        word = {"⋅": "dot", "∪": "union", "∩": "intersect"}[op]
        return expr(tr, t.Call(node.at, t.Name(node.at, word), [left, right]))
    a, b = tr.type(left), tr.type(right)
    if op == "*" and not dotted:
        return _product(tr, left, right, a, b, node)
    if op == "^":
        return _power(tr, left, right, a, b, dotted, node)
    if op == "/" and not dotted and a.arraylike and b.arraylike and "numeric" not in (a.kind, b.kind):
        return tr.refuse(node, "the quotient of two matrices: np.linalg.solve")
    if op == "\\":
        if dotted:
            return binary(tr.array(right), "/", tr.array(left))
        x, y = expr(tr, left), expr(tr, right)
        if b.rank == 1:
            return call("np.linalg.solve", [py("_0.T", x), y])
        if b.rank == 2:
            return py("np.linalg.solve(_0.T, _1.T).T", x, y)
        return tr.refuse(node, "the solution of a system whose right side may be a matrix: np.linalg.solve")
    if "char" in (a.kind, b.kind) and op in ("+", "-"):
        return _characters(tr, op, left, right, a, b)
    python = {"⊻": "^", "++": "+", ">>>": ">>"}.get(op, op)
    if python not in ("+", "-", "*", "/", "&", "|", "^", "<<", ">>"):
        return tr.refuse(node, f"the operator {op}")
    wants = dotted or a.arraylike or b.arraylike or "range" in (a.kind, b.kind)
    x, y = (tr.array(left), tr.array(right)) if wants else (expr(tr, left), expr(tr, right))
    if "nd" in (a.kind, b.kind) and "arr" in (a.kind, b.kind):
        tr.check(node, "an NDArray meets a NumPy array", "type")
    return binary(x, python, y)


def _product(tr: Translator, left: t.Node, right: t.Node, a: T, b: T, node: t.Node) -> ast.expr:
    special = _complex_or_product(tr, node) if isinstance(node, t.Binary) else None
    if special is not None:
        return special
    if a.kind in ("str", "char") and b.kind in ("str", "char"):
        return tr.concatenated_strings(left, right)
    if a.kind in ("str", "char") or b.kind in ("str", "char"):
        return tr.concatenated_strings(left, right)
    if a.scalar or b.scalar:
        wants = "range" in (a.kind, b.kind) or "list" in (a.kind, b.kind)
        x, y = (tr.array(left), tr.array(right)) if wants else (expr(tr, left), expr(tr, right))
        return binary(x, "*", y)
    if a.kind == "numeric" or b.kind == "numeric":
        return binary(expr(tr, left), "*", expr(tr, right))
    if "symbolic" in (a.kind, b.kind):
        return binary(expr(tr, left), "*", expr(tr, right))
    if "nd" in (a.kind, b.kind) and {a.kind, b.kind} <= {"nd", "arr"}:
        return call("mx.nd.dot", [expr(tr, right), expr(tr, left)])
    if a.kind in ("arr", "list") and b.kind in ("arr", "list"):
        if isinstance(right, t.Adjoint) and tr.type(right.value).rank == 1:
            return call("np.outer", [tr.array(right.value), tr.array(left)])
        if isinstance(left, t.Adjoint) and tr.type(left.value).rank == 1:
            return binary(tr.array(right), "@", tr.array(left.value))
        return binary(tr.array(right), "@", tr.array(left))
    x, y = expr(tr, left), expr(tr, right)
    what = (
        f"mx.nd.dot({ast.unparse(y)}, {ast.unparse(x)})"
        if tr.uses_mx
        else f"{ast.unparse(y)} @ {ast.unparse(x)}"
    )
    tr.check(node, f"* of two matrices is {what}")
    return binary(x, "*", y)


def _power(tr: Translator, left: t.Node, right: t.Node, a: T, b: T, dotted: bool, node: t.Node) -> ast.expr:
    if a.kind in ("str", "char") and not dotted:
        return binary(expr(tr, left), "*", expr(tr, right))
    if a.kind in ("arr",) and not dotted and a.rank != 1:
        return call("np.linalg.matrix_power", [expr(tr, left), expr(tr, right)])
    if a.kind == "nd" and not dotted:
        return tr.refuse(node, "the power of a matrix")
    x, y = (tr.array(left), tr.array(right)) if dotted else (expr(tr, left), expr(tr, right))
    if isinstance(left, t.Name) and left.var is None and left.id in ("ℯ", "e") and b.kind == "nd":
        return call("mx.nd.exp", [y])
    if a.kind == "arr" and a.elem is not None and a.elem.kind == "int" and (integer(y) or 0) < 0:
        x = method(x, "astype", py("float"))
    return binary(x, "**", y)


def _characters(tr: Translator, op: str, left: t.Node, right: t.Node, a: T, b: T) -> ast.expr:
    x = call("ord", [expr(tr, left)]) if a.kind == "char" else expr(tr, left)
    y = call("ord", [expr(tr, right)]) if b.kind == "char" else expr(tr, right)
    made = binary(x, op, y)
    return made if a.kind == b.kind else call("chr", [made])


_PYTHON_COMPARISONS = {"≤": "<=", "≥": ">=", "≠": "!=", "∈": "in", "∉": "not in", "in": "in"}


def _compare(tr: Translator, node: t.Compare) -> ast.expr:
    plain = all(_PYTHON_COMPARISONS.get(op, op) in ("==", "!=", "<", "<=", ">", ">=") for op in node.ops)
    kinds = [tr.type(item) for item in node.items]
    if plain and not any(k.kind in ("arr", "nd") for k in kinds):
        rest: list[Any] = []
        for op, item in zip(node.ops, node.items[1:]):
            rest += [_identity(_PYTHON_COMPARISONS.get(op, op), item), expr(tr, item)]
        return compare(expr(tr, node.items[0]), *rest)
    tests = [
        _comparison(tr, op, left, right, node)
        for op, left, right in zip(node.ops, node.items, node.items[1:])
    ]
    if len(tests) == 1:
        return tests[0]
    if any(op.startswith(".") for op in node.ops):
        made = tests[0]
        for test in tests[1:]:
            made = binary(made, "&", test)
        return made
    return ast.BoolOp(ast.And(), tests)


def _identity(op: str, right: t.Node) -> str:
    if isinstance(right, t.Const) and right.value is None and op in ("==", "!="):
        return "is" if op == "==" else "is not"
    return op


def _comparison(tr: Translator, op: str, left: t.Node, right: t.Node, node: t.Node) -> ast.expr:
    a, b = tr.type(left), tr.type(right)
    if op.startswith(".") and len(op) > 1:
        python = _PYTHON_COMPARISONS.get(op[1:], op[1:])
        if python in ("in", "not in"):
            return call(
                "np.isin",
                [tr.array(left), tr.array(right)],
                [("invert", const(True))] if python == "not in" else [],
            )
        if python in ("===", "≡"):
            python = "=="
        if python in ("≈",):
            return call("np.isclose", [tr.array(left), tr.array(right)])
        return compare(tr.array(left), python, tr.array(right))
    python = _PYTHON_COMPARISONS.get(op, op)
    if op in ("===", "≡", "!==", "≢"):
        same = op in ("===", "≡")
        none = isinstance(right, t.Const) or isinstance(left, t.Const)
        simple = a.kind in ("sym", "str", "int", "float", "num", "char", "bool") or isinstance(
            right, (t.Sym, t.Number)
        )
        if simple and not none:
            return compare(expr(tr, left), "==" if same else "!=", expr(tr, right))
        return compare(expr(tr, left), "is" if same else "is not", expr(tr, right))
    if op in ("≈", "≉"):
        made = approximately(tr, left, right, {})
        return made if op == "≈" else negated(made)
    if op == "isa":
        return tr.instance_of(left, right, node)
    if op == "<:":
        return call("issubclass", [expr(tr, left), expr(tr, right)])
    if op in ("⊆", "⊈", "⊊"):
        made = py("set(_0) <= set(_1)" if op != "⊊" else "set(_0) < set(_1)", expr(tr, left), expr(tr, right))
        return negated(made) if op == "⊈" else made
    if op == "∋":
        return compare(expr(tr, right), "in", expr(tr, left))
    if python in ("==", "!=") and (a.kind in ("arr", "nd") and b.kind in ("arr", "nd")):
        x, y = (
            method(expr(tr, side), "asnumpy") if kind.kind == "nd" else expr(tr, side)
            for side, kind in ((left, a), (right, b))
        )
        made = call("np.array_equal", [x, y])
        return made if python == "==" else negated(made)
    if python in ("==", "!=", "<", "<=", ">", ">=", "in", "not in"):
        return compare(expr(tr, left), _identity(python, right), expr(tr, right))
    return tr.refuse(node, f"the comparison {op}")


def approximately(tr: Translator, left: t.Node, right: t.Node, given: dict[str, t.Node]) -> ast.expr:
    """≈: relative to the square root of the machine's precision, as in Julia."""
    a, b = tr.type(left), tr.type(right)
    x, y = (
        method(expr(tr, side), "asnumpy") if kind.kind == "nd" else expr(tr, side)
        for side, kind in ((left, a), (right, b))
    )
    if a.scalar and b.scalar:
        keywords: list[tuple[Optional[str], ast.expr]] = [
            (
                "rel_tol",
                expr(tr, given["rtol"]) if "rtol" in given else const(0.0 if "atol" in given else 1.5e-8),
            )
        ]
        if "atol" in given:
            keywords.append(("abs_tol", expr(tr, given["atol"])))
        return call("math.isclose", [x, y], keywords)
    options: list[tuple[Optional[str], ast.expr]] = [
        (key, expr(tr, value)) for key, value in given.items() if key in ("rtol", "atol")
    ]
    return call("np.allclose", [x, y], options)


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
        rows = [tr.joined_arrays(row, 2, node) if len(row) > 1 else expr(tr, row[0]) for row in node.rows]
        return tr.joined_exprs(rows, 1, [tr.type(row[0]) for row in node.rows]) if len(rows) > 1 else rows[0]
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
    t.Index: lambda tr, node: tr.element(node.obj, node.args),
    t.End: _end,
    t.Colon: _colon,
    t.Field: _field,
    t.Binary: _binary,
    t.Unary: _unary,
    t.Compare: _compare,
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
__all__ = ["CONSTANTS", "ELEMENTWISE", "approximately", "expr", "operation", "transposed"]
