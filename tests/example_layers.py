"""examples/layers.jl in tests: the file included once, its functions called on arrays of one dtype."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

LAYERS = Path(__file__).resolve().parent.parent / "examples" / "layers.jl"


def load(pb: ModuleType) -> ModuleType:
    """pybridge, with the layers included once in a process."""
    if not pb.jl.seval("isdefined(Main, :ExampleLayers)"):
        pb.include(LAYERS)
    return pb


def array(x: Any, dtype: str = "float64") -> Any:
    """An NDArray of that dtype; of integers as they are."""
    import mxnet as mx

    x = np.asarray(x)
    return mx.nd.array(x, dtype=x.dtype if x.dtype.kind in "iu" else dtype)


def value(f: Any, *xs: Any, dtype: str = "float64") -> np.ndarray:
    """f of arrays of one dtype, which its result must have, too."""
    result = f(*(array(x, dtype) for x in xs))
    assert result.dtype == np.dtype(dtype)
    return result.asnumpy()
