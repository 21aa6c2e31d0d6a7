"""NDArray programs: in Julia and translated to Python they give the same numbers in memory, on the same libmxnet."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import migrate_cases
import numpy as np
import pytest
from migrate_cases import CASES, alike, expected, printed_by_mxnet_jl, printed_by_python, split

FILE = CASES.parent / "ndarray.jl"
ALL = split(FILE)
# Five digits of each number, in the order of memory: float32 in both languages.
SHOW = """
show_(x) = println(join((round(Float64(v), digits=5) for v in vec(x)), " "))
show_(x::mx.NDArray) = show_(copy(x))
"""


def show_(x: Any) -> None:
    flat = (x.asnumpy() if hasattr(x, "asnumpy") else np.asarray(x)).reshape(-1)
    print(" ".join(str(round(float(v), 5)) for v in flat))


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    snippets = [SHOW + text for text in ALL.values()]
    return dict(zip(ALL, printed_by_mxnet_jl(snippets, tmp_path_factory.mktemp("julia"))))


@pytest.mark.parametrize("name", ALL)
def test_the_python_is_the_one_that_stands_beside_the_case(name: str) -> None:
    assert migrate_cases.same(migrate_cases.python(FILE, name, ALL[name]), expected(FILE)[name])


@pytest.mark.parametrize("name", ALL)
def test_the_numbers_lie_in_memory_as_in_julia(name: str, said: dict[str, str], mx: ModuleType) -> None:
    assert "ERROR" not in said[name], said[name]

    heard = printed_by_python(migrate_cases.python(FILE, name, ALL[name]), show_=show_)

    assert alike(heard).replace("-0 ", "0 ") == alike(said[name]).replace("-0 ", "0 ")
