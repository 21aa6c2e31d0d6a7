"""Hybridized nets with Julia layers in processes of their own: memory, forks, the naive engine, signals, checks."""

from __future__ import annotations

import textwrap

import pytest
from gluon_blocks import LAYERS
from measures import assert_silent_end, script
from test_memory import RESIDENT


def gluon_script(body: str) -> str:
    """A snippet for a fresh interpreter, with the layers of both files included."""
    return script(
        textwrap.dedent(f"""
        pb.include({str(LAYERS)!r})
        X = np.array([[-2.0, -0.5, 0.0], [0.25, 1.0, 3.0]])
        def block(name, params=None, **kw):
            return pb.gluon.JuliaBlock("GluonLayers." + name, params=params or {{}}, **kw)
        def assert_right(net, factor=1):
            x = mx.nd.array(X); x.attach_grad()
            with mx.autograd.record():
                y = net(x)
            y.backward()
            np.testing.assert_array_equal(y.asnumpy(), factor * X * X)
            np.testing.assert_array_equal(x.grad.asnumpy(), 2 * factor * X)
        WAYS = (None, {{}}, {{"static_alloc": True}}, {{"static_alloc": True, "static_shape": True}})
        """)
    ) + textwrap.dedent(body)


@pytest.mark.timeout(900)
def test_ten_thousand_hybrid_steps_keep_the_memory_flat(run_python):
    result = run_python(
        gluon_script(
            RESIDENT
            + """
net = mx.gluon.nn.HybridSequential()
net.add(mx.gluon.nn.Dense(8, in_units=8), block("Square"), block("Scale", {"weight": (8,)}))
net.initialize()
net.hybridize(static_alloc=STATIC, static_shape=STATIC)
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 1e-6})
x = mx.nd.ones((4, 8))
def steps(n):
    for _ in range(n):
        with mx.autograd.record():
            loss = net(x).mean()
        loss.backward()
        trainer.step(1)
def inference(n):
    for _ in range(n):
        net(x)
net(x)
grown = growth(steps, 6_000, 10_000)
assert grown < 5 * MB, f"steps: {grown / MB:.1f} MB"
grown = growth(inference, 1_000, 10_000)
assert grown < 5 * MB, f"inference: {grown / MB:.1f} MB"
leave()
""".replace("STATIC", "True")
        ),
        timeout=800,
    )
    assert_silent_end(result)


@pytest.mark.timeout(900)
def test_thousands_of_blocks_made_called_and_dropped_keep_the_memory_flat(run_python):
    result = run_python(
        gluon_script(
            RESIDENT
            + """
x = mx.nd.ones((4, 8))
def make(n):
    for i in range(n):
        net = block("Scale", {"weight": (8,)})
        net.initialize()
        if i % 2:
            net.hybridize()
        with mx.autograd.record():
            y = net(x)
        if i % 3:
            y.backward()
    pb.jl.seval("GC.gc()")  # what was used only once lies about until Julia collects
grown = growth(make, 2_000, 3_000)
assert grown < 5 * MB, f"{grown / MB:.1f} MB"
leave()
"""
        ),
        timeout=800,
    )
    assert_silent_end(result)


@pytest.mark.parametrize(
    "env", [{"MXNET_ENGINE_TYPE": "NaiveEngine"}, {"PYBRIDGE_CHECK": "1"}], ids=["naive", "check"]
)
def test_every_way_of_calling_works_under_other_settings(run_python, env):
    result = run_python(
        gluon_script("""
        for flags in WAYS:
            net = mx.gluon.nn.HybridSequential()
            net.add(block("Square"), block("Scale", {"weight": {"shape": (3,), "init": mx.init.Constant(2)}}),
                    block("Counter", aux={"calls": (1,)}))
            net.initialize()
            if flags is not None:
                net.hybridize(**flags)
            for _ in range(3):
                assert_right(net, 2)
            assert net[2].calls.data().asscalar() == 3
            bad = mx.gluon.nn.HybridSequential(); bad.add(block("Fails", where="forward"), block("Square"))
            if flags is not None:
                bad.hybridize(**flags)
            for _ in range(2):
                try:
                    bad(mx.nd.array(X))
                    raise AssertionError("no error")
                except pb.JuliaError as error:
                    assert "no forward today" in str(error)
        leave()
        """),
        env=env,
    )
    assert_silent_end(result)


def test_a_layer_that_writes_to_its_input_is_found_out_by_check(run_python):
    result = run_python(
        gluon_script("""
        for flags in WAYS:
            for where in ("forward", "backward"):
                net = pb.gluon.JuliaBlock("TestLayers.Scribbles", params={}, where=where)
                if flags is not None:
                    net.hybridize(**flags)
                x = mx.nd.array(X); x.attach_grad()
                try:
                    with mx.autograd.record():
                        y = net(x)
                    y.backward()
                    raise AssertionError(f"not found out: {where} {flags}")
                except ValueError as error:
                    assert "Scribbles" in str(error), error
        leave()
        """),
        env={"PYBRIDGE_CHECK": "1"},
    )
    assert_silent_end(result)


def test_after_a_fork_the_child_computes_natively_and_is_told_about_julia(run_python):
    result = run_python(
        gluon_script("""
        nets = []
        for flags in WAYS:
            net = block("Square")
            if flags is not None:
                net.hybridize(**flags)
            assert_right(net)
            nets.append(net)
        native = mx.gluon.nn.Dense(2, in_units=3); native.initialize(); native.hybridize()
        expected = native(mx.nd.array(X)).asnumpy()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                np.testing.assert_array_equal(native(mx.nd.array(X)).asnumpy(), expected)
                for net in nets:
                    try:
                        net(mx.nd.array(X)).asnumpy()
                    except Exception as error:
                        assert "fork" in str(error), error
                    else:
                        raise AssertionError("no error")
                status = 0
            except BaseException:
                import traceback
                traceback.print_exc(file=sys.stdout)
            finally:
                sys.stdout.flush()
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        for net in nets:
            assert_right(net)
        data = mx.gluon.data.DataLoader(mx.gluon.data.ArrayDataset(X.astype("float32")), 1, num_workers=2)
        for batch in data:
            for net in nets:
                np.testing.assert_array_equal(net(batch).asnumpy(), batch.asnumpy() ** 2)
        leave()
        """)
    )
    assert_silent_end(result)


def test_ctrl_c_while_a_layer_runs_comes_out_of_the_call_and_the_next_works(run_python):
    result = run_python(
        gluon_script("""
        def interrupt():
            if armed:
                armed.clear()
                os.kill(os.getpid(), signal.SIGINT)
                import time
                time.sleep(30)
        armed = []
        for flags in WAYS:
            for where in ("onforward", "onbackward"):
                net = block("Hook", **{where: interrupt})
                if flags is not None:
                    net.hybridize(**flags)
                x = mx.nd.array(X); x.attach_grad()
                net(x)
                armed[:] = [1]
                try:
                    with mx.autograd.record():
                        y = net(x)
                    y.backward()
                    raise AssertionError("no interrupt")
                except KeyboardInterrupt:
                    pass
                assert not mx.autograd.is_recording()
                with mx.autograd.record():
                    y = net(x)
                y.backward()
                np.testing.assert_array_equal(y.asnumpy(), 2 * X)
                np.testing.assert_array_equal(x.grad.asnumpy(), 2)
        leave()
        """)
    )
    assert_silent_end(result)


def test_the_process_ends_in_silence_with_live_graphs(run_python):
    result = run_python(
        gluon_script("""
        x = mx.nd.array(X); x.attach_grad()
        kept = []
        for flags in WAYS:
            net = block("Square")
            if flags is not None:
                net.hybridize(**flags)
            with mx.autograd.record():
                kept += [net, net(x)]
        executor = net(mx.sym.var("data")).simple_bind(mx.cpu(), data=(2, 3))
        executor.forward(is_train=True, data=x)
        leave(7)
        """)
    )
    assert_silent_end(result, 7)
