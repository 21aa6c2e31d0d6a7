"""The autograd front end: MXNet.jl's names, MXNet's flags and gradients, errors that say what to do."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from measures import address, load_layers


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


@pytest.fixture(autouse=True)
def clean_flags(mx: ModuleType) -> Iterator[None]:
    """Every test begins, and must end, outside of recording and training."""
    mx.autograd.set_recording(False)
    mx.autograd.set_training(False)
    yield
    left = mx.autograd.set_recording(False), mx.autograd.set_training(False)
    assert left == (False, False)


def assert_plain_words(error: BaseException) -> None:
    """Not libmxnet's own text of a failed check."""
    assert "Check failed" not in str(error)
    assert len(str(error)) > 20


# --- flags ------------------------------------------------------------------------------------------------

SCOPES = {
    "record": lambda pb, mx: (pb.record(), True, True),
    "record(train_mode=False)": lambda pb, mx: (pb.record(train_mode=False), True, False),
    "record(False)": lambda pb, mx: (pb.record(False), True, False),
    "pause": lambda pb, mx: (pb.pause(), False, False),
    "pause(train_mode=True)": lambda pb, mx: (pb.pause(train_mode=True), False, True),
    "train_mode": lambda pb, mx: (pb.train_mode(), None, True),
    "predict_mode": lambda pb, mx: (pb.predict_mode(), None, False),
    "mx.record": lambda pb, mx: (mx.autograd.record(), True, True),
    "mx.record(False)": lambda pb, mx: (mx.autograd.record(False), True, False),
    "mx.pause": lambda pb, mx: (mx.autograd.pause(), False, False),
    "mx.predict_mode": lambda pb, mx: (mx.autograd.predict_mode(), None, False),
}


class Thrown(Exception):
    pass


@pytest.mark.parametrize("start", list(itertools.product([False, True], repeat=2)), ids=str)
@pytest.mark.parametrize("raising", [False, True], ids=["left", "raised"])
def test_every_nesting_of_scopes_sets_its_flags_and_restores_both_flags_of_outside(pb, mx, start, raising):
    def flags() -> tuple[bool, bool]:
        assert (pb.is_recording(), pb.is_training()) == (
            mx.autograd.is_recording(),
            mx.autograd.is_training(),
        )
        return pb.is_recording(), pb.is_training()

    def descend(names: tuple[str, ...]) -> None:
        if not names:
            if raising:
                raise Thrown
            return
        outside = flags()
        scope, recording, training = SCOPES[names[0]](pb, mx)
        try:
            with scope:
                assert flags() == (outside[0] if recording is None else recording, training), names
                descend(names[1:])
                assert flags() == (outside[0] if recording is None else recording, training), names
        finally:
            assert flags() == outside, names

    pb.set_recording(start[0])
    pb.set_training(start[1])
    try:
        for names in itertools.product(SCOPES, repeat=3):
            if raising:
                with pytest.raises(Thrown):
                    descend(names)
            else:
                descend(names)
            assert flags() == start
    finally:
        pb.set_recording(False)
        pb.set_training(False)


def test_setters_return_the_previous_state(pb):
    assert pb.set_recording(True) is False
    assert pb.set_recording(True) is True
    assert pb.is_recording() is True
    assert pb.set_recording(False) is True
    assert pb.is_recording() is False
    assert pb.set_training(True) is False
    assert pb.is_training() is True
    assert pb.set_training(False) is True
    assert pb.is_training() is False


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        ("record", (True, True)),
        ("pause", (False, False)),
        ("train_mode", (False, True)),
        ("predict_mode", (False, False)),
    ],
)
def test_each_scope_is_also_a_do_block_and_a_decorator(pb, name, flags):
    scope = getattr(pb, name)

    def flags_now(*args: int, **kw: int) -> Any:
        return (pb.is_recording(), pb.is_training()), args, kw

    assert scope(flags_now) == (flags, (), {})
    assert (pb.is_recording(), pb.is_training()) == (False, False)
    decorated = scope()(flags_now)
    assert decorated.__name__ == "flags_now"
    for _ in range(2):
        assert decorated(1, 2, a=3) == (flags, (1, 2), {"a": 3})
        assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_do_blocks_and_decorators_restore_the_flags_after_an_exception(pb):
    def throw() -> None:
        raise Thrown

    for run in (lambda: pb.record(throw), pb.record()(throw), pb.train_mode()(throw), pb.pause(True)(throw)):
        with pytest.raises(Thrown):
            run()
        assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_a_decorated_function_may_call_itself(pb):
    seen = []

    @pb.record(train_mode=False)
    def recurse(n: int) -> None:
        seen.append((pb.is_recording(), pb.is_training()))
        if n:
            with pb.train_mode():
                recurse(n - 1)
            seen.append((pb.is_recording(), pb.is_training()))

    recurse(3)
    assert set(seen) == {(True, False)}
    assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_one_scope_object_can_be_entered_again_and_inside_itself(pb):
    scope = pb.record(train_mode=False)
    for _ in range(2):
        with pb.train_mode():
            with scope:
                with pb.pause(train_mode=True), scope:
                    assert (pb.is_recording(), pb.is_training()) == (True, False)
                assert (pb.is_recording(), pb.is_training()) == (True, False)
            assert (pb.is_recording(), pb.is_training()) == (False, True)
    assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_a_do_block_returns_its_value_and_records(pb, mx):
    x = mx.nd.array([1.0, 2.0, 3.0])
    gradient = pb.attach_grad(x)
    y = pb.record(lambda: x * x)
    pb.backward(y)
    np.testing.assert_array_equal(gradient.asnumpy(), [2, 4, 6])


def test_the_flags_are_those_of_the_thread(pb):
    seen = []
    with pb.record():
        thread = threading.Thread(target=lambda: seen.append((pb.is_recording(), pb.is_training())))
        thread.start()
        thread.join(30)
    assert seen == [(False, False)]


def test_dropout_drops_in_train_mode_alone(pb, mx):
    ones = mx.nd.ones((1000,))
    with pb.record(train_mode=False):
        np.testing.assert_array_equal(mx.nd.Dropout(ones, p=0.5).asnumpy(), 1)
        with pb.train_mode():
            assert 0 < (mx.nd.Dropout(ones, p=0.5).asnumpy() == 0).sum() < 1000
    with pb.record():
        assert (mx.nd.Dropout(ones, p=0.5).asnumpy() == 0).any()
        with pb.predict_mode():
            np.testing.assert_array_equal(mx.nd.Dropout(ones, p=0.5).asnumpy(), 1)


# --- variables --------------------------------------------------------------------------------------------


def test_attach_grad_returns_the_gradient_buffer_itself(pb, front):
    x = front.array([1.0, 2.0, 3.0])
    gradient = pb.attach_grad(x)
    assert type(gradient) is type(x)
    assert gradient.shape == x.shape
    assert gradient.dtype == x.dtype
    np.testing.assert_array_equal(gradient.asnumpy(), 0)
    with pb.record():
        y = x * x
    pb.backward(y)
    np.testing.assert_array_equal(gradient.asnumpy(), [2, 4, 6])
    assert address(gradient) == address(pb.getgrad(x)) == address(x.grad)


def test_getgrad_is_none_without_a_gradient(pb, front):
    assert pb.getgrad(front.ones(3)) is None


def test_getgrad_knows_buffers_that_mxnet_attached(pb, front):
    x = front.array([1.0, 2.0])
    x.attach_grad()
    with pb.record():
        y = x * 3
    y.backward()
    np.testing.assert_array_equal(pb.getgrad(x).asnumpy(), [3, 3])


@pytest.mark.parametrize(
    ("grad_req", "expected"), [("write", 2), ("add", 4), ("inplace", 2), ("null", 0), ("nop", 0)]
)
def test_two_backwards_honour_the_grad_req(pb, front, grad_req, expected):
    marked, attached = front.array([1.0, 2.0]), front.array([1.0, 2.0])
    other = front.array([1.0, 1.0])
    buffer = front.zeros((2,))
    pb.mark_variables(marked, buffer, grad_req)
    pb.attach_grad(attached, grad_req)
    pb.attach_grad(other)
    for _ in range(2):
        with pb.record():
            y = marked * marked + attached * attached + other
        pb.backward(y)
    np.testing.assert_array_equal(buffer.asnumpy(), np.array([1, 2]) * expected)
    if expected:
        np.testing.assert_array_equal(pb.getgrad(attached).asnumpy(), np.array([1, 2]) * expected)
    np.testing.assert_array_equal(pb.getgrad(other).asnumpy(), 1)


def test_mark_variables_takes_one_or_many_with_one_or_many_grad_reqs(pb, front):
    xs = [front.array([1.0, 2.0]) for _ in range(3)]
    buffers = [front.array([10.0, 10.0]) for _ in range(3)]
    pb.mark_variables(xs, buffers, ["write", "add", "null"])
    with pb.record():
        y = xs[0] * xs[1] * xs[2]
    pb.backward(y)
    np.testing.assert_array_equal(buffers[0].asnumpy(), [1, 4])
    np.testing.assert_array_equal(buffers[1].asnumpy(), [11, 14])
    np.testing.assert_array_equal(buffers[2].asnumpy(), [10, 10])
    pb.mark_variables(xs, buffers, "add")
    with pb.record():
        y = xs[0] * xs[1] * xs[2]
    pb.backward(y)
    np.testing.assert_array_equal(buffers[2].asnumpy(), [11, 14])
    pb.mark_variables(xs[0], buffers[0])
    with pb.record():
        y = xs[0] * 5
    pb.backward(y)
    np.testing.assert_array_equal(buffers[0].asnumpy(), 5)


@pytest.mark.parametrize("grad_req", ["wirte", "", "WRITE", "sum"])
def test_an_unknown_grad_req_is_refused_with_the_known_ones(pb, front, grad_req):
    x = front.ones(2)
    for call in (
        lambda: pb.attach_grad(x, grad_req),
        lambda: pb.mark_variables(x, front.zeros(2), grad_req),
        lambda: pb.mark_variables([front.ones(2), x], [front.zeros(2)] * 2, ["write", grad_req]),
    ):
        with pytest.raises(ValueError, match=r"write.*add|add.*write"):
            call()
    assert pb.getgrad(x) is None


def test_lengths_and_shapes_that_do_not_match_are_refused_before_anything_is_marked(pb, front):
    x, y = front.ones(2), front.ones(2)
    with pytest.raises(ValueError, match=r"2.*1|1.*2"):
        pb.mark_variables([x, y], [front.zeros(2)])
    with pytest.raises(ValueError, match=r"2.*3|3.*2"):
        pb.mark_variables([x, y], [front.zeros(2), front.zeros(2)], ["write"] * 3)
    with pytest.raises(ValueError, match=r"(?s)\(3,\).*\(2,\)|\(2,\).*\(3,\)"):
        pb.mark_variables([x, y], [front.zeros(2), front.zeros(3)])
    with pytest.raises((ValueError, TypeError), match=r"float64"):
        pb.mark_variables([x, y], [front.zeros(2), front.zeros(2, dtype="float64")])
    assert pb.getgrad(x) is None
    assert pb.getgrad(y) is None


def test_what_is_no_array_is_a_type_error_that_names_what_came(pb, front):
    x = front.ones(2)
    pb.attach_grad(x)
    with pb.record():
        y = x * 2
    for call in (
        lambda: pb.attach_grad([1.0, 2.0]),
        lambda: pb.attach_grad(None),
        lambda: pb.getgrad("x"),
        lambda: pb.mark_variables([x, 3.0], [front.zeros(2)] * 2),
        lambda: pb.mark_variables([x], ["zeros"]),
        lambda: pb.backward("y"),
        lambda: pb.backward(None),
        lambda: pb.backward([y, 3.0]),
        lambda: pb.backward(y, 3.0),
        lambda: pb.backward([y], [np.ones(2)]),
        lambda: pb.grad("y", x),
        lambda: pb.grad(y, [x, "x"]),
        lambda: pb.symbol(3.0),
    ):
        with pytest.raises(TypeError, match=r"list|None|str|float|numpy|ndarray"):
            call()
    pb.backward(y)
    np.testing.assert_array_equal(pb.getgrad(x).asnumpy(), 2)


# --- backward ---------------------------------------------------------------------------------------------


def test_integer_arrays_have_integer_gradients(pb, front):
    x = front.array([[1, 2], [3, 4]], dtype="int64")
    gradient = pb.attach_grad(x)
    with pb.record():
        y = 1 * x * x
    pb.backward(y)
    assert np.dtype(gradient.dtype) == np.int64
    np.testing.assert_array_equal(gradient.asnumpy(), [[2, 4], [6, 8]])


def test_head_gradients_may_be_none_among_several(pb, front):
    x, w = front.array([1.0, 2.0, 3.0]), front.ones(3)
    pb.attach_grad(x)
    pb.attach_grad(w)
    with pb.record():
        heads = [x * 2, w * 3, x * w]
    pb.backward(heads, [None, front.array([1.0, 2.0, 3.0]), None])
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)
    np.testing.assert_array_equal(w.grad.asnumpy(), [4, 8, 12])


def test_one_head_takes_one_head_gradient(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    for head_grads in (front.array([10.0, 100.0]), [front.array([10.0, 100.0])]):
        with pb.record():
            y = x * x
        pb.backward(y, head_grads)
        np.testing.assert_array_equal(x.grad.asnumpy(), [20, 400])


def test_head_gradients_that_do_not_fit_are_refused(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y, z = x * x, x * 3
    with pytest.raises(ValueError, match=r"2.*1|1.*2"):
        pb.backward([y, z], [front.ones(2)])
    with pytest.raises(ValueError, match=r"2.*3|3.*2"):
        pb.backward([y, z], [None] * 3)
    with pytest.raises(ValueError, match=r"\(5,\)"):
        pb.backward(y, front.ones(5))
    with pytest.raises(ValueError, match=r"(?i)head"):
        pb.backward([])
    pb.backward([y, z])  # the graph is as it was
    np.testing.assert_array_equal(x.grad.asnumpy(), [5, 7])


def test_retain_graph_allows_a_second_backward(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x, "add")
    with pb.record():
        y = x * x
    pb.backward(y, retain_graph=True)
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), [4, 8])


def test_a_second_backward_without_retain_graph_is_a_graph_error_that_names_the_cure(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * x
    pb.backward(y)
    with pytest.raises(pb.GraphError, match=r"retain_graph") as info:
        pb.backward(y)
    assert_plain_words(info.value)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_a_backward_outside_of_any_graph_is_a_graph_error_that_names_record(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    for y in (front.ones(2), x * 2):
        with pytest.raises(pb.GraphError, match=r"record") as info:
            pb.backward(y)
        assert_plain_words(info.value)
    with pytest.raises(pb.GraphError, match=r"record"):
        pb.symbol(front.ones(2))
    with pytest.raises(pb.GraphError, match=r"record"):
        pb.grad(front.ones(2), x)


def test_graph_error_is_an_mxnet_error(pb, mx):
    assert issubclass(pb.GraphError, mx.base.MXNetError)
    assert issubclass(pb.JuliaError, Exception)


def in_place_operations(front: Any, mx: ModuleType) -> dict[str, Any]:
    def add(y: Any) -> None:
        y += 1

    def multiply(y: Any) -> None:
        y *= 2

    def set_all(y: Any) -> None:
        y[:] = 0

    def set_one(y: Any) -> None:
        y[0] = 5

    def out(y: Any) -> None:
        if front is mx.nd:
            mx.nd.broadcast_add(y, y, out=y)
        else:
            mx.np.add(y, y, out=y)

    return {"+=": add, "*=": multiply, "[:]=": set_all, "[0]=": set_one, "out=": out}


@pytest.mark.parametrize("operation", ["+=", "*=", "[:]=", "[0]=", "out="])
@pytest.mark.parametrize("target", ["leaf", "intermediate"])
def test_in_place_operations_inside_record_are_graph_errors_in_plain_words(pb, mx, front, operation, target):
    change = in_place_operations(front, mx)[operation]
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pytest.raises(pb.GraphError, match=r"(?i)in.?place|out=") as info, pb.record():
        y = x * x
        change(x if target == "leaf" else y)
    assert_plain_words(info.value)
    assert (pb.is_recording(), pb.is_training()) == (False, False)
    # libmxnet checks after it has written: a leaf has its new value, and differentiates as ever.
    with pb.record():
        y = x * x
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2 * x.asnumpy())


def test_a_leaf_may_be_changed_in_place_between_recordings(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    for step in range(3):
        with pb.record():
            y = x * x
        pb.backward(y)
        np.testing.assert_array_equal(x.grad.asnumpy(), 2 * (np.array([1.0, 2.0]) + step))
        x += 1


def test_recording_mixes_freely_with_mxnet_autograd(pb, mx, front):
    x = front.array([1.0, 2.0])
    for attach in (pb.attach_grad, lambda a: a.attach_grad()):
        for scope in (pb.record, mx.autograd.record):
            for run in (pb.backward, mx.autograd.backward, lambda y: y.backward()):
                attach(x)
                with scope():
                    y = x * x
                    with pb.pause():
                        ignored = x * 100
                    y = y + ignored
                run(y)
                np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_a_gluon_loop_trains_under_our_record(pb, mx):
    mx.random.seed(1)
    net = mx.gluon.nn.Dense(1, in_units=2)
    net.initialize(mx.init.Zero())
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.5})
    x = mx.nd.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    target = mx.nd.array([[2.0], [-1.0], [1.0]])
    for _ in range(200):
        with pb.record():
            loss = mx.nd.square(net(x) - target).mean()
        pb.backward(loss)
        trainer.step(1)
    np.testing.assert_allclose(net.weight.data().asnumpy(), [[2, -1]], atol=1e-3)
    np.testing.assert_allclose(net.bias.data().asnumpy(), [0], atol=1e-3)


# --- grad -------------------------------------------------------------------------------------------------


def test_grad_returns_gradients_and_leaves_the_buffers_alone(pb, front):
    x, w = front.array([1.0, 2.0]), front.array([3.0, 4.0])
    pb.attach_grad(x)
    pb.attach_grad(w)
    with pb.record():
        y = x * x * w
    many = pb.grad(y, [x, w], retain_graph=True)
    assert isinstance(many, list)
    np.testing.assert_array_equal(many[0].asnumpy(), [6, 16])
    np.testing.assert_array_equal(many[1].asnumpy(), [1, 4])
    one = pb.grad([y], x, head_grads=[front.array([1.0, 10.0])])
    assert type(one) is type(x)
    np.testing.assert_array_equal(one.asnumpy(), [6, 160])
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)
    np.testing.assert_array_equal(w.grad.asnumpy(), 0)


def test_grad_frees_the_graph_unless_told_otherwise(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * x
    pb.grad(y, x)
    with pytest.raises(pb.GraphError, match=r"retain_graph"):
        pb.grad(y, x)


def test_create_graph_gives_second_derivatives_of_native_operators(pb, mx, front):
    x = front.array([0.5, 1.0, 2.0], dtype="float64")
    pb.attach_grad(x)
    with pb.record():
        y = front.sin(x)
        slope = pb.grad(y, x, create_graph=True)
    np.testing.assert_allclose(slope.asnumpy(), np.cos([0.5, 1, 2]), rtol=1e-12)
    pb.backward(slope)
    np.testing.assert_allclose(x.grad.asnumpy(), -np.sin([0.5, 1, 2]), rtol=1e-12)


@pytest.mark.parametrize("door", ["pb", "mx"])
def test_second_order_through_a_julia_function_is_an_error_and_not_a_zero(pb, mx, layers, front, door):
    f = pb.function("TestLayers.Sigmoid")
    x = front.array([0.5, 1.0])
    pb.attach_grad(x)
    with pytest.raises(mx.base.MXNetError, match=r"(?i)(second|higher).?order|create_graph") as info:
        with pb.record():
            y = f(x) * x
            if door == "pb":
                slope = pb.grad(y, x, create_graph=True)
            else:
                slope = mx.autograd.grad(y, [x], create_graph=True)[0]
        pb.backward(slope)
    assert "Sigmoid" in str(info.value)
    assert_plain_words(info.value)
    with pb.record():
        y = f(x)
    pb.backward(y)
    s = 1 / (1 + np.exp(-np.array([0.5, 1.0])))
    np.testing.assert_allclose(x.grad.asnumpy(), s * (1 - s), rtol=1e-5)


@pytest.mark.parametrize("variable", ["unmarked", "intermediate", "unreachable"])
def test_grad_with_respect_to_what_is_no_leaf_of_the_graph_is_a_graph_error(pb, front, variable):
    x, other = front.array([1.0, 2.0]), front.ones(2)
    pb.attach_grad(x)
    if variable == "unreachable":
        pb.attach_grad(other)
    with pb.record():
        y = x * 2
        z = y * 3
    with pytest.raises(pb.GraphError) as info:
        pb.grad(z, y if variable == "intermediate" else other)
    assert_plain_words(info.value)


def test_grad_refuses_no_variables(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * 2
    with pytest.raises(ValueError, match=r"(?i)variable"):
        pb.grad(y, [])


# --- what is not there yet, and the recorded history ------------------------------------------------------


def test_attach_grad_on_an_intermediate_is_a_graph_error_and_cuts_nothing(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * x
        with pytest.raises(pb.GraphError, match=r"(?i)intermediate|recorded|not a leaf"):
            pb.attach_grad(y)
        z = y * 3
    with pytest.raises(pb.GraphError):
        pb.attach_grad(z)
    with pytest.raises(pb.GraphError):
        pb.mark_variables(z, front.zeros(2))
    pb.backward(z)
    np.testing.assert_array_equal(x.grad.asnumpy(), [6, 12])


def test_attach_grad_again_on_a_leaf_makes_a_new_buffer(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * x
    pb.backward(y)
    gradient = pb.attach_grad(x, "add")
    np.testing.assert_array_equal(gradient.asnumpy(), 0)
    for _ in range(2):
        with pb.record():
            y = x * x
        pb.backward(y)
    np.testing.assert_array_equal(gradient.asnumpy(), [4, 8])


def test_symbol_is_the_recorded_history_and_computes_the_same(pb, mx):
    x, w = mx.nd.array([1.0, 2.0]), mx.nd.array([3.0, 4.0])
    pb.attach_grad(x)
    pb.attach_grad(w)
    with pb.record():
        y = mx.nd.square(x) * w
    history = pb.symbol(y)
    assert isinstance(history, mx.sym.Symbol)
    arguments = history.list_arguments()
    assert len(arguments) == 2
    values = dict(zip(arguments, (x, w)))
    np.testing.assert_array_equal(history.bind(mx.cpu(), values).forward()[0].asnumpy(), [3, 16])


def test_julia_nodes_print_in_the_history_and_executing_them_is_a_clear_error(pb, mx, layers):
    x = mx.nd.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = pb.function("TestLayers.Sigmoid")(mx.nd.square(x)) + 1
    history = pb.symbol(y)
    printed = history.debug_str()
    assert "square" in printed
    assert "Sigmoid" in printed or "CustomFunction" in printed
    argument = history.list_arguments()[0]
    with pytest.raises(mx.base.MXNetError, match=r"(?i)julia|sigmoid") as info:
        history.bind(mx.cpu(), {argument: x}).forward()[0].asnumpy()
    assert_plain_words(info.value)
    with pytest.raises(mx.base.MXNetError, match=r"(?i)julia|sigmoid"):
        history.eval(ctx=mx.cpu(), **{argument: x})[0].asnumpy()
    pb.backward(y)
    s = 1 / (1 + np.exp(-np.array([1.0, 4.0])))
    np.testing.assert_allclose(x.grad.asnumpy(), s * (1 - s) * [2, 4], rtol=1e-5)
