"""NumPy arrays of any shape and element type, for annotations."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]
