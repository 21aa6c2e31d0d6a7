"""Memory stays flat: steps, crossings, and one entry on the owner for each live node."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from measures import assert_silent_end, collect_garbage, leaf, resident_bytes, script

# Resident bytes, and the growth over the work that follows a warm-up.
RESIDENT = f"""
sys.path.insert(0, {str(Path(__file__).parent)!r})
from measures import collect_garbage, resident_bytes

def resident():
    collect_garbage(pb, mx)  # in rounds: what one language lets go of is garbage of the other a round later
    return resident_bytes()

def growth(work, warm_up, steps):
    work(warm_up)
    before = resident()
    work(steps)
    return resident() - before

MB = 2**20
"""


@pytest.mark.timeout(900)
def test_ten_thousand_steps_with_two_julia_nodes_grow_the_process_by_less_than_5_mb(run_python):
    result = run_python(
        script(
            RESIDENT
            + """
net = mx.gluon.nn.Dense(8, in_units=8); net.initialize()
trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.001})
square, sig = pb.function("TestLayers.InPlaceSquare"), pb.function("TestLayers.sigmoid", pullback=True)
data = mx.nd.ones((4, 8))

def steps(n):
    for _ in range(n):
        with pb.record():
            loss = square(sig(net(data))).mean()
        loss.backward()
        trainer.step(1)

# Both collectors reach their natural height in the warm-up; nothing is collected for them in between.
grown = growth(steps, 20_000, 10_000)
assert grown < 5 * MB, f"{grown / MB:.1f} MB"
leave()
"""
        ),
        timeout=600,
    )
    assert_silent_end(result)


@pytest.mark.timeout(900)
def test_a_hundred_thousand_crossings_keep_the_memory_flat(run_python):
    result = run_python(
        script(
            RESIDENT
            + """
x = mx.nd.ones((64, 64))           # 16 KB: 100,000 leaked ones would be 1.6 GB
a = pb.jl.ones(pb.jl.Float32, 64, 64)
def to_julia(n):
    for _ in range(n):
        pb.asjulia(x)
def to_julia_fresh(n):
    for _ in range(n):
        pb.asjulia(mx.nd.zeros((64, 64)), writable=True, layout="python")
def from_julia(n):
    for _ in range(n):
        pb.asndarray(a)
def from_julia_fresh(n):
    zeros, eltype = pb.jl.zeros, pb.jl.Float32
    for _ in range(n):
        pb.asndarray(zeros(eltype, 64, 64), np=True)
for work in (to_julia, to_julia_fresh, from_julia, from_julia_fresh):
    # Without a forced collection of ours in between: both sides must hear of what is garbage.
    grown = growth(work, 20_000, 25_000)
    assert grown < 4 * MB, f"{work.__name__}: {grown / MB:.1f} MB"
leave()
"""
        ),
        timeout=600,
    )
    assert_silent_end(result)


@pytest.mark.timeout(900)
def test_errors_dropped_graphs_and_big_arrays_leave_nothing_behind(run_python):
    result = run_python(
        script(
            RESIDENT
            + """
x = mx.nd.ones((64, 64)); pb.attach_grad(x)
square, fails = pb.function("TestLayers.Square"), pb.function("TestLayers.Fails")
def errors(n):
    for _ in range(n):
        with pb.record():
            y = fails(square(x))
        try:
            y.backward()
        except pb.JuliaError:
            pass
def dropped(n):
    for _ in range(n):
        with pb.record():
            square(square(x))
def retained(n):
    for _ in range(n):
        with pb.record():
            y = square(x)
        y.backward(retain_graph=True)
        y.backward(retain_graph=True)
for work, warm_up, n in ((errors, 4000, 1500), (dropped, 5000, 5000), (retained, 3000, 3000)):
    grown = growth(work, warm_up, n)
    assert grown < 8 * MB, f"{work.__name__}: {grown / MB:.1f} MB"

# Arrays of 32 MB: a view is no copy, and the memory is given back.
def big(n):
    for _ in range(n):
        y = mx.nd.ones((2**23,))
        view = pb.asjulia(y)
        z = pb.asndarray(pb.jl.ones(pb.jl.Float32, 2**23))
        assert L.item(view, 1) + float(z[0].asscalar()) == 2
        del y, view, z
        pb.jl.GC.gc(); mx.nd.waitall(); pb.asjulia(x); pb.jl.GC.gc()
grown = growth(big, 3, 12)
assert grown < 40 * MB, f"big: {grown / MB:.1f} MB"
y = mx.nd.ones((2**25,)); y.wait_to_read()
a = pb.jl.ones(pb.jl.Float32, 2**25)
before = resident()
views = [pb.asjulia(y), pb.asjulia(y, writable=True, layout="python"), pb.asndarray(a), pb.asndarray(a, np=True)]
assert resident() - before < 8 * MB, "a crossing copied 128 MB"
leave()
"""
        ),
        timeout=600,
    )
    assert_silent_end(result)


def test_views_that_were_held_once_do_not_let_garbage_grow_as_large_later(pb, mx, layers):
    pinned = pb._dispatch.pinned_bytes
    f = pb.function("TestLayers.Square")
    collect_garbage(pb, mx)
    held = [pb.asjulia(mx.nd.ones((2**22,))) for _ in range(16)]  # 16 MB each
    f(mx.nd.ones((2**21,)))
    assert pinned() >= 256 * 2**20
    del held
    collect_garbage(pb, mx)
    before = pinned()
    highest = 0
    for _ in range(40):
        f(mx.nd.ones((2**21,)))  # 8 MB
        highest = max(highest, pinned() - before)
    assert highest < 100 * 2**20


def test_gradients_of_a_grad_that_fails_are_freed(pb, mx, layers):
    def failing() -> None:
        x = leaf(pb, mx.nd, np.ones(2**18, np.float32))
        with pb.record():
            y = pb.function("TestLayers.Fails")(x) * 2
        with pytest.raises(pb.JuliaError):
            pb.grad(y, x)

    def resident() -> int:
        collect_garbage(pb, mx)
        return resident_bytes()

    for _ in range(20):
        failing()
    before = resident()
    for _ in range(100):
        failing()
    assert resident() - before < 50 * 2**20  # 100 MB of results were made


@pytest.mark.timeout(300)
def test_there_is_one_entry_on_the_owner_for_each_live_node_and_none_for_dead_ones(pb, mx, layers):
    collect_garbage(pb, mx)
    before = layers.alive()
    square = pb.function("TestLayers.Square")
    x = mx.nd.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        ys = [square(x) for _ in range(30)]
        chain = square(square(square(x)))
    collect_garbage(pb, mx)
    assert layers.alive() == before + 33
    for y in ys[:10]:
        pb.backward(y)
    del y, ys[:10]
    collect_garbage(pb, mx)
    assert layers.alive() == before + 23
    del ys[:]
    collect_garbage(pb, mx)
    assert layers.alive() == before + 3
    pb.backward(chain)
    np.testing.assert_array_equal(x.grad.asnumpy(), 8 * np.array([1.0, 2.0]) ** 7)
    del chain
    collect_garbage(pb, mx)
    assert layers.alive() == before
