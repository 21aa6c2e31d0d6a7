"""Functions, structs, modules and imports."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import call, const, name, text
from .custom import method_of
from .functional import _captured
from .infer import annotated
from .notes import Note
from .rules import STANDARD, base_name
from .scopes import Scope, targets
from .statements import RETURN

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


# several methods of one name


def methods(tr: Translator, items: list[t.Node]) -> None:
    """Settle beforehand how the methods of each name share one Python name."""
    by_name: dict[str, list[t.FuncDef]] = {}
    for item in items:
        if isinstance(item, t.FuncDef) and isinstance(item.name, t.Name):
            by_name.setdefault(item.name.id, []).append(item)
    for word in list(by_name):
        if word in tr.typer.structs and word not in tr.typer.custom:
            _constructors(tr, word, by_name.pop(word))
    for word, found in by_name.items():
        found = [each for each in found if each.body.items or len(found) == 1]
        if len(found) > 1:
            _settle(tr, word, found)


def _constructors(tr: Translator, word: str, found: list[t.FuncDef]) -> None:
    """Further constructors of a struct are functions of their own, told apart by their number of arguments."""
    names = tr.state.setdefault("method names", {})
    table = tr.state.setdefault("methods", {})
    taken = {len(tr.typer.structs[word].node.entries)}
    for each in found:
        least = sum(param.default is None and not param.splat for param in each.params)
        counts = set(range(least, len(each.params) + 1))
        if counts & taken or any(param.splat for param in each.params):
            tr.state.setdefault("clashing", set()).add(id(each))
            continue
        taken |= counts
        snake = "".join(
            "_" + c.lower() if c.isupper() and i else c.lower() for i, c in enumerate(tr.names.of(word))
        )
        names[id(each)] = tr.names.fresh(f"make_{snake}")
        for count in counts:
            table[(word, count)] = names[id(each)]


def _settle(tr: Translator, word: str, found: list[t.FuncDef]) -> None:
    skipped = tr.state.setdefault("skipped", set())
    found = [each for each in found if not _fills_in(found, each, skipped)]
    if len(found) < 2:
        return
    counts = [len(each.params) for each in found]
    if len(set(counts)) == 1 and counts[0] > 0:
        kinds = [_dispatch_type(tr, each) for each in found]
        if None not in kinds or kinds.count(None) == 1:
            generic = next((f for f, k in zip(found, kinds) if k is None), None)
            order = ([generic] if generic is not None else []) + [f for f in found if f is not generic]
            marks = tr.state.setdefault("dispatched", {})
            base = tr.names.of(word)
            if generic is not None and found.index(generic) == 0:
                marks[id(order[0])] = "@functools.singledispatch"
                for each, kind in zip(found, kinds):
                    if each is not generic:
                        marks[id(each)] = f"@{base}.register({kind})"
                return
            if generic is None:
                first = found[0]
                tr.state.setdefault("openers", {})[id(first)] = base
                for each, kind in zip(found, kinds):
                    marks[id(each)] = f"@{base}.register({kind})"
                return
    names = tr.state.setdefault("method names", {})
    table = tr.state.setdefault("methods", {})
    if len(set(counts)) == len(counts) and not any(
        p.splat or p.default is not None for f in found for p in f.params
    ):
        for each in found[1:]:
            names[id(each)] = tr.names.fresh(f"{tr.names.of(word)}_{len(each.params)}")
            table[(word, len(each.params))] = names[id(each)]
            tr.notes.append(
                Note(
                    "methods",
                    each.at.row,
                    each.at.row,
                    each.at.col,
                    f"methods of {word} by number of arguments have names of their own",
                )
            )
        return
    for each in found[1:]:
        tr.state.setdefault("clashing", set()).add(id(each))


def _fills_in(found: list[t.FuncDef], node: t.FuncDef, skipped: set[int]) -> bool:
    """f(x) = f(x, 1) beside f(x, n): a default of the longer method."""
    items = [item for item in node.body.items if not isinstance(item, t.Comment)]
    only = items[0] if len(items) == 1 else None
    if not isinstance(only, t.Call) or base_name(only.fn) != base_name(node.name or only.fn) or only.keywords:
        return False
    own = [p.target.id for p in node.params if isinstance(p.target, t.Name)]
    given = [arg.id if isinstance(arg, t.Name) else None for arg in only.args]
    if given[: len(own)] != own or len(only.args) <= len(own):
        return False
    for other in found:
        if other is not node and len(other.params) == len(only.args):
            for param, value in zip(other.params[len(own) :], only.args[len(own) :]):
                param.default = value
            skipped.add(id(node))
            return True
    return False


def _dispatch_type(tr: Translator, node: t.FuncDef) -> Optional[str]:
    kind = node.params[0].type
    if kind is None:
        return None
    if isinstance(kind, t.Name) and kind.var is not None:
        return tr.names.of(kind.id)
    said = annotated(kind)
    return {
        "int": "int",
        "float": "float",
        "str": "str",
        "bool": "bool",
        "nd": "mx.nd.NDArray",
        "dict": "dict",
        "list": "list",
        "arr": "np.ndarray",
        "tuple": "tuple",
        "none": "type(None)",
        "num": "float",
    }.get(said.kind if said is not None else "")


# structs


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


_SPECIAL = {
    "show": "__str__",
    "length": "__len__",
    "getindex": "__getitem__",
    "+": "__add__",
    "*": "__mul__",
    "-": "__sub__",
    "==": "__eq__",
}


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
        tr.emit("@dataclass" if node.mutable else "@dataclass(frozen=True)")
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


# modules


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


__all__ = [
    "call",
    "defined_before",
    "docstring",
    "function",
    "imported",
    "methods",
    "module",
    "structure",
    "targets",
]
