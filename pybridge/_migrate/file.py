"""One file from Julia to Python: read, bound, typed, translated, formatted, accounted for."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Optional

from . import custom, output
from . import tree as t
from .infer import Typer
from .lower import lower
from .modules import flatten
from .notes import Note
from .scopes import resolve, targets
from .source import Source, SourceError, read
from .translator import Line, Met, Translator

# A level of nesting takes some dozen frames; source.DEEPEST bounds the levels.
_FRAMES = 12_000


@dataclass
class Translated:
    """A file in Python, and what is to be said of it."""

    name: str
    source: str
    python: str
    julia: str = ""
    notes: list[Note] = field(default_factory=list)
    met: list[Met] = field(default_factory=list)
    pairs: dict[int, int] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    total: int = 0
    turned: int = 0
    kept: int = 0

    @property
    def attention(self) -> list[Note]:
        """What needs a person: everything noted but code that stays Julia because it should."""
        return [note for note in self.notes if note.kind != "julia"]


def translate(
    name: str,
    data: bytes,
    *,
    functions: str = "julia",
    elsewhere: frozenset[str] = frozenset(),
    included: Optional[Mapping[str, list[str]]] = None,
    julia_name: str = "",
    embed: bool = False,
) -> Translated:
    """Turn one file.

    Arguments:
        name: how errors and notes call it.
        data: its bytes.
        functions: "julia" keeps differentiable functions in Julia, "python" makes `mx.autograd.Function`s of them.
        elsewhere: names that other files define.
        included: for each path that the file may include, the names that it gets from there.
        julia_name: the name of the Julia file beside the Python one.
        embed: put Julia code into the Python file instead.

    Raises:
        SourceError: the file is no Julia.

    Examples:
        >>> print(translate("a.jl", b"y = 2x^2 + 1").python, end="")
        y = 2 * x**2 + 1  # migrate: no counterpart known for x
    """
    source = read(name, data)
    with _deep():
        return _translate(source, functions, elsewhere, dict(included or {}), julia_name, embed)


@contextmanager
def _deep() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, _FRAMES))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _translate(
    source: Source,
    functions: str,
    elsewhere: frozenset[str],
    included: dict[str, list[str]],
    julia_name: str,
    embed: bool,
) -> Translated:
    tree = lower(source)
    apart = flatten(tree)
    top = resolve(tree)
    typer = Typer(tree, top)
    custom.find(typer)
    typer.keeps = functions == "julia"
    typer.settle()
    tr = Translator(source, typer, top, functions, elsewhere, included, embed)
    tr.apart = frozenset(apart.values())
    tr.julia_name = julia_name or source.name.rsplit("/", 1)[-1]
    _prepare(tr, tree)
    tr.block(tree)
    _embed(tr)
    made = _finished(tr, tree)
    made.names.update({old: tr.names.of(new) for old, new in apart.items()})
    return made


def _prepare(tr: Translator, tree: t.Block) -> None:
    """What has to be known before the first line: names, members of classes, methods of one name."""
    for node in tree.walk():
        if isinstance(node, t.Field) and isinstance(node.obj, t.Name) and node.obj.id in ("mx", "MXNet"):
            tr.uses_mx = True
        elif isinstance(node, t.Using):
            tr.uses_mx = tr.uses_mx or any(path.split(".")[0] == "MXNet" for path, _ in node.modules)
        elif isinstance(node, t.ModuleDef):
            tr.modules.add(node.name)
        if isinstance(node, (t.FuncDef, t.StructDef)) and isinstance(node.name, t.Name):
            tr.names.of(node.name.id)
        elif isinstance(node, (t.Assign, t.Param)):
            for target in targets(node.target):
                tr.names.of(target.id)
        elif isinstance(node, t.Name) and node.var is not None:
            tr.names.of(node.id)
    tr.uses_arrays = any(typed.kind in ("arr", "numeric") for typed in tr.typer.memo.values())
    _members(tr, tree)
    tr.methods(tree.items)


def _members(tr: Translator, tree: t.Block) -> None:
    from .structures import special_of

    members: dict[str, list[t.FuncDef]] = tr.state.setdefault("members", {})
    placed: set[int] = tr.state.setdefault("placed", set())
    for node in tree.walk():
        struct = special_of(tr, node)
        if struct and isinstance(node, t.FuncDef):
            members.setdefault(struct, []).append(node)
            placed.add(id(node))
        if isinstance(node, t.Block):
            _comments_of_moved(tr, node)


def _comments_of_moved(tr: Translator, block: t.Block) -> None:
    """Comments right above a definition that is written elsewhere go with it."""
    from .structures import special_of

    moved: dict[int, list[t.Comment]] = tr.state.setdefault("moved comments", {})
    run: list[t.Comment] = []
    for item in block.items:
        if isinstance(item, t.Comment) and not item.trailing:
            run = [*run, item] if run and run[-1].at.end_row + 1 == item.at.row else [item]
            continue
        kept = tr.functions == "julia" and custom.method_of(item, tr.typer)[0]
        if run and run[-1].at.end_row + 1 == item.at.row and (kept or special_of(tr, item)):
            moved[id(item)] = run
            tr.state.setdefault("moved", set()).update(id(comment) for comment in run)
        run = []


def _embed(tr: Translator) -> None:
    """Without a file beside it, the Julia code stands in the Python one."""
    if not (tr.embed and tr.kept):
        return
    code = custom.julia_file(tr).rstrip("\n").replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    lines = [Line(0, 'pb.jl.seval("""'), *(Line(0, line) for line in code.split("\n")), Line(0, '""")')]
    place = tr.state["embed row"]
    # one line of the text, so that blank lines inside the string stay
    tr.lines.insert(place, Line(0, "\n".join(line.text for line in lines)))


def _finished(tr: Translator, tree: t.Block) -> Translated:
    rough = output.render(tr.lines)
    try:
        parsed = ast.parse(rough)
    except SyntaxError as error:
        row = _row_of(tr, error.lineno or 1)
        why = f"the translation is no Python ({error.msg}); please report this line"
        raise SourceError(tr.source.name, row, 1, why) from None
    logs = any(line.text.startswith("logging.") or " logging." in line.text for line in tr.lines)
    whole, added, first = output.with_imports(rough, parsed, logs)
    final = output.formatted(whole)
    pairs = _pairs(tr, output.rows(parsed), output.rows(ast.parse(final)), added, first)
    made = Translated(tr.source.name, tr.source.text(0, len(tr.source.data)), final, notes=tr.notes)
    made.julia = "" if tr.embed else custom.julia_file(tr)
    made.met = sorted(tr.met.values(), key=lambda met: met.name)
    made.pairs = pairs
    made.names = dict(tr.names.given)
    _count(made, tr, tree)
    back = {row: line for line, row in pairs.items()}  # of several lines the last, which holds the value
    for note in made.notes:
        note.python_row = back.get(note.row, 0)
    return made


def _row_of(tr: Translator, line: int) -> int:
    counted = 0
    for each in tr.lines:
        counted += each.text.count("\n") + 1
        if counted >= line and each.row:
            return each.row
    return 1


def _pairs(tr: Translator, before: list[int], after: list[int], added: int, first: int) -> dict[int, int]:
    """For lines of the final text where a statement begins, the row of Julia that it comes from."""
    source_rows: list[int] = []
    for line in tr.lines:
        source_rows += [line.row] * (line.text.count("\n") + 1)
    after = after[:first] + after[first + added :]
    if len(after) != len(before):
        return {}
    return {new: source_rows[old - 1] for old, new in zip(before, after) if source_rows[old - 1]}


def _count(made: Translated, tr: Translator, tree: t.Block) -> None:
    """Lines of code, and how many of them became Python, stayed Julia, or wait for a person."""
    comments: set[int] = set()
    for node in tree.walk():
        if isinstance(node, t.Comment) and not node.trailing:
            comments.update(range(node.at.row, node.at.end_row + 1))
    code = {
        row
        for row, line in enumerate(made.source.split("\n"), 1)
        if line.strip() and row not in comments and not line.strip().startswith("#")
    }
    refused: set[int] = set()
    kept: set[int] = set()
    for note in made.notes:
        rows = set(range(note.row, note.end_row + 1))
        if note.kind == "julia":
            kept |= rows
        elif note.kind in ("refused", "package"):
            refused |= rows
    made.total = len(code)
    made.kept = len(code & (kept - refused))
    made.turned = made.total - made.kept - len(code & refused)
