"""Which binding each name means: Julia's scopes, and what is known of each variable from all its uses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Optional

from .tree import (
    AbstractDef,
    Assign,
    Binding,
    Block,
    Call,
    Comprehension,
    Decl,
    Field,
    For,
    FuncDef,
    Global,
    Index,
    Lambda,
    Let,
    MacroCall,
    ModuleDef,
    Name,
    Node,
    Param,
    Splat,
    StructDef,
    Try,
    TupleForm,
    Typed,
    Using,
    While,
)
from .types import T

# Functions that change their first argument (the exclamation mark says so), as far as lists are concerned.
GROWS = frozenset(
    [
        "push!",
        "pushfirst!",
        "append!",
        "prepend!",
        "pop!",
        "popfirst!",
        "insert!",
        "deleteat!",
        "resize!",
        "empty!",
        "sizehint!",
        "splice!",
    ]
)


@dataclass(eq=False)
class Var:
    """A variable: its name, its scope, and how it is used."""

    name: str
    scope: Scope
    type: Optional[T] = None  # as the last pass over the file left it
    coming: Optional[T] = None  # as this pass has found it so far
    python: str = ""
    assigned: int = 0
    mutated: bool = False
    grows: bool = False
    inner_grows: bool = False  # what its elements hold grows: push!(xs[1], x)
    loop: bool = False
    param: bool = False
    outside: bool = False  # of the file's: assigned outside of loops
    definition: Optional[Node] = None
    captured_writes: set[int] = field(default_factory=set)


class Scope:
    """Names that belong together. `function` is the scope of the function (or file) around it."""

    def __init__(self, kind: str, parent: Optional[Scope]) -> None:
        self.kind = kind
        self.parent = parent
        self.vars: dict[str, Var] = {}
        self.globals: set[str] = set()
        self.function: Scope = self if kind in ("file", "function") or parent is None else parent.function
        self.outer: set[str] = set()  # written here, belonging to a function around this one
        self.file_names: set[str] = set()  # written here, belonging to the file
        self.growing_fields: set[str] = (
            set()
        )  # names of fields that something is pushed to (of the file's scope)

    def own(self, name: str) -> Var:
        """The variable of this name in this scope, made if need be."""
        if name not in self.vars:
            self.vars[name] = Var(name, self)
        return self.vars[name]

    def find_file(self) -> Scope:
        """The file's scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def find(self, name: str) -> Optional[Var]:
        """The variable that a name means here."""
        scope: Optional[Scope] = self
        while scope is not None:
            if name in scope.vars:
                return scope.vars[name]
            scope = scope.parent
        return None


# Macros whose assignments are options or logged values.
_OWN_ASSIGNMENTS = frozenset(
    {"info", "warn", "error", "debug", "nd_as_jl", "chain", "inplace", "logmsg", "testset"}
)
_SCOPED = (For, While, Let, Try, Lambda, FuncDef, Comprehension)


def resolve(tree: Block) -> Scope:
    """Bind every name of the file; returns the file's scope."""
    top = Scope("file", None)
    _declare(top, tree.items)
    for item in tree.items:
        _visit(top, item)
    return top


def bound(body: Block) -> set[str]:
    """The names that a file or module binds, without those of modules inside."""
    return {name for name, _ in _assigned(item for item in body.items if not isinstance(item, ModuleDef))}


def targets(node: Node) -> Iterator[Name]:
    """The names that an assignment to `node` binds."""
    if isinstance(node, Name):
        yield node
    elif isinstance(node, TupleForm):
        for item in node.items:
            yield from targets(item)
    elif isinstance(node, (Typed, Splat)):
        yield from targets(node.value)


def _assigned(nodes: Iterable[Node]) -> Iterator[tuple[str, Optional[Node]]]:
    """The names that statements bind in their own scope, not in one inside."""
    for node in nodes:
        if isinstance(node, Assign):
            if not node.dotted:
                for name in targets(node.target):
                    yield name.id, None
            yield from _assigned([node.value])
        elif isinstance(node, FuncDef):
            if isinstance(node.name, Name):
                yield node.name.id, node
        elif isinstance(node, (StructDef, AbstractDef)):
            yield node.name.id, node
        elif isinstance(node, ModuleDef):
            yield from _assigned(node.body.items)
        elif isinstance(node, MacroCall) and node.name in _OWN_ASSIGNMENTS:
            continue
        elif isinstance(node, Global):
            if node.word == "local":
                for declared in node.declared:
                    yield declared, None
        elif not isinstance(node, _SCOPED):
            yield from _assigned(node.children())


def _declare(scope: Scope, nodes: list[Node]) -> None:
    """Make the variables that statements bind here, unless a scope around already has them."""
    if scope.function is not scope or scope.kind == "function":
        for node in nodes:
            if isinstance(node, Global) and node.word == "global":
                scope.function.globals.update(node.declared)
    for name, definition in _assigned(nodes):
        if name in scope.function.globals:
            continue
        var = _existing(scope, name) or scope.own(name)
        if definition is not None and (var.definition is None or isinstance(definition, StructDef)):
            var.definition = definition  # a struct comes before further constructors of it


def _existing(scope: Scope, name: str) -> Optional[Var]:
    """The variable that an assignment here changes: of this scope or one around, the file's only outside functions."""
    at: Optional[Scope] = scope
    inside = scope.function.kind == "function"
    while at is not None:
        inside = inside or at.kind == "hard"  # let and @testset: what they assign is theirs
        if at.kind == "file" and inside:
            return None
        if name in at.vars:
            return at.vars[name]
        at = at.parent
    return None


def _write(scope: Scope, name: Name) -> None:
    if name.id in scope.function.globals:
        name.var = scope.find_file().own(name.id)
        scope.function.file_names.add(name.id)
    else:
        name.var = _existing(scope, name.id) or scope.own(name.id)
        owner = name.var.scope.function
        if owner is not scope.function and owner.kind == "function":
            scope.function.outer.add(name.id)
        if scope.kind == "file":
            name.var.outside = True
        elif name.var.scope.kind == "file" and scope.function.kind == "file":
            name.unclear = name.var.outside
    name.var.assigned += 1


def _changed(scope: Scope, node: Node, grows: bool = False) -> None:
    """Note that the array behind a name is written to."""
    inner = isinstance(node, Index)
    if grows and isinstance(node, Field):
        scope.find_file().growing_fields.add(node.name)
    while isinstance(node, (Index, Field)):
        node = node.obj
    if isinstance(node, Name):
        var = scope.find(node.id)
        if var is not None:
            var.mutated = True
            var.grows = var.grows or (grows and not inner)
            var.inner_grows = var.inner_grows or (grows and inner)


def _visit(scope: Scope, node: Node) -> None:
    handler: Any = _VISIT.get(type(node))
    if handler is not None:
        handler(scope, node)
        return
    for child in node.children():
        _visit(scope, child)


def _name(scope: Scope, node: Name) -> None:
    node.var = scope.find(node.id)


def _assign(scope: Scope, node: Assign) -> None:
    _visit(scope, node.value)
    if node.dotted or isinstance(node.target, (Index, Field)):
        _visit(scope, node.target)
        _changed(scope, node.target)
        return
    if node.op:
        _visit(scope, node.target)
    for name in targets(node.target):
        _write(scope, name)
    if isinstance(node.target, TupleForm):
        for item in node.target.items:
            if isinstance(item, (Index, Field)):
                _visit(scope, item)
                _changed(scope, item)
    if isinstance(node.target, Typed):
        _visit(scope, node.target.type)


def _call(scope: Scope, node: Call) -> None:
    for child in node.children():
        _visit(scope, child)
    fn = node.fn.id if isinstance(node.fn, Name) else node.fn.name if isinstance(node.fn, Field) else ""
    if fn.endswith("!") and node.args:
        for arg in node.args if fn == "shuffle!" else node.args[:1]:
            _changed(scope, arg, fn in GROWS)


def _macro(scope: Scope, node: MacroCall) -> None:
    if node.name == "inplace" and node.args and isinstance(node.args[0], Assign):
        assign = node.args[0]
        _visit(scope, assign.target)
        _visit(scope, assign.value)
        _changed(scope, assign.target)
        return
    if node.name == "nd_as_jl":
        for arg in node.args[:-1]:
            if isinstance(arg, Assign):
                _visit(scope, arg.value)
        node.scope = inner = Scope("block", scope)
        for arg in node.args[:-1]:
            for name in targets(arg.value) if isinstance(arg, Assign) else ():
                inner.own(name.id).assigned += 1  # inside, the name is an array of the same content
        body = node.args[-1]
        _declare(inner, body.items if isinstance(body, Block) else [body])
        _visit(inner, body)
        return
    if node.name == "testset" and node.args:
        for arg in node.args[:-1]:
            _visit(scope, arg)
        node.scope = inner = Scope("hard", scope)
        body = node.args[-1]
        _declare(inner, body.items if isinstance(body, Block) else [body])
        _visit(inner, body)
        return
    if node.name in ("info", "warn", "error", "debug"):
        for arg in node.args:
            _visit(scope, arg.value if isinstance(arg, Assign) else arg)
        return
    for child in node.children():
        _visit(scope, child)


def _params(scope: Scope, params: list[Param]) -> None:
    for param in params:
        if param.default is not None:
            _visit(scope, param.default)
        if param.type is not None:
            _visit(scope, param.type)
        for name in targets(param.target):
            name.var = scope.own(name.id)
            name.var.param = True
            name.var.assigned += 1


def _lambda(scope: Scope, node: Lambda) -> None:
    node.scope = inner = Scope("function", scope)
    _params(inner, node.params)
    _declare(inner, node.body.items)
    _visit(inner, node.body)


def _function(scope: Scope, node: FuncDef) -> None:
    node.scope = inner = Scope("function", scope)
    if isinstance(node.name, Name):
        node.name.var = scope.find(node.name.id)
    elif node.name is not None:
        _visit(scope, node.name)
    _params(inner, [*([node.receiver] if node.receiver else []), *node.params, *node.keywords])
    _declare(inner, node.body.items)
    _visit(inner, node.body)


def _struct(scope: Scope, node: StructDef) -> None:
    node.name.var = scope.find(node.name.id)
    if node.parent is not None:
        _visit(scope, node.parent)
    for entry in node.entries:
        if entry.default is not None:
            _visit(scope, entry.default)
        if entry.type is not None:
            _visit(scope, entry.type)
    for constructor in node.constructors:
        _function(scope, constructor)


def _loop(scope: Scope, node: For) -> None:
    node.scope = inner = Scope("block", scope)
    _bindings(inner, node.bindings)
    _declare(inner, node.body.items)
    _visit(inner, node.body)


def _bindings(inner: Scope, bindings: list[Binding]) -> None:
    for binding in bindings:
        _visit(inner, binding.iterable)
        for name in targets(binding.target):
            name.var = inner.own(name.id)
            name.var.loop = True
            name.var.assigned += 1


def _comprehension(scope: Scope, node: Comprehension) -> None:
    node.scope = inner = Scope("block", scope)
    _bindings(inner, node.bindings)
    if node.test is not None:
        _visit(inner, node.test)
    _visit(inner, node.value)
    if node.elem is not None:
        _visit(scope, node.elem)


def _while(scope: Scope, node: While) -> None:
    _visit(scope, node.test)
    node.scope = inner = Scope("block", scope)
    _declare(inner, node.body.items)
    _visit(inner, node.body)


def _let(scope: Scope, node: Let) -> None:
    node.scope = inner = Scope("hard", scope)
    for binding in node.bindings:
        if isinstance(binding, Assign):
            _visit(inner, binding.value)
            for name in targets(binding.target):
                name.var = inner.own(name.id)
                name.var.assigned += 1
        elif isinstance(binding, Name):
            inner.own(binding.id)
            binding.var = inner.vars[binding.id]
    _declare(inner, node.body.items)
    _visit(inner, node.body)


def _try(scope: Scope, node: Try) -> None:
    for part in (node.body, node.handler, node.final):
        if part is None:
            continue
        inner = Scope("block", scope)
        if part is node.handler and node.name is not None:
            node.name.var = inner.own(node.name.id)
            node.name.var.assigned += 1
        _declare(inner, part.items)
        _visit(inner, part)


def _global(scope: Scope, node: Global) -> None:
    if node.value is not None:
        _visit(scope, node.value)


def _decl(scope: Scope, node: Decl) -> None:
    _visit(scope, node.value)


_VISIT = {
    Name: _name,
    Assign: _assign,
    Call: _call,
    MacroCall: _macro,
    Lambda: _lambda,
    FuncDef: _function,
    StructDef: _struct,
    For: _loop,
    Comprehension: _comprehension,
    While: _while,
    Let: _let,
    Try: _try,
    Global: _global,
    Decl: _decl,
    Using: lambda scope, node: None,
}
