"""What broke once: interrupts at bad moments, forks, layouts, aliases, waits, ends. One test a fault."""

from __future__ import annotations

import contextlib
import copy
import gc
import os
import pickle
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from measures import assert_silent_end, load_layers, script


@pytest.fixture
def layers(pb: ModuleType) -> Any:
    return load_layers(pb)


def pullback(pb: ModuleType, code: str, **kw: Any) -> Any:
    return pb.function(pb.jl.seval(code), pullback=True, **kw)


def leaf(pb: ModuleType, mx: ModuleType, values: Any) -> Any:
    x = mx.nd.array(values)
    pb.attach_grad(x)
    return x


# --- memory and layouts -----------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [8, 16, 32])
def test_a_convolution_that_is_still_under_way_is_waited_for_and_read_in_plain_order(pb, mx, channels):
    # oneDNN gives its results a blocked layout, which shows only once the operator has run.
    same = pullback(pb, "x -> (copy(x), Δ -> copy(Δ))")
    for _ in range(8):
        x, w = mx.nd.random.uniform(shape=(4, 16, 32, 32)), mx.nd.random.uniform(shape=(channels, 16, 3, 3))
        mx.nd.waitall()
        y = mx.nd.Convolution(x, w, kernel=(3, 3), num_filter=channels, no_bias=True)
        z = same(y)
        np.testing.assert_array_equal(z.asnumpy(), y.asnumpy())


@pytest.mark.parametrize("layout", ["julia", "python"])
def test_gradients_between_convolutions_are_those_of_the_native_network(pb, mx, layout):
    tanh = pullback(pb, "x -> (y = tanh.(x); (y, Δ -> Δ .* (1 .- y .^ 2)))", layout=layout)
    x = mx.nd.random.uniform(-1, 1, shape=(2, 16, 12, 12))
    w1, w2 = (mx.nd.random.uniform(-0.1, 0.1, shape=(16, 16, 3, 3)) for _ in range(2))
    found = []
    for activation in (mx.nd.tanh, tanh):
        leaves = [a.copy() for a in (x, w1, w2)]
        for a in leaves:
            pb.attach_grad(a)
        with pb.record():
            y = leaves[0]
            for w in leaves[1:]:
                y = activation(mx.nd.Convolution(y, w, kernel=(3, 3), num_filter=16, no_bias=True))
        pb.backward(y)
        found.append([pb.getgrad(a).asnumpy() for a in leaves])
    for native, julia in zip(*found):
        np.testing.assert_allclose(julia, native, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("how", ["resize!(v, 10^6)", "push!(v, 1f0)", "append!(v, zeros(Float32, 10^6))"])
def test_a_julia_vector_under_an_ndarray_cannot_be_moved(pb, how):
    v = pb.jl.seval("collect(Float32, 1:10)")
    where = pb.jl.seval("v -> Int(pointer(v))")
    a, before = pb.asndarray(v), where(v)
    with contextlib.suppress(pb.JuliaError):  # refused, or done elsewhere
        pb.jl.seval(f"v -> ({how}; nothing)")(v)
    assert where(v) == before or a.asnumpy().tolist() == list(range(1, 11))
    assert a.shape == (10,)


def test_a_buffer_that_a_living_result_lies_over_cannot_be_returned_again(pb, mx):
    f = pullback(pb, "let b = zeros(Float32, 3); x -> (b .= 2 .* x; (b, Δ -> 2 .* Δ)) end")
    first = f(mx.nd.array([1, 2, 3]))
    assert first.asnumpy().tolist() == [2, 4, 6]
    with pytest.raises(ValueError, match="result 1, an array that an earlier result still lies over"):
        f(mx.nd.array([10, 20, 30]))


def test_a_buffer_whose_earlier_results_nobody_holds_may_be_returned_again(pb, mx):
    f = pullback(pb, "let b = zeros(Float32, 10^6); x -> (b .= 2 .* x; (b, Δ -> 2 .* Δ)) end")
    for value in range(20):  # libmxnet lets go of a result when its work on it is done: later than Python
        result = f(mx.nd.full((10**6,), value))
        sums = (mx.nd.exp(result * 1e-3) + result).sum()
        del result
    assert sums.asscalar() == pytest.approx(1e6 * (np.exp(0.038) + 38), rel=1e-5)


def test_identities_in_a_row_return_what_came_in(pb, mx, layers):
    x = leaf(pb, mx, [1.0, 2.0])
    same = pb.function("TestLayers.Identity")
    with pb.record():
        y = same(same(same(x)))
    pb.backward(y)
    assert y.asnumpy().tolist() == [1, 2]
    assert pb.getgrad(x).asnumpy().tolist() == [1, 1]


def test_gradients_of_a_grad_that_fails_are_freed(pb, mx, layers):
    def failing() -> None:
        x = leaf(pb, mx, np.ones(2**18, np.float32))
        with pb.record():
            y = pb.function("TestLayers.Fails")(x) * 2
        with pytest.raises(pb.JuliaError):
            pb.grad(y, x)

    def resident() -> int:
        gc.collect()
        mx.nd.waitall()
        pb.asjulia(mx.nd.zeros(1))
        pb.jl.GC.gc()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    for _ in range(20):
        failing()
    before = resident()
    for _ in range(100):
        failing()
    assert resident() - before < 50 * 2**20  # 100 MB of results were made


# --- callbacks --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("train_mode", [True, False])
def test_a_backward_inside_record_runs_its_callbacks_unrecorded_and_in_its_own_mode(
    pb, mx, layers, train_mode
):
    seen = []
    x = leaf(pb, mx, [1.0, 2.0])
    hook = pb.function("TestLayers.Hook")
    with pb.record():
        y = hook(x, onbackward=lambda: seen.append((pb.is_recording(), pb.is_training())))
        pb.backward(y, train_mode=train_mode)
        assert (pb.is_recording(), pb.is_training()) == (True, True)
    assert seen == [(False, train_mode)]


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

    xs = [leaf(pb, mx, [1.0]) for _ in range(4)]
    with pb.record():
        y = mx.nd.add_n(*[hook(x, onbackward=lambda i=i: callback(i)) for i, x in enumerate(xs)])
    with pytest.raises(ValueError, match="of branch 2"):
        pb.backward(y)


def test_create_graph_inside_a_callback_is_no_matter_of_the_outer_backward(pb, mx, layers):
    hook = pb.function("TestLayers.Hook")
    inner = []
    for _ in range(4):
        a = leaf(pb, mx, [3.0])
        inner.append((pb.record(lambda a=a: mx.nd.sin(a)), a))

    def callback(i: int) -> None:
        time.sleep(0.05)
        with pb.record():
            pb.grad(*inner[i], create_graph=True)

    xs = [leaf(pb, mx, [1.0]) for _ in range(4)]
    with pb.record():
        y = mx.nd.add_n(*[hook(x, onbackward=lambda i=i: callback(i)) for i, x in enumerate(xs)])
    pb.backward(y)
    assert [pb.getgrad(x).asscalar() for x in xs] == [2, 2, 2, 2]


@pytest.mark.parametrize("native", ["broadcast_mul", "FullyConnected"])
def test_a_callback_may_compute_below_many_native_layers(pb, mx, layers, native):
    # Their backwards wait for the callback and hold temporary memory of the thread that scheduled them.
    steps = {
        "broadcast_mul": lambda y: mx.nd.broadcast_mul(y, mx.nd.ones((1, 3))),
        "FullyConnected": lambda y: mx.nd.FullyConnected(y, weight, num_hidden=3, no_bias=True),
    }
    weight, read = leaf(pb, mx, np.ones((3, 3))), []

    def callback() -> None:
        a, b = leaf(pb, mx, np.ones((4, 3))), leaf(pb, mx, np.ones((1, 3)))
        pb.backward(pb.record(lambda: mx.nd.broadcast_mul(a, b)))
        read.append(pb.getgrad(b).asnumpy().tolist())
        read.append((mx.nd.ones((1, 3)) + 3).asnumpy().tolist())
        read.append(mx.nd.sum(mx.nd.ones((4, 3)), axis=0, keepdims=True).asnumpy().tolist())

    x = leaf(pb, mx, np.ones((4, 3)))
    with pb.record():
        y = x
        for _ in range(8):
            y = steps[native](y)
        z = pb.function("TestLayers.Hook")(y, onbackward=callback)
    pb.backward(z)
    assert read == [[[4, 4, 4]]] * 3


@pytest.mark.parametrize("inner", ["operators", "backward"])
def test_callbacks_of_a_hundred_parallel_branches_do_not_run_inside_each_other(pb, mx, layers, inner):
    hook = pb.function("TestLayers.Hook")
    running, deepest, done = 0, 0, 0

    def work() -> None:
        a = leaf(pb, mx, [3.0])
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

    xs = [leaf(pb, mx, [1.0]) for _ in range(100)]
    with pb.record():
        y = mx.nd.add_n(*[hook(x, onbackward=callback) for x in xs])
    pb.backward(y)
    assert done == 100
    assert deepest < 30
    assert [pb.getgrad(x).asscalar() for x in xs] == [2.0] * 100


def test_random_numbers_drawn_in_a_callback_follow_the_seed_and_are_not_the_owners(pb, mx, layers):
    hook = pb.function("TestLayers.Hook")

    def draw(seed: int) -> tuple[Any, Any]:
        x, drawn = leaf(pb, mx, [1.0]), []
        mx.random.seed(seed)
        with pb.record():
            y = hook(x, onbackward=lambda: drawn.append(mx.nd.random.uniform(shape=(4,)).asnumpy().tolist()))
        pb.backward(y)
        return drawn[0], mx.nd.random.uniform(shape=(4,)).asnumpy().tolist()

    first, again, other = draw(7), draw(7), draw(8)
    assert first == again
    assert first[0] != other[0]
    assert first[0] != first[1]


def test_serve_inside_a_callback_is_refused(pb, mx, layers):
    x = leaf(pb, mx, [1.0])
    with pb.record():
        y = pb.function("TestLayers.Hook")(x, onbackward=lambda: pb.serve(lambda: True))
    with pytest.raises(
        RuntimeError, match=r"serve: called inside the backward of Julia function TestLayers\.Hook"
    ):
        pb.backward(y)


def test_twenty_backwards_inside_each_other(pb, mx, layers):
    hook = pb.function("TestLayers.Hook")

    def nest(depth: int) -> None:
        if depth == 0:
            return
        x = leaf(pb, mx, [1.0, 2.0])
        with pb.record():
            y = hook(x, onbackward=lambda: nest(depth - 1))
        pb.backward(y)
        assert pb.getgrad(x).asnumpy().tolist() == [2, 2]

    nest(20)
    assert layers.ncalls("Hook.backward") == 20


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


# --- interrupts -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("period", "storm"), [(3e-4, 1), (5e-5, 20)], ids=["single", "storms"])
def test_interrupts_at_any_moment_neither_hang_nor_spoil_the_next_step(run_python, period, storm):
    result = run_python(
        script(
            f"""
            import random, time

            double = pb.function(pb.jl.seval("x -> (2 .* x, Δ -> 2 .* Δ)"), pullback=True)
            hook = pb.function("TestLayers.Hook")
            x = mx.nd.ones(10)
            pb.attach_grad(x)

            def inner():
                z = mx.nd.ones(3)
                pb.attach_grad(z)
                with pb.record():
                    w = double(z)
                pb.backward(w)
                assert z.grad.asnumpy()[0] == 2

            def step():
                with pb.record():
                    y = double(hook(double(double(x)), onbackward=inner))
                pb.backward(y)
                return x.grad.asnumpy()

            step()
            armed = 0

            def interrupt(*_):
                global armed
                if armed > 0:
                    armed -= 1
                    raise KeyboardInterrupt

            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, 1e-3, {period})
            end, interrupted, slowest = time.monotonic() + 10, 0, 0
            while time.monotonic() < end:
                try:
                    try:
                        time.sleep(random.uniform(0, 1e-3))
                        armed = {storm}
                        step()
                        armed = 0
                    except KeyboardInterrupt:
                        armed = 0
                        interrupted += 1
                except KeyboardInterrupt:
                    armed = 0
                armed = 0
                pb.set_recording(False)  # a scope whose exit was interrupted
                pb.set_training(False)
                begun = time.monotonic()
                assert step().tolist() == [16] * 10
                mx.nd.waitall()
                slowest = max(slowest, time.monotonic() - begun)
            signal.setitimer(signal.ITIMER_REAL, 0)
            assert interrupted > 100, interrupted
            assert slowest < 5, slowest
            step()
            gc.collect()
            mx.nd.waitall()
            step()
            print("left over", pb.jl.PyBridge.node_count() - pb._dispatch.pump.quick.pb_live_nodes())
            leave()
            """
        ),
        env={"PYBRIDGE_TIMEOUT": "10"},
        timeout=180,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert int(result.stdout.partition("left over ")[2].split()[0]) < 20


@pytest.mark.parametrize("what", ["forward", "backward"])
def test_ctrl_c_in_serve_is_the_owners_and_the_served_thread_ends(run_python, what):
    result = run_python(
        script(
            f"""
            import time

            busy = "t = time(); while time() - t < 0.05 end"
            where = {{"forward": f"x -> ({{busy}}; (2 .* x, Δ -> 2 .* Δ))",
                      "backward": f"x -> (2 .* x, Δ -> ({{busy}}; 2 .* Δ))"}}
            f = pb.function(pb.jl.seval(where[{what!r}]), pullback=True)
            x = mx.nd.ones(3)
            pb.attach_grad(x)
            stop, told = threading.Event(), []

            def work():
                try:
                    while not stop.is_set():
                        with pb.record():
                            y = f(x)
                        pb.backward(y)
                except Exception as error:
                    told.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT)).start()
            try:
                pb.serve(until=thread, timeout=30)
            except KeyboardInterrupt:
                print("the owner was interrupted")
            stop.set()
            thread.join(30)
            assert not thread.is_alive()
            assert_next_step_is_right()
            leave()
            """
        )
    )
    assert "the owner was interrupted" in result.stdout, result.stderr
    assert_silent_end(result)


# --- forks and ends ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", ["pybridge, mxnet", "pybridge._libmxnet"])
def test_a_fork_while_another_threads_backward_waits_comes_through(run_python, first):
    result = run_python(
        f"import {first}\n"  # whose fork handlers are registered first
        + script(
            """
            import time

            f = pb.function("TestLayers.Square")
            x = mx.nd.ones(3)
            pb.attach_grad(x)
            with pb.record():
                y = f(x)
            told = []

            def work():
                try:
                    pb.backward(y)
                except RuntimeError as error:
                    told.append(error)

            thread = threading.Thread(target=work)
            thread.start()
            time.sleep(0.3)
            child = os.fork()
            if child == 0:
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
            pb.serve(until=thread, timeout=30)
            assert len(told) == 1, told
            assert_next_step_is_right()
            leave()
            """
        ),
        timeout=90,
    )
    assert_silent_end(result)


def test_a_forked_child_ends_with_its_own_status_and_in_silence(run_python):
    result = run_python(
        script(
            """
            f = pb.function("TestLayers.Square")
            x = mx.nd.array([1.0, 2.0])
            pb.attach_grad(x)
            with pb.record():
                y = f(x)
            view = pb.asjulia(x)
            child = os.fork()
            if child == 0:
                assert (mx.nd.ones(3) * 2).asnumpy().tolist() == [2, 2, 2]
                del view, y
                gc.collect()
                sys.exit(7)
            status = os.waitpid(child, 0)[1]
            assert os.WIFEXITED(status) and os.WEXITSTATUS(status) == 7, status
            pb.backward(y)
            assert x.grad.asnumpy().tolist() == [2, 4]
            leave()
            """
        )
    )
    assert_silent_end(result)
    assert "Assertion" not in result.stderr


def test_a_step_in_an_exit_handler_is_right_or_says_why_not(run_python):
    result = run_python(
        # Registered after mxnet's own handler and before Julia's, so it runs between them.
        "import atexit, pybridge, mxnet; atexit.register(lambda: late())\n"
        + script(
            """
            f = pb.function("TestLayers.Square")
            x = mx.nd.array([1.0, 2.0])
            pb.attach_grad(x)
            f(x)

            def late():
                try:
                    with pb.record():
                        y = f(x)
                    pb.backward(y)
                except Exception as error:
                    print("told", error)
                else:
                    print("gradient", x.grad.asnumpy().tolist())
            """
        )
    )
    assert result.returncode == 0, result.stderr
    assert "gradient [2.0, 4.0]" in result.stdout or "told" in result.stdout, result.stdout + result.stderr


@pytest.mark.parametrize("what", ["f(x)", "y.backward(retain_graph=True)"])
def test_a_thread_that_goes_on_after_the_owner_has_ended_is_told(run_python, what):
    result = run_python(
        script(
            f"""
            import time

            f = pb.function("TestLayers.Square")
            x = mx.nd.ones(3)
            pb.attach_grad(x)
            begun = threading.Event()

            def work():
                with pb.record():
                    y = f(x)
                begun.set()
                try:
                    while True:
                        {what}
                except Exception as error:
                    print(type(error).__name__, flush=True)

            threading.Thread(target=work).start()
            pb.serve(until=begun)
            time.sleep(0.2)
            """
        ),
        env={"PYBRIDGE_TIMEOUT": "0"},
        timeout=60,
    )
    assert result.returncode == 0, result.stderr
    assert "Error" in result.stdout


# --- other threads ----------------------------------------------------------------------------------------


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


# --- function objects and messages ------------------------------------------------------------------------


def test_a_copy_of_a_function_outlives_it(pb, mx, layers):
    f = pb.function("TestLayers.Square")
    copies = copy.copy(f), copy.deepcopy(f)
    del f
    gc.collect()
    other = pb.function("TestLayers.Sigmoid")
    other(mx.nd.ones(1))
    assert [g(mx.nd.array([3.0])).asscalar() for g in copies] == [9, 9]


def test_a_function_is_pickled_by_name_or_not_at_all(pb, mx, layers):
    named = pickle.dumps(pb.function("TestLayers.Scale", factor=3))
    assert pickle.loads(named)(mx.nd.array([2.0])).asscalar() == 6
    with pytest.raises(TypeError, match="name"):
        pickle.dumps(pullback(pb, "x -> (2 .* x, Δ -> 2 .* Δ)"))


def test_the_error_of_a_python_function_is_not_explained_as_a_symbol_of_julia(pb, mx, capfd):
    class Failing(mx.autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 2

        def backward(self, dy: Any) -> Any:
            raise RuntimeError("of its own")

    x = leaf(pb, mx, [1.0])
    with pb.record():
        y = Failing()(x)
    with pytest.raises(mx.base.MXNetError) as raised:
        pb.backward(y)
        mx.nd.waitall()
    assert "a symbol that holds" not in str(raised.value)
    assert "of its own" in "".join(capfd.readouterr())  # where MXNet prints it
