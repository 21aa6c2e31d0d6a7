"""What stands on either side: Gluon blocks as they are used, and inputs of every kind."""

from __future__ import annotations

import numpy as np
import pytest
from crosscheck_squares import SQUARE, square

from pybridge import testing

TANH_LAYER = """(x, w, b) -> begin
    y = tanh.(w' * x .+ b)
    (y, Δ -> (D = Δ .* (1 .- y .^ 2); (w * D, x * D', vec(sum(D, dims=2)))))
end"""


def test_a_block_with_static_memory_is_run_as_it_is_written_and_stays_hybridized(pb, mx):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3, in_units=4, activation="tanh"))
    net.initialize(mx.init.Normal(1))
    net.hybridize(static_alloc=True, static_shape=True)
    before = net(mx.nd.ones((2, 4))).asnumpy()
    report = pb.crosscheck(net, pb.jl.seval(TANH_LAYER), [testing.inputs((5, 4))])
    assert report.verdict == "agree", report
    assert net._active and net[0]._active
    np.testing.assert_array_equal(net(mx.nd.ones((2, 4))).asnumpy(), before)


def test_frozen_parameters_of_a_block_with_integer_inputs_stay_what_they_are(pb, mx):
    net = mx.gluon.nn.Embedding(5, 3)
    net.initialize(mx.init.Normal(1))
    net.weight.grad_req = "null"
    scaled = pb.crosscheck(
        lambda i, x: net(i.astype("int32")) * x.expand_dims(1),
        None,
        [np.array([1, 2, 4]), np.array([1.0, 2, 3])],
    )
    assert scaled.verdict == "agree", scaled
    frozen = net.weight.data().asnumpy()
    pb.crosscheck(net, None, [np.array([1, 2, 4], np.int32)])
    np.testing.assert_array_equal(net.weight.data().asnumpy(), frozen)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_function_with_float32_constants_is_compared_in_float32_and_that_is_said(pb, mx, dtype):
    weights = mx.nd.array([1, 2, 3])
    julia = pb.jl.seval("x -> (x .* eltype(x)[1, 2, 3], Δ -> Δ .* eltype(x)[1, 2, 3])")
    report = pb.crosscheck(lambda x: x * weights, julia, [testing.inputs(3, dtype=dtype)])
    assert report.verdict == "agree", report
    assert "it does not run in float64, but in float32" in report.findings[0].message
    assert report.settings["dtype"] == "float32"


def test_arrays_in_another_byte_order_are_converted(pb):
    julia = pb.jl.seval(SQUARE)
    assert pb.crosscheck(square, julia, [np.array([1.0, 2.0], ">f8")]).verdict == "agree"


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ma.array([1.0, 2.0], mask=[0, 1]), "argument 1 is a masked array"),
        (np.array([1j, 2.0]), "argument 1 has the element type complex128; expected one of"),
        (np.array([1.0], np.longdouble), "argument 1 has the element type float128; expected one of"),
        (np.array(["a"]), "argument 1 has the element type <U1"),
    ],
)
def test_arrays_that_mxnet_has_nothing_for_are_refused(pb, x, message):
    with pytest.raises(TypeError, match=message):
        pb.crosscheck(square, None, [x])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rtol": -1}, "rtol is -1; expected a finite number, not negative"),
        ({"rtol": float("nan")}, "rtol is nan"),
        ({"atol": "1"}, "atol is '1'"),
        ({"seed": -1}, "seed is -1; expected a whole number"),
        ({"grads": [0, 0]}, "expected different positions"),
        ({"grads": "first"}, "expected 'all' or positions"),
        ({"grads": 0.5}, "expected 'all' or positions"),
        ({"dtype": "int32"}, "dtype is int32; expected float16, float32 or float64"),
    ],
)
def test_options_out_of_range_are_refused(pb, options, message):
    with pytest.raises(ValueError, match=message):
        pb.crosscheck(square, None, [np.ones(2)], **options)


def test_positions_may_be_numpy_integers(pb):
    report = pb.crosscheck(lambda a, b: a * b, None, [np.ones(2), np.ones(2)], grads=np.int64(1))
    assert [j.argument for j in report.gradients] == ["argument 2"]
