"""Handles on arrays that `mx.NDArray` cannot be, of an element type that Julia lacks: freed once, by who holds them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from measures import resident_bytes

BFLOAT16 = np.dtype([("bfloat16", np.uint16)])
NO_TYPE = "element type number 12 has no Julia type"


@pytest.fixture
def growth(pb: ModuleType) -> Any:
    """Bytes by which so many failing calls let the process grow, once it has what the first ones need."""
    text_of = pb.jl.seval("(f, x) -> try; f(x); catch e; sprint(showerror, e); end")

    def growth(julia: str, argument: Any, times: int) -> int:
        f = pb.jl.seval(f"using PyBridge: mx; {julia}")

        def call(times: int) -> int:
            for _ in range(times):
                assert NO_TYPE in text_of(f, argument)
            pb.jl.GC.gc()
            return resident_bytes()

        before = call(5)
        return call(times) - before

    return growth


def test_a_result_of_an_unknown_type_is_freed(growth: Any, mx: ModuleType) -> None:
    narrow = 'x -> mx.amp_cast(x, dtype = "bfloat16")'

    assert growth(narrow, mx.nd.ones((1000, 1000)), 100) < 50 * 2**20  # each is of 2 MB


def test_arrays_of_a_file_with_one_of_an_unknown_type_are_all_freed(
    growth: Any, mx: ModuleType, tmp_path: Path
) -> None:
    x = mx.nd.ones((1000, 1000))
    file = str(tmp_path / "arrays")
    mx.nd.save(file, [x, mx.nd.amp_cast(x, dtype=BFLOAT16), x])

    # Each time 10 MB: before that array, its own, and behind it.
    assert growth("file -> mx.load(file, mx.NDArray)", file, 30) < 50 * 2**20


def test_an_array_of_an_unknown_type_that_goes_to_julia_stays_pythons(pb: ModuleType, mx: ModuleType) -> None:
    from pybridge._libmxnet_trampoline import quick

    narrow = mx.nd.amp_cast(mx.nd.array([1, 2, 3]), dtype=BFLOAT16)
    shared = quick.pb_shared_arrays()

    with pytest.raises(pb.JuliaError, match=NO_TYPE):
        pb.jl.identity(narrow)

    assert quick.pb_shared_arrays() == shared
    assert mx.nd.amp_cast(narrow, dtype="float32").asnumpy().tolist() == [1, 2, 3]
