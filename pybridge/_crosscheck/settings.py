"""What the user asked of a comparison."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Settings:
    """How a comparison is made.

    Attributes:
        rtol, atol: tolerances to use instead of those that follow from the dtype and the condition.
        directions: number of random head gradients, and of random directions.
        samples: how many entries of an argument are differentiated by numbers one by one.
        seed: of everything random.
    """

    rtol: float | None = None
    atol: float | None = None
    directions: int = 8
    samples: int = 64
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("rtol", "atol"):
            given = getattr(self, name)
            if given is not None and not (_is_number(given) and 0 <= given < np.inf):
                raise ValueError(f"crosscheck: {name} is {given!r}; expected a finite number, not negative")
        for name in ("directions", "samples", "seed"):
            given = getattr(self, name)
            if isinstance(given, bool) or not isinstance(given, (int, np.integer)) or given < 0:
                raise ValueError(f"crosscheck: {name} is {given!r}; expected a whole number, not negative")


def _is_number(given: Any) -> bool:
    return isinstance(given, (int, float, np.integer, np.floating)) and not isinstance(given, bool)
