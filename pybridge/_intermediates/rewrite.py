"""A block's graph with marks in it: each gets a zero as an input to add, and its value becomes an output."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import mxnet
from mxnet.symbol.numpy import _Symbol

from .._unseen import OWN

MARK = "__pybridge_mark__"

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


def with_zeros(symbol: Any, graph: dict[str, Any], marks: Sequence[int], chosen: Sequence[Entry]) -> Any:
    """The symbol where everything that used the result of `marks` (nodes), or `chosen`, uses its sum with a new input.

    The marked values follow the symbol's own outputs, the marks first. Inputs are called `zero_name(0)`, ….
    """
    nodes: list[dict[str, Any]] = graph["nodes"]
    places: list[list[int]] = []
    instead: dict[Entry, list[int]] = {}
    made = len(nodes)
    for entry in [(mark, 0) for mark in marks] + list(chosen):
        value = [*entry, 0]
        name = nodes[entry[0]]["name"]
        if nodes[entry[0]]["op"] == "null":
            # The gradient of an input may have to be added to what is there; that of the zero would be the sum.
            value = _node(nodes, "_copy", f"{name}{OWN}copy", value)
        zero = _node(nodes, "null", zero_name(len(places)))
        instead[entry] = _node(nodes, "elemwise_add", f"{name}{OWN}mark{entry[1]}", value, zero)
        places.append(instead[entry])
    for i, node in enumerate(nodes):
        if i < made:
            node["inputs"] = [instead.get((each[0], each[1]), each) for each in node["inputs"]]
    graph["heads"] = [instead.get((head[0], head[1]), head) for head in graph["heads"]] + places
    graph["arg_nodes"] = [i for i, node in enumerate(nodes) if node["op"] == "null"]
    graph.pop("node_row_ptr", None)
    rewritten = mxnet.symbol.load_json(json.dumps(graph))
    return rewritten.as_np_ndarray() if isinstance(symbol, _Symbol) else rewritten


def zero_name(number: int) -> str:
    return f"_{OWN}zero{number}__"


def _node(nodes: list[dict[str, Any]], op: str, name: str, *inputs: list[int]) -> list[int]:
    nodes.append({"op": op, "name": name, "inputs": list(inputs)})
    return [len(nodes) - 1, 0, 0]
