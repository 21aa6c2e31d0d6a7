"""What one side says at a point: values, gradients, what rounding does to them, and derivatives by numbers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import heads as head_gradients
from .array import Array
from .heads import Heads
from .memory import float_pieces
from .numeric import Along, Slope, noise_along, slope
from .point import Point
from .sides import Side

EPS = float(np.finfo(np.float64).eps)
LARGE = 10**6  # entries from which on every evaluation counts
LOOKS = 12  # steps at which plain differences are taken, each an eighth of the one before
SPACINGS = (1e-6, 1e-8, 1e-10, 1e-3)  # of the points between which noise is looked for


@dataclass
class Evidence:
    """One side at one point."""

    side: Side
    point: Point
    outputs: list[Array]
    output_spreads: list[Array]
    heads: Heads
    gradients: list[list[Array | None]] = field(default_factory=list)  # for each head, for each argument
    spreads: list[list[Array]] = field(default_factory=list)
    usual_outputs: list[Array] = field(
        default_factory=list
    )  # for smaller inputs, if the function takes these
    usual: list[list[Array | None]] = field(default_factory=list)  # gradients, likewise
    blind: bool = False  # its values differ from call to call, so numbers tell nothing
    exact: Evidence | None = None  # the same in float64, for derivatives by numbers; itself, if None
    _rows: dict[int, tuple[Heads, Array]] = field(default_factory=dict)
    _units: Heads | None = None
    _noises: dict[tuple[int, int], Array] = field(default_factory=dict)
    _base: tuple[Array, Array, float] | None = None
    _unsure: dict[int, Array] = field(default_factory=dict)
    _lost: dict[int, Array] | None = None

    def outputs_like(self, other: Evidence) -> bool:
        """Do both have results of the same shapes, so that head gradients of one are head gradients of the other?"""
        return [y.shape for y in self.outputs] == [y.shape for y in other.outputs]

    def usual_gradient(self, head: int, argument: int) -> Array | None:
        """The gradient for smaller inputs, if there is one."""
        return self.usual[head][argument] if self.usual else None

    @property
    def entries(self) -> int:
        """How many entries the results have."""
        return sum(y.size for y in self.outputs if y.dtype.kind == "f")

    @property
    def units(self) -> Heads:
        """A head gradient for each entry of the results."""
        if self._units is None:
            self._units = head_gradients.units(self.outputs)
        return self._units

    def change(self, heads: Heads, arguments: Sequence[Any]) -> tuple[Array, Array]:
        """For each head: how much less or more the results are than at the point, and how uncertain that is.

        Results that stay as they are add nothing to either, whatever their size: so a derivative can be told although
        there are results that are much larger. If none changes at all, the change may be hidden by rounding.
        """
        weights = self.weights(heads)
        try:
            outputs = [] if self.blind else self.side.values(arguments, copy=False)
        except Exception:  # not defined there, a little off the point: no error of the function
            outputs = []
        if [y.shape for y in outputs] != [y.shape for y in self.outputs]:
            return np.full(len(heads), np.nan), np.zeros(len(heads))
        if self.entries >= LARGE:
            return self._change_of_many(weights, outputs), self._unsure_of_many(heads)
        at, noise, hidden = self._at_point()
        moved = head_gradients.column(outputs)
        with np.errstate(invalid="ignore", over="ignore"):
            delta = moved - at
        if delta.size and not np.isfinite(np.sum(delta)):
            lost = ~np.isfinite(delta)
            delta[lost] = 0
            undefined = (weights[:, lost & np.isfinite(at)] != 0).any(axis=1)
        else:
            undefined = np.zeros(len(heads), bool)
        changed = np.flatnonzero(delta)
        seen = weights[:, changed] if 4 * changed.size < delta.size else weights
        if seen is not weights:
            delta, noise = delta[changed], noise[changed]
        else:
            noise = np.where(delta == 0, 0.0, noise)
        value = seen @ delta
        unsure = np.abs(seen) @ noise
        if not unsure.all():
            unsure = np.where(unsure > 0, unsure, hidden * np.abs(weights).max(axis=1, initial=0))
        value[undefined] = np.nan
        return value, unsure

    def _change_of_many(self, weights: Array, outputs: Sequence[Array]) -> Array:
        """As `change`, of very many results: piece by piece, so that none of their size is made."""
        value, undefined = np.zeros(len(weights)), np.zeros(len(weights), bool)
        for (where, piece), (_, at) in zip(float_pieces(outputs), float_pieces(self.outputs)):
            here = weights[:, where]
            with np.errstate(invalid="ignore", over="ignore"):
                delta = np.subtract(piece, at, dtype=np.float64)
                part = here @ delta
            if not np.isfinite(part).all():  # zero times infinity is not finite either
                lost = ~np.isfinite(delta)
                delta[lost] = 0
                undefined |= (here[:, lost & np.isfinite(at)] != 0).any(axis=1)
                part = here @ delta
            value += part
        value[undefined] = np.nan
        return value

    def _unsure_of_many(self, heads: Heads) -> Array:
        """What rounding does to very many results together: as if all of them changed, wherever the arguments are."""
        if id(heads) not in self._unsure:
            noise = self._noise()
            weights = self.weights(heads)  # kept, so that the key stays this list's
            self._unsure[id(heads)] = np.array([float(np.vdot(np.abs(row), noise)) for row in weights])
        return self._unsure[id(heads)]

    def weights(self, heads: Heads) -> Array:
        if id(heads) not in self._rows:
            self._rows[id(heads)] = (heads, head_gradients.rows(heads, self.outputs))
        return self._rows[id(heads)][1]

    def _at_point(self) -> tuple[Array, Array, float]:
        """The results as one vector, what rounding does to each of them, and what it may hide in one that is zero."""
        if self._base is None:
            noise, eps = self._noise(), self._output_eps
            largest = float(np.max(noise, initial=0)) / (2 * eps) if eps else 0.0
            self._base = head_gradients.column(self.outputs), noise, EPS * (largest or 1.0)
        return self._base

    @property
    def _output_eps(self) -> float:
        """The precision of the coarsest result."""
        return max((float(np.finfo(y.dtype).eps) for y in self.outputs if y.dtype.kind == "f"), default=0.0)

    def _noise(self) -> Array:
        """What rounding does to each entry of the results."""
        noise = np.abs(head_gradients.column(self.outputs))
        if [y.shape for y in self.usual_outputs] == [y.shape for y in self.outputs]:
            usual = np.abs(head_gradients.column(self.usual_outputs))
            noise = np.fmax(noise, np.where(np.isfinite(usual), usual, 0))
        noise *= 2 * self._output_eps
        noise += head_gradients.column(
            [s if y.dtype.kind == "f" else y for s, y in zip(self.output_spreads, self.outputs)]
        )
        if noise.size and not np.isfinite(np.sum(noise)):
            noise[~np.isfinite(noise)] = 0
        return noise

    def _roughness(self, heads: Heads, argument: int) -> Array:
        """How many times as much noise the values have as their sizes say: seen when all of an argument moves.

        Kinks, poles and short waves among the points look like noise, but not at every spacing: the least counts.
        """
        key = (id(heads), argument)
        if key in self._noises:
            return self._noises[key]
        self.weights(heads)  # kept, so that the key stays this list's
        if self.point.arguments[argument].size <= LARGE:
            way = {argument: self.point.direction(argument, np.random.default_rng(argument))}
            self._noises[key] = _excess(lambda t: self.change(heads, self.point.moved(way, t)), 1.0)
        else:
            self._noises[key] = np.ones(len(heads))
        return self._noises[key]

    def roughness_at(self, heads: Heads, argument: int, way: Array, entry: int | None) -> Array:
        """How many times as much noise there is along one line as was reckoned with; at least 1."""
        along, steps = self._path(heads, argument, way, entry)
        return _excess(along, 10 * min(steps))

    def lost(self, argument: int) -> Array:
        """Which entries of an argument are not finite, or results that are not come from."""
        if self._lost is None:
            self._lost = self._find_lost()
        return self._lost[argument]

    def _find_lost(self) -> dict[int, Array]:
        found = {i: ~np.isfinite(self.point.arguments[i]) for i in self.point.movable}
        broken = [~np.isfinite(y) for y in self.outputs]
        if any(b.any() for b in broken):
            head = [b.astype(y.dtype) for b, y in zip(broken, self.outputs)]
            try:
                gradients = self.side.pull(self.point.arguments, head).gradients
            except Exception:  # then it is the user's heads that this is to be told about
                return found
            for i in found:
                g = gradients[i]
                if g is not None and g.shape == found[i].shape:
                    found[i] |= ~(g == 0)
        return found

    def slope(
        self,
        heads: Heads,
        argument: int,
        way: Array,
        entry: int | None,
        levels: int,
        shrink: float = 1.0,
        wanted: Array | None = None,
    ) -> Slope:
        """The derivative by numbers along a direction of an argument, or with respect to one entry of it.

        `shrink` makes all steps smaller; `wanted` is that of `numeric.slope`.
        """
        along, steps = self._path(heads, argument, way, entry)
        found = [slope(along, np.zeros(len(heads)), shrink * step, levels, wanted) for step in steps]
        best = found[0]
        for other in found[1:]:
            best = best.where(~(other.error < best.error), other)
        return best

    def differences(
        self, heads: Heads, argument: int, way: Array, entry: int | None
    ) -> Iterator[tuple[Array, Array]]:
        """Central differences at ever smaller steps, and what rounding does to them."""
        along, steps = self._path(heads, argument, way, entry)
        for level in range(LOOKS):
            t = min(steps) / 8.0 ** (level + 1)
            (up, up_noise), (down, down_noise) = along(t), along(-t)
            yield (up - down) / (2 * t), 2 * np.fmax(up_noise, down_noise) / t

    def _path(self, heads: Heads, argument: int, way: Array, entry: int | None) -> tuple[Along, list[float]]:
        """The change of the results along a line, and the first steps to take on it."""
        factor = self._roughness(heads, argument)
        line = self.point.line(argument, way, entry)

        def along(t: float) -> tuple[Array, Array]:
            value, unsure = self.change(heads, line(t))
            return value, factor * unsure

        if entry is None:
            return along, [0.05 if way.size < LARGE // 10 else 1e-3]
        scale = 0.1 * self.point.scale(argument)
        at = float(abs(self.point.arguments[argument].reshape(-1)[entry]))
        steps = [0.1 * max(at, scale)]
        if 0 < at < scale:
            steps.append(0.1 * at)  # close to the edge of a domain, or to a kink
        return along, steps


def _excess(along: Along, unit: float) -> Array:
    """How many times as much noise there is as `along` says: the least of what several spacings show, at least 1."""
    factor: Array = np.array(np.inf)
    for spacing in SPACINGS:
        seen, told = noise_along(along, unit * spacing)
        with np.errstate(all="ignore"):
            factor = np.fmin(factor, 2 * seen / told)
        if bool((factor <= 1).all()):
            break
    return np.where(np.isfinite(factor), np.maximum(factor, 1), 1)
