"""Gradients held against derivatives by numbers, place by place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .array import Array
from .evidence import Evidence
from .numeric import Slope

Heads = list[list[Array]]


@dataclass
class Row:
    """One entry of a gradient, or the derivative along a direction, as everybody has it."""

    where: str
    head: int
    python: float | None
    julia: float | None
    numbers: float
    error: float  # of the numbers
    allowed: float
    left: float
    right: float
    kink: bool
    wrong: tuple[str, ...] = ()

    @property
    def undecided(self) -> bool:
        """Do the sides differ, without one that is wrong by the numbers?"""
        if self.wrong or self.python is None or self.julia is None:
            return False
        return not abs(self.python - self.julia) <= self.allowed

    @property
    def off(self) -> float:
        """How far the worst side is from the numbers, or, where those do not tell, the sides from each other."""
        said = [v for v in (self.python, self.julia) if v is not None]
        apart = abs(said[0] - said[-1])
        if not np.isfinite(self.numbers) or not np.isfinite(self.error):
            return apart
        return max([apart, *(abs(v - self.numbers) for v in said)]) if not self.kink else apart


@dataclass
class Place:
    """Where to look: at one entry of an argument, or along a direction of it.

    Attributes:
        name: what reports call it.
        argument: which argument.
        way: the direction; for an entry, zero elsewhere, and there how far it may be moved.
        entry: the entry's place in memory; None for a direction.
    """

    name: str
    argument: int
    way: Array
    entry: int | None = None

    def said(self, gradients: list[Array]) -> list[float]:
        """The derivative here, for each head, by gradients."""
        return [self._along(g, self.way) for g in gradients]

    def allowed(self, tolerances: list[Array]) -> list[float]:
        """How far these may be off."""
        return [self._along(t, np.abs(self.way)) for t in tolerances]

    def slopes(
        self, shown: dict[str, Evidence], heads: dict[str, Heads], levels: int, shrink: float
    ) -> dict[str, Slope]:
        """The derivatives by numbers, by language. Evidence that stands for both languages is asked once."""
        found: dict[int, Slope] = {}
        for language, e in shown.items():
            if id(e) in found:
                continue
            if self.entry is None:
                found[id(e)] = e.slope_along(heads[language], self.argument, self.way, levels, shrink)
            else:
                found[id(e)] = e.slope_of_entry(heads[language], self.argument, self.entry, levels, shrink)
        return {language: found[id(e)] for language, e in shown.items()}

    def ranges(self, shown: dict[str, Evidence], heads: dict[str, Heads]) -> dict[str, tuple[Array, Array]]:
        """The ranges of the derivatives at points close by."""
        size = 1.0 if self.entry is None else float(self.way.reshape(-1)[self.entry])
        found = {k: e.around(heads[k], self.argument, self.way) for k, e in shown.items()}
        return {k: (low / size, high / size) for k, (low, high) in found.items()}

    def _along(self, a: Array, way: Array) -> float:
        if self.entry is not None:
            return float(a.reshape(-1)[self.entry])
        return float(np.vdot(a, way.astype(np.float64, copy=False)))


def weigh(
    place: Place,
    gradients: dict[str, list[Array]],
    tolerances: dict[str, list[Array]],
    shown: dict[str, Evidence],
    heads: dict[str, Heads],
    levels: int,
    shared: bool,
) -> list[Row]:
    """Judge the gradients at a place, under every head.

    A side is called wrong on the word of two derivatives by numbers, from different steps, that agree; and where there
    is no derivative, only if the gradient lies outside of what the derivatives close by are.
    """
    said = {k: place.said(g) for k, g in gradients.items()}
    allowed = {k: place.allowed(t) for k, t in tolerances.items()}
    slopes = place.slopes(shown, heads, levels, 1.0)
    count = len(next(iter(said.values())))
    wrong = [
        {k for k in said if _is_wrong(said[k][head], allowed[k][head], slopes[k], head)}
        for head in range(count)
    ]
    if any(wrong):
        again = place.slopes(shown, heads, levels, 0.31)
        for head, suspects in enumerate(wrong):
            for k in sorted(suspects):
                if not _is_wrong(said[k][head], allowed[k][head], again[k], head) or not _same(
                    slopes[k], again[k], head
                ):
                    suspects.remove(k)
    rough = [False] * count
    if any(wrong):
        ranges = place.ranges(shown, heads)
        for head, suspects in enumerate(wrong):
            for k in sorted(suspects):
                low, high = (float(end[head]) for end in ranges[k])
                if high > low:
                    rough[head] = True
                    slack = allowed[k][head] + 1e-2 * (high - low)
                    if low - slack <= said[k][head] <= high + slack:
                        suspects.remove(k)
    return [
        _row(place.name, head, said, allowed, slopes, wrong[head], rough[head], shared)
        for head in range(count)
    ]


def _row(
    where: str,
    head: int,
    said: dict[str, list[float]],
    allowed: dict[str, list[float]],
    slopes: dict[str, Slope],
    wrong: set[str],
    rough: bool,
    shared: bool,
) -> Row:
    best = next(iter(slopes.values()))
    if shared:
        best = min(slopes.values(), key=lambda s: float(np.nan_to_num(s.error[head], nan=np.inf)))
    return Row(
        where,
        head,
        said["Python"][head] if "Python" in said else None,
        said["Julia"][head] if "Julia" in said else None,
        float(best.value[head]),
        float(best.error[head]),
        sum(t[head] for t in allowed.values()),
        float(best.left[head]),
        float(best.right[head]),
        rough or any(bool(s.kink[head]) for s in slopes.values()),
        tuple(sorted(wrong)),
    )


def _same(a: Slope, b: Slope, head: int) -> bool:
    """Do two derivatives by numbers agree within their errors, or both see a kink?"""
    if bool(a.kink[head]) or bool(b.kink[head]):
        return bool(a.kink[head]) == bool(b.kink[head])
    return bool(abs(a.value[head] - b.value[head]) <= a.error[head] + b.error[head])


def _is_wrong(said: float, allowed: float, s: Slope, head: int) -> bool:
    value, error = float(s.value[head]), float(s.error[head])
    left, right = float(s.left[head]), float(s.right[head])
    if bool(s.kink[head]):
        low, high = min(left, right), max(left, right)
        slack = allowed + 1e-3 * (high - low)
        return not low - slack <= said <= high + slack
    if not np.isfinite(value) or not np.isfinite(error):
        return False
    return not abs(said - value) <= allowed + error
