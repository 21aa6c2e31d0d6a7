"""Statements, and where the value of the last one goes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional, Union

from . import tree as t
from .blocks import block_of
from .code import call, const, integer, name, negated, shifted, text, update
from .custom import method_of
from .functional import simple_body
from .notes import Note, Refused
from .scopes import targets

if TYPE_CHECKING:
    from .translator import Translator

RETURN = "return"
Dest = Union[None, str, ast.expr]  # nowhere, returned, or assigned to


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


def statement(tr: Translator, node: t.Node, dest: Dest = None) -> None:
    """One statement. What cannot be turned is left as a comment and an error that says so."""
    lines, notes, row = len(tr.lines), len(tr.notes), tr.row
    renamed = dict(tr.renamed)
    tr.row = node.at.row
    tr._marks.clear()
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


def deliver(tr: Translator, value: ast.expr, dest: Dest) -> None:
    """Send a value where it belongs."""
    if dest == RETURN:
        tr.emit(ast.Return(value))
    elif isinstance(dest, ast.expr):
        tr.emit(ast.Assign([dest], value))
    else:
        tr.emit(ast.Expr(value))


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
        if _raising(tr, node, dest) or _loop_call(tr, node) or _opened(tr, node, dest) or _included(tr, node):
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


def _raising(tr: Translator, node: t.Call, dest: Dest) -> bool:
    if tr.called(node) not in ("error", "throw", "rethrow") or (
        isinstance(node.fn, t.Name) and node.fn.var is not None
    ):
        return False
    tr.state["raising"] = True
    try:
        tr.call(node)
    finally:
        tr.state["raising"] = False
    tr.emit(ast.Raise(tr.state.pop("raise", None), None))
    return True


def _loop_call(tr: Translator, node: t.Call) -> bool:
    """foreach(f, xs) and map for its effects are loops."""
    word = tr.called(node)
    if word != "foreach" or len(node.args) != 2:
        return False
    fn, iterable = node.args
    if isinstance(fn, t.Lambda) and len(fn.params) == 1:
        tr.emit(f"for {text(tr.target(fn.params[0].target))} in {text(tr.iterated(iterable))}:")
        with tr.indented():
            tr.block(fn.body)
        return True
    place = tr.names.fresh("each")
    tr.emit(f"for {place} in {text(tr.iterated(iterable))}:")
    with tr.indented():
        tr.emit(ast.Expr(call(tr.function_value(fn), [name(place)])))
    return True


def _opened(tr: Translator, node: t.Call, dest: Dest) -> bool:
    """open(path) do file … end."""
    if tr.called(node) != "open" or not node.args or not isinstance(node.args[0], t.Lambda):
        return False
    fn = node.args[0]
    file = text(tr.target(fn.params[0].target)) if fn.params else "_"
    tr.emit(f"with {text(call('open', [tr.expr(arg) for arg in node.args[1:]]))} as {file}:")
    with tr.indented():
        tr.block(fn.body, dest)
    return True


def _included(tr: Translator, node: t.Call) -> bool:
    """include("other.jl") brings the other file's names in."""
    if not (
        isinstance(node.fn, t.Name)
        and node.fn.id == "include"
        and node.fn.var is None
        and len(node.args) == 1
    ):
        return False
    path = node.args[0]
    if not isinstance(path, t.Str) or any(not isinstance(part, str) for part in path.parts):
        tr.refuse(node, "include of a computed path")
    shown = "".join(path.parts)
    module = shown.removesuffix(".jl").replace("-", "_").lstrip("./").replace("/", ".")
    names = tr.included.get(shown)
    if not all(part.isidentifier() for part in module.split(".")):
        tr.refuse(node, f"include of {shown}: its name is no module's")
    if names is None:
        tr.notes.append(
            Note(
                "package", node.at.row, node.at.end_row, node.at.col, f"{shown} is not among the files given"
            )
        )
        tr.emit(f"from {module} import *  # noqa: F403  # migrate: {shown} is not among the files given")
    elif names:
        tr.emit(f"from {module} import {', '.join(names)}")
    else:
        tr.emit(f"import {module}")
    return True


# assignments


def _assign(tr: Translator, node: t.Assign, dest: Dest) -> None:
    value = node.value
    if isinstance(value, t.Assign) and not node.op:
        tr.statement(value)
        value = value.target
    if tr.symbolic_assignment(node):
        return
    if node.dotted:
        _broadcast_assign(tr, node, value)
    elif node.op:
        _update(tr, node)
    else:
        _plain(tr, node, value, dest)
    if dest is not None and not (dest == RETURN and tr.state.get("changes")):
        if isinstance(node.target, (t.Name, t.Field)):
            deliver(tr, tr.expr(node.target), dest)
        elif isinstance(node.target, t.TupleForm) or isinstance(dest, ast.expr):
            deliver(tr, tr.expr(node.value), dest)


def _plain(tr: Translator, node: t.Assign, value: t.Node, dest: Dest) -> None:
    target = tr.target(node.target)
    if isinstance(node.target, t.Index) and isinstance(target, ast.Call):
        tr.refuse(node, "an assignment to this")
    if isinstance(value, (t.If, t.Let, t.Try, t.Block)) or block_of(tr, value) is not None:
        if isinstance(value, t.If) and (_value := _conditional(tr, value)) is not None:
            tr.emit(ast.Assign([target], _value))
            return
        if isinstance(node.target, (t.Name, t.Field, t.TupleForm)):
            tr.statement(value, target)
            return
    if isinstance(value, t.Lambda) and isinstance(node.target, t.Name):
        body = simple_body(tr, value)
        plain = body is not None and all(isinstance(p.target, t.Name) and not p.splat for p in value.params)
        tr.defined_before(value, tr.names.of(node.target.id), exact=True, single=body if plain else None)
        return
    made = tr.expr(value)
    tr.emit(ast.Assign([target], _own_copy(tr, node, value, made)))


def _conditional(tr: Translator, node: t.If) -> Optional[ast.expr]:
    """A short if/else as a conditional expression."""
    from .functional import _as_expression

    if node.at.end_row != node.at.row:
        return None
    made = _as_expression(node)
    return tr.expr(made) if made is not None else None


def _own_copy(tr: Translator, node: t.Assign, value: t.Node, made: ast.expr) -> ast.expr:
    """A part of an array is a copy in Julia and a view in NumPy: it matters when either is written to."""
    if not isinstance(value, t.Index) or not isinstance(node.target, t.Name) or node.target.var is None:
        return made
    if tr.type(value.obj).kind not in ("arr", "any") or tr.type(value).kind not in ("arr", "any"):
        return made
    if not isinstance(made, ast.Subscript) or tr.type(value).scalar:
        return made
    parts = made.slice.elts if isinstance(made.slice, ast.Tuple) else [made.slice]
    if not any(isinstance(part, ast.Slice) for part in parts):
        return made
    source = value.obj
    while isinstance(source, (t.Index, t.Field)):
        source = source.obj
    changed = node.target.var.mutated or (
        isinstance(source, t.Name) and source.var is not None and source.var.mutated
    )
    return call(ast.Attribute(made, "copy", ast.Load())) if changed else made


def _update(tr: Translator, node: t.Assign) -> None:
    """x += y: in place for numbers and elements, a new value for what other names may share."""
    target, kind = node.target, tr.type(node.target)
    value = tr.type(node.value)
    if node.op in ("÷", "%", "^", "//", "⊻", "\\", "⋅", ">>>"):
        made = tr.operation(node.op, target, node.value, node)
        tr.emit(ast.Assign([tr.target(target)], made))
        return
    if node.op == "*" and (kind.kind in ("str", "char") or value.kind in ("str", "char")):
        tr.emit(update(tr.target(target), "+", tr.expr(node.value)))
        return
    single = kind.scalar or kind.kind == "str"
    element_of = isinstance(target, t.Index) and not kind.arraylike
    whole = isinstance(target, t.Index) and kind.arraylike
    if whole and isinstance(node.op, str) and node.op in "+-/":
        tr.emit(update(tr.target(target), node.op, tr.expr(node.value)))
        return
    if ((single or element_of) and value.scalar) or (
        (single and node.op in ("+", "-")) and not value.arraylike
    ):
        tr.emit(update(tr.target(target), node.op, tr.expr(node.value)))
        return
    tr.emit(
        ast.Assign(
            [tr.target(target)],
            tr.operation(node.op, target, node.value, t.Binary(node.at, node.op, target, node.value)),
        )
    )


def _broadcast_assign(tr: Translator, node: t.Assign, value: t.Node) -> None:
    """x .= y and x .+= y write into x."""
    target = node.target
    kind = tr.type(target)
    if node.op:
        if node.op in ("+", "-", "*", "/") and kind.kind != "list":
            tr.emit(update(tr.target(target), node.op, tr.array(value)))
            return
        made = tr.operation(node.op, target, value, t.Binary(node.at, node.op, target, value, True))
    else:
        made = tr.array(value)
    if isinstance(target, t.Index):
        tr.emit(ast.Assign([tr.target(target)], made))
    else:
        tr.emit(ast.Assign([ast.Subscript(tr.expr(target), ast.Slice(), ast.Store())], made))


# control flow


def _if(tr: Translator, node: t.If, dest: Dest, word: str = "if") -> None:
    with tr.captured() as ahead:
        test = tr.expr(node.test)
    if ahead and word == "elif":
        tr.emit("else:")
        with tr.indented():
            tr.lines.extend(_deeper(ahead))
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


def _deeper(lines: list[Any]) -> list[Any]:
    for line in lines:
        line.depth += 1
    return lines


def _for(tr: Translator, node: t.For, dest: Dest) -> None:
    opened = 0
    tr._loops.append(node.scope)
    depth = tr.depth
    try:
        for binding in node.bindings:
            _one_loop(tr, node, binding)
            tr.depth += 1
            opened += 1
        tr.block(node.body)
    finally:
        tr.depth = depth
        tr._loops.pop()


def _one_loop(tr: Translator, node: t.For, binding: t.Binding) -> None:
    iterable = binding.iterable
    for bound in targets(binding.target):
        _own_name(tr, node, bound)
    if tr.type(iterable).kind == "provider":
        source = tr.expr(iterable)
        tr.emit(ast.Expr(call(ast.Attribute(source, "reset", ast.Load()))))
        tr.emit(f"for {text(tr.target(binding.target))} in {text(source)}:")
        return
    made = from_zero(tr, [node.body], binding)
    if made is None:
        made = tr.iterated(iterable)
    tr.emit(f"for {text(tr.target(binding.target))} in {text(made)}:")


def _own_name(tr: Translator, node: t.For, bound: t.Name) -> None:
    """A loop's variable is new in Julia: where Python would overwrite one of the same name, it gets another."""
    scope = node.scope.parent
    while bound.var is not None and scope is not None:
        other = scope.vars.get(bound.id)
        if other is not None and other is not bound.var and not other.loop:
            tr.renamed[id(bound.var)] = tr.names.fresh(f"{tr.names.of(bound.id)}_inner")
            return
        if scope is node.scope.function:
            return
        scope = scope.parent


def from_zero(tr: Translator, bodies: list[t.Node], binding: t.Binding) -> Optional[ast.expr]:
    """A loop over positions counts from zero when its variable is mostly used as one."""
    target, iterable = binding.target, binding.iterable
    numbered = target.items[0] if isinstance(target, t.TupleForm) and target.items else target
    if not isinstance(numbered, t.Name) or numbered.var is None or numbered.var.assigned > 1:
        return None
    enumerates = (
        isinstance(iterable, t.Call)
        and tr.called(iterable) == "enumerate"
        and isinstance(target, t.TupleForm)
    )
    indices = isinstance(iterable, t.Call) and tr.called(iterable) in ("eachindex",) and numbered is target
    counts = isinstance(iterable, t.Range) and iterable.step is None and numbered is target
    if not (enumerates or indices or counts):
        return None
    positions, others = _uses(tr, bodies, numbered)
    if positions <= others and (others or enumerates):
        return None
    if counts and isinstance(iterable, t.Range):
        start, stop = shifted(tr.expr(iterable.start), -1), tr.expr(iterable.stop)
        if tr.type(iterable).kind != "range":
            return None
        made = call("range", [stop] if integer(start) == 0 else [start, stop])
    elif enumerates and isinstance(iterable, t.Call):
        made = call("enumerate", [tr.iterated(iterable.args[0])])
    else:
        whole = tr.expr(iterable)
        if not isinstance(whole, ast.Call):
            return None
        made = call("range", [shifted(whole.args[1], -1)])
    tr.zero_based.add(id(numbered.var))
    return made


def _uses(tr: Translator, bodies: list[t.Node], target: t.Name) -> tuple[int, int]:
    """How often the variable stands as a position (i, i + 1), and how often elsewhere."""
    positions = others = 0
    inside: set[int] = set()
    for each in (inner for body in bodies for inner in body.walk()):
        if isinstance(each, t.Index) and tr.type(each.obj).kind in ("arr", "list", "nd", "tuple", "str"):
            for arg in each.args:
                core = arg
                if isinstance(arg, t.Binary) and arg.op in ("+", "-") and isinstance(arg.right, t.Number):
                    core = arg.left
                if isinstance(core, t.Name) and core.var is target.var:
                    positions += 1
                    inside.add(id(core))
        if isinstance(each, t.Name) and each.var is target.var and id(each) not in inside:
            others += 1
        if isinstance(each, t.Lambda):
            others += sum(isinstance(x, t.Name) and x.var is target.var for x in each.walk())
    # a walk sees a name after the index that holds it
    return positions, others


def _while(tr: Translator, node: t.While, dest: Dest) -> None:
    with tr.captured() as ahead:
        test = tr.expr(node.test)
    tr._loops.append(node.scope)
    try:
        if ahead:
            tr.emit("while True:")
            with tr.indented():
                tr.lines.extend(_deeper(ahead))
                tr.emit(f"if {text(negated(test))}:")
                with tr.indented():
                    tr.emit("break")
                tr.block(node.body)
            return
        tr.emit(f"while {text(test)}:")
        with tr.indented():
            tr.block(node.body)
    finally:
        tr._loops.pop()


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
    t.Assign: _assign,
    t.If: _if,
    t.For: _for,
    t.While: _while,
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
