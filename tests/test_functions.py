"""Julia functions as nodes of MXNet's graph: protocols, arguments, results, gradients and their errors."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from measures import LAYERS, address, assert_silent_end, load_layers, numeric_gradient, script

POINTS = np.array([[-2.0, -0.5, 0.0], [0.25, 1.0, 3.0]])


@pytest.fixture
def layers(pb: ModuleType) -> Any:
    return load_layers(pb)


@pytest.fixture(params=["nd", "np"])
def front(request: pytest.FixtureRequest, mx: ModuleType) -> Iterator[Any]:
    """mx.nd, and mx.np with its shape semantics."""
    if request.param == "nd":
        yield mx.nd
    else:
        with mx.util.np_shape(True), mx.util.np_array(True):
            yield mx.np


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


def slope(a: np.ndarray) -> np.ndarray:
    return sigmoid(a) * (1 - sigmoid(a))


def leaf(pb: ModuleType, front: Any, values: Any, grad_req: str = "write", dtype: str = "float32") -> Any:
    x = front.array(values, dtype=dtype)
    pb.attach_grad(x, grad_req)
    return x


def differentiate(pb: ModuleType, f: Callable[..., Any], *xs: Any) -> Any:
    """Record f(*xs), run backward from it, return its value."""
    with pb.record():
        y = f(*xs)
    pb.backward(y)
    return y


def collect_julia(pb: ModuleType, mx: ModuleType) -> None:
    """Everything that can be freed is freed."""
    for _ in range(3):
        gc.collect()
        mx.nd.waitall()
        pb.asjulia(mx.nd.zeros(1))
        pb.jl.GC.gc()


# --- targets and values -----------------------------------------------------------------------------------


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


def test_a_julia_function_says_what_it_is(pb):
    f = pb.function("TestLayers.Sigmoid")
    assert isinstance(f, pb.functions.JuliaFunction)
    assert callable(f)
    assert "TestLayers.Sigmoid" in repr(f)


def test_a_name_that_julia_does_not_know_is_refused_at_the_latest_at_the_call(pb, mx, layers):
    for name in ("TestLayers.Sigmoyd", "NoSuchModule.Sigmoid"):
        with pytest.raises((ValueError, pb.JuliaError), match=name.split(".")[1]):
            pb.function(name)(mx.nd.ones(2))


@pytest.mark.parametrize("target", [3, None, 2.5, [1]], ids=str)
def test_a_target_that_is_no_julia_function_is_a_type_error(pb, mx, target):
    with pytest.raises(TypeError, match="CustomFunction"):
        pb.function(target)(mx.nd.ones(2))


def test_a_plain_julia_function_needs_to_be_told_that_it_returns_a_pullback(pb, mx, layers):
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pytest.raises((TypeError, ValueError), match=r"(?s)plain.*pullback|pullback.*plain"), pb.record():
        pb.function("TestLayers.plain")(x)
    with pytest.raises((TypeError, ValueError), match=r"(?s)plain.*back"), pb.record():
        pb.function("TestLayers.plain", pullback=True)(x)


def test_a_call_without_any_array_is_a_type_error(pb, layers):
    with pytest.raises((TypeError, ValueError), match=r"NDArray"):
        pb.function("TestLayers.Sigmoid")(3.0)


def test_a_redefinition_in_julia_counts_from_the_next_call(pb, mx, layers):
    define = "module Live; using PyBridge; struct F <: CustomFunction end; {} end"
    forward = "PyBridge.forward(::F, x) = {0} .* x; PyBridge.backward(::F, Δ) = {0} .* Δ;"
    pb.jl.seval(define.format(forward.format(2)))
    f = pb.function("Live.F")
    x = leaf(pb, mx.nd, [1.0, 2.0])
    np.testing.assert_array_equal(differentiate(pb, f, x).asnumpy(), [2, 4])
    # New methods of the same type, as in a notebook's cell that is run again.
    pb.jl.seval(
        "module NewMethods; using PyBridge; import ..Live; "
        + forward.format(3).replace("::F", "::Live.F")
        + "end"
    )
    np.testing.assert_array_equal(differentiate(pb, f, x).asnumpy(), [3, 6])
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)
    # A new type of the same name.
    pb.jl.seval(define.format(forward.format(5)))
    np.testing.assert_array_equal(differentiate(pb, f, x).asnumpy(), [5, 10])
    np.testing.assert_array_equal(x.grad.asnumpy(), 5)
    # A plain function.
    pb.jl.Live.seval("g(x) = error()")
    g = pb.function("Live.g", pullback=True)
    for factor in (7, 11):
        pb.jl.Live.seval(f"g(x) = ({factor} .* x, Δ -> {factor} .* Δ)")
        np.testing.assert_array_equal(differentiate(pb, g, x).asnumpy(), np.array([1, 2]) * factor)
        np.testing.assert_array_equal(x.grad.asnumpy(), factor)


def test_a_redefinition_between_forward_and_backward_does_not_mix_two_definitions(pb, mx, layers):
    code = (
        "module Swap; using PyBridge; struct F <: CustomFunction end; "
        "PyBridge.forward(::F, x) = {0} .* x; PyBridge.backward(::F, Δ) = {0} .* Δ; end"
    )
    pb.jl.seval(code.format(2))
    f = pb.function("Swap.F")
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pb.record():
        y = f(x)
    pb.jl.seval(code.format(3))
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


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


# --- in-place forms and buffers ---------------------------------------------------------------------------


def test_in_place_forms_are_used_and_write_into_the_memory_of_the_result(pb, front, layers):
    x = leaf(pb, front, POINTS, dtype="float64")
    y = differentiate(pb, pb.function("TestLayers.InPlaceSquare"), x)
    assert layers.called() == "forward! backward!"
    assert layers.seen_address() == address(y)
    np.testing.assert_array_equal(y.asnumpy(), POINTS**2)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * POINTS)


def test_outputspec_says_size_and_eltype_of_the_results(pb, front, layers):
    values = np.arange(6.0).reshape(2, 3)
    x = leaf(pb, front, values)
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


@pytest.mark.parametrize("layout", ["julia", "python"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_julia_gets_the_memory_of_the_ndarray_itself(pb, front, layers, layout, dtype):
    x = leaf(pb, front, POINTS, dtype=dtype)
    with pb.record():
        y = pb.function("TestLayers.Probe", layout=layout)(x)
    assert layers.seen_address() == address(x)
    assert layers.seen_eltype() == dtype.capitalize()
    assert tuple(layers.seen_size()) == ((3, 2) if layout == "julia" else (2, 3))
    assert layers.seen_isarray() is (layout == "julia")
    assert layers.seen_ispermuted() is (layout == "python")
    assert layers.seen_item(*((3, 1) if layout == "julia" else (1, 3))) == POINTS[0, 2]
    pb.backward(y, front.array(POINTS * 10, dtype=dtype))
    assert tuple(layers.seen_size()) == ((3, 2) if layout == "julia" else (2, 3))
    assert layers.seen_item(*((2, 1) if layout == "julia" else (1, 2))) == POINTS[0, 1] * 10
    np.testing.assert_array_equal(x.grad.asnumpy(), (POINTS * 10).astype(dtype))


@pytest.mark.parametrize(("layout", "axis"), [("julia", -1), ("python", 0)])
def test_dimension_one_in_julia_is_the_last_axis_or_with_layout_python_the_first(
    pb, front, layers, layout, axis
):
    values = np.arange(24.0).reshape(2, 3, 4)
    heads = np.cos(values)
    x = leaf(pb, front, values, dtype="float64")
    with pb.record():
        y = pb.function("TestLayers.RunningSum", layout=layout)(x)
    pb.backward(y, front.array(heads, dtype="float64"))
    np.testing.assert_allclose(y.asnumpy(), np.cumsum(values, axis=axis))
    expected = np.flip(np.cumsum(np.flip(heads, axis), axis=axis), axis)
    np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-12)


@pytest.mark.parametrize("name", ["Sigmoid", "InPlaceSquare", "Product", "SinCos"])
def test_both_layouts_give_the_same_for_elementwise_functions(pb, front, layers, name):
    results = []
    for layout in ("julia", "python"):
        x = leaf(pb, front, POINTS, dtype="float64")
        inputs = (x, front.array(POINTS.T[::-1].reshape(2, 3), dtype="float64"))[: 1 + (name == "Product")]
        with pb.record():
            y = pb.function(f"TestLayers.{name}", layout=layout)(*inputs)
            y = y[0] * y[1] if isinstance(y, (tuple, list)) else y
        pb.backward(y, front.array(np.cos(POINTS), dtype="float64"))
        results.append((y.asnumpy(), x.grad.asnumpy()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-14)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-14)


def test_an_unknown_layout_is_refused(pb, mx, layers):
    with pytest.raises(ValueError, match=r"(?s)(julia.*python|python.*julia)"):
        pb.function("TestLayers.Sigmoid", layout="fortran")(mx.nd.ones((2, 2)))


def test_inputs_that_are_slices_pending_or_six_dimensional_are_right(pb, mx, layers):
    f = pb.function("TestLayers.Square")
    base = mx.nd.array(np.arange(12.0).reshape(4, 3))
    np.testing.assert_array_equal(f(base[1:3]).asnumpy(), np.arange(3.0, 9.0).reshape(2, 3) ** 2)
    eye = mx.nd.eye(800)
    pending = eye
    for _ in range(10):
        pending = mx.nd.dot(pending, eye) * 3
    assert f(pending).asnumpy().trace() == pytest.approx(800 * 9.0**10)
    values = np.arange(12.0).reshape(1, 2, 3, 1, 2, 1)
    x = leaf(pb, mx.nd, values)
    np.testing.assert_array_equal(differentiate(pb, f, x).asnumpy(), values**2)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * values)


def test_an_input_recorded_as_a_native_slice_gets_its_gradient(pb, front, layers):
    x = leaf(pb, front, np.arange(6.0))
    differentiate(pb, lambda a: pb.function("TestLayers.Square")(a[2:4]), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0, 4, 6, 0, 0])


# --- results that need care -------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["julia", "python"])
def test_an_output_that_is_the_input_is_copied(pb, front, layers, layout):
    x = leaf(pb, front, POINTS)
    with pb.record():
        y = pb.function("TestLayers.Identity", layout=layout)(x)
    assert address(y) != address(x)
    heads = front.array(POINTS * 3, dtype="float32")
    pb.backward(y, heads)
    assert address(x.grad) != address(heads)
    x[:] = 100
    heads[:] = 100
    np.testing.assert_array_equal(y.asnumpy(), POINTS.astype("float32"))
    np.testing.assert_allclose(x.grad.asnumpy(), POINTS * 3)


def test_outputs_that_are_reshaped_transposed_or_partial_inputs_are_copied(pb, front, layers):
    values = np.arange(6.0).reshape(2, 3)
    x = leaf(pb, front, values)
    with pb.record():
        flat = pb.function("TestLayers.Flat")(x)
        flipped = pb.function("TestLayers.Flipped")(x)
    pb.backward(
        [flat, flipped], [front.array(np.arange(6), dtype="float32"), front.array([[1, 2], [3, 4], [5, 6]])]
    )
    np.testing.assert_array_equal(x.grad.asnumpy(), values + np.array([[1, 3, 5], [2, 4, 6]]))
    v = leaf(pb, front, [1.0, 2.0, 3.0])
    tail = differentiate(pb, pb.function("TestLayers.Tail"), v)
    np.testing.assert_array_equal(v.grad.asnumpy(), [0, 1, 1])
    x[:] = 100
    v[:] = 100
    np.testing.assert_array_equal(flat.asnumpy(), np.arange(6.0))
    np.testing.assert_array_equal(flipped.asnumpy(), values.T)
    np.testing.assert_array_equal(tail.asnumpy(), [2, 3])


def test_the_same_array_twice_gives_two_outputs(pb, front, layers):
    x = leaf(pb, front, [1.0, 2.0])
    with pb.record():
        a, b = pb.function("TestLayers.Twins")(x)
        y = a * 3 + b * 5
    np.testing.assert_array_equal(a.asnumpy(), [2, 4])
    np.testing.assert_array_equal(b.asnumpy(), [2, 4])
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 16)
    assert address(a) != address(b)


def test_a_number_becomes_an_array_of_one_element(pb, mx, front, layers):
    x = leaf(pb, front, POINTS, dtype="float64")
    with pb.record():
        y = pb.function("TestLayers.Total")(x)
        z = y * 3
    assert y.shape == ((1,) if front is mx.nd else ())
    assert np.dtype(y.dtype) == np.float64
    np.testing.assert_allclose(y.asnumpy(), POINTS.sum())
    pb.backward(z)
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)


def test_a_boolean_mask_is_an_output(pb, front, layers):
    y = pb.function("TestLayers.Positive")(front.array(POINTS))
    assert np.dtype(y.dtype) == np.bool_
    np.testing.assert_array_equal(y.asnumpy(), POINTS > 0)


def test_zero_size_and_zero_dimensional_arrays_are_functions_inputs_and_outputs(pb, mx, layers):
    with mx.util.np_shape(True), mx.util.np_array(True):
        for name in ("Sigmoid", "InPlaceSquare"):
            for layout in ("julia", "python"):
                f = pb.function(f"TestLayers.{name}", layout=layout)
                x = mx.np.zeros((0, 3))
                pb.attach_grad(x)
                with pb.record():
                    y = f(x)
                    z = y.sum()
                assert y.shape == (0, 3)
                pb.backward(z)
                assert x.grad.shape == (0, 3)
                x = mx.np.array(2.0, dtype="float64")
                pb.attach_grad(x)
                y = differentiate(pb, f, x)
                assert y.shape == x.grad.shape == ()
                value, derivative = (sigmoid, slope) if name == "Sigmoid" else (np.square, lambda a: 2 * a)
                np.testing.assert_allclose(y.asnumpy(), value(np.array(2.0)), rtol=1e-14)
                np.testing.assert_allclose(x.grad.asnumpy(), derivative(np.array(2.0)), rtol=1e-14)


# --- graphs -----------------------------------------------------------------------------------------------


def test_chains_and_diamonds_of_julia_and_native_nodes_are_right(pb, mx, front, layers):
    square, sig, prod = (pb.function(f"TestLayers.{name}") for name in ("Square", "Sigmoid", "Product"))

    def julia(x: Any) -> Any:
        a = square(x)
        b = sig(a * 2) + prod(a, x)
        return prod(b, a - b) * 3

    def native(x: Any) -> Any:
        a = front.square(x)
        b = 1 / (1 + front.exp(a * -2)) + a * x
        return b * (a - b) * 3

    results = []
    for f in (julia, native):
        x = leaf(pb, front, POINTS, dtype="float64")
        y = differentiate(pb, f, x)
        results.append((y.asnumpy(), x.grad.asnumpy()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-10)


def test_a_chain_of_a_hundred_nodes_is_right(pb, mx, layers):
    f = pb.function("TestLayers.Scale", factor=1.01)
    x = leaf(pb, mx.nd, [1.0, 2.0], dtype="float64")
    with pb.record():
        y = x
        for _ in range(100):
            y = f(y)
    pb.backward(y)
    np.testing.assert_allclose(y.asnumpy(), np.array([1, 2]) * 1.01**100, rtol=1e-12)
    np.testing.assert_allclose(x.grad.asnumpy(), 1.01**100, rtol=1e-12)


def test_saved_values_do_not_leak_between_calls_of_one_function_object(pb, front, layers):
    for f in (pb.function("TestLayers.Square"), pb.function("TestLayers.sigmoid", pullback=True)):
        xs = [leaf(pb, front, [v, v + 1.0], dtype="float64") for v in (0.0, 1.0, 2.0)]
        with pb.record():
            ys = [f(x) for x in xs]
        for x, y in reversed(list(zip(xs, ys))):
            pb.backward(y)
            values = x.asnumpy()
            expected = slope(values) if "sigmoid" in repr(f) else 2 * values
            np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-12)


def test_retain_graph_runs_a_julia_node_twice_and_without_it_a_second_backward_is_an_error(pb, front, layers):
    x = leaf(pb, front, [1.0, 2.0], "add")
    with pb.record():
        y = pb.function("TestLayers.Square")(x)
    pb.backward(y, retain_graph=True)
    pb.backward(y)
    assert layers.ncalls("Square.backward") == 2
    np.testing.assert_array_equal(x.grad.asnumpy(), [4, 8])
    with pytest.raises(pb.GraphError, match=r"retain_graph"):
        pb.backward(y)
    assert layers.ncalls("Square.backward") == 2


def test_an_input_that_python_has_dropped_is_still_there_in_backward(pb, mx, layers):
    x = leaf(pb, mx.nd, np.full(1000, 3.0))
    with pb.record():
        y = pb.function("TestLayers.Square")(x * 2)
    gc.collect()
    for value in range(40):
        mx.nd.full((1000,), value).wait_to_read()
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 24)


def test_what_julia_saves_for_ever_stays_right_after_the_graph_is_gone(pb, mx, layers):
    layers.forget()
    x = leaf(pb, mx.nd, np.full(1000, 3.0), dtype="float64")
    with pb.record():
        y = pb.function("TestLayers.Keeper")(x * 2) * 5
    pb.backward(y)
    del x, y
    collect_julia(pb, mx)
    for value in range(40):
        mx.nd.full((1000,), value, dtype="float64").wait_to_read()
    np.testing.assert_array_equal(np.array(layers.kept(1)), 6)
    np.testing.assert_array_equal(np.array(layers.kept(2)), 5)
    layers.forget()


def test_calls_outside_record_make_no_node_and_keep_nothing(pb, front, mx, layers):
    collect_julia(pb, mx)
    before = layers.alive()
    x = leaf(pb, front, [1.0, 2.0])
    ys = [pb.function("TestLayers.Square")(x) for _ in range(20)]
    with pb.record(), pb.pause():
        ys.append(pb.function("TestLayers.Square")(x))
    np.testing.assert_array_equal(ys[-1].asnumpy(), [1, 4])
    with pytest.raises(pb.GraphError, match=r"record"):
        pb.backward(ys[-1])
    collect_julia(pb, mx)
    assert layers.alive() == before


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


def test_a_temporary_function_object_whose_input_is_on_no_gradient_path_does_no_harm(pb, mx, front, layers):
    w = leaf(pb, front, [1.0, 2.0])
    free = front.array([3.0, 4.0])
    for _ in range(20):
        with pb.record():
            y = pb.function("TestLayers.Square")(free) * w
        collect_julia(pb, mx)
        pb.backward(y)
        np.testing.assert_array_equal(w.grad.asnumpy(), [9, 16])
    assert layers.ncalls("Square.backward") == 0


def test_nodes_recorded_and_dropped_without_a_backward_are_freed(pb, mx, layers):
    collect_julia(pb, mx)
    before = layers.alive()
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pb.record():
        for _ in range(50):
            pb.function("TestLayers.Square")(pb.function("TestLayers.Sigmoid")(x))
        kept = pb.function("TestLayers.Square")(x)
    collect_julia(pb, mx)
    assert layers.alive() == before + 1
    pb.backward(kept)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])
    del kept
    collect_julia(pb, mx)
    assert layers.alive() == before


def test_a_function_applied_to_a_gluon_parameter_whose_value_it_saved_trains_like_the_native_one(
    pb, mx, layers
):
    prod = pb.function("TestLayers.Product")
    target = mx.nd.array([0.5, -1.0, 2.0])

    def train(multiply: Callable[[Any, Any], Any]) -> list[np.ndarray]:
        weight = mx.gluon.Parameter("weight", shape=(3,), init=mx.init.One())
        weight.initialize()
        trainer = mx.gluon.Trainer({"weight": weight}, "adam", {"learning_rate": 0.1})
        history = []
        for _ in range(20):
            with pb.record():
                loss = mx.nd.square(multiply(weight.data(), weight.data()) - target).sum()
            loss.backward()
            trainer.step(1)
            history.append(weight.data().asnumpy().copy())
        return history

    np.testing.assert_allclose(train(prod), train(lambda a, b: a * b), rtol=1e-5)


def test_a_gluon_network_with_julia_layers_trains_like_the_native_one(pb, mx, layers):
    sig = pb.function("TestLayers.Sigmoid")

    class Net(mx.gluon.Block):
        def __init__(self, activation: Callable[[Any], Any]) -> None:
            super().__init__()
            self.activation = activation
            self.first = mx.gluon.nn.Dense(4, in_units=3)
            self.second = mx.gluon.nn.Dense(2, in_units=4)

        def forward(self, x: Any) -> Any:
            return self.second(self.activation(self.first(x)))

    rng = np.random.RandomState(3)
    data, target = mx.nd.array(rng.normal(size=(8, 3))), mx.nd.array(rng.normal(size=(8, 2)))
    trained = []
    for activation in (sig, mx.nd.sigmoid):
        mx.random.seed(7)
        net = Net(activation)
        net.initialize(mx.init.Xavier())
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5, "momentum": 0.9})
        losses = []
        for _ in range(15):
            with pb.record():
                loss = mx.nd.square(net(data) - target).mean()
            loss.backward()
            trainer.step(1)
            losses.append(float(loss.asscalar()))
        trained.append((losses, [p.data().asnumpy() for p in net.collect_params().values()]))
    assert trained[0][0][-1] < trained[0][0][0] / 2
    np.testing.assert_allclose(trained[0][0], trained[1][0], rtol=1e-4)
    for ours, native in zip(trained[0][1], trained[1][1]):
        np.testing.assert_allclose(ours, native, rtol=1e-3, atol=1e-5)


# --- errors -----------------------------------------------------------------------------------------------


def test_an_exception_in_forward_surfaces_at_the_call_with_message_stack_and_object(pb, front, layers):
    f = pb.function("TestLayers.Fails", where="forward")
    x = leaf(pb, front, [1.0, 2.0])
    with pytest.raises(pb.JuliaError) as info, pb.record():
        f(x)
    assert "refused with code 17" in str(info.value)
    assert "refuse_here" in str(info.value)
    assert LAYERS.name in str(info.value)
    assert info.value.exception.code == 17
    assert (pb.is_recording(), pb.is_training()) == (False, False)
    with pytest.raises(pb.JuliaError, match=r"refused with code 17"):
        f(x)
    y = differentiate(pb, lambda a: f(a, where=""), x)
    np.testing.assert_array_equal(y.asnumpy(), [1, 2])
    np.testing.assert_array_equal(x.grad.asnumpy(), 1)


@pytest.mark.parametrize("pullback", [False, True])
def test_an_exception_in_backward_surfaces_at_the_backward_and_the_next_step_is_right(
    pb, mx, front, layers, pullback
):
    f = pb.function("TestLayers.failing_pullback" if pullback else "TestLayers.Fails", pullback=pullback)
    code = 19 if pullback else 18
    x = leaf(pb, front, [1.0, 2.0])
    for _ in range(3):
        with pytest.raises(pb.JuliaError) as info, pb.record():
            y = f(x) * 2
            pb.backward(y)
        assert f"refused with code {code}" in str(info.value)
        assert "refuse_here" in str(info.value)
        assert LAYERS.name in str(info.value)
        assert info.value.exception.code == code
        assert (pb.is_recording(), pb.is_training()) == (False, False)
        mx.nd.waitall()  # nobody else gets the blame
        differentiate(pb, pb.function("TestLayers.Square"), x)
        np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_after_an_error_requested_gradients_are_nan_and_accumulated_ones_untouched(pb, front, layers):
    square, fails, prod = (pb.function(f"TestLayers.{name}") for name in ("Square", "Fails", "Product"))
    before, other, after = (leaf(pb, front, [1.0, 2.0]) for _ in range(3))
    added = leaf(pb, front, [1.0, 2.0], "add")
    pb.getgrad(added)[:] = 7
    with pb.record():
        y = prod(fails(prod(square(after), other) + square(added)), before)
    with pytest.raises(pb.JuliaError, match=r"refused with code 18"):
        pb.backward(y)
    np.testing.assert_array_equal(before.grad.asnumpy(), [2, 12])  # done before the failure
    assert np.isnan(after.grad.asnumpy()).all()
    assert np.isnan(other.grad.asnumpy()).all()
    np.testing.assert_array_equal(added.grad.asnumpy(), 7)
    # No callback ran after the one that failed.
    assert layers.called().split().count("Product.backward") == 1
    assert layers.ncalls("Square.backward") == 0
    pb.backward(pb.record(lambda: prod(square(added), before)))
    np.testing.assert_array_equal(added.grad.asnumpy(), 7 + 2 * np.array([1, 4]))


def test_after_an_error_integer_gradients_are_zero(pb, front, layers):
    x = leaf(pb, front, [1, 2], dtype="int64")
    pb.getgrad(x)[:] = 9
    with pb.record():
        y = pb.function("TestLayers.Fails")(x)
    with pytest.raises(pb.JuliaError):
        pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)


@pytest.mark.parametrize(
    ("how", "error"),
    [("shape", ValueError), ("few", ValueError), ("many", ValueError), ("bare", ValueError)],
)
def test_gradients_that_do_not_fit_name_function_argument_what_came_and_what_was_expected(
    pb, mx, front, layers, how, error
):
    f = pb.function("TestLayers.WrongGradient", how=how)
    x, z = leaf(pb, front, [[1.0, 2.0]]), leaf(pb, front, [[3.0, 4.0]])
    with pb.record():
        y = f(x, z)
    with pytest.raises(error) as info:
        pb.backward(y)
    message = str(info.value)
    assert "WrongGradient" in message
    if how == "shape":
        assert "2" in message  # the argument
        assert "(5, 7)" in message or "(7, 5)" in message
        assert "(1, 2)" in message or "(2, 1)" in message
    else:
        assert {"few": "1", "many": "3", "bare": "1"}[how] in message or how == "bare"
        assert "2" in message
    mx.nd.waitall()
    differentiate(pb, pb.function("TestLayers.WrongGradient", how="right"), x, z)
    np.testing.assert_array_equal(z.grad.asnumpy(), 1)


@pytest.mark.parametrize(("how", "words"), [("dtype", ("Int32", "int32")), ("text", ("String", "str"))])
def test_gradients_of_a_wrong_type_name_function_and_type(pb, front, layers, how, words):
    x, z = leaf(pb, front, [[1.0, 2.0]]), leaf(pb, front, [[3.0, 4.0]])
    with pb.record():
        y = pb.function("TestLayers.WrongGradient", how=how)(x, z)
    with pytest.raises((TypeError, ValueError)) as info:
        pb.backward(y)
    assert "WrongGradient" in str(info.value)
    assert any(word in str(info.value) for word in words)
    assert not (z.grad.asnumpy() == 0).any()


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ("text", "String"),
        ("nothing", "(?i)nothing"),
        ("complex", "Complex"),
        ("strings", "String"),
        ("mixed", "String"),
    ],
)
@pytest.mark.parametrize("recording", [False, True])
def test_results_that_are_no_arrays_of_libmxnet_name_function_and_type(pb, mx, layers, how, word, recording):
    f = pb.function("TestLayers.WrongOutput", how=how)
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with (
        pytest.raises((TypeError, ValueError), match=word) as info,
        pb.pause() if not recording else pb.record(),
    ):
        f(x)
    assert "WrongOutput" in str(info.value)
    assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_missing_methods_name_the_function(pb, mx, layers):
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pytest.raises((pb.JuliaError, TypeError), match=r"(?s)forward.*NoForward|NoForward.*forward"):
        pb.function("TestLayers.NoForward")(x)
    with pytest.raises((pb.JuliaError, TypeError), match=r"(?s)backward.*NoBackward|NoBackward.*backward"):
        differentiate(pb, pb.function("TestLayers.NoBackward"), x)
    with pytest.raises((pb.JuliaError, TypeError), match=r"Sigmoid"):
        pb.function("TestLayers.Sigmoid")(x, x)


@pytest.mark.parametrize("where", ["onforward", "onbackward"])
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, SystemExit])
def test_a_python_exception_raised_through_julia_comes_out_as_itself(pb, mx, front, layers, where, error):
    raised = error("from Python")

    def throw() -> None:
        raise raised

    x = leaf(pb, front, [1.0, 2.0])
    with pytest.raises(error) as info:
        with pb.record():
            y = pb.function("TestLayers.Hook", **{where: throw})(x)
        assert where == "onbackward"
        pb.backward(y)
    assert info.value is raised
    assert (pb.is_recording(), pb.is_training()) == (False, False)
    mx.nd.waitall()
    differentiate(pb, pb.function("TestLayers.Square"), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_sparse_inputs_are_refused_with_the_way_out(pb, mx, layers, stype):
    with pytest.raises((TypeError, ValueError), match=r"(?s)tostype\(.default.\)"):
        pb.function("TestLayers.Sigmoid")(mx.nd.ones((2, 2)).tostype(stype))


def test_inputs_on_a_gpu_are_refused_with_the_way_out(pb, mx, layers):
    handle = mx.nd.ndarray._new_alloc_handle((2, 3), mx.gpu(0), True, np.float32)
    with pytest.raises((TypeError, ValueError), match=r"(?is)gpu.*(as_in_context|as_in_ctx|copyto)"):
        pb.function("TestLayers.Sigmoid")(mx.nd.NDArray(handle))


def test_an_array_that_failed_before_raises_its_own_error_at_the_call(pb, mx, layers):
    broken = mx.nd.random.normal(0, -1, shape=(2,))  # fails later, on a thread of libmxnet
    with pytest.raises(mx.base.MXNetError, match=r"scale"):
        pb.function("TestLayers.Sigmoid")(broken)
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pb.record():
        y = pb.function("TestLayers.Square")(x)
    with pytest.raises(mx.base.MXNetError, match=r"scale"):
        pb.backward(y, mx.nd.random.normal(0, -1, shape=(2,)))
    mx.nd.waitall()
    differentiate(pb, pb.function("TestLayers.Square"), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


# --- Julia code elsewhere ---------------------------------------------------------------------------------


def test_an_included_file_can_use_pybridge_and_returns_its_last_value(pb, mx, tmp_path):
    path = tmp_path / "mine.jl"
    path.write_text(
        "using PyBridge\n"
        "struct IncludedTwice <: CustomFunction end\n"
        "PyBridge.forward(::IncludedTwice, x) = 2 .* x\n"
        "PyBridge.backward(::IncludedTwice, Δ) = 2 .* Δ\n"
        "40 + 2\n",
        encoding="utf-8",
    )
    assert pb.include(str(path)) == 42
    assert pb.include(path) == 42
    x = leaf(pb, mx.nd, [1.0, 2.0])
    np.testing.assert_array_equal(differentiate(pb, pb.function("IncludedTwice"), x).asnumpy(), [2, 4])
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


@pytest.mark.parametrize(
    ("text", "line"), [("x = 1\ny = (1,\nz = ]\n", "3"), ('x = 1\nerror("at line two")\n', "2")]
)
def test_an_error_in_an_included_file_names_file_and_line(pb, tmp_path, text, line):
    path = tmp_path / "broken.jl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(pb.JuliaError, match=rf"broken\.jl:{line}"):
        pb.include(str(path))


def test_a_package_of_the_users_own_can_use_pybridge(pb, mx, layers, tmp_path):
    uuid = pb.jl.seval("m -> string(Base.PkgId(m).uuid)")(pb.jl.seval("import PyBridge; PyBridge"))
    folder = tmp_path / "UsersLayers"
    (folder / "src").mkdir(parents=True)
    (folder / "Project.toml").write_text(
        'name = "UsersLayers"\nuuid = "6e0cd6a8-2b1f-4f0e-9d0a-0c9c1f2d3e4f"\n\n'
        f'[deps]\nPyBridge = "{uuid}"\n'
    )
    (folder / "src" / "UsersLayers.jl").write_text(
        "module UsersLayers\nusing PyBridge\nexport Triple\nstruct Triple <: CustomFunction end\n"
        "PyBridge.forward(::Triple, x) = 3 .* x\nPyBridge.backward(::Triple, Δ) = 3 .* Δ\nend\n",
        encoding="utf-8",
    )
    pb.jl.push_b(pb.jl.LOAD_PATH, str(tmp_path))
    try:
        pb.jl.seval("using UsersLayers")
    finally:
        pb.jl.pop_b(pb.jl.LOAD_PATH)
    x = leaf(pb, mx.nd, [1.0, 2.0])
    np.testing.assert_array_equal(differentiate(pb, pb.function("UsersLayers.Triple"), x).asnumpy(), [3, 6])
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)


def test_pybridge_exports_three_names(pb, layers):
    names = set(pb.jl.seval("join(filter(n -> n != :PyBridge, names(PyBridge)), ' ')").split())
    assert names == {"CustomFunction", "@registerfunc", "is_training"}


# --- what may take the process with it --------------------------------------------------------------------


def test_a_stack_overflow_in_julia_is_a_julia_error_and_the_next_step_is_right(run_python):
    result = run_python(
        script("""
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        for _ in range(2):
            try:
                pb.function("TestLayers.Endless", where="forward")(x)
            except pb.JuliaError as error:
                assert "StackOverflow" in str(error), str(error)[:500]
            else:
                raise AssertionError("no error in forward")
            with pb.record():
                y = pb.function("TestLayers.Endless", where="backward")(x)
            try:
                pb.backward(y)
            except pb.JuliaError as error:
                assert "StackOverflow" in str(error), str(error)[:500]
            else:
                raise AssertionError("no error in backward")
            assert np.isnan(x.grad.asnumpy()).all()
            assert_next_step_is_right()
        leave()
        """)
    )
    assert_silent_end(result)


def test_pybridge_check_finds_writes_to_what_is_only_to_be_read(run_python):
    result = run_python(
        script("""
        def refused(run):
            try:
                run()
            except Exception as error:
                assert "Scribbles" in str(error), str(error)
                assert "PYBRIDGE_CHECK" in str(error) or "read" in str(error) or "wr" in str(error), str(error)
                return True
            return False

        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        assert refused(lambda: pb.function("TestLayers.Scribbles", where="forward")(x))
        with pb.record():
            y = pb.function("TestLayers.Scribbles", where="backward")(x)
        assert refused(lambda: pb.backward(y))
        assert not refused(lambda: pb.function("TestLayers.Scribbles", where="")(x))
        assert_next_step_is_right()
        leave()
        """),
        env={"PYBRIDGE_CHECK": "1"},
    )
    assert_silent_end(result)
