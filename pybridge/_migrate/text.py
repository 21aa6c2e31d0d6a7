"""Strings, interpolation, printing and printf."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import attribute, binary, call, const, formatted, method

if TYPE_CHECKING:
    from .translator import Translator


def string(tr: Translator, node: t.Str) -> ast.expr:
    """A string literal; with interpolations an f-string."""
    if node.prefix == "r":
        return call("re.compile", [const("".join(str(part) for part in node.parts))])
    if node.prefix not in ("", "raw"):
        return tr.refuse(node, f'a string of the kind {node.prefix}"…"')
    return formatted([part if isinstance(part, str) else tr.expr(part) for part in node.parts])


def concatenated_strings(tr: Translator, left: t.Node, right: t.Node) -> ast.expr:
    """a * b of strings; literals melt into one."""
    x, y = tr.expr(left), tr.expr(right)
    if any(isinstance(side, ast.JoinedStr) for side in (x, y)) and all(
        isinstance(side, (ast.JoinedStr, ast.Constant)) for side in (x, y)
    ):
        pieces: list[Any] = []
        for side in (x, y):
            pieces.extend(_pieces(side))
        return formatted(pieces)
    return binary(x, "+", y)


def _pieces(side: ast.expr) -> list[Any]:
    if isinstance(side, ast.Constant):
        return [str(side.value)]
    made: list[Any] = []
    for value in side.values if isinstance(side, ast.JoinedStr) else []:
        if isinstance(value, ast.Constant):
            made.append(str(value.value))
        elif isinstance(value, ast.FormattedValue):
            spec = value.format_spec
            text = ""
            if isinstance(spec, ast.JoinedStr) and isinstance(spec.values[0], ast.Constant):
                text = str(spec.values[0].value)
            made.append((value.value, text) if text else value.value)
    return made


def _stream(tr: Translator, args: list[t.Node]) -> tuple[Optional[ast.expr], list[t.Node]]:
    """The stream that a print begins with, if any."""
    first = args[0] if args else None
    if isinstance(first, t.Name):
        if first.var is None and first.id in ("stderr", "STDERR", "stdout", "STDOUT"):
            wanted = None if first.id.lower() == "stdout" else tr.expr(first)
            return wanted, args[1:]
        if tr.type(first).kind == "file" or (
            first.id in ("io", "f") and len(args) > 1 and tr.type(first).kind == "any"
        ):
            return tr.expr(first), args[1:]
    return None, args


def printed(tr: Translator, args: list[t.Node], end: str) -> ast.expr:
    """println and print: pieces without anything between them."""
    stream, rest = _stream(tr, list(args))
    keywords: list[tuple[Optional[str], ast.expr]] = []
    if not rest:
        values: list[ast.expr] = []
    elif any(isinstance(arg, t.Splat) for arg in rest):
        values = [tr.expr(arg) for arg in rest]
        keywords.append(("sep", const("")))
    elif len(rest) == 1:
        values = [tr.expr(rest[0])]
    elif any(isinstance(arg, t.Str) for arg in rest):
        pieces: list[Any] = []
        for arg in rest:
            made = tr.expr(arg)
            pieces.extend(_pieces(made) if isinstance(made, (ast.JoinedStr, ast.Constant)) else [made])
        values = [formatted(pieces)]
    else:
        values = [tr.expr(arg) for arg in rest]
        keywords.append(("sep", const("")))
    if not end:
        end_text = _without_newline(values)
        if not end_text:
            keywords.append(("end", const("")))
    if stream is not None:
        keywords.append(("file", stream))
    return call("print", values, keywords)


def _without_newline(values: list[ast.expr]) -> bool:
    """Take a line break off the end of what is printed; whether there was one."""
    last = values[-1] if values else None
    piece = last.values[-1] if isinstance(last, ast.JoinedStr) and last.values else last
    if isinstance(piece, ast.Constant) and isinstance(piece.value, str) and piece.value.endswith("\n"):
        shorter = ast.Constant(piece.value[:-1])
        if isinstance(last, ast.JoinedStr):
            kept = last.values[:-1] + ([shorter] if shorter.value else [])
            values[-1] = ast.JoinedStr(kept)
        else:
            values[-1] = shorter
        return True
    return False


_SPEC = re.compile(
    r"%(?P<flags>[-+ 0#]*)(?P<width>\d*)(?:\.(?P<precision>\d*))?(?:hh|h|ll|l|L)?(?P<kind>[diouxXeEfFgGaAcs%])"
)


def format_pieces(tr: Translator, pattern: str, args: list[t.Node], node: t.Node) -> list[Any]:
    """printf's directions as the pieces of an f-string."""
    pieces: list[Any] = []
    place = 0
    waiting = list(args)
    for found in _SPEC.finditer(pattern):
        pieces.append(pattern[place : found.start()])
        place = found.end()
        if found["kind"] == "%":
            pieces.append("%")
            continue
        if not waiting:
            tr.refuse(node, "a format with more directions than values")
        pieces.append(_direction(tr, found, waiting.pop(0)))
    pieces.append(pattern[place:])
    if waiting:
        tr.refuse(node, "a format with fewer directions than values")
    if "%" in pattern.replace("%%", "") and not _SPEC.search(pattern):
        tr.refuse(node, "a format of this form")
    return pieces


def _direction(tr: Translator, found: re.Match[str], arg: t.Node) -> Any:
    kind, flags, width = found["kind"], found["flags"], found["width"]
    precision = found["precision"]
    value = tr.expr(arg)
    what = tr.type(arg)
    if what.kind == "nd":
        value = method(value, "asscalar")
    left = "-" in flags
    sign = "+" if "+" in flags else " " if " " in flags else ""
    zero = "0" if "0" in flags and not left else ""
    if kind in "sc":
        dot = f".{precision}" if precision else ""
        align = (("<" if left else ">") + width) if width else ""
        if not align and not dot:
            if isinstance(value, ast.Call) and ast.unparse(value.func) == "str" and len(value.args) == 1:
                return value.args[0]
            return value
        text = value if what.kind in ("str", "sym", "char") else call("str", [value])
        return (text, align + dot)
    align = "<" if left and width else ""
    if kind in "di":
        if what.kind not in ("int", "bool"):
            value = call("round", [value]) if what.kind in ("float", "num", "any", "numeric", "nd") else value
        if precision:
            zero, width = "0", precision
        spec = f"{align}{sign}{zero}{width}" + "d"
        return value if spec == "d" else (value, spec)
    if kind in "ouxX":
        mark = "#" if "#" in flags else ""
        return (value, f"{align}{sign}{mark}{zero}{width}{'d' if kind == 'u' else kind}")
    if kind in "aA":
        return call(attribute(call("float", [value]), "hex"))
    number = precision if precision is not None else "6"
    return (value, f"{align}{sign}{zero}{width}.{number or 0}{kind}")


def printf(tr: Translator, args: list[t.Node], node: t.Node) -> ast.expr:
    """@printf."""
    stream, rest = _stream(tr, list(args))
    if not rest or not isinstance(rest[0], t.Str) or any(not isinstance(p, str) for p in rest[0].parts):
        return tr.refuse(node, "a format that is no plain string")
    pattern = "".join(rest[0].parts)
    values = [formatted(format_pieces(tr, pattern, rest[1:], node))]
    keywords: list[tuple[Optional[str], ast.expr]] = []
    if not _without_newline(values):
        keywords.append(("end", const("")))
    if stream is not None:
        keywords.append(("file", stream))
    return call("print", values, keywords)


def sprintf(tr: Translator, args: list[t.Node], node: t.Node) -> ast.expr:
    """@sprintf."""
    if not args or not isinstance(args[0], t.Str) or any(not isinstance(p, str) for p in args[0].parts):
        return tr.refuse(node, "a format that is no plain string")
    return formatted(format_pieces(tr, "".join(args[0].parts), args[1:], node))


def logged(tr: Translator, level: str, args: list[t.Node], node: t.Node) -> ast.expr:
    """@info and its relatives: the message, then `name = value` for each value."""
    pieces: list[Any] = []
    if args:
        first = tr.expr(args[0])
        pieces.extend(_pieces(first) if isinstance(first, (ast.JoinedStr, ast.Constant)) else [first])
    for arg in args[1:]:
        if isinstance(arg, t.Assign) and isinstance(arg.target, t.Name):
            pieces += [f" {arg.target.id}=", tr.expr(arg.value)]
        elif isinstance(arg, t.Name):
            pieces += [f" {arg.id}=", tr.expr(arg)]
        else:
            pieces += [" ", tr.expr(arg)]
    return call(f"logging.{level}", [formatted(pieces)])


def shown(tr: Translator, args: list[t.Node]) -> ast.expr:
    """@show: Julia prints `name = value`."""
    pieces: list[Any] = []
    for number, arg in enumerate(args):
        value = tr.expr(arg)
        pieces += [("\n" if number else "") + ast.unparse(value) + " = ", value]
    return call("print", [formatted(pieces)])
