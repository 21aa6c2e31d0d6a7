"""Gradients of values inside blocks: where the code marks them, or by their names without touching the code."""

from __future__ import annotations

from .marking import get_mark_vars as get_mark_vars
from .marking import mark_vars as mark_vars
from .watched import Intermediates as Intermediates
from .watched import intermediates as intermediates
from .watched import internals as internals
