"""intermediates and internals: values and gradients inside networks that nobody wrote for it."""

from __future__ import annotations

import numpy as np
import pytest
from measures import batch, grown_by

pytestmark = pytest.mark.usefixtures("clean_flags")

MODES = {
    "plain": None,
    "hybrid": {},
    "static_alloc": {"static_alloc": True},
    "static_shape": {"static_alloc": True, "static_shape": True},
}


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


def perceptron(mx, mode, dtype="float64"):
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(4, activation="relu"), nn.Dense(3, activation="tanh"), nn.Dense(2))
    mx.random.seed(11)
    net.initialize(mx.init.Normal(0.8))
    net.cast(dtype)
    if mode is not None:
        net.hybridize(**mode)
    return net


def closed_form(net, x):
    w, b = ([getattr(net[i], kind).data().asnumpy() for i in range(3)] for kind in ("weight", "bias"))
    u0 = x @ w[0].T + b[0]
    h0 = np.maximum(u0, 0)
    u1 = h0 @ w[1].T + b[1]
    h1 = np.tanh(u1)
    y = h1 @ w[2].T + b[2]
    dy = 2 * y
    dh1 = dy @ w[2]
    du1 = dh1 * (1 - h1**2)
    dh0 = du1 @ w[1]
    du0 = dh0 * (u0 > 0)
    names = [
        "data",
        "net_dense0_fwd",
        "net_dense0_relu_fwd",
        "net_dense1_fwd",
        "net_dense1_tanh_fwd",
        "net_dense2_fwd",
    ]
    return dict(zip(names, zip([x, u0, h0, u1, h1, y], [du0 @ w[0], du0, dh0, du1, dh1, dy])))


def test_every_internal_value_and_gradient_is_that_of_the_closed_form(pb, mx, mode):
    net = perceptron(mx, mode)
    with pb.intermediates(net, "*") as values:
        for size in (2, 5, 1, 5):
            x = batch(mx, size)
            with mx.autograd.record():
                loss = (net(x) ** 2).sum()
            loss.backward()
            expected = closed_form(net, x.asnumpy())
            assert list(values) == list(expected) == pb.internals(net, x)
            for name, (value, gradient) in expected.items():
                np.testing.assert_allclose(values[name].asnumpy(), value, rtol=1e-10, err_msg=name)
                np.testing.assert_allclose(
                    values[name].grad.asnumpy(), gradient, rtol=1e-9, atol=1e-13, err_msg=name
                )
            np.testing.assert_allclose(x.grad.asnumpy(), expected["data"][1], rtol=1e-9, atol=1e-13)


def test_names_may_be_globs_or_lack_the_networks_prefix(pb, mx):
    net = perceptron(mx, {})
    for names, chosen in [
        (["dense0_relu_fwd", "*tanh*"], ["net_dense0_relu_fwd", "net_dense1_tanh_fwd"]),
        ("net_dense?_fwd", ["net_dense0_fwd", "net_dense1_fwd", "net_dense2_fwd"]),
        ("dense2_fwd_output", ["net_dense2_fwd"]),
    ]:
        with pb.intermediates(net, names) as values:
            net(batch(mx, 2))
        assert list(values) == chosen
    assert values["dense2_fwd"].shape == (2, 2)
    assert values["dense2_fwd"].grad is None


def test_the_network_runs_as_before_afterwards(pb, mx, mode):
    net = perceptron(mx, mode)
    x = batch(mx, 2)
    expected = net(x).asnumpy()
    before = {
        name: getattr(net, name)
        for name in ("_active", "_flags", "_cached_graph", "_cached_op", "_cached_op_args")
    }
    with pb.intermediates(net, "*relu*") as values:
        np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-12)
    for name, value in before.items():
        assert getattr(net, name) is value or getattr(net, name) == value, name
    assert "_build_cache" not in vars(net)
    np.testing.assert_array_equal(net(x).asnumpy(), expected)
    assert len(values) == 1
    with pytest.raises(KeyError), pb.intermediates(net, "*relu*"):
        raise KeyError("on purpose")
    assert net._active is (mode is not None)
    np.testing.assert_array_equal(net(x).asnumpy(), expected)


def test_a_network_that_is_hybridized_anew_inside_stays_so_and_is_still_looked_into(pb, mx):
    net = perceptron(mx, None)
    x = batch(mx, 2)
    with pb.intermediates(net, "*relu*") as values:
        net(x)
        net.hybridize(static_alloc=True)
        with mx.autograd.record():
            y = net(x)
        y.backward()
        assert values["dense0_relu_fwd"].grad is not None


def test_marks_in_the_code_and_names_from_outside_go_together(pb, mx, mode):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.square(pb.mark_vars(F.sin(x, name="sine")), name="square") * 3

    net = Net(prefix="")
    if mode is not None:
        net.hybridize(**mode)
    x = batch(mx, 2)
    with pb.intermediates(net, ["sine", "square"]) as values, mx.autograd.record():
        y = net(x)
    y.backward()
    s = np.sin(x.asnumpy())
    (mark,) = pb.get_mark_vars(net)
    for found in (mark, values["sine"]):
        np.testing.assert_allclose(found.grad.asnumpy(), 6 * s, rtol=1e-10)
    np.testing.assert_array_equal(values["square"].grad.asnumpy(), 3)


def test_a_part_of_a_network_that_is_not_hybridized_can_be_looked_into(pb, mx):
    outer = mx.gluon.nn.Sequential()
    inner = perceptron(mx, {})
    outer.add(inner, mx.gluon.nn.Lambda(lambda a: a * 5))
    x = batch(mx, 2)
    with pb.intermediates(inner, "dense2_fwd") as values, mx.autograd.record():
        y = outer(x)
    y.backward()
    np.testing.assert_array_equal(values["dense2_fwd"].grad.asnumpy(), 5)


def test_what_is_called_twice_has_numbered_names_and_operators_with_several_results_too(pb, mx):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__(prefix="n_")
            with self.name_scope():
                self.d = mx.gluon.nn.Dense(2, in_units=2, flatten=False)

        def hybrid_forward(self, F, x):
            a, b = F.split(self.d(self.d(x)), 2, axis=1)
            return F.broadcast_mul(a, b)

    net = Net()
    net.initialize(mx.init.Normal(1))
    x = mx.nd.array([[1.0, 2.0]])
    x.attach_grad()
    names = pb.internals(net, x)
    assert names[:3] == ["data", "n_dense0_fwd", "n_dense0_fwd#2"]
    outputs = [name for name in names if "output" in name]
    assert len(outputs) == 2
    with pb.intermediates(net, "*") as values, mx.autograd.record():
        y = net(x)
    y.backward()
    left, right = (values[name] for name in outputs)
    np.testing.assert_array_equal(left.grad.asnumpy(), right.asnumpy())
    np.testing.assert_array_equal(right.grad.asnumpy(), left.asnumpy())
    np.testing.assert_allclose(
        values["dense0_fwd#2"].grad.asnumpy(), np.concatenate([right.asnumpy(), left.asnumpy()], 1)
    )
    np.testing.assert_allclose(values["data"].grad.asnumpy(), x.grad.asnumpy())


@pytest.mark.parametrize("hybridize", [False, True])
def test_resnet_gradients_are_those_of_the_network_cut_in_two(pb, mx, hybridize):
    mx.random.seed(2)
    net = mx.gluon.model_zoo.vision.resnet18_v1(prefix="r_")
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    x = mx.nd.random.normal(shape=(1, 3, 64, 64))
    with pb.intermediates(net, ["stage3_activation1", "*conv*", "*_pool1_fwd"]) as values:
        with mx.autograd.record(train_mode=False):
            y = net(x)
        mx.autograd.backward([y], train_mode=False)
    convolutions = [name for name in values if "conv" in name]
    assert len(convolutions) == 20
    assert all(
        np.isfinite(value.grad.asnumpy()).all() and value.grad.shape == value.shape
        for value in values.values()
    )

    split = [f.prefix.endswith("stage3_") for f in net.features].index(True) + 1
    middle = x
    for layer in net.features[:split]:
        middle = layer(middle)
    middle = middle.detach()
    middle.attach_grad()
    with mx.autograd.record(train_mode=False):
        rest = middle
        for layer in net.features[split:]:
            rest = layer(rest)
        out = net.output(rest)
    mx.autograd.backward([out], train_mode=False)
    np.testing.assert_allclose(y.asnumpy(), out.asnumpy(), rtol=1e-3, atol=1e-4)
    found = values["stage3_activation1"]
    np.testing.assert_allclose(found.asnumpy(), middle.asnumpy(), rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(found.grad.asnumpy(), middle.grad.asnumpy(), rtol=1e-3, atol=1e-5)


def test_names_that_nothing_has_are_refused_with_the_nearest_and_the_network_restored(pb, mx, mode):
    net = perceptron(mx, mode)
    x = batch(mx, 2)
    with pytest.raises(ValueError, match=r"intermediates.*'dense0_rely_fwd'.*dense0_relu_fwd"):
        with pb.intermediates(net, "dense0_rely_fwd"):
            net(x)
    assert net._active is (mode is not None)
    net(x)


def test_bad_arguments_are_refused_by_name(pb, mx):
    net = perceptron(mx, None)
    with pytest.raises(TypeError, match=r"intermediates: net is a Sequential"):
        pb.intermediates(mx.gluon.nn.Sequential(), "*")
    with pytest.raises(TypeError, match=r"internals: net is a int"):
        pb.internals(3)
    for names in ([], [3], None):
        with pytest.raises(TypeError, match=r"intermediates: names"):
            pb.intermediates(net, names)
    with pytest.raises(ValueError, match=r"internals\(net, x\)"):
        pb.internals(net)
    with pb.intermediates(net, "*") as values:
        with pytest.raises(LookupError, match="has not been called"):
            values["data"]
        with pytest.raises(RuntimeError, match="already"), pb.intermediates(net, "*"):
            pass
        net(batch(mx, 2))
        with pytest.raises(KeyError):
            values["nothing"]


def test_ten_thousand_steps_do_not_grow(pb, mx):
    net = perceptron(mx, {}, "float32")
    x = batch(mx, 4, "float32")

    def step():
        with mx.autograd.record():
            y = net(x)
        y.backward()

    with pb.intermediates(net, "*relu*"):
        grown = grown_by(mx, step, 1000, 9000)
    assert grown < 8, f"{grown:.1f} MB more after 9,000 steps"
