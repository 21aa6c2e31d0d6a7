"""Functions, structs, modules and imports."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .annotations import annotated
from .code import name, text
from .custom import method_of
from .destination import RETURN
from .functional import _captured
from .notes import Note
from .rules import STANDARD, base_name
from .scopes import Scope

if TYPE_CHECKING:
    from .translator import Translator


_ANNOTATIONS = {
    "int": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "sym": "str",
    "nd": "mx.nd.NDArray",
}


def function(tr: Translator, node: t.FuncDef) -> None:
    """A method: def, with the other methods of the name settled beforehand."""
    if node.receiver is not None:
        _call_method(tr, node)
        return
    if isinstance(node.name, t.Field):
        if method_of(node, tr.typer)[0]:
            return  # stands with its struct
        _extended(tr, node, node.name)
        return
    assert isinstance(node.name, t.Name)
    if id(node) in tr.state.get("skipped", ()):
        return
    if id(node) in tr.state.get("clashing", ()):
        tr.refuse(node, f"another method of {node.name.id}: Python has one function of a name")
    opener = tr.state.get("openers", {}).get(id(node))
    if opener:
        head = ", ".join(text(tr.target(param.target)) for param in node.params)
        tr.emit("@functools.singledispatch")
        tr.emit(f"def {opener}({head}):")
        with tr.indented():
            first = text(tr.target(node.params[0].target))
            tr.emit(f'raise TypeError(f"{opener} has no method for {{type({first}).__name__}}")')
    made = tr.state.get("method names", {}).get(id(node)) or tr.names.of(node.name.id)
    dispatched = tr.state.get("dispatched", {}).get(id(node))
    if dispatched is not None:
        tr.emit(dispatched)
        made = "_" if dispatched != "@functools.singledispatch" else made
    _definition(tr, made, node, node.params, node.keywords)


def _definition(
    tr: Translator,
    made: str,
    node: Any,
    params: list[t.Param],
    keywords: list[t.Param],
    first: str = "",
    captured: Optional[list[str]] = None,
) -> None:
    """`def` with its parameters, docstring, and body."""
    head, late = _parameters(tr, params, keywords, first, captured or [])
    from .translator import Line

    if tr.lines and tr.lines[-1].text and not tr.lines[-1].text.startswith(("#", "@")) and tr.depth == 0:
        tr.lines.append(Line(0, ""))
    tr.emit(f"def {made}({head}):")
    changes = made + "!" == getattr(getattr(node, "name", None), "id", "")
    before = tr.state.get("changes")
    tr.state["changes"] = changes
    with tr.indented(), tr.inside_function(node), tr.hoisting():
        if getattr(node, "doc", None) is not None:
            docstring(tr, node.doc)
        _declared(tr, node.scope)
        _late(tr, late)
        for param in params:
            if isinstance(param.target, t.TupleForm):
                tr.emit(ast.Assign([tr.target(param.target)], name(_tuple_name(tr, param))))
        tr.block(node.body, RETURN)
    tr.state["changes"] = before


def _late(tr: Translator, late: list[tuple[str, ast.expr]]) -> None:
    """Defaults that have to be made at each call."""
    for made, value in late:
        tr.emit(f"if {made} is None:")
        with tr.indented():
            tr.emit(ast.Assign([ast.Name(made, ast.Store())], value))


def _tuple_name(tr: Translator, param: t.Param) -> str:
    key = f"tuple {id(param)}"
    if key not in tr.state:
        tr.state[key] = tr.names.fresh("pair")
    return str(tr.state[key])


def _declared(tr: Translator, scope: Optional[Scope]) -> None:
    if scope is None:
        return
    for word, names in (("nonlocal", scope.outer), ("global", scope.file_names)):
        if names:
            tr.emit(f"{word} {', '.join(sorted(tr.names.of(each) for each in names))}")


def _parameters(
    tr: Translator, params: list[t.Param], keywords: list[t.Param], first: str, captured: list[str]
) -> tuple[str, list[tuple[str, ast.expr]]]:
    """The text between the parentheses, and the defaults that have to be made at each call."""
    pieces = [first] if first else []
    late: list[tuple[str, ast.expr]] = []
    starred = False
    for param in params:
        pieces.append(_one(tr, param, late))
        starred = starred or param.splat
    pieces += [f"{each}={each}" for each in captured]
    splats = [param for param in keywords if param.splat]
    plain = [param for param in keywords if not param.splat]
    if plain and not starred:
        pieces.append("*")
    pieces += [_one(tr, param, late) for param in plain]
    pieces += [f"**{text(tr.target(param.target))}" for param in splats]
    return ", ".join(pieces), late


def _one(tr: Translator, param: t.Param, late: list[tuple[str, ast.expr]]) -> str:
    if isinstance(param.target, t.TupleForm):
        return _tuple_name(tr, param)
    made = text(tr.target(param.target))
    if param.splat:
        return f"*{made}"
    said = annotated(param.type)
    hint = _ANNOTATIONS.get(said.kind, "") if said is not None else ""
    if param.default is None:
        return f"{made}: {hint}" if hint else made
    with tr.without_hoisting():
        default = (
            tr.function_value(param.default) if isinstance(param.default, t.Name) else tr.expr(param.default)
        )
    if not _constant(tr, default, param.default):
        late.append((made, default))
        return f"{made}=None"
    shown = text(default)
    return f"{made}: {hint} = {shown}" if hint and shown != "None" else f"{made}={shown}"


def _constant(tr: Translator, value: ast.expr, source: t.Node) -> bool:
    """Whether a default may be made once: Julia makes it at each call."""
    if isinstance(value, (ast.Constant, ast.Lambda)):
        return True
    if isinstance(value, ast.UnaryOp):
        return _constant(tr, value.operand, source)
    if isinstance(value, ast.Tuple):
        return all(_constant(tr, item, source) for item in value.elts)
    if isinstance(value, ast.BinOp):
        return _constant(tr, value.left, source) and _constant(tr, value.right, source)
    if isinstance(value, (ast.Attribute, ast.Name)):
        return text(value).startswith(("math.", "np.", "mx.")) or (
            isinstance(source, t.Name) and source.var is None
        )
    return bool(isinstance(value, ast.Call) and text(value.func) in ("mx.cpu", "mx.gpu"))


def defined_before(
    tr: Translator, node: t.Lambda, purpose: str = "", exact: bool = False, single: Optional[t.Node] = None
) -> ast.expr:
    """An anonymous function as a def before the statement that uses it."""
    if not tr._hoistable:
        return tr.refuse(node, "a function of several statements inside an expression that runs many times")
    made = purpose if exact else tr.names.fresh(purpose or ("block" if node.do else "function"))
    if exact:
        tr.names.taken.add(made)
    if single is not None:
        node.body = t.Block(node.body.at, [single])
    _definition(tr, made, node, node.params, [], captured=[] if exact else _captured(tr, node))
    return name(made)


def docstring(tr: Translator, node: t.Str) -> None:
    """Julia's documentation as Python's."""
    from .translator import Line

    shown = "".join(
        part if isinstance(part, str) else "$" + tr.source.text(part.at.start, part.at.stop)
        for part in node.parts
    ).strip()
    lines = shown.split("\n")
    signature = lines[0].startswith("    ") or (len(lines) > 1 and not lines[0].strip())
    if signature:
        lines[0] = lines[0].strip()
    raw = "r" if "\\" in shown else ""
    shown = "\n".join(lines).replace('"""', "'''")
    if "\n" not in shown:
        tail = " " if shown.endswith('"') else ""
        tr.lines.append(Line(tr.depth, f'{raw}"""{shown}{tail}"""', node.at.row))
        return
    tr.lines.append(Line(tr.depth, f'{raw}"""' + lines[0], node.at.row))
    for line in shown.split("\n")[1:]:
        tr.lines.append(Line(tr.depth if line.strip() else 0, line.rstrip(), 0))
    tr.lines.append(Line(tr.depth, '"""', 0))


def _call_method(tr: Translator, node: t.FuncDef) -> None:
    """(m::Model)(x): a method of the class, written with it."""
    if id(node) in tr.state.get("placed", ()):
        return
    tr.refuse(node, "a callable type that the file does not define")


def _extended(tr: Translator, node: t.FuncDef, target: t.Field) -> None:
    """Base.show(io, x::T) and its like: a special method of the class."""
    if id(node) in tr.state.get("placed", ()):
        return
    tr.refuse(node, f"a method added to {base_name(target.obj)}.{target.name}")


def module(tr: Translator, node: t.ModuleDef) -> None:
    """module … end: a Python file is a module already."""
    if node.doc is not None:
        docstring(tr, node.doc)
    tr.modules.add(node.name)
    tr.methods(node.body.items)
    depth, tr.depth = tr.depth, 0
    try:
        tr.block(node.body)
    finally:
        tr.depth = depth


def imported(tr: Translator, node: t.Using) -> None:
    """using and import: MXNet's and pybridge's imports are written where they are needed."""
    for path, _names in node.modules:
        top = path.split(".")[0].split(" ")[0]
        if path.startswith("."):
            continue
        if top in ("MXNet", "mx", "PyBridge") or top in STANDARD:
            continue
        if top in tr.modules or top in tr.elsewhere:
            continue
        tr.notes.append(
            Note(
                "package",
                node.at.row,
                node.at.end_row,
                node.at.col,
                f"no counterpart known for the package {top}",
            )
        )
        tr.emit(f"# migrate: no counterpart known for the package {top}")
