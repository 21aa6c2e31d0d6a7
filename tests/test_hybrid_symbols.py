"""Julia layers in symbols: inference of shapes and types, executors, modules, export and import."""

from __future__ import annotations

import re

import numpy as np
import pytest
from gluon_blocks import LAYERS, X, block, dense, load_gluon_layers
from measures import assert_silent_end, collect_garbage


@pytest.fixture(autouse=True)
def julia_layers(pb):
    return load_gluon_layers(pb)


@pytest.fixture
def net(pb, mx):
    net = mx.gluon.nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(
            dense(pb, 5, 3, prefix="dense_"),
            block(pb, "Swish", {"beta": {"shape": (1,), "init": "ones"}}, prefix="swish_"),
            block(pb, "Scale", {"weight": (5,)}, prefix="scale_"),
            mx.gluon.nn.Dense(2, in_units=5, prefix="native_"),
        )
    net.initialize(mx.init.Normal(1))
    return net


def native(values, x):
    """The net in NumPy."""
    v = {
        name.rpartition("_")[0].rpartition("_")[2] + "." + name.rpartition("_")[2]: a
        for name, a in values.items()
    }
    z = x @ v["dense.weight"].T + v["dense.bias"]
    z = z / (1 + np.exp(-v["swish.beta"] * z)) * v["scale.weight"]
    return z @ v["native.weight"].T + v["native.bias"]


def values_of(net):
    return {name: p.data().asnumpy() for name, p in net.collect_params().items()}


# --- inference --------------------------------------------------------------------------------------------


def test_a_symbol_lists_the_parameters_and_infers_shapes_and_types(pb, mx, net):
    symbol = net(mx.sym.var("data"))
    assert symbol.list_arguments() == ["data", *net.collect_params()]
    assert symbol.list_auxiliary_states() == []
    arguments, outputs, states = symbol.infer_shape(data=(7, 3))
    assert dict(zip(symbol.list_arguments(), arguments))["net_dense_weight"] == (5, 3)
    assert (outputs, states) == ([(7, 2)], [])
    _, outputs, _ = symbol.infer_type(data="float32")
    assert outputs == [np.float32]


def test_several_outputs_are_listed_and_inferred(pb, mx):
    layer = block(pb, "SumDifference", {"weight": (3,)}, outputs=2)
    both = mx.sym.Group(list(layer(mx.sym.var("a"), mx.sym.var("b"))))
    assert len(both.list_outputs()) == 2
    _, outputs, _ = both.infer_shape(a=(4, 3), b=(4, 3))
    assert outputs == [(4, 3), (4, 3)]


def test_shapes_that_do_not_fit_are_an_error_at_inference(pb, mx):
    layer = block(pb, "RowDense", {"weight": (5, 3)}, layout="python")  # runs once on made-up values
    symbol = layer(mx.sym.var("data"))
    with pytest.raises(pb.JuliaError, match="DimensionMismatch"):
        symbol.infer_shape(data=(7, 4))
    assert symbol.infer_shape(data=(7, 3))[1] == [(7, 5)]


# --- executors and modules --------------------------------------------------------------------------------


def test_an_executor_computes_values_and_gradients(pb, mx, net):
    symbol = net(mx.sym.var("data")).sum()
    executor = symbol.simple_bind(mx.cpu(), data=(2, 3), grad_req="write")
    executor.copy_params_from({n: p.data() for n, p in net.collect_params().items()})
    x = mx.nd.array(X)
    for _ in range(2):
        (y,) = executor.forward(is_train=True, data=x)
        executor.backward(mx.nd.ones(1))
        np.testing.assert_allclose(y.asscalar(), native(values_of(net), X).sum(), rtol=1e-5)
        x.attach_grad()
        with mx.autograd.record():
            loss = net(x).sum()
        loss.backward()
        np.testing.assert_allclose(executor.grad_dict["data"].asnumpy(), x.grad.asnumpy(), rtol=1e-5)
        for name, p in net.collect_params().items():
            np.testing.assert_allclose(
                executor.grad_dict[name].asnumpy(), p.grad().asnumpy(), rtol=1e-4, atol=1e-6
            )


def test_eval_and_reshape_of_an_executor(pb, mx, net):
    symbol = net(mx.sym.var("data"))
    values = {n: p.data() for n, p in net.collect_params().items()}
    (y,) = symbol.eval(mx.cpu(), data=mx.nd.array(X), **values)
    np.testing.assert_allclose(y.asnumpy(), native(values_of(net), X), rtol=1e-4, atol=1e-6)
    executor = symbol.simple_bind(mx.cpu(), data=(2, 3), grad_req="null")
    executor.copy_params_from(values)
    wider = executor.reshape(partial_shaping=True, allow_up_sizing=True, data=(4, 3))
    (y,) = wider.forward(data=mx.nd.array(np.vstack([X, X])))
    np.testing.assert_allclose(y.asnumpy(), native(values_of(net), np.vstack([X, X])), rtol=1e-4, atol=1e-6)


def test_a_module_fits(pb, mx, net):
    rng = np.random.default_rng(3)
    data = rng.normal(size=(64, 3)).astype("float32")
    labels = (data.sum(1) > 0).astype("float32")
    out = mx.sym.SoftmaxOutput(net(mx.sym.var("data")), name="softmax")
    module = mx.mod.Module(out, context=mx.cpu())
    batches = mx.io.NDArrayIter(data, labels, batch_size=16)
    module.fit(
        batches,
        num_epoch=12,
        optimizer="adam",
        optimizer_params={"learning_rate": 0.05},
        initializer=mx.init.Normal(0.5),
    )
    batches.reset()
    assert dict(module.score(batches, "acc"))["accuracy"] > 0.9


def test_states_are_auxiliary_or_plain_arguments_and_train_in_an_executor(pb, mx):
    layer = block(
        pb,
        "Norm",
        {"gamma": {"shape": (3,), "init": "ones"}, "beta": {"shape": (3,), "init": "zeros"}},
        aux={"running_mean": (3,), "running_var": {"shape": (3,), "init": "ones"}},
        prefix="n_",
    )
    layer.initialize()
    symbol = layer(mx.sym.var("data"))
    named = symbol.list_arguments() + symbol.list_auxiliary_states()
    assert named == ["data", "n_gamma", "n_beta", "n_running_mean", "n_running_var"]
    x = mx.nd.array(np.random.default_rng(0).normal(size=(6, 3)))
    executor = symbol.simple_bind(mx.cpu(), data=(6, 3))
    values = {n: p.data() for n, p in layer.collect_params().items()}
    executor.copy_params_from(values, values, allow_extra_params=True)
    executor.forward(is_train=True, data=x)
    state = {**executor.arg_dict, **executor.aux_dict}["n_running_mean"]
    np.testing.assert_allclose(state.asnumpy(), 0.1 * x.asnumpy().mean(0), rtol=1e-5)


# --- export -----------------------------------------------------------------------------------------------


def test_an_exported_net_runs_in_a_process_that_has_the_julia_file(pb, mx, net, tmp_path, run_python):
    x = mx.nd.array(X)
    net.hybridize()
    y = net(x).asnumpy()
    net.export(str(tmp_path / "net"), epoch=3)
    np.save(tmp_path / "x.npy", X)
    np.save(tmp_path / "y.npy", y)
    result = run_python(
        f"""
        import sys
        import numpy as np
        import pybridge as pb
        import mxnet as mx
        pb.include({str(LAYERS)!r})
        x, expected = mx.nd.array(np.load("x.npy")), np.load("y.npy")
        net = mx.gluon.SymbolBlock.imports("net-symbol.json", ["data"], "net-0003.params")
        np.testing.assert_array_equal(net(x).asnumpy(), expected)
        net.hybridize()
        np.testing.assert_array_equal(net(x).asnumpy(), expected)
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {{"learning_rate": 0.01}})
        losses = []
        for _ in range(5):
            with mx.autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
            trainer.step(1)
            losses.append(loss.asscalar())
        assert losses == sorted(losses, reverse=True), losses
        symbol, arguments, states = mx.model.load_checkpoint("net", 3)
        module = mx.mod.Module(symbol, label_names=None)
        module.bind([("data", (2, 3))], for_training=False)
        module.set_params(arguments, states)
        module.forward(mx.io.DataBatch([x]), is_train=False)
        np.testing.assert_array_equal(module.get_outputs()[0].asnumpy(), expected)
        print("the last word")
        print("---", file=sys.stderr)
        """
    )
    assert_silent_end(result)


def test_an_exported_net_without_its_julia_file_says_what_is_missing(pb, mx, net, tmp_path, run_python):
    net.hybridize()
    net(mx.nd.array(X))
    net.export(str(tmp_path / "net"))
    result = run_python(
        """
        import sys
        import pybridge as pb
        import mxnet as mx
        pb.jl.seval("1")
        try:
            net = mx.gluon.SymbolBlock.imports("net-symbol.json", ["data"], "net-0000.params")
            net(mx.nd.ones((2, 3))).asnumpy()
        except Exception as error:
            print(type(error).__name__, error)
        print("the last word")
        print("---", file=sys.stderr)
        """
    )
    assert_silent_end(result)
    assert "GluonLayers" in result.stdout


def test_a_graph_of_another_process_around_a_value_or_keywords_without_json_says_so(pb, mx):
    for layer in (
        pb.gluon.JuliaBlock(pb.jl.seval("GluonLayers.Square"), params={}),
        block(pb, "Hook", onforward=print),
    ):
        text = layer(mx.sym.var("data")).tojson()
        known = mx.sym.load_json(text)
        assert known.infer_shape(data=(2, 3))[1] == [(2, 3)]
        process = re.search(r'"process": "(\w+)"', text).group(1)
        with pytest.raises(ValueError, match="known only in the process"):
            mx.sym.load_json(text.replace(process, "another")).infer_shape(data=(2, 3))


def test_a_graph_outlives_the_block_it_was_written_from(pb, mx):
    text = block(pb, "Square")(mx.sym.var("data")).tojson()
    collect_garbage(pb, mx)
    (y,) = mx.sym.load_json(text).eval(mx.cpu(), data=mx.nd.array(X))
    np.testing.assert_array_equal(y.asnumpy(), X * X)
