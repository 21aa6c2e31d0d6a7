"""How far two right results may lie apart: from the dtype and the condition of the function, not from taste.

Three parts are added for each entry:

- *condition*: what the entry itself does when the inputs change in their last digit;
- *rounding*: some units in the last place of the array's largest entry, or of what a gradient of values and inputs of
  these sizes is as a rule, because sums cancel;
- *algorithm*: eps^(2/3) of the entry. A formula that loses more than a third of the digits is worse than rounding.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .array import Array

UNITS = 16


@dataclass(frozen=True)
class Tolerance:
    """A tolerance for each entry of an array, and where it comes from."""

    entries: Array
    text: str


def tolerance(
    value: Array, spread: Array, eps: float, rtol: float | None, atol: float | None, usual: float = 0.0
) -> Tolerance:
    """The tolerance of an array whose entries differed by `spread` under changes of the inputs' last digits.

    `usual` is the size that entries have as a rule, where these may be small by cancellation.

    `rtol` and `atol`, where given, take the place of all that.
    """
    size = np.abs(np.where(np.isfinite(value), value, 0)).astype(np.float64, copy=False)
    if rtol is not None or atol is not None:
        relative, absolute = rtol or 0.0, atol or 0.0
        return Tolerance(relative * size + absolute, f"given: {absolute:g} + {relative:g} |value|")
    largest = float(size.max()) if size.size else 0.0
    entries = eps ** (2 / 3) * size + UNITS * (eps * max(largest, 4 * usual) + spread)
    wide = float(spread.max()) if spread.size else 0.0
    condition = wide / (eps * largest) if largest else 0.0
    return Tolerance(
        entries,
        f"{eps ** (2 / 3):.1e} |value| + {UNITS} × ({eps:.1e} × {max(largest, 4 * usual):.3g} + condition); "
        f"inputs changed in the last digit change it by up to {condition:.3g} units in the last place",
    )


def spread(reference: Array, others: Sequence[Array]) -> Array:
    """How far `others` lie from `reference`, entry by entry."""
    found = np.zeros(reference.shape)
    for other in others:
        with np.errstate(invalid="ignore"):
            found = np.fmax(found, np.abs(other.astype(np.float64, copy=False) - reference))
    return np.where(np.isfinite(found), found, 0)


def differ(a: Array, b: Array, allowed: Array) -> Array:
    """Where two arrays of one shape differ by more than is allowed; NaNs and infinities must be the same."""
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(a) & np.isfinite(b)
        apart = np.abs(a.astype(np.float64, copy=False) - b) > allowed
    return np.where(finite, apart, ~((a == b) | (np.isnan(a) & np.isnan(b))))
