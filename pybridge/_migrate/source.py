"""Reading Julia: a file becomes tree-sitter's syntax tree, or an error that says where it is broken. Nothing runs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import tree_sitter
import tree_sitter_julia

DEEPEST = 150
LARGEST = 20_000_000


class SourceError(Exception):
    """A file that cannot be read as Julia: the text begins with FILE:LINE:COLUMN."""

    def __init__(self, name: str, row: int, col: int, why: str) -> None:
        super().__init__(f"{name}:{row}:{col}: {why}")
        self.name, self.row, self.col, self.why = name, row, col, why


@dataclass
class Source:
    """A file: its name, its bytes, its lines, and the root of its syntax tree."""

    name: str
    data: bytes
    lines: list[str]
    root: Any

    def text(self, start: int, stop: int) -> str:
        """What stands between two offsets in bytes."""
        return self.data[start:stop].decode("utf-8")


@lru_cache(maxsize=1)
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_julia.language()))


def read(name: str, data: bytes) -> Source:
    """Parse a file's bytes.

    Raises:
        SourceError: they are no UTF-8, hold a NUL, break off, do not parse, or nest deeper than any program does.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        data = data[3:]
    data = data.replace(b"\r\n", b"\n")
    if len(data) > LARGEST:
        raise SourceError(name, 1, 1, f"{len(data)} bytes are too many (at most {LARGEST})")
    text = _decoded(name, data)
    zero = text.find("\0")
    if zero >= 0:
        row, start = text.count("\n", 0, zero) + 1, text.rfind("\n", 0, zero) + 1
        raise SourceError(name, row, zero - start + 1, "a NUL byte: this is no Julia source")
    lines = text.split("\n")
    root = _parser().parse(data).root_node
    _refuse_broken(name, root, lines)
    return Source(name, data, lines, root)


def column(lines: list[str], row: int, byte: int) -> int:
    """The column, from 1 and in characters, of a byte in a row that counts from 1."""
    line = lines[row - 1] if row - 1 < len(lines) else ""
    return len(line.encode("utf-8")[:byte].decode("utf-8", "ignore")) + 1


def _decoded(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        row = data.count(b"\n", 0, error.start) + 1
        start = data.rfind(b"\n", 0, error.start) + 1
        col = len(data[start : error.start].decode("utf-8", "ignore")) + 1
        raise SourceError(name, row, col, "not UTF-8") from None


def _refuse_broken(name: str, root: Any, lines: list[str]) -> None:
    """One walk without recursion: the first error in the text's order, and the depth."""
    cursor = root.walk()
    depth = 0
    while True:
        node = cursor.node
        if node.is_error or node.is_missing:
            row = node.start_point[0] + 1
            raise SourceError(name, row, column(lines, row, node.start_point[1]), _why(node))
        if depth > DEEPEST:
            row = node.start_point[0] + 1
            raise SourceError(
                name,
                row,
                column(lines, row, node.start_point[1]),
                f"nested more than {DEEPEST} deep; split the expression",
            )
        if cursor.goto_first_child():
            depth += 1
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return
            depth -= 1


def _why(node: Any) -> str:
    if node.is_missing:
        return f"syntax error: {node.type} is missing here"
    text = node.text.decode("utf-8", "replace").strip().split("\n")[0]
    return f"syntax error at {text[:40]!r}" if text else "syntax error"
