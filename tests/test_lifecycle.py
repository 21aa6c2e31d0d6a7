"""Beginnings and ends: exit, signals, fork, the timeout, IPython and a Jupyter kernel."""

from __future__ import annotations

import os
import queue
import sys
import textwrap
import time
from collections.abc import Iterator
from typing import Any

import pytest
from measures import assert_silent_end, script

# --- exit -------------------------------------------------------------------------------------------------

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


# --- signals ----------------------------------------------------------------------------------------------


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


# --- fork -------------------------------------------------------------------------------------------------

FORK = """
def in_child(work):
    # Runs work in a forked child: its status, 0 when nothing was raised. The child leaves through os._exit,
    # as multiprocessing's do.
    sys.stdout.flush(); sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            work()
            status = 0
        except BaseException:
            import traceback; traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(status)
    deadline = threading.Timer(60, os.kill, (pid, signal.SIGKILL)); deadline.start()
    status = os.waitpid(pid, 0)[1]
    deadline.cancel()
    return status

def native_work():
    x = mx.nd.array([1.0, 2.0]); x.attach_grad()
    with pb.record():
        y = (x * x).sum()
    y.backward()
    assert (x.grad.asnumpy() == [2, 4]).all()
    assert (mx.nd.dot(mx.nd.ones((50, 50)), mx.nd.ones((50, 50))).asnumpy() == 50).all()
    net = mx.gluon.nn.Dense(2, in_units=3); net.initialize()
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.1})
    with mx.autograd.record():
        loss = mx.nd.square(net(mx.nd.ones((4, 3)))).mean()
    loss.backward(); trainer.step(1); mx.nd.waitall()
"""


def test_a_child_forked_before_julia_started_works_and_the_parent_starts_julia(run_python):
    result = run_python(
        "import os, signal, sys, threading\nimport pybridge as pb\nimport mxnet as mx\nimport numpy as np\n"
        + textwrap.dedent(FORK)
        + textwrap.dedent("""
        native_work()
        assert in_child(native_work) == 0
        assert pb.jl.seval("1 + 1") == 2
        native_work()
        print("the last word", flush=True); print("---", file=sys.stderr, flush=True)
        """)
    )
    assert_silent_end(result)


def test_a_child_forked_after_does_native_work_and_is_told_that_julia_stayed_behind(run_python):
    result = run_python(
        script(
            FORK
            + """
assert_next_step_is_right()
x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
square = pb.function("TestLayers.Square")
with pb.record():
    y = square(x)          # alive across the fork

open("empty.jl", "w").close()
def julia_work():
    for touch in (lambda: square(x), lambda: pb.jl.seval("1"), lambda: pb.asjulia(x), lambda: y.backward(),
                  lambda: pb.include("empty.jl"), lambda: pb.function("TestLayers.Sigmoid")(x)):
        try:
            touch()
        except RuntimeError as error:
            assert "fork" in str(error), error
        else:
            raise AssertionError("no error")
    native_work()

def drop():
    global y, square
    y = square = None
    gc.collect(); mx.nd.waitall()
    native_work()

def leave_through_exit():
    sys.exit(0)

assert in_child(native_work) == 0
assert in_child(julia_work) == 0
assert in_child(drop) == 0
# A child of a child.
assert in_child(lambda: native_work() or os._exit(in_child(native_work))) == 0
# The parent is as before.
y.backward()
np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])
assert_next_step_is_right()

# Children that leave through Python's own exit: multiprocessing with fork.
import multiprocessing
context = multiprocessing.get_context("fork")
process = context.Process(target=native_work); process.start(); process.join(60)
assert process.exitcode == 0, process.exitcode
sys.stdout.flush(); sys.stderr.flush()
pid = os.fork()
if pid == 0:
    native_work()
    sys.exit(7)
deadline = threading.Timer(60, os.kill, (pid, signal.SIGKILL)); deadline.start()
assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
deadline.cancel()

# A DataLoader with forked workers, in the middle of training.
data = mx.gluon.data.ArrayDataset(mx.nd.arange(24).reshape((12, 2)), mx.nd.arange(12))
rows = 0
for batch, label in mx.gluon.data.DataLoader(data, batch_size=4, num_workers=2):
    pb.attach_grad(batch)
    with pb.record():
        z = square(batch)
    z.backward()
    np.testing.assert_array_equal(batch.grad.asnumpy(), 2 * batch.asnumpy())
    rows += batch.shape[0]
assert rows == 12
leave()
"""
        ),
        timeout=300,
    )
    assert_silent_end(result)


def test_forking_inside_a_callback_raises_and_a_plain_subprocess_works(run_python):
    result = run_python(
        script("""
        import subprocess
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        def fork():
            pid = os.fork()
            if pid == 0:
                os._exit(0)
            os.waitpid(pid, 0)
        said = []
        def run():
            said.append(subprocess.run([sys.executable, "-c", "print('hello')"], capture_output=True, text=True).stdout)
        for where in ("onforward", "onbackward"):
            try:
                with pb.record():
                    y = pb.function("TestLayers.Hook", **{where: fork})(x)
                y.backward()
            except RuntimeError as error:
                assert "fork" in str(error), error
            else:
                assert where == "onforward", "no error"   # no callback of libmxnet: forking may be possible there
            with pb.record():
                y = pb.function("TestLayers.Hook", **{where: run})(x)
            y.backward()
            assert_next_step_is_right()
        assert said == ["hello\\n"] * 2
        leave()
        """)
    )
    assert_silent_end(result)


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


# --- IPython and Jupyter ----------------------------------------------------------------------------------

CELLS = {
    "define": """
import pybridge as pb, mxnet as mx, numpy as np, os, signal, threading
pb.jl.seval('''
using PyBridge
struct CellScale <: CustomFunction end
PyBridge.forward(::CellScale, x) = 2 .* x
PyBridge.backward(::CellScale, Δ) = 2 .* Δ
''')
f = pb.function("CellScale")
x = mx.nd.array([1.0, 2.0]); g = pb.attach_grad(x)
def step():
    with pb.record():
        y = f(x)
    y.backward()
    return y.asnumpy().tolist(), g.asnumpy().tolist()
""",
    "redefine": """
pb.jl.seval('''
PyBridge.forward(::CellScale, x) = 3 .* x
PyBridge.backward(::CellScale, Δ) = 3 .* Δ
''')
""",
}


def test_ipython_runs_julia_functions_with_and_without_juliacalls_extension(run_python, tmp_path):
    code = (
        CELLS["define"]
        + "assert step() == ([2, 4], [2, 2])\n"
        + CELLS["redefine"]
        + "assert step() == ([3, 6], [3, 3])\n"
        + "get_ipython().run_line_magic('load_ext', 'juliacall')\n"
        + "assert get_ipython().run_line_magic('julia', '40 + 2') == 42\n"
        + "assert step() == ([3, 6], [3, 3])\n"
        + "print('the last word')\n"
    )
    result = run_python(
        f"import sys\nfrom IPython import start_ipython\nsys.exit(start_ipython(argv=['-c', {code!r}]))\n",
        env={"IPYTHONDIR": str(tmp_path / "ipython")},
    )
    assert result.returncode == 0, result.stderr
    assert "the last word" in result.stdout, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr


class Kernel:
    """A Jupyter kernel of this interpreter, driven as a notebook drives it."""

    def __init__(self, folder: Any) -> None:
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager()
        self.manager.kernel_spec.argv = [
            sys.executable,
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
        ]
        self.manager.start_kernel(
            cwd=str(folder),
            env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_NO_HISTORY": "1"},
        )
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def start(self, code: str) -> str:
        return self.client.execute(code, store_history=False)

    def until(self, request: str, text: str | None = None, timeout: float = 120) -> tuple[str, str | None]:
        """What the cell printed, and the name of its error; comes back early once ``text`` is printed."""
        printed, error = "", None
        deadline = time.monotonic() + timeout
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"the kernel is silent; it had printed: {printed}")
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                printed += content["text"]
                if text is not None and text in printed:
                    return printed, None
            elif kind == "execute_result":
                printed += content["data"]["text/plain"]
            elif kind == "error":
                error = content["ename"]
                printed += "\n".join(content["traceback"])
            elif kind == "status" and content["execution_state"] == "idle":
                return printed, error

    def run(self, code: str) -> str:
        printed, error = self.until(self.start(code))
        assert error is None, printed
        return printed


@pytest.fixture
def kernel(tmp_path: Any) -> Iterator[Kernel]:
    kernel = Kernel(tmp_path)
    try:
        yield kernel
    finally:
        kernel.close()


def test_a_jupyter_kernel_trains_redefines_is_interrupted_and_idles(kernel):
    kernel.run(CELLS["define"])
    assert kernel.run("step()") == "([2.0, 4.0], [2.0, 2.0])"
    kernel.run(CELLS["redefine"])
    assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"

    # Idle between cells: another thread gets its clear error, and does not hang.
    kernel.run("""
outcome, idle = [], threading.Event()
def work():
    idle.wait(60)
    try:
        f(mx.nd.array([1.0]))
    except Exception as error:
        outcome.append(f"{type(error).__name__}: {error}")
    else:
        outcome.append("served")
worker = threading.Thread(target=work); worker.start(); idle.set()
""")
    printed = kernel.run("worker.join(60); assert not worker.is_alive(); print(outcome)")
    assert "serve" in printed

    # The interrupt button, in a training loop and in a Julia callback that calls Python.
    for cell in (
        "print('running', flush=True)\nwhile True: step()",
        "h = pb.jl.seval('''struct CellWait <: CustomFunction; hook; CellWait(; hook) = new(hook); end;"
        " PyBridge.forward(::CellWait, x) = copy(x);"
        " PyBridge.backward(f::CellWait, Δ) = (f.hook(); copy(Δ)); CellWait''')\n"
        "with pb.record(): y = pb.function(h, hook=lambda: (print('running', flush=True),"
        " threading.Event().wait(60)))(x)\n"
        "y.backward()",
    ):
        request = kernel.start(cell)
        printed, error = kernel.until(request, text="running")
        assert error is None and "running" in printed, printed
        kernel.manager.interrupt_kernel()
        _, error = kernel.until(request)
        assert error == "KeyboardInterrupt"
        assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"

    # juliacall's own extension, loaded by hand.
    kernel.run("%load_ext juliacall")
    assert kernel.run("%julia 40 + 2") == "42"
    assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"
    assert "from Julia" in kernel.run('%julia println("from Julia")')
    # A Julia error in a cell is shown with its message, and the kernel lives on.
    printed, error = kernel.until(kernel.start("pb.jl.seval('error(\"refused here\")')"))
    assert error == "JuliaError"
    assert "refused here" in printed
    assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"


def test_a_jupyter_kernel_ends_when_told_to(tmp_path):
    kernel = Kernel(tmp_path)
    try:
        kernel.run(CELLS["define"])
        kernel.run("step()")
        kernel.client.shutdown()
        deadline = time.monotonic() + 60
        while kernel.manager.is_alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not kernel.manager.is_alive(), "the kernel hangs at its end"
    finally:
        kernel.close()
