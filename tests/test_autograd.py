"""The autograd front end: MXNet.jl's names, gradient buffers, backward, grad and the recorded history."""

from __future__ import annotations

import numpy as np
import pytest
from measures import address, assert_plain_words

pytestmark = pytest.mark.usefixtures("clean_flags")


# --- variables --------------------------------------------------------------------------------------------


def test_attach_grad_returns_the_gradient_buffer_itself(pb, front):
    x = front.array([1.0, 2.0, 3.0])
    gradient = pb.attach_grad(x)
    assert type(gradient) is type(x)
    assert gradient.shape == x.shape
    assert gradient.dtype == x.dtype
    np.testing.assert_array_equal(gradient.asnumpy(), 0)
    with pb.record():
        y = x * x
    pb.backward(y)
    np.testing.assert_array_equal(gradient.asnumpy(), [2, 4, 6])
    assert address(gradient) == address(pb.getgrad(x)) == address(x.grad)


def test_attach_grad_again_on_a_leaf_makes_a_new_buffer(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * x
    pb.backward(y)
    gradient = pb.attach_grad(x, "add")
    np.testing.assert_array_equal(gradient.asnumpy(), 0)
    for _ in range(2):
        with pb.record():
            y = x * x
        pb.backward(y)
    np.testing.assert_array_equal(gradient.asnumpy(), [4, 8])


def test_getgrad_is_none_without_a_gradient(pb, front):
    assert pb.getgrad(front.ones(3)) is None


def test_getgrad_knows_buffers_that_mxnet_attached(pb, front):
    x = front.array([1.0, 2.0])
    x.attach_grad()
    with pb.record():
        y = x * 3
    y.backward()
    np.testing.assert_array_equal(pb.getgrad(x).asnumpy(), [3, 3])


@pytest.mark.parametrize(
    ("grad_req", "expected"), [("write", 2), ("add", 4), ("inplace", 2), ("null", 0), ("nop", 0)]
)
def test_two_backwards_honour_the_grad_req(pb, front, grad_req, expected):
    marked, attached = front.array([1.0, 2.0]), front.array([1.0, 2.0])
    other = front.array([1.0, 1.0])
    buffer = front.zeros((2,))
    pb.mark_variables(marked, buffer, grad_req)
    pb.attach_grad(attached, grad_req)
    pb.attach_grad(other)
    for _ in range(2):
        with pb.record():
            y = marked * marked + attached * attached + other
        pb.backward(y)
    np.testing.assert_array_equal(buffer.asnumpy(), np.array([1, 2]) * expected)
    if expected:
        np.testing.assert_array_equal(pb.getgrad(attached).asnumpy(), np.array([1, 2]) * expected)
    np.testing.assert_array_equal(pb.getgrad(other).asnumpy(), 1)


def test_mark_variables_takes_one_or_many_with_one_or_many_grad_reqs(pb, front):
    xs = [front.array([1.0, 2.0]) for _ in range(3)]
    buffers = [front.array([10.0, 10.0]) for _ in range(3)]
    pb.mark_variables(xs, buffers, ["write", "add", "null"])
    with pb.record():
        y = xs[0] * xs[1] * xs[2]
    pb.backward(y)
    np.testing.assert_array_equal(buffers[0].asnumpy(), [1, 4])
    np.testing.assert_array_equal(buffers[1].asnumpy(), [11, 14])
    np.testing.assert_array_equal(buffers[2].asnumpy(), [10, 10])
    pb.mark_variables(xs, buffers, "add")
    with pb.record():
        y = xs[0] * xs[1] * xs[2]
    pb.backward(y)
    np.testing.assert_array_equal(buffers[2].asnumpy(), [11, 14])
    pb.mark_variables(xs[0], buffers[0])
    with pb.record():
        y = xs[0] * 5
    pb.backward(y)
    np.testing.assert_array_equal(buffers[0].asnumpy(), 5)


# --- backward ---------------------------------------------------------------------------------------------


def test_integer_arrays_have_integer_gradients(pb, front):
    x = front.array([[1, 2], [3, 4]], dtype="int64")
    gradient = pb.attach_grad(x)
    with pb.record():
        y = 1 * x * x
    pb.backward(y)
    assert np.dtype(gradient.dtype) == np.int64
    np.testing.assert_array_equal(gradient.asnumpy(), [[2, 4], [6, 8]])


def test_head_gradients_may_be_none_among_several(pb, front):
    x, w = front.array([1.0, 2.0, 3.0]), front.ones(3)
    pb.attach_grad(x)
    pb.attach_grad(w)
    with pb.record():
        heads = [x * 2, w * 3, x * w]
    pb.backward(heads, [None, front.array([1.0, 2.0, 3.0]), None])
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)
    np.testing.assert_array_equal(w.grad.asnumpy(), [4, 8, 12])


def test_one_head_takes_one_head_gradient(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    for head_grads in (front.array([10.0, 100.0]), [front.array([10.0, 100.0])]):
        with pb.record():
            y = x * x
        pb.backward(y, head_grads)
        np.testing.assert_array_equal(x.grad.asnumpy(), [20, 400])


def test_retain_graph_allows_a_second_backward(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x, "add")
    with pb.record():
        y = x * x
    pb.backward(y, retain_graph=True)
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), [4, 8])


def test_a_leaf_may_be_changed_in_place_between_recordings(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    for step in range(3):
        with pb.record():
            y = x * x
        pb.backward(y)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * (np.array([1.0, 2.0]) + step))
        x += 1


def test_recording_mixes_freely_with_mxnet_autograd(pb, mx, front):
    x = front.array([1.0, 2.0])
    for attach in (pb.attach_grad, lambda a: a.attach_grad()):
        for scope in (pb.record, mx.autograd.record):
            for run in (pb.backward, mx.autograd.backward, lambda y: y.backward()):
                attach(x)
                with scope():
                    y = x * x
                    with pb.pause():
                        ignored = x * 100
                    y = y + ignored
                run(y)
                np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_a_gluon_loop_trains_under_our_record(pb, mx):
    mx.random.seed(1)
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize(mx.init.Zero())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    x = mx.nd.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    target = mx.nd.array([[2.0], [-1.0], [1.0]])
    for _ in range(200):
        with pb.record():
            loss = mx.nd.square(net(x) - target).mean()
        pb.backward(loss)
        trainer.step(1)
    np.testing.assert_allclose(net.weight.data().asnumpy(), [[2, -1]], atol=1e-3)
    np.testing.assert_allclose(net.bias.data().asnumpy(), [0], atol=1e-3)


# --- grad -------------------------------------------------------------------------------------------------


def test_grad_returns_gradients_and_leaves_the_buffers_alone(pb, front):
    x, w = front.array([1.0, 2.0]), front.array([3.0, 4.0])
    pb.attach_grad(x)
    pb.attach_grad(w)
    with pb.record():
        y = x * x * w
    many = pb.grad(y, [x, w], retain_graph=True)
    assert isinstance(many, list)
    np.testing.assert_array_equal(many[0].asnumpy(), [6, 16])
    np.testing.assert_array_equal(many[1].asnumpy(), [1, 4])
    one = pb.grad([y], x, head_grads=[front.array([1.0, 10.0])])
    assert type(one) is type(x)
    np.testing.assert_array_equal(one.asnumpy(), [6, 160])
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)
    np.testing.assert_array_equal(w.grad.asnumpy(), 0)


def test_grad_frees_the_graph_unless_told_otherwise(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * x
    pb.grad(y, x)
    with pytest.raises(pb.GraphError, match=r"retain_graph"):
        pb.grad(y, x)


def test_create_graph_gives_second_derivatives_of_native_operators(pb, mx, front):
    x = front.array([0.5, 1.0, 2.0], dtype="float64")
    pb.attach_grad(x)
    with pb.record():
        y = front.sin(x)
        slope = pb.grad(y, x, create_graph=True)
    np.testing.assert_allclose(slope.asnumpy(), np.cos([0.5, 1, 2]), rtol=1e-12)
    pb.backward(slope)
    np.testing.assert_allclose(x.grad.asnumpy(), -np.sin([0.5, 1, 2]), rtol=1e-12)


# --- the recorded history ---------------------------------------------------------------------------------


def test_symbol_is_the_recorded_history_and_computes_the_same(pb, mx):
    x, w = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 4.0])
    pb.attach_grad(x)
    pb.attach_grad(w)
    with pb.record():
        y = mx.nd.square(x) * w
    history = pb.symbol(y)
    assert isinstance(history, mx.sym.Symbol)
    arguments = history.list_arguments()
    assert len(arguments) == 2
    values = dict(zip(arguments, (x, w)))
    np.testing.assert_array_equal(history.bind(mx.cpu(), values).forward()[0].asnumpy(), [3, 16])


def test_julia_nodes_print_in_the_history_and_executing_them_is_a_clear_error(pb, mx, layers):
    x = mx.nd.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = pb.function("TestLayers.Sigmoid")(mx.nd.square(x)) + 1
    history = pb.symbol(y)
    printed = history.debug_str()
    assert "square" in printed
    assert "Sigmoid" in printed or "CustomFunction" in printed
    argument = history.list_arguments()[0]
    with pytest.raises(mx.base.MXNetError, match=r"(?i)julia|sigmoid") as info:
        history.bind(mx.cpu(), {argument: x}).forward()[0].asnumpy()
    assert_plain_words(info.value)
    with pytest.raises(mx.base.MXNetError, match=r"(?i)julia|sigmoid"):
        history.eval(ctx=mx.cpu(), **{argument: x})[0].asnumpy()
    pb.backward(y)
    s = 1 / (1 + np.exp(-np.array([1.0, 4.0])))
    np.testing.assert_allclose(x.grad.asnumpy(), s * (1 - s) * [2, 4], rtol=1e-5)
