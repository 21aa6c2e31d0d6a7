"""Ctrl-C and SIGTERM, at any moment: raised where the work is, and the next step is right."""

from __future__ import annotations

import textwrap

import pytest
from measures import assert_silent_end, script

# --- Ctrl-C -----------------------------------------------------------------------------------------------


def test_keyboard_interrupt_in_a_backward_is_raised_by_it_and_the_next_step_is_right(run_python):
    result = run_python(
        script("""
        square = pb.function("TestLayers.Square")
        def interrupted(hook):
            x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
            with pb.record():
                y = square(pb.function("TestLayers.Hook", onbackward=hook)(square(x)))
            try:
                y.backward()
            except KeyboardInterrupt:
                assert not pb.is_recording()
            else:
                raise AssertionError("no KeyboardInterrupt")
            mx.nd.waitall()
            assert_next_step_is_right()

        # Raised by a Python function that a Julia callback calls.
        interrupted(lambda: signal.raise_signal(signal.SIGINT))
        interrupted(lambda: os.kill(os.getpid(), signal.SIGINT))

        # Sent by another thread while a Python function called by Julia waits.
        def wait_for_it():
            entered.set()
            threading.Event().wait(60)
        entered = threading.Event()
        sender = threading.Thread(target=lambda: (entered.wait(60), os.kill(os.getpid(), signal.SIGINT)))
        sender.start()
        interrupted(wait_for_it)
        sender.join(60)

        # In Julia code it takes effect when the call returns.
        interrupted(lambda: pb.jl.seval("ccall(:raise, Cint, (Cint,), 2); sum(1:100)"))

        # Sent while the owner pumps: the callback is over, native work of the backward goes on.
        eye = mx.nd.eye(1200)
        x = mx.nd.ones((1200, 1200)); pb.attach_grad(x)
        with pb.record():
            y = square(x)
            for _ in range(40):
                y = mx.nd.dot(y, eye)
            y = pb.function("TestLayers.Hook", onbackward=lambda: entered.set())(y)
        entered.clear()
        sender = threading.Thread(target=lambda: (entered.wait(60), os.kill(os.getpid(), signal.SIGINT)))
        sender.start()
        try:
            y.backward()
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("no KeyboardInterrupt")
        sender.join(60)
        mx.nd.waitall()
        assert_next_step_is_right()

        # In serve, and in a training loop.
        serving = threading.Event()
        sender = threading.Thread(target=lambda: (serving.wait(60), os.kill(os.getpid(), signal.SIGINT)))
        sender.start()
        try:
            pb.serve(lambda: serving.set(), timeout=60)
        except KeyboardInterrupt:
            pass
        else:
            raise AssertionError("no KeyboardInterrupt")
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        step = 0
        try:
            while True:
                with pb.record():
                    y = square(x)
                y.backward()
                step += 1
                if step == 50:
                    threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                assert step < 1_000_000
        except KeyboardInterrupt:
            pass
        assert step >= 50
        assert_next_step_is_right()
        leave()
        """),
        timeout=180,
    )
    assert_silent_end(result)


def test_an_uncaught_keyboard_interrupt_in_a_backward_ends_the_process_as_python_does(run_python):
    result = run_python(
        script("""
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        with pb.record():
            square = pb.function("TestLayers.Square")
            y = square(pb.function("TestLayers.Hook", onbackward=lambda: signal.raise_signal(signal.SIGINT))(square(x)))
        print("---", file=sys.stderr, flush=True)
        y.backward()
        """)
    )
    assert result.returncode in (-2, 130)
    told = result.stderr.partition("---\n")[2]
    assert told.rstrip().endswith("KeyboardInterrupt")
    assert "atexit" not in told
    assert "signal (2)" not in told


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


# --- SIGTERM ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("where", ["in a training loop", "in a Julia callback"])
def test_sigterm_ends_the_process(run_python, where):
    code = {
        "in a training loop": """
        step = 0
        while True:
            with pb.record():
                y = pb.function("TestLayers.Square")(x)
            y.backward()
            step += 1
            if step == 20:
                threading.Thread(target=lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
            assert step < 1_000_000
        """,
        "in a Julia callback": """
        with pb.record():
            y = pb.function("TestLayers.Hook", onbackward=lambda: os.kill(os.getpid(), signal.SIGTERM))(x)
        y.backward()
        threading.Event().wait(60)
        """,
    }[where]
    result = run_python(script("x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)\n" + textwrap.dedent(code)))
    assert result.returncode in (-15, 143), result.stderr


def test_a_sigterm_handler_of_the_users_own_is_called(run_python):
    result = run_python(
        script("""
        caught = []
        signal.signal(signal.SIGTERM, lambda number, frame: caught.append(number))
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        with pb.record():
            y = pb.function("TestLayers.Hook", onbackward=lambda: os.kill(os.getpid(), signal.SIGTERM))(x)
        y.backward()
        assert caught == [signal.SIGTERM]
        np.testing.assert_array_equal(x.grad.asnumpy(), 2)
        leave()
        """)
    )
    assert_silent_end(result)
