"""Julia functions as operators of symbolic graphs: what libmxnet asks of an operator "pybridge" is answered here.

An operator is described by its attributes, strings that `export` writes and `imports` reads: the function by its Julia
name, and in the process that made it by its number, too.
"""

from __future__ import annotations

import ctypes
import json
import secrets
from collections.abc import Sequence
from typing import Any

from .. import julia
from .._libmxnet import DTYPES
from .._libmxnet_trampoline import quick
from .block import (
    A_DIMS,
    A_DTYPE,
    A_NDIM,
    H_INPUTS,
    H_KIND,
    H_NODE,
    HEADER,
    K_CREATE,
    K_SHAPES,
    MAXDIM,
    WORDS,
)
from .calls import ask_bridge, prepare
from .owner import callers, function_names, owner

#: Numbers of functions mean something in the process that gave them.
PROCESS = secrets.token_hex(8)

Shape = tuple[int, ...]


_CODES = {name: code for code, name in DTYPES.items()}

#: What the element types of inputs, and of parameters and states, may be where they are not known.
_LIKELY_TYPES = [
    (_CODES[inputs], _CODES[others])
    for inputs, others in (
        ("float32", "float32"),
        ("float64", "float64"),
        ("int32", "float32"),
        ("int64", "float32"),
        ("int32", "float64"),
        ("int64", "float64"),
        ("float16", "float16"),
    )
]


def _read_shape(shape: Any) -> Shape:
    return tuple(int(n) for n in shape)


def _read_specs(specs: Any) -> list[tuple[Shape, int]]:
    return [(_read_shape(shape), int(code)) for shape, code in specs]


def parameter_shapes(
    name: str,
    function: int,
    inputs: Sequence[Shape],
    names: Sequence[str],
    declared: Sequence[Sequence[int] | None],
) -> list[Shape]:
    """The shapes of the parameters `names` for inputs of these shapes; in `declared` -1 is an unknown dimension."""
    shapes: list[Shape] = ask_bridge(
        "parameter_shapes",
        name,
        function,
        list(inputs),
        list(names),
        list(declared),
        read=lambda found: list(map(_read_shape, found)),
    )
    return shapes


class Operator:
    """One operator of a symbol, as its attributes say."""

    def __init__(self, attributes: dict[str, str]) -> None:
        try:
            self.inputs = int(attributes["inputs"])
            self.outputs = int(attributes["outputs"])
            self.parameters: list[str] = json.loads(attributes["parameters"])
            self.states: list[str] = json.loads(attributes["states"])
            self.numpy = attributes["numpy"] == "1"
            self.function = _function(attributes)
            # As long as there is a graph, the function stays prepared.
            self._caller = callers.get(self.function)
        except KeyError as missing:
            raise ValueError(
                f"a graph has an operator 'pybridge' without the attribute {missing}: it was made by another version"
            ) from None
        self.name = function_names[self.function]
        # The last answers: libmxnet asks the same again and again.
        self.shapes: tuple[Any, list[Shape], list[Shape]] | None = None

    def names(self) -> tuple[list[str], list[str], list[str]]:
        """Of arguments, results and auxiliary states."""
        inputs = [f"data{i}" for i in range(self.inputs)]
        return [*inputs, *self.parameters], [f"output{i}" for i in range(self.outputs)], self.states

    def infer_shapes(self, given: Sequence[Shape | None]) -> tuple[list[Shape], list[Shape]]:
        """Shapes of arguments and states, and of results; `given` are those of the former, as far as they are known."""
        key = tuple(given)
        if self.shapes is not None and self.shapes[0] == key:
            return self.shapes[1:]
        for i, shape in enumerate(given[: self.inputs]):
            if shape is None or any(n < 0 for n in shape):
                raise ValueError(
                    f"{self.name}: the shape of its input {i + 1} is {'unknown' if shape is None else shape}, and "
                    "the shape of a Julia function's result follows from those of its inputs only. Give the shapes "
                    "of the graph's inputs."
                )
        inputs = [shape for shape in given[: self.inputs] if shape is not None]
        names = [*self.parameters, *self.states]
        found = parameter_shapes(self.name, self.function, inputs, names, given[self.inputs :])
        arguments = [*inputs, *found]
        # Shapes are asked for before types.
        others = len(arguments) - self.inputs
        guesses = [[a] * self.inputs + [b] * others for a, b in _LIKELY_TYPES]
        specs = self._results(arguments, guesses)
        self.shapes = (key, arguments, [shape for shape, _ in specs])
        return arguments, self.shapes[2]

    def infer_types(self, given: Sequence[int]) -> tuple[list[int], list[int]]:
        """Element types of arguments and states, and of results, by libmxnet's numbers; -1 is unknown."""
        first = next((code for code in given if code >= 0), -1)
        arguments = [first if code < 0 else code for code in given]
        if first < 0 or self.shapes is None:
            return arguments, [first] * self.outputs
        return arguments, [code for _, code in self._results(self.shapes[1], [arguments])]

    def _results(self, shapes: Sequence[Shape], codes: Sequence[Sequence[int]]) -> list[tuple[Shape, int]]:
        """Shapes and element types of the results, for the first of `codes` with which the function runs."""
        specs: list[tuple[Shape, int]] = ask_bridge(
            "result_specs",
            self.name,
            self.function,
            list(shapes),
            list(map(list, codes)),
            self.numpy,
            read=_read_specs,
        )
        if len(specs) != self.outputs:
            raise ValueError(
                f"{self.name}: forward or outputspec gives {len(specs)} results, the block was made with "
                f"outputs={self.outputs}"
            )
        return specs


def attributes_of(
    function: int,
    made_from: tuple[Any, bool, str, dict[str, Any], Any, Sequence[str]],
    inputs: int,
    outputs: int,
    parameters: Sequence[str],
    states: Sequence[str],
    numpy: bool,
) -> dict[str, str]:
    """The attributes of an operator for the prepared function number `function`, among `mx.np` arrays if `numpy`."""
    target, pullback, layout, keywords, ad, fields = made_from
    return {
        "process": PROCESS,
        "function": str(function),
        "target": target if isinstance(target, str) and not fields else "",
        "pullback": str(int(pullback)),
        "layout": layout,
        "keywords": _written(keywords),
        "ad": "" if ad is None else ad if isinstance(ad, str) else str(ad),
        "inputs": str(inputs),
        "outputs": str(outputs),
        "parameters": json.dumps(list(parameters)),
        "states": json.dumps(list(states)),
        "numpy": str(int(numpy)),
    }


def _written(keywords: dict[str, Any]) -> str:
    """Keywords as JSON; nothing where they hold what JSON cannot say, which then stays in this process."""
    try:
        text = json.dumps(keywords)
    except (TypeError, ValueError):
        return ""
    return text if json.loads(text) == keywords else ""


_functions: dict[tuple[str, ...], int] = {}  # of graphs that another process made, by their attributes


def _function(attributes: dict[str, str]) -> int:
    number = int(attributes["function"])
    if attributes["process"] == PROCESS:
        return number
    if not attributes["target"]:
        raise ValueError(
            "a graph has a Julia function that was given as a value, not by name: it is known only in the process "
            "that made it. Export a block that was made by name, JuliaBlock('MyModule.MyLayer', ...)."
        )
    if not attributes["keywords"]:
        raise ValueError(
            f"the Julia function {attributes['target']} of a graph has keywords that are no JSON: they are known only "
            "in the process that made it"
        )
    key = tuple(attributes[k] for k in ("target", "pullback", "layout", "keywords", "ad"))
    if key not in _functions:
        _functions[key], _ = prepare(
            attributes["target"],
            attributes["pullback"] == "1",
            attributes["layout"] == "python",
            json.loads(attributes["keywords"]),
            attributes["ad"] or None,
        )
    return _functions[key]


# ---- questions of libmxnet ----

_operators: dict[int, tuple[Operator, Any]] = {}  # and the C strings of its names
_dead = (ctypes.c_int64 * 64)()


def answer(address: int) -> None:
    """Answer the question in the block at `address`."""
    if owner.forked:
        raise RuntimeError(julia.FORKED)
    header = (ctypes.c_int64 * HEADER).from_address(address)
    kind, number, count = header[H_KIND], header[H_NODE], header[H_INPUTS]
    arrays = (ctypes.c_int64 * (WORDS * count)).from_address(address + 8 * HEADER)
    if kind == K_CREATE:
        _create(number, arrays)
    else:
        operator = _operators[number][0]
        with owner.running(operator.function):  # a function without outputspec is run on made-up values
            (_shapes if kind == K_SHAPES else _types)(operator, arrays, count)


def _create(number: int, words: Any) -> None:
    _forget_dead()
    keys, values = ((ctypes.c_char_p * words[2]).from_address(words[i]) if words[2] else () for i in (0, 1))
    operator = Operator({k.decode(): v.decode() for k, v in zip(keys, values)})
    filled = (ctypes.c_int64 * 7).from_address(words[3])
    filled[0] = operator.function
    kept = []
    for i, names in enumerate(operator.names()):
        strings = (ctypes.c_char_p * (len(names) + 1))(*(name.encode() for name in names), None)
        kept.append(strings)
        filled[1 + i], filled[4 + i] = len(names), ctypes.addressof(strings)
    _operators[number] = (operator, kept)


def _forget_dead() -> None:
    while found := quick.pb_dead_operators(_dead, len(_dead)):
        for i in range(found):
            _operators.pop(_dead[i], None)  # one that could not be made was never here


def _places(operator: Operator) -> tuple[list[int], list[int]]:
    """Where arguments and states are among the arrays, and where the results."""
    arguments = operator.inputs + len(operator.parameters)
    results = list(range(arguments, arguments + operator.outputs))
    states = range(results[-1] + 1, results[-1] + 1 + len(operator.states))
    return [*range(arguments), *states], results


def _shapes(operator: Operator, words: Any, count: int) -> None:
    def shape(i: int) -> Shape | None:
        ndim = words[WORDS * i + A_NDIM]
        return None if ndim < 0 else tuple(words[WORDS * i + A_DIMS + k] for k in range(min(ndim, MAXDIM)))

    places = _places(operator)
    for at, known in zip(places, operator.infer_shapes([shape(i) for i in places[0]])):
        for i, dims in zip(at, known):
            words[WORDS * i + A_NDIM] = len(dims)
            words[WORDS * i + A_DIMS : WORDS * i + A_DIMS + len(dims)] = list(dims)


def _types(operator: Operator, words: Any, count: int) -> None:
    places = _places(operator)
    for at, codes in zip(places, operator.infer_types([words[WORDS * i + A_DTYPE] for i in places[0]])):
        for i, code in zip(at, codes):
            if code >= 0 and code not in DTYPES:
                raise ValueError(f"{operator.name}: element type number {code} cannot be shared with Julia")
            words[WORDS * i + A_DTYPE] = code


owner.answer = answer
