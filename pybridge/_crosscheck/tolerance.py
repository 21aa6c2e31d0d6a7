"""How far two right results may lie apart: from the dtype and the condition of the function, not from taste.

Three parts are added for each entry:

- *condition*: what the entry itself does when inputs and head gradients change in their last digits. It is measured
  between points on the same side of the one that is looked at, so a jump of the function there is no condition;
- *rounding*: some units in the last place of what the entry is for inputs a sixteenth as large, for formulas compute
  with numbers of such sizes on the way (1 - tanh(x)^2 does, where it is all but zero), or of the array's median entry;
- *algorithm*: eps^(2/3) of the entry. A formula that loses more than a third of the digits is worse than rounding.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .array import Array
from .memory import pieces
from .settings import Settings

UNITS = 16
SMALLEST = 5e-324  # below it, numbers in float64 are zero
MEDIAN_OF = 10**5  # entries that a median is taken of


@dataclass(frozen=True)
class Tolerance:
    """A tolerance for each entry of an array, and where it comes from."""

    entries: Array
    text: str


def tolerance(
    value: Array, spread: Array, eps: float, settings: Settings, usual: Array | None = None
) -> Tolerance:
    """The tolerance of an array whose entries change by `spread` under changes of the inputs' last digits.

    `usual` is the array for smaller inputs, if it is known.

    `settings.rtol` and `.atol`, where given, take the place of all that.
    """
    size = np.asarray(np.abs(value), np.float64)
    if size.size and not np.isfinite(np.sum(size)):
        size[~np.isfinite(size)] = 0
    if settings.rtol is not None or settings.atol is not None:
        relative, absolute = settings.rtol or 0.0, settings.atol or 0.0
        return Tolerance(relative * size + absolute, f"given: {absolute:g} + {relative:g} |value|")
    common = typical(size)
    units = _worst_condition(size, spread, eps)
    entries = size  # one array of this size is enough
    entries *= eps ** (2 / 3)
    entries += UNITS * spread
    if usual is None or usual.shape != value.shape:
        entries += UNITS * eps * common + SMALLEST
    else:
        sizes = np.abs(usual, dtype=np.float64)
        entries += UNITS * eps * np.fmax(common, np.where(np.isfinite(sizes), sizes, 0)) + SMALLEST
    return Tolerance(
        entries,
        f"{eps ** (2 / 3):.1e} |value| + {UNITS} × ({eps:.1e} × {common:.3g} + condition); "
        f"inputs changed in the last digit change it by up to {units:.3g} units in the last place",
    )


def typical(size: Array) -> float:
    """The median of the entries that are not zero; of very many, of some of them."""
    some = size.reshape(-1)[:: max(1, size.size // MEDIAN_OF)]
    some = some[some > 0]
    return float(np.median(some)) if some.size else 0.0


def _worst_condition(size: Array, spread: Array, eps: float) -> float:
    step = max(1, size.size // MEDIAN_OF)
    sizes, spreads = size.reshape(-1)[::step], spread.reshape(-1)[::step]
    known = sizes > 1e-290
    return float(np.max(spreads[known] / (eps * sizes[known]), initial=0.0))


def apart(a: Array, b: Array) -> Array:
    """How far two arrays of one shape lie apart, entry by entry; zero where that is no number."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = np.asarray(np.abs(_wide(a) - b))
    if found.size and not np.isfinite(np.sum(found)):
        found[~np.isfinite(found)] = 0
    return found


def _wide(a: Array) -> Array:
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64, copy=False)


def differ(a: Array, b: Array, allowed: Array) -> Array:
    """Where two arrays of one shape differ by more than is allowed; NaNs and infinities must be the same."""
    found = np.empty(a.shape, bool)
    flat, x, y, room = (v.reshape(-1) for v in (found, a, b, np.broadcast_to(allowed, a.shape)))
    for part in pieces(a.size):
        flat[part] = _differ(x[part], y[part], room[part])
    return found


def _differ(a: Array, b: Array, allowed: Array) -> Array:
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(_wide(a) - b)
        found = distance > allowed
        lost = ~np.isfinite(distance)
    if lost.any():
        found[lost] = ~((a[lost] == b[lost]) | (np.isnan(a[lost]) & np.isnan(b[lost])))
    return np.asarray(found)
