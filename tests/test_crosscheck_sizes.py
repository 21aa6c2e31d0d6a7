"""Arrays of unusual sizes: very large ones, and those without dimensions."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from crosscheck_squares import SQUARE, TRIPLE, square

from pybridge import testing

SINE = "x -> (sin.(x), Δ -> Δ .* cos.(x))"


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


# ---- without dimensions --------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("x", [0.3, -2.0])
def test_an_array_without_dimensions_is_an_input_like_any_other(pb, mx, seval, x, dtype):
    given = [np.array(x, dtype)]
    agreed = pb.crosscheck(mx.np.sin, seval(SINE), given)
    assert agreed.verdict == "agree", agreed
    assert [(j.shape, j.rows[0].where) for j in agreed.gradients] == [((), "[]")]
    assert pb.crosscheck(square, seval(TRIPLE), given).verdict == "Julia wrong"
    assert pb.crosscheck(square, seval(SQUARE), [mx.np.array(x, dtype=dtype)]).verdict == "agree"


def test_a_kink_of_an_array_without_dimensions_is_one(pb, mx, seval):
    x = [np.array(0.0)]
    for at_zero, verdict in ((1, "cannot tell: not differentiable here"), (2, "Julia wrong")):
        relu = seval(f"x -> (max.(x, 0), Δ -> Δ .* ((x .> 0) .+ {at_zero} .* (x .== 0)))")
        assert pb.crosscheck(mx.npx.relu, relu, x).verdict == verdict


@pytest.mark.parametrize("shape", [(), (1,)])
def test_of_a_nan_nothing_can_be_told(pb, seval, shape):
    report = pb.crosscheck(square, seval(SQUARE), [np.full(shape, np.nan)])
    assert report.verdict == "agree"
    assert [f.kind for f in report.findings] == ["unchecked"]


def test_with_one_array_without_dimensions_all_are_mx_np_ones(pb, mx, seval):
    came = set()

    def scaled(x: Any, s: Any) -> Any:
        came.update((type(x), type(s)))
        return x * s

    julia = seval("(x, s) -> (x .* s, Δ -> (Δ .* s, fill(sum(Δ .* x))))")
    report = pb.crosscheck(scaled, julia, [testing.inputs((2, 3)), np.array(2.0)])
    assert report.verdict == "agree", report
    assert came == {mx.np.ndarray}


def test_a_bare_number_is_a_constant(pb, seval):
    with pytest.raises(TypeError, match=r"inputs holds no array \(float64\)"):
        pb.crosscheck(square, seval(SQUARE), [np.float64(2.0)])
    scaled = seval("(x, s) -> (x .* s, Δ -> (Δ .* s, nothing))")
    report = pb.crosscheck(lambda x, s: x * s, scaled, [testing.inputs(3), np.float64(2.0)])
    assert report.verdict == "agree"
    assert [j.argument for j in report.gradients] == ["argument 1"]
