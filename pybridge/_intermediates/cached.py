"""A hybridized block's cached operator with marks in its graph: one cached operator for each part between marks.

Between them a value is marked as in eager code. Were the graph kept whole, each marked value would be a result of it
besides the block's own, for which libmxnet takes a gradient of zeros and adds that to the value's gradient. This costs
more than all the rest, for oneDNN's layouts have to be turned for it.

`mxnet.ndarray.CachedOp`, which blocks make theirs with, is replaced when this room is entered. A graph without marks
gets the operator that it would have got.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import mxnet
from mxnet.ndarray import CachedOp

from .. import _libmxnet, _libmxnet_marks, _marks
from .._libmxnet import NDArray
from .._unseen import unseen
from . import calls, traced
from .rewrite import Entry, Part, cut, load, marks_in

_Plain: Any = CachedOp

Sink = Callable[[Sequence[NDArray]], None]


class MarkedOp:
    """The cached operator of a graph with marks. Callers see the arguments and results of the one without."""

    def __init__(
        self,
        symbol: Any,
        flags: Sequence[tuple[str, Any]],
        chosen: Sequence[Entry] = (),
        sink: Sink | None = None,
    ) -> None:
        """Marks of `mark_vars` are those of the graph; the values of `chosen` go to `sink`."""
        graph = load(symbol)
        nodes = graph["nodes"]
        marks = sorted(traced.known(marks_in(graph)).items(), key=lambda item: traced.order(item[0]))
        self._paths = [traced.path(label) for label, _ in marks]
        self._sink = sink
        places = {node["name"]: i for i, node in enumerate(nodes) if node["op"] == "null"}
        self._inputs: list[Entry] = [(places[name], 0) for name in symbol.list_inputs()]
        self._heads: list[Entry] = [(i, k) for i, k, *_ in graph["heads"]]
        #: Where each value that is to be marked is in the graph, and where it is afterwards.
        self._marks: list[tuple[Entry, Entry]] = [
            *(((nodes[node]["inputs"][0][0], nodes[node]["inputs"][0][1]), (node, 0)) for _, node in marks),
            *((entry, entry) for entry in chosen),
        ]
        data = dict(flags).get("data_indices")
        parameters = set() if data is None else set(self._inputs) - {self._inputs[i] for i in data}
        self._parts = [
            (part, None if part.symbol is None else _Part(part, flags, parameters))
            for part in cut(symbol, graph, self._marks)
        ]

    def __call__(self, *args: Any) -> Any:
        recording = _libmxnet.is_recording()
        values: dict[Entry, NDArray] = dict(zip(self._inputs, args))
        found: dict[int, NDArray] = {}
        for part, operator in self._parts:
            if operator is not None:
                results = operator(*[values[entry] for entry in part.takes])
                values.update(zip(part.gives, results if len(part.gives) > 1 else [results]))
            for number in part.marks:
                before, after = self._marks[number]
                found[number] = values[after] = _marked(values[before], before in self._inputs, recording)
        marked = [found[number] for number in range(len(self._marks))]
        for value, path in zip(marked, self._paths):
            calls.register(value, path)
        if self._sink is not None:
            self._sink(marked[len(self._paths) :])
        results = [values[entry] for entry in self._heads]
        return results[0] if len(results) == 1 else results

    def _register_op_hook(self, callback: Any, monitor_all: bool = False) -> None:
        for _, operator in self._parts:
            if operator is not None:
                operator._register_op_hook(callback, monitor_all)


def _marked(value: NDArray, is_input: bool, recording: bool) -> NDArray:
    with unseen():
        if not recording:
            return value.copy() if is_input else value
        leaf = _marks.new_leaf(value.shape, value.dtype, value.context)
        # libmxnet hands one array to both terms of a sum as their gradient. That of an input may have to be added to
        # what is there, and the other term would get the sum, so a copy goes in between.
        marked = _libmxnet_marks.add(value, leaf, is_input, False)
    _marks.tie(marked, leaf, "mark_vars")
    return marked


class _Part(_Plain):
    """The cached operator of a part of a graph."""

    def __init__(self, part: Part, flags: Sequence[tuple[str, Any]], parameters: set[Entry]) -> None:
        self._symbol = part.symbol  # for who watches its operators
        kept = [(key, value) for key, value in flags if key not in ("data_indices", "param_indices")]
        if len(kept) < len(flags):
            kept += [
                ("data_indices", [i for i, entry in enumerate(part.takes) if entry not in parameters]),
                ("param_indices", [i for i, entry in enumerate(part.takes) if entry in parameters]),
            ]
        super().__init__(part.symbol, kept)


class _Marking(_Plain):
    """Stands in for `CachedOp`: makes a `MarkedOp` of a graph with marks, and a plain one of any other."""

    def __new__(cls, sym: Any, flags: Sequence[tuple[str, Any]] = ()) -> Any:
        expected = traced.expected(sys._getframe(1).f_locals.get("self"))
        found = traced.known(marks_in(load(sym))) if traced.any_marks() else {}
        traced.check_used(expected, found)
        return MarkedOp(sym, flags) if found else _Plain(sym, flags)


mxnet.ndarray.CachedOp = _Marking
