"""Work inside a callback: flags, operators, random numbers, and waits that end or say why they cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from measures import VALUES, assert_silent_end, leaf, script

# --- flags ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("train_mode", [True, False])
def test_a_backward_inside_record_runs_its_callbacks_unrecorded_and_in_its_own_mode(
    pb, mx, layers, train_mode
):
    seen = []
    x = leaf(pb, mx.nd, [1.0, 2.0])
    hook = pb.function("TestLayers.Hook")
    with pb.record():
        y = hook(x, onbackward=lambda: seen.append((pb.is_recording(), pb.is_training())))
        pb.backward(y, train_mode=train_mode)
        assert (pb.is_recording(), pb.is_training()) == (True, True)
    assert seen == [(False, train_mode)]


def test_recording_inside_a_forward_does_not_change_the_outer_recording(pb, mx, front, layers):
    x, inner = leaf(pb, front, VALUES), leaf(pb, front, VALUES)
    flags = []

    def hook() -> None:
        flags.append((pb.is_recording(), pb.is_training()))
        with pb.record():
            y = inner * inner
        y.backward()
        inner.grad.wait_to_read()

    with pb.record():
        y = pb.function("TestLayers.Hook", onforward=hook)(x)
        assert (pb.is_recording(), pb.is_training()) == (True, True)
        y = y * 3
    pb.backward(y)
    assert flags[0][1] is True
    np.testing.assert_array_equal(x.grad.asnumpy(), 6)
    np.testing.assert_array_equal(inner.grad.asnumpy(), 2 * VALUES)


def test_numpy_shape_semantics_and_flags_of_the_caller_hold_in_the_backward(pb, mx, layers):
    with mx.util.np_shape(True), mx.util.np_array(True):
        x = leaf(pb, mx.np, VALUES)
        seen = []

        def hook() -> None:
            seen.append((mx.util.is_np_shape(), mx.np.zeros((0, 2)).shape, mx.np.array(1.0).shape))

        with pb.record():
            y = pb.function("TestLayers.Total")(pb.function("TestLayers.Hook", onbackward=hook)(x))
        assert y.shape == ()
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 2)
        assert seen == [(True, (0, 2), ())]
        assert mx.util.is_np_shape()


# --- operators --------------------------------------------------------------------------------------------


def test_a_callback_may_use_operators_asnumpy_and_autograd_itself(pb, mx, front, layers):
    x, inner = leaf(pb, front, VALUES), leaf(pb, front, VALUES)
    results = []

    def hook() -> None:
        results.append((front.array(VALUES) * 3 + 1).asnumpy())
        with mx.autograd.record():
            y = inner * inner
        results.append(mx.autograd.grad(y, [inner])[0].asnumpy())
        with pb.record():
            y = pb.function("TestLayers.Square")(inner)
        results.append(mx.autograd.grad(y, [inner])[0].asnumpy())
        results.append(pb.function("TestLayers.Square")(inner).asnumpy())

    for where in ("onforward", "onbackward"):
        results.clear()
        with pb.record():
            y = pb.function("TestLayers.Hook", **{where: hook})(x) * 5
        pb.backward(y)
        for result, expected in zip(results, (3 * VALUES + 1, 2 * VALUES, 2 * VALUES, VALUES**2)):
            np.testing.assert_array_equal(result, expected)
        assert len(results) == 4
        np.testing.assert_array_equal(x.grad.asnumpy(), 10)


@pytest.mark.parametrize("native", ["broadcast_mul", "FullyConnected"])
def test_a_callback_may_compute_below_many_native_layers(pb, mx, layers, native):
    # Their backwards wait for the callback and hold temporary memory of the thread that scheduled them.
    steps = {
        "broadcast_mul": lambda y: mx.nd.broadcast_mul(y, mx.nd.ones((1, 3))),
        "FullyConnected": lambda y: mx.nd.FullyConnected(y, weight, num_hidden=3, no_bias=True),
    }
    weight, read = leaf(pb, mx.nd, np.ones((3, 3))), []

    def callback() -> None:
        a, b = leaf(pb, mx.nd, np.ones((4, 3))), leaf(pb, mx.nd, np.ones((1, 3)))
        pb.backward(pb.record(lambda: mx.nd.broadcast_mul(a, b)))
        read.append(pb.getgrad(b).asnumpy().tolist())
        read.append((mx.nd.ones((1, 3)) + 3).asnumpy().tolist())
        read.append(mx.nd.sum(mx.nd.ones((4, 3)), axis=0, keepdims=True).asnumpy().tolist())

    x = leaf(pb, mx.nd, np.ones((4, 3)))
    with pb.record():
        y = x
        for _ in range(8):
            y = steps[native](y)
        z = pb.function("TestLayers.Hook")(y, onbackward=callback)
    pb.backward(z)
    assert read == [[[4, 4, 4]]] * 3


def test_random_numbers_drawn_in_a_callback_follow_the_seed_and_are_not_the_owners(pb, mx, layers):
    hook = pb.function("TestLayers.Hook")

    def draw(seed: int) -> tuple[Any, Any]:
        x, drawn = leaf(pb, mx.nd, [1.0]), []
        mx.random.seed(seed)
        with pb.record():
            y = hook(x, onbackward=lambda: drawn.append(mx.nd.random.uniform(shape=(4,)).asnumpy().tolist()))
        pb.backward(y)
        return drawn[0], mx.nd.random.uniform(shape=(4,)).asnumpy().tolist()

    first, again, other = draw(7), draw(7), draw(8)
    assert first == again
    assert first[0] != other[0]
    assert first[0] != first[1]


# --- waits ------------------------------------------------------------------------------------------------


def test_waiting_in_a_callback_for_what_depends_on_that_callback_is_an_error_and_no_hang(run_python):
    result = run_python(
        script("""
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        for wait in (lambda: x.grad.wait_to_read(), lambda: x.grad.asnumpy(), lambda: (x.grad * 2).asnumpy()):
            with pb.record():
                y = pb.function("TestLayers.Hook", onbackward=wait)(x)
            try:
                pb.backward(y)
            except RuntimeError as error:  # GraphError is one
                assert "callback" in str(error) or "backward" in str(error), str(error)
            else:
                raise AssertionError("no error")
            assert_next_step_is_right()
        # A wait for everything would wait for the callback too: it does not hang, whatever it does.
        def waitall():
            try:
                mx.nd.waitall()
            except RuntimeError:
                pass
        with pb.record():
            y = pb.function("TestLayers.Hook", onbackward=waitall)(x)
        pb.backward(y)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2)
        assert_next_step_is_right()
        leave()
        """),
        timeout=180,
    )
    assert_silent_end(result)


def test_a_callback_that_waits_for_itself_is_told_so_beside_a_busy_thread(run_python):
    result = run_python(
        script(
            """
            import time

            def busy():
                while True:
                    for i in range(20000):
                        pass
                    time.sleep(0.002)

            threading.Thread(target=busy, daemon=True).start()
            x = mx.nd.ones(2)
            pb.attach_grad(x)
            with pb.record():
                y = pb.function("TestLayers.Hook")(x, onbackward=lambda: x.grad.wait_to_read())
            try:
                pb.backward(y)
            except pb.GraphError as error:
                assert "depends on that" in str(error), error
                print("told")
            leave()
            """
        ),
        env={"PYBRIDGE_TIMEOUT": "8"},
    )
    assert "told" in result.stdout, result.stderr


def test_a_callback_may_wait_for_an_operator_that_sleeps(run_python):
    result = run_python(
        script(
            """
            import time

            class Sleepy(mx.operator.CustomOp):
                def forward(self, is_train, req, in_data, out_data, aux):
                    time.sleep(8)
                    self.assign(out_data[0], req[0], in_data[0] * 2)

            @mx.operator.register("sleepy")
            class SleepyProp(mx.operator.CustomOpProp):
                def infer_shape(self, shapes):
                    return shapes, [shapes[0]], []
                def create_operator(self, ctx, shapes, dtypes):
                    return Sleepy()

            read = []
            x = mx.nd.ones(2)
            pb.attach_grad(x)
            with pb.record():
                y = pb.function("TestLayers.Hook")(
                    x, onbackward=lambda: read.append(mx.nd.Custom(mx.nd.ones(2), op_type="sleepy").asnumpy()))
            pb.backward(y)
            assert read[0].tolist() == [2, 2] and x.grad.asnumpy().tolist() == [2, 2]
            leave()
            """
        )
    )
    assert_silent_end(result)
