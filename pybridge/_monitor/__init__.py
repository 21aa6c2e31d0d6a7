"""A look at every operator that a block runs: for a function of one's own, for statistics, NaNs and time lines."""

from __future__ import annotations

from .callback import Monitor as Monitor
from .callback import monitor as monitor
from .guard import NanGuard as NanGuard
from .guard import nan_guard as nan_guard
from .statistics import Stats as Stats
from .statistics import stats as stats
from .timeline import Trace as Trace
from .timeline import trace as trace
