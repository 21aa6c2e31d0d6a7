"""The state of one file's translation. What it does is in the rooms by subject; here they are put together."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NoReturn, Optional, Union

from . import (
    blocks,
    calls,
    comments,
    comparisons,
    custom,
    definitions,
    expressions,
    functional,
    indexing,
    macros,
    operations,
    sharing,
    statements,
    structures,
    symbolic,
    text,
    training,
)
from . import methods as methods_
from . import tree as t
from .code import text as unparsed
from .infer import Typer
from .names import Names
from .notes import Note, Refused
from .output import LINE_LENGTH
from .rules import Rule
from .scopes import Scope, Var
from .source import Source
from .types import T

Statement = Union[str, ast.stmt]


@dataclass
class Line:
    """A line of Python: how deep it stands, and the row of Julia that it comes from (0: none of its own)."""

    depth: int
    text: str
    row: int = 0
    comment: str = ""


@dataclass
class Met:
    """A name of MXNet.jl that was met."""

    name: str
    target: str
    count: int = 0


@dataclass(eq=False)
class Translator:
    """One file: what is known of it, and the Python written so far."""

    source: Source
    typer: Typer
    top: Scope
    functions: str = "julia"
    elsewhere: frozenset[str] = frozenset()
    included: dict[str, list[str]] = field(default_factory=dict)
    embed: bool = False
    names: Names = field(default_factory=Names)
    lines: list[Line] = field(default_factory=list)
    depth: int = 0
    notes: list[Note] = field(default_factory=list)
    met: dict[str, Met] = field(default_factory=dict)
    modules: set[str] = field(default_factory=set)
    apart: frozenset[str] = frozenset()  # new names of what modules bind under the same one
    uses_mx: bool = False
    uses_arrays: bool = False
    kept: list[str] = field(default_factory=list)
    julia_name: str = ""
    zero_based: set[int] = field(default_factory=set)
    renamed: dict[int, str] = field(default_factory=dict)
    row: int = 0
    _marks: list[str] = field(default_factory=list)
    _ends: list[Callable[[], ast.expr]] = field(default_factory=list)
    _hoistable: bool = True
    _loops: list[Any] = field(default_factory=list)
    _functions: list[Any] = field(default_factory=list)
    networks: Any = None
    state: dict[str, Any] = field(default_factory=dict)

    # what is known

    def type(self, node: t.Node) -> T:
        """The type of a form."""
        return self.typer.of(node)

    def is_elementwise(self, node: t.Node) -> bool:
        """Whether the form stands in a function that is only ever broadcast."""
        return id(node) in self.typer.marks

    def called(self, node: t.Call) -> str:
        """The plain name of what is called."""
        from .rules import base_name

        return base_name(node.fn)

    def callable_name(self, node: t.Node) -> bool:
        """Whether a name means a function."""
        if not isinstance(node, t.Name):
            return False
        return node.var is None and self.typer.rule(t.Call(node.at, node, [])) is not None

    def variable(self, var: Var) -> ast.expr:
        """A variable as an expression; one of a loop made zero-based is one less than in Julia."""
        if id(var) in self.renamed:
            return ast.Name(self.renamed[id(var)], ast.Load())
        made = ast.Name(var.python or self.names.of(var.name), ast.Load())
        if id(var) in self.zero_based:
            return ast.BinOp(made, ast.Add(), ast.Constant(1))
        return made

    # notes

    def check(self, node: t.Node, why: str, kind: str = "axis") -> None:
        """The line becomes Python, but somebody must look at it."""
        self.notes.append(Note(kind, node.at.row, node.at.end_row, node.at.col, why))
        mark = f"migrate: check {kind} ({why})"
        if mark not in self._marks:
            self._marks.append(mark)

    def unknown(self, node: t.Node, name: str) -> None:
        """A name without a counterpart is kept, and noted."""
        self.notes.append(
            Note("name", node.at.row, node.at.end_row, node.at.col, f"no counterpart known for {name}")
        )
        mark = f"migrate: no counterpart known for {name}"
        if mark not in self._marks:
            self._marks.append(mark)

    def refuse(self, node: t.Node, why: str) -> NoReturn:
        """The statement cannot be turned."""
        raise Refused(node.at.row, node.at.col, why)

    def meet(self, name: str, rule: Optional[Rule]) -> None:
        """Count a name of MXNet.jl."""
        target = rule.shown if rule is not None else "unknown"
        self.met.setdefault(name, Met(name, target)).count += 1

    # writing

    def emit(self, statement: Statement, row: Optional[int] = None) -> None:
        """Write a line; the marks that its expressions have left go with it."""
        made = statement if isinstance(statement, str) else _plain(statement)
        marks, self._marks = self._marks, []
        comment = "; ".join(marks)
        if self.depth * 4 + len(made) + len(comment) + 4 > LINE_LENGTH and " (" in comment:
            # the reason stands above, so that the line itself stays in one piece
            for mark in marks:
                _, _, why = mark.partition(" (")
                if why:
                    self.lines.append(Line(self.depth, f"# {why.removesuffix(')')}"))
            comment = "; ".join(dict.fromkeys(mark.partition(" (")[0] for mark in marks))
        self.lines.append(Line(self.depth, made, self.row if row is None else row, comment))

    def before(self, statement: ast.stmt) -> None:
        """Write a statement that has to run before the one whose expression is being made."""
        if not self._hoistable:
            raise Refused(self.row, 1, "a change inside an expression that may not run, or runs many times")
        self.emit(statement)

    @contextmanager
    def indented(self) -> Iterator[None]:
        """The lines inside are one deeper."""
        self.depth += 1
        try:
            yield
        finally:
            self.depth -= 1

    @contextmanager
    def without_hoisting(self) -> Iterator[None]:
        """Expressions inside cannot put statements before themselves."""
        before, self._hoistable = self._hoistable, False
        try:
            yield
        finally:
            self._hoistable = before

    @contextmanager
    def hoisting(self) -> Iterator[None]:
        """Statements again: inside a block."""
        before, self._hoistable = self._hoistable, True
        try:
            yield
        finally:
            self._hoistable = before

    def unhoisted(self, node: t.Node) -> ast.expr:
        """An expression that cannot put statements before itself."""
        with self.without_hoisting():
            return self.expr(node)

    @contextmanager
    def ending(self, length: Callable[[], ast.expr]) -> Iterator[None]:
        """`end` inside means this length."""
        self._ends.append(length)
        try:
            yield
        finally:
            self._ends.pop()

    def end_here(self, node: t.End) -> ast.expr:
        """`end` as a number."""
        if node.first:
            return ast.Constant(1)
        if not self._ends:
            self.refuse(node, "end outside of an index")
        return self._ends[-1]()

    @contextmanager
    def loop(self, scope: Any) -> Iterator[None]:
        """Inside a loop: functions defined there capture its variables as they are."""
        self._loops.append(scope)
        try:
            yield
        finally:
            self._loops.pop()

    def in_loop(self, var: Var) -> bool:
        """Whether a variable belongs to a loop that is being written, within the same function."""
        return var.scope in self._loops and id(var) not in self.zero_based

    @contextmanager
    def inside_function(self, node: Any) -> Iterator[None]:
        """Inside a function: loops around it are not its own."""
        loops, self._loops = self._loops, []
        self._functions.append(node)
        try:
            yield
        finally:
            self._loops = loops
            self._functions.pop()

    @contextmanager
    def captured(self) -> Iterator[list[Line]]:
        """Lines written inside go to the list instead."""
        lines, self.lines = self.lines, []
        try:
            yield self.lines
        finally:
            self.lines = lines

    # the rooms

    expr = expressions.expr
    transposed = expressions.transposed
    approximately = comparisons.approximately
    operation = operations.operation
    element = indexing.element
    part = sharing.part
    own_part = sharing.in_variable
    offset = indexing.offset
    axis = indexing.axis
    shape = indexing.shape
    joined_arrays = indexing.joined_arrays
    joined_exprs = indexing.joined_exprs
    call = calls.call
    array = calls.array
    as_list = calls.as_list
    iterated = calls.iterated
    dtype_keyword = calls.dtype_keyword
    converted = calls.converted
    concatenated = calls.concatenated
    instance_of = calls.instance_of
    raised = calls.raised
    assignable = calls.assignable
    target = calls.target
    comprehension = functional.comprehension
    dict_comprehension = functional.dict_comprehension
    function_of = functional.function_of
    function_value = functional.function_value
    mapped = functional.mapped
    filtered = functional.filtered
    filtered_dict = functional.filtered_dict
    counted = functional.counted
    found = functional.found
    foreach = functional.foreach
    simple_body = functional.simple_body
    string = text.string
    concatenated_strings = text.concatenated_strings
    printed = text.printed
    printf = text.printf
    sprintf = text.sprintf
    logged = text.logged
    shown = text.shown
    macro_value = macros.value
    macro_statement = macros.statement
    block = statements.block
    statement = statements.statement
    statement_value = statements.statement_value
    comment = comments.comment
    define = definitions.function
    defined_before = definitions.defined_before
    methods = methods_.methods
    structure = structures.structure
    module = definitions.module
    imported = definitions.imported
    scoped = blocks.scoped
    scoped_value = blocks.scoped_value
    as_julia_arrays = blocks.as_julia_arrays
    custom_function = custom.definition
    custom_call = custom.call_of
    custom_applied = custom.applied
    network = symbolic.value
    symbolic_assignment = symbolic.assignment
    feed_forward = training.feed_forward
    fit = training.fit
    predicted = training.predicted


def _plain(statement: ast.stmt) -> str:
    """A statement's text; a tuple on its right side goes without parentheses."""
    value = getattr(statement, "value", None)
    if (
        isinstance(statement, (ast.Assign, ast.Return))
        and isinstance(value, ast.Tuple)
        and len(value.elts) > 1
    ) and not any(isinstance(item, (ast.Lambda, ast.Starred, ast.NamedExpr)) for item in value.elts):
        items = ", ".join(unparsed(item) for item in value.elts)
        if isinstance(statement, ast.Return):
            return f"return {items}"
        return unparsed(_located(ast.Assign(statement.targets, ast.Name("_", ast.Load()))))[:-1] + items
    return unparsed(_located(statement))


def _located(statement: ast.stmt) -> ast.stmt:
    """`ast.unparse` asks some statements for their line and their type comment."""
    statement.lineno = 1
    if isinstance(statement, ast.Assign):
        statement.type_comment = None
    return statement
