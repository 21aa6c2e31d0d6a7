"""A side of the comparison: one function, in Python or in Julia, seen as values and vector-Jacobian products.

Both sides take and give NumPy arrays. What runs in between is the function itself, on NDArrays, in MXNet's graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import _libmxnet, autograd, julia
from .._libmxnet import NDArray, mxnet
from ..functions import JuliaFunction, function
from .array import Array
from .memory import copied, seen

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
        self.seed: int | None = None  # of MXNet's random numbers, at each call; None leaves them alone
        self._call = call

    def __str__(self) -> str:
        return f"{self.language} ({self.name})"

    def values(self, arguments: Sequence[Any], copy: bool = True) -> list[Array]:
        """The outputs; nothing is recorded. Without a copy they are good until the function is called again."""
        self._start()
        with self._shapes(), autograd.pause(train_mode=True):
            outputs = self._outputs([self._given(a) for a in arguments])
            return [y.asnumpy() if copy else seen(y) for y in outputs]

    def pull(self, arguments: Sequence[Any], heads: Sequence[Array] | None) -> Pulled:
        """Outputs, and the gradient of every floating-point argument; `heads` None stands for ones."""
        with self._shapes():
            return self._pull(arguments, heads)

    def seeded(self, arguments: Sequence[Any]) -> bool:
        """Do values that differ from call to call stay the same if MXNet's random numbers do?  Then they will."""
        self.seed = int(mxnet.nd.random.randint(0, 2**31 - 1, shape=(1,)).asscalar())
        first, again = self.values(arguments), self.values(arguments)
        if all(np.array_equal(a, b) for a, b in zip(first, again)):
            return True
        self.seed = None
        return False

    def _start(self) -> None:
        if self.seed is not None:
            mxnet.random.seed(self.seed)

    def _pull(self, arguments: Sequence[Any], heads: Sequence[Array] | None) -> Pulled:
        self._start()
        given = [self._given(a) for a in arguments]
        leaves = [a for a in given if is_leaf(a)]
        buffers = [self._unwritten(a) for a in leaves]
        autograd.mark_variables(leaves, buffers, "write")
        outputs, head_arrays = self._forward_and_backward(given, heads)
        changed = [f"argument {i}" for i, (a, b) in enumerate(zip(arguments, given), 1) if _differs(a, b)]
        changed += [
            f"head gradient {i}"
            for i, (h, a) in enumerate(zip(heads or [], head_arrays), 1)
            if _differs(h, a)
        ]
        written = iter(buffers)
        gradients = [self._gradient(next(written)) if is_leaf(a) else None for a in given]
        return Pulled(outputs, gradients, changed)

    def _forward_and_backward(
        self, given: Sequence[Any], heads: Sequence[Array] | None
    ) -> tuple[list[Array], list[NDArray]]:
        """The outputs as they were before the backward, and the head gradients as they are after it."""
        with autograd.record():
            outputs = self._outputs(given)
        before = [y.asnumpy() for y in outputs]
        head_arrays = None if heads is None else self._heads(heads, outputs)
        differentiated = {  # by identity: a result may be returned twice, its heads add up
            id(y): y for y in outputs if _libmxnet.symbol(y) is not None
        }
        if differentiated:
            autograd.backward(list(differentiated.values()), _together(outputs, head_arrays, differentiated))
        return before, head_arrays or []

    def _heads(self, heads: Sequence[Array], outputs: Sequence[NDArray]) -> list[NDArray]:
        if [h.shape for h in heads] != [y.shape for y in outputs]:
            raise ValueError(
                f"crosscheck: {self} gave results of shapes {[y.shape for y in outputs]}; before, "
                f"{[h.shape for h in heads]}"
            )
        return [self._array(h.astype(y.dtype, copy=False)) for h, y in zip(heads, outputs)]

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

        side = Side(self.language, self.name, call, self.numpy)
        side.seed = self.seed
        return side.pull(arguments, heads)

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
        return copied(np.ascontiguousarray(a).reshape(a.shape), self.numpy)

    def _unwritten(self, a: NDArray) -> NDArray:
        word, bits = _UNWRITTEN[np.dtype(a.dtype)]
        return self._array(np.full(a.shape, bits, word).view(a.dtype))

    @staticmethod
    def _gradient(buffer: NDArray) -> Array | None:
        found: Array = buffer.asnumpy()
        word, bits = _UNWRITTEN[found.dtype]
        words = found.reshape(-1).view(word)
        return None if found.size and words[0] == bits and bool((words == bits).all()) else found


def _together(
    outputs: Sequence[NDArray], heads: Sequence[NDArray] | None, distinct: Mapping[int, NDArray]
) -> list[NDArray] | None:
    """The head gradients of distinct results: the sums of those that a result returned several times has."""
    if heads is None:
        return None
    found: dict[int, NDArray] = {}
    for y, h in zip(outputs, heads):
        if id(y) in distinct:
            found[id(y)] = found[id(y)] + h if id(y) in found else h
    return [found[key] for key in distinct]


def is_leaf(a: Any) -> bool:
    """Is it an NDArray that may have a gradient?"""
    return isinstance(a, NDArray) and np.dtype(a.dtype) in _UNWRITTEN


def _differs(a: Any, b: Any) -> bool:
    return isinstance(b, NDArray) and not _identical(a, seen(b))


def _identical(a: Array, b: Array) -> bool:
    """Bit by bit: NaNs are equal, and nothing is copied."""
    if a.dtype.itemsize not in (2, 4, 8) or not (a.flags.c_contiguous and b.flags.c_contiguous):
        return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f"))
    word = f"u{a.dtype.itemsize}"
    return bool((a.reshape(-1).view(word) == b.reshape(-1).view(word)).all())


# ---- what can be a side ----------------------------------------------------------------------------------------


def python_side(fn: Any, numpy: bool) -> Side:
    """The side of a callable on NDArrays, or of a symbol."""
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


def julia_function(target: Any, layout: str = "julia", **keywords: Any) -> JuliaFunction:
    """The JuliaFunction of a Julia value or its dotted name: a CustomFunction type, or a function with a pullback."""
    if isinstance(target, str):
        named = function(target, layout=layout, **keywords)  # says so if it is no name
        value = julia.start()
        for part in target.split("."):
            value = getattr(value, part)
        return named if _is_type(value) else function(target, pullback=True, layout=layout, **keywords)
    return function(target, pullback=not _is_type(target), layout=layout, **keywords)


def _is_type(value: Any) -> bool:
    return bool(julia.start().isa(value, julia.start().Type))


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
