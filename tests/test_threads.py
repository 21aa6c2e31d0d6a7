"""The owner rule: Julia runs on one thread, nothing of ours on libmxnet's, whoever asks and however deep."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import sysconfig
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from measures import assert_silent_end, load_layers, script

VALUES = np.array([1.0, 2.0, 3.0])
JOIN = 60


@pytest.fixture
def layers(pb: ModuleType) -> Any:
    return load_layers(pb)


@pytest.fixture(params=["nd", "np"])
def front(request: pytest.FixtureRequest, mx: ModuleType) -> Iterator[Any]:
    """mx.nd, and mx.np with its shape semantics."""
    if request.param == "nd":
        yield mx.nd
    else:
        with mx.util.np_shape(True), mx.util.np_array(True):
            yield mx.np


def leaf(pb: ModuleType, front: Any, values: Any = VALUES, grad_req: str = "write") -> Any:
    x = front.array(values)
    pb.attach_grad(x, grad_req)
    return x


class Worker(threading.Thread):
    """A Python thread that keeps what its function returned or raised."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.value = self.work()
        except BaseException as error:
            self.error = error

    def outcome(self) -> Any:
        self.join(JOIN)
        assert not self.is_alive(), "the thread hangs"
        if self.error is not None:
            raise self.error
        return self.value


# --- the front doors --------------------------------------------------------------------------------------

DOORS = {
    "pb.backward": lambda pb, mx, y, x: pb.backward(y),
    "y.backward": lambda pb, mx, y, x: y.backward(),
    "mx.autograd.backward": lambda pb, mx, y, x: mx.autograd.backward([y]),
    "mx.autograd.grad": lambda pb, mx, y, x: mx.autograd.grad(y, [x])[0],
    "pb.grad": lambda pb, mx, y, x: pb.grad(y, x),
    "contrib.backward": lambda pb, mx, y, x: mx.contrib.autograd.backward([y]),
    "contrib.compute_gradient": lambda pb, mx, y, x: mx.contrib.autograd.compute_gradient([y]),
}


@pytest.mark.parametrize("door", DOORS)
def test_every_door_runs_all_callbacks_on_the_owner_before_it_returns(pb, mx, front, layers, door):
    square, sig = pb.function("TestLayers.Square"), pb.function("TestLayers.Sigmoid")
    x = leaf(pb, front)
    with pb.record():
        y = square(square(x) * 2)
        unused = sig(x)
    gradient = DOORS[door](pb, mx, y, x)
    # Nothing is pending: both callbacks have run, without anything having waited for a result.
    assert layers.ncalls("Square.backward") == 2
    assert layers.ncalls("Sigmoid.backward") == 0
    assert tuple(layers.threads()) == (threading.get_ident(),)
    np.testing.assert_array_equal((x.grad if gradient is None else gradient).asnumpy(), 16 * VALUES**3)
    del unused


def test_contrib_grad_and_loss_runs_julia_functions(pb, mx, layers):
    square = pb.function("TestLayers.Square")
    grads, loss = mx.contrib.autograd.grad_and_loss(lambda a: square(a) * 3)(mx.nd.array(VALUES))
    np.testing.assert_array_equal(loss.asnumpy(), 3 * VALUES**2)
    np.testing.assert_array_equal(grads[0].asnumpy(), 6 * VALUES)
    with mx.contrib.autograd.train_section():
        assert pb.is_recording()


def test_a_trainer_loop_leaves_nothing_pending(pb, mx, layers):
    square = pb.function("TestLayers.Square")
    weight = mx.gluon.Parameter("weight", shape=(3,), init=mx.init.One())
    weight.initialize()
    trainer = mx.gluon.Trainer({"weight": weight}, "sgd", {"learning_rate": 0.25})
    expected = np.ones(3)
    for step in range(1, 11):
        with mx.autograd.record():
            loss = square(weight.data() - mx.nd.array(VALUES)).sum()
        loss.backward()
        assert layers.ncalls("Square.backward") == step
        trainer.step(1)
        expected -= 0.25 * 2 * (expected - VALUES)
    np.testing.assert_allclose(weight.data().asnumpy(), expected, rtol=1e-5)
    assert tuple(layers.threads()) == (threading.get_ident(),)


def test_native_graphs_keep_their_own_ways_while_julia_nodes_are_alive(pb, mx, layers):
    x, native = leaf(pb, mx.nd), leaf(pb, mx.nd)
    with pb.record():
        alive = pb.function("TestLayers.Square")(x)
        y = native * native
    y.backward()
    np.testing.assert_array_equal(native.grad.asnumpy(), 2 * VALUES)
    assert layers.ncalls("Square.backward") == 0
    alive.backward()
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * VALUES)


def test_a_python_custom_function_and_a_julia_function_share_one_graph(pb, mx, layers):
    class Cube(mx.autograd.Function):
        def forward(self, x: Any) -> Any:
            self.save_for_backward(x)
            return x * x * x

        def backward(self, head: Any) -> Any:
            return head * 3 * self.saved_tensors[0] * self.saved_tensors[0]

    x = leaf(pb, mx.nd)
    with pb.record():
        y = Cube()(pb.function("TestLayers.Square")(x)) + pb.function("TestLayers.Square")(Cube()(x))
    y.backward()
    np.testing.assert_allclose(x.grad.asnumpy(), 12 * VALUES**5)


# --- no thread of libmxnet enters Python ------------------------------------------------------------------

SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>

/* Which threads have entered Python, seen from outside. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long seen[4096];
static int count;

int PyGILState_Ensure(void)
{
    static int (*real)(void);
    unsigned long self = (unsigned long)pthread_self();
    int i;
    pthread_mutex_lock(&lock);
    if (!real)
        real = (int (*)(void))dlsym(RTLD_NEXT, "PyGILState_Ensure");
    for (i = 0; i < count && seen[i] != self; i++)
        ;
    if (i == count && count < 4096)
        seen[count++] = self;
    pthread_mutex_unlock(&lock);
    return real();
}

int shim_threads(unsigned long *out)
{
    int i, n;
    pthread_mutex_lock(&lock);
    n = count;
    for (i = 0; i < n; i++)
        out[i] = seen[i];
    pthread_mutex_unlock(&lock);
    return n;
}
"""


def test_no_thread_of_libmxnet_ever_enters_python(run_python, tmp_path):
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler for the shim over PyGILState_Ensure")
    if not sys.platform.startswith("linux") or not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        pytest.skip("PyGILState_Ensure can be preloaded only where libpython is a shared library, on Linux")
    source, shim = tmp_path / "shim.c", tmp_path / "shim.so"
    source.write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", shim, source, "-ldl", "-lpthread"], check=True)
    result = run_python(
        script("""
        import ctypes
        shim = ctypes.CDLL(os.environ["SHIM"])
        def entered():
            out = (ctypes.c_ulong * 4096)()
            return set(out[:shim.shim_threads(out)])
        # The positive control: the shim sees this thread enter through a callback of ctypes.
        compare = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(lambda a, b: 0)
        ctypes.CDLL(None).qsort((ctypes.c_int * 4)(), 4, 4, compare)
        assert threading.get_ident() in entered(), "the shim is not in use"

        square, sig, prod, fails = (pb.function("TestLayers." + n) for n in ("Square", "Sigmoid", "Product", "Fails"))
        x = mx.nd.array([1.0, 2.0, 3.0]); pb.attach_grad(x)
        known = set()
        def steps():
            known.add(threading.get_ident())
            x = mx.nd.array([1.0, 2.0, 3.0]); x.attach_grad()
            for _ in range(20):
                with mx.autograd.record():
                    y = prod(square(x), sig(x)) + x
                    dropped = square(sig(x))
                y.backward()
                del dropped
        steps()
        for _ in range(20):
            with pb.record():
                y = fails(square(x))
            try:
                y.backward()
            except pb.JuliaError:
                pass
            # Buffers that libmxnet lets go of on its own threads.
            big = mx.nd.dot(pb.asndarray(pb.jl.ones(300, 300)), pb.asndarray(pb.jl.ones(300, 300)))
            del big
            pb.asjulia(x * 2)
            gc.collect()
        mx.nd.waitall()
        worker = threading.Thread(target=steps); worker.start()
        pb.serve(worker); worker.join()
        mx.nd.waitall()
        pb.jl.GC.gc(); gc.collect()
        # Threads that Python knows at rest are its own; those of libmxnet would be known inside a call alone.
        known |= set(sys._current_frames()) | {thread.ident for thread in threading.enumerate()}
        strangers = entered() - known
        assert not strangers, f"{len(strangers)} thread(s) of a library entered Python"

        # The other positive control: what does enter Python on libmxnet's threads is seen.
        class Twice(mx.autograd.Function):
            def forward(self, a):
                return a * 2
            def backward(self, head):
                return head * 2
        with mx.autograd.record():
            y = Twice()(x)
        y.backward(); x.grad.wait_to_read()
        assert entered() - known - set(sys._current_frames()), "a callback on libmxnet's thread was not seen"
        leave()
        """),
        env={"LD_PRELOAD": str(shim), "SHIM": str(shim)},
    )
    assert_silent_end(result)


# --- NaiveEngine ------------------------------------------------------------------------------------------


def test_with_the_naive_engine_everything_gives_the_same(run_python):
    result = run_python(
        script("""
        square, sig = pb.function("TestLayers.Square"), pb.function("TestLayers.Sigmoid")
        values = np.array([1.0, 2.0, 3.0])
        doors = [pb.backward, lambda y: y.backward(), lambda y: mx.autograd.backward([y]),
                 lambda y: mx.autograd.grad(y, [x])[0], lambda y: pb.grad(y, x),
                 lambda y: mx.contrib.autograd.compute_gradient([y])]
        for door in doors:
            L.reset()
            x = mx.nd.array(values); pb.attach_grad(x)
            with pb.record():
                y = square(square(x) * 2)
            gradient = door(y)
            assert L.ncalls("Square.backward") == 2
            np.testing.assert_array_equal((x.grad if gradient is None else gradient).asnumpy(), 16 * values**3)
        with pb.record():
            y = pb.function("TestLayers.Fails")(square(x))
        try:
            y.backward()
        except pb.JuliaError as error:
            assert "refused with code 18" in str(error)
        else:
            raise AssertionError("no error")
        assert np.isnan(x.grad.asnumpy()).all()

        # Nested: a callback that runs a backward over another Julia function and reads its gradient.
        inner = mx.nd.array(values); pb.attach_grad(inner)
        def nested():
            with pb.record():
                z = square(inner)
            z.backward()
            np.testing.assert_array_equal(inner.grad.asnumpy(), 2 * values)
        with pb.record():
            y = pb.function("TestLayers.Hook", onbackward=nested)(x)
        y.backward()
        np.testing.assert_array_equal(x.grad.asnumpy(), 2)

        # Another thread.
        def work():
            x = mx.nd.array(values); x.attach_grad()
            with mx.autograd.record():
                y = square(x)
            y.backward()
            np.testing.assert_array_equal(x.grad.asnumpy(), 2 * values)
            done.append(True)
        done = []
        worker = threading.Thread(target=work); worker.start(); pb.serve(worker); worker.join(30)
        assert done == [True]

        weight = mx.gluon.Parameter("weight", shape=(3,), init=mx.init.One()); weight.initialize()
        trainer = mx.gluon.Trainer({"weight": weight}, "sgd", {"learning_rate": 0.5})
        with pb.record():
            loss = square(weight.data() - mx.nd.array(values)).sum()
        loss.backward(); trainer.step(1)
        np.testing.assert_allclose(weight.data().asnumpy(), values)
        assert tuple(L.threads()) == (threading.get_ident(),)
        assert_next_step_is_right()
        leave()
        """),
        env={"MXNET_ENGINE_TYPE": "NaiveEngine"},
    )
    assert_silent_end(result)


# --- nested -----------------------------------------------------------------------------------------------


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


def test_a_callback_may_use_operators_asnumpy_and_autograd_itself(pb, mx, front, layers):
    x, inner = leaf(pb, front), leaf(pb, front)
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


def test_a_nested_backward_whose_result_nobody_reads_is_done_when_the_outer_one_returns(pb, mx, layers):
    x, inner = leaf(pb, mx.nd), leaf(pb, mx.nd)

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
    x, inner = leaf(pb, mx.nd), leaf(pb, mx.nd)
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


def test_recording_inside_a_forward_does_not_change_the_outer_recording(pb, mx, front, layers):
    x, inner = leaf(pb, front), leaf(pb, front)
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


# --- other threads ----------------------------------------------------------------------------------------


@pytest.fixture
def functions(pb: ModuleType, layers: Any) -> SimpleNamespace:
    """Some Julia functions, made on the owner."""
    return SimpleNamespace(
        **{name: pb.function(f"TestLayers.{name}") for name in ("Square", "Sigmoid", "Fails", "Training")}
    )


def julia_step(functions: SimpleNamespace, mx: ModuleType, values: np.ndarray = VALUES) -> np.ndarray:
    x = mx.nd.array(values, dtype="float64")  # 1 - s cancels in float32
    x.attach_grad()
    with mx.autograd.record():
        y = functions.Square(functions.Sigmoid(x))
    y.backward()
    s = 1 / (1 + np.exp(-values))
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * s * s * (1 - s), rtol=1e-4, atol=1e-6)
    return y.asnumpy()


def test_another_thread_gets_a_clear_error_while_the_owner_does_not_serve(pb, mx, layers):
    x = leaf(pb, mx.nd)
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


# --- releasing --------------------------------------------------------------------------------------------


def finalise(pb: ModuleType, mx: ModuleType) -> None:
    for _ in range(3):
        gc.collect()
        mx.nd.waitall()
        pb.asjulia(mx.nd.zeros(1))
        pb.jl.GC.gc()


def test_twenty_thousand_julia_values_dropped_on_another_thread_are_freed_on_the_owner(
    pb, mx, layers, functions
):
    finalise(pb, mx)
    before = layers.alive()
    values = [layers.counted_ref(i) for i in range(20_000)]
    assert layers.alive() == before + 20_000
    worker = Worker(values.clear)
    worker.start()
    worker.outcome()
    assert not values
    finalise(pb, mx)
    assert layers.alive() == before
    julia_step(functions, mx)


def test_julia_values_in_cycles_collected_on_another_thread_are_freed_on_the_owner(pb, mx, layers):
    finalise(pb, mx)
    before = layers.alive()
    gc.disable()
    try:
        for i in range(500):
            cycle: list[Any] = [layers.counted_ref(i), pb.function("TestLayers.Square")]
            cycle.append(cycle)
            del cycle
        worker = Worker(gc.collect)
        worker.start()
        assert worker.outcome() >= 500
    finally:
        gc.enable()
    finalise(pb, mx)
    assert layers.alive() == before


def test_nodes_dropped_on_another_thread_are_freed_on_the_owner(pb, mx, layers):
    finalise(pb, mx)
    before = layers.alive()
    x = leaf(pb, mx.nd)
    with pb.record():
        ys = [pb.function("TestLayers.Square")(x) for _ in range(100)]
    assert layers.alive() >= before + 100
    worker = Worker(ys.clear)
    worker.start()
    worker.outcome()
    finalise(pb, mx)
    assert layers.alive() == before


def test_collections_on_both_sides_between_and_inside_callbacks_do_no_harm(pb, mx, front, layers):
    collect, square = pb.function("TestLayers.Collect"), pb.function("TestLayers.Square")
    both = pb.function("TestLayers.Hook", onforward=gc.collect, onbackward=gc.collect)
    x = leaf(pb, front)
    for _ in range(3):
        with pb.record():
            y = both(collect(square(collect(both(x)))))
            gc.collect()
            pb.jl.GC.gc()
        pb.backward(y)
        gc.collect()
        pb.jl.GC.gc()
        np.testing.assert_array_equal(y.asnumpy(), 64 * VALUES**2)
        np.testing.assert_array_equal(x.grad.asnumpy(), 128 * VALUES)


# --- what else goes on ------------------------------------------------------------------------------------


def test_an_unrelated_pending_error_is_neither_blamed_on_julia_nor_lost_nor_harmful(
    pb, mx, layers, functions
):
    for _ in range(3):
        x = leaf(pb, mx.nd)
        with pb.record():
            y = pb.function("TestLayers.Square")(x)
        errors = []
        broken = mx.nd.random.normal(0, -1, shape=(2, 2))  # fails later, on a thread of libmxnet
        for step in (lambda y=y: pb.backward(y), broken.wait_to_read):
            try:
                step()
            except mx.base.MXNetError as error:
                errors.append(error)
        assert len(errors) == 1
        assert "scale" in str(errors[0])
        assert not isinstance(errors[0], pb.JuliaError)
        assert layers.ncalls("Square.backward") == 1
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * VALUES)
        layers.reset()
        julia_step(functions, mx)
        layers.reset()


def test_a_backward_behind_slow_native_work_is_complete_when_it_returns(pb, mx, layers):
    eye = mx.nd.eye(700)
    x = mx.nd.ones((700, 700))
    pb.attach_grad(x)
    with pb.record():
        y = pb.function("TestLayers.Square")(x)
        for _ in range(8):
            y = mx.nd.dot(y, eye)
    pb.backward(y)
    assert layers.ncalls("Square.backward") == 1
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


def test_numpy_shape_semantics_and_flags_of_the_caller_hold_in_the_backward(pb, mx, layers):
    with mx.util.np_shape(True), mx.util.np_array(True):
        x = leaf(pb, mx.np)
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


def test_starting_julia_off_the_main_thread_is_an_error_and_the_main_thread_still_can(run_python):
    result = run_python("""
        import threading
        import pybridge as pb
        errors = []
        def touch():
            try:
                pb.jl
                pb.jl.seval("1")
            except Exception as error:
                errors.append(error)
        thread = threading.Thread(target=touch); thread.start(); thread.join(60)
        assert len(errors) == 1, errors
        assert isinstance(errors[0], RuntimeError), errors
        assert "main thread" in str(errors[0]), errors
        assert pb.jl.seval("1 + 1") == 2
        print("the last word")
        """)
    assert_silent_end(result)
