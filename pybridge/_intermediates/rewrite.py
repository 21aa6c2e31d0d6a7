"""A block's graph with marks in it, cut into parts behind which the marked values are."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import mxnet
from mxnet.symbol.numpy import _Symbol

from .._unseen import OWN

MARK = "__pybridge_mark__"

#: Operators that hand the gradient of their result on as that of an argument. Where a part would hand the gradient of
#: what it gives on as that of what it takes, libmxnet loses its storage type: a copy has to come in between.
_HANDING_ON = ("elemwise_add", "_grad_add", "add_n", "_contrib_round_ste", "_contrib_sign_ste")

#: A place in a graph: the number of a node, and which of its outputs.
Entry = tuple[int, int]


def load(symbol: Any) -> dict[str, Any]:
    graph: dict[str, Any] = json.loads(symbol.tojson(remove_amp_cast=False))
    return graph


def marks_in(graph: Mapping[str, Any]) -> dict[str, int]:
    """The node of each mark that `mark_vars` left in a graph, by what it wrote there."""
    return {
        node["attrs"][MARK]: i
        for i, node in enumerate(graph["nodes"])
        if node["op"] == "_copy" and MARK in node.get("attrs", ())
    }


@dataclass(frozen=True)
class Part:
    """A piece of a graph: its symbol, the places in the graph of what it takes and gives, and the marks behind it."""

    symbol: Any
    takes: Sequence[Entry]
    gives: Sequence[Entry]
    marks: Sequence[int]


def cut(symbol: Any, graph: Mapping[str, Any], marks: Sequence[tuple[Entry, Entry]]) -> list[Part]:
    """The graph in parts, one after the other, none of which uses a marked value that it computes itself.

    Each of `marks` is the place of a value, and the place where it is once it is marked: what `mark_vars` returned, or
    the same. The nodes of `mark_vars` themselves are in no part.
    """
    nodes = graph["nodes"]
    marked = {entry for _, entry in marks}
    copies = {after[0] for before, after in marks if before != after}
    # A node is in the part behind all marks that it depends on.
    levels: list[int] = []
    for node in nodes:
        levels.append(max((levels[i] + ((i, k) in marked) for i, k, *_ in node["inputs"]), default=0))
    wanted: dict[Entry, int] = {(i, k): len(nodes) for i, k, *_ in graph["heads"]}  # until which part
    for i, node in enumerate(nodes):
        for source, k, *_ in node["inputs"]:
            wanted[source, k] = max(wanted.get((source, k), 0), levels[i])
    wanted.update({before: len(nodes) for before, _ in marks})
    parts = []
    for level in range(max(levels) + 1):
        own = [
            i
            for i, node in enumerate(nodes)
            if levels[i] == level and node["op"] != "null" and i not in copies
        ]
        here = set(own)
        gives = sorted(entry for entry, last in wanted.items() if entry[0] in here and last > level)
        behind = [number for number, (_, after) in enumerate(marks) if levels[after[0]] == level]
        part, takes = _part(symbol, graph, own, gives) if gives else (None, [])
        parts.append(Part(part, takes, gives, behind))
    return parts


def _part(
    symbol: Any, graph: Mapping[str, Any], own: Sequence[int], gives: Sequence[Entry]
) -> tuple[Any, list[Entry]]:
    """The symbol of the nodes `own`, and where in the whole graph its inputs are from."""
    nodes = graph["nodes"]
    made: list[dict[str, Any]] = []
    places: dict[int, int] = {}
    taken: dict[Entry, int] = {}
    copies: dict[Entry, int] = {}

    def put(node: dict[str, Any]) -> int:
        made.append(node)
        return len(made) - 1

    def take(entry: Entry, operator: str) -> int:
        i, k = entry
        inside = nodes[i]["op"] == "null"
        if entry not in taken:
            taken[entry] = put(
                nodes[i] if inside else {"op": "null", "name": f"_{OWN}cut{i}_{k}__", "inputs": []}
            )
        if inside or operator not in _HANDING_ON:
            return taken[entry]
        if entry not in copies:
            name = f"_{OWN}copy{i}_{k}__"
            copies[entry] = put({"op": "_copy", "name": name, "inputs": [[taken[entry], 0, 0]]})
        return copies[entry]

    for i in own:
        inputs = [
            [places[j], k, *rest] if j in places else [take((j, k), nodes[i]["op"]), 0, *rest]
            for j, k, *rest in nodes[i]["inputs"]
        ]
        places[i] = put({**nodes[i], "inputs": inputs})
    text = {
        "nodes": made,
        "arg_nodes": [i for i, node in enumerate(made) if node["op"] == "null"],
        "heads": [[places[i], k, 0] for i, k in gives],
        "attrs": graph.get("attrs", {}),  # which tells the version of libmxnet
    }
    part = mxnet.symbol.load_json(json.dumps(text))
    where = {made[place]["name"]: entry for entry, place in taken.items()}
    takes = [where[name] for name in part.list_inputs()]
    return part.as_np_ndarray() if isinstance(symbol, _Symbol) else part, takes
