"""Random numbers become NumPy's: of the right kind, shape and element type, from the generator that is meant."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
import pytest

from pybridge._migrate import translate


def run(julia: str) -> dict[str, Any]:
    """What the names of the translated code hold."""
    made = translate("random.jl", textwrap.dedent(julia).encode())
    assert not made.attention, [note.why for note in made.attention]
    names: dict[str, Any] = {}
    exec(made.python, names)
    return names


def test_a_tuple_alone_is_drawn_from_and_behind_a_type_it_is_a_size() -> None:
    made = run(
        """
        a = [rand((2, 3)) for i in 1:50]
        sizes = (4, 2)
        b = rand(sizes)
        c = rand(Float32, (2, 3))
        d = randn((2, 3))
        e = rand(Float64, sizes)
        """
    )
    assert set(made["a"]) == {2, 3}
    assert made["b"] in (4, 2)
    assert (made["c"].shape, made["c"].dtype) == ((3, 2), np.float32)
    assert (made["d"].shape, made["d"].dtype) == ((3, 2), np.float64)
    assert made["e"].shape == (2, 4)


def test_truth_values_are_drawn_with_both_outcomes() -> None:
    made = run("a = rand(Bool, 100)\nb = rand(Bool, 3, 2)\nc = rand(Bool)\n")
    assert made["a"].dtype == bool and 20 < made["a"].sum() < 80
    assert made["b"].shape == (2, 3)
    assert made["c"] in (True, False)


@pytest.mark.parametrize("written", ["rand(Int, 5)", "rand(UInt8)", "randn(ComplexF64, 2)"])
def test_numbers_of_other_types_are_refused(written: str) -> None:
    (note,) = translate("x.jl", f"a = {written}\n".encode()).attention
    assert note.kind == "refused" and written.split("(")[1].split(",")[0].rstrip(")") in note.why


def test_the_elements_of_a_matrix_change_places_not_its_rows() -> None:
    made = run("using Random\nm = [1 2 3; 4 5 6; 7 8 9]\nn = [shuffle(m) for i in 1:20]\n")
    assert all(each.shape == (3, 3) and sorted(each.ravel()) == list(range(1, 10)) for each in made["n"])
    rows = {frozenset(row) for row in made["m"]}
    assert any({frozenset(row) for row in each} != rows for each in made["n"])
    assert translate("x.jl", b"m = [1 2; 3 4]\nshuffle!(m)\n").attention[0].kind == "refused"


def test_arrays_are_filled_in_place() -> None:
    made = run("x = zeros(3, 4)\ny = x\nrand!(x)\nz = zeros(1000)\nrandn!(z)\n")
    assert made["x"] is made["y"] and len(set(made["x"].ravel())) == 12
    assert 0.8 < made["z"].std() < 1.2


def test_a_generator_of_its_own_is_used_where_it_is_given() -> None:
    made = run(
        """
        using Random
        g = MersenneTwister(7)
        a = rand(g, 3)
        b = shuffle(g, [1, 2, 3])
        c = randperm(g, 4)
        draw(r::AbstractRNG, n) = randn(r, n)
        d = draw(g, 2)
        Random.seed!(g, 7)
        e = rand(g, 3)
        x = zeros(2)
        rand!(g, x)
        f = rand(g, 1:6)
        """
    )
    again = np.random.RandomState(7)
    assert np.array_equal(made["a"], again.rand(3))
    assert np.array_equal(made["b"], again.permutation([1, 2, 3]))
    assert np.array_equal(made["c"], again.permutation(4) + 1)
    assert np.array_equal(made["d"], again.randn(2))
    assert np.array_equal(made["e"], made["a"])
    again.seed(7)
    again.rand(3)
    assert np.array_equal(made["x"], again.rand(2))
    assert made["f"] == again.randint(1, 7)


def test_the_global_generator_is_numpys_own() -> None:
    made = run(
        "using Random\nRandom.seed!(3)\ndraw(; rng = Random.GLOBAL_RNG) = rand(rng, 2)\na = draw()\n"
        "b = rand(Random.default_rng(), 2)\n"
    )
    np.random.seed(3)
    assert np.array_equal(made["a"], np.random.rand(2))
    assert np.array_equal(made["b"], np.random.rand(2))
