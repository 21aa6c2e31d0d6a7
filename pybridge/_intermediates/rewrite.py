"""A block's graph with marks in it: each gets a zero as an input to add, and its value becomes an output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import mxnet
from mxnet.symbol.numpy import _Symbol

MARK = "__pybridge_mark__"

#: A place in a graph: the number of a node, and which of its outputs.
Entry = tuple[int, int]


def load(symbol: Any) -> dict[str, Any]:
    graph: dict[str, Any] = json.loads(symbol.tojson())
    return graph


def marks_in(graph: Mapping[str, Any]) -> dict[str, int]:
    """The node of each mark that `mark_vars` left in a graph, by what it wrote there."""
    return {
        node["attrs"][MARK]: i
        for i, node in enumerate(graph["nodes"])
        if node["op"] == "_copy" and MARK in node.get("attrs", ())
    }


def with_zeros(symbol: Any, graph: dict[str, Any], marks: Sequence[int], chosen: Sequence[Entry]) -> Any:
    """The symbol where each of `marks` (nodes that copy) and of `chosen` adds a new input.

    The marked values follow the symbol's own outputs, the marks first. Inputs are called `zero_name(0)`, ….
    """
    nodes: list[dict[str, Any]] = graph["nodes"]
    places: list[list[int]] = []
    for mark in marks:
        node = nodes[mark]
        node["op"] = "elemwise_add"
        node["inputs"].append([_zero(nodes, len(places)), 0, 0])
        places.append([mark, 0, 0])
    instead: dict[Entry, list[int]] = {}
    for entry in chosen:
        zero = _zero(nodes, len(places))
        instead[entry] = [len(nodes), 0, 0]
        places.append(instead[entry])
        nodes.append(
            {
                "op": "elemwise_add",
                "name": f"{nodes[entry[0]]['name']}_pybridge_mark{entry[1]}",
                "inputs": [[*entry, 0], [zero, 0, 0]],
            }
        )
    adders = {place[0] for place in instead.values()}
    for i, node in enumerate(nodes):
        if i not in adders:
            node["inputs"] = [instead.get((each[0], each[1]), each) for each in node["inputs"]]
    graph["heads"] = [instead.get((head[0], head[1]), head) for head in graph["heads"]] + places
    graph["arg_nodes"] = [i for i, node in enumerate(nodes) if node["op"] == "null"]
    graph.pop("node_row_ptr", None)
    made = mxnet.symbol.load_json(json.dumps(graph))
    return made.as_np_ndarray() if isinstance(symbol, _Symbol) else made


def zero_name(number: int) -> str:
    return f"__pybridge_zero{number}__"


def _zero(nodes: list[dict[str, Any]], number: int) -> int:
    nodes.append({"op": "null", "name": zero_name(number), "inputs": []})
    return len(nodes) - 1
