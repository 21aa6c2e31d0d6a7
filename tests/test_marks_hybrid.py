"""mark_vars and get_mark_vars: the same values and gradients in blocks that are hybridized and that are not."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from measures import Worker, batch, grown_by, numeric_gradient

pytestmark = pytest.mark.usefixtures("clean_flags")

MODES = {
    "plain": None,
    "hybrid": {},
    "static_alloc": {"static_alloc": True},
    "static_shape": {"static_alloc": True, "static_shape": True},
    "no inlining": {"inline_limit": 0},
}
SIZES = (2, 5, 1, 5)


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


@pytest.fixture
def blocks(pb, mx):
    """Networks that mark what they compute."""
    nn = mx.gluon.nn

    class Marking(mx.gluon.HybridBlock):
        def __init__(self, function, **keywords):
            super().__init__(**keywords)
            self.function = function

        def hybrid_forward(self, F, *args):
            return self.function(F, *args)

    class Layer(mx.gluon.HybridBlock):
        def __init__(self, **keywords):
            super().__init__(**keywords)
            with self.name_scope():
                self.dense = nn.Dense(3, activation="tanh", in_units=3)

        def hybrid_forward(self, F, x):
            return pb.mark_vars(self.dense(x))

    class Net(mx.gluon.HybridBlock):
        def __init__(self, **keywords):
            super().__init__(**keywords)
            with self.name_scope():
                self.first, self.shared, self.last = nn.Dense(3), Layer(), nn.Dense(2)

        def hybrid_forward(self, F, x):
            h = pb.mark_vars(self.first(x))
            h = self.shared(self.shared(h))
            a, b = pb.mark_vars(F.square(h), F.sin(h))
            return self.last(a * b)

    class Blocks:
        pass

    Blocks.marking, Blocks.layer, Blocks.net = Marking, Layer, Net
    return Blocks


def prepared(net, mx, mode, dtype="float64"):
    mx.random.seed(7)
    net.initialize(mx.init.Normal(0.7))
    net.cast(dtype)
    if mode is not None:
        net.hybridize(**mode)
    return net


def step(mx, net, x):
    with mx.autograd.record():
        loss = (net(x) ** 2).sum()
    loss.backward()
    return loss


def closed_form(net, x):
    """Values and gradients of the five marks of Net, with NumPy."""
    params = {name.split("_", 1)[1]: p.data().asnumpy() for name, p in net.collect_params().items()}
    w1, b1 = params["dense0_weight"], params["dense0_bias"]
    ws, bs = params["layer0_dense0_weight"], params["layer0_dense0_bias"]
    w2, b2 = params["dense1_weight"], params["dense1_bias"]
    h0 = x @ w1.T + b1
    h1 = np.tanh(h0 @ ws.T + bs)
    h2 = np.tanh(h1 @ ws.T + bs)
    a, b = h2**2, np.sin(h2)
    y = (a * b) @ w2.T + b2
    dab = (2 * y) @ w2
    da, db = dab * b, dab * a
    dh2 = da * 2 * h2 + db * np.cos(h2)
    dh1 = (dh2 * (1 - h2**2)) @ ws
    dh0 = (dh1 * (1 - h1**2)) @ ws
    return [h0, h1, h2, a, b], [dh0, dh1, dh2, da, db], dh0 @ w1


# --- values -----------------------------------------------------------------------------------------------


def test_marks_of_nested_and_shared_blocks_hold_the_closed_form_over_changing_batch_sizes(
    pb, mx, blocks, mode
):
    net = prepared(blocks.net(prefix="net_"), mx, mode)
    for size in SIZES:
        x = batch(mx, size)
        step(mx, net, x)
        values, gradients, dx = closed_form(net, x.asnumpy())
        marks = pb.get_mark_vars(net)
        assert len(marks) == 5
        for mark, value, gradient in zip(marks, values, gradients):
            np.testing.assert_allclose(mark.asnumpy(), value, rtol=1e-10)
            np.testing.assert_allclose(mark.grad.asnumpy(), gradient, rtol=1e-9, atol=1e-13)
            np.testing.assert_array_equal(pb.getgrad(mark).asnumpy(), mark.grad.asnumpy())
        np.testing.assert_allclose(x.grad.asnumpy(), dx, rtol=1e-9, atol=1e-13)
        of_shared = pb.get_mark_vars(net.shared)
        assert len(of_shared) == 2
        for mark, gradient in zip(of_shared, gradients[1:3]):
            np.testing.assert_allclose(mark.grad.asnumpy(), gradient, rtol=1e-9, atol=1e-13)


def test_marks_are_those_of_finite_differences(pb, mx, blocks, mode):
    def second(v):
        return np.sum(np.sin(v) * np.exp(-(v**2)))

    net = blocks.marking(lambda F, x: F.sin(h := pb.mark_vars(x * x * x)) * F.exp(-F.square(h)))
    net = prepared(net, mx, mode)
    x = batch(mx, 2)
    with mx.autograd.record():
        y = net(x).sum()
    y.backward()
    (mark,) = pb.get_mark_vars(net)
    np.testing.assert_allclose(mark.grad.asnumpy(), numeric_gradient(second, mark.asnumpy()), atol=1e-8)


def test_the_marked_network_computes_the_same_bits_as_the_unmarked_one(pb, mx, blocks, mode):
    def function(mark):
        return lambda F, x: F.tanh(mark(F.square(mark(x)) * -0.0)) + F.exp(mark(F.sin(x)))

    marked = prepared(blocks.marking(function(pb.mark_vars)), mx, mode, "float32")
    plain = prepared(blocks.marking(function(lambda h: h)), mx, mode, "float32")
    for size in SIZES:
        results = []
        for net in (marked, plain):
            x = batch(mx, size, "float32")
            with mx.autograd.record():
                y = net(x)
            y.backward()
            results.append((y.asnumpy().tobytes(), x.grad.asnumpy().tobytes()))
        assert results[0] == results[1]
        assert np.signbit(pb.get_mark_vars(marked)[1].asnumpy()).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_dtypes_are_those_of_the_network(pb, mx, blocks, mode, dtype):
    net = prepared(blocks.marking(lambda F, x: 4 * pb.mark_vars(F.square(x))), mx, mode)
    x = batch(mx, 2, dtype)
    with mx.autograd.record():
        y = net(x)
    y.backward()
    (mark,) = pb.get_mark_vars(net)
    assert np.dtype(mark.dtype) == np.dtype(mark.grad.dtype) == dtype
    np.testing.assert_array_equal(mark.grad.asnumpy(), 4)


def test_networks_of_mx_np_arrays(pb, mx, blocks, mode):
    with mx.util.np_shape(True), mx.util.np_array(True):
        net = blocks.marking(lambda F, x: F.np.exp(pb.mark_vars(F.np.sin(x))).sum())
        if mode is not None:
            net.hybridize(**mode)
        for size in SIZES:
            values = np.random.default_rng(size).normal(size=(size, 2))
            x = mx.np.array(values, dtype="float64")
            x.attach_grad()
            with mx.autograd.record():
                y = net(x)
            y.backward()
            (mark,) = pb.get_mark_vars(net)
            assert type(mark) is type(x)
            np.testing.assert_allclose(mark.asnumpy(), np.sin(values), rtol=1e-12)
            np.testing.assert_allclose(pb.getgrad(mark).asnumpy(), np.exp(np.sin(values)), rtol=1e-12)
            np.testing.assert_allclose(x.grad.asnumpy(), np.exp(np.sin(values)) * np.cos(values), rtol=1e-12)


def test_inputs_parameters_and_outputs_can_be_marked(pb, mx, blocks, mode):
    net = prepared(blocks.marking(lambda F, x: pb.mark_vars(3 * pb.mark_vars(x))), mx, mode)
    x = mx.nd.array([[1.0, 2.0]])
    buffer = mx.nd.full((1, 2), 100)
    pb.mark_variables(x, buffer, "add")
    for count in (1, 2):
        with mx.autograd.record():
            y = net(x)
        y.backward()
        first, last = pb.get_mark_vars(net)
        np.testing.assert_array_equal(first.grad.asnumpy(), 3)
        np.testing.assert_array_equal(last.grad.asnumpy(), 1)
        np.testing.assert_array_equal(buffer.asnumpy(), 100 + 3 * count)


def test_lists_and_tuples_come_back_as_such(pb, mx, blocks, mode):
    def function(F, x):
        one = pb.mark_vars(x + 1)
        many = pb.mark_vars([one, one * 2])
        several = pb.mark_vars(one * 3, one * 4)
        assert isinstance(many, list)
        assert isinstance(several, tuple)
        return sum([*many, *several])

    net = prepared(blocks.marking(function), mx, mode)
    x = batch(mx, 2)
    step(mx, net, x)
    assert len(pb.get_mark_vars(net)) == 5
    np.testing.assert_allclose(pb.get_mark_vars(net)[0].asnumpy(), x.asnumpy() + 1)


# --- which marks ------------------------------------------------------------------------------------------


def test_an_unrecorded_call_gives_the_values_without_gradients(pb, mx, blocks, mode):
    net = prepared(blocks.net(prefix="net_"), mx, mode)
    x = batch(mx, 3)
    net(x)
    marks = pb.get_mark_vars(net)
    for mark, value in zip(marks, closed_form(net, x.asnumpy())[0]):
        np.testing.assert_allclose(mark.asnumpy(), value, rtol=1e-10)
        assert mark.grad is None
    pb.attach_grad(marks[3])
    with mx.autograd.record():
        y = marks[3] * 2
    y.backward()
    np.testing.assert_array_equal(marks[3].grad.asnumpy(), 2)


def test_marks_under_python_control_flow_are_those_that_ran(pb, mx, blocks, mode):
    def function(F, x):
        for _ in range(net.turns):
            x = pb.mark_vars(F.sin(x))
        return x * 2

    net = blocks.marking(function)
    for turns in (3, 0, 1):
        net.turns = turns
        if mode is not None:
            net.hybridize(**mode)  # a graph is fixed when it is traced
        x = batch(mx, 2)
        step(mx, net, x)
        assert len(pb.get_mark_vars(net)) == turns


def test_every_call_of_a_shared_block_counts_even_if_only_that_block_is_hybridized(pb, mx, blocks, mode):
    layer = prepared(blocks.layer(), mx, mode)

    class Around(mx.gluon.Block):
        def forward(self, x):
            return layer(layer(layer(x)))

    around = Around()
    around.layer = layer
    x = batch(mx, 2)
    step(mx, around, x)
    marks = pb.get_mark_vars(layer)
    assert len(marks) == len(pb.get_mark_vars(around)) == 3
    w, b = layer.dense.weight.data().asnumpy(), layer.dense.bias.data().asnumpy()
    value = x.asnumpy()
    for mark in marks:
        value = np.tanh(value @ w.T + b)
        np.testing.assert_allclose(mark.asnumpy(), value, rtol=1e-10)
    gradient = 2 * value
    for mark in reversed(marks):
        np.testing.assert_allclose(mark.grad.asnumpy(), gradient, rtol=1e-9)
        gradient = (gradient * (1 - mark.asnumpy() ** 2)) @ w
    layer(x)
    assert len(pb.get_mark_vars(layer)) == 1
    assert len(pb.get_mark_vars(around)) == 3


def test_two_calls_in_one_record_have_gradients_of_their_own(pb, mx, blocks, mode):
    net = prepared(blocks.marking(lambda F, x: F.square(pb.mark_vars(2 * x))), mx, mode)
    x = batch(mx, 2)
    with mx.autograd.record():
        first = net(x)
        (of_first,) = pb.get_mark_vars(net)
        second = net(x * 3)
        (of_second,) = pb.get_mark_vars(net)
        total = first + second
    total.backward()
    np.testing.assert_allclose(of_first.grad.asnumpy(), 4 * x.asnumpy(), rtol=1e-10)
    np.testing.assert_allclose(of_second.grad.asnumpy(), 12 * x.asnumpy(), rtol=1e-10)
    np.testing.assert_allclose(x.grad.asnumpy(), 8 * x.asnumpy() + 72 * x.asnumpy(), rtol=1e-10)


def test_a_marked_value_can_be_used_further_and_differentiated(pb, mx, blocks, mode):
    net = prepared(blocks.marking(lambda F, x: F.square(pb.mark_vars(2 * x))), mx, mode)
    x = batch(mx, 2)
    with mx.autograd.record():
        y = net(x)
        (mark,) = pb.get_mark_vars(net)
        loss = y + 5 * mark
    loss.backward(retain_graph=True)
    np.testing.assert_allclose(mark.grad.asnumpy(), 4 * x.asnumpy() + 5, rtol=1e-10)
    np.testing.assert_allclose(x.grad.asnumpy(), 8 * x.asnumpy() + 10, rtol=1e-10)
    (again,) = mx.autograd.grad(loss, [mark], retain_graph=True)
    np.testing.assert_allclose(again.asnumpy(), 4 * x.asnumpy() + 5, rtol=1e-10)
    loss.backward()


def test_marked_values_may_be_used_side_by_side_with_others_and_again_later(pb, mx, blocks, mode):
    def function(F, x):
        a = F.sin(x)
        b = pb.mark_vars(F.square(a))
        c = pb.mark_vars(F.exp(b))
        return F.tanh(a) + c + (b + a) * 2

    net = prepared(blocks.marking(function), mx, mode)
    for size in SIZES:
        x = batch(mx, size)
        with mx.autograd.record():
            y = net(x)
        y.backward()
        a = np.sin(x.asnumpy())
        b, c = pb.get_mark_vars(net)
        np.testing.assert_allclose(y.asnumpy(), np.tanh(a) + np.exp(a**2) + 2 * (a**2 + a), rtol=1e-10)
        np.testing.assert_allclose(c.grad.asnumpy(), np.ones_like(a), rtol=1e-10)
        np.testing.assert_allclose(b.grad.asnumpy(), np.exp(a**2) + 2, rtol=1e-10)
        da = (np.exp(a**2) + 2) * 2 * a + 2 + 1 - np.tanh(a) ** 2
        np.testing.assert_allclose(x.grad.asnumpy(), da * np.cos(x.asnumpy()), rtol=1e-10)


def test_julia_functions_around_and_inside_marked_blocks(pb, mx, blocks, functions):
    net = prepared(blocks.marking(lambda F, x: pb.mark_vars(functions.Square(x)) * 3), mx, None)
    inner = prepared(blocks.marking(lambda F, x: pb.mark_vars(F.sin(x)) * 2), mx, {})
    x = batch(mx, 2)
    with mx.autograd.record():
        y = functions.Square(net(inner(x)))
    y.backward()
    (outer_mark,), (inner_mark,) = pb.get_mark_vars(net), pb.get_mark_vars(inner)
    u = 2 * np.sin(x.asnumpy())
    np.testing.assert_allclose(outer_mark.grad.asnumpy(), 6 * 3 * u**2, rtol=1e-9)
    np.testing.assert_allclose(inner_mark.grad.asnumpy(), 18 * u**2 * 2 * u * 2, rtol=1e-9)


def test_julia_layers_inside_marked_and_hybridized_networks(pb, mx, blocks, layers, mode):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.julia = pb.gluon.JuliaBlock("TestLayers.Sigmoid")

        def hybrid_forward(self, F, x):
            return 3 * pb.mark_vars(self.julia(pb.mark_vars(2 * x)))

    net = prepared(Net(), mx, mode)
    for size in SIZES:
        x = batch(mx, size)
        with mx.autograd.record():
            y = net(x)
        y.backward()
        before, behind = pb.get_mark_vars(net)
        s = 1 / (1 + np.exp(-2 * x.asnumpy()))
        np.testing.assert_allclose(behind.asnumpy(), s, rtol=1e-10)
        np.testing.assert_array_equal(behind.grad.asnumpy(), 3)
        np.testing.assert_allclose(before.grad.asnumpy(), 3 * s * (1 - s), rtol=1e-10)
        np.testing.assert_allclose(x.grad.asnumpy(), 6 * s * (1 - s), rtol=1e-10)


def test_the_first_mark_of_a_process_may_come_in_the_middle_of_a_call(run_python):
    ran = run_python("""
        import pybridge as pb
        import pybridge._numpy_aliases as aliases
        aliases.restore()
        import mxnet as mx

        class Inner(mx.gluon.HybridBlock):
            def hybrid_forward(self, F, x):
                return pb.mark_vars(F.square(x))

        class Net(mx.gluon.HybridBlock):
            def __init__(self):
                super().__init__()
                self.inner = Inner()

            def hybrid_forward(self, F, x):
                return self.inner(x) + self.inner(x)

        for hybrid in (False, True):
            net = Net()
            if hybrid:
                net.hybridize()
            for _ in range(2):
                x = mx.nd.array([1.0, 2.0])
                x.attach_grad()
                with mx.autograd.record():
                    y = net(x)
                y.backward()
                print([m.grad.asnumpy().tolist() for m in pb.get_mark_vars(net)], len(pb.get_mark_vars(net.inner)))
    """)
    assert ran.stdout.split("\n")[:4] == ["[[1.0, 1.0], [1.0, 1.0]] 2"] * 4, ran.stderr
    assert ran.stderr == ""


# --- left as it was ---------------------------------------------------------------------------------------


def test_export_and_parameters_are_undisturbed(pb, mx, blocks, tmp_path):
    net = prepared(blocks.net(prefix="net_"), mx, {}, "float32")
    x = batch(mx, 2, "float32")
    expected = net(x).asnumpy()
    assert sorted(net.collect_params()) == sorted(blocks.net(prefix="net_").collect_params())
    net.save_parameters(str(tmp_path / "net.params"))
    fresh = blocks.net(prefix="fresh_")
    fresh.load_parameters(str(tmp_path / "net.params"))
    np.testing.assert_array_equal(fresh(x).asnumpy(), expected)

    net.export(str(tmp_path / "net"))
    loaded = mx.gluon.SymbolBlock.imports(
        str(tmp_path / "net-symbol.json"), ["data"], str(tmp_path / "net-0000.params")
    )
    np.testing.assert_allclose(loaded(x).asnumpy(), expected, rtol=1e-6)


def test_blocks_without_marks_get_mxnets_own_cached_operator(pb, mx, blocks):
    prepared(blocks.net(), mx, {})(batch(mx, 2))
    net = mx.gluon.nn.Dense(2)
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    assert type(net._cached_op) is mx._ctypes.ndarray.CachedOp


def test_hybridizing_a_block_that_was_marked_before_warns_of_nothing(pb, mx, blocks, recwarn):
    net = prepared(blocks.net(prefix="net_"), mx, None)
    step(mx, net, batch(mx, 2))
    net.hybridize()
    step(mx, net, batch(mx, 2))
    assert [str(w.message) for w in recwarn if issubclass(w.category, UserWarning)] == []


def test_a_gluon_loop_trains_the_same_with_marks_in_the_network(pb, mx, mode):
    def train(mark):
        class Net(mx.gluon.HybridBlock):
            def __init__(self):
                super().__init__(prefix="net_")
                with self.name_scope():
                    self.a = mx.gluon.nn.Dense(8, activation="relu")
                    self.n, self.b = mx.gluon.nn.BatchNorm(), mx.gluon.nn.Dense(1)

            def hybrid_forward(self, F, x):
                return self.b(mark(self.n(mark(self.a(x)))))

        net = prepared(Net(), mx, mode, "float32")
        trainer = mx.gluon.Trainer(net.collect_params(), "adam")
        for i in range(10):
            x = batch(mx, 4 + i % 2, "float32")
            with mx.autograd.record():
                loss = (net(x) ** 2).mean()
            loss.backward()
            trainer.step(1)
        return [p.data().asnumpy() for p in net.collect_params().values()]

    for one, other in zip(train(pb.mark_vars), train(lambda h: h)):
        np.testing.assert_array_equal(one, other)


# --- errors -----------------------------------------------------------------------------------------------


def test_going_on_without_what_mark_vars_returned_is_a_graph_error(pb, mx, blocks, mode):
    def function(F, x):
        h = F.square(x)
        pb.mark_vars(h)
        return h * 2

    net = prepared(blocks.marking(function), mx, mode)
    x = batch(mx, 2)
    x.grad[:] = 42
    for _ in range(2):
        with pytest.raises(pb.GraphError, match=r"mark_vars.*h = pb.mark_vars\(h\)"):
            step(mx, net, x)
    np.testing.assert_array_equal(x.grad.asnumpy(), 42)


@pytest.mark.parametrize("loop", ["foreach", "while_loop", "cond"])
def test_marks_inside_the_bodies_of_control_flow_operators_are_refused(pb, mx, blocks, mode, loop):
    def function(F, x):
        if loop == "foreach":
            return F.contrib.foreach(lambda row, state: (pb.mark_vars(row) * 2, state), x, F.zeros((1,)))[0]
        if loop == "while_loop":
            body = lambda i: (pb.mark_vars(i), i + 1)  # noqa: E731
            return F.contrib.while_loop(lambda i: i < 3, body, F.sum(x) * 0, max_iterations=4)[0]
        return F.contrib.cond(F.sum(x) > -1e9, lambda: pb.mark_vars(x), lambda: x)

    net = prepared(blocks.marking(function), mx, mode)
    with pytest.raises(pb.GraphError, match=rf"F\.contrib\.{loop}"):
        net(batch(mx, 2))


def test_marks_outside_of_control_flow_operators_are_fine(pb, mx, blocks, mode):
    def function(F, x):
        rows = F.contrib.foreach(lambda row, state: (row * 2, state), pb.mark_vars(x + 1), F.zeros((1,)))[0]
        return pb.mark_vars(rows) * 3

    net = prepared(blocks.marking(function), mx, mode)
    x = batch(mx, 2, "float32")
    with mx.autograd.record():
        y = net(x)
    y.backward()
    inside, outside = pb.get_mark_vars(net)
    np.testing.assert_array_equal(outside.grad.asnumpy(), 3)
    np.testing.assert_array_equal(inside.grad.asnumpy(), 6)


def test_an_error_in_hybrid_forward_leaves_the_next_call_right(pb, mx, blocks, mode):
    def function(F, x):
        h = pb.mark_vars(F.square(x))
        if net.fails:
            raise ValueError("on purpose")
        return h * 2

    net = prepared(blocks.marking(function), mx, mode)
    net.fails = True
    x = batch(mx, 2)
    with pytest.raises(ValueError, match="on purpose"):
        step(mx, net, x)
    assert not mx.autograd.is_recording()
    net.fails = False
    step(mx, net, x)
    (mark,) = pb.get_mark_vars(net)
    np.testing.assert_allclose(mark.grad.asnumpy(), 8 * x.asnumpy() ** 2, rtol=1e-10)


def test_the_shape_of_a_marked_value_may_depend_on_values(pb, mx, blocks):
    net = blocks.marking(lambda F, x: pb.mark_vars(F.contrib.boolean_mask(x, F.sum(x, axis=1) > 0)) * 2)
    x = batch(mx, 4, "float32")
    kept = x.asnumpy().sum(axis=1) > 0
    assert 0 < kept.sum() < 4
    for hybridize in (False, True):
        if hybridize:
            net.hybridize()
        with mx.autograd.record():
            y = net(x)
        y.backward()
        (mark,) = pb.get_mark_vars(net)
        np.testing.assert_array_equal(mark.asnumpy(), x.asnumpy()[kept])
        np.testing.assert_array_equal(mark.grad.asnumpy(), np.full((kept.sum(), 3), 2))
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * kept[:, None] * np.ones((4, 3)))


def test_bad_arguments_are_refused_by_name(pb, mx, blocks):
    with pytest.raises(pb.GraphError, match="outside of any block"):
        pb.mark_vars(mx.nd.ones(2))
    with pytest.raises(TypeError, match=r"get_mark_vars: block is a int"):
        pb.get_mark_vars(3)
    for wrong, message in [((), "no values"), ((3,), r"values\[0\] is a int"), (([],), "no values")]:
        net = blocks.marking(lambda F, x, wrong=wrong: pb.mark_vars(*wrong))
        with pytest.raises(TypeError, match=message):
            net(mx.nd.ones(2))
    net = blocks.marking(lambda F, x: pb.mark_vars(F.split(x, 2)))
    net.hybridize()
    with pytest.raises(ValueError, match="2 outputs"):
        net(mx.nd.ones((2, 2)))


# --- lifetimes --------------------------------------------------------------------------------------------


def test_ten_thousand_marked_steps_do_not_grow(pb, mx, blocks):
    net = prepared(blocks.marking(lambda F, x: F.square(pb.mark_vars(F.sin(x))) * 2), mx, {})
    x = batch(mx, 64)
    grown = grown_by(mx, lambda: step(mx, net, x), 1000, 9000)
    assert grown < 8, f"{grown:.1f} MB more after 9,000 steps"


def test_threads_that_share_a_block_each_get_the_marks_of_their_own_last_call(pb, mx, blocks, mode):
    net = prepared(blocks.marking(lambda F, x: F.square(pb.mark_vars(F.sin(x)))), mx, mode)
    net(mx.nd.ones((1, 2)))

    def work(size):
        for _ in range(30):
            x = mx.nd.full((size, 2), 0.1 * size, dtype="float64")
            x.attach_grad()
            with mx.autograd.record():
                y = net(x)
            y.backward()
            (mark,) = pb.get_mark_vars(net)
            np.testing.assert_allclose(
                mark.grad.asnumpy(), np.full((size, 2), 2 * np.sin(0.1 * size)), rtol=1e-6
            )

    workers = [Worker(lambda size=size: work(size)) for size in (1, 2, 3)]
    for worker in workers:
        worker.start()
    pb.serve(lambda: not any(worker.is_alive() for worker in workers), timeout=100)
    for worker in workers:
        worker.outcome()


def test_networks_with_marks_are_freed(pb, mx, blocks):
    import weakref

    def make():
        net = prepared(blocks.net(), mx, {})
        step(mx, net, batch(mx, 2))
        pb.get_mark_vars(net)
        return weakref.ref(net)

    seen = [make() for _ in range(3)]
    labels = len(pb._intermediates.traced._paths)
    gc.collect()
    assert all(reference() is None for reference in seen)
    assert len(pb._intermediates.traced._paths) < labels
