"""Derivatives from values: central differences, extrapolated, with an error of their own.

Ridders, "Accurate computation of F'(x) and F'(x)F''(x)", Advances in Engineering Software 4 (1982), 75-76: differences
at steps t, t/2, t/4, … are extrapolated to t = 0 in a Neville table, and of all its entries the one counts that moved
least from its neighbours. What rounding contributes at each step is added, so that small steps are not believed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .array import Array

COLUMNS = 5
NOISE_POINTS = 20
MEDIAN_OF_SQUARES = 0.455  # of a normal distribution with variance 1
LEAST = 6  # levels that are looked at in any case
SAFETY = 4.0


@dataclass
class Slope:
    """A derivative along a direction, for each of several functions.

    Attributes:
        value: the derivative; NaN where the function is not finite around the point.
        error: how far `value` may be off.
        left, right: one-sided derivatives. They differ at a kink.
        kink: where they differ by more than curvature and rounding explain.
    """

    value: Array
    error: Array
    left: Array
    right: Array
    kink: Array

    def where(self, condition: Array, other: Slope) -> Slope:
        """This slope where the condition holds, else the other."""

        def pick(name: str) -> Array:
            return np.where(condition, getattr(self, name), getattr(other, name))

        return Slope(pick("value"), pick("error"), pick("left"), pick("right"), pick("kink"))


#: At a distance along a direction: values of several functions, and what rounding does to each.
Along = Callable[[float], tuple[Array, Array]]


def slope(
    along: Along, at_zero: Array, step: float, levels: int = 40, wanted: Array | float | None = None
) -> Slope:
    """The derivative of `along` at 0.

    Args:
        along: the functions; NaN where they are not defined.
        at_zero: their values at 0.
        step: the first, largest distance.
        levels: how many halvings at the most.
        wanted: how exact it has to be to decide something. However small the error seems to be, steps are shrunk until
            rounding is as large as that: so that nothing is missed that is close by, and between the first steps.
    """
    least = 0.0 if wanted is None else wanted
    value, error = np.full(at_zero.shape, np.nan), np.full(at_zero.shape, np.inf)
    gap = np.zeros(at_zero.shape)  # between the plain difference at a value's step and the value
    above: list[Array] = []  # the table's row before
    rights, lefts, roundings = [], [], []
    with np.errstate(all="ignore"):
        for level in range(levels):
            t = step / 2**level
            (up, up_noise), (down, down_noise) = along(t), along(-t)
            rounding = 2 * np.fmax(up_noise, down_noise) / t
            rights.append((up - at_zero) / t)
            lefts.append((at_zero - down) / t)
            roundings.append(rounding)
            row = [(up - down) / (2 * t)]
            # A smooth function's differences come closer as the step shrinks. Where they leave what was found, that was
            # the slope across something nearby: a kink, a pole.
            left_behind = np.abs(row[0] - value) > 2 * gap + error + 4 * rounding
            value[left_behind], error[left_behind] = np.nan, np.inf
            for column in range(1, min(len(above), COLUMNS - 1) + 1):
                row.append(row[-1] + (row[-1] - above[column - 1]) / (4.0**column - 1))
            for column in range(1, len(row)):
                entry = row[column]
                moved = np.maximum(np.abs(entry - row[column - 1]), np.abs(entry - above[column - 1]))
                better = np.isfinite(entry) & (moved + rounding < error)
                value[better], error[better] = entry[better], (moved + rounding)[better]
                gap[better] = np.abs(row[0] - entry)[better]
            above = row
            if level >= LEAST - 1 and bool((rounding > np.fmax(error, least)).all()):
                break  # rounding alone is worse than what has been reached
    left, right, kink = _one_sided(np.array(lefts), np.array(rights), 4 * np.array(roundings))
    return Slope(value, SAFETY * error, left, right, kink)


def noise_along(along: Along, spacing: float) -> tuple[Array, Array]:
    """How much rounding the values of `along` carry, from their higher differences; and how much they were said to.

    Differences of high order take away what is smooth; what is left is noise. The table is that of ECnoise: Moré and
    Wild, "Estimating computational noise", SIAM Journal on Scientific Computing 33 (2011), 1292-1314. As there, points
    are too close if most of the values are equal: then the noise is NaN. So it is if the values are not finite.
    """
    with np.errstate(all="ignore"):
        points = [along(spacing * k) for k in range(1, NOISE_POINTS + 1)]
        table = np.array([value for value, _ in points])
        told = np.median([noise for _, noise in points], axis=0)
        equal = np.count_nonzero(np.diff(table, axis=0) == 0, axis=0)
        close = equal > NOISE_POINTS // 2
        found = []
        gamma = 1.0
        for order in range(1, 7):
            table = np.diff(table, axis=0)
            gamma *= 0.5 * order / (2 * order - 1)
            if order >= 5:  # the median, for a kink or a pole among the points is no noise
                found.append(gamma * np.median(table**2, axis=0) / MEDIAN_OF_SQUARES)
        seen: Array = np.sqrt(np.mean(found, axis=0))
    return np.where(close, np.nan, seen), told


def _one_sided(lefts: Array, rights: Array, rounding: Array) -> tuple[Array, Array, Array]:
    """The one-sided derivatives, and where they differ.

    At a kink their difference stays as the step shrinks, until rounding wins. At a smooth point it shrinks with the
    step; near a kink, but not at it, it vanishes at some step.
    """
    count = lefts.shape[1]
    left, right, kink = lefts[-1].copy(), rights[-1].copy(), np.zeros(count, bool)
    with np.errstate(all="ignore"):
        jump = np.abs(rights - lefts)
        clear = jump > 20 * rounding
    for k in range(count):
        levels = np.flatnonzero(clear[:, k])
        if not levels.size or levels[-1] < 3:
            continue
        i = int(levels[-1])
        size = jump[i, k]
        steady = all(0.6 < size / jump[j, k] < 1.6 for j in (i - 1, i - 2, i - 3) if jump[j, k] > 0)
        vanished = any(40 * rounding[j, k] < size for j in range(i + 1, len(jump)))
        if steady and not vanished and size > 1e-7 * max(abs(lefts[i, k]), abs(rights[i, k])):
            kink[k] = True
            left[k], right[k] = lefts[i, k], rights[i, k]
    return left, right, kink
