"""What a side is asked at points that nobody gave: what it raises there, repeats, draws, or leaves unanswered."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crosscheck_squares import SQUARE, TRIPLE, square

from pybridge import testing


def kinds(report: Any) -> set[str]:
    return {f.kind for f in report.findings}


def test_what_a_function_raises_elsewhere_is_not_held_against_it(pb, seval):
    strict = seval('x -> (sum(x) == 1 || error("no distribution"); (x .^ 2, Δ -> 2 .* Δ .* x))')
    report = pb.crosscheck(square, strict, [np.array([0.25, 0.25, 0.5])])
    assert report.verdict == "agree", report


def test_a_function_at_the_edge_of_its_domain_is_compared(pb, mx, seval):
    circle = seval("x -> (sqrt.(1 .- x .^ 2), Δ -> -Δ .* x ./ sqrt.(1 .- x .^ 2))")
    x = [np.array([0.9, -0.95, 0.999999, 0.2])]
    assert pb.crosscheck(lambda x: mx.nd.sqrt(1 - x * x), circle, x).verdict == "agree"


def test_one_function_without_any_numbers_is_not_said_to_agree(pb, seval):
    strict = seval('x -> (sum(x) == 1 || error("no distribution"); (x .^ 2, Δ -> 3 .* Δ .* x))')
    for julia, x in ((strict, [0.25, 0.75]), (seval("x -> (x ./ 0 .* 0, Δ -> Δ)"), [1.0, 2.0])):
        report = pb.crosscheck(None, julia, [np.array(x)])
        assert report.verdict == "cannot tell" and "unchecked" in kinds(report), report


def test_a_jump_at_the_point_is_no_condition(pb, mx, seval):
    below = seval("x -> (ceil.(x) .- 1, Δ -> zero(x))")
    assert pb.crosscheck(mx.nd.floor, below, [np.array([2.0, 1.5, 3.0])]).verdict == "the functions differ"
    hinge = "x -> (max.(1 .- x, 0), Δ -> -Δ .* ((x .< 1) .+ {} .* (x .== 1)))"
    x = [np.array([1.0, 0.5, 3.0])]
    for at_kink, verdict in (("5", "Julia wrong"), ("1", "cannot tell: not differentiable here")):
        report = pb.crosscheck(lambda x: mx.nd.relu(1 - x), seval(hinge.format(at_kink)), x)
        assert report.verdict == verdict, report


def test_random_numbers_of_mxnet_are_the_same_in_every_call_and_said(pb, mx):
    mx.random.seed(4)
    report = pb.crosscheck(lambda x: mx.nd.Dropout(x, p=0.5) ** 2, None, [np.arange(1.0, 20)])
    assert report.verdict == "agree", report
    assert kinds(report) == {"determinism"}


def test_a_function_that_is_random_by_itself_is_not_blamed_for_it(pb, seval):
    seval("import Random")
    random = seval("x -> (x .* rand(Random.RandomDevice(), length(x)), Δ -> Δ)")
    report = pb.crosscheck(None, random, [np.arange(1.0, 6)])
    assert report.verdict == "cannot tell", report
    assert kinds(report) == {"determinism", "unchecked"}


def test_julias_own_random_numbers_are_the_same_at_each_call(pb, seval):
    dropout = seval("x -> begin mask = rand(length(x)) .> 0.5; (x .* mask, Δ -> Δ .* mask) end")
    wrong = seval("x -> begin mask = rand(length(x)) .> 0.5; (x .* mask, Δ -> Δ) end")

    assert pb.crosscheck(None, dropout, [np.arange(1.0, 20)]).verdict == "agree"
    assert pb.crosscheck(None, wrong, [np.arange(1.0, 20)]).verdict == "Julia wrong"


def test_a_nan_leaves_the_other_entries_to_be_told(pb, seval):
    x = [np.array([np.nan, 1.0, 2.0, 3.0])]
    assert pb.crosscheck(square, seval(SQUARE), x).verdict == "agree"
    report = pb.crosscheck(square, seval(TRIPLE), x)
    assert report.verdict == "Julia wrong"
    assert {row.where for row in report.gradients[0].rows if row.wrong} >= {"[1]", "[2]", "[3]"}


def test_arrays_in_fortran_order_with_nans_are_not_said_to_be_written_to(pb, seval):
    x = np.asfortranarray([[1.0, np.nan], [2.0, 3.0]])
    assert "writes" not in kinds(pb.crosscheck(square, seval(SQUARE), [x]))


def test_results_without_a_graph_stand_beside_others(pb, mx, seval):
    def both(x: Any) -> Any:
        return x * x, mx.nd.ones((2,), dtype=x.dtype)

    julia = seval("x -> ((x .^ 2, ones(2)), (Δ, one) -> 2 .* Δ .* x)")
    assert pb.crosscheck(both, julia, [np.array([1.0, 3.0, 2.0])]).verdict == "agree"


def test_a_result_that_is_returned_twice_has_both_heads(pb, seval):
    def twice(x: Any) -> Any:
        y = x * x
        return y, y

    assert pb.crosscheck(twice, None, [np.array([1.0, 2.0])]).verdict == "agree"
    julia = seval("x -> (y = x .^ 2; ((y, copy(y)), (a, b) -> 2 .* (a .+ b) .* x))")
    assert pb.crosscheck(twice, julia, [np.array([1.0, 2.0])]).verdict == "agree"


def test_results_whose_shape_depends_on_the_data_are_compared(pb, mx, seval):
    julia = seval("x -> (x[x .> 1], Δ -> (g = zero(x); g[x .> 1] .= Δ; g))")
    x = [np.array([0.5, 1.01, 2.0, 3.0])]
    assert pb.crosscheck(lambda x: mx.nd.contrib.boolean_mask(x, x > 1), julia, x).verdict == "agree"


def test_offsets_and_wide_ranges_hide_nothing(pb, mx, seval):
    x = [testing.inputs(20, -2, 2)]
    offset = "x -> (x .^ 2 .+ 1e15, Δ -> {} .* Δ .* x)"
    assert pb.crosscheck(lambda x: x * x + 1e15, seval(offset.format(2)), x).verdict == "agree"
    assert pb.crosscheck(lambda x: x * x + 1e15, seval(offset.format(3)), x).verdict == "cannot tell"
    wide = [testing.inputs(40, -30, 30)]
    tenfold = seval("x -> (exp.(x) .* ifelse.(x .< 0, 10, 1), Δ -> Δ .* exp.(x) .* ifelse.(x .< 0, 10, 1))")
    assert pb.crosscheck(mx.nd.exp, tenfold, wide).verdict == "the functions differ"


@pytest.mark.parametrize("x", [[1e160, -2e200], [5e-324, 1e-310]])
def test_inputs_of_any_size_are_compared(pb, seval, x):
    assert pb.crosscheck(lambda a: 2 * a, seval("x -> (2x, Δ -> 2Δ)"), [np.array(x)]).verdict == "agree"


def test_the_largest_inputs_do_not_hide_errors(pb, seval):
    x = [np.array([1e160, -2e200])]
    assert pb.crosscheck(lambda a: 2 * a, seval("x -> (2x, Δ -> 3Δ)"), x).verdict == "Julia wrong"


def test_short_waves_are_not_taken_for_what_their_samples_show(pb, mx, seval):
    x = [testing.inputs(5)]
    for factor, verdict in ((1, "agree"), (2, "Julia wrong")):
        wave = seval(f"x -> (sin.(1e9 .* x), Δ -> {factor} .* 1e9 .* Δ .* cos.(1e9 .* x))")
        assert pb.crosscheck(lambda x: mx.nd.sin(1e9 * x), wave, x).verdict == verdict


def test_names_hold_under_every_head_gradient(pb, seval):
    # Under the head gradient 1 it is also one more than the right one.
    report = pb.crosscheck(
        lambda x: x.sum(), seval("x -> (sum(x), Δ -> 2 .* Δ .* one.(x))"), [np.array([1.0, 2.0, 5.0])]
    )
    assert "factor: it is 2 times the right one" in report.findings[0].message


def test_mixed_second_derivatives_and_float32_have_a_second_order(pb, mx, seval):
    both = seval("(a, b) -> (sin.(a .+ b), Δ -> (Δ .* cos.(a .+ b), Δ .* cos.(a .+ b)))")
    x = [np.array([1.0, 2.0, 3.0]), np.array([2.0, -1.0, 0.5])]
    report = pb.crosscheck(lambda a, b: mx.nd.sin(mx.nd.elemwise_add(a, b)), both, x, order=2)
    assert report.verdict == "agree" and "order 2" not in kinds(report), report
    sine = seval("x -> (sin.(x), Δ -> Δ .* cos.(x))")
    assert pb.crosscheck(mx.nd.sin, sine, [np.array([1.0, 2.0])], order=2, dtype="float32").verdict == "agree"
