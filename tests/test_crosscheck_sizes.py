"""Arrays of unusual sizes: very large ones."""

from __future__ import annotations

import tracemalloc
from typing import Any

import pytest

from pybridge import testing

SQUARE = "x -> (x .^ 2, Δ -> 2 .* Δ .* x)"
TRIPLE = "x -> (x .^ 2, Δ -> 3 .* Δ .* x)"


def square(x: Any) -> Any:
    return x * x


@pytest.fixture
def seval(pb: Any) -> Any:
    return pb.jl.seval


# ---- large ---------------------------------------------------------------------------------------------------


def test_a_large_argument_is_compared_by_directions_and_where_the_sides_differ(pb, mx, seval):
    x = [mx.nd.random.normal(shape=(2 * 10**6,), dtype="float64")]
    right = pb.crosscheck(square, seval(SQUARE), x)
    assert right.verdict == "agree"
    assert len(right.gradients[0].rows) < 20
    one_off = seval("x -> (x .^ 2, Δ -> (g = 2 .* Δ .* x; g[1234568] += 1e-3; g))")
    wrong = pb.crosscheck(square, one_off, x)
    assert wrong.verdict == "Julia wrong"
    assert any(row.where == "[1234567]" and row.wrong == ("Julia",) for row in wrong.gradients[0].rows)


def test_a_large_argument_takes_few_calls_and_few_arrays(pb, seval):
    calls = []

    def counted(x: Any) -> Any:
        calls.append(x.shape)
        return x * x

    x = testing.inputs(2 * 10**6, -2, 2)
    for julia, verdict, most in ((SQUARE, "agree", 20), (TRIPLE, "Julia wrong", 50)):
        calls.clear()
        tracemalloc.start()  # of NumPy's arrays; NDArrays live for one call only
        assert pb.crosscheck(counted, seval(julia), [x]).verdict == verdict
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert len(calls) <= most
        assert peak < 17 * x.nbytes


def test_large_results_of_several_kinds_are_compared_piece_by_piece(pb, mx, seval):
    def both(x: Any) -> Any:
        return x * x, mx.nd.sum(x), mx.nd.sign(x).astype("int32"), 1 / x

    julia = """x -> ((x .^ 2, sum(x), Int32.(sign.(x)), 1 ./ x),
                     (Δ, Δsum, _, Δinv) -> {} .* Δ .* x .+ Δsum[1] .- Δinv ./ x .^ 2)"""
    x = testing.inputs(10**6, 0.5, 2, dtype="float32")
    x[[3, 70000]] = 0.0  # infinite there, in float64 as well
    assert pb.crosscheck(both, seval(julia.format(2)), [x]).verdict == "agree"
    assert pb.crosscheck(both, seval(julia.format(3)), [x]).verdict == "Julia wrong"


def test_what_a_function_does_to_a_large_argument_is_seen(pb, mx, seval):
    def writes(x: Any) -> Any:
        y = x * x
        with mx.autograd.pause():
            x[-1] = 7
        return y

    report = pb.crosscheck(writes, seval(SQUARE), [testing.inputs(10**6)])
    assert report.verdict == "Python wrong"
    assert "writes" in {f.kind for f in report.findings}
