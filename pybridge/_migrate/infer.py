"""Finding out what is known statically: the types of variables and expressions, from literals, calls and uses.

The passes know no order of statements: a variable's type joins everything that is ever assigned to it, a parameter's
everything that a call in the file passes. A few passes let that settle; each is one walk over the tree that starts
afresh and reads what the one before has found, so that what was unknown at first leaves no trace.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

from . import growth
from . import tree as t
from .annotations import annotated, called_struct, last_name
from .infer_forms import FORMS
from .rules import Rule, lookup
from .scopes import Scope, Var
from .types import (
    ANY,
    NONE,
    STR,
    T,
    dict_of,
    element,
    join,
    list_of,
)

PASSES = 4


@dataclass
class Function:
    """A function of the file: its methods, what it returns, and how it is called."""

    name: str
    methods: list[t.FuncDef] = field(default_factory=list)
    result: Optional[T] = None
    coming: Optional[T] = None
    plain: int = 0
    dotted: int = 0


@dataclass
class Struct:
    """A struct of the file, and what is known of its fields."""

    node: t.StructDef
    entries: dict[str, Optional[T]] = field(default_factory=dict)
    coming: dict[str, Optional[T]] = field(default_factory=dict)


class Typer:
    """The types of one file."""

    def __init__(self, tree: t.Block, top: Scope) -> None:
        self.tree = tree
        self.top = top
        self.functions: dict[str, Function] = {}
        self.structs: dict[str, Struct] = {}
        self.custom: set[str] = set()  # structs that are differentiable functions
        self.keeps = True  # they stay Julia: their bodies say nothing of what Python does
        self._in_kept = False
        self.memo: dict[int, T] = {}
        self.lists: set[int] = set()  # array literals that end up where something grows
        self._bound: dict[int, Var] = {}
        self.marks: set[int] = set()  # forms in bodies of functions that are only ever broadcast
        self._returns: list[Optional[Function]] = []
        for node in tree.walk():
            if isinstance(node, t.FuncDef) and node.receiver is not None:
                key = called_struct(last_name(node.receiver.type))
                self.functions.setdefault(key, Function(key)).methods.append(node)
            elif isinstance(node, t.FuncDef) and isinstance(node.name, t.Name):
                self.functions.setdefault(node.name.id, Function(node.name.id)).methods.append(node)
            elif isinstance(node, t.StructDef):
                entries = {
                    entry.target.id: None for entry in node.entries if isinstance(entry.target, t.Name)
                }
                self.structs[node.name.id] = Struct(node, dict(entries))

    def settle(self) -> None:
        """Walk the file until nothing new is to be expected."""
        self.lists = growth.literals(self)
        for _ in range(PASSES):
            self.memo.clear()
            for known in self.functions.values():
                known.plain = known.dotted = 0
            self.block(self.tree)
            self._turn_over()
            self.marks = {
                id(each)
                for known in self.functions.values()
                if self.elementwise(known.name)
                for method in known.methods
                for each in method.body.walk()
            }
        self.memo.clear()

    def _turn_over(self) -> None:
        """What this pass has found is what the next one reads."""
        for var in self._bound.values():
            var.type, var.coming = var.coming, None
        for function_ in self.functions.values():
            function_.result, function_.coming = function_.coming, None
        for known in self.structs.values():
            known.entries, known.coming = {**known.entries, **known.coming}, {}

    # statements

    def block(self, block: t.Block) -> T:
        """Every statement; the type of the last."""
        last: T = NONE
        for item in block.items:
            if not isinstance(item, t.Comment):
                last = self.of(item)
        return last

    def bind(self, target: t.Node, value: T) -> None:
        """What an assignment says of its target."""
        if isinstance(target, t.Name) and target.var is not None:
            self._grow(target.var, value)
        elif isinstance(target, t.TupleForm):
            for place, item in enumerate(target.items):
                if isinstance(item, t.Splat):
                    self.bind(item.value, list_of(None))
                elif value.items is not None and place < len(value.items):
                    self.bind(item, value.items[place])
                else:
                    self.bind(item, element(value))
        elif isinstance(target, t.Typed):
            self.bind(target.value, self.annotation(target.type) or value)
        elif isinstance(target, t.Field):
            self._bind_field(target, value)

    def _grow(self, var: Var, value: T) -> None:
        if var.grows and value.kind == "arr" and value.rank in (1, None):
            value = list_of(value.elem)
        var.coming = join(var.coming, value)
        self._bound[id(var)] = var

    def _bind_field(self, target: t.Field, value: T) -> None:
        obj = self.of(target.obj)
        known = self.structs.get(obj.name) if obj.kind == "struct" else None
        if known is not None:
            known.coming[target.name] = join(known.coming.get(target.name), value)

    def annotation(self, node: Optional[t.Node]) -> Optional[T]:
        """The type that a Julia type means, None if it says too little."""
        return annotated(node, self.structs)

    # expressions

    def of(self, node: Optional[t.Node]) -> T:
        """The type of a form."""
        if node is None:
            return NONE
        known = self.memo.get(id(node))
        if known is None:
            handler = FORMS.get(type(node))
            known = handler(self, node) if handler is not None else self._other(node)
            self.memo[id(node)] = known
        return known

    def _other(self, node: t.Node) -> T:
        for child in node.children():
            self.of(child)
        return ANY

    def parameters(self, node: t.FuncDef) -> None:
        """What annotations and defaults say of the parameters."""
        receiver = [node.receiver] if node.receiver else []
        for param in [*receiver, *node.params, *node.keywords]:
            said = self.annotation(param.type)
            if param.default is not None:
                default = self.of(param.default)
                said = said or (default if default.kind != "none" else None)
            if param.splat:
                said = list_of(said) if param not in node.keywords else dict_of(STR, said)
            if said is not None:
                self.bind(param.target, said)

    def passed(self, node: t.FuncDef, args: list[T], keywords: dict[str, T]) -> None:
        """What a call says of the parameters."""
        for param, value in zip(node.params, args):
            if param.splat:
                break
            if self.annotation(param.type) is None:
                self.bind(param.target, value)
        for param in node.keywords:
            if isinstance(param.target, t.Name) and param.target.id in keywords:
                self.bind(param.target, keywords[param.target.id])

    def rule(self, call: t.Call) -> Optional[Rule]:
        """The rule of the tables for a call, unless the name belongs to the file."""
        return lookup(self, call.fn)

    def elementwise(self, name: str) -> bool:
        """Whether a function of the file is only ever called with a dot: its body is about single elements."""
        known = self.functions.get(name)
        return known is not None and known.dotted > 0 and known.plain == 0
