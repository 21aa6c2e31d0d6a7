"""What waits inside one call of libmxnet, over graphs with Julia layers: each returns, with the right values."""

from __future__ import annotations

import time

import numpy as np
import pytest
from gluon_blocks import HYBRID_WAYS, WAYS, X, block, dense, hybridize, load_gluon_layers, step
from measures import Worker

# --- calls that wait --------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def julia_layers(pb):
    return load_gluon_layers(pb)


@pytest.fixture(params=list(WAYS))
def square(request, pb):
    return hybridize(block(pb, "Square"), request.param)


@pytest.mark.parametrize("recording", [False, True])
@pytest.mark.parametrize(
    "wait",
    ["boolean_mask", "unique", "nonzero", "boolean index", "save", "dlpack", "asscalar", "copyto", "waitall"],
)
def test_calls_that_wait_for_a_julia_layer_return(pb, mx, square, wait, recording, tmp_path):
    x = mx.nd.array(X)
    x.attach_grad()

    def look(y):
        if wait == "boolean_mask":
            return mx.nd.contrib.boolean_mask(y, mx.nd.array([0, 1])).asnumpy(), (X * X)[1:]
        if wait == "unique":
            with mx.util.np_shape(True):
                return mx.np.unique(y.as_np_ndarray()).asnumpy(), np.unique(X * X)
        if wait == "nonzero":
            with mx.util.np_shape(True):
                return mx.npx.nonzero(y.as_np_ndarray()).asnumpy(), np.argwhere(X)
        if wait == "boolean index":
            with mx.util.np_shape(True), mx.util.np_array(True):
                y = y.as_np_ndarray()
                return y[y > 1].asnumpy(), (X * X)[X * X > 1]
        if wait == "save":
            mx.nd.save(str(tmp_path / "y"), [y])
            return mx.nd.load(str(tmp_path / "y"))[0].asnumpy(), X * X
        if wait == "dlpack":
            return mx.nd.from_dlpack(y.to_dlpack_for_read()).asnumpy(), X * X
        if wait == "asscalar":
            return y[1, 2].asscalar(), 9
        if wait == "copyto":
            return y.copyto(mx.cpu()).asnumpy(), X * X
        mx.nd.waitall()
        return y.asnumpy(), X * X

    if recording:
        with pb.record():
            found, expected = look(square(x))
    else:
        found, expected = look(square(x))
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("construct", ["foreach", "while_loop", "cond"])
@pytest.mark.parametrize("way", ["eager", "hybrid", "static_alloc"])
def test_control_flow_over_julia_layers(pb, mx, construct, way):
    class Net(mx.gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            with self.name_scope():
                self.layer = block(pb, "Scale", {"weight": {"shape": (3,), "init": mx.init.Constant(2)}})

        def hybrid_forward(self, F, x):
            if construct == "foreach":
                out, _ = F.contrib.foreach(lambda row, s: (self.layer(row) + s, s), x, F.ones((3,)))
                return out - 1
            if construct == "while_loop":
                out, _ = F.contrib.while_loop(
                    lambda i, s: i < 2, lambda i, s: (s, (i + 1, self.layer(s))), (F.zeros((1,)), x), 3
                )
                return F.slice_axis(out, axis=0, begin=1, end=2).reshape((2, 3))
            return F.contrib.cond(F.sum(x) > 0, lambda: self.layer(x), lambda: x)

    net = Net()
    net.initialize()
    hybridize(net, way)
    x = mx.nd.array(X)
    x.attach_grad()
    for _ in range(2):
        np.testing.assert_allclose(step(pb, net, x)[0], 2 * X, rtol=1e-6)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2)
        np.testing.assert_allclose(net.layer.weight.grad().asnumpy(), X.sum(0), rtol=1e-6)


# --- inference and idle owners ----------------------------------------------------------------------------


@pytest.mark.parametrize("way", HYBRID_WAYS)
def test_an_inference_loop_gives_each_batch_its_own_results(pb, mx, way):
    net = hybridize(dense(pb, 5, 3), way)
    net.initialize(mx.init.Normal(1))
    weight = net.weight.data().asnumpy()
    batches = [np.random.default_rng(i).normal(size=(2, 3)).astype("float32") for i in range(20)]
    results = [net(mx.nd.array(batch)) for batch in batches]
    for batch, y in zip(batches, results):
        np.testing.assert_allclose(y.asnumpy(), batch @ weight.T, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_forward_has_run_when_the_call_returns(pb, mx, julia_layers, way):
    net = hybridize(block(pb, "Hook"), way)
    y = net(mx.nd.array(X))
    assert julia_layers.called() == "Hook.forward"
    # An owner that does nothing for a while, as in a notebook; another thread may read what is there.
    time.sleep(0.3)
    reader = Worker(lambda: (y * 1).asnumpy())
    reader.start()
    np.testing.assert_array_equal(reader.outcome(), 2 * X)
    assert julia_layers.called() == "Hook.forward"


def test_pending_native_work_in_front_of_a_julia_layer_is_waited_for(pb, mx):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(256, in_units=512), block(pb, "Total"))
    net.initialize(mx.init.One())
    net.hybridize()
    x = mx.nd.ones((256, 512))
    for _ in range(3):
        x = x + 1
        assert net(x).asscalar() == 256 * 256 * 512 * x[0, 0].asscalar()


# --- nested -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner_way", WAYS)
@pytest.mark.parametrize("outer_way", ["eager", "hybrid", "static_alloc"])
def test_a_julia_layer_may_call_a_net_with_julia_layers(pb, mx, julia_layers, inner_way, outer_way):
    inner = mx.gluon.nn.HybridSequential()
    inner.add(block(pb, "Square"), block(pb, "Hook"))
    hybridize(inner, inner_way)
    seen = []

    def forward():
        seen.append(inner(mx.nd.array(X)).asnumpy())

    def backward():
        z = mx.nd.array(X)
        z.attach_grad()
        with mx.autograd.record():
            y = inner(z)
        y.backward()
        seen.append(z.grad.asnumpy())

    outer = hybridize(block(pb, "Hook", onforward=forward, onbackward=backward), outer_way)
    x = mx.nd.array(X)
    x.attach_grad()
    for _ in range(2):
        seen.clear()
        np.testing.assert_array_equal(step(pb, outer, x)[0], 2 * X)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2)
        assert len(seen) == 2
        np.testing.assert_array_equal(seen[0], 2 * X * X)
        np.testing.assert_array_equal(seen[1], 4 * X)


# --- other threads ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", WAYS)
def test_other_threads_call_and_train_nets_while_the_owner_serves(pb, mx, way):
    nets = [hybridize(dense(pb, 5, 3), way) for _ in range(3)]
    for i, net in enumerate(nets):
        net.initialize(mx.init.Constant(i + 1))
        net(mx.nd.array(X))

    def train(net):
        for _ in range(10):
            (y,) = step(pb, net, mx.nd.array(X))
        return y, net.weight.grad().asnumpy()

    workers = [Worker(lambda net=net: train(net)) for net in nets]
    for worker in workers:
        worker.start()
    for i, worker in enumerate(workers):
        pb.serve(worker, timeout=60)
        y, gradient = worker.outcome()
        np.testing.assert_allclose(y, np.broadcast_to((i + 1) * X.sum(1)[:, None], (2, 5)), rtol=1e-5)
        np.testing.assert_allclose(gradient, np.broadcast_to(X.sum(0), (5, 3)), rtol=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_another_thread_is_refused_in_plain_words_while_the_owner_does_not_serve(pb, mx, way):
    net = hybridize(block(pb, "Square"), way)
    x = mx.nd.array(X)
    net(x)
    worker = Worker(lambda: net(x).asnumpy())
    worker.start()
    with pytest.raises(RuntimeError, match=r"serve|owner"):
        worker.outcome()
    np.testing.assert_array_equal(net(x).asnumpy(), X * X)


@pytest.mark.parametrize("way", WAYS)
def test_a_net_made_by_another_thread_trains_while_the_owner_serves_also_after_a_refusal(pb, mx, way):
    net = mx.gluon.nn.HybridSequential()
    net.add(mx.gluon.nn.Dense(3, in_units=3), block(pb, "Scale", {"weight": (0,)}))
    net.initialize(mx.init.One())
    hybridize(net, way)
    refused = Worker(lambda: net(mx.nd.array(X)).asnumpy())
    refused.start()
    with pytest.raises((RuntimeError, ValueError), match=r"serve|owner|attend"):
        refused.outcome()
    for train in (lambda: step(pb, net, mx.nd.array(X))[0], lambda: net(mx.nd.array(X)).asnumpy()):
        served = Worker(train)
        served.start()
        pb.serve(served, timeout=60)
        np.testing.assert_allclose(served.outcome(), np.tile(X.sum(1)[:, None], 3), rtol=1e-6)


# --- nobody else pays -------------------------------------------------------------------------------------


def test_graphs_without_julia_layers_do_not_go_through_a_helper(run_python):
    from measures import assert_silent_end, script

    assert_silent_end(
        run_python(
            script("""
            import time
            from pybridge import _dispatch
            net = mx.gluon.nn.HybridSequential()
            net.add(mx.gluon.nn.Dense(8, activation="relu"), mx.gluon.nn.Dense(8))
            net.initialize()
            x = mx.nd.ones((512, 2048)); net(x); net.hybridize(); net(x)
            def threads():
                return len(os.listdir("/proc/self/task"))
            before = threads()
            for _ in range(20):
                with mx.autograd.record():
                    y = net(x)
                y.backward()
            # A helper would be a thread, and would have waited for the results.
            assert threads() == before, (before, threads())
            mx.nd.waitall()
            leave()
            """)
        )
    )
