"""Python code as trees of the standard library's `ast`: parentheses and quotes are right by construction."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import cache
from typing import Any, Optional, Union

Value = Union[ast.expr, str, int, float, bool, None]


def const(value: Any) -> ast.expr:
    """A literal; negative numbers as Python writes them."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
        return ast.UnaryOp(ast.USub(), ast.Constant(-value))
    return ast.Constant(value)


def name(text: str) -> ast.expr:
    """A name, or a dotted one."""
    first, *rest = text.split(".")
    made: ast.expr = ast.Name(first, ast.Load())
    for part in rest:
        made = ast.Attribute(made, part, ast.Load())
    return made


def attribute(obj: ast.expr, field: str) -> ast.expr:
    """obj.field."""
    return ast.Attribute(obj, field, ast.Load())


def call(
    fn: Union[str, ast.expr],
    args: Sequence[ast.expr] = (),
    keywords: Sequence[tuple[Optional[str], ast.expr]] = (),
) -> ast.Call:
    """fn(args, keyword=value); a keyword without a name is a splatted dictionary."""
    made = name(fn) if isinstance(fn, str) else fn
    return ast.Call(made, list(args), [ast.keyword(key, value) for key, value in keywords])


def method(obj: ast.expr, field: str, *args: ast.expr, **keywords: ast.expr) -> ast.Call:
    """obj.field(args)."""
    return ast.Call(attribute(obj, field), list(args), [ast.keyword(k, v) for k, v in keywords.items()])


_OPERATORS: dict[str, type[ast.operator]] = {
    "+": ast.Add,
    "-": ast.Sub,
    "*": ast.Mult,
    "/": ast.Div,
    "//": ast.FloorDiv,
    "%": ast.Mod,
    "**": ast.Pow,
    "@": ast.MatMult,
    "<<": ast.LShift,
    ">>": ast.RShift,
    "|": ast.BitOr,
    "&": ast.BitAnd,
    "^": ast.BitXor,
}
_COMPARISONS: dict[str, type[ast.cmpop]] = {
    "==": ast.Eq,
    "!=": ast.NotEq,
    "<": ast.Lt,
    "<=": ast.LtE,
    ">": ast.Gt,
    ">=": ast.GtE,
    "is": ast.Is,
    "is not": ast.IsNot,
    "in": ast.In,
    "not in": ast.NotIn,
}


def binary(left: ast.expr, op: str, right: ast.expr) -> ast.expr:
    """left op right."""
    return ast.BinOp(left, _OPERATORS[op](), right)


def update(target: ast.expr, op: str, value: ast.expr) -> ast.AugAssign:
    """target op= value."""
    assert isinstance(target, (ast.Name, ast.Attribute, ast.Subscript))
    return ast.AugAssign(target, _OPERATORS[op](), value)


def compare(left: ast.expr, *rest: Any) -> ast.expr:
    """left op right op right …: operators and operands in turn."""
    ops = [_COMPARISONS[op]() for op in rest[::2]]
    return ast.Compare(left, ops, list(rest[1::2]))


def negative(value: ast.expr) -> ast.expr:
    """-value, folded for literals."""
    number = integer(value)
    if number is not None:
        return const(-number)
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        return value.operand
    return ast.UnaryOp(ast.USub(), value)


def negated(value: ast.expr) -> ast.expr:
    """not value."""
    if isinstance(value, ast.Compare) and len(value.ops) == 1:
        opposite = {ast.Is: ast.IsNot, ast.In: ast.NotIn, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq}
        swapped = opposite.get(type(value.ops[0]))
        if swapped is not None and swapped not in (ast.Eq, ast.NotEq):
            return ast.Compare(value.left, [swapped()], value.comparators)
    return ast.UnaryOp(ast.Not(), value)


def integer(value: ast.expr) -> Optional[int]:
    """The value of a literal integer."""
    if isinstance(value, ast.Constant) and type(value.value) is int:
        return value.value
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.USub):
        inner = integer(value.operand)
        return None if inner is None else -inner
    return None


def shifted(value: ast.expr, by: int) -> ast.expr:
    """value + by, the constant merged into one that is there."""
    if by == 0:
        return value
    number = integer(value)
    if number is not None:
        return const(number + by)
    if isinstance(value, ast.BinOp) and isinstance(value.op, (ast.Add, ast.Sub)):
        left, right = integer(value.left), integer(value.right)
        if right is not None:
            total = (right if isinstance(value.op, ast.Add) else -right) + by
            if total == 0:
                return value.left
            return binary(value.left, "+" if total > 0 else "-", const(abs(total)))
        if left is not None and isinstance(value.op, ast.Add):
            total = left + by
            if total == 0:
                return value.right
            if total > 0:
                return binary(value.right, "+", const(total))
            return binary(value.right, "-", const(-total))
    return binary(value, "+" if by > 0 else "-", const(abs(by)))


def subscript(obj: ast.expr, indices: Sequence[ast.expr]) -> ast.expr:
    """obj[indices]."""
    inner = indices[0] if len(indices) == 1 else ast.Tuple(list(indices), ast.Load())
    return ast.Subscript(obj, inner, ast.Load())


def tuple_of(items: Sequence[ast.expr]) -> ast.Tuple:
    """(a, b)."""
    return ast.Tuple(list(items), ast.Load())


def list_of(items: Sequence[ast.expr]) -> ast.List:
    """[a, b]."""
    return ast.List(list(items), ast.Load())


@cache
def _parsed(template: str) -> ast.expr:
    return ast.parse(template, mode="eval").body


def py(template: str, *args: Value, **named: Value) -> ast.expr:
    """A template with its holes filled: `_0`, `_1` … are the arguments, `_all` all of them, others go by name.

    Examples:
        >>> text(py("np.log(_0) + _1", name("x"), 2))
        'np.log(x) + 2'
        >>> text(py("f(_all)", name("x"), name("y")))
        'f(x, y)'
    """
    holes = {f"_{number}": _value(arg) for number, arg in enumerate(args)}
    holes.update({key: _value(value) for key, value in named.items()})
    return _filled(_parsed(template), holes, [_value(arg) for arg in args])


def _value(value: Value) -> ast.expr:
    if isinstance(value, ast.expr):
        return value
    return name(value) if isinstance(value, str) else const(value)


def _filled(node: Any, holes: dict[str, ast.expr], everything: list[ast.expr]) -> Any:
    if isinstance(node, ast.Name):
        return holes.get(node.id, node)
    if isinstance(node, ast.AST):
        made = {key: _filled(value, holes, everything) for key, value in ast.iter_fields(node)}
        return type(node)(**made)
    if isinstance(node, list):
        filled: list[Any] = []
        for item in node:
            if isinstance(item, ast.Name) and item.id == "_all":
                filled.extend(everything)
            else:
                filled.append(_filled(item, holes, everything))
        return filled
    return node


def text(value: ast.AST) -> str:
    """The source of an expression or a statement."""
    try:
        return ast.unparse(value)
    except ValueError:  # before 3.12 an f-string cannot hold every expression: it becomes a call of format
        return ast.unparse(_WithoutFStrings().visit(value))


class _WithoutFStrings(ast.NodeTransformer):
    """f"{x:.2f} y" as "{:.2f} y".format(x)."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        self.generic_visit(node)
        pattern, values = "", []
        for part in node.values:
            if isinstance(part, ast.Constant):
                pattern += str(part.value).replace("{", "{{").replace("}", "}}")
            elif isinstance(part, ast.FormattedValue):
                spec = part.format_spec
                shown = ""
                if isinstance(spec, ast.JoinedStr) and isinstance(spec.values[0], ast.Constant):
                    shown = f":{spec.values[0].value!s}"
                pattern += f"{{{shown}}}"
                values.append(part.value)
        return call(attribute(const(pattern), "format"), values)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.FormattedValue:
        node.value = self.visit(node.value)
        return node


def formatted(parts: Sequence[Any]) -> ast.expr:
    """A string of pieces: text, expressions, or (expression, format)."""
    values: list[ast.expr] = []
    for part in parts:
        if isinstance(part, str):
            if values and isinstance(values[-1], ast.Constant):
                values[-1] = ast.Constant(str(values[-1].value) + part)
            elif part:
                values.append(ast.Constant(part))
            continue
        value, spec = part if isinstance(part, tuple) else (part, "")
        if isinstance(value, ast.Constant) and isinstance(value.value, str) and not spec:
            if values and isinstance(values[-1], ast.Constant):
                values[-1] = ast.Constant(str(values[-1].value) + value.value)
            else:
                values.append(ast.Constant(value.value))
            continue
        shown = ast.JoinedStr([ast.Constant(spec)]) if spec else None
        values.append(ast.FormattedValue(value, -1, shown))
    if all(isinstance(value, ast.Constant) for value in values):
        return ast.Constant("".join(str(v.value) for v in values if isinstance(v, ast.Constant)))
    return ast.JoinedStr(values)
