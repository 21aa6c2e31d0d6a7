"""What is close to a point without a derivative: which gradients a function has around it.

At a point without a derivative a gradient is a limit of gradients around it, or lies between such: Clarke,
"Optimization and Nonsmooth Analysis" (1983), section 2.5.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .array import Array
from .evidence import EPS, LARGE, Evidence
from .heads import Heads
from .numeric import slope
from .tolerance import apart

SINGLE = 64  # entries of the results up to which each is followed by itself
NEIGHBOURS = 12  # points around one that has no derivative
FEW = 4  # of them, where each costs much, and where gradients are only looked at
DEAR = 10**4  # entries from which each costs much
NEAR = 1e-5  # how far off these are, in proportion to the entries


@dataclass
class Neighbourhood:
    """The surroundings of a point, for the gradient of one argument of one side."""

    evidence: Evidence
    heads: Heads
    argument: int
    _jumps: dict[int, Array | None] = field(default_factory=dict)

    @property
    def coarse(self) -> bool:
        """Are the arguments too coarse for derivatives close by?"""
        return self.evidence.point.eps > 1e-10

    def may_be_rough(self, head: int, way: Array) -> bool:
        """May the point have no derivative along a direction?

        Only where the gradient close by is another one, however close: a function's own gradient is asked for that,
        which costs a few calls for all of an argument's entries.
        """
        jumps = self._jumps_of(head)
        return jumps is None or bool(np.any(jumps[way != 0]))

    def _jumps_of(self, head: int) -> Array | None:
        """Which entries of the gradient are others close by; None if it cannot be told."""
        if head not in self._jumps:
            self._jumps[head] = self._find_jumps(head)
        return self._jumps[head]

    def _find_jumps(self, head: int) -> Array | None:
        e = self.evidence
        radius = max(NEAR, 1e3 * e.point.eps)
        known = bool(e.gradients) and self.heads is e.heads
        here = e.gradients[head][self.argument] if known else self._gradient(e.point.arguments, head)
        near, wide = self._moves(here, head, radius / 8), self._moves(here, head, radius)
        if near is None or wide is None:
            return None
        found: Array = near > 0.5 * wide  # what is smooth changes less, the closer it is
        return found & (near > 0)

    def _moves(self, here: Array | None, head: int, radius: float) -> Array | None:
        """By how much each entry of the gradient differs from `here` at a distance, at the most."""
        if here is None:
            return None
        e = self.evidence
        rng = np.random.default_rng(self.argument)
        largest = np.zeros(here.shape)
        for _ in range(FEW if here.size < LARGE else 1):
            there = self._gradient(e.point.moved({self.argument: self._off(rng, radius)}, 1.0), head)
            if there is None or there.shape != here.shape:
                return None
            np.maximum(largest, apart(here, there), out=largest)
        return largest

    def _gradient(self, arguments: list[object], head: int) -> Array | None:
        try:
            return self.evidence.side.pull(arguments, self.heads[head]).gradients[self.argument]
        except Exception:  # not defined there
            return None

    def range(self, way: Array) -> tuple[Array, Array]:
        """The range, for each head, of the derivatives along `way` at points close by, where ties are broken.

        The ranges of the results' entries are added, for each may take its own way.
        """
        single = self.evidence.entries <= SINGLE
        asked = self.evidence.units if single else self.heads
        (low, high, error), (low_wide, high_wide, _) = (
            self._range(asked, way, radius) for radius in (NEAR / 8, NEAR)
        )
        # At a smooth point the range shrinks with the radius.
        stays = (high - low > 0.5 * (high_wide - low_wide)) & (high - low > 2 * error)
        middle = (low + high) / 2
        low, high = np.where(stays, low, middle), np.where(stays, high, middle)
        if not single:
            return low, high
        weights = self.evidence.weights(self.heads)
        ends = np.stack([weights * low, weights * high])
        return ends.min(axis=0).sum(axis=1), ends.max(axis=0).sum(axis=1)

    def _range(self, heads: Heads, way: Array, radius: float) -> tuple[Array, Array, Array]:
        """The range of derivatives along `way` at points at a distance, and how far these may be off."""
        e = self.evidence
        rng = np.random.default_rng(self.argument)
        found = []
        for _ in range(NEIGHBOURS if way.size <= DEAR else FEW):
            off = self._off(rng, radius)
            at_zero, _ = e.change(heads, e.point.moved({self.argument: off}, 1.0))

            def along(t: float, off: Array = off) -> tuple[Array, Array]:
                there = e.point.moved({self.argument: off + np.asarray(t, way.dtype) * way}, 1.0)
                value, noise = e.change(heads, there)
                return value, noise + EPS * np.abs(value)

            found.append(slope(along, at_zero, 1e-3 * radius, 3))
        values = np.array([s.value for s in found])
        with np.errstate(all="ignore"):
            return values.min(axis=0), values.max(axis=0), np.max([s.error for s in found], axis=0)

    def _off(self, rng: np.random.Generator, radius: float) -> Array:
        a: Array = self.evidence.point.arguments[self.argument]
        drawn = rng.random(a.shape) + 0.5
        drawn *= rng.choice([-1, 1], a.shape)
        off = self.evidence.point.sizes(self.argument)
        off *= radius
        off *= drawn
        return off
