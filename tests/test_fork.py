"""Forks: children do native work, are told that Julia stayed behind, and leave the parent as it was."""

from __future__ import annotations

import textwrap

import pytest
from measures import assert_silent_end, script

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
