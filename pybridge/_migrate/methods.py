"""Several methods of one name, which share one name of Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Optional

from . import tree as t
from .annotations import annotated
from .notes import Note
from .rules import base_name

if TYPE_CHECKING:
    from .translator import Translator


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
