"""Julia layers under gluon.Trainer: every optimizer moves their parameters as it moves those of the native layer."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from gluon_blocks import X, copy_values, dense, hybridize, load_gluon_layers

LABELS = np.array([3.0, 1.0])


@pytest.fixture(autouse=True)
def julia_layers(pb):
    return load_gluon_layers(pb)


def registry() -> list[str]:
    import pybridge  # noqa: F401 - puts NumPy's old names back
    import mxnet as mx  # isort: skip

    return sorted(mx.optimizer.Optimizer.opt_registry)


def train(pb, mx, layer, optimizer, steps=3):
    """The parameters after some steps on two samples, and what the losses were."""
    mx.random.seed(1)  # sgld draws noise
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of MXNet's own, about its own
        trainer = mx.gluon.Trainer(layer.collect_params(), mx.optimizer.create(optimizer))
    losses = []
    for _ in range(steps):
        with mx.autograd.record():
            loss = loss_of(layer(mx.nd.array(X)), mx.nd.array(LABELS))
        loss.backward()
        trainer.step(len(X))
        losses.append(loss.asnumpy())
    return {name: p.data().asnumpy() for name, p in layer._collect_params_with_prefix().items()}, losses


@pytest.mark.parametrize("optimizer", registry())
def test_every_optimizer_moves_the_parameters_as_those_of_the_native_layer(pb, mx, optimizer):
    native = mx.gluon.nn.Dense(5, in_units=3)
    native.initialize(mx.init.Normal(0.5))
    start = {name: p.data().asnumpy() for name, p in native._collect_params_with_prefix().items()}
    julia, hybrid = dense(pb, 5, 3), hybridize(dense(pb, 5, 3), "static_shape")
    for layer in (julia, hybrid):
        layer.initialize()
        copy_values(native, layer)
    if optimizer == "groupadagrad":  # takes matrices alone
        for layer in (native, julia, hybrid):
            layer.bias.grad_req = "null"
    expected, losses = train(pb, mx, native, optimizer)
    assert any((expected[name] != start[name]).any() for name in start)
    for layer in (julia, hybrid):
        found, of_julia = train(pb, mx, layer, optimizer)
        np.testing.assert_allclose(of_julia, losses, rtol=1e-4, atol=1e-6)
        for name in expected:
            np.testing.assert_allclose(found[name], expected[name], rtol=1e-4, atol=1e-5)


def test_a_trainer_with_a_local_kvstore_updates_and_saves_its_states(pb, mx, tmp_path):
    layer = dense(pb, 5, 3)
    layer.initialize()
    trainer = mx.gluon.Trainer(layer.collect_params(), "adam", kvstore="local", update_on_kvstore=False)
    for _ in range(2):
        with mx.autograd.record():
            loss = (layer(mx.nd.array(X)) ** 2).sum()
        loss.backward()
        trainer.allreduce_grads()
        trainer.update(1)
    trainer.save_states(str(tmp_path / "states"))
    trainer.load_states(str(tmp_path / "states"))
    trainer.set_learning_rate(0.5)
    before = layer.bias.data().asnumpy()
    with mx.autograd.record():
        loss = (layer(mx.nd.array(X)) ** 2).sum()
    loss.backward()
    trainer.step(1)
    assert (layer.bias.data().asnumpy() != before).all()


def test_multi_precision_float16_trains_with_a_float32_master_copy(pb, mx):
    layer = dense(pb, 5, 3)
    layer.cast("float16")
    layer.initialize(mx.init.One())
    trainer = mx.gluon.Trainer(
        layer.collect_params(), "sgd", {"learning_rate": 1e-5, "multi_precision": True, "momentum": 0.5}
    )
    for _ in range(200):
        with mx.autograd.record():
            loss = layer(mx.nd.array(X, dtype="float16")).sum()
        loss.backward()
        trainer.step(1)
    # One step is below float16's resolution at 1; only a master copy in float32 adds them up.
    np.testing.assert_allclose(
        layer.weight.data().asnumpy(), np.broadcast_to(1 - 2e-5 * 199 * X.sum(0), (5, 3)), atol=2e-3
    )
    assert (layer.weight.data().asnumpy()[:, 2] < 1).all()
