"""Other threads: refused while the owner does not serve, run on the owner while it does, told when it never comes."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from measures import JOIN, VALUES, Worker, assert_silent_end, julia_step, leaf, script

# --- served or refused ------------------------------------------------------------------------------------


def test_another_thread_gets_a_clear_error_while_the_owner_does_not_serve(pb, mx, layers):
    x = leaf(pb, mx.nd, VALUES)
    f = pb.function("TestLayers.Square")
    with pb.record():
        graphs = [f(x) for _ in range(3)]
    for work in (
        lambda: f(mx.nd.array(VALUES)),
        graphs[0].backward,
        lambda: pb.backward(graphs[1]),
        lambda: pb.asjulia(x),
    ):
        worker = Worker(work)
        worker.start()
        with pytest.raises(RuntimeError, match=r"serve|owner"):
            worker.outcome()
    assert layers.ncalls("Square.backward") == 0
    # Native work of other threads goes on, and so do the owner's graphs.
    worker = Worker(lambda: (mx.nd.array(VALUES) * 2).asnumpy())
    worker.start()
    np.testing.assert_array_equal(worker.outcome(), 2 * VALUES)
    pb.backward(graphs[2])
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * VALUES)


def test_making_a_function_or_touching_julia_on_another_thread_is_served_or_refused_and_never_hangs(
    run_python,
):
    result = run_python(
        script("""
        x, a = mx.nd.array([1.0, 2.0]), pb.jl.ones(3)
        open("empty.jl", "w").close()
        def attempt(work):
            try:
                outcome.append(work())
            except RuntimeError as error:
                outcome.append(error)
        works = {
            "function": lambda: pb.function("TestLayers.Square")(x).asnumpy().tolist(),
            "pb.jl": lambda: pb.jl.seval("40 + 2"),
            "include": lambda: pb.include("empty.jl"),
            "asjulia": lambda: (pb.asjulia(x), None)[1],
            "asndarray": lambda: pb.asndarray(a).asnumpy(),
        }
        for serving in (False, True):
            for name, work in works.items():
                outcome = []
                worker = threading.Thread(target=attempt, args=(work,), daemon=True); worker.start()
                if serving:
                    try:
                        pb.serve(worker, timeout=20)
                    except TimeoutError:
                        pass
                worker.join(20)
                assert not worker.is_alive(), f"{name} hangs, serving={serving}"
                if isinstance(outcome[0], RuntimeError):
                    assert "serve" in str(outcome[0]) or "owner" in str(outcome[0]), (name, outcome)
                    assert not (serving and name == "function"), outcome
                elif name == "function":
                    assert serving and outcome == [[1, 4]], outcome
        assert_next_step_is_right()
        leave()
        """)
    )
    assert_silent_end(result)


@pytest.mark.parametrize("until", ["thread", "future", "event", "callable"])
def test_while_the_owner_serves_other_threads_run_julia_on_the_owner(pb, mx, layers, functions, until):
    if until == "future":
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(julia_step, functions, mx)
            pb.serve(future)
            assert future.done()
            result = future.result(JOIN)
    else:
        event = threading.Event()

        def work() -> np.ndarray:
            try:
                return julia_step(functions, mx)
            finally:
                event.set()

        worker = Worker(work)
        worker.start()
        pb.serve({"thread": worker, "event": event, "callable": event.is_set}[until])
        result = worker.outcome()
    np.testing.assert_allclose(result, 1 / (1 + np.exp(-VALUES)) ** 2, rtol=1e-6)
    assert layers.ncalls("Square.backward") == 1
    assert tuple(layers.threads()) == (threading.get_ident(),)


def test_many_threads_are_served_at_once(pb, mx, layers, functions):
    barrier = threading.Barrier(6)

    def work(i: int) -> None:
        barrier.wait(JOIN)
        for step in range(20):
            julia_step(functions, mx, VALUES + i + step / 10)

    workers = [Worker(lambda i=i: work(i)) for i in range(6)]
    for worker in workers:
        worker.start()
    for worker in workers:
        pb.serve(worker, timeout=JOIN)
        worker.outcome()
    assert layers.ncalls("Square.backward") == 120
    assert tuple(layers.threads()) == (threading.get_ident(),)


def test_an_error_of_a_served_thread_is_raised_in_that_thread(pb, mx, layers, functions):
    def work() -> None:
        x = mx.nd.array(VALUES)
        x.attach_grad()
        with mx.autograd.record():
            y = functions.Fails(x)
        with pytest.raises(pb.JuliaError, match=r"refused with code 18"):
            y.backward()
        with pytest.raises(pb.JuliaError, match=r"refused with code 17"):
            functions.Fails(x, where="forward")
        assert np.isnan(x.grad.asnumpy()).all()
        julia_step(functions, mx)

    worker = Worker(work)
    worker.start()
    pb.serve(worker)
    worker.outcome()
    julia_step(functions, mx)


def test_a_served_thread_keeps_its_own_flags(pb, mx, layers, functions):
    seen = []

    def work() -> None:
        with mx.autograd.record(train_mode=False):
            functions.Training(mx.nd.array(VALUES))
            seen.append((mx.autograd.is_recording(), mx.autograd.is_training()))

    worker = Worker(work)
    worker.start()
    with pb.train_mode():
        pb.serve(worker)
        assert (pb.is_recording(), pb.is_training()) == (False, True)
    worker.outcome()
    assert seen == [(True, False)]
    assert layers.called() == "false"


def test_another_thread_may_make_a_function_of_a_julia_value_and_look_at_its_errors(run_python):
    result = run_python(
        script(
            """
            value = pb.jl.seval("x -> (2 .* x, Δ -> 2 .* Δ)")
            seen = []

            def work():
                f = pb.function(value, pullback=True)
                seen.append(f(mx.nd.ones(2)).asnumpy().tolist())
                seen.append(repr(f))
                try:
                    pb.function("TestLayers.Fails", where="forward")(mx.nd.ones(2))
                except pb.JuliaError as error:
                    seen.append(repr(error))
                    seen.append(str(error))

            thread = threading.Thread(target=work, daemon=True)
            thread.start()
            pb.serve(until=thread, timeout=30)
            assert seen[0] == [2, 2], seen
            assert "JuliaFunction" in seen[1]
            assert "refused with code 17" in seen[2] and "refused with code 17" in seen[3], seen
            leave()
            """
        ),
        timeout=90,
    )
    assert_silent_end(result)


def test_an_owner_that_attends_now_and_then_is_no_absent_owner(pb, mx, layers):
    f, errors, rounds = pb.function("TestLayers.Square"), [], 60

    def work() -> None:
        try:
            for _ in range(rounds):
                x = mx.nd.array([1.0, 2.0])
                x.attach_grad()
                with mx.autograd.record():
                    y = f(x)
                y.backward()
                assert x.grad.asnumpy().tolist() == [2, 4]
        except BaseException as error:
            errors.append(error)

    workers = [threading.Thread(target=work) for _ in range(6)]
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.15)  # work of its own
        end = time.monotonic() + 0.02
        pb.serve(until=lambda end=end: time.monotonic() > end)
        if errors:
            pb.serve(until=lambda: not any(worker.is_alive() for worker in workers), timeout=60)
    assert not errors


# --- how long it serves -----------------------------------------------------------------------------------


def test_serve_ends_at_its_timeout_and_at_once_when_there_is_nothing_to_wait_for(pb):
    try:
        result = pb.serve(threading.Event(), timeout=0.1)
    except TimeoutError:
        result = False
    assert not result
    done = threading.Event()
    done.set()
    pb.serve(done)
    pb.serve(lambda: True)
    finished = threading.Thread(target=int)
    finished.start()
    finished.join(JOIN)
    pb.serve(finished)


def test_serve_belongs_to_the_owner_and_knows_what_it_can_wait_for(pb):
    worker = Worker(lambda: pb.serve(lambda: True))
    worker.start()
    with pytest.raises(RuntimeError, match=r"(?i)owner|main thread"):
        worker.outcome()
    with pytest.raises(TypeError, match=r"int"):
        pb.serve(3)


def test_an_exception_of_the_condition_ends_serve(pb):
    def broken() -> bool:
        raise LookupError("the condition")

    with pytest.raises(LookupError, match="the condition"):
        pb.serve(broken)


def test_serve_inside_a_callback_is_refused(pb, mx, layers):
    x = leaf(pb, mx.nd, [1.0])
    with pb.record():
        y = pb.function("TestLayers.Hook")(x, onbackward=lambda: pb.serve(lambda: True))
    with pytest.raises(
        RuntimeError, match=r"serve: called inside the backward of Julia function TestLayers\.Hook"
    ):
        pb.backward(y)


# --- the timeout ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["ThreadedEnginePerDevice", "NaiveEngine"])
def test_an_owner_that_never_pumps_makes_the_request_fail_with_both_stacks_and_no_hang(run_python, engine):
    result = run_python(
        script("""
        eye = mx.nd.eye(800)
        leave_now, released, outcome = threading.Event(), threading.Event(), []
        hook, square = pb.function("TestLayers.Hook", onbackward=leave_now.set), pb.function("TestLayers.Square")
        def backward_of_the_worker():
            x = mx.nd.ones((800, 800)); x.attach_grad()
            with mx.autograd.record():
                # Native work in between: the owner has left when the second request comes.
                y = square(x)
                for _ in range(20):
                    y = mx.nd.dot(eye, y)
                y = hook(y)
            try:
                y.backward()
            except Exception as error:
                outcome.append(error)
            finally:
                released.set()
        def owner_is_stuck_here():
            assert released.wait(60), "the request has not failed"
        worker = threading.Thread(target=backward_of_the_worker, name="the-worker")
        worker.start()
        pb.serve(leave_now)
        owner_is_stuck_here()
        worker.join(60)
        message = str(outcome[0])
        assert isinstance(outcome[0], (RuntimeError, TimeoutError)), outcome
        for part in ("Square", "owner_is_stuck_here", "backward_of_the_worker", "PYBRIDGE_TIMEOUT"):
            assert part in message, (part, message)
        assert L.ncalls("Square.backward") == 0
        assert_next_step_is_right()
        leave()
        """),
        env={"PYBRIDGE_TIMEOUT": "2", "MXNET_ENGINE_TYPE": engine},
    )
    assert_silent_end(result)


def test_slow_julia_and_slow_native_work_are_no_timeout(run_python):
    result = run_python(
        script("""
        # Two requests wait longer than the timeout, but the owner serves or pumps all the while.
        x = mx.nd.ones((2, 2)); pb.attach_grad(x)
        square = pb.function("TestLayers.Square")
        with pb.record():
            y = square(x)
            y = pb.function("TestLayers.Hook", onbackward=lambda: pb.jl.sleep(2.5))(y) + square(x)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 6)
        leave()
        """),
        env={"PYBRIDGE_TIMEOUT": "1"},
    )
    assert_silent_end(result)
