"""The syntax tree that the translation works on: Julia's forms, one class each, with their places in the source."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from functools import cache
from typing import TYPE_CHECKING, Any, Optional

if TYPE_CHECKING:
    from .scopes import Var


@dataclass(frozen=True)
class At:
    """Where a form stands: rows and columns count from 1, `start` and `stop` are offsets in bytes."""

    row: int
    col: int
    end_row: int
    start: int
    stop: int


@dataclass(eq=False)
class Node:
    """A form of the source."""

    at: At

    def children(self) -> Iterator[Node]:
        """The forms directly inside, in the order in which they are written."""
        kind: Any = type(self)
        for name in _inner(kind):
            value = getattr(self, name)
            if isinstance(value, Node):
                yield value
            elif isinstance(value, (list, tuple)):
                yield from _nodes(value)

    def walk(self) -> Iterator[Node]:
        """This form and all inside it."""
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(list(node.children())))

    def change(self, one: Callable[[Node], Node]) -> None:
        """Put what `one` makes of each form directly inside in its place."""
        kind: Any = type(self)
        for name in _inner(kind):
            setattr(self, name, _changed(getattr(self, name), one))


def _changed(value: Any, one: Callable[[Node], Node]) -> Any:
    if isinstance(value, Node):
        return one(value)
    if isinstance(value, (list, tuple)):
        return type(value)(_changed(item, one) for item in value)
    return value


_LINKS = frozenset({"at", "var", "scope"})


@cache
def _inner(kind: type) -> tuple[str, ...]:
    """The fields of a class that can hold forms."""
    return tuple(each.name for each in fields(kind) if each.name not in _LINKS)


def _nodes(value: Any) -> Iterator[Node]:
    if isinstance(value, Node):
        yield value
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _nodes(item)


@dataclass(eq=False)
class Name(Node):
    """An identifier; `var` is what it is bound to, None for a name from elsewhere.

    `unclear` marks an assignment in a loop outside of functions to a name that the file binds, too: up to Julia 0.6
    that is the same variable, from 1.0 on another one in a file and the same one at the prompt.
    """

    id: str
    var: Optional[Var] = None
    unclear: bool = False


@dataclass(eq=False)
class Number(Node):
    """A literal number; `single` for Float32 ones such as 1f0."""

    value: Any
    single: bool = False


@dataclass(eq=False)
class Const(Node):
    """true, false, nothing."""

    value: Any


@dataclass(eq=False)
class Str(Node):
    """A string: pieces of text and interpolated expressions; `prefix` for r"…" and friends."""

    parts: list[Any]
    prefix: str = ""


@dataclass(eq=False)
class Char(Node):
    """A character."""

    value: str


@dataclass(eq=False)
class Sym(Node):
    """A symbol such as :data."""

    id: str


@dataclass(eq=False)
class Call(Node):
    """A call; `dotted` for a broadcast one. Keywords are (name, value), a splatted one has the name None."""

    fn: Node
    args: list[Node]
    keywords: list[tuple[Optional[str], Node]] = field(default_factory=list)
    dotted: bool = False


@dataclass(eq=False)
class Index(Node):
    """obj[args]."""

    obj: Node
    args: list[Node]


@dataclass(eq=False)
class End(Node):
    """`end` (or `begin`) in an index."""

    first: bool = False


@dataclass(eq=False)
class Colon(Node):
    """A bare : in an index."""


@dataclass(eq=False)
class Field(Node):
    """obj.name."""

    obj: Node
    name: str


@dataclass(eq=False)
class Binary(Node):
    """An operation on two operands, comparisons and short circuits aside."""

    op: str
    left: Node
    right: Node
    dotted: bool = False


@dataclass(eq=False)
class Unary(Node):
    """A prefix operator."""

    op: str
    operand: Node
    dotted: bool = False


@dataclass(eq=False)
class Compare(Node):
    """A chain of comparisons; an operator that begins with a dot is broadcast."""

    items: list[Node]
    ops: list[str]


@dataclass(eq=False)
class Logic(Node):
    """&& or ||."""

    op: str
    left: Node
    right: Node


@dataclass(eq=False)
class Ternary(Node):
    """test ? yes : no."""

    test: Node
    yes: Node
    no: Node


@dataclass(eq=False)
class Range(Node):
    """start:stop or start:step:stop."""

    start: Node
    stop: Node
    step: Optional[Node] = None


@dataclass(eq=False)
class TupleForm(Node):
    """A tuple."""

    items: list[Node]


@dataclass(eq=False)
class NamedTupleForm(Node):
    """A named tuple."""

    entries: list[tuple[str, Node]]


@dataclass(eq=False)
class Vector(Node):
    """[a, b]; `elem` is the element type before the bracket, if any."""

    items: list[Node]
    elem: Optional[Node] = None


@dataclass(eq=False)
class Matrix(Node):
    """[a b; c d]."""

    rows: list[list[Node]]
    elem: Optional[Node] = None


@dataclass(eq=False)
class Binding(Node):
    """`target in iterable` of a loop or a comprehension."""

    target: Node
    iterable: Node


@dataclass(eq=False)
class Comprehension(Node):
    """[value for …] or a generator. `product` when its clauses span a grid (`for a in x, b in y`)."""

    value: Node
    bindings: list[Binding]
    test: Optional[Node]
    elem: Optional[Node] = None
    generator: bool = False
    product: bool = False
    scope: Any = None


@dataclass(eq=False)
class Param(Node):
    """One parameter of a function."""

    target: Node
    type: Optional[Node] = None
    default: Optional[Node] = None
    splat: bool = False


@dataclass(eq=False)
class Lambda(Node):
    """An anonymous function; `do` for a do block."""

    params: list[Param]
    body: Block
    do: bool = False
    scope: Any = None


@dataclass(eq=False)
class Splat(Node):
    """x... in a call or a tuple."""

    value: Node


@dataclass(eq=False)
class Adjoint(Node):
    """A'."""

    value: Node


@dataclass(eq=False)
class Typed(Node):
    """value::type."""

    value: Node
    type: Node


@dataclass(eq=False)
class Curly(Node):
    """T{A, B}."""

    obj: Node
    args: list[Node]


@dataclass(eq=False)
class MacroCall(Node):
    """@name args; a macro of mx has the name without the prefix."""

    name: str
    args: list[Node]
    scope: Any = None


@dataclass(eq=False)
class Unknown(Node):
    """A form without a counterpart; `why` says so."""

    why: str


@dataclass(eq=False)
class Comment(Node):
    """A comment; `trailing` when it stands behind code on its line."""

    text: str
    trailing: bool = False


@dataclass(eq=False)
class Block(Node):
    """Statements one after the other."""

    items: list[Node]


@dataclass(eq=False)
class If(Node):
    """if, its branches, and what remains."""

    test: Node
    then: Block
    orelse: Optional[Node]


@dataclass(eq=False)
class For(Node):
    """A loop over one or several iterators."""

    bindings: list[Binding]
    body: Block
    scope: Any = None


@dataclass(eq=False)
class While(Node):
    """A loop with a condition."""

    test: Node
    body: Block
    scope: Any = None


@dataclass(eq=False)
class Let(Node):
    """A let block."""

    bindings: list[Node]
    body: Block
    scope: Any = None


@dataclass(eq=False)
class Try(Node):
    """try, catch, finally."""

    body: Block
    name: Optional[Name]
    handler: Optional[Block]
    final: Optional[Block]
    scope: Any = None


@dataclass(eq=False)
class Assign(Node):
    """target = value, or target op= value; `dotted` for .= and .op=."""

    target: Node
    value: Node
    op: str = ""
    dotted: bool = False


@dataclass(eq=False)
class FuncDef(Node):
    """A named function. `name` is Name or Field (`mx.forward`); `receiver` for callable values `(m::M)(x)`."""

    name: Optional[Node]
    params: list[Param]
    keywords: list[Param]
    body: Block
    receiver: Optional[Param] = None
    doc: Optional[Str] = None
    short: bool = False
    scope: Any = None


@dataclass(eq=False)
class StructDef(Node):
    """A struct, with its fields and inner constructors."""

    name: Name
    parent: Optional[Node]
    entries: list[Param]
    constructors: list[FuncDef]
    mutable: bool
    keyword: bool = False
    doc: Optional[Str] = None
    comments: list[Comment] = field(default_factory=list)


@dataclass(eq=False)
class AbstractDef(Node):
    """abstract type."""

    name: Name
    parent: Optional[Node]


@dataclass(eq=False)
class ModuleDef(Node):
    """module … end."""

    name: str
    body: Block
    doc: Optional[Str] = None


@dataclass(eq=False)
class Using(Node):
    """using or import: the module paths, each with the names taken from it (None: all)."""

    modules: list[tuple[str, Optional[list[str]]]]


@dataclass(eq=False)
class Export(Node):
    """export."""

    exported: list[str]


@dataclass(eq=False)
class Return(Node):
    """return."""

    value: Optional[Node]


@dataclass(eq=False)
class Jump(Node):
    """break or continue."""

    word: str


@dataclass(eq=False)
class Global(Node):
    """global x, or local x; `value` is an assignment that follows."""

    word: str
    declared: list[str]
    value: Optional[Node] = None


@dataclass(eq=False)
class Decl(Node):
    """const x = 1."""

    value: Node
