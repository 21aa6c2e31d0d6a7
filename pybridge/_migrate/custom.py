"""Differentiable functions: structs with forward and backward.

By default they keep their Julia code, in a file beside the Python one, and Python calls them through `pb.function`; by
choice they become subclasses of `mx.autograd.Function`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING, Optional

from . import tree as t
from .code import call, const, name
from .notes import Note
from .rules import base_name

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator

METHODS = {"forward": "forward", "backward!": "backward", "backward": "backward"}


def find(typer: Typer) -> None:
    """The structs of the file that are differentiable functions."""
    for node in typer.tree.walk():
        word, struct = method_of(node, typer)
        if word and struct:
            typer.custom.add(struct)


def method_of(node: t.Node, typer: Typer) -> tuple[str, str]:
    """("forward", "Swish") for `mx.forward(f::Swish, x)`."""
    if not isinstance(node, t.FuncDef) or not isinstance(node.name, t.Field):
        return "", ""
    word = METHODS.get(node.name.name, "")
    if not word or base_name(node.name.obj) not in ("mx", "PyBridge", "MXNet") or not node.params:
        return "", ""
    kind = node.params[0].type
    struct = base_name(kind) if kind is not None else ""
    return (word, struct) if struct in typer.structs else ("", "")


def _methods(tr: Translator, struct: str) -> list[tuple[str, t.FuncDef]]:
    found = []
    for node in tr.typer.tree.walk():
        word, of = method_of(node, tr.typer)
        if of == struct and isinstance(node, t.FuncDef):
            found.append((word, node))
    return found


def definition(tr: Translator, node: t.StructDef) -> None:
    """Where the struct stood: what Python calls."""
    if tr.functions == "python":
        _as_autograd(tr, node)
        return
    _as_julia(tr, node)


# kept in Julia


def module_name(tr: Translator) -> str:
    """The Julia module that holds the functions kept: named after the file, so that two files do not meet."""
    stem = tr.source.name.rsplit("/", 1)[-1].removesuffix(".jl")
    words = "".join(letter if letter.isascii() and letter.isalnum() else " " for letter in stem).split()
    made = "".join(word[:1].upper() + word[1:] for word in words) or "Kept"
    return ("M" + made if made[0].isdigit() else made) + "Functions"


_NARROWED = """\
# An NDArray keeps its element type in arithmetic with numbers, where an array would widen it.
narrowed(like, y) = y
narrowed(like, ys::Tuple) = map(y -> narrowed(like, y), ys)
function narrowed(like, y::AbstractArray)
    T = eltype(first(x for x in like if x isa AbstractArray))
    eltype(y) === T ? y : convert(Array{T}, y)
end"""


def _as_julia(tr: Translator, node: t.StructDef) -> None:
    module = module_name(tr)
    if not tr.kept:
        tr.kept.append("")
        tr.state["kept ids"] = set()
        if tr.embed:
            tr.state["embed row"] = len(tr.lines)
        else:
            tr.emit(f'pb.include(Path(__file__).with_name("{tr.julia_name}"))')
    struct = node.name.id
    kept = _methods(tr, struct)
    for needed in _needed(tr, [node, *(method for _, method in kept)]):
        _keep(tr, needed, "")
    _keep(tr, node, struct)
    for word, method in kept:
        _keep(tr, method, word)
    if any(isinstance(m.name, t.Field) and base_name(m.name.obj) != "PyBridge" for _, m in kept):
        if "narrowed" not in tr.state:
            tr.state["narrowed"] = True
            tr.kept.append(_NARROWED)
        tr.kept.append(
            f"PyBridge.forward(f::{struct}, xs...) = narrowed(xs, forward(f, xs...))\n"
            f"PyBridge.backward(f::{struct}, Δs...) = narrowed(Δs, backward(f, Δs...))"
        )
    if _called_with_positions(tr, node):
        params = _constructor_params(node)
        head = ", ".join(tr.source.text(param.at.start, param.at.stop) for param in params)
        words = ", ".join(_constructor_words(node))
        tr.kept.append(f"{struct}(; {head}) = {struct}({words})")
    tr.emit(f'{tr.names.of(struct)} = pb.function("{module}.{struct}")', node.at.row)


def _keep(tr: Translator, node: t.Node, word: str) -> None:
    """The Julia code of a definition, under PyBridge's names."""
    ids: set[int] = tr.state["kept ids"]
    if id(node) in ids:
        return
    ids.add(id(node))
    source = _written(tr, node)
    if isinstance(node, t.StructDef):
        head, _, rest = source.partition("\n") if "\n" in source else (source, "", "")
        if node.name.id in tr.typer.custom:
            head = head.split("<:")[0].rstrip() + " <: CustomFunction"
            if not rest and "end" in source:
                head, rest = source, ""
        source = head + ("\n" + rest if rest else "")
    elif isinstance(node, t.FuncDef) and isinstance(node.name, t.Field) and word:
        start = node.name.at.start - node.at.start
        raw = source.encode("utf-8")
        stop = node.name.at.stop - node.at.start
        own = base_name(node.name.obj) == "PyBridge"
        written = f"PyBridge.{word}" if own else word
        source = (raw[:start] + written.encode() + raw[stop:]).decode("utf-8")
    for comment in reversed(tr.state.get("moved comments", {}).get(id(node), [])):
        source = comment.text + "\n" + source
    doc = getattr(node, "doc", None)
    if doc is not None:
        source = tr.source.text(doc.at.start, doc.at.stop) + "\n" + source
    tr.kept.append(source)
    if isinstance(node, (t.StructDef, t.FuncDef)) and not isinstance(node, t.Decl) and word:
        tr.notes.append(Note("julia", node.at.row, node.at.end_row, node.at.col, "kept in Julia"))
    for each in node.walk():
        if (
            isinstance(each, t.Field)
            and base_name(each.obj) == "mx"
            and each is not getattr(node, "name", None)
        ):
            why = f"mx.{each.name} inside a function that stays Julia, where its arguments are plain arrays"
            tr.notes.append(Note("function", each.at.row, each.at.row, each.at.col, why))


def _written(tr: Translator, node: t.Node) -> str:
    """The source of a definition. Here, too, there is one module: `M.f` is a plain name, and may be a new one."""
    new = [each for each in node.walk() if isinstance(each, t.Name) and _is_new(tr, each)]
    parts, place = [], node.at.start
    for each in sorted(new, key=lambda each: each.at.start):
        parts += [tr.source.text(place, each.at.start), each.id]
        place = each.at.stop
    return "".join([*parts, tr.source.text(place, node.at.stop)])


def _is_new(tr: Translator, node: t.Name) -> bool:
    written = tr.source.text(node.at.start, node.at.stop)
    return node.id in tr.apart or (written != node.id and written.endswith(f".{node.id}"))


def _needed(tr: Translator, nodes: list[t.Node]) -> list[t.Node]:
    """Functions and constants of the file that the definitions use, those used first."""
    order: list[t.Node] = []
    seen: set[int] = set()
    constants = {target.id: item for item in _statements(tr.typer.tree) for target in _constant_targets(item)}

    def visit(node: t.Node) -> None:
        for each in node.walk():
            if not isinstance(each, t.Name) or each.var is None or each.var.scope is not tr.top:
                continue
            found: Optional[t.Node] = each.var.definition or constants.get(each.id)
            if found is None or id(found) in seen or found in nodes:
                continue
            seen.add(id(found))
            visit(found)
            order.append(found)

    for node in nodes:
        visit(node)
    return order


def _statements(block: t.Block) -> Iterator[t.Node]:
    """Those at top level, of modules too."""
    for item in block.items:
        if isinstance(item, t.ModuleDef):
            yield from _statements(item.body)
        else:
            yield item


def _constant_targets(item: t.Node) -> Iterator[t.Name]:
    inner = item.value if isinstance(item, t.Decl) else item
    if isinstance(inner, t.Assign) and isinstance(inner.target, t.Name) and not inner.op:
        yield inner.target


def _constructor_params(node: t.StructDef) -> list[t.Param]:
    params = node.constructors[0].params if node.constructors else node.entries
    return [param for param in params if isinstance(param.target, t.Name)]


def _constructor_words(node: t.StructDef) -> list[str]:
    return [param.target.id for param in _constructor_params(node) if isinstance(param.target, t.Name)]


def _called_with_positions(tr: Translator, node: t.StructDef) -> bool:
    return any(
        isinstance(each, t.Call)
        and each.args
        and isinstance(each.fn, t.Name)
        and each.fn.var is node.name.var
        for each in tr.typer.tree.walk()
    )


def julia_file(tr: Translator) -> str:
    """The text of the Julia file beside the Python one, "" if nothing stays Julia."""
    parts = [part.strip("\n") for part in tr.kept if part]
    if not parts:
        return ""
    module = module_name(tr)
    body = "\n\n".join(parts)
    return f"module {module}\n\nusing PyBridge\n\n{body}\n\nend\n"


# calls


def call_of(tr: Translator, node: t.Call, fn: t.Name) -> ast.expr:
    """Swish() makes a function, f(x) calls one."""
    if isinstance(fn.var.definition if fn.var else None, t.StructDef):
        return _made(tr, node, fn)
    args = [tr.expr(arg) for arg in node.args]
    own = tr.expr(fn)
    return call(call(own) if tr.functions == "python" else own, args)


def applied(tr: Translator, node: t.Call) -> Optional[ast.expr]:
    """Swish(2)(x), made for one call; None if `node` is another call."""
    made = node.fn
    if not isinstance(made, t.Call) or not isinstance(made.fn, t.Name) or made.fn.id not in tr.typer.custom:
        return None
    own, keywords = name(tr.names.of(made.fn.id)), _keywords(tr, made, made.fn)
    args = [tr.expr(arg) for arg in node.args]
    if tr.functions == "python":
        return call(call(own, [], keywords), args)
    return call(own, args, keywords)


def _made(tr: Translator, node: t.Call, fn: t.Name) -> ast.expr:
    own, keywords = name(tr.names.of(fn.id)), _keywords(tr, node, fn)
    if not keywords:
        return own
    if tr.functions == "python":
        return call("functools.partial", [own], keywords)
    return call("pb.function", [const(f"{module_name(tr)}.{fn.id}")], keywords)


def _keywords(tr: Translator, node: t.Call, fn: t.Name) -> list[tuple[Optional[str], ast.expr]]:
    """The arguments of a constructor by name; Julia's names, where Julia makes the instance."""
    words = _constructor_words(tr.typer.structs[fn.id].node)
    if len(node.args) > len(words):
        tr.refuse(node, f"{fn.id} with {len(node.args)} arguments")
    given = [*zip(words, node.args), *node.keywords]
    python = tr.functions == "python"
    return [(tr.names.of(word) if word and python else word, tr.expr(value)) for word, value in given]


# as mx.autograd.Function


def _as_autograd(tr: Translator, node: t.StructDef) -> None:
    from .definitions import _definition, _late, _parameters, docstring
    from .translator import Line

    made = tr.names.of(node.name.id)
    tr.emit(f"class {made}(mx.autograd.Function):", node.at.row)
    with tr.indented():
        if node.doc is not None:
            docstring(tr, node.doc)
        words = _constructor_words(node) if node.constructors or _called_with_positions(tr, node) else []
        if words:
            params = [t.Param(each.at, each.target, None, each.default) for each in _constructor_params(node)]
            head, late = _parameters(tr, params, [], "self", [])
            tr.emit(f"def __init__({head}):")
            with tr.indented():
                tr.emit("super().__init__()")
                _late(tr, late)
                for word in words:
                    tr.emit(f"self.{tr.names.of(word)} = {tr.names.of(word)}")
            tr.lines.append(Line(0, ""))
        for word, method in _methods(tr, node.name.id):
            row, tr.row = tr.row, method.at.row
            first = method.params[0].target
            assert isinstance(first, t.Name)
            own = "self"
            if first.var is not None:
                tr.renamed[id(first.var)] = own
            _definition(tr, word, method, method.params[1:], method.keywords, first=own)
            tr.row = row
            tr.lines.append(Line(0, ""))
