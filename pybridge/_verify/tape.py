"""Random numbers that Julia drew, given to Python in the same order: the generators are different ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Optional

import numpy as np

#: The file that holds it.
TAPE = "tape.npz"

KINDS = {1: "uniform", 2: "normal", 3: "whole", 4: "index", 5: "permutation", 6: "range"}
_SAID = {
    "uniform": "uniform numbers",
    "normal": "normal numbers",
    "whole": "whole numbers from a range",
    "index": "choices among values",
    "permutation": "entries of a permutation",
    "range": "whole numbers from a range",
}


class TapeError(Exception):
    """Python asks for other random numbers than Julia drew."""


class Tape:
    """The numbers, and how far they have been read."""

    def __init__(self, kinds: Any, values: Any) -> None:
        self.kinds, self.values, self.place = np.asarray(kinds), np.asarray(values), 0

    @classmethod
    def load(cls, folder: Path) -> Tape:
        """The tape that a run of the old code has left."""
        file = folder / TAPE
        if not file.is_file():  # the old code has ended its process
            return cls(np.empty(0, np.uint8), np.empty(0))
        with np.load(file, allow_pickle=False) as stored:
            return cls(stored["kinds"], stored["values"])

    def save(self, folder: Path) -> None:
        """Write it for `load`."""
        np.savez(folder / TAPE, kinds=self.kinds, values=self.values)

    def take(self, kind: str, shape: tuple[int, ...]) -> Any:
        """The next numbers, which must be of this kind.

        Raises:
            TapeError: Julia drew something else here, or nothing more.
        """
        count = int(np.prod(shape)) if shape else 1
        kinds = self.kinds[self.place : self.place + count]
        found = {KINDS[int(each)] for each in np.unique(kinds)}
        if len(kinds) < count or found - {kind}:
            there = " and ".join(sorted(_SAID[each] for each in found)) or "nothing more"
            raise TapeError(
                f"{count} {_SAID[kind]} are asked for, where the old code drew {there}"
                + (f" ({len(kinds)} are left)" if found == {kind} else "")
            )
        values = self.values[self.place : self.place + count]
        self.place += count
        return values.reshape(shape) if shape else values[0]

    def next(self) -> str:
        """What comes next, "" at the end."""
        return KINDS[int(self.kinds[self.place])] if self.place < len(self.kinds) else ""


class Replayed:
    """NumPy's random functions, as far as translated code uses them, from a tape."""

    def __init__(self, tape: Tape) -> None:
        self._tape = tape

    def seed(self, *_seed: Any) -> None:
        """The tape goes on: Julia was seeded at the same place."""

    def rand(self, *shape: int) -> Any:
        """Uniform numbers."""
        return self._floats("uniform", shape)

    def randn(self, *shape: int) -> Any:
        """Normal numbers."""
        return self._floats("normal", shape)

    def randint(self, low: int, high: Optional[int] = None, size: Any = None) -> Any:
        """Whole numbers, those that Julia drew from the same range."""
        low, high = (0, low) if high is None else (low, high)
        drawn = self._whole(low, high - 1, size)
        return int(drawn) if size is None else drawn.astype(np.int64)

    def choice(self, among: Any, size: Any = None) -> Any:
        """Some of several values, those at the places that Julia drew."""
        if self._tape.next() == "range":
            drawn = self._whole(among[0], among[-1], size).astype(np.int64)
            return int(drawn) if size is None else drawn
        places = self._tape.take("index", _shape(size))
        if size is None:
            return among[int(places) - 1]
        return np.asarray(among)[places.astype(np.int64) - 1]

    def permutation(self, x: Any) -> Any:
        """Numbers below x, or the entries of x along its first axis."""
        length = x if isinstance(x, (int, np.integer)) else len(x)
        order = self._tape.take("permutation", (int(length),)).astype(np.int64) - 1
        return order if isinstance(x, (int, np.integer)) else np.asarray(x)[order]

    def shuffle(self, x: Any) -> None:
        """Reorder x in place."""
        x[:] = list(self.permutation(x)) if isinstance(x, list) else self.permutation(x)

    def _whole(self, low: int, high: int, size: Any) -> Any:
        """Whole numbers from low to high, both included, which must be Julia's."""
        told = self._tape.take("range", (2,))
        if (low, high) != tuple(told):
            raise TapeError(
                f"whole numbers from {low} to {high} are asked for, where the old code drew from "
                f"{told[0]:.0f} to {told[1]:.0f}"
            )
        return self._tape.take("whole", _shape(size))

    def _floats(self, kind: str, shape: tuple[int, ...]) -> Any:
        drawn = self._tape.take(kind, shape)
        return drawn.copy() if shape else float(drawn)

    def replace(self) -> None:
        """From now on NumPy's own functions of these names are these, and so are its generators'."""
        for name in ("seed", "rand", "randn", "randint", "choice", "permutation", "shuffle"):
            setattr(np.random, name, getattr(self, name))
        np.random.RandomState = lambda *_seed: self  # type: ignore[misc, assignment]


def _shape(size: Any) -> tuple[int, ...]:
    if size is None:
        return ()
    return tuple(size) if isinstance(size, (tuple, list)) else (int(size),)
