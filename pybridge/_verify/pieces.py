"""Old and new code cut into pieces that belong together: a statement at Julia's top level and what became of it."""

from __future__ import annotations

import ast
from bisect import bisect_right
from dataclasses import asdict, dataclass, field
from typing import Any

from .._migrate.file import Translated
from .._migrate.lower import lower
from .._migrate.scopes import resolve
from .._migrate.source import read

#: Forms whose bodies are statements.
_LOOPS = frozenset({"for_statement", "while_statement"})
_BRANCHES = frozenset({"if_statement", "let_statement", "compound_statement", "try_statement"})
_CLAUSES = frozenset({"elseif_clause", "else_clause", "catch_clause", "finally_clause"})
_LEAVE = frozenset({"return_statement", "break_statement", "continue_statement"})
_COMMENTS = frozenset({"line_comment", "block_comment"})
_DRAWS = ("rand", "randn", "rand!", "randn!", "randperm", "shuffle", "shuffle!")
_UNSET = frozenset({b"similar", b"mx.empty", b"empty"})
_QUALIFIED = frozenset(f"Random.{name}".encode() for name in _DRAWS)


@dataclass
class Piece:
    """A statement of the old code (several, if they share a line) and the lines of Python that stand for it.

    Attributes:
        row, end_row: its first and last line in the Julia file.
        statement: its first line, as it is written.
        julia: its text, as it is run: modules take our random functions.
        followed: the same, with calls that tell what has run after each line inside.
        unset: whether it only makes an array that has no values yet.
        python: the numbers of the Python statements at top level that came of it.
    """

    row: int
    end_row: int
    statement: str
    julia: str
    followed: str
    unset: bool = False
    python: list[int] = field(default_factory=list)


@dataclass
class Program:
    """One file in both languages.

    Attributes:
        pieces: in the order of the old code.
        python: the translated text.
        rows: for lines of Python where a statement begins, the line of Julia.
        names: of Julia's names, what they are in Python.
        taken: names of Julia's random functions that the file gives to things of its own.
    """

    pieces: list[Piece]
    python: str
    rows: dict[int, int]
    names: dict[str, str]
    taken: list[str]

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for the processes that run the two."""
        return {
            "pieces": [asdict(piece) for piece in self.pieces],
            "python": self.python,
            "rows": self.rows,
            "taken": self.taken,
        }


def program(made: Translated) -> Program:
    """Cut a translated file."""
    source = read(made.name, made.source.encode("utf-8"))
    bound = resolve(lower(source)).vars
    taken = [name for name in _DRAWS if name in bound]
    pieces = _pieces(source.root, source.data, ", ".join(name for name in _DRAWS if name not in taken))
    starts = [piece.row for piece in pieces]
    for number, statement in enumerate(ast.parse(made.python).body):
        row = made.pairs.get(statement.lineno)
        place = bisect_right(starts, row) - 1 if row is not None else -1
        if place >= 0 and row is not None and row <= pieces[place].end_row:
            pieces[place].python.append(number)
    return Program(pieces, made.python, made.pairs, made.names, taken)


def _pieces(root: Any, data: bytes, draws_of_ours: str) -> list[Piece]:
    groups: list[list[Any]] = []
    for node in root.children:
        if node.type in _COMMENTS:
            continue
        if groups and node.start_point[0] <= groups[-1][-1].end_point[0]:
            groups[-1].append(node)
        else:
            groups.append([node])
    made = []
    for nodes in groups:
        start, stop = nodes[0].start_byte, nodes[-1].end_byte
        draws: dict[int, str] = {}
        calls: dict[int, str] = {}
        for node in nodes:
            _imports(node, draws, draws_of_ours)
            _qualified(node, draws)
            _follow(node, calls, value=False)
        made.append(
            Piece(
                nodes[0].start_point[0] + 1,
                nodes[-1].end_point[0] + (1 if nodes[-1].end_point[1] else 0),
                data[start:stop].decode("utf-8").split("\n", 1)[0].rstrip("\r"),
                _with(data, start, stop, draws),
                _with(data, start, stop, {**draws, **calls}),
                len(nodes) == 1 and _makes_unset(nodes[0]),
            )
        )
    return made


def _with(data: bytes, start: int, stop: int, inserted: dict[int, str]) -> str:
    """The text between two offsets, with others at theirs."""
    parts, place = [], start
    for offset in sorted(inserted):
        parts += [data[place:offset], inserted[offset].encode("utf-8")]
        place = offset
    return b"".join([*parts, data[place:stop]]).decode("utf-8")


def _imports(node: Any, inserted: dict[int, str], ours: str) -> None:
    """In modules, the names of random functions are Julia's own; they have to be those that write on the tape."""
    if node.type == "module_definition":
        name = next(child for child in node.children if child.type == "identifier")
        if node.children[0].type == "module" and ours:
            inserted[name.end_byte] = f"; import Main: {ours}"
        for child in node.children:
            _imports(child, inserted, ours)


def _makes_unset(node: Any) -> bool:
    """x = Vector{Float64}(undef, 3), x = similar(y), x = mx.empty(2)."""
    if node.type != "assignment" or node.children[-1].type != "call_expression":
        return False
    called, *lists = (child for child in node.children[-1].children if child.is_named)
    if called.text in _UNSET:
        return True
    return any(each.text == b"undef" for given in lists for each in given.children)


def _qualified(node: Any, inserted: dict[int, str]) -> None:
    """Random.shuffle(x) has to write on the tape, too."""
    waiting = [node]
    while waiting:
        node = waiting.pop()
        if node.type == "field_expression" and node.text in _QUALIFIED:
            inserted[node.start_byte] = "Main.PyBridgeVerify.Qualified."
        waiting.extend(node.children)


def _follow(node: Any, inserted: dict[int, str], *, value: bool) -> None:
    """Have the lines inside a statement tell that they have run; not behind one that gives the form its value."""
    kind = node.type
    if kind in _LOOPS:
        _body(node, inserted, value=False)
    elif kind in _BRANCHES or kind in _CLAUSES:
        _body(node, inserted, value=value)
    elif kind == "function_definition":
        _body(node, inserted, value=True)
    elif kind == "module_definition":
        for child in node.children:
            _follow(child, inserted, value=True)


def _body(node: Any, inserted: dict[int, str], *, value: bool) -> None:
    header = node.start_point[0]
    statements = []
    for child in node.children:
        if child.type in _CLAUSES:
            _follow(child, inserted, value=value)
        elif child.is_named and child.type not in _COMMENTS and child.start_point[0] > header:
            statements.append(child)
    for i, child in enumerate(statements):
        last = i + 1 == len(statements)
        _follow(child, inserted, value=value and last)
        alone = last or statements[i + 1].start_point[0] > child.end_point[0]
        if alone and child.type not in _LEAVE and not (value and last):
            row = child.start_point[0] + 1
            inserted[child.end_byte] = f"; Main.PyBridgeVerify.at({row}, Base.@locals)"
