"""The names of a graph's internal values, and the places that a pattern chooses."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable, Sequence
from typing import Any

from .rewrite import Entry, load


def named(symbol: Any, data: Iterable[str]) -> dict[str, Entry]:
    """What every operator of the graph gives, and the inputs `data`, by name and in the order of execution.

    An operator with one result gives its node's name, one with several the names of its outputs. A name that comes
    again (a block that is called twice) is followed by `#2`, `#3`, ….
    """
    nodes = load(symbol)["nodes"]
    outputs: list[str] = symbol.get_internals().list_outputs()
    wanted, at = set(data), 0
    found: dict[str, Entry] = {}
    for i, node in enumerate(nodes):
        own = _own_outputs(node, nodes[i + 1]["name"] if i + 1 < len(nodes) else None, outputs, at)
        at += len(own)
        if node["op"] == "null" and node["name"] not in wanted:
            continue
        for index, output in enumerate(own):
            name = node["name"] if len(own) == 1 else output
            found[_free(name, found)] = (i, index)
    return found


def _own_outputs(node: Any, following: str | None, outputs: Sequence[str], at: int) -> list[str]:
    """The names in `outputs`, from `at` on, that are of `node` and not of the node that follows it."""
    if node["op"] == "null":
        return [node["name"]]
    name: str = node["name"]
    own: list[str] = []
    for output in outputs[at:]:
        of_following = following is not None and (output == following or output.startswith(following + "_"))
        longer = following is not None and len(following) > len(name)
        # The first is its own in any case: every operator has an output that shows.
        if own and (not output.startswith(name + "_") or (of_following and longer) or output in own):
            break
        own.append(output)
    return own


def _free(name: str, taken: Iterable[str]) -> str:
    if name not in taken:
        return name
    number = 2
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"


def choose(patterns: Sequence[str], names: Iterable[str], prefix: str) -> list[str]:
    """The names that one of the patterns matches, whole or without the network's own prefix."""
    names = list(names)
    chosen = set()
    for pattern in patterns:
        met = [name for name in names if any(fnmatch.fnmatchcase(n, pattern) for n in _aliases(name, prefix))]
        if not met:
            near = difflib.get_close_matches(pattern, names, 3, 0.3) or names[-3:]
            raise ValueError(
                f"intermediates: nothing inside the network is called {pattern!r}; names are such as "
                f"{', '.join(map(repr, near))} (pb.internals lists them)"
            )
        chosen.update(met)
    return [name for name in names if name in chosen]


def _aliases(name: str, prefix: str) -> Sequence[str]:
    short = name[len(prefix) :] if prefix and name.startswith(prefix) else name
    return (name, short, f"{name}_output", f"{short}_output")
