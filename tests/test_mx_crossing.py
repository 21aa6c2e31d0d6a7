"""One array in two languages: the same handle, gradient and place in the graph; freed once, by the last holder."""

from __future__ import annotations

import gc
import os
import random
import signal
import threading
from collections import Counter
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from measures import resident_bytes


@pytest.fixture(scope="module")
def jl(pb: ModuleType) -> Any:
    """A Julia module with small functions on `mx.NDArray`s."""
    return pb.jl.seval(
        """
        module Crossing
        using PyBridge
        const mx = PyBridge.mx
        same(x) = x
        described(x) = (string(typeof(x)), size(x)...)
        const SQUARE = mx.Operator("square")
        square(x) = mx._one(SQUARE, (x,))
        recorded(f, x) = mx.record(() -> f(x))
        const KEPT = Any[]
        keep(x) = (push!(KEPT, x); nothing)
        kept() = KEPT[end]
        drop() = (empty!(KEPT); GC.gc(); nothing)
        attach(x) = mx.attach_grad!(x)
        gradient(x) = mx.getgrad(x)
        backward(y) = mx.backward!(y)
        recording() = mx.is_recording()
        failing(x) = mx._one(mx.Operator("dot"), (x, x))
        mutable struct Cube <: CustomFunction
            x
            Cube() = new()
        end
        PyBridge.forward(f::Cube, x) = (f.x = x; x .^ 3)
        PyBridge.backward(f::Cube, Δ) = 3 .* f.x .^ 2 .* Δ
        @registerfunc Cube
        cube(x) = Cube(x)
        mutable struct Halved
            x
            Halved(x) = new(x)
        end
        mx.@custom function halved(x; by = 2)
            Halved(by)
        end
        mx.forward(f::Halved, x) = mx._one(mx.Operator("_div_scalar"), (x,), ["scalar"], [string(f.x)])
        mx.backward!(f::Halved, Δ) = mx._one(mx.Operator("_div_scalar"), (Δ,), ["scalar"], [string(f.x)])
        struct Fails end
        mx.@custom fails(x) = Fails()
        mx.forward(::Fails, x) = square(x)
        mx.backward!(::Fails, Δ) = throw(DomainError(-1, "on purpose"))
        function caught(y)
            try
                mx.backward!(y)
                return "nothing"
            catch e
                return string(typeof(e))
            end
        end
        mutable struct Waits <: CustomFunction
            x
            Waits() = new()
        end
        PyBridge.argkind(::Type{Waits}) = :ndarray
        PyBridge.forward(f::Waits, x) = (f.x = x; square(x))
        function PyBridge.backward(f::Waits, Δ)
            z = f.x
            for _ in 1:3
                z = mx._one(mx.Operator("_mul_scalar"), (z,), ["scalar"], ["1"])
            end
            a = zeros(eltype(z), size(z))
            mx._copy_to!(a, z)              # waits, inside a served callback
            return 2 .* a .* mx._memory(Δ)
        end
        end
        """
    )


def handle(x: Any) -> int:
    return int(x.handle.value)


def test_an_array_that_goes_to_julia_and_back_is_the_same_array(jl: Any, mx: ModuleType) -> None:
    x = mx.nd.array([[1, 2, 3], [4, 5, 6]])

    y = jl.same(x)

    assert handle(y) == handle(x) and type(y) is mx.nd.NDArray
    y[:] = 7
    assert (x.asnumpy() == 7).all()


def test_an_array_of_python_is_an_ndarray_of_reversed_size_in_julia(jl: Any, mx: ModuleType) -> None:
    assert tuple(jl.described(mx.nd.zeros((2, 3)))) == ("PyBridge.mx.NDArray{Float32,2}", 3, 2)
    assert tuple(jl.described(mx.nd.zeros((4,), dtype="int64"))) == ("PyBridge.mx.NDArray{Int64,1}", 4)


def test_mx_np_arrays_come_back_as_mx_np_arrays(jl: Any, mx: ModuleType) -> None:
    with mx.util.np_shape(True):
        x = mx.np.array(2.0)
        y = jl.same(x)

        assert handle(y) == handle(x)
        assert isinstance(y, mx.np.ndarray) and y.shape == ()


def test_sparse_arrays_stay_pythons(jl: Any, mx: ModuleType) -> None:
    x = mx.nd.zeros((2, 3), stype="csr")

    assert jl.same(x) is x


def test_a_gradient_attached_on_one_side_is_there_on_the_other(
    jl: Any, mx: ModuleType, pb: ModuleType
) -> None:
    x = mx.nd.array([1, 2, 3])
    jl.keep(x)
    x.attach_grad()  # after Julia got hold of it
    with pb.record():
        y = x * x
    y.backward()
    assert jl.gradient(jl.kept()).asnumpy().tolist() == [2, 4, 6]

    z = mx.nd.array([1, 2, 3])
    buffer = jl.attach(z)
    with pb.record():
        y = z * z * z
    y.backward()
    assert buffer.asnumpy().tolist() == z.grad.asnumpy().tolist() == [3, 12, 27]
    jl.drop()


def test_recording_begun_in_one_language_holds_in_the_other(jl: Any, mx: ModuleType, pb: ModuleType) -> None:
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()

    with pb.record():
        assert jl.recording()
        y = jl.square(x)
    y.backward()
    assert x.grad.asnumpy().tolist() == [2, 4, 6]

    seen = []

    def f(a: Any) -> Any:
        seen.append(pb.is_recording())
        return a * a * a

    y = jl.recorded(f, x)
    assert seen == [True] and not pb.is_recording()
    jl.backward(y)
    assert x.grad.asnumpy().tolist() == [3, 12, 27]


def test_a_graph_half_of_each_language_differentiates_from_either_side(
    jl: Any, mx: ModuleType, pb: ModuleType
) -> None:
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    for backward in (jl.backward, lambda y: y.backward()):
        with pb.record():
            y = jl.cube(2 * jl.square(x)) + jl.halved(mx.nd.sin(x))
        backward(y)

        v = np.array([1, 2, 3], dtype=np.float64)
        assert np.allclose(x.grad.asnumpy(), 48 * v**5 + np.cos(v) / 2, rtol=1e-5)


def test_an_exception_in_a_backward_reaches_the_julia_code_that_called_it(
    jl: Any, mx: ModuleType, pb: ModuleType
) -> None:
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with pb.record():
        y = jl.fails(x)
    assert jl.caught(y) == "DomainError"

    with pb.record():
        y = jl.fails(x)
    with pytest.raises(pb.JuliaError, match="on purpose"):
        y.backward()


def test_errors_of_libmxnet_are_mx_errors(jl: Any, pb: ModuleType, mx: ModuleType) -> None:
    with pytest.raises(pb.JuliaError, match="dot") as caught:
        jl.failing(mx.nd.zeros((2, 3)))
    assert "MXError" in str(pb.jl.typeof(caught.value.exception))


def test_a_backward_that_works_on_ndarrays_may_wait_for_them(jl: Any, mx: ModuleType, pb: ModuleType) -> None:
    waits = pb.function("Crossing.Waits")
    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    for backward in (jl.backward, lambda y: y.backward()):
        with pb.record():
            y = waits(x) * 3
        backward(y)

        assert x.grad.asnumpy().tolist() == [6, 12, 18]


def test_julia_gives_the_gil_back_while_it_waits_for_python(jl: Any, mx: ModuleType, pb: ModuleType) -> None:
    class Doubled(mx.autograd.Function):  # type: ignore[misc]
        def forward(self, x: Any) -> Any:
            return 2 * x

        def backward(self, dy: Any) -> Any:  # on a thread of libmxnet, which needs the GIL
            return 2 * dy

    x = mx.nd.array([1, 2, 3])
    x.attach_grad()
    with pb.record():
        y = jl.square(Doubled()(x))
    jl.backward(y)
    assert jl.gradient(x).asnumpy().tolist() == [8, 16, 24]


def test_an_array_outlives_either_holder(jl: Any, mx: ModuleType) -> None:
    x = mx.nd.array([1, 2, 3])
    jl.keep(x)
    del x
    gc.collect()
    assert jl.kept().asnumpy().tolist() == [1, 2, 3]

    y = jl.kept()
    jl.drop()
    assert y.asnumpy().tolist() == [1, 2, 3]


def test_a_hundred_thousand_crossings_leave_nothing_behind(jl: Any, mx: ModuleType, pb: ModuleType) -> None:
    from pybridge._libmxnet_trampoline import quick

    x = mx.nd.ones((64, 64))
    through = pb.jl.seval(
        "x -> (Crossing.keep(x); length(Crossing.KEPT) > 500 && Crossing.drop(); Crossing.square(x))"
    )

    def cross(times: int) -> None:
        for i in range(times):
            y = jl.same(x)
            if i % 10 == 0:
                through(mx.nd.ones((64, 64)))
            if i % 5000 == 0:
                gc.collect()
            del y
        jl.drop()
        mx.nd.waitall()

    cross(10_000)
    gc.collect()
    shared, memory = quick.pb_shared_arrays(), resident_bytes()
    cross(90_000)
    gc.collect()
    jl.drop()

    assert quick.pb_shared_arrays() <= max(shared, 1)
    assert resident_bytes() - memory < 24 * 2**20  # 9,000 arrays of 16 KB, and their squares, would be 288 MB
    assert (x.asnumpy() == 1).all()


def test_a_function_on_ndarrays_works_in_a_hybridized_block(jl: Any, mx: ModuleType, pb: ModuleType) -> None:
    values = mx.nd.array([1, 2, 3])
    gradients = []
    for hybridize in (False, True):
        block = pb.gluon.JuliaBlock("Crossing.Waits")
        net = mx.gluon.nn.HybridSequential()
        net.add(block)
        net.initialize()
        if hybridize:
            net.hybridize()
        x = values.copy()
        x.attach_grad()
        for _ in range(3):
            with pb.record():
                y = net(x) * 3
            y.backward()
        assert y.asnumpy().tolist() == [3, 12, 27]
        gradients.append(x.grad.asnumpy().tolist())
    assert gradients == [[6, 12, 18]] * 2


def test_memory_that_a_backward_has_seen_is_used_again_without_complaint(
    jl: Any, mx: ModuleType, pb: ModuleType
) -> None:
    # The gradients that a backward gets are libmxnet's memory, and become results of later forwards.
    x = mx.nd.ones((64,))
    x.attach_grad()
    for _ in range(200):
        with pb.record():
            y = (jl.halved(x * 3) - 1) * 2
        jl.backward(y)
    assert (x.grad.asnumpy() == 3).all()


def test_holders_are_counted_whatever_handles_there_are(pb: ModuleType) -> None:
    from pybridge._libmxnet_trampoline import quick

    choose = random.Random(1)
    handles = [0x7F00_0000_0000 + 16 * choose.randrange(1 << 20) for _ in range(3000)]
    before = quick.pb_shared_arrays()
    extra: Counter[int] = Counter()  # no handle here is ever freed really: there are no such arrays
    for step in range(100_000):
        handle = choose.choice(handles)
        if not extra[handle] or choose.random() < 0.48:
            quick.pb_share(handle)
            extra[handle] += 1
        else:
            assert quick.pb_free_array(handle) == 0
            extra[handle] -= 1
        if step % 997 == 0:
            assert quick.pb_shared_arrays() - before == sum(1 for count in extra.values() if count)
    for handle, count in extra.items():
        for _ in range(count):
            assert quick.pb_free_array(handle) == 0
    assert quick.pb_shared_arrays() == before


def test_arrays_that_a_monitor_gives_to_julia_live_as_long_as_julia_holds_them(
    jl: Any, mx: ModuleType, pb: ModuleType
) -> None:
    net = mx.gluon.nn.Dense(2)
    net.initialize(mx.init.One())
    net.hybridize()
    with pb.monitor(net, lambda name, operator, array: jl.keep(array)):
        net(mx.nd.ones((3, 4)))
    for _ in range(50):
        mx.nd.zeros((3, 2)).wait_to_read()  # takes memory that was freed
    assert jl.kept().asnumpy().tolist() == [[4, 4]] * 3
    jl.drop()


def test_arrays_that_go_to_julia_and_are_dropped_do_not_pile_up(jl: Any, mx: ModuleType) -> None:
    def give(times: int) -> None:
        for _ in range(times):
            x = mx.nd.ones((1250, 1000))
            x.wait_to_read()
            jl.described(x)

    give(20)
    before = resident_bytes()
    give(100)
    assert resident_bytes() - before < 250 * 2**20  # 100 arrays of 5 MB


def test_a_fork_finds_the_count_of_holders_whole(jl: Any, mx: ModuleType) -> None:
    from pybridge._libmxnet_trampoline import quick, waiting

    stop = threading.Event()

    def churn() -> None:
        while not stop.is_set():
            waiting.pb_share(0x7E00_0000_0000)
            waiting.pb_free_array(0x7E00_0000_0000)

    thread = threading.Thread(target=churn)
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if child == 0:
                signal.alarm(20)  # a child that hangs dies of it
                quick.pb_share(0x7D00_0000_0000)
                quick.pb_free_array(0x7D00_0000_0000)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


def test_a_backward_on_another_thread_of_julia_is_an_error(run_python: Any) -> None:
    done = run_python(
        """
        import pybridge as pb
        pb.jl.seval('''
        using PyBridge
        const mx = PyBridge.mx
        struct Twice end
        mx.@custom twice(x) = Twice()
        mx.forward(::Twice, x) = 2x
        mx.backward!(::Twice, Δ) = 2Δ
        ''')
        pb.jl.seval('''
        function differentiated()
            x = mx.ones(3)
            mx.attach_grad!(x)
            mx.backward!(mx.record(() -> twice(x)))
            return copy(mx.getgrad(x))
        end
        function said(f)
            try
                return string(f())
            catch e
                return sprint(showerror, e)
            end
        end
        differentiated()
        println(Threads.nthreads(), " ", fetch(Threads.@spawn (Threads.threadid(); 1)))
        other = Ref("")
        Threads.@threads for i in 1:2
            Threads.threadid() == 2 && (other[] = said(differentiated))
        end
        println(other[])
        println(differentiated())
        ''')
        """,
        env={"PYBRIDGE_THREADS": "2"},
    )

    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "2 1"
    assert "needs Python" in done.stdout.splitlines()[1]
    assert done.stdout.splitlines()[-1] == "Float32[2.0, 2.0, 2.0]"
