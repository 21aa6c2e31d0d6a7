"""Julia structs that hand over their own fields as parameters, with the memory of Julia's arrays."""

from __future__ import annotations

import numpy as np
import pytest
from gluon_blocks import WAYS, X, hybridize, load_gluon_layers, step
from measures import address, collect_garbage

W = np.array([[1.0, 2], [3, 4], [5, 6]])
B = np.array([0.0, 1, 2])
TWO = X[:, :2].copy()


@pytest.fixture(autouse=True)
def julia_layers(pb):
    return load_gluon_layers(pb)


@pytest.fixture
def numeric(pb):
    return pb.jl.seval("GluonLayers.Numeric")


def names(layer):
    return [name[len(layer.prefix) :] for name in layer.collect_params()]


def test_fields_become_parameters_with_their_names_and_values(pb, mx, julia_layers, numeric):
    struct = julia_layers.affine()
    layer = pb.gluon.JuliaBlock(struct, ad=numeric)
    assert names(layer) == ["weight", "bias"]
    layer.initialize()
    assert layer.weight.shape == (2, 3)  # Julia's (3, 2) read by rows
    np.testing.assert_array_equal(layer.weight.data().asnumpy(), W.T)
    np.testing.assert_array_equal(layer.bias.data().asnumpy(), B)
    np.testing.assert_allclose(layer(mx.nd.array(TWO, dtype="float64")).asnumpy(), TWO @ W.T + B, rtol=1e-14)


def test_the_struct_that_is_called_has_the_memory_of_the_parameters(pb, mx, julia_layers, numeric):
    layer = pb.gluon.JuliaBlock(julia_layers.affine(), ad=numeric)
    layer.initialize()
    for hybrid in (False, True):
        layer.hybridize(hybrid)
        layer(mx.nd.array(TWO, dtype="float64"))
        assert julia_layers.addresses() == f"{address(layer.weight.data())} {address(layer.bias.data())}"


@pytest.mark.parametrize("way", WAYS)
def test_gradients_of_fields_come_from_the_ad_module(pb, mx, julia_layers, numeric, way):
    layer = hybridize(pb.gluon.JuliaBlock(julia_layers.affine(), ad=numeric), way)
    layer.initialize()
    x = mx.nd.array(TWO, dtype="float64")
    x.attach_grad()
    (y,) = step(pb, layer, x)
    np.testing.assert_allclose(y, TWO @ W.T + B, rtol=1e-14)
    np.testing.assert_allclose(x.grad.asnumpy(), np.broadcast_to(W.sum(0), TWO.shape), rtol=1e-9)
    np.testing.assert_allclose(
        layer.weight.grad().asnumpy(), np.broadcast_to(TWO.sum(0)[:, None], (2, 3)), rtol=1e-9
    )
    np.testing.assert_allclose(layer.bias.grad().asnumpy(), 2, rtol=1e-9)


def test_nested_fields_have_dotted_names_and_gradients(pb, mx, julia_layers, numeric):
    layer = pb.gluon.JuliaBlock(julia_layers.chain(), ad=numeric)
    assert names(layer) == ["first.weight", "first.bias", "second.weight", "second.bias", "rest.1"]
    layer.initialize()
    x = mx.nd.array(TWO, dtype="float64")
    (y,) = step(pb, layer, x)
    hidden = TWO @ W.T + B
    scale = np.array([2.0, 3.0])
    np.testing.assert_allclose(y, (hidden @ np.ones((3, 2)) + [0.5, 0.25]) * scale, rtol=1e-13)
    grads = {name[len(layer.prefix) :]: p.grad().asnumpy() for name, p in layer.collect_params().items()}
    np.testing.assert_allclose(grads["second.bias"], 2 * scale, rtol=1e-8)
    np.testing.assert_allclose(grads["first.bias"], 2 * scale.sum(), rtol=1e-8)
    np.testing.assert_allclose(grads["rest.1"], (y / scale).sum(0), rtol=1e-8)
    np.testing.assert_allclose(grads["second.weight"], hidden.sum(0)[:, None] * scale, rtol=1e-8)


def test_training_moves_the_parameters_and_they_are_saved(pb, mx, julia_layers, numeric, tmp_path):
    layer = pb.gluon.JuliaBlock(julia_layers.affine(), ad=numeric)
    layer.initialize()
    trainer = mx.gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.5})
    step(pb, layer, mx.nd.array(TWO, dtype="float64"))
    trainer.step(1)
    np.testing.assert_allclose(layer.bias.data().asnumpy(), B - 0.5 * 2, rtol=1e-9)
    np.testing.assert_allclose(
        layer(mx.nd.zeros((1, 2), dtype="float64")).asnumpy(), [B - 0.5 * 2], rtol=1e-9
    )
    layer.save_parameters(str(tmp_path / "affine"))
    other = pb.gluon.JuliaBlock(julia_layers.affine(), ad=numeric)
    other.load_parameters(str(tmp_path / "affine"))
    np.testing.assert_array_equal(other.bias.data().asnumpy(), layer.bias.data().asnumpy())


def test_the_values_survive_when_nothing_else_holds_the_struct(pb, mx, julia_layers, numeric):
    layer = pb.gluon.JuliaBlock(julia_layers.affine(), ad=numeric)
    layer.initialize()
    collect_garbage(pb, mx)
    pb.jl.seval("for _ in 1:100; zeros(3, 2); end")
    np.testing.assert_array_equal(layer.weight.data().asnumpy(), W.T)


@pytest.mark.parametrize("maker", ["tied", "overlapping"])
def test_fields_that_are_the_same_array_are_refused(pb, julia_layers, numeric, maker):
    with pytest.raises(ValueError, match=r"one.*other"):
        pb.gluon.JuliaBlock(getattr(julia_layers, maker)(), ad=numeric)


def test_a_struct_without_a_gradient_says_what_was_looked_for(pb, mx, julia_layers):
    with pytest.raises(TypeError) as caught:
        layer = pb.gluon.JuliaBlock(julia_layers.affine())
        layer.initialize()
        step(pb, layer, mx.nd.array(TWO, dtype="float64"))
    for word in ("Affine", "rrule", "ad="):
        assert word in str(caught.value)


def test_values_of_the_fields_go_before_the_initializer_of_initialize(pb, mx, julia_layers, numeric):
    layer = pb.gluon.JuliaBlock(julia_layers.affine(), ad=numeric)
    layer.initialize(mx.init.Zero())
    np.testing.assert_array_equal(layer.bias.data().asnumpy(), B)
    layer.bias.set_data(mx.nd.ones(3, dtype="float64"))
    np.testing.assert_array_equal(layer(mx.nd.zeros((1, 2), dtype="float64")).asnumpy(), 1)
