"""Where functions are compared: the arguments, and the ways to move from there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
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

    @property
    def movable(self) -> list[int]:
        return [i for i, a in enumerate(self.arguments) if is_float(a)]

    def in_dtype(self, dtype: Any) -> Point:
        """The same point, its floating-point arguments in `dtype`."""
        return Point([a.astype(dtype, copy=False) if is_float(a) else a for a in self.arguments], self.names)

    def moved(self, directions: dict[int, Array], distance: float) -> list[Any]:
        """The arguments at a distance along a direction, given for some of them."""
        return [
            np.asarray(a + np.asarray(distance, a.dtype) * directions[i]) if i in directions else a
            for i, a in enumerate(self.arguments)
        ]

    def moved_entry(self, argument: int, entry: int, distance: float) -> list[Any]:
        """The arguments with one entry of one of them changed."""
        changed = self.arguments[argument].copy()
        changed.reshape(-1)[entry] += distance
        return [changed if i == argument else a for i, a in enumerate(self.arguments)]

    def rounded_otherwise(self, trial: int) -> list[Any]:
        """The arguments, changed by what rounding could have changed. Equal entries stay equal."""
        return [_rounded_otherwise(a, trial) if is_float(a) else a for a in self.arguments]

    def scale(self, argument: int) -> float:
        """The typical size of an argument's entries."""
        a = self.arguments[argument]
        size = float(np.sqrt(np.mean(np.square(a, dtype=np.float64)))) if a.size else 0.0
        return size if np.isfinite(size) and size > 0 else 1.0

    def sizes(self, argument: int) -> Array:
        """How far entries may be moved, in proportion to themselves, so that they leave no domain; zeros a little."""
        a = self.arguments[argument]
        return np.where(a == 0, 1e-3 * self.scale(argument), np.abs(a))

    def direction(self, argument: int, rng: np.random.Generator) -> Array:
        """A random direction."""
        a = self.arguments[argument]
        drawn = (rng.random(a.shape, np.float32) + 0.5) * np.where(
            rng.random(a.shape, np.float32) < 0.5, -1, 1
        )
        return np.asarray(self.sizes(argument) * drawn, a.dtype)

    def ties(self, argument: int, most: int = 4) -> list[Array]:
        """Directions that move all entries of one value together, for values that occur more than once."""
        a = self.arguments[argument]
        if a.size > 10**5:
            return []
        values, counts = np.unique(a, return_counts=True)
        several = values[counts > 1][np.argsort(-counts[counts > 1], kind="stable")][:most]
        return [
            np.where(a == v, max(abs(float(v)), 1e-3 * self.scale(argument)), 0).astype(a.dtype)
            for v in several
        ]


def is_float(a: Any) -> bool:
    return isinstance(a, np.ndarray) and a.dtype.kind == "f"


def _rounded_otherwise(a: Array, trial: int) -> Array:
    eps = np.finfo(a.dtype).eps
    # A function of the value: entries that tie go on to tie.
    way = np.sign(np.sin(a.astype(np.float64, copy=False) * (12345.678 + 777.7 * trial) + trial))
    return np.asarray(a * (1 + 2 * eps * way), a.dtype)


def as_arguments(inputs: Sequence[Any]) -> tuple[list[Any], bool]:
    """NumPy arrays for what is an array, and whether `mx.np` arrays are needed."""
    from .._libmxnet import NDArray, NumpyArray

    arguments = [a.asnumpy() if isinstance(a, NDArray) else a for a in inputs]
    numpy = any(isinstance(a, NumpyArray) for a in inputs)
    numpy = numpy or any(isinstance(a, np.ndarray) and (a.ndim == 0 or a.size == 0) for a in arguments)
    return arguments, numpy
