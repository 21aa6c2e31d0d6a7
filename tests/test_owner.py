"""The owner rule: Julia runs on one thread and nothing of ours on libmxnet's, whichever door is taken."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import sysconfig
import threading
from typing import Any

import numpy as np
import pytest
from measures import VALUES, Worker, assert_silent_end, collect_garbage, julia_step, leaf, script

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
    x = leaf(pb, front, VALUES)
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


# --- releasing --------------------------------------------------------------------------------------------


def test_twenty_thousand_julia_values_dropped_on_another_thread_are_freed_on_the_owner(
    pb, mx, layers, functions
):
    collect_garbage(pb, mx)
    before = layers.alive()
    values = [layers.counted_ref(i) for i in range(20_000)]
    assert layers.alive() == before + 20_000
    worker = Worker(values.clear)
    worker.start()
    worker.outcome()
    assert not values
    collect_garbage(pb, mx)
    assert layers.alive() == before
    julia_step(functions, mx)


def test_julia_values_in_cycles_collected_on_another_thread_are_freed_on_the_owner(pb, mx, layers):
    collect_garbage(pb, mx)
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
    collect_garbage(pb, mx)
    assert layers.alive() == before


def test_nodes_dropped_on_another_thread_are_freed_on_the_owner(pb, mx, layers):
    collect_garbage(pb, mx)
    before = layers.alive()
    x = leaf(pb, mx.nd, VALUES)
    with pb.record():
        ys = [pb.function("TestLayers.Square")(x) for _ in range(100)]
    assert layers.alive() >= before + 100
    worker = Worker(ys.clear)
    worker.start()
    worker.outcome()
    collect_garbage(pb, mx)
    assert layers.alive() == before


def test_collections_on_both_sides_between_and_inside_callbacks_do_no_harm(pb, mx, front, layers):
    collect, square = pb.function("TestLayers.Collect"), pb.function("TestLayers.Square")
    both = pb.function("TestLayers.Hook", onforward=gc.collect, onbackward=gc.collect)
    x = leaf(pb, front, VALUES)
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


# --- starting ---------------------------------------------------------------------------------------------


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
