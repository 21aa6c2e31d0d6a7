"""The point at which two functions are compared, and the ways to move from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array import Array


@dataclass
class Point:
    """The arguments of a call.

    Attributes:
        arguments: NumPy arrays, and constants of any other type.
        names: what reports call them.
        movable: positions of the arguments of floating-point type.
    """

    arguments: list[Any]
    names: list[str]
    _scales: dict[int, float] = field(default_factory=dict)

    @property
    def movable(self) -> list[int]:
        return [i for i, a in enumerate(self.arguments) if is_float(a)]

    @property
    def eps(self) -> float:
        """The precision of the coarsest argument."""
        return max(
            (float(np.finfo(self.arguments[i].dtype).eps) for i in self.movable),
            default=float(np.finfo(np.float64).eps),
        )

    @property
    def dtype(self) -> str:
        """The arguments' element type, in words."""
        return str(self.arguments[self.movable[0]].dtype) if self.movable else "float64"

    @property
    def largest(self) -> int:
        """Entries of the largest argument that has a gradient."""
        return max((self.arguments[i].size for i in self.movable), default=0)

    def in_dtype(self, dtype: Any) -> Point:
        """The same point, its floating-point arguments in `dtype`."""
        return Point([a.astype(dtype, copy=False) if is_float(a) else a for a in self.arguments], self.names)

    def moved(self, directions: dict[int, Array], distance: float) -> list[Any]:
        """The arguments at a distance along a direction, given for some of them."""
        return [
            np.asarray(a + np.asarray(distance, a.dtype) * directions[i]) if i in directions else a
            for i, a in enumerate(self.arguments)
        ]

    def line(self, argument: int, way: Array, entry: int | None) -> Callable[[float], list[Any]]:
        """The arguments at distances along a direction of one of them, or with one entry of it changed.

        The same memory is used at each distance: a large array is not made anew.
        """
        a: Array = self.arguments[argument]
        moved = a.copy()
        arguments = [moved if i == argument else b for i, b in enumerate(self.arguments)]

        def at(distance: float) -> list[Any]:
            if entry is None:
                np.multiply(way, np.asarray(distance, a.dtype), out=moved)
                np.add(a, moved, out=moved)
            else:
                moved.reshape(-1)[entry] = a.reshape(-1)[entry] + distance
            return arguments

        return at

    def rounded(self, trial: int, steps: int) -> list[Any]:
        """The arguments, changed in their last digits: along a line that a trial has, `steps` (of either sign) far.

        Equal entries stay equal.
        """
        return [_rounded(a, trial, steps) if is_float(a) else a for a in self.arguments]

    def scale(self, argument: int) -> float:
        """The typical size of an argument's entries."""
        if argument not in self._scales:
            self._scales[argument] = _typical(self.arguments[argument])
        return self._scales[argument]

    def sizes(self, argument: int) -> Array:
        """How far entries may be moved, in proportion to themselves, so that they leave no domain; zeros a little.

        Entries that are not finite stay where they are.
        """
        a = self.arguments[argument]
        found: Array = np.asarray(np.abs(a))
        zeros = a == 0
        if zeros.any():
            found[zeros] = 1e-3 * self.scale(argument)
        lost = ~np.isfinite(found)
        if lost.any():
            found[lost] = 0
        return found

    def direction(self, argument: int, rng: np.random.Generator) -> Array:
        """A random direction."""
        a = self.arguments[argument]
        drawn = rng.random(a.shape, np.float32) + np.float32(0.5)
        drawn *= rng.integers(0, 2, a.shape, np.int8) * np.int8(2) - np.int8(1)
        return np.asarray(self.sizes(argument) * drawn, a.dtype)

    def ties(self, argument: int, most: int = 4) -> list[Array]:
        """Directions that move all entries of one value together, for values that occur more than once."""
        a = self.arguments[argument]
        if a.size > 10**5:
            return []
        values, counts = np.unique(a[np.isfinite(a)], return_counts=True)
        several = values[counts > 1][np.argsort(-counts[counts > 1], kind="stable")][:most]
        return [
            np.where(a == v, max(abs(float(v)), 1e-3 * self.scale(argument)), 0).astype(a.dtype)
            for v in several
        ]


def is_float(a: Any) -> bool:
    return isinstance(a, np.ndarray) and a.dtype.kind == "f"


def _typical(a: Array) -> float:
    """The root of the mean square; of entries of any size, so they are made small before they are squared."""
    largest = float(np.max(np.abs(a), initial=0)) if a.size else 0.0
    if not np.isfinite(largest):
        a = a[np.isfinite(a)]
        largest = float(np.max(np.abs(a), initial=0))
    if largest == 0:
        return 1.0
    if 1e-100 < largest < 1e100:
        flat = a.reshape(-1).astype(np.float64, copy=False)
        return float(np.sqrt(np.vdot(flat, flat) / flat.size))
    return float(largest * np.sqrt(np.mean(np.square(a.astype(np.float64) / largest))))


def _rounded(a: Array, trial: int, steps: int) -> Array:
    eps = np.finfo(a.dtype).eps
    # A function of the value: entries that tie go on to tie.
    with np.errstate(invalid="ignore", over="ignore"):
        way = np.sin(a * (12345.678 + 777.7 * trial) + trial)
        return np.asarray(a * (1 + 2 * steps * eps * np.sign(way, out=way)), a.dtype)


def as_arguments(inputs: Sequence[Any]) -> tuple[list[Any], bool]:
    """NumPy arrays that MXNet can take for what is an array, and whether `mx.np` arrays are needed.

    Raises:
        TypeError: an array is of a kind that MXNet has nothing for.
    """
    from .._libmxnet import NDArray, NumpyArray

    arguments = [
        a.asnumpy() if isinstance(a, NDArray) else _plain(i, a) if isinstance(a, np.ndarray) else a
        for i, a in enumerate(inputs, 1)
    ]
    numpy = any(isinstance(a, NumpyArray) for a in inputs)
    numpy = numpy or any(isinstance(a, np.ndarray) and (a.ndim == 0 or a.size == 0) for a in arguments)
    return arguments, numpy


_KNOWN = ("float16", "float32", "float64", "int8", "int32", "int64", "uint8", "bool")


def _plain(number: int, a: Array) -> Array:
    """An array in the machine's byte order, its last axis contiguous."""
    if isinstance(a, np.ma.MaskedArray):
        raise TypeError(f"crosscheck: argument {number} is a masked array; fill it first: a.filled(0)")
    native = a.dtype.newbyteorder("=")
    if native.name not in _KNOWN:
        raise TypeError(
            f"crosscheck: argument {number} has the element type {a.dtype}; expected one of {', '.join(_KNOWN)}"
        )
    return np.array(a, native, order="C", copy=not (a.flags.c_contiguous and a.dtype == native), ndmin=a.ndim)
