"""Julia nodes in MXNet's graphs: chains, saved values, lifetimes, training, and the engine without threads."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from measures import POINTS, VALUES, assert_silent_end, collect_garbage, differentiate, leaf, script, slope

# --- graphs -----------------------------------------------------------------------------------------------


def test_chains_and_diamonds_of_julia_and_native_nodes_are_right(pb, mx, front, layers):
    square, sig, prod = (pb.function(f"TestLayers.{name}") for name in ("Square", "Sigmoid", "Product"))

    def julia(x: Any) -> Any:
        a = square(x)
        b = sig(a * 2) + prod(a, x)
        return prod(b, a - b) * 3

    def native(x: Any) -> Any:
        a = front.square(x)
        b = 1 / (1 + front.exp(a * -2)) + a * x
        return b * (a - b) * 3

    results = []
    for f in (julia, native):
        x = leaf(pb, front, POINTS, dtype="float64")
        y = differentiate(pb, f, x)
        results.append((y.asnumpy(), x.grad.asnumpy()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-10)


def test_a_chain_of_a_hundred_nodes_is_right(pb, mx, layers):
    f = pb.function("TestLayers.Scale", factor=1.01)
    x = leaf(pb, mx.nd, [1.0, 2.0], dtype="float64")
    with pb.record():
        y = x
        for _ in range(100):
            y = f(y)
    pb.backward(y)
    np.testing.assert_allclose(y.asnumpy(), np.array([1, 2]) * 1.01**100, rtol=1e-12)
    np.testing.assert_allclose(x.grad.asnumpy(), 1.01**100, rtol=1e-12)


def test_saved_values_do_not_leak_between_calls_of_one_function_object(pb, front, layers):
    for f in (pb.function("TestLayers.Square"), pb.function("TestLayers.sigmoid", pullback=True)):
        xs = [leaf(pb, front, [v, v + 1.0], dtype="float64") for v in (0.0, 1.0, 2.0)]
        with pb.record():
            ys = [f(x) for x in xs]
        for x, y in reversed(list(zip(xs, ys))):
            pb.backward(y)
            values = x.asnumpy()
            expected = slope(values) if "sigmoid" in repr(f) else 2 * values
            np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-12)


def test_retain_graph_runs_a_julia_node_twice_and_without_it_a_second_backward_is_an_error(pb, front, layers):
    x = leaf(pb, front, [1.0, 2.0], "add")
    with pb.record():
        y = pb.function("TestLayers.Square")(x)
    pb.backward(y, retain_graph=True)
    pb.backward(y)
    assert layers.ncalls("Square.backward") == 2
    np.testing.assert_array_equal(x.grad.asnumpy(), [4, 8])
    with pytest.raises(pb.GraphError, match=r"retain_graph"):
        pb.backward(y)
    assert layers.ncalls("Square.backward") == 2


def test_native_graphs_keep_their_own_ways_while_julia_nodes_are_alive(pb, mx, layers):
    x, native = leaf(pb, mx.nd, VALUES), leaf(pb, mx.nd, VALUES)
    with pb.record():
        alive = pb.function("TestLayers.Square")(x)
        y = native * native
    y.backward()
    np.testing.assert_array_equal(native.grad.asnumpy(), 2 * VALUES)
    assert layers.ncalls("Square.backward") == 0
    alive.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * VALUES)


def test_a_python_custom_function_and_a_julia_function_share_one_graph(pb, mx, layers):
    class Cube(mx.autograd.Function):
        def forward(self, x: Any) -> Any:
            self.save_for_backward(x)
            return x * x * x

        def backward(self, head: Any) -> Any:
            return head * 3 * self.saved_tensors[0] * self.saved_tensors[0]

    x = leaf(pb, mx.nd, VALUES)
    with pb.record():
        y = Cube()(pb.function("TestLayers.Square")(x)) + pb.function("TestLayers.Square")(Cube()(x))
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 12 * VALUES**5)


def test_a_backward_behind_slow_native_work_is_complete_when_it_returns(pb, mx, layers):
    eye = mx.nd.eye(700)
    x = mx.nd.ones((700, 700))
    pb.attach_grad(x)
    with pb.record():
        y = pb.function("TestLayers.Square")(x)
        for _ in range(8):
            y = mx.nd.dot(y, eye)
    pb.backward(y)
    assert layers.ncalls("Square.backward") == 1
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


# --- how long nodes and values live -----------------------------------------------------------------------


def test_an_input_that_python_has_dropped_is_still_there_in_backward(pb, mx, layers):
    x = leaf(pb, mx.nd, np.full(1000, 3.0))
    with pb.record():
        y = pb.function("TestLayers.Square")(x * 2)
    gc.collect()
    for value in range(40):
        mx.nd.full((1000,), value).wait_to_read()
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 24)


def test_what_julia_saves_for_ever_stays_right_after_the_graph_is_gone(pb, mx, layers):
    layers.forget()
    x = leaf(pb, mx.nd, np.full(1000, 3.0), dtype="float64")
    with pb.record():
        y = pb.function("TestLayers.Keeper")(x * 2) * 5
    pb.backward(y)
    del x, y
    collect_garbage(pb, mx)
    for value in range(40):
        mx.nd.full((1000,), value, dtype="float64").wait_to_read()
    np.testing.assert_array_equal(np.array(layers.kept(1)), 6)
    np.testing.assert_array_equal(np.array(layers.kept(2)), 5)
    layers.forget()


def test_calls_outside_record_make_no_node_and_keep_nothing(pb, front, mx, layers):
    collect_garbage(pb, mx)
    before = layers.alive()
    x = leaf(pb, front, [1.0, 2.0])
    ys = [pb.function("TestLayers.Square")(x) for _ in range(20)]
    with pb.record(), pb.pause():
        ys.append(pb.function("TestLayers.Square")(x))
    np.testing.assert_array_equal(ys[-1].asnumpy(), [1, 4])
    with pytest.raises(pb.GraphError, match=r"record"):
        pb.backward(ys[-1])
    collect_garbage(pb, mx)
    assert layers.alive() == before


def test_a_temporary_function_object_whose_input_is_on_no_gradient_path_does_no_harm(pb, mx, front, layers):
    w = leaf(pb, front, [1.0, 2.0])
    free = front.array([3.0, 4.0])
    for _ in range(20):
        with pb.record():
            y = pb.function("TestLayers.Square")(free) * w
        collect_garbage(pb, mx)
        pb.backward(y)
        np.testing.assert_array_equal(w.grad.asnumpy(), [9, 16])
    assert layers.ncalls("Square.backward") == 0


def test_nodes_recorded_and_dropped_without_a_backward_are_freed(pb, mx, layers):
    collect_garbage(pb, mx)
    before = layers.alive()
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pb.record():
        for _ in range(50):
            pb.function("TestLayers.Square")(pb.function("TestLayers.Sigmoid")(x))
        kept = pb.function("TestLayers.Square")(x)
    collect_garbage(pb, mx)
    assert layers.alive() == before + 1
    pb.backward(kept)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])
    del kept
    collect_garbage(pb, mx)
    assert layers.alive() == before


# --- training ---------------------------------------------------------------------------------------------


def test_a_function_applied_to_a_gluon_parameter_whose_value_it_saved_trains_like_the_native_one(
    pb, mx, layers
):
    prod = pb.function("TestLayers.Product")
    target = mx.nd.array([0.5, -1.0, 2.0])

    def train(multiply: Callable[[Any, Any], Any]) -> list[np.ndarray]:
        weight = mx.gluon.Parameter("weight", shape=(3,), init=mx.init.One())
        weight.initialize()
        trainer = mx.gluon.Trainer({"weight": weight}, "adam", {"learning_rate": 0.1})
        history = []
        for _ in range(20):
            with pb.record():
                loss = mx.nd.square(multiply(weight.data(), weight.data()) - target).sum()
            loss.backward()
            trainer.step(1)
            history.append(weight.data().asnumpy().copy())
        return history

    np.testing.assert_allclose(train(prod), train(lambda a, b: a * b), rtol=1e-5)


def test_a_gluon_network_with_julia_layers_trains_like_the_native_one(pb, mx, layers):
    sig = pb.function("TestLayers.Sigmoid")

    class Net(mx.gluon.Block):
        def __init__(self, activation: Callable[[Any], Any]) -> None:
            super().__init__()
            self.activation = activation
            self.first = mx.gluon.nn.Dense(4, in_units=3)
            self.second = mx.gluon.nn.Dense(2, in_units=4)

        def forward(self, x: Any) -> Any:
            return self.second(self.activation(self.first(x)))

    rng = np.random.RandomState(3)
    data, target = mx.nd.array(rng.normal(size=(8, 3))), mx.nd.array(rng.normal(size=(8, 2)))
    trained = []
    for activation in (sig, mx.nd.sigmoid):
        mx.random.seed(7)
        net = Net(activation)
        net.initialize(mx.init.Xavier())
        trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5, "momentum": 0.9})
        losses = []
        for _ in range(15):
            with pb.record():
                loss = mx.nd.square(net(data) - target).mean()
            loss.backward()
            trainer.step(1)
            losses.append(float(loss.asscalar()))
        trained.append((losses, [p.data().asnumpy() for p in net.collect_params().values()]))
    assert trained[0][0][-1] < trained[0][0][0] / 2
    np.testing.assert_allclose(trained[0][0], trained[1][0], rtol=1e-4)
    for ours, native in zip(trained[0][1], trained[1][1]):
        np.testing.assert_allclose(ours, native, rtol=1e-3, atol=1e-5)


def test_a_trainer_loop_leaves_nothing_pending(pb, mx, layers):
    square = pb.function("TestLayers.Square")
    weight = mx.gluon.Parameter("weight", shape=(3,), init=mx.init.One())
    weight.initialize()
    trainer = mx.gluon.Trainer({"weight": weight}, "sgd", {"learning_rate": 0.25})
    expected = np.ones(3)
    for step in range(1, 11):
        with mx.autograd.record():
            loss = square(weight.data() - mx.nd.array(VALUES)).sum()
        loss.backward()
        assert layers.ncalls("Square.backward") == step
        trainer.step(1)
        expected -= 0.25 * 2 * (expected - VALUES)
    np.testing.assert_allclose(weight.data().asnumpy(), expected, rtol=1e-5)
    assert tuple(layers.threads()) == (threading.get_ident(),)


# --- NaiveEngine ------------------------------------------------------------------------------------------


def test_with_the_naive_engine_everything_gives_the_same(run_python):
    result = run_python(
        script("""
        square, sig = pb.function("TestLayers.Square"), pb.function("TestLayers.Sigmoid")
        values = np.array([1.0, 2.0, 3.0])
        doors = [pb.backward, lambda y: y.backward(), lambda y: mx.autograd.backward([y]),
                 lambda y: mx.autograd.grad(y, [x])[0], lambda y: pb.grad(y, x),
                 lambda y: mx.contrib.autograd.compute_gradient([y])]
        for door in doors:
            L.reset()
            x = mx.nd.array(values); pb.attach_grad(x)
            with pb.record():
                y = square(square(x) * 2)
            gradient = door(y)
            assert L.ncalls("Square.backward") == 2
            np.testing.assert_array_equal((x.grad if gradient is None else gradient).asnumpy(), 16 * values**3)
        with pb.record():
            y = pb.function("TestLayers.Fails")(square(x))
        try:
            y.backward()
        except pb.JuliaError as error:
            assert "refused with code 18" in str(error)
        else:
            raise AssertionError("no error")
        assert np.isnan(x.grad.asnumpy()).all()

        # Nested: a callback that runs a backward over another Julia function and reads its gradient.
        inner = mx.nd.array(values); pb.attach_grad(inner)
        def nested():
            with pb.record():
                z = square(inner)
            z.backward()
            np.testing.assert_array_equal(inner.grad.asnumpy(), 2 * values)
        with pb.record():
            y = pb.function("TestLayers.Hook", onbackward=nested)(x)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 2)

        # Another thread.
        def work():
            x = mx.nd.array(values); x.attach_grad()
            with mx.autograd.record():
                y = square(x)
            y.backward()
            np.testing.assert_array_equal(x.grad.asnumpy(), 2 * values)
            done.append(True)
        done = []
        worker = threading.Thread(target=work); worker.start(); pb.serve(worker); worker.join(30)
        assert done == [True]

        weight = mx.gluon.Parameter("weight", shape=(3,), init=mx.init.One()); weight.initialize()
        trainer = mx.gluon.Trainer({"weight": weight}, "sgd", {"learning_rate": 0.5})
        with pb.record():
            loss = square(weight.data() - mx.nd.array(values)).sum()
        loss.backward(); trainer.step(1)
        np.testing.assert_allclose(weight.data().asnumpy(), values)
        assert tuple(L.threads()) == (threading.get_ident(),)
        assert_next_step_is_right()
        leave()
        """),
        env={"MXNET_ENGINE_TYPE": "NaiveEngine"},
    )
    assert_silent_end(result)
