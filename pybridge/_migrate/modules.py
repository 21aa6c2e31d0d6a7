"""All modules of a file become one Python module, where names that several of them bind are kept apart.

The file's own name stays as it is, then that of a module whose name the file takes in (`using .M: f`), then the first
one; in other modules `f` becomes `M_f`, and so do `M.f` and what `using` brings to the places where it is meant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Optional

from . import tree as t
from .scopes import Scope, bound, resolve


@dataclass
class _Place:
    """The file (its name is empty) or a module: its statements, what they bind, what it exports and takes in."""

    name: str
    body: t.Block
    binds: set[str] = field(init=False)
    exports: set[str] = field(init=False)
    takes: list[tuple[str, Optional[list[str]]]] = field(init=False)

    def __post_init__(self) -> None:
        self.binds = bound(self.body)
        forms = [node for node in self.own() if isinstance(node, (t.Export, t.Using))]
        self.exports = {name for form in forms if isinstance(form, t.Export) for name in form.exported}
        self.takes = [
            (path.split(".")[-1], names)
            for form in forms
            if isinstance(form, t.Using)
            for path, names in form.modules
        ]

    def own(self) -> Iterator[t.Node]:
        """Its forms, without those of the modules inside."""
        waiting: list[t.Node] = list(self.body.items)
        while waiting:
            node = waiting.pop()
            yield node
            if not isinstance(node, t.ModuleDef):
                waiting.extend(node.children())

    def taken(self, other: _Place) -> set[str]:
        """The names that it has from another place without naming that place."""
        found: set[str] = set()
        for module, names in self.takes:
            if module == other.name:
                found |= other.exports if names is None else set(names)
        return found - self.binds


def flatten(tree: t.Block) -> dict[str, str]:
    """Make one namespace of the file and its modules: `M.f` becomes a plain name, a new one where `f` alone is taken.

    Returns:
        The new names, by the old ones with their modules: {"M.f": "M_f"}.
    """
    inner = [_Place(node.name, node.body) for node in tree.walk() if isinstance(node, t.ModuleDef)]
    places = [_Place("", tree), *inner]
    renamed = _renamed(places, _hidden(tree)) if inner else {}
    if renamed:
        _set_apart(places, renamed)
    _unqualify(tree, renamed, {"Main", *(place.name for place in inner)})
    return renamed


def _set_apart(places: list[_Place], renamed: dict[str, str]) -> None:
    _, *inner = places
    for place in reversed(inner):  # what is a module's inside another must not be taken for the outer one's
        own = {name: renamed[key] for name in place.binds if (key := f"{place.name}.{name}") in renamed}
        scope = resolve(place.body)
        _rename(place, own, partial(_bound_in, scope))
    for place in places:
        resolve(place.body)
        brought = {
            name: renamed[key]
            for other in inner
            for name in (place.taken(other) if other is not place else ())
            if (key := f"{other.name}.{name}") in renamed
        }
        _rename(place, brought, lambda name: name.var is None)


def _hidden(tree: t.Block) -> set[str]:
    """Names of variables in functions and loops: a plain name of the file cannot be reached beside them."""
    top = resolve(tree)
    return {
        node.id for node in tree.walk() if isinstance(node, t.Name) and node.var and node.var.scope is not top
    }


def _renamed(places: list[_Place], hidden: set[str]) -> dict[str, str]:
    file = places[0]
    names = {name for place in places for name in place.binds} | hidden
    qualified = {
        (form.obj.id, form.name)
        for place in places
        for form in place.own()
        if isinstance(form, t.Field) and isinstance(form.obj, t.Name)
    }
    found: dict[str, str] = {}
    for name in sorted(names):
        holders = [place for place in places if name in place.binds]
        keeps = next((place for place in holders if place is file or name in file.taken(place)), None)
        for place in holders:
            reached = name in hidden and (place.name, name) in qualified
            if (place is not (keeps or holders[0]) or reached) and place is not file:
                made = f"{place.name}_{name}"
                while made in names or made in found.values():
                    made += "_"
                found[f"{place.name}.{name}"] = made
    return found


def _rename(place: _Place, new: dict[str, str], meant: Callable[[t.Name], bool]) -> None:
    """Give names of a place new ones where they are meant, not variables of functions that are called the same."""
    for node in place.own() if new else ():
        if isinstance(node, t.Name) and node.id in new and meant(node):
            node.id = new[node.id]
        elif isinstance(node, t.Global) and node.word == "global":
            node.declared = [new.get(name, name) for name in node.declared]
        elif isinstance(node, t.Export):
            node.exported = [new.get(name, name) for name in node.exported]


def _bound_in(scope: Scope, name: t.Name) -> bool:
    return name.var is not None and name.var.scope is scope


def _unqualify(tree: t.Block, renamed: dict[str, str], modules: set[str]) -> None:
    def plain(node: t.Node) -> t.Node:
        if isinstance(node, t.Field) and isinstance(node.obj, t.Name) and node.obj.id in modules:
            return t.Name(node.at, renamed.get(f"{node.obj.id}.{node.name}", node.name))
        return node

    for node in reversed(list(tree.walk())):  # A.M before A.M.f
        node.change(plain)
