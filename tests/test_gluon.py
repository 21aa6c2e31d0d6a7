"""Julia layers as Gluon blocks: their parameters, where they lie, how they are made, saved, shared and shown."""

from __future__ import annotations

import numpy as np
import pytest
from gluon_blocks import X, block, copy_values, dense, gradients, load_gluon_layers, step
from measures import address, numeric_gradient


@pytest.fixture(autouse=True)
def julia_layers(pb):
    return load_gluon_layers(pb)


# --- parameters are Gluon's -------------------------------------------------------------------------------


def test_parameters_are_gluon_parameters_with_names_under_the_prefix(pb, mx):
    layer = block(pb, "Dense", {"weight": (5, 3), "bias": (5,)}, prefix="mine_")
    assert list(layer.collect_params()) == ["mine_weight", "mine_bias"]
    assert all(type(p) is mx.gluon.Parameter for p in layer.collect_params().values())
    assert layer.weight is layer.params.get("weight")
    assert (layer.weight.shape, layer.bias.shape) == ((5, 3), (5,))
    assert isinstance(layer, mx.gluon.HybridBlock)
    one, other = dense(pb), dense(pb)
    assert set(one.collect_params()).isdisjoint(other.collect_params())


def test_shapes_may_hold_numpys_integers_and_be_a_single_one(pb, mx):
    for shape in ((np.int64(3),), np.int32(3), 3, [3]):
        assert block(pb, "Scale", {"weight": shape}).weight.shape == (3,)


def test_parameters_reach_forward_after_the_inputs_in_the_order_of_params(pb, mx):
    layer = block(pb, "Dense", {"z": {"shape": (5, 3)}, "a": {"shape": (5,)}})
    layer.initialize(mx.init.Uniform(1))
    np.testing.assert_allclose(
        layer(mx.nd.array(X)).asnumpy(),
        X @ layer.z.data().asnumpy().T + layer.a.data().asnumpy(),
        rtol=1e-5,
    )


def test_values_and_gradients_are_those_of_the_native_layer(pb, mx):
    native = mx.gluon.nn.Dense(5, in_units=3)
    native.initialize(mx.init.Xavier())
    julia = dense(pb, 5, 3)
    julia.initialize()
    copy_values(native, julia)
    x, y = mx.nd.array(X), mx.nd.array(X)
    x.attach_grad()
    y.attach_grad()
    np.testing.assert_allclose(step(pb, julia, x)[0], step(pb, native, y)[0], rtol=1e-6)
    np.testing.assert_allclose(x.grad.asnumpy(), y.grad.asnumpy(), rtol=1e-6)
    for name, gradient in gradients(native).items():
        np.testing.assert_allclose(gradients(julia)[name], gradient, rtol=1e-6)


def test_gradients_of_parameters_are_those_of_finite_differences(pb, mx):
    layer = block(pb, "Swish", {"beta": {"shape": (1,), "init": mx.init.Constant(0.75)}})
    layer.initialize()
    layer.cast("float64")
    x = mx.nd.array(X, dtype="float64")
    weights = mx.nd.array(np.linspace(1, 2, 6).reshape(2, 3), dtype="float64")
    with pb.record():
        loss = (layer(x) * weights).sum()
    loss.backward()
    found = layer.beta.grad().asnumpy()

    def number(values):
        layer.beta.set_data(mx.nd.array(values, dtype="float64"))
        return (layer(x) * weights).sum().asscalar()

    np.testing.assert_allclose(found, numeric_gradient(number, np.array([0.75])), rtol=1e-8)


@pytest.mark.parametrize("how", ["of the parameter", "of initialize", "set_data"])
def test_initializers_of_gluon_make_the_values(pb, mx, how):
    if how == "of the parameter":
        layer = block(pb, "Scale", {"weight": {"shape": (3,), "init": mx.init.Constant(4)}})
        layer.initialize(mx.init.Zero())
    elif how == "of initialize":
        layer = block(pb, "Scale", {"weight": (3,)})
        layer.initialize(mx.init.Constant(4))
    else:
        layer = block(pb, "Scale", {"weight": (3,)})
        layer.initialize()
        layer.weight.set_data(mx.nd.ones(3) * 4)
    np.testing.assert_array_equal(layer(mx.nd.array(X)).asnumpy(), (4 * X).astype("float32"))


def test_initializers_see_the_names_as_those_of_native_layers(pb, mx):
    mx.random.seed(5)
    native = mx.gluon.nn.Dense(5, in_units=3)
    native.initialize(mx.init.Xavier(), force_reinit=True)
    mx.random.seed(5)
    julia = dense(pb, 5, 3)
    julia.initialize(mx.init.Xavier(), force_reinit=True)
    np.testing.assert_array_equal(julia.weight.data().asnumpy(), native.weight.data().asnumpy())
    np.testing.assert_array_equal(julia.bias.data().asnumpy(), 0)


def test_an_uninitialised_block_says_so(pb, mx):
    with pytest.raises(RuntimeError, match=r"initializ"):
        block(pb, "Scale", {"weight": (3,)})(mx.nd.array(X))


# --- shapes that are not known yet ------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["julia", "python"])
def test_unknown_shapes_come_from_paramshapes_at_the_first_call(pb, mx, layout):
    layer = dense(pb) if layout == "julia" else block(pb, "RowDense", {"weight": (5, 0)}, layout="python")
    layer.initialize()
    with pytest.raises(mx.gluon.parameter.DeferredInitializationError):
        layer.weight.data()
    y = layer(mx.nd.array(X))
    assert y.shape == (2, 5)
    assert layer.weight.shape == (5, 3)
    np.testing.assert_allclose(y.asnumpy(), X @ layer.weight.data().asnumpy().T, rtol=1e-5)


@pytest.mark.parametrize("shape", [None, (0,), (0, 0)])
def test_unknown_shapes_that_no_method_tells_are_an_error_that_names_it(pb, mx, shape):
    layer = block(pb, "Swish", {"beta": {"shape": shape, "allow_deferred_init": True}})
    layer.initialize()
    with pytest.raises(Exception, match=r"paramshapes") as caught:
        layer(mx.nd.array(X))
    assert "Swish" in str(caught.value)


@pytest.mark.parametrize("how", ["name", "dims", "text", "zero", "throws"])
def test_wrong_answers_of_paramshapes_are_errors_that_name_layer_and_parameter(pb, mx, how):
    layer = block(pb, "WrongShapes", {"weight": (0,)}, how=how)
    layer.initialize()
    with pytest.raises((ValueError, TypeError, pb.JuliaError)) as caught:
        layer(mx.nd.array(X))
    expected = {"throws": ["no shapes today"], "text": ["WrongShapes", "paramshapes", "String"]}
    for word in expected.get(how, ["WrongShapes", "paramshapes", "weight"]):
        assert word in str(caught.value)


def test_a_known_dimension_that_paramshapes_contradicts_is_an_error(pb, mx):
    layer = block(pb, "Dense", {"weight": (4, 0), "bias": (4,)})  # the layer says 5 units
    layer.initialize()
    with pytest.raises(ValueError, match=r"weight.*5.*4|weight.*4.*5"):
        layer(mx.nd.array(X))


def test_infer_shape_sets_the_shapes_without_a_call(pb, mx, julia_layers):
    layer = dense(pb)
    layer.infer_shape(mx.nd.array(X))
    assert layer.weight.shape == (5, 3)


# --- one memory -------------------------------------------------------------------------------------------


def test_julia_computes_on_the_memory_of_the_parameters(pb, mx, julia_layers):
    layer = dense(pb, 5, 3)
    layer.initialize()
    layer(mx.nd.array(X)).wait_to_read()
    where = f"{address(layer.weight.data())} {address(layer.bias.data())}"
    assert julia_layers.addresses() == where
    with pb.record():
        layer(mx.nd.array(X)).backward()
    assert julia_layers.addresses() == where
    layer.hybridize()
    layer(mx.nd.array(X)).wait_to_read()
    assert julia_layers.addresses() == where


def test_a_changed_parameter_is_seen_by_the_next_call(pb, mx):
    layer = block(pb, "Scale", {"weight": (3,)})
    layer.initialize(mx.init.One())
    x = mx.nd.array(X)
    np.testing.assert_array_equal(layer(x).asnumpy(), X)
    layer.weight.data()[:] = 2
    np.testing.assert_array_equal(layer(x).asnumpy(), 2 * X)
    layer.weight.set_data(mx.nd.ones(3) * 3)
    np.testing.assert_array_equal(layer(x).asnumpy(), 3 * X)


# --- grad_req, multipliers --------------------------------------------------------------------------------


def test_grad_req_null_write_and_add_are_honoured(pb, mx, julia_layers):
    x = mx.nd.array(X)
    for grad_req, factor in (("write", 1), ("add", 3)):
        layer = block(pb, "Scale", {"weight": {"shape": (3,), "grad_req": grad_req}})
        layer.initialize(mx.init.One())
        for _ in range(3):
            step(pb, layer, x)
        np.testing.assert_allclose(layer.weight.grad().asnumpy(), factor * X.sum(0), rtol=1e-6)
    frozen = block(pb, "Swish", {"beta": {"shape": (1,), "grad_req": "null", "init": "ones"}})
    frozen.initialize()
    x.attach_grad()
    step(pb, frozen, x)
    assert julia_layers.called().endswith("array nothing")
    with pytest.raises(RuntimeError):
        frozen.beta.grad()


def test_lr_mult_and_wd_mult_reach_the_trainer(pb, mx):
    layer = block(
        pb,
        "Dense",
        {
            "weight": {"shape": (5, 3), "lr_mult": 0.0, "wd_mult": 0.0},
            "bias": {"shape": (5,), "lr_mult": 2.0, "wd_mult": 3.0, "init": "ones"},
        },
    )
    layer.initialize()
    before = layer.weight.data().asnumpy()
    trainer = mx.gluon.Trainer(layer.collect_params(), "sgd", {"learning_rate": 0.1, "wd": 0.01})
    step(pb, layer, mx.nd.array(X))
    trainer.step(1)
    np.testing.assert_array_equal(layer.weight.data().asnumpy(), before)
    # b ← b - 2 · 0.1 · (∂b + 3 · 0.01 · b), with ∂b the number of samples
    np.testing.assert_allclose(layer.bias.data().asnumpy(), 1 - 0.2 * (2 + 0.03), rtol=1e-6)


# --- saved, shared, cast, shown ---------------------------------------------------------------------------


def test_saved_parameters_load_into_another_block_and_into_the_native_one(pb, mx, tmp_path):
    one = mx.gluon.nn.HybridSequential()
    one.add(dense(pb, prefix="a_"), mx.gluon.nn.Dense(2))
    one.initialize(mx.init.Xavier())
    x = mx.nd.array(X)
    y = one(x).asnumpy()
    one.save_parameters(str(tmp_path / "net.params"))
    other = mx.gluon.nn.HybridSequential()
    other.add(dense(pb, prefix="b_"), mx.gluon.nn.Dense(2))
    other.load_parameters(str(tmp_path / "net.params"))
    np.testing.assert_array_equal(other(x).asnumpy(), y)
    native = mx.gluon.nn.HybridSequential()
    native.add(mx.gluon.nn.Dense(5), mx.gluon.nn.Dense(2))
    native.load_parameters(str(tmp_path / "net.params"))
    np.testing.assert_allclose(native(x).asnumpy(), y, rtol=1e-5)


@pytest.mark.parametrize("by", ["block", "params"])
def test_two_blocks_share_parameters_and_gradients_add_up_over_both(pb, mx, by):
    one = block(pb, "Scale", {"weight": {"shape": (3,), "init": mx.init.Constant(2)}}, prefix="one_")
    shared = one if by == "block" else one.params
    other = block(pb, "Scale", {"weight": (3,)}, prefix="other_", shared=shared)
    assert other.weight is one.weight
    one.initialize()
    np.testing.assert_array_equal(step(pb, lambda a: other(one(a)), mx.nd.array(X))[0], 4 * X)
    np.testing.assert_allclose(one.weight.grad().asnumpy(), 4 * X.sum(0), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float64", "float16"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_cast_changes_the_dtype_of_the_whole_computation(pb, mx, dtype, when):
    layer = dense(pb)
    if when == "before":
        layer.cast(dtype)
        layer.initialize(mx.init.Xavier())
    else:
        layer.initialize(mx.init.Xavier())
        layer(mx.nd.array(X))
        layer.cast(dtype)
    x = mx.nd.array(X, dtype=dtype)
    (y,) = step(pb, layer, x)
    assert y.dtype == layer.weight.data().asnumpy().dtype == layer.weight.grad().asnumpy().dtype == dtype
    exact = X @ layer.weight.data().asnumpy().astype("float64").T
    np.testing.assert_allclose(
        y, exact, rtol=1e-13 if dtype == "float64" else 1e-2, atol=1e-15 if dtype == "float64" else 2e-3
    )
    np.testing.assert_array_equal(layer.bias.grad().asnumpy(), 2)


def test_repr_names_the_julia_layer_and_its_parameters_shapes(pb, mx):
    layer = dense(pb, prefix="mine_")
    assert "GluonLayers.Dense" in repr(layer)
    net = mx.gluon.nn.HybridSequential()
    net.add(layer)
    assert "GluonLayers.Dense" in repr(net)


def test_summary_counts_the_parameters(pb, mx, capsys):
    net = mx.gluon.nn.HybridSequential()
    net.add(dense(pb), mx.gluon.nn.Dense(2))
    net.initialize()
    net.summary(mx.nd.array(X))
    out = capsys.readouterr().out
    assert "JuliaBlock" in out
    assert f"Total params: {5 * 3 + 5 + 2 * 5 + 2}" in " ".join(out.split())


# --- inputs and outputs, places ---------------------------------------------------------------------------


def test_a_layer_with_two_inputs_and_two_outputs(pb, mx):
    layer = block(pb, "SumDifference", {"weight": (0,)}, outputs=2)
    layer.initialize(mx.init.Constant(3))
    a, b = mx.nd.array(X), mx.nd.array(X * X)
    a.attach_grad()
    b.attach_grad()
    sums, differences = step(pb, layer, a, b)
    np.testing.assert_array_equal(sums, 3 * X + X * X)
    np.testing.assert_array_equal(differences, 3 * X - X * X)
    np.testing.assert_array_equal(a.grad.asnumpy(), 9)  # the second result counts twice
    np.testing.assert_array_equal(b.grad.asnumpy(), -1)
    np.testing.assert_allclose(layer.weight.grad().asnumpy(), 3 * X.sum(0), rtol=1e-6)


@pytest.mark.parametrize("outputs", [1, 3])
def test_another_number_of_outputs_than_promised_is_an_error(pb, mx, outputs):
    layer = block(pb, "SumDifference", {"weight": (3,)}, outputs=outputs)
    layer.initialize()
    for hybrid in (False, True):
        layer.hybridize(hybrid)
        with pytest.raises(ValueError, match=rf"SumDifference.*(2.*{outputs}|{outputs}.*2)"):
            layer(mx.nd.array(X), mx.nd.array(X))


def test_blocks_train_inside_sequential_hybrid_sequential_and_custom_blocks(pb, mx):
    class Custom(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.inner = dense(pb)

        def hybrid_forward(self, F, x):
            return F.relu(self.inner(x)) + 1

    x = mx.nd.array(X)
    weight = mx.nd.array(np.linspace(-1, 1, 15).reshape(5, 3))
    for outer in (mx.gluon.nn.Sequential(), mx.gluon.nn.HybridSequential()):
        custom = Custom()
        outer.add(custom)
        outer.initialize()
        assert custom.inner.weight.name.startswith(custom.prefix)
        outer(x)
        custom.inner.weight.set_data(weight)
        for hybrid in (False, True):
            outer.hybridize(hybrid)
            (y,) = step(pb, outer, x)
            z = X @ weight.asnumpy().T
            np.testing.assert_allclose(y, np.maximum(z, 0) + 1, rtol=1e-5)
            np.testing.assert_allclose(
                custom.inner.weight.grad().asnumpy(), (z > 0).T.astype(float) @ X, rtol=1e-5
            )
