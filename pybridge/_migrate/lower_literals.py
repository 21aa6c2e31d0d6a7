"""Literals of numbers, characters and strings, with their escapes and interpolations."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

from .tree import (
    Char,
    Const,
    Node,
    Number,
    Str,
)

if TYPE_CHECKING:
    from .lower import Lowering


def _number(low: Lowering, node: Any) -> Node:
    text = low.text(node).replace("_", "").replace("−", "-")
    single = False
    if node.type == "integer_literal":
        value: Any = int(text, 0) if text[:2].lower() in ("0x", "0b", "0o") else int(text)
    else:
        if "f" in text and not text.startswith("0x"):
            text, single = text.replace("f", "e"), True
        value = float.fromhex(text) if text.startswith("0x") else float(text)
    return Number(low.at(node), value, single)


def _boolean(low: Lowering, node: Any) -> Node:
    return Const(low.at(node), low.text(node) == "true")


_ESCAPES = {"\\$": "$", "\\e": "\x1b", "\\`": "`"}


def unescape(text: str) -> str:
    """One of Julia's escape sequences as the character that it means."""
    if text in _ESCAPES:
        return _ESCAPES[text]
    if text.startswith("\\\n"):
        return ""
    if text.startswith(("\\u", "\\U", "\\x")):
        return chr(int(text[2:], 16))
    value = ast.literal_eval(f'"{text}"')
    return str(value)


def _string(low: Lowering, node: Any) -> Node:
    raw = node.type == "prefixed_string_literal"
    prefix = low.text(node.children[0]) if raw else ""
    marks = [child for child in node.children if child.type in ('"', '"""', "`")]
    place, stop = marks[0].end_byte, node.end_byte - len(marks[0].text)
    parts: list[Any] = []
    for child in node.children:
        if child.type == "string_interpolation":
            parts.append(low.source.text(place, child.start_byte))
            parts.append(low.expr(low.named(child)[-1]))
        elif child.type == "escape_sequence" and not raw:
            parts.append(low.source.text(place, child.start_byte))
            parts.append(("escape", low.text(child)))
        else:
            continue
        place = child.end_byte
    parts.append(low.source.text(place, stop))
    if marks[0].type == '"""':
        parts = _dedented(parts)
    return Str(low.at(node), _joined(parts), prefix)


def _dedented(parts: list[Any]) -> list[Any]:
    """A triple-quoted string loses its first line break and its lines' common indentation."""
    if isinstance(parts[0], str) and parts[0].startswith("\n"):
        parts[0] = parts[0][1:]
        fresh = True
    else:
        fresh = False
    margins: list[int] = []
    for number, part in enumerate(parts):
        if not isinstance(part, str):
            continue
        lines = part.split("\n")
        for place, line in enumerate(lines):
            starts = place > 0 or (number == 0 and fresh)
            blank = not line.strip()
            last = place == len(lines) - 1
            if starts and (not blank or last):
                margins.append(len(line) - len(line.lstrip(" \t")))
    margin = min(margins, default=0)
    if margin:
        for number, part in enumerate(parts):
            if isinstance(part, str):
                lines = part.split("\n")
                head = lines[0][margin:] if number == 0 and fresh else lines[0]
                parts[number] = "\n".join([head, *(line[margin:] for line in lines[1:])])
    return parts


def _joined(parts: list[Any]) -> list[Any]:
    joined: list[Any] = []
    for part in parts:
        piece = unescape(part[1]) if isinstance(part, tuple) else part
        if isinstance(piece, str) and joined and isinstance(joined[-1], str):
            joined[-1] += piece
        elif piece != "":
            joined.append(piece)
    return joined


def _char(low: Lowering, node: Any) -> Node:
    inner = low.text(node)[1:-1]
    return Char(low.at(node), unescape(inner) if inner.startswith("\\") else inner)
