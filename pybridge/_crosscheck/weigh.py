"""Gradients held against derivatives by numbers, place by place."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .array import Array
from .evidence import LARGE, Evidence
from .heads import Heads
from .neighbourhood import Neighbourhood
from .numeric import Slope

ROUGH_PLACES = 6  # of an argument with more than this many entries: how many are looked around at
MANY = 10**4
FEW_DIGITS = 1e-3  # an error so small, in proportion, may be one of rounding
CLOSELY = 1e-4  # how exact a second look is, in proportion to what it is to decide


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
    by: str = ""  # whose values the numbers are from, if those of the two are not the same

    @property
    def undecided(self) -> bool:
        """Do the sides differ, without one that is wrong by the numbers?"""
        if self.wrong or self.python is None or self.julia is None:
            return False
        if np.isnan(self.python) and np.isnan(self.julia):
            return False
        return not self._alike(self.python, self.julia)

    def _alike(self, a: float, b: float) -> bool:
        if abs(a - b) <= self.allowed or a == b:
            return True
        # What is left of terms that cancel: by the numbers both are zero, as far as anybody can tell.
        return max(abs(a), abs(b), abs(self.numbers)) <= self.error < 1e-9

    @property
    def useful(self) -> bool:
        """Do the numbers say anything here?"""
        if self.kink:
            return True
        said = [abs(v) for v in (self.python, self.julia) if v is not None and np.isfinite(v)]
        return bool(
            np.isfinite(self.numbers)
            and self.error <= max([self.allowed, 1e-6, *(0.5 * v for v in said), 0.5 * abs(self.numbers)])
        )

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
        way = self.way if self.entry is not None else np.abs(self.way)
        return [self._along(t, way) for t in tolerances]

    def slopes(
        self,
        shown: dict[str, Evidence],
        heads: dict[str, Heads],
        levels: int,
        shrink: float,
        wanted: dict[str, Array] | None = None,
    ) -> dict[str, Slope]:
        """The derivatives by numbers, by language. Evidence that stands for both languages is asked once."""
        found: dict[int, Slope] = {}
        for language, e in shown.items():
            if id(e) in found:
                continue
            least = None if wanted is None else wanted[language]
            found[id(e)] = e.slope(
                heads[language], self.argument, self.way, self.entry, levels, shrink, least
            )
        return {language: found[id(e)] for language, e in shown.items()}

    def unit(self) -> float:
        """How long the direction is, if it is that of an entry; the derivative is with respect to the entry itself."""
        return 1.0 if self.entry is None else float(self.way.reshape(-1)[self.entry])

    def _along(self, a: Array, way: Array) -> float:
        if self.entry is not None:
            return float(a.reshape(-1)[self.entry])
        flat, moved = a.reshape(-1), way.reshape(-1)
        found = float(np.vdot(flat, moved.astype(np.float64, copy=False)))
        if np.isfinite(found):
            return found
        there = moved != 0  # what is not moved does not count, not even a NaN
        with np.errstate(invalid="ignore", over="ignore"):
            return float(np.vdot(flat[there], moved[there].astype(np.float64, copy=False)))


class Scales:
    """Judges the gradients of one argument at one place after the other, under every head.

    A side is called wrong on the word of two derivatives by numbers, from different steps, both looked at closely; and
    where there is no derivative, only if the gradient lies outside of what the derivatives close by are. Of a very
    large argument one such place is enough: at those that follow, the first derivative tells whether it is wrong there.
    """

    def __init__(
        self,
        argument: int,
        gradients: dict[str, list[Array]],
        tolerances: dict[str, list[Array]],
        shown: dict[str, Evidence],
        heads: dict[str, Heads],
        shared: bool,
    ) -> None:
        self._gradients, self._tolerances = gradients, tolerances
        self._shown, self._heads, self._shared = shown, heads, shared
        # One function: at first sight one side's values do for both.
        self._first = dict.fromkeys(shown, next(iter(shown.values()))) if shared else shown
        around: dict[int, Neighbourhood] = {}
        for language, e in shown.items():
            around.setdefault(id(e), Neighbourhood(e, heads[language], argument))
        self._around = {language: around[id(e)] for language, e in shown.items()}
        size = next(iter(shown.values())).point.arguments[argument].size
        self._levels = 40 if size <= 10**5 else 8 if size < LARGE else 3
        self._once = size >= LARGE
        self._proven: set[str] = set()  # languages
        self._looks_left = ROUGH_PLACES if size > MANY else size + 64

    def weigh(self, place: Place) -> list[Row]:
        """The rows of a place, one for each head."""
        said = {k: place.said(g) for k, g in self._gradients.items()}
        allowed = {k: place.allowed(t) for k, t in self._tolerances.items()}
        slopes = place.slopes(self._first, self._heads, self._levels, 1.0)
        if self._first is not self._shown and not all(np.isfinite(s.error).all() for s in slopes.values()):
            slopes = place.slopes(self._shown, self._heads, self._levels, 1.0)
        heads = range(len(next(iter(said.values()))))
        wrong = [_suspects(said, allowed, slopes, head) for head in heads]
        rough = [False for _ in heads]
        if not (self._once and set().union(*wrong) <= self._proven):
            if any(wrong):
                slopes = self._look_closely(place, said, allowed, slopes, wrong)
            if any(wrong):
                self._look_around(place, said, allowed, wrong, rough)
            self._proven.update(*wrong)
        return [
            self._row(place.name, head, said, allowed, slopes, wrong[head], rough[head]) for head in heads
        ]

    def _look_closely(
        self,
        place: Place,
        said: dict[str, list[float]],
        allowed: dict[str, list[float]],
        slopes: dict[str, Slope],
        wrong: list[set[str]],
    ) -> dict[str, Slope]:
        """Ask the suspects again: from other steps, and whether anything is close by that these have missed."""
        asked = {k: e for k, e in self._shown.items() if any(k in suspects for suspects in wrong)}
        large = place.way.size >= 10**5
        again = place.slopes(asked, self._heads, self._levels, 0.031 if large else 0.31)
        if not large:
            gaps = {k: _gaps(said[k], slopes[k]) for k in asked}
            unsteady = [
                k
                for k in asked
                if not self._is_steady(place, k, [k in suspects for suspects in wrong], slopes[k], gaps[k])
                or any(k in s and not _same(slopes[k], again[k], head) for head, s in enumerate(wrong))
            ]
            if unsteady:
                closer = {k: CLOSELY * gaps[k] for k in asked}
                slopes, again = (
                    place.slopes(asked, self._heads, self._levels, shrink, closer) for shrink in (0.31, 0.57)
                )
        else:
            slopes, again = again, place.slopes(asked, self._heads, self._levels, 0.0057)
        self._reckon_with_noise(place, said, wrong, slopes, again)
        for head, suspects in enumerate(wrong):
            for k in sorted(suspects):
                sure = _is_wrong(said[k][head], allowed[k][head], slopes[k], head)
                sure &= _is_wrong(said[k][head], allowed[k][head], again[k], head)
                if not sure or not _same(slopes[k], again[k], head):
                    suspects.discard(k)
        return slopes

    def _reckon_with_noise(
        self,
        place: Place,
        said: dict[str, list[float]],
        wrong: list[set[str]],
        slopes: dict[str, Slope],
        again: dict[str, Slope],
    ) -> None:
        """Where a side is off by little only, measure the noise right here, and let the errors be as much larger."""
        for k in slopes:
            gaps, sizes = _gaps(said[k], slopes[k]), np.abs(said[k])
            close = [
                k in suspects and gap < FEW_DIGITS * size for suspects, gap, size in zip(wrong, gaps, sizes)
            ]
            if any(close) and place.way.size < 10**5:
                factor = self._shown[k].roughness_at(self._heads[k], place.argument, place.way, place.entry)
                slopes[k].error *= np.where(close, factor, 1)
                again[k].error *= np.where(close, factor, 1)

    def _is_steady(
        self, place: Place, language: str, suspected: list[bool], found: Slope, gaps: Array
    ) -> bool:
        """Are plain differences still by the derivative at the smallest steps at which rounding does not hide it?"""
        e, heads = self._shown[language], self._heads[language]
        asked = np.array(suspected) & ~found.kink
        near = np.ones(len(asked), bool)
        for value, rounding in e.differences(heads, place.argument, place.way, place.entry):
            clear = asked & (rounding < gaps / 8)
            if not clear.any():
                break
            near[clear] = (np.abs(value - found.value) < gaps / 2)[clear]
        return bool(near.all())

    def _look_around(
        self,
        place: Place,
        said: dict[str, list[float]],
        allowed: dict[str, list[float]],
        wrong: list[set[str]],
        rough: list[bool],
    ) -> None:
        """Where the gradient jumps, take back what lies between the derivatives close by."""
        ranges: dict[int, tuple[Array, Array]] = {}
        looked = False
        for head, suspects in enumerate(wrong):
            for k in sorted(suspects):
                around = self._around[k]
                if not any(a.may_be_rough(head, place.way) for a in self._around.values()):
                    continue
                if not looked:
                    self._looks_left -= 1
                    looked = True
                if self._looks_left < 0 or around.coarse:
                    suspects.discard(k)  # it cannot be looked at, so it is not blamed
                    continue
                if id(around) not in ranges:
                    ranges[id(around)] = around.range(place.way)
                low, high = (float(end[head]) / place.unit() for end in ranges[id(around)])
                if high > low:
                    rough[head] = True
                    slack = allowed[k][head] + 1e-2 * (high - low)
                    if low - slack <= said[k][head] <= high + slack:
                        suspects.discard(k)

    def _row(
        self,
        where: str,
        head: int,
        said: dict[str, list[float]],
        allowed: dict[str, list[float]],
        slopes: dict[str, Slope],
        wrong: set[str],
        rough: bool,
    ) -> Row:
        language = next(iter(slopes))
        if self._shared:
            language = min(slopes, key=lambda k: float(np.nan_to_num(slopes[k].error[head], nan=np.inf)))
        elif len(slopes) > 1 and len(wrong) == 1:
            language = next(iter(wrong))
        best = slopes[language]
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
            "" if self._shared or len(slopes) < 2 else language,
        )


def _suspects(
    said: dict[str, list[float]], allowed: dict[str, list[float]], slopes: dict[str, Slope], head: int
) -> set[str]:
    return {k for k in said if _is_wrong(said[k][head], allowed[k][head], slopes[k], head)}


def _gaps(said: list[float], s: Slope) -> Array:
    """How far what is said is from what was found."""
    with np.errstate(invalid="ignore"):
        gaps = np.abs(np.array(said) - s.value)
    return np.where(np.isfinite(gaps), gaps, np.inf)


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
