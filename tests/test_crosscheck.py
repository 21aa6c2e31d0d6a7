"""`pb.crosscheck`: what can be compared, what comes out, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from crosscheck_squares import SQUARE, TRIPLE, square

from pybridge import testing

AFFINE = "(x, w, b) -> (w' * x .+ b, Δ -> (w * Δ, x * Δ', vec(sum(Δ, dims=2))))"


def messages(report: Any) -> str:
    return "\n".join(f.message for f in report.findings)


# ---- what can be a side --------------------------------------------------------------------------------------


def test_a_gluon_block_is_compared_in_its_inputs_and_in_its_parameters(pb, mx, seval):
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize(mx.init.Normal(1))
    before = net.weight.data().asnumpy()
    report = pb.crosscheck(net, seval(AFFINE), [testing.inputs((5, 4))])
    assert report.verdict == "agree"
    assert [j.argument for j in report.gradients] == ["argument 1", "weight", "bias"]
    np.testing.assert_array_equal(net.weight.data().asnumpy(), before)
    assert net.weight.data().dtype == np.float32  # although it was compared in float64
    net(mx.nd.ones((1, 4)))


@pytest.mark.parametrize("hybridized", [False, True])
def test_a_hybrid_block_may_be_hybridized(pb, mx, seval, hybridized):
    net = mx.gluon.nn.Dense(3, in_units=4, activation="tanh")
    net.initialize(mx.init.Normal(1))
    if hybridized:
        net.hybridize()
    julia = seval(
        """(x, w, b) -> begin
            y = tanh.(w' * x .+ b)
            (y, Δ -> (D = Δ .* (1 .- y .^ 2); (w * D, x * D', vec(sum(D, dims=2)))))
        end"""
    )
    assert pb.crosscheck(net, julia, [testing.inputs((5, 4))]).verdict == "agree"


def test_running_statistics_of_a_block_are_neither_compared_nor_changed(pb, mx, seval):
    net = mx.gluon.nn.BatchNorm(in_channels=3, epsilon=1e-3)
    net.initialize()
    net(mx.nd.ones((2, 3)))
    before = net.running_mean.data().asnumpy()
    julia = seval(
        """(x, γ, β) -> begin
            n = size(x, 2)
            m = sum(x, dims=2) ./ n
            s = sqrt.(sum(abs2, x .- m, dims=2) ./ n .+ eltype(x)(1e-3))
            z = (x .- m) ./ s
            back(Δ) = (γ ./ s .* (Δ .- sum(Δ, dims=2) ./ n .- z .* sum(Δ .* z, dims=2) ./ n),
                       vec(sum(Δ .* z, dims=2)), vec(sum(Δ, dims=2)))
            (γ .* z .+ β, back)
        end"""
    )
    report = pb.crosscheck(net, julia, [testing.inputs((6, 3))])
    assert [j.argument for j in report.gradients] == ["argument 1", "gamma", "beta"]
    np.testing.assert_array_equal(net.running_mean.data().asnumpy(), before)
    assert report.verdict == "agree", report


def test_params_tells_where_the_julia_function_has_a_blocks_parameters(pb, mx, seval):
    net = mx.gluon.nn.Dense(3, in_units=4)
    net.initialize(mx.init.Normal(1))
    swapped = seval("(b, w, x) -> (w' * x .+ b, Δ -> (vec(sum(Δ, dims=2)), x * Δ', w * Δ))")
    x = [testing.inputs((5, 4))]
    assert pb.crosscheck(net, swapped, x, params={"weight": 1, "bias": 0}).verdict == "agree"
    with pytest.raises(
        ValueError, match=r"params names \['kernel'\]; the block's parameters are \['bias', 'weight'\]"
    ):
        pb.crosscheck(net, swapped, x, params={"kernel": 2})
    with pytest.raises(ValueError, match="expected different ones from 0 to 2"):
        pb.crosscheck(net, swapped, x, params={"weight": 2, "bias": 7})


def test_a_symbol_can_be_compared(pb, mx, seval):
    symbol = mx.sym.tanh(mx.sym.var("x")) * mx.sym.var("w")
    julia = seval("(x, w) -> (tanh.(x) .* w, Δ -> (Δ .* w .* (1 .- tanh.(x) .^ 2), Δ .* tanh.(x)))")
    assert pb.crosscheck(symbol, julia, [testing.inputs(4), testing.inputs(4, seed=1)]).verdict == "agree"


def test_julia_functions_come_by_value_by_name_and_with_their_layout(pb, mx, seval):
    seval("module CheckedByName\nusing PyBridge\nmutable struct Sq <: CustomFunction; x; Sq() = new(); end\n"
          "PyBridge.forward(f::Sq, x) = (f.x = x; x .^ 2)\nPyBridge.backward(f::Sq, Δ) = 2 .* Δ .* f.x\n"
          f"sq = {SQUARE}\nend")  # fmt: skip
    x = [testing.inputs((2, 3))]
    named = seval("CheckedByName.Sq")
    for julia in ("CheckedByName.Sq", named, "CheckedByName.sq", pb.function(named), seval(SQUARE)):
        assert pb.crosscheck(square, julia, x).verdict == "agree"
    rows = "x -> (vec(sum(x, dims=2)), Δ -> Δ .* one.(x))"
    by_row = pb.function(seval(rows), pullback=True, layout="python")
    assert pb.crosscheck(lambda a: mx.nd.sum(a, axis=1), by_row, x).verdict == "agree"
    assert pb.crosscheck(lambda a: mx.nd.sum(a, axis=1), seval(rows), x).verdict == "the functions differ"


def test_either_side_may_be_missing(pb, mx, seval):
    x = [testing.inputs(5)]
    assert pb.crosscheck(None, seval(SQUARE), x).verdict == "agree"
    assert pb.crosscheck(None, seval(TRIPLE), x).verdict == "Julia wrong"
    assert pb.crosscheck(square, None, x).verdict == "agree"
    with pytest.raises(TypeError, match="python_fn and julia_fn are both None"):
        pb.crosscheck(None, None, x)


def test_constants_integers_and_several_results(pb, mx, seval):
    def both(x: Any, i: Any, scale: float) -> Any:
        return mx.nd.take(x, i) * scale, mx.nd.sum(x)

    julia = seval(
        """(x, i, scale) -> ((x[i .+ 1] .* scale, sum(x)), (Δ, Δsum) -> begin
            g = fill(Δsum[1], size(x))
            for (at, d) in zip(i, Δ); g[at+1] += d * scale; end
            (g, nothing, nothing)
        end)"""
    )
    report = pb.crosscheck(both, julia, [testing.inputs(6), np.array([1, 1, 4]), 2.5])
    assert report.verdict == "agree"
    assert [f.kind for f in report.findings] == ["integer"]
    assert len(report.values) == 2


# ---- verdicts ------------------------------------------------------------------------------------------------


def test_the_python_side_can_be_the_wrong_one(pb, mx, seval):
    class Wrong(mx.autograd.Function):
        def forward(self, x: Any) -> Any:
            self.save_for_backward(x)
            return x * x

        def backward(self, dy: Any) -> Any:
            (x,) = self.saved_tensors
            return -2 * x * dy

    x = [testing.inputs(5)]
    report = pb.crosscheck(lambda a: Wrong()(a), seval(SQUARE), x)
    assert report.verdict == "Python wrong"
    assert "sign" in messages(report)
    assert pb.crosscheck(lambda a: Wrong()(a), seval(TRIPLE), x).verdict == "both wrong"


def test_a_kink_is_no_error_of_either_side_but_a_gradient_outside_of_it_is(pb, mx, seval):
    x = [np.array([-1.0, 0.0, 2.0])]
    one_at_zero = seval("x -> (max.(x, 0), Δ -> Δ .* (x .>= 0))")
    two_at_zero = seval("x -> (max.(x, 0), Δ -> Δ .* (x .>= 0) .* (1 .+ (x .== 0)))")
    assert pb.crosscheck(mx.nd.relu, one_at_zero, x).verdict == "cannot tell: not differentiable here"
    report = pb.crosscheck(mx.nd.relu, two_at_zero, x)
    assert report.verdict == "Julia wrong"
    assert "only where the input is zero" in messages(report)


def test_a_small_error_at_a_smooth_point_is_no_kink(pb, seval):
    report = pb.crosscheck(square, seval("x -> (x .^ 2, Δ -> Δ .* (2 .* x .+ 1e-8))"), [np.zeros(3)])
    assert report.verdict == "Julia wrong"
    assert not any(row.kink for row in report.gradients[0].rows)


def test_swapped_gradients_and_means_over_another_arguments_axis_are_named(pb, mx, seval):
    x = [testing.inputs((4, 3)), testing.inputs((4, 3), seed=1)]
    swapped = pb.crosscheck(
        lambda a, b: a * a * b, seval("(a, b) -> (a .^ 2 .* b, Δ -> (Δ .* a .^ 2, 2 .* Δ .* a .* b))"), x
    )
    assert "it is the gradient of argument 2" in messages(swapped)
    assert "it is the gradient of argument 1" in messages(swapped)
    mean = seval("(x, b) -> (x .+ b, Δ -> (Δ, vec(sum(Δ, dims=2)) ./ size(Δ, 2)))")
    report = pb.crosscheck(lambda a, b: a + b, mean, [testing.inputs((8, 3)), testing.inputs(3, seed=1)])
    assert "one over the size of axis 0 of argument 1" in messages(report)


def test_what_is_only_wrong_in_float32_is_found_in_float32(pb, mx, seval):
    # (exp(x) - 1) / x cancels: right in float64, three digits in float32.
    naive = "x -> ((exp.(x) .- 1) ./ x, Δ -> Δ .* (exp.(x) .* (x .- 1) .+ 1) ./ x .^ 2)"
    x = np.array([1e-2, 2e-2, 5e-2])
    given = [mx.nd.array(x, dtype="float32")]
    report = pb.crosscheck(lambda a: mx.nd.expm1(a) / a, seval(naive), given)
    assert report.verdict == "Julia wrong"
    assert "float32" in {f.kind for f in report.findings}
    assert pb.crosscheck(lambda a: mx.nd.expm1(a) / a, seval(naive), given, dtype="float64", rtol=1e-6)


def test_tolerances_can_be_given(pb, seval):
    slightly = seval("x -> (x .^ 2, Δ -> (2 + 1e-5) .* Δ .* x)")
    x = [testing.inputs(5)]
    assert pb.crosscheck(square, slightly, x).verdict == "Julia wrong"
    assert pb.crosscheck(square, slightly, x, rtol=1e-4).verdict == "agree"


def test_head_gradients_can_be_given(pb, seval):
    # Wrong in the second entry of the result only.
    partly = seval("x -> (x .^ 2, Δ -> [2, 3, 2] .* Δ .* x)")
    x = [np.array([1.0, 2.0, 3.0])]
    assert pb.crosscheck(square, partly, x, head_grads=np.array([1.0, 0.0, 5.0])).verdict == "agree"
    assert pb.crosscheck(square, partly, x, head_grads=[np.array([0.0, 1.0, 0.0])]).verdict == "Julia wrong"
    with pytest.raises(ValueError, match=r"head_grads 1 has shape \(2,\); result 1 has \(3,\)"):
        pb.crosscheck(square, partly, x, head_grads=np.ones(2))
    with pytest.raises(ValueError, match="2 head_grads came for 1 results"):
        pb.crosscheck(square, partly, x, head_grads=[np.ones(3), np.ones(3)])


def test_only_the_gradients_asked_for_are_compared(pb, seval):
    wrong_second = seval("(a, b) -> (a .* b, Δ -> (Δ .* b, Δ))")
    x = [testing.inputs(3), testing.inputs(3, seed=1)]
    assert pb.crosscheck(lambda a, b: a * b, wrong_second, x, grads=[0]).verdict == "agree"
    assert pb.crosscheck(lambda a, b: a * b, wrong_second, x, grads=1).verdict == "Julia wrong"
    with pytest.raises(
        ValueError, match=r"grads names position 2; arguments with gradients stand at \[0, 1\]"
    ):
        pb.crosscheck(lambda a, b: a * b, wrong_second, x, grads=[2])


def test_second_order(pb, mx, seval):
    x = [testing.inputs(4)]
    sine = seval("x -> (sin.(x), Δ -> Δ .* cos.(x))")
    assert pb.crosscheck(mx.nd.sin, sine, x, order=2).verdict == "agree"
    with pytest.raises(ValueError, match="order is 3; expected 1 or 2"):
        pb.crosscheck(mx.nd.sin, sine, x, order=3)


@pytest.mark.parametrize("option", [{"directions": -1}, {"samples": 2.5}])
def test_counts_are_checked(pb, seval, option):
    with pytest.raises(ValueError, match="expected a whole number, not negative"):
        pb.crosscheck(square, seval(SQUARE), [np.ones(2)], **option)


def test_the_same_seed_gives_the_same_report(pb, mx, seval):
    x = [testing.inputs((7, 30))]
    first, again, other = (
        pb.crosscheck(square, seval(TRIPLE), x, seed=seed, samples=8).to_dict() for seed in (3, 3, 4)
    )
    for each in (first, again, other):
        each.pop("julia")  # an anonymous function's number
    assert first == again
    assert first["gradients"] != other["gradients"]


@pytest.mark.parametrize(
    ("python", "julia", "inputs", "message"),
    [
        (square, SQUARE, [1.0], "inputs holds no array"),
        (3, SQUARE, [np.ones(2)], "python_fn is a int; expected a callable"),
        (square, 3, [np.ones(2)], "julia_fn is a int; expected a JuliaFunction"),
        (lambda x: 3, SQUARE, [np.ones(2)], "returned a int as result 1; expected an NDArray"),
    ],
)
def test_what_cannot_be_compared_is_refused(pb, seval, python, julia, inputs, message):
    with pytest.raises(TypeError, match=message):
        pb.crosscheck(python, seval(julia) if isinstance(julia, str) else julia, inputs)


def test_an_exception_of_a_forward_is_raised_as_it_is(pb, seval):
    with pytest.raises(pb.JuliaError, match="not today"):
        pb.crosscheck(square, seval('x -> error("not today")'), [np.ones(2)])


def test_an_exception_of_a_backward_speaks_against_its_side(pb, seval):
    report = pb.crosscheck(square, seval('x -> (x .^ 2, Δ -> error("not today"))'), [np.ones(2)])
    assert report.verdict == "Julia wrong"
    assert "its backward raised JuliaError: not today" in messages(report)


@pytest.mark.parametrize(
    ("gradients", "kind", "said"),
    [
        ("(Δ, Δ)", "shape", "the sum over a broadcast dimension was forgotten"),
        ("(permutedims(Δ), vec(sum(Δ, dims=2)))", "layout", "dimensions are reversed"),
        ("(Float32.(Δ), vec(sum(Δ, dims=2)))", "dtype", "has element type Float32; expected Float64"),
        ("(Δ[1:2, :], vec(sum(Δ, dims=2)))", "shape", "has size (2, 4); expected (3, 4)"),
    ],
)
def test_gradients_that_do_not_fit_are_named(pb, mx, seval, gradients, kind, said):
    julia = seval(f"(x, b) -> (x .+ b, Δ -> {gradients})")
    report = pb.crosscheck(lambda x, b: x + b, julia, [testing.inputs((4, 3)), testing.inputs((1, 3))[0]])
    assert report.verdict == "Julia wrong"
    assert kind in {f.kind for f in report.findings}
    assert said in messages(report)


# ---- in tests ------------------------------------------------------------------------------------------------


def test_inputs_keep_to_their_range_and_away_from_what_is_avoided():
    x = testing.inputs((50, 40), -2, 3, avoid=[0, 1], seed=5)
    assert x.min() >= -2 and x.max() <= 3
    assert np.abs(x).min() >= 0.05 and np.abs(x - 1).min() >= 0.05
    np.testing.assert_array_equal(x, testing.inputs((50, 40), -2, 3, avoid=[0, 1], seed=5))
    with pytest.raises(ValueError, match="expected low < high"):
        testing.inputs(3, 1, 1)
    with pytest.raises(ValueError, match="leaves nothing between 0 and 1"):
        testing.inputs(3, 0, 1, avoid=list(np.linspace(0, 1, 80)))
    with pytest.raises(ValueError, match="special names"):
        testing.inputs(3, special=["odd"])
    with pytest.raises(ValueError, match="dtype is int64; expected float16, float32 or float64"):
        testing.inputs(3, dtype=int)
    with pytest.raises(ValueError, match="both finite"):
        testing.inputs(3, 0, float("inf"))
    with pytest.raises(TypeError):
        testing.inputs((2, 2.5))
    assert testing.inputs(np.int64(3)).shape == (3,) and testing.inputs(np.array([2, 3])).shape == (2, 3)
    assert (testing.inputs(50, 1, 2, special="zeros") == 0).any()


def test_special_inputs_are_mixed_in():
    x = testing.inputs(100, 0.5, 1, special=list(testing.SPECIAL), dtype="float32")
    assert x.dtype == np.float32
    assert (x == 0).any() and (x < 0).any() and (x == 1000).any()
    assert ((x != 0) & (np.abs(x) < np.finfo(np.float32).tiny)).any()
    assert len(np.unique(x)) < 80


def test_the_decorator_and_the_fixture_fail_with_the_report(pb, seval, crosscheck):
    @testing.crosscheck(square, lambda: seval(TRIPLE))
    def test_wrong() -> Any:
        return [testing.inputs(3)]

    with pytest.raises(AssertionError, match="Julia wrong"):
        test_wrong()
    assert crosscheck(square, seval(SQUARE), [testing.inputs(3)]).verdict == "agree"
    with pytest.raises(AssertionError, match="Julia wrong"):
        crosscheck(square, seval(TRIPLE), [testing.inputs(3)])


def test_strategies_draw_shapes_and_inputs():
    from hypothesis import given, settings

    @settings(max_examples=30, deadline=None)
    @given(testing.arrays(testing.shapes(max_dims=3), -1, 1, avoid=[0], dtype="float32"))
    def holds(x: Any) -> None:
        assert 1 <= x.ndim <= 3 and x.dtype == np.float32
        assert (np.abs(x) >= 0.02 - 1e-6).all() and (np.abs(x) <= 1).all()

    holds()
