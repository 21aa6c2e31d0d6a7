"""What a float array holds, in numbers: its range, its moments, and how much of it is no number."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .._libmxnet import NDArray


@dataclass
class Moments:
    """Numbers of one array or of several together; minimum to standard deviation are those of the finite elements."""

    count: int = 0
    minimum: float = math.inf
    maximum: float = -math.inf
    mean: float = 0.0
    squares: float = 0.0
    nans: int = 0
    infs: int = 0

    @property
    def std(self) -> float:
        """Standard deviation of the finite elements (of all, not of a sample)."""
        return math.sqrt(self.squares / self.count) if self.count else math.nan

    @property
    def finite(self) -> bool:
        return not self.nans and not self.infs

    def add(self, other: Moments) -> None:
        """Take another array in (Chan, Golub, LeVeque: Updating formulae and a pairwise algorithm, 1979)."""
        total = self.count + other.count
        if total:
            delta = other.mean - self.mean
            self.mean += delta * other.count / total
            self.squares += other.squares + delta * delta * self.count * other.count / total
        self.count = total
        self.minimum, self.maximum = min(self.minimum, other.minimum), max(self.maximum, other.maximum)
        self.nans, self.infs = self.nans + other.nans, self.infs + other.infs

    def __str__(self) -> str:
        odd = ", ".join(f"{n} {what}" for n, what in ((self.nans, "NaN"), (self.infs, "Inf")) if n)
        span = f"{self.minimum:.6g} to {self.maximum:.6g}" if self.count else "nothing finite"
        return f"{span}, {odd}" if odd else span


def moments(array: NDArray) -> Moments:
    values = array.asnumpy().astype(np.float64, copy=False)
    finite = np.isfinite(values)
    nans = int(np.isnan(values).sum())
    found = Moments(nans=nans, infs=int(values.size - finite.sum()) - nans)
    kept = values if finite.all() else values[finite]
    if kept.size:
        mean = float(kept.mean())
        found.count, found.minimum, found.maximum = int(kept.size), float(kept.min()), float(kept.max())
        found.mean, found.squares = mean, float(((kept - mean) ** 2).sum())
    return found
