"""Structs as dataclasses, with the methods that Python keeps in classes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .annotations import annotated
from .code import const, name, text
from .notes import Note
from .rules import base_name

if TYPE_CHECKING:
    from .translator import Translator
from .definitions import _ANNOTATIONS, _constant, _definition, _late, _parameters, docstring

_SPECIAL = {
    "show": "__str__",
    "length": "__len__",
    "getindex": "__getitem__",
    "+": "__add__",
    "*": "__mul__",
    "-": "__sub__",
    "==": "__eq__",
}

_UPDATES = frozenset({"add_to!", "sub_from!", "mul_to!", "div_from!", "mod_from!"})


def special_of(tr: Translator, node: t.Node) -> str:
    """The struct of the file that a definition gives a call, a text form or an operator; "" for any other."""
    if not isinstance(node, t.FuncDef):
        return ""
    kind: Optional[t.Node] = None
    if node.receiver is not None:
        kind = node.receiver.type
    elif isinstance(node.name, t.Field) and node.name.name in _SPECIAL and base_name(node.name.obj) == "Base":
        place = 1 if node.name.name == "show" else 0
        kind = node.params[place].type if len(node.params) > place else None
    word = base_name(kind) if kind is not None else ""
    return word if word in tr.typer.structs else ""


def structure(tr: Translator, node: t.StructDef) -> None:
    """A struct as a dataclass; differentiable functions as pybridge's or autograd's."""
    if node.name.id in tr.typer.custom:
        tr.custom_function(node)
        return
    parent = ""
    if isinstance(node.parent, t.Name) and node.parent.var is not None:
        parent = f"({tr.names.of(node.parent.id)})"
    elif node.parent is not None and base_name(node.parent) not in ("Any",):
        tr.notes.append(
            Note(
                "type",
                node.at.row,
                node.at.row,
                node.at.col,
                f"{base_name(node.parent)} is no class in Python",
            )
        )
    made = tr.names.of(node.name.id)
    with_init = [c for c in node.constructors if _initializes(c)]
    if len(node.constructors) > 1 or (node.constructors and not with_init):
        tr.refuse(node, "several inner constructors, or one that is more than a call of new")
    if not with_init:
        tr.emit("@dataclass" if node.mutable or _updated(tr, node) else "@dataclass(frozen=True)")
    tr.emit(f"class {made}{parent}:")
    with tr.indented():
        if node.doc is not None:
            docstring(tr, node.doc)
        rows = {comment.at.row: comment for comment in node.comments}
        for row in sorted(r for r in rows if not any(e.at.row == r for e in node.entries)):
            if node.entries and row < node.entries[0].at.row:
                tr.comment(rows.pop(row))
        if with_init:
            _init(tr, node, with_init[0])
        else:
            for entry in node.entries:
                _entry(tr, node, entry)
                if entry.at.row in rows:
                    comment = rows.pop(entry.at.row)
                    tr.comment(t.Comment(comment.at, comment.text, True))
            if not node.entries:
                tr.emit("pass")
        for method in tr.state.get("members", {}).get(node.name.id, []):
            _member(tr, method)


def _updated(tr: Translator, node: t.StructDef) -> bool:
    """Whether an array in a field is updated in place; Python's `x.w -= y` also sets the field."""
    fields = {entry.target.id for entry in node.entries if isinstance(entry.target, t.Name)}
    for each in tr.typer.tree.walk():
        target = each.target if isinstance(each, t.Assign) and each.op else None
        if isinstance(each, t.Call) and base_name(each.fn) in _UPDATES and each.args:
            target = each.args[0]
        if isinstance(target, t.Field) and target.name in fields:
            return True
    return False


def _entry(tr: Translator, node: t.StructDef, entry: t.Param) -> None:
    said = annotated(entry.type)
    hint = _ANNOTATIONS.get(said.kind, "") if said is not None else ""
    if isinstance(entry.type, t.Name) and entry.type.var is not None:
        hint = f'"{tr.names.of(entry.type.id)}"'
    field = tr.names.of(entry.target.id) if isinstance(entry.target, t.Name) else "_"
    line = f"{field}: {hint or 'Any'}"
    if entry.default is not None:
        value = tr.expr(entry.default)
        if _constant(tr, value, entry.default):
            line += f" = {text(value)}"
        else:
            line += f" = field(default_factory=lambda: {text(value)})"
    tr.emit(line, entry.at.row)


def _initializes(node: t.FuncDef) -> bool:
    items = [item for item in node.body.items if not isinstance(item, t.Comment)]
    last = items[-1] if items else None
    if isinstance(last, t.Return):
        last = last.value
    return isinstance(last, t.Call) and base_name(last.fn) == "new"


def _init(tr: Translator, node: t.StructDef, constructor: t.FuncDef) -> None:
    """An inner constructor as __init__: what new is given goes to the fields."""
    items = list(constructor.body.items)
    last = items.pop()
    while isinstance(last, t.Comment):
        last = items.pop()
    new = last.value if isinstance(last, t.Return) else last
    assert isinstance(new, t.Call)
    head, late = _parameters(tr, constructor.params, constructor.keywords, "self", [])
    tr.emit(f"def __init__({head}):", constructor.at.row)
    with tr.indented(), tr.hoisting():
        _late(tr, late)
        if items:
            tr.block(t.Block(constructor.body.at, items))
        for number, entry in enumerate(node.entries):
            if isinstance(entry.target, t.Name):
                value = tr.expr(new.args[number]) if number < len(new.args) else const(None)
                tr.emit(
                    ast.Assign(
                        [ast.Attribute(name("self"), tr.names.of(entry.target.id), ast.Store())], value
                    ),
                    new.at.row,
                )
        if not node.entries:
            tr.emit("pass")


def _member(tr: Translator, node: t.FuncDef) -> None:
    """A method that the class has in Python: __call__, __str__, …"""
    from .translator import Line

    tr.lines.append(Line(0, ""))
    row, tr.row = tr.row, node.at.row
    for comment in tr.state.get("moved comments", {}).get(id(node), ()):
        tr.comment(comment)
    try:
        if node.receiver is not None:
            own = text(tr.target(node.receiver.target))
            _definition(tr, "__call__", node, node.params, node.keywords, first=own if own != "_" else "self")
            return
        assert isinstance(node.name, t.Field)
        if node.name.name == "show":
            _shown(tr, node)
            return
        _definition(tr, _SPECIAL[node.name.name], node, node.params, node.keywords)
    finally:
        tr.row = row


def _shown(tr: Translator, node: t.FuncDef) -> None:
    """show(io, x): what is printed becomes what __str__ returns."""
    from .code import formatted
    from .text import _pieces

    pieces: list[Any] = []
    stream = node.params[0].target
    for item in node.body.items:
        printed = isinstance(item, t.Call) and tr.called(item) in ("print", "println", "show", "write")
        if not printed or not isinstance(item, t.Call):
            tr.refuse(node, "show that does more than print")
        first = item.args[0] if item.args else None
        if not (isinstance(first, t.Name) and isinstance(stream, t.Name) and first.id == stream.id):
            tr.refuse(node, "show that prints elsewhere")
        for arg in item.args[1:]:
            made = tr.expr(arg)
            pieces.extend(_pieces(made) if isinstance(made, (ast.JoinedStr, ast.Constant)) else [made])
        if tr.called(item) == "println":
            pieces.append("\n")
    own = text(tr.target(node.params[1].target))
    tr.emit(f"def __str__({own}):")
    with tr.indented():
        tr.emit(ast.Return(formatted(pieces)))
