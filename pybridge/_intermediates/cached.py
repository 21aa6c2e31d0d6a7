"""A hybridized block's cached operator with marks in its graph: it makes the zeros, and hands the values on.

`mxnet.ndarray.CachedOp`, which blocks make theirs with, is replaced when this room is entered. A graph without marks
gets the operator that it would have got.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import mxnet
from mxnet.ndarray import CachedOp

from .. import _libmxnet, _marks
from .._libmxnet import GraphError, NDArray
from . import calls, traced
from .rewrite import Entry, load, marks_in, with_zeros, zero_name

_Plain: Any = CachedOp

Sink = Callable[[Sequence[NDArray]], None]


class MarkedOp(_Plain):
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
        marks = sorted(traced.known(marks_in(graph)).items(), key=lambda item: traced.order(item[0]))
        self._outputs = len(graph["heads"])
        self._paths = [traced.path(label) for label, _ in marks]
        self._sink = sink
        names: list[str] = symbol.list_inputs()
        self._symbol = with_zeros(symbol, graph, [node for _, node in marks], chosen)
        zeros = {zero_name(i): i for i in range(len(marks) + len(chosen))}
        inputs: list[str] = self._symbol.list_inputs()
        #: For each input of the new graph: which of the old one's it is, or (from `len(names)` on) which zero.
        where = {name: i for i, name in enumerate(names)}
        self._sources = [where[name] if name in where else len(names) + zeros[name] for name in inputs]
        arguments = set(symbol.list_arguments())
        self._named = [(i, name) for i, name in enumerate(names) if name in arguments]
        self._zero_names = list(zeros)
        data = dict(flags).get("data_indices", range(len(names)))
        self._data: list[int] = list(data)
        self._kinds: dict[Any, list[tuple[Any, Any]]] = {}
        super().__init__(self._symbol, self._moved(flags, inputs, {names[i] for i in data}))

    def _moved(
        self, flags: Sequence[tuple[str, Any]], inputs: list[str], data: set[str]
    ) -> list[tuple[str, Any]]:
        """The flags with the places that inputs have now; the zeros are data, they change with every call."""
        kept = [(key, value) for key, value in flags if key not in ("data_indices", "param_indices")]
        if len(kept) == len(flags):
            return kept
        data = data | set(self._zero_names)
        return [
            ("data_indices", [i for i, name in enumerate(inputs) if name in data]),
            ("param_indices", [i for i, name in enumerate(inputs) if name not in data]),
            *kept,
        ]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            raise TypeError(f"a graph with marks takes no keyword arguments, got {', '.join(kwargs)}")
        recording = _libmxnet.is_recording()
        context = args[0].context
        make = _marks.new_leaf if recording else _marks.minus_zeros
        leaves = [make(shape, dtype, context) for shape, dtype in self._kinds_for(args)]
        given = (*args, *leaves)
        results = super().__call__(*[given[source] for source in self._sources])
        values = results[self._outputs :]
        if recording:
            for value, leaf in zip(values, leaves):
                _marks.tie(value, leaf, "mark_vars")
        for value, path in zip(values, self._paths):
            calls.register(value, path)
        if self._sink is not None:
            self._sink(values[len(self._paths) :])
        return results[0] if self._outputs == 1 else results[: self._outputs]

    def _kinds_for(self, args: Sequence[NDArray]) -> list[tuple[Any, Any]]:
        """Shape and dtype of each zero; they depend on the data alone, and are inferred once for each of its shapes."""
        key = (_libmxnet.is_np_shape(), *((args[i].shape, args[i].dtype) for i in self._data))
        found = self._kinds.get(key)
        if found is None:
            found = self._kinds[key] = self._inferred(args)
        return found

    def _inferred(self, args: Sequence[NDArray]) -> list[tuple[Any, Any]]:
        shapes = self._symbol.infer_shape_partial(**{name: args[i].shape for i, name in self._named})[0]
        types = self._symbol.infer_type_partial(**{name: args[i].dtype for i, name in self._named})[0]
        names = self._symbol.list_arguments()
        found = []
        for name in self._zero_names:
            shape, dtype = shapes[names.index(name)], types[names.index(name)]
            known = shape is not None and dtype is not None and all(side >= 0 for side in shape)
            if not known or (not _libmxnet.is_np_shape() and (not shape or 0 in shape)):
                raise GraphError(
                    f"the shape of marked value {self._zero_names.index(name)} of the graph cannot be inferred from "
                    "the shapes of the inputs (as after boolean_mask). Do not hybridize the block, or mark another "
                    "value."
                )
            found.append((shape, dtype))
        return found


class _Marking(_Plain):
    """Stands in for `CachedOp`: makes a `MarkedOp` of a graph with marks, and a plain one of any other."""

    def __new__(cls, sym: Any, flags: Sequence[tuple[str, Any]] = ()) -> Any:
        expected = traced.expected(sys._getframe(1).f_locals.get("self"))
        found = traced.known(marks_in(load(sym))) if traced.any_marks() else {}
        traced.check_used(expected, found)
        return MarkedOp(sym, flags) if found else _Plain(sym, flags)


mxnet.ndarray.CachedOp = _Marking
