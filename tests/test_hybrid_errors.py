"""What goes wrong in a hybridized net: the error comes out of the call that caused it, and the next call works."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from gluon_blocks import HYBRID_WAYS, WAYS, X, block, dense, hybridize, load_gluon_layers, step


@pytest.fixture(autouse=True)
def julia_layers(pb, clean_flags):
    return load_gluon_layers(pb)


@pytest.fixture(params=list(WAYS))
def way(request):
    return request.param


# --- exceptions -------------------------------------------------------------------------------------------


def test_an_error_in_forward_comes_out_of_the_call_and_the_next_works(pb, mx, julia_layers, way):
    net = mx.gluon.nn.HybridSequential()
    net.add(block(pb, "Square"), block(pb, "Fails", where="forward"), block(pb, "Square"))
    hybridize(net, way)
    x = mx.nd.array(X)
    x.attach_grad()
    for _ in range(2):
        for recording in (False, True):
            julia_layers.failing(True)
            with pytest.raises(pb.JuliaError, match="no forward today"):
                with mx.autograd.record(recording):
                    net(x)
            assert not mx.autograd.is_recording()
            mx.nd.waitall()
            julia_layers.failing(False)
            np.testing.assert_array_equal(step(pb, net, x)[0], 4 * X**4)
            np.testing.assert_array_equal(x.grad.asnumpy(), 16 * X**3)


def test_an_error_in_backward_comes_out_of_backward_and_the_next_works(pb, mx, julia_layers, way):
    net = mx.gluon.nn.HybridSequential()
    net.add(block(pb, "Square"), block(pb, "Fails"), block(pb, "Square"))
    hybridize(net, way)
    x = mx.nd.array(X)
    x.attach_grad()
    for _ in range(2):
        julia_layers.failing(True)
        with mx.autograd.record():
            y = net(x)
        np.testing.assert_array_equal(y.asnumpy(), 4 * X**4)
        with pytest.raises(pb.JuliaError, match="no backward today"):
            y.backward()
        assert np.isnan(x.grad.asnumpy()).all()
        mx.nd.waitall()
        julia_layers.failing(False)
        np.testing.assert_array_equal(step(pb, net, x)[0], 4 * X**4)
        np.testing.assert_array_equal(x.grad.asnumpy(), 16 * X**3)


def test_a_python_error_in_a_layer_comes_out_as_itself(pb, mx, way):
    class Mine(Exception):
        pass

    raised = []

    def refuse():
        if raised:
            raise raised[0]

    net = hybridize(block(pb, "Hook", onforward=refuse), way)
    x = mx.nd.array(X)
    net(x)
    for error in (Mine("today"), KeyboardInterrupt(), SystemExit(3)):
        raised[:] = [error]
        with pytest.raises(type(error)) as caught:
            net(x)
        assert caught.value is error
        raised.clear()
        np.testing.assert_array_equal(net(x).asnumpy(), 2 * X)


@pytest.mark.parametrize("kind", HYBRID_WAYS)
@pytest.mark.parametrize("language", ["python", "julia"])
@pytest.mark.parametrize("name", ["Hook", "Unspecified"])
def test_a_wait_for_everything_is_refused_in_the_forward_that_it_would_wait_for(pb, mx, name, kind, language):
    wait = mx.nd.waitall if language == "python" else pb.jl.seval("PyBridge.mx.waitall")
    refused = (
        rf"waitall\(\) inside the {{}} of Julia function GluonLayers\.{name} would wait for that {{}} itself"
    )
    x = mx.nd.array(X)
    x.attach_grad()
    # Without an outputspec it is run when the shapes of its results are asked for, before any forward.
    with pytest.raises((pb.GraphError, pb.JuliaError), match=refused.format("forward", "forward")):
        hybridize(block(pb, name, onforward=wait), kind)(x)
    net = hybridize(block(pb, name, onbackward=wait), kind)
    with pb.record():
        y = net(x)
    with pytest.raises((pb.GraphError, pb.JuliaError), match=refused.format("backward", "backward")):
        y.backward()
    np.testing.assert_array_equal(step(pb, hybridize(block(pb, name), kind), x)[0], 2 * X)


@pytest.mark.parametrize("how", ["size", "type", "count", "text", "throws"])
@pytest.mark.parametrize("kind", HYBRID_WAYS)
def test_an_outputspec_that_does_not_hold_is_an_error_that_names_it(pb, mx, how, kind):
    net = hybridize(block(pb, "WrongSpec", how=how), kind)
    for _ in range(2):
        with pytest.raises((ValueError, TypeError, pb.JuliaError)) as caught:
            net(mx.nd.array(X)).wait_to_read()
        message = str(caught.value)
        assert ("no specification today" if how == "throws" else "WrongSpec") in message
        if how in ("size", "type", "count"):
            assert "outputspec" in message
    good = hybridize(block(pb, "WrongSpec", how="right"), kind)
    np.testing.assert_array_equal(good(mx.nd.array(X)).asnumpy(), 2 * X)


def test_second_order_is_a_clear_error(pb, mx, way):
    net = hybridize(block(pb, "Square"), way)
    x = mx.nd.array(X)
    x.attach_grad()
    with pytest.raises(mx.base.MXNetError, match=r"(?i)create_graph|differentiable"):
        with mx.autograd.record():
            y = net(x)
            (z,) = mx.autograd.grad(y, [x], create_graph=True, retain_graph=True)
            z.backward()
    np.testing.assert_array_equal(step(pb, net, x)[0], X * X)


def test_autograd_grad_gives_gradients_without_touching_the_leaf(pb, mx, way):
    net = hybridize(block(pb, "Square"), way)
    x = mx.nd.array(X)
    x.attach_grad()
    with mx.autograd.record():
        y = net(x)
    (gradient,) = mx.autograd.grad(y, [x])
    np.testing.assert_array_equal(gradient.asnumpy(), 2 * X)
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)


# --- bad input --------------------------------------------------------------------------------------------


def test_sparse_input_is_a_clear_error_or_computed_densely(pb, mx, way):
    net = hybridize(block(pb, "Square"), way)
    for stype in ("row_sparse", "csr"):
        x = mx.nd.array(X).tostype(stype)
        if way == "eager":
            with pytest.raises(ValueError, match=r"GluonLayers\.Square: argument 1 .*sparse"):
                net(x)
        else:
            np.testing.assert_array_equal(net(x).asnumpy(), X * X)
    np.testing.assert_array_equal(net(mx.nd.array(X)).asnumpy(), X * X)


def test_what_is_no_array_is_a_clear_error(pb, mx, way):
    net = hybridize(block(pb, "Square"), way)
    for wrong in (X, [1.0, 2.0], "text", None):
        with pytest.raises((TypeError, ValueError, AssertionError)):
            net(wrong)
    np.testing.assert_array_equal(net(mx.nd.array(X)).asnumpy(), X * X)


@pytest.mark.parametrize(
    ("wrong", "error", "words"),
    [
        ({"target": 5}, TypeError, ["5", "CustomFunction"]),
        ({"target": "not a name"}, ValueError, ["JuliaBlock", "target", "not a name"]),
        ({"params": 5}, TypeError, ["params"]),
        ({"params": {"a b": (3,)}}, ValueError, ["params", "a b"]),
        ({"params": {5: (3,)}}, ValueError, ["params", "5"]),
        ({"params": {"weight": "three"}}, ValueError, ["weight", "three"]),
        ({"params": {"weight": (-3,)}}, ValueError, ["weight", "-3"]),
        ({"params": {"weight": (2.5,)}}, ValueError, ["weight", "2.5"]),
        ({"params": {"weight": {"shap": (3,)}}}, TypeError, ["weight", "shap"]),
        ({"params": {"weight": (3,)}, "aux": {"weight": (3,)}}, ValueError, ["weight"]),
        ({"params": {"weight": (3,)}, "outputs": 0}, ValueError, ["outputs", "0"]),
        ({"params": {"weight": (3,)}, "outputs": 1.5}, ValueError, ["outputs", "1.5"]),
        ({"params": {"weight": (3,)}, "layout": "c"}, ValueError, ["layout", "c"]),
        ({"params": {"weight": (3,)}, "shared": 5}, TypeError, ["shared", "int"]),
        ({"params": {"weight": {"shape": (3,), "stype": "row_sparse"}}}, ValueError, ["weight", "sparse"]),
    ],
)
def test_bad_arguments_are_errors_that_name_them(pb, wrong, error, words):
    arguments = {"target": "GluonLayers.Scale", **wrong}
    with pytest.raises(error) as caught:
        pb.gluon.JuliaBlock(arguments.pop("target"), **arguments)
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["F", "self", "x", "params", "hybrid_forward", "name", "α", "first.weight"])
def test_a_parameter_may_have_any_name(pb, mx, name):
    layer = block(pb, "Scale", {name: {"shape": (3,), "init": mx.init.Constant(2)}})
    layer.initialize()
    for kind in WAYS:
        np.testing.assert_array_equal(step(pb, hybridize(layer, kind), mx.nd.array(X))[0], 2 * X)


def test_a_name_that_means_nothing_usable_is_an_error_at_the_call(pb, mx, way):
    for name, error in (("Absent", ValueError), ("CALLS", TypeError)):
        net = hybridize(block(pb, name), way)
        with pytest.raises(error, match=rf"GluonLayers\.{name}"):
            net(mx.nd.array(X))


# --- copies, hooks, flags ---------------------------------------------------------------------------------


def test_hooks_of_gluon_run(pb, mx, way):
    net = hybridize(dense(pb, 5, 3), way)
    net.initialize()
    seen = []
    net.register_forward_pre_hook(lambda b, xs: seen.append("before"))
    net.register_forward_hook(lambda b, xs, y: seen.append(y.shape))
    net(mx.nd.array(X))
    assert seen == ["before", (2, 5)]


def test_the_monitors_op_hook_sees_the_julia_node(pb, mx):
    net = mx.gluon.nn.HybridSequential()
    net.add(block(pb, "Square"), mx.gluon.nn.Dense(2, in_units=3))
    net.initialize()
    net.hybridize()
    x = mx.nd.array(X)
    net(x)
    seen = []
    net.register_op_hook(lambda name, opr, array: seen.append((str(name), str(opr))), monitor_all=True)
    net(x).wait_to_read()
    assert len(seen) >= 2
    np.testing.assert_array_equal(net[0](x).asnumpy(), X * X)


def test_hybridizing_again_and_casting_afterwards(pb, mx, way):
    net = hybridize(hybridize(dense(pb, 5, 3), way), way)
    net.initialize(mx.init.One())
    np.testing.assert_allclose(step(pb, net, mx.nd.array(X))[0], np.tile(X.sum(1)[:, None], 5), rtol=1e-6)
    net.cast("float64")
    (y,) = step(pb, net, mx.nd.array(X, dtype="float64"))
    assert y.dtype == np.float64
    hybridize(net, "hybrid")
    np.testing.assert_allclose(step(pb, net, mx.nd.array(X, dtype="float64"))[0], y, rtol=1e-15)


def test_blocks_are_copied_and_pickled_or_say_why_not(pb, mx):
    layer = dense(pb, 5, 3)
    layer.initialize(mx.init.One())
    x = mx.nd.array(X)
    for make in (copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))):
        try:
            twin = make(layer)
        except (TypeError, RuntimeError) as error:
            assert "JuliaBlock" in str(error)
        else:
            np.testing.assert_array_equal(twin(x).asnumpy(), layer(x).asnumpy())
            twin.weight.set_data(mx.nd.zeros((5, 3)))
            assert layer.weight.data().asnumpy().all()


def test_a_gpu_context_is_a_clear_error(pb, mx):
    layer = dense(pb, 5, 3)
    with pytest.raises((ValueError, mx.base.MXNetError), match=r"(?i)gpu"):
        layer.initialize(ctx=mx.gpu(0))
        layer(mx.nd.array(X))
