"""The layers of examples/layers.jl: gradients against numbers and MXNet's operators, values against closed forms."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import mxnet_layers as ops
import numpy as np
import pytest
from example_layers import array, load, value

from pybridge.testing import inputs


@pytest.fixture(scope="module")
def pb(pb: ModuleType) -> ModuleType:
    return load(pb)


POINT = inputs((4, 5), -3, 3)
GROUPS = np.array([7, 7, -1, -1, -1], dtype="int32")
CHAIN = [inputs((3, 3), seed=1), inputs(3, seed=2), inputs(3, seed=3)]
MLP = [inputs((4, 3), seed=1), inputs(4, seed=2), inputs((3, 4), seed=3), inputs(3, seed=4)]

# the function in MXNet's operators, the Julia layer, its keyword arguments, the arguments
PAIRS = [
    (ops.swish, "Swish", {}, [POINT, inputs(5, 0.2, 2)]),
    (ops.mish, "Mish", {}, [POINT]),
    (ops.snake, "Snake", {}, [POINT, inputs(5, 0.2, 2)]),
    (ops.pade, "Pade", {}, [POINT, inputs(6, seed=1), inputs(4, seed=2)]),
    (ops.rms_norm, "RMSNorm", {}, [POINT, inputs(5, 0.2, 2)]),
    (ops.rbf, "RBF", {}, [POINT, inputs((3, 5), -2, 2, seed=1), inputs(3, 1, 3)]),
    (ops.quantile_loss, "QuantileLoss", {}, [inputs((6, 3), seed=1), inputs(6, seed=2)]),
    (ops.rk4(ops.linear_rate, 0.2, 3), "RK4", {"dt": 0.2, "steps": 3}, [POINT, inputs((5, 5), seed=1)]),
    (ops.rk4(ops.mlp_rate, 0.3, 2), "RK4", {"field": "mlp", "dt": 0.3, "steps": 2}, [inputs((2, 3)), *MLP]),
    (
        ops.crf_loss,
        "CRFLoss",
        {},
        [inputs((2, 3, 3), -2, 2), np.array([[0, 2, 1], [2, 2, 0]], dtype="int32"), *CHAIN],
    ),
    (
        ops.sparse_group,
        "SparseGroup",
        {"sparsity": 0.3, "grouping": 0.7},
        [inputs((2, 5), avoid=[0]), GROUPS],
    ),
]

# what MXNet's operators cannot say, or where they fail
ALONE = [
    ("Snake", {}, [inputs((4, 3), -3, 3, special=["zeros"]), np.array([0.0, 1e-3, 2.0])]),
    ("Swish", {}, [inputs((2, 3, 4), -3, 3), inputs(4)]),
    (
        "MonotoneSpline",
        {"bins": 5},
        [
            inputs((7, 2), -4, 4, avoid=[-3, 3]),
            inputs((2, 5), seed=1),
            inputs((2, 5), seed=2),
            inputs((2, 4), seed=3),
        ],
    ),
    ("SoftDTW", {"gamma": 0.5}, [inputs((2, 4, 3)), inputs((2, 6, 3), seed=1)]),
    (
        "CRFLoss",
        {},
        [
            inputs((3, 4, 3), -2, 2),
            np.array([[0, 2, 1, 1], [1, -1, -1, -1], [2, 2, 0, -1]], dtype="int32"),
            *CHAIN,
        ],
    ),
]


def in_float32(arguments: list[np.ndarray]) -> list[np.ndarray]:
    """The cross-check computes in float64 first, and then in this dtype."""
    return [x if x.dtype.kind == "i" else x.astype("float32") for x in arguments]


@pytest.mark.parametrize(("python", "julia", "options", "arguments"), PAIRS, ids=[pair[1] for pair in PAIRS])
def test_a_layer_is_the_same_function_as_in_mxnets_operators(
    pb, crosscheck, python, julia, options, arguments
):
    report = crosscheck(python, pb.function(f"ExampleLayers.{julia}", **options), in_float32(arguments))

    assert report.verdict == "agree"


@pytest.mark.parametrize(("julia", "options", "arguments"), ALONE, ids=[layer[0] for layer in ALONE])
def test_gradients_are_those_of_finite_differences(pb, crosscheck, julia, options, arguments):
    report = crosscheck(None, pb.function(f"ExampleLayers.{julia}", **options), in_float32(arguments))

    assert report.verdict == "agree"
    assert len(report.gradients) == sum(x.dtype.kind == "f" for x in arguments)


# --- activations -------------------------------------------------------------------------------------------


def test_activations_neither_overflow_nor_lose_their_slopes_far_out(pb, mx):
    x = array(np.array([[-1e4, -100.0, -1e-30, 0.0, 1e-30, 100.0, 1e4]]), "float32")
    ones = mx.nd.ones(7)
    for name, parameters in (("Swish", (ones,)), ("Mish", ())):
        pb.attach_grad(x)
        with pb.record():
            y = pb.function(f"ExampleLayers.{name}")(x, *parameters)
        y.backward()
        np.testing.assert_array_equal(y.asnumpy()[0, [0, 3, 5, 6]], [0, 0, 100, 1e4])
        slopes = x.grad.asnumpy()[0]
        np.testing.assert_array_equal(slopes[[0, 5, 6]], [0, 1, 1])
        assert abs(slopes[1]) < 1e-30
        np.testing.assert_allclose(slopes[2:5], {"Swish": 0.5, "Mish": 0.6}[name], rtol=1e-6)


def test_snake_is_the_identity_where_its_frequency_is_zero(pb, mx):
    np.testing.assert_array_equal(value(pb.function("ExampleLayers.Snake"), POINT, np.zeros(5)), POINT)


def test_a_parameter_of_another_size_is_named(pb, mx):
    for name in ("Swish", "Snake", "RMSNorm"):
        with pytest.raises(pb.JuliaError, match=rf"{name}: \w+ has size \(4,\) in Julia; expected \(5,\)"):
            pb.function(f"ExampleLayers.{name}")(array(POINT), mx.nd.ones(4, dtype="float64"))


def test_gradients_are_right_where_only_some_are_wanted(pb, mx):
    x, beta = array(POINT), array(inputs(5, 0.2, 2))
    wanted = []
    for only in (x, beta):
        pb.attach_grad(only)
        with pb.record():
            y = pb.function("ExampleLayers.Swish")(x, beta)
        y.backward()
        wanted.append(only.grad.asnumpy())
        only.attach_grad("null")
    with pb.record():
        pb.attach_grad(x)
        pb.attach_grad(beta)
        y = ops.swish(x, beta)
    y.backward()
    np.testing.assert_allclose(wanted[0], x.grad.asnumpy(), rtol=1e-12)
    np.testing.assert_allclose(wanted[1], beta.grad.asnumpy(), rtol=1e-12)


# --- normalisation, radial functions ----------------------------------------------------------------------


def test_rms_norm_gives_each_sample_a_root_mean_square_of_one(pb, mx):
    y = value(pb.function("ExampleLayers.RMSNorm", epsilon=0), 1e3 * POINT, np.ones(5))
    np.testing.assert_allclose((y**2).mean(axis=1), 1, rtol=1e-12)


def test_a_radial_function_is_one_at_its_centre_and_falls_by_its_width(pb, mx):
    centres = np.array([[1.0, 2.0], [-1.0, 0.0]])
    x = np.array([[1.0, 2.0], [1.0, 2.5]])
    y = value(pb.function("ExampleLayers.RBF"), x, centres, np.array([0.5, 2.0]))
    np.testing.assert_allclose(y[:, 0], [1, np.exp(-0.5)], rtol=1e-14)
    np.testing.assert_allclose(y[0, 1], np.exp(-1.0), rtol=1e-14)
    with pytest.raises(pb.JuliaError, match="width 2 is zero"):
        value(pb.function("ExampleLayers.RBF"), x, centres, np.array([0.5, 0.0]))


# --- the monotone spline ----------------------------------------------------------------------------------


@pytest.fixture
def spline(pb) -> Any:
    return pb.function("ExampleLayers.MonotoneSpline", bins=6)


def wild_parameters() -> list[np.ndarray]:
    return [inputs((2, 6), -3, 3, seed=1), inputs((2, 6), -3, 3, seed=2), inputs((2, 5), -4, 4, seed=3)]


def test_the_spline_is_the_identity_at_zero_parameters(spline, mx):
    x = np.linspace(-4, 4, 202).reshape(101, 2)
    y = value(spline, x, np.zeros((2, 6)), np.zeros((2, 6)), np.zeros((2, 5)))
    np.testing.assert_allclose(y, x, rtol=0, atol=1e-14)


def test_the_spline_rises_everywhere_and_keeps_its_bounds(spline, mx):
    x = np.repeat(np.linspace(-3.5, 3.5, 5001)[:, None], 2, axis=1)
    y = value(spline, x, *wild_parameters())
    assert (np.diff(y, axis=0) > 0).all()
    outside = np.abs(x) >= 3
    np.testing.assert_array_equal(y[outside], x[outside])
    assert np.abs(y[~outside]).max() < 3


def test_the_inverse_of_the_spline_gives_back_what_went_in(pb, spline, mx):
    x = inputs((200, 2), -4, 4)
    parameters = wild_parameters()
    y = value(spline, x, *parameters)
    inverse = pb.jl.seval(
        "(ys...) -> (ExampleLayers.inverse(ExampleLayers.MonotoneSpline(bins = 6), ys...), Δ -> map(_ -> nothing, ys))"
    )
    back = value(pb.function(inverse, pullback=True), y, *parameters)
    np.testing.assert_allclose(back, x, rtol=0, atol=1e-9)
    assert np.abs(y - x).max() > 0.5


# --- dynamics ---------------------------------------------------------------------------------------------

TURN = np.array([[0.0, -1.0], [1.0, 0.0]])


def turned(by: float) -> np.ndarray:
    return np.array([[np.cos(by), -np.sin(by)], [np.sin(by), np.cos(by)]])


def rk4_error(pb, mx, steps: int) -> float:
    u = inputs((3, 2))
    end = value(pb.function("ExampleLayers.RK4", dt=1 / steps, steps=steps), u, TURN)
    return float(np.abs(end - u @ turned(1.0).T).max())


def test_runge_kutta_converges_to_the_exact_solution_in_fourth_order(pb, mx):
    errors = [rk4_error(pb, mx, steps) for steps in (8, 16, 32)]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 4, atol=0.1)
    # Its local error is the first term of the exponential that it leaves out, h⁵/120 in each step.
    assert errors[-1] < np.sqrt(2) * 32**-4 / 120


def test_the_discrete_adjoint_of_a_linear_field_is_the_transposed_step(pb, mx):
    u = array(inputs((1, 2)))
    pb.attach_grad(u)
    with pb.record():
        end = pb.function("ExampleLayers.RK4", dt=0.5)(u, array(TURN))
    head = np.array([[1.0, 2.0]])
    end.backward(array(head))
    step = sum(np.linalg.matrix_power(0.5 * TURN, k) / f for k, f in enumerate((1, 1, 2, 6, 24)))
    np.testing.assert_allclose(u.grad.asnumpy(), head @ step, rtol=1e-14)


def test_a_field_of_the_users_own_is_solved_and_differentiated(pb, crosscheck):
    pb.jl.seval(
        """
        module Decay
        import ..ExampleLayers
        struct Field end
        ExampleLayers.rate(::Field, u, k) = .-k .* u .^ 2
        ExampleLayers.rate_pullback(::Field, Δ, u, k) = (-2 .* k .* u .* Δ, vec(sum(-(u .^ 2) .* Δ; dims = 2)))
        end
        """
    )
    step = pb.function("ExampleLayers.RK4", field=pb.jl.Decay.Field(), dt=0.1, steps=2)
    assert crosscheck(None, step, [inputs((3, 2), 0.5, 2), inputs(2, 0.5, 1)]).verdict == "agree"
    with pytest.raises(pb.JuliaError, match='no field "euler"'):
        pb.function("ExampleLayers.RK4", field="euler")
        pb.function("ExampleLayers.RK4", field="euler")(*(pb.asndarray(pb.jl.zeros(2, 2)) for _ in range(2)))
