"""Strings and characters."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from . import tree as t
from .code import call, const, formatted, method, py
from .rules import Rule
from .types import BOOL, CHAR, FLOAT, INT, STR, SYM, T, list_of

if TYPE_CHECKING:
    from .translator import Translator


def _string(tr: Translator, node: t.Call) -> ast.expr:
    """string(a, b) is the pieces one after the other."""
    if len(node.args) == 1:
        kind = tr.type(node.args[0])
        value = tr.expr(node.args[0])
        return value if kind.kind in ("str", "sym", "char") else call("str", [value])
    if any(isinstance(arg, t.Splat) for arg in node.args):
        return py("''.join(map(str, [_all]))", *(tr.expr(arg) for arg in node.args))
    return formatted([tr.expr(arg) for arg in node.args])


def _symbol(tr: Translator, node: t.Call) -> ast.expr:
    return _string(tr, node)


def _parse(tr: Translator, node: t.Call) -> ast.expr:
    kind = node.args[0].id if isinstance(node.args[0], t.Name) else ""
    target = "int" if kind.startswith(("Int", "UInt")) else "float" if kind.startswith("Float") else ""
    if not target:
        return tr.refuse(node, f"parse as {kind or 'this type'}")
    base = {k: v for k, v in node.keywords if k}.get("base")
    args = [tr.expr(node.args[1])] + ([tr.expr(base)] if base is not None else [])
    return call(target, args)


def _parsed(typer: object, node: t.Call, args: list[T]) -> T:
    kind = node.args[0].id if node.args and isinstance(node.args[0], t.Name) else ""
    return INT if kind.startswith(("Int", "UInt")) else FLOAT


def _replace(tr: Translator, node: t.Call) -> ast.expr:
    value = tr.expr(node.args[0])
    for pair in node.args[1:]:
        if not (isinstance(pair, t.Binary) and pair.op == "=>"):
            return tr.refuse(node, "replace with something else than pairs")
        if tr.type(node.args[0]).kind not in ("str", "any"):
            return tr.refuse(node, "replace in a collection")
        old, new = pair.left, tr.expr(pair.right)
        if tr.type(old).kind == "regex":
            value = call("re.sub", [tr.expr(old), new, value])
        else:
            value = method(value, "replace", tr.expr(old), new)
    return value


def _split(tr: Translator, node: t.Call) -> ast.expr:
    args = [tr.expr(arg) for arg in node.args]
    keepempty = {k: v for k, v in node.keywords if k}.get("keepempty")
    if node.keywords and keepempty is None:
        return tr.refuse(node, "split with this option")
    if len(node.args) > 1 and tr.type(node.args[1]).kind == "regex":
        return call("re.split", [args[1], args[0]])
    return method(args[0], "split", *args[1:2])


def _join(tr: Translator, node: t.Call) -> ast.expr:
    between = tr.expr(node.args[1]) if len(node.args) > 1 else const("")
    if len(node.args) > 2:
        return tr.refuse(node, "join with a last delimiter")
    inner = node.args[0]
    kind = tr.type(inner)
    strings = kind.elem is not None and kind.elem.kind in ("str", "char", "sym")
    value = tr.iterated(inner)
    if strings or kind.kind == "str":
        return method(between, "join", value)
    return method(between, "join", call("map", [py("str"), value]))


def _occurs(tr: Translator, node: t.Call) -> ast.expr:
    a, b = (tr.expr(arg) for arg in node.args)
    if tr.type(node.args[0]).kind == "regex":
        return py("re.search(_0, _1) is not None", a, b)
    return py("_0 in _1", a, b)


def _pad(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        kind = tr.type(node.args[0])
        value = tr.expr(node.args[0])
        text = value if kind.kind in ("str", "char", "sym") else call("str", [value])
        return method(text, word, *(tr.expr(arg) for arg in node.args[1:]))

    return emit


def _strip(tr: Translator, node: t.Call) -> ast.expr:
    word = node.fn.id if isinstance(node.fn, t.Name) else "strip"
    if len(node.args) > 1 and isinstance(node.args[1], t.Vector):
        chars = "".join(item.value for item in node.args[1].items if isinstance(item, t.Char))
        return method(tr.expr(node.args[0]), word, const(chars))
    return method(tr.expr(node.args[0]), word, *(tr.expr(arg) for arg in node.args[1:]))


def _char(tr: Translator, node: t.Call) -> ast.expr:
    return call("chr", [tr.expr(node.args[0])])


def _match(tr: Translator, node: t.Call) -> ast.expr:
    return call("re.search", [tr.expr(node.args[0]), tr.expr(node.args[1])])


def _digits(tr: Translator, node: t.Call) -> ast.expr:
    digit = "digit"
    return py(f"[int({digit}) for {digit} in reversed(str(_0))]", tr.expr(node.args[0]))


def _chop(tr: Translator, node: t.Call) -> ast.expr:
    return py("_0[:-1]", tr.expr(node.args[0]))


RULES: dict[str, Rule] = {
    "string": Rule(_string, STR, "str(x), f-strings"),
    "String": Rule(_string, STR, "str(x)"),
    "Symbol": Rule(_symbol, SYM, "a string"),
    "repr": Rule("repr(_0)", STR),
    "parse": Rule(_parse, _parsed, "int(x), float(x)"),
    "replace": Rule(_replace, STR, "x.replace(a, b), re.sub"),
    "split": Rule(_split, list_of(STR), "x.split(d)"),
    "join": Rule(_join, STR, "d.join(xs)"),
    "uppercase": Rule("_0.upper()", STR),
    "lowercase": Rule("_0.lower()", STR),
    "titlecase": Rule("_0.title()", STR),
    "uppercasefirst": Rule("_0[:1].upper() + _0[1:]", STR),
    "lowercasefirst": Rule("_0[:1].lower() + _0[1:]", STR),
    "strip": Rule(_strip, STR, "x.strip()"),
    "lstrip": Rule(_strip, STR, "x.lstrip()"),
    "rstrip": Rule(_strip, STR, "x.rstrip()"),
    "chomp": Rule("_0.removesuffix('\\n')", STR),
    "chop": Rule(_chop, STR, "x[:-1]"),
    "startswith": Rule("_0.startswith(_1)", BOOL),
    "endswith": Rule("_0.endswith(_1)", BOOL),
    "occursin": Rule(_occurs, BOOL, "a in x, re.search"),
    "contains": Rule("_1 in _0", BOOL),
    "lpad": Rule(_pad("rjust"), STR, "x.rjust(n)"),
    "rpad": Rule(_pad("ljust"), STR, "x.ljust(n)"),
    "isdigit": Rule("_0.isdigit()", BOOL),
    "isletter": Rule("_0.isalpha()", BOOL),
    "isspace": Rule("_0.isspace()", BOOL),
    "isuppercase": Rule("_0.isupper()", BOOL),
    "islowercase": Rule("_0.islower()", BOOL),
    "ispunct": Rule("not (_0.isalnum() or _0.isspace())", BOOL),
    "Char": Rule(_char, CHAR, "chr(x)"),
    "codepoint": Rule("ord(_0)", INT),
    "match": Rule(_match, T("match"), "re.search"),
    "eachmatch": Rule("re.finditer(_0, _1)", T("iterator", elem=T("match"))),
    "digits": Rule(_digits, list_of(INT)),
    "ncodeunits": Rule("len(_0.encode())", INT),
    "eachline": Rule("open(_0)", T("iterator", elem=STR)),
    "isascii": Rule("_0.isascii()", BOOL),
}
__all__ = ["RULES"]
