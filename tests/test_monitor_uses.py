"""stats, nan_guard and trace: what is made of a look at every operator."""

from __future__ import annotations

import io
import json

import numpy as np
import pytest
import rich.console

pytestmark = pytest.mark.usefixtures("clean_flags")

X = np.array([[1.0, 2.0], [3.0, 5.0]])


@pytest.fixture(params=[False, True], ids=["plain", "hybrid"])
def net(request, mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential(prefix="n_")
    with net.name_scope():
        net.add(nn.Dense(1, in_units=2), nn.HybridLambda("log"), nn.HybridLambda("square"))
    net.initialize(mx.init.One())
    if request.param:
        net.hybridize(static_alloc=True)
    net(mx.nd.array(X))
    return net


# --- stats ------------------------------------------------------------------------------------------------


def test_stats_are_those_of_numpy_over_all_calls(pb, mx, net):
    with pb.stats(net) as stats:
        net(mx.nd.array(X))
        net(mx.nd.array(X[:1] * 4))
    sums = np.array([3.0, 8.0, 12.0])
    expected = [("FullyConnected", sums), ("log", np.log(sums)), ("square", np.log(sums) ** 2)]
    assert [row.operator for row in stats.rows.values()] == [operator for operator, _ in expected]
    for row, (_, values) in zip(json.loads(stats.json()), expected):
        assert row["calls"] == 2
        assert row["shape"] == [1, 1]
        assert row["dtype"] == "float32"
        assert (row["nan"], row["inf"]) == (0, 0)
        assert row["seconds"] > 0
        for key in ("min", "max", "mean", "std"):
            assert row[key] == pytest.approx(getattr(values, key)(), rel=1e-5)


def test_stats_count_what_is_no_number_and_leave_it_out_of_the_moments(pb, mx, net):
    with pb.stats(net) as stats:
        net(mx.nd.array([[0, 0], [-1, -1], [1, 2], [np.inf, 0]]))
    row = next(row for row in stats.rows.values() if row.operator == "log").as_dict()
    assert (row["nan"], row["inf"]) == (1, 2)
    assert row["min"] == row["max"] == row["mean"] == pytest.approx(np.log(3))
    assert row["std"] == 0
    with pb.stats(net) as stats:
        net(mx.nd.array([[-1, -1]]))
    row = json.loads(stats.json())[1]
    assert (row["nan"], row["min"], row["mean"]) == (1, None, None)


def test_stats_print_as_a_table(pb, mx, net):
    with pb.stats(net) as stats:
        net(mx.nd.array(X))
    text = io.StringIO()
    rich.console.Console(file=text, width=160).print(stats)
    for word in ("n_dense0_fwd_output", "FullyConnected", "2×1", "float32", "mean", "NaN"):
        assert word in text.getvalue()


def test_stats_of_a_backward(pb, mx, net):
    if not net._active:
        with pytest.raises(ValueError, match="hybridize"):
            pb.stats(net, backward=True)
        return
    with pb.stats(net, backward=True) as stats:
        with mx.autograd.record():
            y = net(mx.nd.array(X))
        y.backward()
    operators = [row.operator for row in stats.rows.values()]
    assert operators[:3] == ["FullyConnected", "log", "square"]
    assert {"_backward_square", "_backward_log", "_backward_FullyConnected"} <= set(operators)


# --- nan_guard --------------------------------------------------------------------------------------------


def test_the_guard_names_the_first_operator_and_the_ranges_of_its_inputs(pb, mx, net):
    guard = pb.nan_guard(net)
    net(mx.nd.array(X))
    with pytest.raises(FloatingPointError) as caught:
        net(mx.nd.array([[1, 2], [-3, -4], [0, 0]]))
    text = str(caught.value)
    assert "operator log " in text
    assert "1 NaN and 1 Inf" in text
    assert "-7 to 3" in text
    assert "square" not in text
    guard.remove()
    net(mx.nd.array([[-3.0, -4.0]]))


def test_the_guard_sees_bad_inputs_and_parameters(pb, mx, net):
    with pb.nan_guard(net):
        with pytest.raises(FloatingPointError, match=r"FullyConnected.*data: 2 to 2, 1 NaN.*weight: 1 to 1"):
            net(mx.nd.array([[np.nan, 2.0]]))
        net[0].weight.set_data(mx.nd.array([[np.inf, 1.0]]))
        with pytest.raises(FloatingPointError, match=r"weight: 1 to 1, 1 Inf"):
            net(mx.nd.array([[1.0, 2.0]]))


def test_the_guard_over_a_backward(pb, mx):
    net = mx.gluon.nn.HybridLambda("sqrt", prefix="root_")
    net.hybridize()
    x = mx.nd.array([4.0, 0.0])
    x.attach_grad()
    with pb.nan_guard(net, backward=True):
        with mx.autograd.record():
            y = net(x)
        with pytest.raises(FloatingPointError, match=r"_backward_sqrt.*1 Inf"):
            y.backward()


def test_integers_do_not_disturb_the_guard(pb, mx):
    net = mx.gluon.nn.HybridLambda(lambda F, x: F.cast(F.argmax(x, axis=1), "int32"))
    with pb.nan_guard(net):
        assert net(mx.nd.array(X)).asnumpy().tolist() == [1, 1]


# --- trace ------------------------------------------------------------------------------------------------


def test_the_trace_holds_every_operator_of_forward_and_backward_of_a_resnet(pb, mx, tmp_path):
    net = mx.gluon.model_zoo.vision.resnet18_v1()
    net.initialize()
    net.hybridize()
    x = mx.nd.random.normal(shape=(1, 3, 32, 32))
    net(x)
    path = tmp_path / "trace.json"
    with pb.trace(net, path) as trace:
        with mx.autograd.record():
            y = net(x)
        y.backward()
    written = json.loads(path.read_text())
    assert written["traceEvents"] == trace.events
    nodes = [node for node in json.loads(net._cached_graph[1].tojson())["nodes"] if node["op"] != "null"]
    forward = [event for event in trace.events if event["cat"] == "forward"]
    backward = [event for event in trace.events if event["cat"] == "backward"]
    assert [(event["args"]["node"], event["name"]) for event in forward] == [
        (n["name"], n["op"]) for n in nodes
    ]
    # A residual sum hands its gradient on as it is; every other operator has a backward of its own.
    expected = sorted(
        f"{node['name']}_backward" for node in nodes if node["op"] not in ("elemwise_add", "Flatten")
    )
    assert set(expected) <= {event["args"]["node"] for event in backward}
    ends = 0.0
    for event in trace.events:
        assert event["ph"] == "X"
        assert event["dur"] > 0
        assert event["ts"] >= ends - 1e-3
        ends = event["ts"] + event["dur"]


def test_an_operator_that_runs_twice_is_there_twice(pb, mx, tmp_path):
    dense = mx.gluon.nn.Dense(2, in_units=2, prefix="d_")
    twice = mx.gluon.nn.HybridSequential()
    twice.add(dense, dense)
    twice.initialize()
    twice.hybridize()
    with pb.trace(twice, tmp_path / "t.json") as trace:
        twice(mx.nd.array(X))
    assert [event["args"]["node"] for event in trace.events] == ["d_fwd", "d_fwd"]


def test_the_trace_of_plain_blocks_warns_that_it_has_no_backward(pb, mx, net, tmp_path, recwarn):
    with pb.trace(net, tmp_path / "t.json") as trace:
        with mx.autograd.record():
            y = net(mx.nd.array(X))
        y.backward()
    told = [str(w.message) for w in recwarn if issubclass(w.category, UserWarning)]
    assert [event["name"] for event in trace.events][:3] == ["FullyConnected", "log", "square"]
    if net._active:
        assert told == []
        assert len(trace.events) > 3
    else:
        assert len(told) == 1
        assert "forward only" in told[0]
        assert len(trace.events) == 3
        with pytest.raises(ValueError, match="hybridize"):
            pb.trace(net, tmp_path / "t.json", backward=True)


def test_a_file_that_cannot_be_written_is_an_error_at_once(pb, mx, net, tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        pb.trace(net, tmp_path / "nowhere" / "t.json")
