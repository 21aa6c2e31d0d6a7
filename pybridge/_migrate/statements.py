"""Statements, and where the value of the last one goes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .blocks import block_of
from .code import call, const, name, negated, text
from .custom import method_of
from .notes import Note, Refused
from .scopes import targets

if TYPE_CHECKING:
    from .translator import Translator
from .assignments import assign
from .destination import RETURN, Dest, deliver
from .effects import included, looped, opened, raising
from .loops import deeper, for_loop, while_loop


def block(tr: Translator, node: Optional[t.Node], dest: Dest = None) -> None:
    """Statements one after the other; the value of the last goes to `dest`."""
    start = len(tr.lines)
    items = node.items if isinstance(node, t.Block) else [] if node is None else [node]
    code = [item for item in items if not isinstance(item, t.Comment)]
    last = code[-1] if code else None
    before: Optional[t.Node] = None
    kept = [item for item in items if isinstance(item, t.FuncDef) and method_of(item, tr.typer)[0]]
    with tr.hoisting():
        for item in items:
            if id(item) in tr.state.get("moved", ()):
                continue
            if isinstance(item, t.Comment) and any(k.at.start <= item.at.start < k.at.stop for k in kept):
                continue  # goes with its function
            if before is not None and item.at.row > before.at.end_row + 1 and len(tr.lines) > start:
                tr.lines.append(_blank())
            if isinstance(item, t.Comment):
                tr.comment(item)
            else:
                tr.statement(item, dest if item is last else None)
            before = item
    if last is None and isinstance(dest, ast.expr):
        tr.emit(ast.Assign([dest], const(None)))
    if not any(line.text and not line.text.startswith("#") for line in tr.lines[start:]) and tr.depth:
        tr.emit("pass")


def _blank() -> Any:
    from .translator import Line

    return Line(0, "")


def statement(tr: Translator, node: t.Node, dest: Dest = None) -> None:
    """One statement. What cannot be turned is left as a comment and an error that says so."""
    lines, notes, row = len(tr.lines), len(tr.notes), tr.row
    renamed = dict(tr.renamed)
    tr.row = node.at.row
    try:
        handler = _STATEMENT.get(type(node))
        if handler is not None:
            handler(tr, node, dest)
        else:
            _expression(tr, node, dest)
    except Refused as refused:
        del tr.lines[lines:]
        del tr.notes[notes:]
        tr.renamed = renamed
        left_to_a_person(tr, node, refused)
    finally:
        tr.row = row


def left_to_a_person(tr: Translator, node: t.Node, refused: Refused) -> None:
    """The Julia lines as a comment, and an error where they would run: nothing is passed over in silence."""
    from .translator import Line

    tr._marks.clear()
    tr.notes.append(Note("refused", node.at.row, node.at.end_row, refused.col, refused.why))
    tr.lines.append(Line(tr.depth, f"# migrate: {refused.why}"))
    for line in tr.source.text(node.at.start, node.at.stop).split("\n"):
        tr.lines.append(Line(tr.depth, f"#   {line}".rstrip()))
    place = f"{tr.source.name}:{node.at.row}: {refused.why}"
    definition = node.args[-1] if isinstance(node, t.MacroCall) and node.args else node
    if isinstance(node, t.Unknown) and node.why.startswith("a macro"):
        return  # each of its uses is refused
    if isinstance(node, t.FuncDef) and not isinstance(node.name, t.Name):
        return  # a method of something that is not the file's: nothing runs here
    if isinstance(definition, t.FuncDef) and isinstance(definition.name, t.Name):
        tr.emit(f"def {tr.names.of(definition.name.id)}(*args, **kwargs):", node.at.row)
        with tr.indented():
            tr.emit(ast.Raise(call("NotImplementedError", [const(place)]), None), node.at.row)
        return
    tr.emit(ast.Raise(call("NotImplementedError", [const(place)]), None), node.at.row)


# Calls whose value nobody wants when they end a function.
_NO_VALUE = frozenset(
    [
        "println",
        "print",
        "show",
        "display",
        "push!",
        "append!",
        "insert!",
        "pushfirst!",
        "prepend!",
        "sort!",
        "empty!",
        "delete!",
        "deleteat!",
        "foreach",
        "backward!",
        "attach_grad!",
        "copy!",
        "copyto!",
        "fill!",
        "merge!",
        "close",
        "flush",
        "sleep",
        "exit",
        "seed!",
        "srand",
        "waitall",
        "fit",
    ]
)


def _expression(tr: Translator, node: t.Node, dest: Dest) -> None:
    inner = block_of(tr, node)
    if inner is not None and isinstance(node, t.Call):
        tr.scoped(node, dest)
        return
    if isinstance(node, t.Logic) and (dest is None or _controls(tr, node.right)):
        _short_circuit(tr, node, dest)
        return
    if isinstance(node, t.MacroCall) and tr.macro_statement(node, dest):
        return
    if isinstance(node, t.Call):
        if raising(tr, node, dest) or looped(tr, node) or opened(tr, node, dest) or included(tr, node):
            return
        fresh = (
            tr.called(node) in _NO_VALUE
            and dest == RETURN
            and tr.type(node).kind in ("none", "list", "any", "set", "dict")
        )
        if fresh and (tr.called(node) not in ("attach_grad!",)):
            dest = None if tr.type(node).kind == "none" or tr.state.get("changes") else dest
        count = len(tr.lines)
        value = tr.call(node, statement=dest is None)
        if (
            dest is None
            and isinstance(value, (ast.Name, ast.Constant, ast.Attribute))
            and len(tr.lines) > count
        ):
            return  # the change was the point
        if isinstance(value, ast.Constant) and value.value is None and dest is None:
            return
        deliver(tr, value, dest)
        return
    if isinstance(node, t.Const) and node.value is None and dest is not None and dest == RETURN:
        tr.emit(ast.Return(None))
        return
    if dest is None and isinstance(node, t.Ternary) and (_controls(tr, node.yes) or _controls(tr, node.no)):
        _if(tr, t.If(node.at, node.test, t.Block(node.at, [node.yes]), t.Block(node.at, [node.no])), dest)
        return
    if dest is None and isinstance(node, t.Str):
        for part in node.parts:
            for line in str(part).strip().split("\n"):
                tr.emit(f"# {line}".rstrip())
        return
    deliver(tr, tr.expr(node), dest)


def _controls(tr: Translator, node: t.Node) -> bool:
    """Whether a form is a jump, an error or a change rather than a value."""
    if isinstance(node, (t.Return, t.Jump, t.Assign)):
        return True
    if isinstance(node, t.Block):
        return True
    if isinstance(node, t.MacroCall):
        return node.name in ("info", "warn", "error", "printf", "show")
    return isinstance(node, t.Call) and tr.called(node) in (
        "error",
        "throw",
        "rethrow",
        "println",
        "print",
        "push!",
    )


def _short_circuit(tr: Translator, node: t.Logic, dest: Dest) -> None:
    """test && action, test || action."""
    test = tr.expr(node.left)
    if node.op == "||":
        test = negated(test)
    tr.emit(f"if {text(test)}:")
    with tr.indented(), tr.hoisting():
        tr.statement(
            node.right, dest if _controls(tr, node.right) and not isinstance(node.right, t.Jump) else None
        )


def _if(tr: Translator, node: t.If, dest: Dest, word: str = "if") -> None:
    with tr.captured() as ahead:
        test = tr.expr(node.test)
    if ahead and word == "elif":
        tr.emit("else:")
        with tr.indented():
            tr.lines.extend(deeper(ahead))
            _if(tr, node, dest)
        return
    tr.lines.extend(ahead)
    tr.emit(f"{word} {text(test)}:", node.test.at.row)
    with tr.indented():
        tr.block(node.then, dest)
    if isinstance(node.orelse, t.If):
        _if(tr, node.orelse, dest, "elif")
    elif node.orelse is not None:
        tr.emit("else:", 0)
        with tr.indented():
            tr.block(node.orelse, dest)
    elif isinstance(dest, ast.expr):
        tr.emit("else:", 0)
        with tr.indented():
            tr.emit(ast.Assign([dest], const(None)))


def _let(tr: Translator, node: t.Let, dest: Dest) -> None:
    """A let block in line; what it binds gets another name where the name is taken outside."""
    for binding in node.bindings:
        if isinstance(binding, t.Assign):
            value = tr.expr(binding.value)
            for bound in targets(binding.target):
                _apart(tr, node, bound)
            tr.emit(ast.Assign([tr.target(binding.target)], value))
    for var in node.scope.vars.values():
        outside = node.scope.parent.find(var.name) if node.scope.parent is not None else None
        if outside is not None and id(var) not in tr.renamed:
            tr.renamed[id(var)] = tr.names.fresh(tr.names.of(var.name) + "_inner")
    tr.block(node.body, dest)


def _apart(tr: Translator, node: t.Let, bound: t.Name) -> None:
    var = bound.var
    if var is None or node.scope.parent is None or node.scope.parent.find(var.name) is None:
        return
    tr.renamed[id(var)] = tr.names.fresh(tr.names.of(var.name) + "_inner")


def _try(tr: Translator, node: t.Try, dest: Dest) -> None:
    tr.emit("try:")
    with tr.indented():
        tr.block(node.body, dest)
    if node.handler is not None:
        kind, body = _caught(node)
        error = f" as {tr.names.of(node.name.id)}" if node.name is not None else ""
        tr.emit(f"except {kind}{error}:", 0)
        with tr.indented():
            tr.block(body, dest)
    if node.final is not None:
        tr.emit("finally:", 0)
        with tr.indented():
            tr.block(node.final)


def _caught(node: t.Try) -> tuple[str, t.Block]:
    assert node.handler is not None
    return "Exception", node.handler


def _return(tr: Translator, node: t.Return, dest: Dest) -> None:
    if node.value is None or (isinstance(node.value, t.Const) and node.value.value is None):
        tr.emit("return")
        return
    if isinstance(node.value, (t.If, t.Let, t.Try, t.Block)) or block_of(tr, node.value) is not None:
        tr.statement(node.value, RETURN)
        return
    tr.emit(ast.Return(tr.expr(node.value)))


def _jump(tr: Translator, node: t.Jump, dest: Dest) -> None:
    tr.emit(node.word)


def _block(tr: Translator, node: t.Block, dest: Dest) -> None:
    tr.block(node, dest)


def _global(tr: Translator, node: t.Global, dest: Dest) -> None:
    if node.value is not None:
        tr.statement(node.value, dest)


def _decl(tr: Translator, node: t.Decl, dest: Dest) -> None:
    tr.statement(node.value, dest)


def _export(tr: Translator, node: t.Export, dest: Dest) -> None:
    tr.state.setdefault("exports", []).extend(node.exported)


def _function(tr: Translator, node: t.FuncDef, dest: Dest) -> None:
    tr.define(node)


def _structure(tr: Translator, node: t.StructDef, dest: Dest) -> None:
    tr.structure(node)


def _abstract(tr: Translator, node: t.AbstractDef, dest: Dest) -> None:
    parent = (
        tr.names.of(node.parent.id) if isinstance(node.parent, t.Name) and node.parent.var is not None else ""
    )
    tr.emit(f"class {tr.names.of(node.name.id)}{f'({parent})' if parent else ''}:")
    with tr.indented():
        tr.emit("pass")


def _module(tr: Translator, node: t.ModuleDef, dest: Dest) -> None:
    tr.module(node)


def _using(tr: Translator, node: t.Using, dest: Dest) -> None:
    tr.imported(node)


def _unknown(tr: Translator, node: t.Unknown, dest: Dest) -> None:
    tr.refuse(node, node.why)


def statement_value(tr: Translator, node: t.Node) -> ast.expr:
    """A statement inside an expression: written before it, its value in a variable."""
    if isinstance(node, t.If):
        from .functional import _as_expression

        made = _as_expression(node)
        if made is not None:
            return tr.expr(made)
    if isinstance(node, t.Block):
        items = [item for item in node.items if not isinstance(item, t.Comment)]
        if len(items) == 1:
            return tr.expr(items[0])
    if not tr._hoistable:
        return tr.refuse(node, "a block inside an expression that may not run, or runs many times")
    if isinstance(node, t.Assign):
        tr.statement(node)
        return tr.expr(node.target)
    place = tr.names.fresh("value")
    tr.statement(node, ast.Name(place, ast.Store()))
    return name(place)


_STATEMENT: dict[type, Any] = {
    t.Assign: assign,
    t.If: _if,
    t.For: for_loop,
    t.While: while_loop,
    t.Let: _let,
    t.Try: _try,
    t.Return: _return,
    t.Jump: _jump,
    t.Block: _block,
    t.Global: _global,
    t.Decl: _decl,
    t.Export: _export,
    t.FuncDef: _function,
    t.StructDef: _structure,
    t.AbstractDef: _abstract,
    t.ModuleDef: _module,
    t.Using: _using,
    t.Unknown: _unknown,
}
