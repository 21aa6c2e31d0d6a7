"""Julia functions as nodes of MXNet's graph: values, gradients, keywords, constants, in-place forms, flags."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from measures import POINTS, address, differentiate, leaf, numeric_gradient, sigmoid, slope

# --- values and gradients ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("kind", ["type by name", "type by value", "pullback by name", "pullback by value"])
def test_values_and_gradients_are_those_of_the_closed_form(pb, layers, front, kind, dtype):
    f = {
        "type by name": lambda: pb.function("TestLayers.Sigmoid"),
        "type by value": lambda: pb.function(layers.Sigmoid),
        "pullback by name": lambda: pb.function("TestLayers.sigmoid", pullback=True),
        "pullback by value": lambda: pb.function(layers.sigmoid, pullback=True),
    }[kind]()
    x = leaf(pb, front, POINTS, dtype=dtype)
    y = differentiate(pb, f, x)
    assert type(y) is type(x)
    assert np.dtype(y.dtype) == np.dtype(dtype)
    assert y.shape == x.shape
    rtol = 1e-6 if dtype == "float32" else 1e-14
    np.testing.assert_allclose(y.asnumpy(), sigmoid(POINTS), rtol=rtol)
    np.testing.assert_allclose(x.grad.asnumpy(), slope(POINTS), rtol=rtol)


@pytest.mark.parametrize("name", ["Sigmoid", "Square", "RunningSum", "InPlaceSquare", "Total", "Scale"])
def test_gradients_are_those_of_finite_differences(pb, mx, layers, name):
    f = pb.function(f"TestLayers.{name}")
    weights = np.linspace(1, 2, 6).reshape(2, 3)

    def number(values: np.ndarray) -> float:
        y = f(mx.nd.array(values, dtype="float64")).asnumpy()
        return float((y * weights).sum() if y.shape == weights.shape else y.sum())

    x = leaf(pb, mx.nd, POINTS, dtype="float64")
    with pb.record():
        y = f(x)
    pb.backward(y, mx.nd.array(weights, dtype="float64") if y.shape == x.shape else None)
    np.testing.assert_allclose(x.grad.asnumpy(), numeric_gradient(number, POINTS), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("dtype", ["int32", "int64", "float16"])
def test_other_dtypes_are_computed_in_their_own_dtype(pb, layers, front, dtype):
    x = leaf(pb, front, [[1, 2], [3, 4]], dtype=dtype)
    y = differentiate(pb, pb.function("TestLayers.Square"), x)
    assert np.dtype(y.dtype) == np.dtype(x.grad.dtype) == np.dtype(dtype)
    np.testing.assert_array_equal(y.asnumpy(), [[1, 4], [9, 16]])
    np.testing.assert_array_equal(x.grad.asnumpy(), [[2, 4], [6, 8]])


# --- keywords and constants -------------------------------------------------------------------------------


@pytest.mark.parametrize("pullback", [False, True])
def test_keywords_of_the_call_override_those_of_the_function_and_those_the_defaults(
    pb, front, layers, pullback
):
    target = "TestLayers.scale" if pullback else "TestLayers.Scale"
    x = leaf(pb, front, [1.0, 2.0])
    bare = pb.function(target, pullback=pullback)
    five = pb.function(target, pullback=pullback, factor=5)
    for f, kw, factor in ((bare, {}, 2), (five, {}, 5), (five, {"factor": 7}, 7), (five, {}, 5)):
        y = differentiate(pb, lambda a, f=f, kw=kw: f(a, **kw), x)
        np.testing.assert_array_equal(y.asnumpy(), np.array([1, 2]) * factor)
        np.testing.assert_array_equal(x.grad.asnumpy(), factor)


def test_keywords_of_function_and_call_add_up(pb, mx, layers):
    f = pb.function("TestLayers.Scale", factor=3)
    np.testing.assert_array_equal(f(mx.nd.array([1.0, 2.0]), offset=10).asnumpy(), [13, 16])


def test_keywords_keep_their_types(pb, mx, layers):
    pb.function("TestLayers.Keywords", a=1, b=2.5)(mx.nd.ones(2), c="text", d=True, e=None, f=pb.jl.zeros(2))
    assert layers.called() == "a::integer b::float c::string d::bool e::nothing f::array"


def test_an_unknown_keyword_is_a_julia_error_that_names_it(pb, mx, layers):
    with pytest.raises(pb.JuliaError, match=r"factr"):
        pb.function("TestLayers.Scale", factr=3)(mx.nd.ones(2))


def test_arguments_that_are_no_arrays_reach_julia_as_constants(pb, front, layers):
    f = pb.function("TestLayers.Affine")
    x, shift = leaf(pb, front, [1.0, 2.0]), leaf(pb, front, [10.0, 20.0])
    y = differentiate(pb, f, 3, x, "text", shift, True)
    assert layers.called() == "integer string bool"
    np.testing.assert_array_equal(y.asnumpy(), [13, 26])
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)
    np.testing.assert_array_equal(shift.grad.asnumpy(), 1)
    layers.reset()
    y = differentiate(pb, f, 0.5, x, None, shift, pb.jl.zeros(2))
    assert layers.called() == "float nothing array"
    np.testing.assert_array_equal(y.asnumpy(), [10.5, 21])
    np.testing.assert_array_equal(x.grad.asnumpy(), 0.5)


# --- several inputs and outputs ---------------------------------------------------------------------------


@pytest.mark.parametrize("target", ["Product", "product", "InPlaceProduct"])
def test_each_of_several_inputs_gets_its_gradient(pb, front, layers, target):
    f = pb.function(f"TestLayers.{target}", pullback=target == "product")
    a, b = leaf(pb, front, [1.0, 2.0, 3.0]), leaf(pb, front, [4.0, 5.0, 6.0])
    y = differentiate(pb, f, a, b)
    np.testing.assert_array_equal(y.asnumpy(), [4, 10, 18])
    np.testing.assert_array_equal(a.grad.asnumpy(), [4, 5, 6])
    np.testing.assert_array_equal(b.grad.asnumpy(), [1, 2, 3])


@pytest.mark.parametrize("target", ["Product", "product", "InPlaceProduct"])
@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_an_input_used_twice_gets_the_sum_of_both_gradients(pb, front, layers, target, grad_req):
    f = pb.function(f"TestLayers.{target}", pullback=target == "product")
    x = leaf(pb, front, [1.0, 2.0, 3.0], grad_req)
    for step in (1, 2):
        differentiate(pb, f, x, x)
        times = step if grad_req == "add" else 1
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * times * np.array([1, 2, 3]))


@pytest.mark.parametrize("target", ["SinCos", "sincos_pullback"])
@pytest.mark.parametrize("used", ["both", "first", "second"])
def test_several_outputs_are_differentiated_whichever_are_used(pb, front, layers, target, used):
    f = pb.function(f"TestLayers.{target}", pullback=target != "SinCos")
    values = np.array([0.0, 0.5, 1.0])
    x = leaf(pb, front, values, dtype="float64")
    with pb.record():
        s, c = f(x)
        y = {"both": lambda: 2 * s + 3 * c, "first": lambda: 2 * s, "second": lambda: 3 * c}[used]()
    np.testing.assert_allclose(s.asnumpy(), np.sin(values))
    np.testing.assert_allclose(c.asnumpy(), np.cos(values))
    pb.backward(y)
    expected = {
        "both": 2 * np.cos(values) - 3 * np.sin(values),
        "first": 2 * np.cos(values),
        "second": -3 * np.sin(values),
    }[used]
    np.testing.assert_allclose(x.grad.asnumpy(), expected, atol=1e-15)


def test_several_outputs_may_all_be_heads(pb, front, layers):
    values = np.array([0.0, 0.5, 1.0])
    x = leaf(pb, front, values, dtype="float64")
    with pb.record():
        outputs = pb.function("TestLayers.SinCos")(x)
    pb.backward(list(outputs), [None, front.array([2.0, 2.0, 2.0], dtype="float64")])
    np.testing.assert_allclose(x.grad.asnumpy(), np.cos(values) - 2 * np.sin(values), atol=1e-15)


def test_an_output_whose_sibling_was_dropped_is_differentiated(pb, mx, layers):
    x = leaf(pb, mx.nd, [0.0, 0.5], dtype="float64")
    with pb.record():
        y = pb.function("TestLayers.SinCos")(x)[1]
    gc.collect()
    pb.backward(y)
    np.testing.assert_allclose(x.grad.asnumpy(), -np.sin([0, 0.5]), atol=1e-15)


# --- gradients that are not asked for, or not there -------------------------------------------------------


@pytest.mark.parametrize("grad_req", ["write", "add"])
def test_a_gradient_of_nothing_is_zero(pb, front, layers, grad_req):
    x, y = leaf(pb, front, [1.0, 2.0], grad_req), leaf(pb, front, [3.0, 4.0], grad_req)
    pb.getgrad(x)[:] = 7
    pb.getgrad(y)[:] = 7
    differentiate(pb, pb.function("TestLayers.FirstOnly"), x, y)
    kept = 7 if grad_req == "add" else 0
    np.testing.assert_array_equal(x.grad.asnumpy(), kept + 1)
    np.testing.assert_array_equal(y.grad.asnumpy(), kept)
    pb.getgrad(x)[:] = 7
    differentiate(pb, pb.function("TestLayers.NoGradient"), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), kept)


def test_a_single_gradient_may_come_bare_or_in_a_tuple(pb, front, layers):
    x = leaf(pb, front, [1.0, 2.0])
    differentiate(pb, pb.function("TestLayers.OneTuple"), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)
    differentiate(pb, pb.function("TestLayers.Scale"), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


def test_inputs_that_need_no_gradient_are_left_out(pb, front, layers):
    a, b = leaf(pb, front, [1.0, 2.0]), front.array([3.0, 4.0])
    differentiate(pb, pb.function("TestLayers.Product"), a, b)
    np.testing.assert_array_equal(a.grad.asnumpy(), [3, 4])
    assert pb.getgrad(b) is None
    differentiate(pb, pb.function("TestLayers.InPlaceProduct"), b, a)
    assert layers.called().endswith("nothing array")
    np.testing.assert_array_equal(a.grad.asnumpy(), [3, 4])


def test_the_gradient_of_a_null_variable_is_skipped(pb, front, layers):
    a, b = leaf(pb, front, [1.0, 2.0]), front.array([3.0, 4.0])
    buffer = front.array([9.0, 9.0])
    pb.mark_variables(b, buffer, "null")
    differentiate(pb, pb.function("TestLayers.InPlaceProduct"), a, b)
    assert layers.called() == "array nothing"
    np.testing.assert_array_equal(a.grad.asnumpy(), [3, 4])
    np.testing.assert_array_equal(buffer.asnumpy(), 9)


@pytest.mark.parametrize("target", ["Square", "InPlaceSquare"])
def test_grad_req_add_accumulates_over_backwards_and_over_uses(pb, front, layers, target):
    f = pb.function(f"TestLayers.{target}")
    x = leaf(pb, front, [1.0, 2.0], "add")
    for step in (1, 2, 3):
        differentiate(pb, lambda a: f(a) + f(a) + a, x)
        np.testing.assert_array_equal(x.grad.asnumpy(), step * np.array([5, 9]))


def test_grad_req_write_overwrites_what_was_there(pb, front, layers):
    for target in ("Square", "InPlaceSquare"):
        x = leaf(pb, front, [1.0, 2.0])
        pb.getgrad(x)[:] = np.nan
        differentiate(pb, pb.function(f"TestLayers.{target}"), x)
        np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


# --- in-place forms ---------------------------------------------------------------------------------------


def test_in_place_forms_are_used_and_write_into_the_memory_of_the_result(pb, front, layers):
    x = leaf(pb, front, POINTS, dtype="float64")
    y = differentiate(pb, pb.function("TestLayers.InPlaceSquare"), x)
    assert layers.called() == "forward! backward!"
    assert layers.seen_address() == address(y)
    np.testing.assert_array_equal(y.asnumpy(), POINTS**2)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * POINTS)


def test_outputspec_says_size_and_eltype_of_the_results(pb, front, layers):
    values = np.arange(6.0).reshape(2, 3)
    x = leaf(pb, front, values, dtype="float32")
    y = differentiate(pb, pb.function("TestLayers.RowSum"), x)
    np.testing.assert_array_equal(y.asnumpy(), [3, 12])
    np.testing.assert_array_equal(x.grad.asnumpy(), 1)
    with pb.record():
        rows, total = pb.function("TestLayers.Extent")(x)
    assert (rows.shape, total.shape) == ((2,), (1,))
    np.testing.assert_array_equal(rows.asnumpy(), [3, 12])
    np.testing.assert_array_equal(total.asnumpy(), [15])
    pb.backward([rows, total], [front.array([1.0, 10.0]), front.array([100.0])])
    np.testing.assert_array_equal(x.grad.asnumpy(), [[101] * 3, [110] * 3])


# --- whether it trains ------------------------------------------------------------------------------------


def test_julia_can_ask_whether_it_trains(pb, front, layers):
    f = pb.function("TestLayers.Training")
    x = leaf(pb, front, [1.0, 2.0])
    f(x)
    with pb.record():
        f(x)
        with pb.predict_mode():
            f(x)
    with pb.train_mode():
        f(x)
    with pb.record(train_mode=False):
        f(x)
    assert layers.called() == "false true false true false"


@pytest.mark.parametrize("train_mode", [True, False])
def test_is_training_in_a_backward_is_the_train_mode_of_that_backward(pb, front, layers, train_mode):
    x = leaf(pb, front, [1.0, 2.0])
    with pb.record():
        y = pb.function("TestLayers.Training")(x)
    pb.backward(y, train_mode=train_mode)
    assert layers.called() == f"true backward:{str(train_mode).lower()}"


def test_a_node_recorded_in_predict_mode_has_its_gradient(pb, front, layers):
    x = leaf(pb, front, [1.0, 2.0])
    with pb.record(train_mode=False):
        y = pb.function("TestLayers.Square")(x)
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])
