"""Comparing a Python function with a Julia function: values, gradients, and who is right.

`check` goes from the inputs to the verdict. `sides` makes a function of either language a thing that takes and gives
NumPy arrays; `point` is where they are compared; `evidence` gathers what each side says, `numeric` differentiates by
numbers, `tolerance` says how far right results may lie apart, `judge` holds all that against each other, `diagnosis`
finds words for a difference, and `report` (with `page` and `picture`) shows it.
"""

from __future__ import annotations

from .check import crosscheck as crosscheck
from .report import Finding as Finding
from .report import Report as Report
