"""monitor: names, operators and values at every operator, in plain, hybridized and mixed blocks."""

from __future__ import annotations

import gc
import json
import threading
import weakref

import numpy as np
import pytest
from measures import Worker, grown_by

pytestmark = pytest.mark.usefixtures("clean_flags")

MODES = {
    "plain": None,
    "hybrid": {},
    "static_alloc": {"static_alloc": True},
    "static_shape": {"static_alloc": True, "static_shape": True},
}
ZOO = ["resnet18_v1", "squeezenet1.0", "mobilenet0.25", "vgg11", "densenet121"]


@pytest.fixture(params=MODES)
def mode(request):
    return MODES[request.param]


def network(mx, mode=None):
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(nn.Dense(4, activation="relu"), nn.BatchNorm(), nn.Dense(2))
    mx.random.seed(3)
    net.initialize(mx.init.Normal(1))
    if mode is not None:
        net.hybridize(**mode)
    net(mx.nd.ones((2, 3)))
    return net


def told(pb, block, run, **keywords):
    """What a callback is told while `run` runs, with copies of the arrays."""
    found = []
    with pb.monitor(block, lambda *what: found.append((*what[:2], what[2].asnumpy().copy())), **keywords):
        run()
    return found


X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


# --- names and values -------------------------------------------------------------------------------------


def test_a_dense_layer_reports_as_upstream_says(pb, mx, mode):
    net = mx.gluon.nn.Dense(2, in_units=3, prefix="dense_dense0_")
    net.initialize()
    if mode is not None:
        net.hybridize(**mode)
    x = mx.nd.array(X)
    seen = []
    with pb.monitor(net, lambda *what: seen.append(what), monitor_all=True):
        y = net(x)
    assert [(name, operator) for name, operator, _ in seen] == [
        (f"dense_dense0_fwd_{what}", "FullyConnected") for what in ("data", "weight", "bias", "output")
    ]
    assert all(type(name) is type(operator) is str and type(a) is mx.nd.NDArray for name, operator, a in seen)
    ((name, operator, value),) = told(pb, net, lambda: net(x))
    assert (name, operator) == ("dense_dense0_fwd_output", "FullyConnected")
    np.testing.assert_array_equal(value, y.asnumpy())


def test_all_modes_report_the_same_outputs_and_leave_the_result_alone(pb, mx):
    x = mx.nd.array(X)
    seen = {}
    for name, mode in MODES.items():
        net = network(mx, mode)
        expected = net(x).asnumpy()
        results = []
        seen[name] = told(pb, net, lambda net=net, results=results: results.append(net(x).asnumpy()))
        np.testing.assert_allclose(results[0], expected, rtol=1e-6)
        np.testing.assert_allclose(seen[name][-1][2], expected, rtol=1e-6)
    names = [
        "n_dense0_fwd_output",
        "n_dense0_relu_fwd_output",
        "n_batchnorm0_fwd_output",
        "n_dense1_fwd_output",
    ]
    for found in seen.values():
        assert [name for name, _, _ in found] == names
        for (_, one, value), (_, other, expected) in zip(found, seen["plain"]):
            assert one == other
            np.testing.assert_allclose(value, expected, rtol=1e-6)


@pytest.mark.parametrize("name", ZOO)
def test_names_and_counts_are_those_of_the_graphs_own_internals(pb, mx, name):
    net = mx.gluon.model_zoo.vision.get_model(name)
    net.initialize()
    net.hybridize(static_alloc=True, static_shape=True)
    side = 224 if name in ("densenet121", "squeezenet1.0") else 64
    x = mx.nd.random.normal(shape=(1, 3, side, side))
    expected = net(x).asnumpy()
    symbol = net._cached_graph[1]
    nodes = [node for node in json.loads(symbol.tojson())["nodes"] if node["op"] != "null"]
    seen, results = {}, []
    with pb.monitor(net, lambda name, operator, array: seen.setdefault(name, (operator, array.shape))):
        results.append(net(x).asnumpy())
    np.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=1e-5)
    # libmxnet calls an output of an operator that has no names for them `_0`, the symbol calls it `_output`.
    names = [node["name"] + ("_0" if f"{node['name']}_0" in seen else "_output") for node in nodes]
    assert [name for name in seen if name in set(names)] == names
    assert [seen[name][0] for name in names] == [node["op"] for node in nodes]
    shapes = dict(
        zip(symbol.get_internals().list_outputs(), symbol.get_internals().infer_shape(data=x.shape)[1])
    )
    assert [seen[name][1] for name in names] == [shapes[f"{node['name']}_output"] for node in nodes]
    hidden = {name for name in seen if name not in set(names)}
    assert all(name.endswith(("_mean", "_var", "_mask")) for name in hidden), hidden


def test_mixed_trees_report_their_plain_and_their_hybridized_parts(pb, mx):
    inner = network(mx, {})

    class Outer(mx.gluon.Block):
        def __init__(self):
            super().__init__(prefix="outer_")
            self.inner = inner

        def forward(self, x):
            return mx.nd.tanh(self.inner(mx.nd.square(x)) + 1) * 2

    outer = Outer()
    found = told(pb, outer, lambda: outer(mx.nd.array(X)))
    assert [name for name, _, _ in found] == [
        "outer_square0_output",
        "n_dense0_fwd_output",
        "n_dense0_relu_fwd_output",
        "n_batchnorm0_fwd_output",
        "n_dense1_fwd_output",
        "outer__plus_scalar0_output",
        "outer_tanh0_output",
        "outer__mul_scalar0_output",
    ]
    np.testing.assert_allclose(found[0][2], X.astype("float32") ** 2)
    inside = told(pb, inner, lambda: outer(mx.nd.array(X)))
    assert [name for name, _, _ in inside] == [name for name, _, _ in found[1:5]]


def test_julia_functions_are_operators_too(pb, mx, functions):
    class Net(mx.gluon.Block):
        def forward(self, x):
            return functions.Square(functions.Sigmoid(x)) + 1

    net = Net(prefix="net_")
    x = mx.nd.array(X)
    found = told(pb, net, lambda: net(x), monitor_all=True)
    s = 1 / (1 + np.exp(-X))
    names = ["net_testlayers.sigmoid0_arg0", "net_testlayers.sigmoid0_output", "net_testlayers.square0_arg0"]
    assert [name for name, _, _ in found][:3] == names
    assert found[1][1] == "TestLayers.Sigmoid"
    np.testing.assert_allclose(found[1][2], s, rtol=1e-5)
    np.testing.assert_allclose(found[3][2], s * s, rtol=1e-5)


def test_what_a_first_call_does_for_its_parameters_is_none_of_its_operators(pb, mx, mode):
    net = mx.gluon.nn.Dense(2, prefix="d_")
    net.initialize()
    if mode is not None:
        net.hybridize(**mode)
    found = told(pb, net, lambda: net(mx.nd.array(X)))
    assert [(name, operator) for name, operator, _ in found] == [("d_fwd_output", "FullyConnected")]


def test_julia_layers_in_hybridized_networks_report_among_the_others(pb, mx, layers, mode):
    net = mx.gluon.nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(
            mx.gluon.nn.Dense(3, in_units=3), pb.gluon.JuliaBlock("TestLayers.Sigmoid"), mx.gluon.nn.Dense(1)
        )
    net.initialize(mx.init.One())
    if mode is not None:
        net.hybridize(**mode)
    x = mx.nd.array(X)
    expected = net(x).asnumpy()
    threads, results = set(), []

    def run():
        with mx.autograd.record():
            y = net(x)
        y.backward()
        results.append(y.asnumpy())

    with pb.monitor(net, lambda *_: threads.add(threading.get_ident())):
        found = told(pb, net, run, backward=mode is not None)
    np.testing.assert_allclose(results[0], expected, rtol=1e-6)
    assert threads == {threading.get_ident()}
    forward = [value for _, operator, value in found if "backward" not in operator and operator != "SwapAxis"]
    sums = X.sum(axis=1, keepdims=True) * np.ones((1, 3))
    assert len(forward) == 3
    np.testing.assert_allclose(forward[0], sums, rtol=1e-5)
    np.testing.assert_allclose(forward[1], 1 / (1 + np.exp(-sums)), rtol=1e-5)
    assert (len(found) > 3) is (mode is not None)


def test_names_are_filtered_by_globs(pb, mx, mode):
    net = network(mx, mode)
    found = told(
        pb, net, lambda: net(mx.nd.array(X)), monitor_all=True, names=["*dense?_fwd_output", "*_gamma"]
    )
    assert [name for name, _, _ in found] == [
        "n_dense0_fwd_output",
        "n_batchnorm0_fwd_gamma",
        "n_dense1_fwd_output",
    ]


def test_mx_np_networks_report_mx_np_arrays(pb, mx, mode):
    with mx.util.np_shape(True), mx.util.np_array(True):

        class Net(mx.gluon.HybridBlock):
            def hybrid_forward(self, F, x):
                return F.np.exp(F.np.sin(x))

        net = Net()
        if mode is not None:
            net.hybridize(**mode)
        x = mx.np.array(X)
        seen = []
        with pb.monitor(
            net, lambda name, operator, array: seen.append((operator, type(array), array.asnumpy()))
        ):
            net(x)
        assert [(operator, kind) for operator, kind, _ in seen] == [
            ("_npi_sin", mx.np.ndarray),
            ("_npi_exp", mx.np.ndarray),
        ]
        np.testing.assert_allclose(seen[1][2], np.exp(np.sin(X)), rtol=1e-6)


def test_sparse_arrays_come_as_what_they_are(pb, mx, mode):
    net = mx.gluon.nn.HybridLambda(lambda F, x: F.dot(x, F.ones((3, 2))), prefix="n_")
    if mode is not None:
        net.hybridize(**mode)
    dense = mx.nd.array(X)
    seen = []
    for x in (dense, dense.tostype("csr"), dense):
        with pb.monitor(net, lambda *what: seen.append(type(what[2])), monitor_all=True, names="n_dot0_lhs"):
            net(x)
    assert seen == [mx.nd.NDArray, mx.nd.sparse.CSRNDArray, mx.nd.NDArray]


def test_the_callback_may_be_a_julia_function_that_shares_the_array(pb, mx, mode):
    pb.jl.seval("module Seen; const names = String[]; const sums = Float64[]; const kinds = Any[]; end")
    callback = pb.jl.seval("""
        (name, operator, array) -> begin
            push!(Seen.names, name * ":" * operator); push!(Seen.sums, sum(array)); push!(Seen.kinds, size(array))
        end""")
    net = network(mx, mode)
    x = mx.nd.array(X)
    expected = told(pb, net, lambda: net(x))
    with pb.monitor(net, callback):
        net(x)
    assert [str(name) for name in pb.jl.Seen.names] == [
        f"{name}:{operator}" for name, operator, _ in expected
    ]
    np.testing.assert_allclose(list(pb.jl.Seen.sums), [value.sum() for _, _, value in expected], rtol=1e-5)
    assert [tuple(size) for size in pb.jl.Seen.kinds] == [value.shape[::-1] for _, _, value in expected]


# --- backward ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "static_alloc", "static_shape"])
def test_backward_operators_of_hybridized_blocks_report_their_gradients(pb, mx, mode):
    net = network(mx, MODES[mode])
    x = mx.nd.array(X)
    x.attach_grad()

    def run():
        with mx.autograd.record():
            y = net(x)
        y.backward()

    found = told(pb, net, run, backward=True)
    backward = {
        name: (operator, value) for name, operator, value in found if operator.startswith("_backward")
    }
    assert {operator for operator, _ in backward.values()} == {
        "_backward_FullyConnected",
        "_backward_Activation",
        "_backward_BatchNorm",
    }
    np.testing.assert_allclose(backward["n_dense0_fwd_backward_0"][1], x.grad.asnumpy(), rtol=1e-5)
    weight_gradient = net[2].weight.grad().asnumpy()
    np.testing.assert_allclose(backward["n_dense1_fwd_backward_1"][1], weight_gradient, rtol=1e-5)


def test_a_graph_too_small_not_to_be_inlined_shows_its_backward_too(pb, mx):
    net = mx.gluon.nn.Dense(1, in_units=3, prefix="d_")
    net.initialize()
    net.hybridize()
    seen = []
    with pb.monitor(net, lambda name, operator, array: seen.append(operator), backward=True):
        with mx.autograd.record():
            y = net(mx.nd.array(X))
        y.backward()
    assert seen == ["FullyConnected"] + ["_backward_FullyConnected"] * (len(seen) - 1)
    assert len(seen) > 1


def test_backward_with_julia_functions_in_the_graph_reports_on_the_thread_that_called(pb, mx, functions):
    net = network(mx, {})
    x = mx.nd.array(X)
    seen = []
    with pb.monitor(
        net, lambda name, operator, array: seen.append((operator, threading.get_ident())), backward=True
    ):
        with mx.autograd.record():
            y = functions.Square(net(x))
        y.backward()
    assert sum(operator.startswith("_backward") for operator, _ in seen) > 3
    assert {thread for _, thread in seen} == {threading.get_ident()}


def test_backward_of_plain_blocks_is_a_clear_error(pb, mx):
    net = network(mx)
    for block in (net, net[0]):
        with pytest.raises(ValueError, match=r"backward=True.*hybridize"):
            pb.monitor(block, print, backward=True)
    outer = mx.gluon.nn.Sequential()
    outer.add(network(mx, {}), network(mx))
    with pytest.raises(ValueError, match="HybridSequential"):
        pb.monitor(outer, print, backward=True)

    class Own(mx.gluon.nn.Sequential):
        def forward(self, x):
            return super().forward(x) * 2

    own = Own(prefix="own_")
    own.add(network(mx, {}))
    with pb.monitor(own, lambda *_: None, backward=True):
        with pytest.raises(ValueError, match=r"own.*_mul_scalar"), mx.autograd.record():
            own(mx.nd.array(X))
    assert not mx.autograd.is_recording()


def test_without_backward_nobody_hears_of_one(pb, mx, mode):
    net = network(mx, mode)

    def run():
        with mx.autograd.record():
            y = net(mx.nd.array(X))
        y.backward()

    assert not [operator for _, operator, _ in told(pb, net, run) if "backward" in operator]


# --- how it ends ------------------------------------------------------------------------------------------


def test_after_removal_the_network_runs_its_own_way_again(pb, mx, mode, recwarn):
    net = network(mx, mode)
    x = mx.nd.array(X)
    before = {
        name: getattr(net, name) for name in ("_active", "_flags", "_cached_op", "_cached_graph", "_callback")
    }
    library = {name: getattr(mx.base._LIB, name) for name in ("MXImperativeInvokeEx", "MXInvokeCachedOpEx")}
    seen = []
    handle = pb.monitor(net, lambda *what: seen.append(what))
    net(x)
    handle.remove()
    handle.remove()
    count = len(seen)
    assert count > 0
    for name, value in before.items():
        assert getattr(net, name) is value, name
    for name, function in library.items():
        assert getattr(mx.base._LIB, name) is function, name
    net(x)
    assert len(seen) == count
    assert not pb._monitor.watch._hooked
    assert [str(w.message) for w in recwarn if issubclass(w.category, UserWarning)] == []


def test_a_graph_recorded_while_watched_can_be_differentiated_afterwards(pb, mx, mode):
    net = network(mx, mode)
    x = mx.nd.array(X)
    gradients = []
    for watched in (False, True):
        x.attach_grad()
        handle = pb.monitor(net, lambda *_: None, backward=mode is not None) if watched else None
        with mx.autograd.record():
            y = net(x)
        if handle:
            handle.remove()
            del handle
            gc.collect()
        y.backward()
        gradients.append(x.grad.asnumpy())
    np.testing.assert_allclose(*gradients, rtol=1e-5)


@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt])
def test_what_the_callback_raises_comes_out_of_the_call_and_the_monitor_stays_removable(pb, mx, mode, kind):
    net = network(mx, mode)
    x = mx.nd.array(X)
    expected = net(x).asnumpy()

    def callback(name, operator, array):
        calls.append(name)
        if "batchnorm" in name:
            raise kind("on purpose")

    calls = []
    handle = pb.monitor(net, callback)
    for _ in range(2):
        with pytest.raises(kind, match="on purpose"), mx.autograd.record():
            net(x)
        assert not mx.autograd.is_recording()
    assert calls[-1] == "n_batchnorm0_fwd_output"
    assert len(calls) == 6
    handle.remove()
    np.testing.assert_allclose(net(x).asnumpy(), expected, rtol=1e-6)


def test_what_the_callback_raises_in_a_backward_comes_out_of_the_backward(pb, mx):
    net = network(mx, {})

    def callback(name, operator, array):
        if operator.startswith("_backward"):
            raise ValueError("on purpose")

    with pb.monitor(net, callback, backward=True):
        with mx.autograd.record():
            y = net(mx.nd.array(X))
        with pytest.raises(ValueError, match="on purpose"):
            y.backward()


def test_a_julia_error_in_the_callback_comes_out_of_the_call(pb, mx, mode):
    net = network(mx, mode)
    with pb.monitor(net, pb.jl.seval('(n, o, a) -> error("on purpose")')):
        with pytest.raises(Exception, match="on purpose"):
            net(mx.nd.array(X))


def test_arrays_that_the_callback_keeps_stay_what_they_were(pb, mx, mode):
    net = network(mx, mode)
    kept = []

    def callback(name, operator, array):
        if "batchnorm" in name or "dense1" in name:
            kept.append((array, array.shape, array.handle.value))

    with pb.monitor(net, callback, monitor_all=True):
        net(mx.nd.array(X))
    assert len(kept) >= 8
    assert len({id(array) for array, _, _ in kept}) == len({handle for _, _, handle in kept}) == len(kept)
    assert all(array.shape == shape and array.handle.value == handle for array, shape, handle in kept)
    np.testing.assert_array_equal(kept[-2][0].asnumpy(), net[2].bias.data().asnumpy())


def test_operators_that_the_callback_runs_are_not_reported(pb, mx, mode):
    net = network(mx, mode)
    seen = []

    def callback(name, operator, array):
        seen.append((array * 2).sum().asscalar())
        net(mx.nd.array(X))

    with pb.monitor(net, callback):
        net(mx.nd.array(X))
    assert len(seen) == 4


def test_results_are_the_networks_own_whatever_the_callback_computes(pb, mx, mode):
    net = network(mx, mode)
    x = mx.nd.array(X)
    expected = net(x).asnumpy()
    kept = []
    with pb.monitor(net, lambda name, operator, array: kept.append(mx.nd.split(array * 2, 2, axis=1))):
        result = net(x)
    np.testing.assert_allclose(result.asnumpy(), expected, rtol=1e-6)
    np.testing.assert_allclose(mx.nd.concat(*kept[-1], dim=1).asnumpy(), 2 * expected, rtol=1e-6)


def test_several_monitors_at_once_each_get_their_own(pb, mx, mode):
    net = network(mx, mode)
    x = mx.nd.array(X)
    all_seen, some_seen, part_seen = [], [], []
    with pb.monitor(net, lambda n, o, a: all_seen.append(n), monitor_all=True):
        with pb.monitor(net, lambda n, o, a: some_seen.append(n)):
            with pb.monitor(net[0], lambda n, o, a: part_seen.append(n)):
                net(x)
        net(x)
    outputs = [n for n in some_seen if n.endswith("_output")]
    assert len(some_seen) == len(outputs) == 4
    assert len(all_seen) == 2 * 16 or len(all_seen) == 2 * 15
    assert len(part_seen) == (0 if mode is not None else 2)


def test_other_blocks_and_other_threads_blocks_are_not_reported(pb, mx, mode):
    net, other = network(mx, mode), network(mx, mode)
    seen = []
    with pb.monitor(net, lambda *what: seen.append(what)):
        other(mx.nd.array(X))
        mx.nd.ones(3) * 2
        worker = Worker(lambda: other(mx.nd.array(X)).asnumpy())
        worker.start()
        worker.outcome()
        assert seen == []
        worker = Worker(lambda: net(mx.nd.array(X)).asnumpy())
        worker.start()
        worker.outcome()
    assert len(seen) == 4


def test_networks_rehybridized_while_watched_and_marked_ones_report(pb, mx):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.square(pb.mark_vars(F.sin(x, name="sine")), name="square") * 3

    net = Net(prefix="")
    x = mx.nd.array(X)
    seen = []
    with pb.monitor(net, lambda name, operator, array: seen.append(name)):
        for mode in ({}, {"static_alloc": True}):
            net.hybridize(**mode)
            x.attach_grad()
            with mx.autograd.record():
                y = net(x)
            y.backward()
            np.testing.assert_allclose(pb.get_mark_vars(net)[0].grad.asnumpy(), 6 * np.sin(X), rtol=1e-5)
    assert (
        sum(name.startswith("sine_") for name in seen)
        == sum(name.startswith("square_") for name in seen)
        == 2
    )
    assert not [name for name in seen if "zeros" in name], "what the marks need is no operator of the block"


def test_bad_arguments_are_refused_by_name(pb, mx):
    net = network(mx)
    with pytest.raises(TypeError, match=r"monitor: block is a int"):
        pb.monitor(3, print)
    with pytest.raises(TypeError, match=r"monitor: callback is a int"):
        pb.monitor(net, 3)
    with pytest.raises(TypeError, match=r"monitor: names"):
        pb.monitor(net, print, names=[3])
    for make in (pb.stats, pb.nan_guard, lambda block: pb.trace(block, "t.json")):
        with pytest.raises(TypeError, match="block is a str"):
            make("net")


def test_thousands_of_watched_steps_do_not_grow(pb, mx):
    net = network(mx, {})
    x = mx.nd.array(X)

    def step():
        with mx.autograd.record():
            y = net(x)
        y.backward()

    with pb.monitor(net, lambda *_: None, monitor_all=True, backward=True):
        grown = grown_by(mx, step, 500, 3000)
    assert grown < 8, f"{grown:.1f} MB more after 3,000 steps"


def test_a_removed_monitor_keeps_nothing_alive(pb, mx):
    net = network(mx, {})
    with pb.monitor(net, lambda *_: None):
        net(mx.nd.array(X))
    gone = weakref.ref(net)
    del net
    gc.collect()
    assert gone() is None
