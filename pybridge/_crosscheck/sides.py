"""A side of the comparison: one function, in Python or in Julia, seen as values and vector-Jacobian products.

Both sides take and give NumPy arrays. What runs in between is the function itself, on NDArrays, in MXNet's graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _libmxnet, autograd, julia
from .._libmxnet import NDArray, mxnet
from ..functions import JuliaFunction, function
from .array import Array

#: A NaN that no computation gives: where it still stands after a backward, nothing was written.
_UNWRITTEN = {
    np.dtype("float16"): (np.uint16, 0x7E5B),
    np.dtype("float32"): (np.uint32, 0x7FC5B1D6),
    np.dtype("float64"): (np.uint64, 0x7FF8C5B1D6E00001),
}


@dataclass
class Pulled:
    """Outputs of a function, and the gradients of its arguments under given head gradients."""

    outputs: list[Array]
    gradients: list[Array | None]  # None: the backward wrote none
    changed: list[str] = field(default_factory=list)  # what the function wrote to and should not


class Side:
    """A function whose arguments are NDArrays and constants.

    Attributes:
        language: "Python" or "Julia".
        name: what messages call it.
    """

    def __init__(self, language: str, name: str, call: Callable[..., Any], numpy: bool) -> None:
        self.language = language
        self.name = name
        self.numpy = numpy
        self._call = call

    def __str__(self) -> str:
        return f"{self.language} ({self.name})"

    def values(self, arguments: Sequence[Any]) -> list[Array]:
        """The outputs, in float64, int64 or bool; nothing is recorded."""
        with self._shapes(), autograd.pause(train_mode=True):
            return [a.asnumpy() for a in self._outputs([self._given(a) for a in arguments])]

    def pull(self, arguments: Sequence[Any], heads: Sequence[Array] | None) -> Pulled:
        """Outputs, and the gradient of every floating-point argument; `heads` None stands for ones."""
        with self._shapes():
            return self._pull(arguments, heads)

    def _pull(self, arguments: Sequence[Any], heads: Sequence[Array] | None) -> Pulled:
        given = [self._given(a) for a in arguments]
        leaves = [a for a in given if _is_leaf(a)]
        buffers = [self._unwritten(a) for a in leaves]
        autograd.mark_variables(leaves, buffers, "write")
        with autograd.record():
            outputs = self._outputs(given)
        before = [y.asnumpy() for y in outputs]
        head_arrays = (
            None
            if heads is None
            else [self._array(h.astype(y.dtype, copy=False)) for h, y in zip(heads, outputs)]
        )
        try:
            autograd.backward(outputs, head_arrays)
        except _libmxnet.GraphError:
            if any(_libmxnet.symbol(y) is not None for y in outputs):
                raise
            head_arrays = None  # nothing was recorded: there are no gradients
        written = iter(buffers)
        gradients = [self._gradient(next(written)) if _is_leaf(a) else None for a in given]
        changed = [f"argument {i}" for i, (a, b) in enumerate(zip(arguments, given), 1) if _differs(a, b)]
        if head_arrays is not None and heads is not None:
            changed += [
                f"head gradient {i}" for i, (h, a) in enumerate(zip(heads, head_arrays), 1) if _differs(h, a)
            ]
        return Pulled(before, gradients, changed)

    def _shapes(self) -> Any:
        """Within, arrays may have no dimensions if they are `mx.np` ones."""
        return mxnet.util.np_shape(self.numpy or _libmxnet.is_np_shape())

    def interleaved(
        self, arguments: Sequence[Any], others: Sequence[Any], heads: Sequence[Array] | None
    ) -> Pulled:
        """As `pull`, with another call of the function between the forward and its backward."""
        between = self._call

        def call(*given: Any) -> Any:
            result = between(*given)
            between(*[self._given(a) for a in others])
            return result

        return Side(self.language, self.name, call, self.numpy).pull(arguments, heads)

    def _outputs(self, given: Sequence[Any]) -> list[NDArray]:
        result = self._call(*given)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        for i, y in enumerate(outputs, 1):
            if not isinstance(y, NDArray):
                raise TypeError(
                    f"crosscheck: {self} returned a {type(y).__name__} as result {i}; expected an NDArray or a "
                    "tuple of them"
                )
        return outputs

    def _given(self, a: Any) -> Any:
        return self._array(a) if isinstance(a, np.ndarray) else a

    def _array(self, a: Array) -> NDArray:
        make = mxnet.np if self.numpy else mxnet.nd
        made: NDArray = make.array(a, dtype=a.dtype)
        return made

    def _unwritten(self, a: NDArray) -> NDArray:
        word, bits = _UNWRITTEN[np.dtype(a.dtype)]
        return self._array(np.full(a.shape, bits, word).view(a.dtype))

    @staticmethod
    def _gradient(buffer: NDArray) -> Array | None:
        found: Array = buffer.asnumpy()
        word, bits = _UNWRITTEN[found.dtype]
        return None if found.size and bool((found.view(word) == bits).all()) else found


def _is_leaf(a: Any) -> bool:
    return isinstance(a, NDArray) and np.dtype(a.dtype) in _UNWRITTEN


def _differs(a: Any, b: Any) -> bool:
    return isinstance(b, NDArray) and not _identical(a, b.asnumpy())


def _identical(a: Array, b: Array) -> bool:
    """Bit by bit: NaNs are equal, and nothing is copied."""
    if a.dtype.itemsize not in (2, 4, 8) or not a.flags.c_contiguous:
        return bool(np.array_equal(a, b))
    word = f"u{a.dtype.itemsize}"
    return bool((a.reshape(-1).view(word) == b.reshape(-1).view(word)).all())


# ---- what can be a side ----------------------------------------------------------------------------------------


def parameters_of(fn: Any) -> dict[str, Array]:
    """The parameters of a Gluon block by name, of anything else none."""
    if not isinstance(fn, mxnet.gluon.Block):
        return {}
    found = fn.collect_params()
    prefix = getattr(fn, "prefix", "")
    names = [name[len(prefix) :] if name.startswith(prefix) else name for name in found]
    return {name: p.data().asnumpy() for name, p in zip(names, found.values()) if p.grad_req != "null"}


def python_side(fn: Any, parameters: Sequence[str], numpy: bool) -> Side:
    """The side of a callable, a Gluon block (its parameters follow the inputs) or a symbol."""
    if isinstance(fn, mxnet.gluon.Block):
        return Side("Python", getattr(fn, "name", type(fn).__name__), _block_call(fn, parameters), numpy)
    if isinstance(fn, mxnet.sym.Symbol):
        return Side("Python", fn.name or "symbol", _symbol_call(fn), numpy)
    if not callable(fn):
        raise TypeError(
            f"crosscheck: python_fn is a {type(fn).__name__}; expected a callable on NDArrays, a Gluon block or a "
            "symbol"
        )
    return Side("Python", getattr(fn, "__name__", type(fn).__name__), fn, numpy)


def julia_side(fn: Any, numpy: bool) -> Side:
    """The side of a JuliaFunction, a dotted Julia name, or a Julia value: a type, or a function with a pullback."""
    if not isinstance(fn, JuliaFunction):
        if not isinstance(fn, str) and not type(fn).__module__.startswith("juliacall"):
            raise TypeError(
                f"crosscheck: julia_fn is a {type(fn).__name__}; expected a JuliaFunction, a Julia value or its name"
            )
        fn = julia_function(fn)
    return Side("Julia", fn.name, fn, numpy)


def julia_function(target: Any, layout: str = "julia") -> JuliaFunction:
    """The JuliaFunction of a Julia value or its dotted name: a CustomFunction type, or a function with a pullback."""
    if isinstance(target, str):
        named = function(target, layout=layout)  # says so if it is no name
        value = julia.start()
        for part in target.split("."):
            value = getattr(value, part)
        return named if _is_type(value) else function(target, pullback=True, layout=layout)
    return function(target, pullback=not _is_type(target), layout=layout)


def _is_type(value: Any) -> bool:
    return bool(julia.start().isa(value, julia.start().Type))


def _block_call(block: Any, names: Sequence[str]) -> Callable[..., Any]:
    every = list(block.collect_params().values())
    parameters = [p for p in every if p.grad_req != "null"]
    states = [
        p for p in every if p.grad_req == "null"
    ]  # running statistics: each call starts from theirs, on copies

    def call(*given: Any) -> Any:
        count = len(given) - len(names)
        dtype = next(a.dtype for a in given if isinstance(a, NDArray))
        copies = [p.data().astype(dtype) for p in states]
        with _lent([*parameters, *states], [*given[count:], *copies]):
            return block(*given[:count])

    return call


@contextmanager
def _lent(parameters: Sequence[Any], arrays: Sequence[NDArray]) -> Any:
    """Let the parameters of a block be these very arrays, leaves of the graph that is recorded."""
    before = [(p._data, p._grad) for p in parameters]
    try:
        for p, a in zip(parameters, arrays):
            p._data = [a]
        yield
    finally:
        for p, (data, grad) in zip(parameters, before):
            p._data, p._grad = data, grad


def _symbol_call(symbol: Any) -> Callable[..., Any]:
    names = symbol.list_arguments()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it cannot tell the arguments' types: they come with the arrays
        block = mxnet.gluon.SymbolBlock(symbol, [mxnet.sym.var(name) for name in names])

    def call(*given: Any) -> Any:
        if len(given) != len(names):
            raise ValueError(
                f"crosscheck: the symbol has the arguments {', '.join(names)}; {len(given)} inputs came"
            )
        return block(*given)

    return call


def match(names: Sequence[str], mapping: Mapping[str, int] | None, inputs: int) -> list[int]:
    """Where each of the block's parameters stands among the Julia function's arguments; `mapping` counts from 1."""
    if mapping is None:
        return list(range(inputs, inputs + len(names)))
    missing = [name for name in names if name not in mapping]
    if missing or len(mapping) != len(names):
        raise ValueError(
            f"crosscheck: params names {sorted(mapping)}; the block's parameters are {sorted(names)}"
        )
    return [mapping[name] - 1 for name in names]
