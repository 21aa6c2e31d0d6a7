"""The memory that a Julia function works on: layouts, slices, copies, buffers, sizes of what comes in and out."""

from __future__ import annotations

import numpy as np
import pytest
from measures import POINTS, address, differentiate, leaf, pullback, sigmoid, slope

# --- inputs and layouts -----------------------------------------------------------------------------------


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
    x = leaf(pb, front, np.arange(6.0), dtype="float32")
    differentiate(pb, lambda a: pb.function("TestLayers.Square")(a[2:4]), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), [0, 0, 4, 6, 0, 0])


@pytest.mark.parametrize("channels", [8, 16, 32])
def test_a_convolution_that_is_still_under_way_is_waited_for_and_read_in_plain_order(pb, mx, channels):
    # oneDNN gives its results a blocked layout, which shows only once the operator has run.
    same = pullback(pb, "x -> (copy(x), Δ -> copy(Δ))")
    for _ in range(8):
        x, w = mx.nd.random.uniform(shape=(4, 16, 32, 32)), mx.nd.random.uniform(shape=(channels, 16, 3, 3))
        mx.nd.waitall()
        y = mx.nd.Convolution(x, w, kernel=(3, 3), num_filter=channels, no_bias=True)
        z = same(y)
        np.testing.assert_array_equal(z.asnumpy(), y.asnumpy())


@pytest.mark.parametrize("layout", ["julia", "python"])
def test_gradients_between_convolutions_are_those_of_the_native_network(pb, mx, layout):
    tanh = pullback(pb, "x -> (y = tanh.(x); (y, Δ -> Δ .* (1 .- y .^ 2)))", layout=layout)
    x = mx.nd.random.uniform(-1, 1, shape=(2, 16, 12, 12))
    w1, w2 = (mx.nd.random.uniform(-0.1, 0.1, shape=(16, 16, 3, 3)) for _ in range(2))
    found = []
    for activation in (mx.nd.tanh, tanh):
        leaves = [a.copy() for a in (x, w1, w2)]
        for a in leaves:
            pb.attach_grad(a)
        with pb.record():
            y = leaves[0]
            for w in leaves[1:]:
                y = activation(mx.nd.Convolution(y, w, kernel=(3, 3), num_filter=16, no_bias=True))
        pb.backward(y)
        found.append([pb.getgrad(a).asnumpy() for a in leaves])
    for native, julia in zip(*found):
        np.testing.assert_allclose(julia, native, rtol=1e-4, atol=1e-5)


# --- results that need care -------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["julia", "python"])
def test_an_output_that_is_the_input_is_copied(pb, front, layers, layout):
    x = leaf(pb, front, POINTS, dtype="float32")
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
    x = leaf(pb, front, values, dtype="float32")
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


def test_identities_in_a_row_return_what_came_in(pb, mx, layers):
    x = leaf(pb, mx.nd, [1.0, 2.0])
    same = pb.function("TestLayers.Identity")
    with pb.record():
        y = same(same(same(x)))
    pb.backward(y)
    assert y.asnumpy().tolist() == [1, 2]
    assert pb.getgrad(x).asnumpy().tolist() == [1, 1]


# --- buffers returned again -------------------------------------------------------------------------------


def test_a_buffer_that_a_living_result_lies_over_cannot_be_returned_again(pb, mx):
    f = pullback(pb, "let b = zeros(Float32, 3); x -> (b .= 2 .* x; (b, Δ -> 2 .* Δ)) end")
    first = f(mx.nd.array([1, 2, 3]))
    assert first.asnumpy().tolist() == [2, 4, 6]
    with pytest.raises(ValueError, match="result 1, an array that an earlier result still lies over"):
        f(mx.nd.array([10, 20, 30]))


def test_a_buffer_whose_earlier_results_nobody_holds_may_be_returned_again(pb, mx):
    f = pullback(pb, "let b = zeros(Float32, 10^6); x -> (b .= 2 .* x; (b, Δ -> 2 .* Δ)) end")
    for value in range(20):  # libmxnet lets go of a result when its work on it is done: later than Python
        result = f(mx.nd.full((10**6,), value))
        sums = (mx.nd.exp(result * 1e-3) + result).sum()
        del result
    assert sums.asscalar() == pytest.approx(1e6 * (np.exp(0.038) + 38), rel=1e-5)
