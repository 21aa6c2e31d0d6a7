"""The square in both languages, and a Julia side of it that is wrong."""

from __future__ import annotations

from typing import Any

SQUARE = "x -> (x .^ 2, Δ -> 2 .* Δ .* x)"
TRIPLE = "x -> (x .^ 2, Δ -> 3 .* Δ .* x)"  # its gradient is 1.5 times the right one


def square(x: Any) -> Any:
    return x * x
