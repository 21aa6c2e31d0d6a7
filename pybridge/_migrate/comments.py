"""Comments of Julia as comments of Python, at their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import tree as t

if TYPE_CHECKING:
    from .translator import Translator


def comment(tr: Translator, node: t.Comment) -> None:
    """A comment at its place: behind the line that it stood behind, else on lines of its own."""
    from .translator import Line

    shown = comment_lines(node.text)
    if node.trailing and _names_an_end(tr, node):
        return
    if node.trailing and len(shown) == 1 and tr.lines and tr.lines[-1].text and not tr.lines[-1].comment:
        last = tr.lines[-1]
        if not last.text.startswith("#") and "  # " not in last.text:
            last.text += "  " + shown[0]
            return
    for line in shown:
        tr.lines.append(Line(tr.depth, line))


_BLOCK_WORDS = frozenset(
    [
        "module",
        "function",
        "for",
        "while",
        "if",
        "let",
        "begin",
        "struct",
        "do",
        "try",
        "macro",
        "type",
        "end",
        "baremodule",
    ]
)


def _names_an_end(tr: Translator, node: t.Comment) -> bool:
    """`end # module`: what it names has no end in Python."""
    line = tr.source.lines[node.at.row - 1].split("#")[0].strip()
    words = node.text.strip("#= ").replace("(", " ").split()
    return line in ("end", "end;") and bool(words) and words[0] in {*_BLOCK_WORDS, *tr.modules}


def comment_lines(source: str) -> list[str]:
    """# and #= =# comments as Python's."""
    if source.startswith("#="):
        inner = source[2:].removesuffix("=#")
        return [
            ("# " + line.strip()).rstrip()
            for line in inner.strip("\n").split("\n")
            if line.strip() or inner.strip()
        ]
    body = source[1:].rstrip()
    return ["#" + body] if not body or body[0] in " !#:-" else ["# " + body]
