"""Small cases by construct: the Python stands beside the Julia, and both print the same when they run."""

from __future__ import annotations

import migrate_cases
import pytest
from migrate_cases import CASES, Case, alike, cases, expected, printed_by_julia, printed_by_python

from pybridge._migrate import translate

ALL = cases()


@pytest.fixture(scope="module")
def said() -> dict[str, str]:
    """What Julia prints for each case."""
    return {str(case): text for case, text in zip(ALL, printed_by_julia([case.julia for case in ALL]))}


def test_there_are_enough_cases_of_every_construct() -> None:
    assert len(ALL) >= 150
    assert {case.construct for case in ALL} == {
        "arithmetic",
        "broadcasting",
        "collections",
        "control",
        "functions",
        "matrices",
        "modules",
        "strings",
        "structs",
    }


@pytest.mark.parametrize("case", ALL, ids=str)
def test_the_python_is_the_one_that_stands_beside_the_case(case: Case) -> None:
    file = CASES / f"{case.construct}.jl"

    made = migrate_cases.python(file, case.name, case.julia)

    assert migrate_cases.same(made, expected(file)[case.name])


@pytest.mark.parametrize("case", ALL, ids=str)
def test_the_python_prints_what_the_julia_prints(case: Case, said: dict[str, str]) -> None:
    assert "ERROR" not in said[str(case)], said[str(case)]

    heard = printed_by_python(translate(f"{case.name}.jl", case.julia.encode()).python)

    assert alike(heard) == alike(said[str(case)])


def test_a_wrong_index_would_be_heard(said: dict[str, str]) -> None:
    case = next(case for case in ALL if case.name == "vector_elements_from_one")
    python = translate("x.jl", case.julia.encode()).python

    assert alike(printed_by_python(python.replace("v[0]", "v[1]"))) != alike(said[str(case)])
