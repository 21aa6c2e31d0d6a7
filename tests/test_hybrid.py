"""Hybridized nets with Julia layers: the numbers of the eager net to the bit, under all flags and in all modes."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from gluon_blocks import (
    HYBRID_WAYS,
    WAYS,
    X,
    assert_same,
    block,
    copy_values,
    dense,
    gradients,
    hybridize,
    load_gluon_layers,
    step,
)
from measures import collect_garbage


@pytest.fixture(autouse=True)
def julia_layers(pb):
    return load_gluon_layers(pb)


@pytest.fixture(params=HYBRID_WAYS)
def way(request):
    return request.param


def mlp(pb, mx, dtype="float32"):
    """Native and Julia layers in turn."""
    net = mx.gluon.nn.HybridSequential()
    net.add(
        mx.gluon.nn.Dense(4, activation="tanh"),
        dense(pb),
        block(pb, "Swish", {"beta": {"shape": (1,), "init": "ones"}}),
        mx.gluon.nn.Dense(2),
        block(pb, "Scale", {"weight": (0,)}),
    )
    net.initialize(mx.init.Normal(0.5))
    net.cast(dtype)
    net(mx.nd.array(X, dtype=dtype))
    return net


def twins(pb, mx, way, dtype="float32"):
    """The same net twice, eager and hybridized."""
    eager, net = mlp(pb, mx, dtype), hybridize(mlp(pb, mx, dtype), way)
    copy_values(eager, net)
    return eager, net


# --- the same numbers -------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_net_of_native_and_julia_layers_computes_the_same_hybridized(pb, mx, way, dtype):
    eager, net = twins(pb, mx, way, dtype)
    for _ in range(3):
        a, b = (mx.nd.array(X, dtype=dtype) for _ in "ab")
        a.attach_grad()
        b.attach_grad()
        assert_same(step(pb, net, b), step(pb, eager, a))
        assert_same(gradients(net), gradients(eager))
        assert_same(b.grad.asnumpy(), a.grad.asnumpy())
    assert_same(net(b).asnumpy(), eager(a).asnumpy())
    net.hybridize(False)
    assert_same(net(b).asnumpy(), eager(a).asnumpy())


def test_float16_computes_the_same_hybridized(pb, mx, way):
    eager, net = (block(pb, "Scale", {"weight": {"shape": (3,), "init": "ones"}}) for _ in "ab")
    for layer in (eager, net):
        layer.cast("float16")
        layer.initialize()
    hybridize(net, way)
    x = mx.nd.array(X, dtype="float16")
    (y,) = step(pb, net, x)
    assert y.dtype == np.float16
    assert_same(y, step(pb, eager, x)[0])
    assert_same(gradients(net), gradients(eager))


def test_the_batch_size_may_change_from_call_to_call(pb, mx, way):
    eager, net = twins(pb, mx, way)
    for batch in (2, 5, 1, 5, 2):
        x = np.random.default_rng(batch).normal(size=(batch, 3))
        assert_same(step(pb, net, mx.nd.array(x)), step(pb, eager, mx.nd.array(x)))
        assert_same(gradients(net), gradients(eager))


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2, 3), (2, 1, 2, 3)])
def test_the_number_of_dimensions_may_change_from_call_to_call(pb, mx, way, shape):
    net = hybridize(block(pb, "Square"), way)
    for s in ((5, 2), shape, (5, 2)):
        x = mx.nd.array(np.random.default_rng(1).normal(size=s))
        x.attach_grad()
        (y,) = step(pb, net, x)
        assert_same(y, (x * x).asnumpy())
        assert_same(x.grad.asnumpy(), (2 * x).asnumpy())


def test_two_inputs_and_two_outputs_one_of_them_unused(pb, mx, way):
    eager, net = (
        block(pb, "SumDifference", {"weight": {"shape": (3,), "init": "ones"}}, outputs=2) for _ in "ab"
    )
    for layer in (eager, net):
        layer.initialize()
    hybridize(net, way)
    a, b = mx.nd.array(X), mx.nd.array(X * X)
    found = []
    for layer in (eager, net):
        both = step(pb, layer, a, b)
        grads = [gradients(layer)]
        a.attach_grad()
        b.attach_grad()
        with pb.record():
            _, difference = layer(a, b)
            difference.sum().backward()
        found.append((both, *grads, a.grad.asnumpy(), b.grad.asnumpy(), gradients(layer)))
    for one, other in zip(*found):
        assert_same(one, other)


def test_gradients_with_grad_req_add_accumulate(pb, mx, way):
    net = block(pb, "Scale", {"weight": {"shape": (3,), "grad_req": "add", "init": "ones"}})
    net.initialize()
    hybridize(net, way)
    x = mx.nd.array(X)
    x.attach_grad("add")
    for _ in range(3):
        step(pb, net, x)
    np.testing.assert_allclose(net.weight.grad().asnumpy(), 3 * X.sum(0), rtol=1e-6)
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)


def test_a_retained_graph_gives_the_same_gradients_again(pb, mx, julia_layers):
    for way in ("eager", "hybrid"):  # libmxnet refuses to retain under static_alloc
        net = hybridize(block(pb, "Square"), way)
        x = mx.nd.array(X)
        x.attach_grad()
        with pb.record():
            y = net(x)
        for _ in range(3):
            x.grad[:] = 0
            y.backward(retain_graph=True)
            np.testing.assert_array_equal(x.grad.asnumpy(), 2 * X)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * X)


def test_only_gradients_that_are_asked_for_are_computed(pb, mx, julia_layers, way):
    net = block(pb, "Swish", {"beta": {"shape": (1,), "init": "ones", "grad_req": "null"}})
    net.initialize()
    hybridize(net, way)
    x = mx.nd.array(X)
    x.attach_grad()
    step(pb, net, x)
    assert julia_layers.called() == "array nothing"


def test_numpy_arrays_of_mxnet_go_through(pb, mx, way):
    with mx.util.np_shape(True), mx.util.np_array(True):
        net = hybridize(block(pb, "Square"), way)
        for shape in ((2, 3), (), (0, 3), (1,)):
            x = mx.np.ones(shape) * 3
            x.attach_grad()
            with pb.record():
                y = net(x)
            pb.backward(y)
            assert type(y) is mx.np.ndarray
            assert y.shape == x.grad.shape == shape
            np.testing.assert_array_equal(y.asnumpy(), 9)
            np.testing.assert_array_equal(x.grad.asnumpy(), 6)


def test_the_same_block_twice_in_one_graph(pb, mx, way):
    layer = block(pb, "Scale", {"weight": {"shape": (3,), "init": mx.init.Constant(2)}})
    net = mx.gluon.nn.HybridSequential()
    net.add(layer, layer)
    net.initialize()
    hybridize(net, way)
    (y,) = step(pb, net, mx.nd.array(X))
    np.testing.assert_array_equal(y, 4 * X)
    np.testing.assert_allclose(layer.weight.grad().asnumpy(), 4 * X.sum(0), rtol=1e-6)


def test_parameters_get_gradients_where_no_input_wants_one(pb, mx, way):
    layer = block(pb, "Scale", {"weight": {"shape": (3,), "init": "ones"}})
    layer.initialize()
    hybridize(layer, way)
    x = mx.nd.array(X)  # nothing but the parameter wants a gradient
    step(pb, layer, x)
    np.testing.assert_allclose(layer.weight.grad().asnumpy(), X.sum(0), rtol=1e-6)


# --- results that nobody has told of ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(WAYS))
def test_functions_for_some_element_types_need_no_outputspec(pb, mx, kind):
    x = mx.nd.array(X, dtype="float64")
    assert_same(hybridize(block(pb, "Double"), kind)(x).asnumpy(), 2 * X)
    layer = hybridize(block(pb, "Embedding", {"weight": (10, 4)}), kind)
    layer.initialize(mx.init.Normal(1))
    for dtype in ("int32", "int64", "float32"):
        (y,) = step(pb, layer, mx.nd.array([1, 3, 1], dtype=dtype))
        assert_same(y, layer.weight.data().asnumpy()[[1, 3, 1]])
        np.testing.assert_array_equal(layer.weight.grad().asnumpy()[:, 0], [0, 2, 0, 1, 0, 0, 0, 0, 0, 0])


@pytest.mark.parametrize("kind", list(WAYS))
def test_numbers_and_truth_values_have_the_shapes_and_types_of_the_eager_call(pb, mx, kind):
    assert hybridize(block(pb, "Sum"), kind)(mx.nd.array(X)).shape == (1,)
    with mx.util.np_shape(True), mx.util.np_array(True):
        y = hybridize(block(pb, "Sum"), kind)(mx.np.array(X))
        assert (y.shape, y.item()) == ((), X.sum())
        y = hybridize(block(pb, "Positive"), kind)(mx.np.array(X))
        assert_same(y.asnumpy(), X > 0)


# --- several graphs at once -------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(WAYS))
def test_backward_of_two_nets_in_any_order(pb, mx, kind):
    one, other = (hybridize(block(pb, "Square"), kind) for _ in "ab")
    a, b = mx.nd.array(X), mx.nd.array(5 * X)
    for order in ((0, 1), (1, 0)):
        a.attach_grad()
        b.attach_grad()
        with pb.record():
            ys = one(a), other(b)
        for i in order:
            ys[i].backward()
        np.testing.assert_array_equal(a.grad.asnumpy(), 2 * X)
        np.testing.assert_array_equal(b.grad.asnumpy(), 10 * X)


def test_two_calls_of_one_net_before_their_backwards(pb, mx):
    net = hybridize(block(pb, "Square"), "hybrid")
    a, b = mx.nd.array(X), mx.nd.array(5 * X)
    a.attach_grad()
    b.attach_grad()
    with pb.record():
        ys = net(a), net(b)
    np.testing.assert_array_equal(ys[0].asnumpy(), X * X)
    ys[0].backward()
    ys[1].backward()
    np.testing.assert_array_equal(a.grad.asnumpy(), 2 * X)
    np.testing.assert_array_equal(b.grad.asnumpy(), 10 * X)


def test_what_a_layer_saved_outlives_the_work_of_other_layers_around_it(pb, mx, way):
    """Convolutions keep their results in layouts of their own, and buffers are used again where it is allowed."""

    def net():
        net = mx.gluon.nn.HybridSequential()
        net.add(
            mx.gluon.nn.Conv2D(16, 3, padding=1, in_channels=3),
            block(pb, "Square"),
            mx.gluon.nn.Conv2D(16, 3, padding=1, in_channels=16),
            block(pb, "Square"),
            mx.gluon.nn.Conv2D(8, 3, padding=1, in_channels=16),
            mx.gluon.nn.Activation("relu"),
            block(pb, "Square"),
        )
        net.initialize(mx.init.Normal(0.1))
        return net

    class Native(mx.gluon.HybridBlock):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def hybrid_forward(self, F, x):
            for part in self.net:
                x = F.square(x) if isinstance(part, pb.gluon.JuliaBlock) else part(x)
            return x

    julia, reference = net(), net()
    copy_values(julia, reference)
    hybridize(julia, way)
    native = hybridize(Native(reference), way)
    for size in (8, 8, 6):
        x = mx.nd.array(np.random.default_rng(size).normal(size=(2, 3, size, size)))
        np.testing.assert_allclose(step(pb, julia, x)[0], step(pb, native, x)[0], rtol=1e-4, atol=1e-6)
        expected = gradients(reference)
        for name, gradient in gradients(julia).items():
            scale = np.abs(expected[name]).max()
            np.testing.assert_allclose(gradient, expected[name], rtol=1e-3, atol=1e-5 * scale)


def test_arrays_and_gradients_of_eager_convolutions_arrive_whole(pb, mx, way):
    before, after = (mx.gluon.nn.Conv2D(16, 3, padding=1, in_channels=16) for _ in "ab")
    for conv in (before, after):
        conv.initialize(mx.init.Normal(0.1))
    julia = hybridize(block(pb, "Square"), way)
    for seed in range(4):
        found = []
        for middle in (julia, mx.nd.square):
            x = mx.nd.array(np.random.default_rng(seed).normal(size=(2, 16, 6, 6)))
            x.attach_grad()
            found.append((*step(pb, lambda a, f=middle: after(f(before(a))), x), x.grad.asnumpy()))
        for one, other in zip(*found):
            np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5 * np.abs(other).max())


def test_graphs_outlive_the_net_that_made_them(pb, mx, way):
    x = mx.nd.array(X)
    x.attach_grad()
    net = hybridize(block(pb, "Square"), way)
    with pb.record():
        y = net(x) * 3
    del net
    collect_garbage(pb, mx)
    y.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 6 * X)
    del y
    gc.collect()


def test_collections_inside_forward_and_backward_do_no_harm(pb, mx, way):
    net = mx.gluon.nn.HybridSequential()
    net.add(block(pb, "Collect"), block(pb, "Square"), block(pb, "Collect"))
    hybridize(net, way)
    x = mx.nd.array(X)
    x.attach_grad()
    for _ in range(3):
        gc.collect()
        np.testing.assert_array_equal(step(pb, net, x)[0], 8 * X * X)
        np.testing.assert_array_equal(x.grad.asnumpy(), 16 * X)
