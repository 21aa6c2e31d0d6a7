"""Layers with states and modes: running statistics, is_training, reproducible noise; eager and hybridized."""

from __future__ import annotations

import numpy as np
import pytest
from gluon_blocks import WAYS, block, hybridize, load_gluon_layers, step

SAMPLES = np.random.default_rng(7).normal(2, 3, (4, 6, 3))


@pytest.fixture(autouse=True)
def julia_layers(pb):
    return load_gluon_layers(pb)


@pytest.fixture(params=list(WAYS))
def way(request):
    return request.param


def norm(pb):
    return block(
        pb,
        "Norm",
        {"gamma": {"shape": (0,), "init": "ones"}, "beta": {"shape": (0,), "init": "zeros"}},
        aux={"running_mean": (0,), "running_var": {"shape": (0,), "init": "ones"}},
        momentum=0.875,
        eps=2**-10,
    )


# --- running statistics -----------------------------------------------------------------------------------


def test_a_norm_in_julia_computes_and_remembers_what_batchnorm_does(pb, mx, way):
    native = mx.gluon.nn.BatchNorm(momentum=0.875, epsilon=2**-10)  # exact in float32, in which it keeps them
    native.initialize()
    native.cast("float64")
    julia = hybridize(norm(pb), way)
    julia.initialize()
    julia.cast("float64")
    for samples in SAMPLES:
        x, z = (mx.nd.array(samples, dtype="float64") for _ in "xz")
        x.attach_grad()
        z.attach_grad()
        weights = mx.nd.array(np.linspace(0, 2, 18).reshape(6, 3), dtype="float64")
        with pb.record():
            y, reference = julia(x), native(z)
            losses = (y * y * weights).sum(), (reference * reference * weights).sum()
        mx.autograd.backward(losses)
        np.testing.assert_allclose(y.asnumpy(), reference.asnumpy(), rtol=1e-9)
        np.testing.assert_allclose(x.grad.asnumpy(), z.grad.asnumpy(), rtol=1e-7, atol=1e-10)
        for name in ("gamma", "beta"):
            ours, theirs = getattr(julia, name), getattr(native, name)
            np.testing.assert_allclose(ours.grad().asnumpy(), theirs.grad().asnumpy(), rtol=1e-8, atol=1e-12)
        for name in ("running_mean", "running_var"):
            ours, theirs = getattr(julia, name), getattr(native, name)
            np.testing.assert_allclose(ours.data().asnumpy(), theirs.data().asnumpy(), rtol=1e-9)
    before = julia.running_mean.data().asnumpy()
    np.testing.assert_allclose(julia(x).asnumpy(), native(x).asnumpy(), rtol=1e-9)
    np.testing.assert_array_equal(julia.running_mean.data().asnumpy(), before)


def test_states_have_no_gradient_and_are_saved_with_the_parameters(pb, mx, tmp_path):
    one = norm(pb)
    one.initialize()
    step(pb, one, mx.nd.array(SAMPLES[0]))
    assert one.running_mean.grad_req == one.running_var.grad_req == "null"
    assert [n[len(one.prefix) :] for n in one.collect_params()] == [
        "gamma",
        "beta",
        "running_mean",
        "running_var",
    ]
    trainer = mx.gluon.Trainer(one.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 0.5})
    mean = one.running_mean.data().asnumpy()
    assert (mean != 0).all()
    trainer.step(1)
    np.testing.assert_array_equal(one.running_mean.data().asnumpy(), mean)
    one.save_parameters(str(tmp_path / "norm"))
    other = norm(pb)
    other.load_parameters(str(tmp_path / "norm"))
    np.testing.assert_array_equal(other.running_mean.data().asnumpy(), mean)


def test_a_state_counts_the_training_calls_and_no_others(pb, mx, way):
    layer = hybridize(block(pb, "Counter", aux={"calls": (1,)}), way)
    layer.initialize(mx.init.Constant(5))
    x = mx.nd.ones((2, 3))
    x.attach_grad()
    for _ in range(3):
        step(pb, layer, x)
        layer(x)
        with mx.autograd.predict_mode():
            layer(x)
    np.testing.assert_array_equal(layer.calls.data().asnumpy(), [3])
    with mx.autograd.train_mode():
        layer(x)
    np.testing.assert_array_equal(layer.calls.data().asnumpy(), [4])


# --- the mode ---------------------------------------------------------------------------------------------


def test_forward_sees_the_mode_of_the_call_and_backward_that_of_the_backward(pb, mx, julia_layers, way):
    net = hybridize(block(pb, "Mode"), way)
    x = mx.nd.ones((1, 1))
    x.attach_grad()
    net(x)
    julia_layers.reset()
    seen = []
    for scope in (
        mx.autograd.record(),
        mx.autograd.record(train_mode=False),
        mx.autograd.train_mode(),
        mx.autograd.predict_mode(),
        mx.autograd.pause(),
        mx.autograd.pause(train_mode=True),
    ):
        with scope:
            seen.append(net(x).asscalar())
    seen.append(net(x).asscalar())
    assert seen == [1, 0, 1, 0, 0, 1, 0]
    assert julia_layers.called() == "true false true false false true false"
    julia_layers.reset()
    with mx.autograd.record():
        y = net(x)
    y.backward()
    assert julia_layers.called() == "true backward:true"


# --- noise ------------------------------------------------------------------------------------------------


def masks(pb, mx, net, calls=3):
    x = mx.nd.ones((8, 16))
    x.attach_grad()
    found = []
    for _ in range(calls):
        (y,) = step(pb, net, x)
        np.testing.assert_array_equal(x.grad.asnumpy(), y)  # the backward uses the mask of its forward
        found.append(y)
    return found


def test_noise_is_reproducible_from_mxnets_seed_and_the_same_in_every_way_of_calling(pb, mx, way):
    net = hybridize(block(pb, "Dropout", rate=0.25), way)
    eager = block(pb, "Dropout", rate=0.25)
    net(mx.nd.ones((8, 16)))
    mx.random.seed(42)
    first = masks(pb, mx, eager)
    assert {0.0, np.float32(1 / 0.75)} == set(np.unique(first))
    assert not np.array_equal(first[0], first[1])
    mx.random.seed(42)
    np.testing.assert_array_equal(masks(pb, mx, net), first)
    mx.random.seed(43)
    assert not np.array_equal(masks(pb, mx, net)[0], first[0])
    np.testing.assert_array_equal(net(mx.nd.ones((8, 16))).asnumpy(), 1)


def test_without_a_seed_every_process_draws_its_own_noise_but_calls_in_one_differ(pb, mx):
    net = block(pb, "Dropout")
    one, other = masks(pb, mx, net, 2)
    assert not np.array_equal(one, other)
