"""What is gathered of one side at a point: values, gradients, what rounding does, derivatives by numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array import Array
from .numeric import EPS, Along, Slope, noise_along, slope
from .point import Point
from .sides import Side
from .tolerance import spread

TRIALS = 3  # changes of the inputs' last digits
SINGLE = 64  # entries of the results up to which each is followed by itself
NEIGHBOURS = 12  # points around one that has no derivative
NEAR = 1e-5  # how far off these are, in proportion to the entries
LARGE = 10**6  # entries from which on every evaluation counts


@dataclass
class Faults:
    """What a side does that no function should."""

    changed: list[str] = field(default_factory=list)  # arrays that it wrote to
    unstable: bool = False  # the same call gave something else
    stateful: bool = False  # a call in between changed the gradient
    nonlinear: bool = False  # twice the head gradient did not give twice the gradient
    raised: str | None = None  # by the backward


@dataclass
class Evidence:
    """One side at one point."""

    side: Side
    point: Point
    outputs: list[Array]
    output_spreads: list[Array]
    gradients: list[list[Array | None]] = field(default_factory=list)  # for each head, for each argument
    spreads: list[list[Array]] = field(default_factory=list)
    heads: list[list[Array]] = field(default_factory=list)
    faults: Faults = field(default_factory=Faults)
    exact: Evidence | None = None  # the same in float64, for derivatives by numbers; itself, if None
    _noises: dict[int, Array] = field(default_factory=dict)

    def outputs_like(self, other: Evidence) -> bool:
        """Do both have results of the same shapes, so that head gradients of one are head gradients of the other?"""
        return [y.shape for y in self.outputs] == [y.shape for y in other.outputs]

    def phi(self, heads: Sequence[Sequence[Array]], arguments: Sequence[Any]) -> tuple[Array, Array]:
        """The outputs as one number for each head, what the gradients are gradients of; and the sizes of its terms."""
        try:
            outputs = self.side.values(arguments)
        except Exception:  # not defined there, a little off the point: no error of the function
            return np.full(len(heads), np.nan), np.zeros(len(heads))
        return np.array([_inner(head, outputs) for head in heads]), _sizes(heads, outputs)

    def noise(self, heads: Sequence[Sequence[Array]], argument: int) -> Array:
        """What rounding does to `phi`: by the values' sizes, and by what is seen when all of an argument moves."""
        if argument not in self._noises:
            basic = self._basic_noise(heads)
            way = {argument: self.point.direction(argument, np.random.default_rng(argument))}
            if self.point.arguments[argument].size <= LARGE:
                for spacing in (1e-3, 1e-6):
                    seen = noise_along(lambda t: self.phi(heads, self.point.moved(way, t)), spacing)
                    basic = np.maximum(basic, 2 * seen)
            self._noises[argument] = basic
        return self._noises[argument]

    def steepness(self, argument: int) -> list[float]:
        """For each head, how steep a function with values and arguments of these sizes is as a rule."""
        scale = self.point.scale(argument)
        return [
            max(
                (float(np.max(np.abs(h * y), initial=0)) for h, y in _finite(head, self.outputs)), default=0.0
            )
            / scale
            for head in self.heads
        ]

    def _basic_noise(self, heads: Sequence[Sequence[Array]]) -> Array:
        eps = max((float(np.finfo(y.dtype).eps) for y in self.outputs if y.dtype.kind == "f"), default=0.0)
        unsteady = [
            sum(float(np.sum(np.abs(h) * s)) for h, s in zip(head, self.output_spreads)) for head in heads
        ]
        return 2 * eps * _sizes(heads, self.outputs) + np.array(unsteady)

    def slope_of_entry(
        self, heads: Sequence[Sequence[Array]], argument: int, entry: int, levels: int, shrink: float = 1.0
    ) -> Slope:
        """The derivative by numbers with respect to one entry of an argument. `shrink` makes all steps smaller."""
        at = float(abs(self.point.arguments[argument].reshape(-1)[entry]))
        steps = [0.1 * max(at, 0.1 * self.point.scale(argument))]
        if 0 < at < 0.1 * self.point.scale(argument):
            steps.append(0.1 * at)  # close to the edge of a domain, or to a kink

        def along(t: float) -> tuple[Array, Array]:
            return self.phi(heads, self.point.moved_entry(argument, entry, t))

        return self._best(heads, argument, along, [shrink * t for t in steps], levels)

    def slope_along(
        self, heads: Sequence[Sequence[Array]], argument: int, way: Array, levels: int, shrink: float = 1.0
    ) -> Slope:
        """The derivative by numbers along a direction of an argument."""

        def along(t: float) -> tuple[Array, Array]:
            return self.phi(heads, self.point.moved({argument: way}, t))

        return self._best(heads, argument, along, [0.05 * shrink], levels)

    def _best(
        self,
        heads: Sequence[Sequence[Array]],
        argument: int,
        along: Along,
        steps: Sequence[float],
        levels: int,
    ) -> Slope:
        at_zero = np.array([_inner(head, self.outputs) for head in heads])
        noise = self.noise(heads, argument)
        found = [slope(along, at_zero, noise, step, levels) for step in steps]
        best = found[0]
        for other in found[1:]:
            best = best.where(~(other.error < best.error), other)
        return best

    def around(self, heads: Sequence[Sequence[Array]], argument: int, way: Array) -> tuple[Array, Array]:
        """The range, for each head, of the derivatives along `way` at points close by, where ties are broken.

        At a point without a derivative a gradient is a limit of gradients around it, or lies between such: Clarke,
        "Optimization and Nonsmooth Analysis" (1983), section 2.5. The ranges of the results' entries are added, for
        each may take its own way.
        """
        total = sum(y.size for y in self.outputs if y.dtype.kind == "f")
        asked = units(self.outputs) if total <= SINGLE else heads
        (low, high, error), (low_wide, high_wide, _) = (
            self._range(asked, argument, way, radius) for radius in (NEAR / 8, NEAR)
        )
        # At a smooth point the range shrinks with the radius.
        stays = (high - low > 0.5 * (high_wide - low_wide)) & (high - low > 2 * error)
        middle = (low + high) / 2
        low, high = np.where(stays, low, middle), np.where(stays, high, middle)
        if total > SINGLE:
            return low, high
        flat = [[h.reshape(-1) for h, y in zip(head, self.outputs) if y.dtype.kind == "f"] for head in heads]
        weights = np.array([np.concatenate(parts) for parts in flat])
        ends = np.stack([weights * low, weights * high])
        return ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1)

    def _range(
        self, heads: Sequence[Sequence[Array]], argument: int, way: Array, radius: float
    ) -> tuple[Array, Array, Array]:
        """The range of derivatives along `way` at points at a distance, and how far these may be off."""
        rng = np.random.default_rng(argument)
        found = []
        for _ in range(NEIGHBOURS):
            drawn = (rng.random(way.shape) + 0.5) * rng.choice([-1, 1], way.shape)
            off = np.asarray(self.point.sizes(argument) * radius * drawn, way.dtype)
            at_zero, size = self.phi(heads, self.point.moved({argument: off}, 1.0))

            def along(t: float, off: Array = off) -> tuple[Array, Array]:
                return self.phi(
                    heads, self.point.moved({argument: off + np.asarray(t, way.dtype) * way}, 1.0)
                )

            found.append(slope(along, at_zero, 2 * EPS * size, 1e-3 * radius, 3))
        values = np.array([s.value for s in found])
        with np.errstate(all="ignore"):
            return values.min(axis=0), values.max(axis=0), np.max([s.error for s in found], axis=0)


def units(outputs: Sequence[Array]) -> list[list[Array]]:
    """A head gradient for each entry of the results."""
    total = sum(y.size for y in outputs if y.dtype.kind == "f")
    return [split(row, outputs) for row in np.eye(total)]


def split(flat: Array, outputs: Sequence[Array]) -> list[Array]:
    """Head gradients out of one long vector; integer results get zeros."""
    heads, at = [], 0
    for y in outputs:
        if y.dtype.kind == "f":
            heads.append(flat[at : at + y.size].reshape(y.shape).astype(y.dtype, copy=False))
            at += y.size
        else:
            heads.append(np.zeros_like(y))
    return heads


def _sizes(heads: Sequence[Sequence[Array]], outputs: Sequence[Array]) -> Array:
    return np.array(
        [sum(float(np.vdot(np.abs(h), np.abs(y))) for h, y in _finite(head, outputs)) for head in heads]
    )


def _finite(head: Sequence[Array], outputs: Sequence[Array]) -> list[tuple[Array, Array]]:
    return [(h, np.where(np.isfinite(y), y, 0)) for h, y in zip(head, outputs) if y.dtype.kind == "f"]


def gather(
    side: Side, point: Point, heads: list[list[Array]] | None, draw: Any, careful: bool
) -> tuple[Evidence, list[list[Array]]]:
    """Everything but the numbers. `heads` None: they are drawn for the outputs, by `draw`.

    `careful` asks the function again and again: for the same, for other heads, with other calls in between.
    """
    outputs = side.values(point.arguments)
    faults = Faults()
    trials = range(TRIALS if careful else 1)
    changed = [side.values(point.rounded_otherwise(trial)) for trial in trials]
    spreads = [spread(y, [c[i] for c in changed if c[i].shape == y.shape]) for i, y in enumerate(outputs)]
    if heads is None:
        heads = draw(outputs)
    heads = [[h.astype(y.dtype, copy=False) for h, y in zip(head, outputs)] for head in heads]
    evidence = Evidence(side, point, outputs, spreads, heads=heads, faults=faults)
    if not point.movable:
        return evidence, heads
    try:
        _differentiate(evidence, heads, careful)
    except Exception as error:  # whatever the function's backward raises is evidence against it
        faults.raised = f"{type(error).__name__}: {error}".splitlines()[0]
    return evidence, heads


def _differentiate(evidence: Evidence, heads: list[list[Array]], careful: bool) -> None:
    side, point, faults = evidence.side, evidence.point, evidence.faults
    for head in heads:
        pulled = side.pull(point.arguments, head)
        faults.changed += [c for c in pulled.changed if c not in faults.changed]
        evidence.gradients.append(pulled.gradients)
        faults.unstable |= not _same(pulled.outputs, evidence.outputs)
    trials = range(TRIALS if careful else 1)
    changed = [side.pull(point.rounded_otherwise(trial), heads[0]).gradients for trial in trials]
    first = evidence.gradients[0]
    base = [_relative_spread(g, [c[i] for c in changed]) for i, g in enumerate(first)]
    for gradients in evidence.gradients:
        evidence.spreads.append([_scaled(s, b, g) for s, b, g in zip(base, first, gradients)])
    again = side.pull(point.arguments, heads[0])
    faults.unstable |= not _same(again.gradients, first)
    if careful and not faults.unstable:
        elsewhere = point.moved(
            {i: point.direction(i, np.random.default_rng(0)) for i in point.movable}, 0.25
        )
        between = side.interleaved(point.arguments, elsewhere, heads[0])
        faults.stateful = not _same(between.gradients, first)
        doubled = side.pull(point.arguments, [-2 * h for h in heads[0]]).gradients
        faults.nonlinear = not all(_close(d, None if g is None else -2 * g) for d, g in zip(doubled, first))


def _relative_spread(reference: Array | None, others: Sequence[Array | None]) -> Array:
    if reference is None:
        return np.zeros(())
    return spread(reference, [o for o in others if o is not None and o.shape == reference.shape])


def _scaled(spread_: Array, first: Array | None, other: Array | None) -> Array:
    """The spread under another head: in proportion to the sizes of the gradients."""
    if first is None or other is None:
        return np.zeros(() if other is None else other.shape)
    a, b = float(np.max(np.abs(first), initial=0)), float(np.max(np.abs(other), initial=0))
    return spread_ * max(b / a, 1.0) if a > 0 and np.isfinite(b / a) else spread_


def _inner(head: Sequence[Array], outputs: Sequence[Array]) -> float:
    return sum(
        float(np.vdot(h.astype(np.float64, copy=False), y.astype(np.float64, copy=False)))
        for h, y in zip(head, outputs)
        if y.dtype.kind == "f"
    )


def _same(a: Sequence[Array | None], b: Sequence[Array | None]) -> bool:
    """The same but for the order in which threads add up."""
    return len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b))


def _close(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None or a.shape != b.shape:
        return a is b
    if a.dtype.kind != "f":
        return bool(np.array_equal(a, b))
    allowed = 1e3 * float(np.finfo(a.dtype).eps)
    largest = float(np.max(np.abs(b[np.isfinite(b)]), initial=0))
    return bool(np.allclose(a, b, rtol=allowed, atol=allowed * largest, equal_nan=True))
