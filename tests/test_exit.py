"""Ends: the process keeps its status and is silent, whatever is alive, pending or still running."""

from __future__ import annotations

import pytest
from measures import assert_silent_end, script

EXITS = {
    "after a step, with a graph alive": (
        0,
        """
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        f = pb.function("TestLayers.Square")
        with pb.record():
            y = f(x); z = f(y)
        y.backward(retain_graph=True)
        kept = [pb.jl.zeros(3), pb.asjulia(x), pb.asndarray(pb.jl.ones(3)), pb.function(L.Sigmoid)]
        leave()
        """,
    ),
    "sys.exit(3) inside record": (
        3,
        """
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        with pb.record():
            y = pb.function("TestLayers.Square")(x)
            leave(3)
        """,
    ),
    "sys.exit(4) inside a Julia backward": (
        4,
        """
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        with pb.record():
            square = pb.function("TestLayers.Square")
            y = square(pb.function("TestLayers.Hook", onbackward=lambda: leave(4))(square(x)))
        y.backward()
        """,
    ),
    "with native work and forwards pending": (
        0,
        """
        eye = mx.nd.eye(900)
        x = mx.nd.ones((900, 900)); pb.attach_grad(x)
        y = eye
        for _ in range(20):
            y = mx.nd.dot(y, eye)
        with pb.record():
            z = pb.function("TestLayers.Square")(x) + mx.nd.dot(y, eye)
        w = pb.asndarray(pb.jl.ones(pb.jl.Float32, 900, 900))
        for _ in range(20):
            w = mx.nd.dot(w, y)
        leave()
        """,
    ),
    "with a request of another thread unserved": (
        0,
        """
        eye, stop = mx.nd.eye(800), threading.Event()
        square, hook = pb.function("TestLayers.Square"), pb.function("TestLayers.Hook", onbackward=stop.set)
        def work():
            x = mx.nd.ones((800, 800)); x.attach_grad()
            with mx.autograd.record():
                # The first callback makes the owner leave; the second one, behind native work, finds nobody.
                y = square(x)
                for _ in range(20):
                    y = mx.nd.dot(eye, y)
                y = hook(y)
            try:
                y.backward()
            except (RuntimeError, TimeoutError):
                print("the request has failed", flush=True)
        worker = threading.Thread(target=work)   # no daemon: Python joins it at exit
        worker.start()
        pb.serve(stop)
        leave()
        """,
    ),
    "with a daemon thread waiting": (
        5,
        """
        eye, stop = mx.nd.eye(800), threading.Event()
        square, hook = pb.function("TestLayers.Square"), pb.function("TestLayers.Hook", onbackward=stop.set)
        def work():
            x = mx.nd.ones((800, 800)); x.attach_grad()
            with mx.autograd.record():
                y = square(x)
                for _ in range(20):
                    y = mx.nd.dot(eye, y)
                y = hook(y)
            try:
                y.backward()
            except (RuntimeError, TimeoutError):
                pass
        threading.Thread(target=work, daemon=True).start()
        pb.serve(stop)
        leave(5)
        """,
    ),
    "without Julia ever started": (
        0,
        None,
    ),
}


@pytest.mark.parametrize("case", EXITS)
def test_the_process_ends_with_its_status_and_in_silence(run_python, case):
    status, body = EXITS[case]
    if body is None:
        code = """
        import sys
        import pybridge as pb, mxnet as mx
        x = mx.nd.array([1.0]); pb.attach_grad(x)
        with pb.record():
            y = x * x
        pb.backward(y)
        assert x.grad.asscalar() == 2
        print("the last word", flush=True); print("---", file=sys.stderr, flush=True)
        """
        result = run_python(code)
    else:
        result = run_python(script(body), env={"PYBRIDGE_TIMEOUT": "0"})
    assert_silent_end(result, status)
    assert ("the request has failed" in result.stdout) == ("unserved" in case)


def test_an_uncaught_julia_error_ends_with_status_one_and_its_own_text(run_python):
    result = run_python(
        script("""
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        with pb.record():
            y = pb.function("TestLayers.Fails")(pb.function("TestLayers.Square")(x))
        print("---", file=sys.stderr, flush=True)
        y.backward()
        """)
    )
    assert result.returncode == 1
    told = result.stderr.partition("---\n")[2]
    assert "refused with code 18" in told
    assert "refuse_here" in told
    assert "layers.jl" in told
    assert told.count("Traceback") == 1
    assert "atexit" not in told


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
