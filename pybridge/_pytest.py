"""pytest's plugin: the fixture `crosscheck`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def crosscheck() -> Callable[..., Any]:
    """`pybridge.crosscheck` that fails the test unless the Python and the Julia function agree."""
    from .testing import check

    return check
