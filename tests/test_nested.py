"""Backwards inside callbacks: deep, side by side, unread, failing."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from types import ModuleType

import numpy as np
import pytest
from measures import VALUES, leaf

# --- deep -------------------------------------------------------------------------------------------------


def test_python_called_from_julia_called_from_python_runs_its_own_backward_three_deep(pb, mx, front, layers):
    module = ModuleType("deeper")
    leaves = [leaf(pb, front, VALUES + level) for level in range(4)]
    seen: list[tuple[int, bool, bool]] = []

    def step(level: int) -> None:
        """Called by a Julia backward of this level, through PythonCall's pyimport."""
        seen.append((level, pb.is_recording(), threading.current_thread() is threading.main_thread()))
        if level == 3:
            return
        x = leaves[level + 1]
        with pb.record():
            y = pb.function("TestLayers.Deeper", level=level + 1)(x) * (level + 2)
        pb.backward(y)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * (level + 2))
        np.testing.assert_array_equal(y.asnumpy(), 2 * (level + 2) * (VALUES + level + 1))

    module.step = step  # type: ignore[attr-defined]
    sys.modules["deeper"] = module
    try:
        for _ in range(2):
            seen.clear()
            for x in leaves:
                pb.getgrad(x)[:] = 0
            with pb.record():
                y = pb.function("TestLayers.Deeper")(leaves[0])
            pb.backward(y)
            assert seen == [(level, False, True) for level in range(4)]
            np.testing.assert_array_equal(leaves[0].grad.asnumpy(), 2)
    finally:
        del sys.modules["deeper"]
    assert tuple(layers.threads()) == (threading.get_ident(),)


def test_twenty_backwards_inside_each_other(pb, mx, layers):
    hook = pb.function("TestLayers.Hook")

    def nest(depth: int) -> None:
        if depth == 0:
            return
        x = leaf(pb, mx.nd, [1.0, 2.0])
        with pb.record():
            y = hook(x, onbackward=lambda: nest(depth - 1))
        pb.backward(y)
        assert pb.getgrad(x).asnumpy().tolist() == [2, 2]

    nest(20)
    assert layers.ncalls("Hook.backward") == 20


# --- side by side -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("inner", ["operators", "backward"])
def test_callbacks_of_a_hundred_parallel_branches_do_not_run_inside_each_other(pb, mx, layers, inner):
    hook = pb.function("TestLayers.Hook")
    running, deepest, done = 0, 0, 0

    def work() -> None:
        a = leaf(pb, mx.nd, [3.0])
        if inner == "operators":
            assert (a * 2).asscalar() == 6
        else:
            pb.backward(pb.record(lambda: hook(a)))
            assert pb.getgrad(a).asscalar() == 2

    def callback() -> None:
        nonlocal running, deepest, done
        running += 1
        deepest = max(deepest, running)
        work()
        running -= 1
        done += 1

    xs = [leaf(pb, mx.nd, [1.0]) for _ in range(100)]
    with pb.record():
        y = mx.nd.add_n(*[hook(x, onbackward=callback) for x in xs])
    pb.backward(y)
    assert done == 100
    assert deepest < 30
    assert [pb.getgrad(x).asscalar() for x in xs] == [2.0] * 100


def test_create_graph_inside_a_callback_is_no_matter_of_the_outer_backward(pb, mx, layers):
    hook = pb.function("TestLayers.Hook")
    inner = []
    for _ in range(4):
        a = leaf(pb, mx.nd, [3.0])
        inner.append((pb.record(lambda a=a: mx.nd.sin(a)), a))

    def callback(i: int) -> None:
        time.sleep(0.05)
        with pb.record():
            pb.grad(*inner[i], create_graph=True)

    xs = [leaf(pb, mx.nd, [1.0]) for _ in range(4)]
    with pb.record():
        y = mx.nd.add_n(*[hook(x, onbackward=lambda i=i: callback(i)) for i, x in enumerate(xs)])
    pb.backward(y)
    assert [pb.getgrad(x).asscalar() for x in xs] == [2, 2, 2, 2]


def test_a_failure_in_a_parallel_branch_is_raised_by_the_backward_whatever_another_branch_swallows(
    pb, mx, layers
):
    hook = pb.function("TestLayers.Hook")

    def callback(i: int) -> None:
        time.sleep(0.05)  # so that the other branches' requests are there
        if i == 2:
            raise ValueError("of branch 2")
        for _ in range(5):
            with contextlib.suppress(Exception):
                (mx.nd.ones(2) * 2).asnumpy()
            time.sleep(0.01)

    xs = [leaf(pb, mx.nd, [1.0]) for _ in range(4)]
    with pb.record():
        y = mx.nd.add_n(*[hook(x, onbackward=lambda i=i: callback(i)) for i, x in enumerate(xs)])
    with pytest.raises(ValueError, match="of branch 2"):
        pb.backward(y)


# --- unread and failing -----------------------------------------------------------------------------------


def test_a_nested_backward_whose_result_nobody_reads_is_done_when_the_outer_one_returns(pb, mx, layers):
    x, inner = leaf(pb, mx.nd, VALUES), leaf(pb, mx.nd, VALUES)

    def hook() -> None:
        with pb.record():
            y = pb.function("TestLayers.Square")(inner)
        y.backward()

    with pb.record():
        y = pb.function("TestLayers.Hook", onbackward=hook)(x)
    pb.backward(y)
    assert layers.ncalls("Square.backward") == 1
    np.testing.assert_array_equal(inner.grad.asnumpy(), 2 * VALUES)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


def test_an_error_of_a_nested_backward_surfaces_at_the_blocking_call_or_at_the_outer_backward(pb, mx, layers):
    x, inner = leaf(pb, mx.nd, VALUES), leaf(pb, mx.nd, VALUES)
    caught: list[BaseException] = []

    def fail(read: bool) -> None:
        try:
            with pb.record():
                y = pb.function("TestLayers.Fails")(inner)
            y.backward()
            if read:
                inner.grad.asnumpy()
        except pb.JuliaError as error:
            caught.append(error)

    with pb.record():
        y = pb.function("TestLayers.Hook", onbackward=lambda: fail(True))(x)
    pb.backward(y)  # the callback has dealt with the error
    assert len(caught) == 1
    assert "refused with code 18" in str(caught[0])
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)

    caught.clear()
    with pb.record():
        y = pb.function("TestLayers.Hook", onbackward=lambda: fail(False))(x)
    try:
        pb.backward(y)
    except pb.JuliaError as error:
        caught.append(error)
    assert len(caught) == 1
    assert "refused with code 18" in str(caught[0])
    mx.nd.waitall()
    with pb.record():
        y = pb.function("TestLayers.Square")(x)
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * VALUES)
