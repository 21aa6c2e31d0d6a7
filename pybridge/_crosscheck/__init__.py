"""Comparing a Python function with a Julia function: values, gradients, and who is right.

`check` goes from the inputs to the verdict, as `settings` ask for it. `sides` makes a function of either language a
thing that takes and gives NumPy arrays, `blocks` one with parameters; `point` is where they are compared, `heads` are
the head gradients; `gather` asks a side for its `evidence`, `numeric` differentiates that by numbers, `neighbourhood`
looks around where there is no derivative, `tolerance` says how far right results may lie apart, `judge` and `weigh`
hold all that against each other, `diagnosis` finds words for a difference, and `report` (with `page` and `picture`)
shows it. `command` is `pybridge check`, with `pairs` of functions that `load` finds in files.
"""

from __future__ import annotations

from .check import crosscheck as crosscheck
from .report import Finding as Finding
from .report import Report as Report
