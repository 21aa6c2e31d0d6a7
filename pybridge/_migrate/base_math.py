"""Julia's mathematics: elementwise functions, rounding, integer division."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from . import tree as t
from .code import binary, call, const, method, negative, py, shifted
from .rules import Rule
from .types import ANY, BOOL, FLOAT, INT, NAT, NUM, NUMERIC, T, arr, join, tuple_of

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator

# Elementwise functions: for single numbers, for NumPy's arrays, for NDArrays ("" where MXNet has none).
ELEMENTWISE = {
    "exp": ("math.exp", "np.exp", "mx.nd.exp"),
    "expm1": ("math.expm1", "np.expm1", "mx.nd.expm1"),
    "log": ("math.log", "np.log", "mx.nd.log"),
    "log2": ("math.log2", "np.log2", "mx.nd.log2"),
    "log10": ("math.log10", "np.log10", "mx.nd.log10"),
    "log1p": ("math.log1p", "np.log1p", "mx.nd.log1p"),
    "sqrt": ("math.sqrt", "np.sqrt", "mx.nd.sqrt"),
    "cbrt": ("np.cbrt", "np.cbrt", "mx.nd.cbrt"),
    "sin": ("math.sin", "np.sin", "mx.nd.sin"),
    "cos": ("math.cos", "np.cos", "mx.nd.cos"),
    "tan": ("math.tan", "np.tan", "mx.nd.tan"),
    "asin": ("math.asin", "np.arcsin", "mx.nd.arcsin"),
    "acos": ("math.acos", "np.arccos", "mx.nd.arccos"),
    "atan": ("math.atan", "np.arctan", "mx.nd.arctan"),
    "sinh": ("math.sinh", "np.sinh", "mx.nd.sinh"),
    "cosh": ("math.cosh", "np.cosh", "mx.nd.cosh"),
    "tanh": ("math.tanh", "np.tanh", "mx.nd.tanh"),
    "asinh": ("math.asinh", "np.arcsinh", "mx.nd.arcsinh"),
    "acosh": ("math.acosh", "np.arccosh", "mx.nd.arccosh"),
    "atanh": ("math.atanh", "np.arctanh", "mx.nd.arctanh"),
    "arcsin": ("math.asin", "np.arcsin", "mx.nd.arcsin"),
    "arccos": ("math.acos", "np.arccos", "mx.nd.arccos"),
    "arctan": ("math.atan", "np.arctan", "mx.nd.arctan"),
    "abs": ("abs", "np.abs", "mx.nd.abs"),
    "abs2": ("np.square", "np.square", "mx.nd.square"),
    "sign": ("np.sign", "np.sign", "mx.nd.sign"),
    "gamma": ("math.gamma", "", "mx.nd.gamma"),
    "lgamma": ("math.lgamma", "", "mx.nd.gammaln"),
    "erf": ("math.erf", "", "mx.nd.erf"),
    "isnan": ("math.isnan", "np.isnan", "mx.nd.contrib.isnan"),
    "isinf": ("math.isinf", "np.isinf", "mx.nd.contrib.isinf"),
    "isfinite": ("math.isfinite", "np.isfinite", "mx.nd.contrib.isfinite"),
    "floor": ("math.floor", "np.floor", "mx.nd.floor"),
    "ceil": ("math.ceil", "np.ceil", "mx.nd.ceil"),
    "trunc": ("math.trunc", "np.trunc", "mx.nd.trunc"),
    "deg2rad": ("math.radians", "np.radians", "mx.nd.radians"),
    "rad2deg": ("math.degrees", "np.degrees", "mx.nd.degrees"),
    "sinpi": ("", "", ""),
}
_TRUTHS = ("isnan", "isinf", "isfinite")
_KEEPS_INTEGERS = ("abs", "abs2", "sign")


def elementwise(tr: Translator, node: t.Call) -> ast.expr:
    """exp(x), exp.(x): the library follows the type."""
    name = node.fn.id if isinstance(node.fn, t.Name) else node.fn.name if isinstance(node.fn, t.Field) else ""
    single, numpy, ndarray = ELEMENTWISE[name]
    if len(node.args) != 1 or node.keywords:
        return tr.refuse(node, f"{name} with {len(node.args)} arguments")
    kind = tr.type(node.args[0])
    value = tr.array(node.args[0])
    if kind.kind == "nd":
        if not ndarray:
            return tr.refuse(node, f"MXNet has no {name} for NDArrays")
        return call(ndarray, [value])
    if kind.scalar:
        if name == "abs2":
            return binary(value, "**", const(2))
        if not single:
            return tr.refuse(node, f"{name} has no counterpart")
        return call(single, [value])
    if kind.kind == "any":
        known = "broadcast" if node.dotted else "called"
        tr.check(node, f"{name} is {known} here: mx.nd if its argument is an NDArray", "type")
    if not numpy:
        return tr.refuse(node, f"NumPy has no {name}")
    return call(numpy, [value])


def elementwise_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    """The type of an elementwise function's result."""
    name = node.fn.id if isinstance(node.fn, t.Name) else node.fn.name if isinstance(node.fn, t.Field) else ""
    if not args:
        return ANY
    if args[0].scalar:
        if name in _TRUTHS:
            return BOOL
        if name in _KEEPS_INTEGERS:
            return T("int", nonneg=name != "sign") if args[0].kind == "int" else args[0]
        return FLOAT
    if args[0].kind in ("list", "range"):
        return arr(1, FLOAT)
    return args[0]


def _rounded(tr: Translator, node: t.Call) -> ast.expr:
    """floor, ceil, round, trunc, each with or without an integer type first."""
    name = node.fn.id if isinstance(node.fn, t.Name) else node.fn.name  # type: ignore[attr-defined]
    whole = _integer_type(node)
    rest = node.args[1:] if whole else node.args
    if len(rest) != 1:
        return tr.refuse(node, f"{name} with {len(node.args)} arguments")
    kind = tr.type(rest[0])
    value = tr.array(rest[0])
    digits = {key: v for key, v in node.keywords if key}.get("digits")
    if kind.kind == "nd":
        made = call(f"mx.nd.{'rint' if name == 'round' else name}", [value])
        return method(made, "astype", const("int64")) if whole else made
    if kind.scalar or (kind.kind == "any" and not node.dotted):
        if digits is not None:
            if name != "round":
                return tr.refuse(node, f"{name} to digits")
            return call("round", [value, tr.expr(digits)])
        if kind.kind == "int":
            return value
        made = call("round", [value]) if name == "round" else call(f"math.{name}", [value])
        return made if whole else call("float", [made])
    numpy = "np.rint" if name == "round" else f"np.{name}"
    if digits is not None:
        return call("np.round", [value, tr.expr(digits)])
    made = call(numpy, [value])
    return method(made, "astype", py("int")) if whole else made


def _integer_type(node: t.Call) -> bool:
    first = node.args[0] if node.args else None
    return len(node.args) > 1 and isinstance(first, t.Name) and first.id in (
        "Int", "Int64", "Int32", "Integer", "UInt8", "Int8", "UInt", "UInt32", "UInt64", "Int16",
    )  # fmt: skip


def _rounded_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    whole = _integer_type(node)
    value = args[-1] if args else ANY
    if value.scalar or value.kind == "any":
        return T("int", nonneg=value.nonneg) if whole or value.kind == "int" else FLOAT
    if value.kind == "nd":
        return value
    return arr(value.rank, INT if whole else FLOAT)


def quotient(tr: Translator, left: t.Node, right: t.Node, dotted: bool = False) -> ast.expr:
    """÷ rounds towards zero, // down: the same where neither is negative."""
    a, b = tr.type(left), tr.type(right)
    x, y = tr.array(left) if dotted else tr.expr(left), tr.array(right) if dotted else tr.expr(right)
    if a.nonneg and b.nonneg:
        return binary(x, "//", y)
    if a.kind == "nd" or b.kind == "nd":
        return call("mx.nd.trunc", [binary(x, "/", y)])
    if (a.arraylike or b.arraylike) or dotted:
        made = call("np.trunc", [binary(x, "/", y)])
        whole = all((k.elem or k).kind == "int" for k in (a, b))
        return method(made, "astype", py("int")) if whole else made
    if "float" in (a.kind, b.kind):
        return call("float", [call("math.trunc", [binary(x, "/", y)])])
    return call("int", [binary(x, "/", y)])


def remainder(tr: Translator, left: t.Node, right: t.Node, dotted: bool = False) -> ast.expr:
    """% has the sign of the dividend in Julia, of the divisor in Python."""
    a, b = tr.type(left), tr.type(right)
    x, y = tr.array(left) if dotted else tr.expr(left), tr.array(right) if dotted else tr.expr(right)
    if (a.nonneg and b.nonneg) or a.kind == "nd" or b.kind == "nd":
        return binary(x, "%", y)
    if {a.kind, b.kind} <= {"int", "float"} and "float" in (a.kind, b.kind):
        return call("math.fmod", [x, y])
    if a.kind == b.kind == "int" and not dotted:
        return call("int", [call("math.fmod", [x, y])])
    return call("np.fmod", [x, y])


def _two(node: t.Call) -> tuple[t.Node, t.Node]:
    return node.args[0], node.args[1]


def _minmax(tr: Translator, node: t.Call) -> ast.expr:
    """min and max of numbers; of arrays elementwise."""
    name = node.fn.id if isinstance(node.fn, t.Name) else node.fn.name  # type: ignore[attr-defined]
    kinds = [tr.type(arg) for arg in node.args]
    if any(kind.kind == "nd" for kind in kinds):
        return call(f"mx.nd.{name}imum", [tr.expr(arg) for arg in node.args])
    if node.dotted or any(kind.arraylike for kind in kinds):
        if any(kind.kind == "any" for kind in kinds):
            tr.check(node, f"{name} is broadcast here: mx.nd.{name}imum if an argument is an NDArray", "type")
        values = [tr.array(arg) for arg in node.args]
        made = values[0]
        for value in values[1:]:
            made = call(f"np.{name}imum", [made, value])
        return made
    return call(name, [tr.expr(arg) for arg in node.args])


def joined(typer: Typer, node: t.Call, args: list[T]) -> T:
    """The type of elementwise operations on all arguments."""
    from .arithmetic import arithmetic

    made = args[0] if args else ANY
    for each in args[1:]:
        made = (join(made, each) or ANY) if made.scalar and each.scalar else arithmetic("+", made, each, True)
    return made


def _clamp(tr: Translator, node: t.Call) -> ast.expr:
    kind = tr.type(node.args[0])
    x, low, high = (tr.expr(arg) for arg in node.args[:3])
    if kind.kind == "nd":
        return method(x, "clip", low, high)
    if kind.scalar or (kind.kind == "any" and not node.dotted):
        return py("min(max(_0, _1), _2)", x, low, high)
    return call("np.clip", [tr.array(node.args[0]), low, high])


def _divrem(tr: Translator, node: t.Call) -> ast.expr:
    left, right = _two(node)
    if tr.type(left).nonneg and tr.type(right).nonneg:
        return call("divmod", [tr.expr(left), tr.expr(right)])
    return ast.Tuple([quotient(tr, left, right), remainder(tr, left, right)], ast.Load())


def _atan(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) == 2:
        scalar = all(tr.type(arg).scalar for arg in node.args)
        return call("math.atan2" if scalar else "np.arctan2", [tr.array(arg) for arg in node.args])
    return elementwise(tr, node)


def _log(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) == 2:
        return call("math.log", [tr.expr(node.args[1]), tr.expr(node.args[0])])
    return elementwise(tr, node)


def _mod1(tr: Translator, node: t.Call) -> ast.expr:
    x, y = (tr.expr(arg) for arg in _two(node))
    return shifted(binary(shifted(x, -1), "%", y), 1)


def _number(target: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        return tr.converted(node, target)

    return emit


def _sigmoid_like(tr: Translator, node: t.Call) -> ast.expr:
    return py("1 / (1 + np.exp(-_0))", tr.expr(node.args[0]))


def _zero_one(value: int) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        kind = tr.type(node.args[0])
        if kind.kind == "nd":
            return call("mx.nd.zeros_like" if value == 0 else "mx.nd.ones_like", [tr.expr(node.args[0])])
        if kind.kind == "arr":
            return call("np.zeros_like" if value == 0 else "np.ones_like", [tr.expr(node.args[0])])
        floats = kind.kind == "float" or (isinstance(node.args[0], t.Name) and "Float" in node.args[0].id)
        return const(float(value) if floats else value)

    return emit


def _nat_if(typer: Typer, node: t.Call, args: list[T]) -> T:
    """mod: not negative when the divisor is not; elementwise on arrays."""
    if all(arg.kind == "int" for arg in args):
        return T("int", nonneg=args[-1].nonneg)
    return joined(typer, node, args)


def _as(elem: T) -> Any:
    def said(typer: Typer, node: t.Call, args: list[T]) -> T:
        kind = args[0] if args else ANY
        if kind.kind == "nd":
            return kind
        if kind.kind in ("arr", "list", "range"):
            return arr(kind.rank, elem)
        return NUMERIC if kind.kind == "numeric" else elem

    return said


_whole, _floating = _as(INT), _as(FLOAT)
RULES: dict[str, Rule] = {
    name: Rule(elementwise, elementwise_type, f"{single} / {numpy} / {ndarray}".replace(" / ", ", "))
    for name, (single, numpy, ndarray) in ELEMENTWISE.items()
}
RULES |= {
    **{name: Rule(_rounded, _rounded_type, f"math.{name}, np.{name}") for name in ("floor", "ceil", "trunc")},
    "round": Rule(_rounded, _rounded_type, "round, np.rint, mx.nd.rint"),
    "log": Rule(_log, elementwise_type, "math.log, np.log, mx.nd.log"),
    "atan": Rule(_atan, elementwise_type, "math.atan, np.arctan, mx.nd.arctan"),
    "min": Rule(_minmax, joined, "min, np.minimum, mx.nd.minimum"),
    "max": Rule(_minmax, joined, "max, np.maximum, mx.nd.maximum"),
    "clamp": Rule(_clamp, lambda typer, node, args: args[0] if args else ANY, "np.clip, x.clip"),
    "div": Rule(lambda tr, n: quotient(tr, *_two(n), n.dotted), joined, "a // b where neither is negative"),
    "rem": Rule(lambda tr, n: remainder(tr, *_two(n), n.dotted), joined, "a % b where neither is negative"),
    "mod": Rule("_0 % _1", _nat_if),
    "mod1": Rule(_mod1, INT, "(a - 1) % b + 1"),
    "fld": Rule("_0 // _1", joined),
    "cld": Rule("-(-_0 // _1)", joined),
    "fld1": Rule("(_0 - 1) // _1 + 1", INT),
    "divrem": Rule(_divrem, lambda typer, node, args: tuple_of(*args), "divmod where neither is negative"),
    "fldmod": Rule("divmod(_0, _1)", lambda typer, node, args: tuple_of(*args)),
    "gcd": Rule("math.gcd(_all)", NAT),
    "lcm": Rule("math.lcm(_all)", NAT),
    "factorial": Rule("math.factorial(_0)", NAT),
    "binomial": Rule("math.comb(_0, _1)", NAT),
    "hypot": Rule("np.hypot(_0, _1)", joined),
    "isqrt": Rule("math.isqrt(_0)", NAT),
    "powermod": Rule("pow(_0, _1, _2)", NAT),
    "iseven": Rule("_0 % 2 == 0", BOOL),
    "isodd": Rule("_0 % 2 == 1", BOOL),
    "iszero": Rule("_0 == 0", BOOL),
    "isone": Rule("_0 == 1", BOOL),
    "isinteger": Rule("_0 % 1 == 0", BOOL),
    "xor": Rule("_0 ^ _1", joined),
    "zero": Rule(
        _zero_one(0), lambda typer, n, args: args[0] if args[0].kind != "any" else NUM, "0, zeros_like"
    ),
    "one": Rule(
        _zero_one(1), lambda typer, n, args: args[0] if args[0].kind != "any" else NUM, "1, ones_like"
    ),
    "Int": Rule(_number("int"), _whole, "int, x.astype"),
    "Int64": Rule(_number("int"), _whole, "int, x.astype"),
    "Int32": Rule(_number("int"), _whole, "int, x.astype"),
    "Integer": Rule(_number("int"), INT, "int"),
    "Float64": Rule(_number("float"), _floating, "float, x.astype"),
    "Float32": Rule(_number("float32"), _floating, "np.float32, x.astype"),
    "Float16": Rule(_number("float16"), _floating, "np.float16, x.astype"),
    "float": Rule(_number("float"), _floating, "float, x.astype"),
    "Bool": Rule("bool(_0)", BOOL),
    "big": Rule("_0", lambda typer, node, args: args[0]),
    "complex": Rule("complex(_all)", T("complex")),
    "real": Rule("np.real(_0)", lambda typer, node, args: FLOAT if args[0].kind == "complex" else args[0]),
    "imag": Rule("np.imag(_0)", FLOAT),
    "conj": Rule("np.conj(_0)", lambda typer, node, args: args[0]),
    "numerator": Rule("_0.numerator", INT),
    "denominator": Rule("_0.denominator", INT),
    "identity": Rule("_0", lambda typer, node, args: args[0]),
    "bitstring": Rule("format(_0 & 0xFFFFFFFFFFFFFFFF, '064b')", T("str")),
    "muladd": Rule("_0 * _1 + _2", joined),
    "fma": Rule("_0 * _1 + _2", joined),
}
del RULES["sinpi"]
__all__ = ["ELEMENTWISE", "RULES", "elementwise", "joined", "negative", "quotient", "remainder"]
