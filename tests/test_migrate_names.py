"""Names: kept where Python allows them, mapped where it does not, and never two on one."""

from __future__ import annotations

import doctest
import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pybridge._migrate import code, names, translate
from pybridge._migrate.names import Names, python_name


@pytest.mark.parametrize(
    ("julia", "python"),
    [
        ("x", "x"),
        ("η", "η"),
        ("∇", "grad"),
        ("∇W", "grad_W"),
        ("∂x", "d_x"),
        ("ẋ", "x_dot"),
        ("ŷ", "y_hat"),
        ("x̄", "x_bar"),
        ("x₁", "x1"),
        ("W₁₂", "W12"),
        ("x′", "x_prime"),
        ("σ²", "σ2"),
        ("step!", "step"),
        ("lambda", "lambda_"),
        ("class", "class_"),
        ("list", "list_"),
        ("np", "np_"),
        ("mx!", "mx_"),
        ("_", "_"),
    ],
)
def test_a_name_is_mapped_by_table_and_rule(julia: str, python: str) -> None:
    assert python_name(julia) == python


@given(st.lists(st.text("abxy∇∂ẋŷ₁₂²′!ΔηW_é", min_size=1, max_size=5), unique=True, max_size=30))
def test_names_are_identifiers_and_stay_apart(found: list[str]) -> None:
    given_names = Names()

    made = [given_names.of(name) for name in found]

    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in made)
    assert len(set(made)) == len(made)


def test_two_names_that_python_reads_as_one_stay_two() -> None:
    # U+03F5 and U+03B5 are the same identifier to Python
    made = translate("a.jl", "ϵ = 1\nε = 2\n∇x = 3\ngrad_x = 4\nstep!(x) = 5\nstep(x) = 6\n".encode())
    values: dict[str, object] = {}
    exec(made.python, values)

    assert sorted(v for k, v in values.items() if isinstance(v, int) and not k.startswith("__")) == [
        1,
        2,
        3,
        4,
    ]
    assert sum(callable(v) and not k.startswith("__") for k, v in values.items()) == 2


@pytest.mark.parametrize("module", [names, code])
def test_examples_in_the_docstrings_hold(module: object) -> None:
    ran = doctest.testmod(module, extraglobs=vars(module))  # type: ignore[arg-type]

    assert ran.failed == 0 and ran.attempted > 0
