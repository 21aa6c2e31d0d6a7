"""Gradients of intermediate values outside of blocks: attach_grad, mark_variables, drop_grad, grad."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from measures import Worker, assert_plain_words, grown_by, leaf, numeric_gradient, sigmoid

pytestmark = pytest.mark.usefixtures("clean_flags")

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]])


def backward_doors(pb, mx):
    return {
        "pb.backward": pb.backward,
        "y.backward": lambda y: y.backward(),
        "autograd.backward": lambda y: mx.autograd.backward([y]),
        "contrib.autograd": lambda y: mx.contrib.autograd.backward([y]),
    }


# --- values -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("door", ["pb.backward", "y.backward", "autograd.backward", "contrib.autograd"])
def test_an_intermediate_has_its_gradient_and_upstream_keeps_its_own(pb, mx, front, door):
    x = leaf(pb, front, X, dtype="float64")
    with pb.record():
        y = x * x
        gradient = pb.attach_grad(y)
        z = front.sin(y) * y
    np.testing.assert_array_equal(gradient.asnumpy(), 0)
    backward_doors(pb, mx)[door](z)
    y_value = X * X
    expected = np.cos(y_value) * y_value + np.sin(y_value)
    for found in (y.grad, pb.getgrad(y), gradient):
        assert found.shape == X.shape
        assert np.dtype(found.dtype) == np.float64
        np.testing.assert_allclose(found.asnumpy(), expected, rtol=1e-12)
    np.testing.assert_allclose(x.grad.asnumpy(), expected * 2 * X, rtol=1e-12)
    assert type(y) is type(x)
    assert type(pb.getgrad(y)) is type(x)


def test_several_marks_on_one_path_and_on_branches(pb, front):
    x = leaf(pb, front, X, dtype="float64")
    with pb.record():
        a = x * 2
        pb.attach_grad(a)
        b = a * a
        pb.attach_grad(b)
        left, right = b * 3, front.exp(-b)
        pb.attach_grad(left)
        pb.attach_grad(right)
        head = left * right
        pb.attach_grad(head)
    pb.backward(head)
    b_value = 4 * X * X
    left_value, right_value = 3 * b_value, np.exp(-b_value)
    db = 3 * right_value - left_value * right_value
    expected = [
        (head, 1),
        (left, right_value),
        (right, left_value),
        (b, db),
        (a, db * 4 * X),
        (x, db * 8 * X),
    ]
    for array, gradient in expected:
        np.testing.assert_allclose(array.grad.asnumpy(), np.broadcast_to(gradient, X.shape), rtol=1e-12)


def test_the_gradient_is_that_of_finite_differences_over_the_second_half(pb, mx):
    def second(y):
        return mx.nd.sum(mx.nd.sigmoid(y) * mx.nd.tanh(y) / (1 + y * y))

    x = leaf(pb, mx.nd, X, dtype="float64")
    with pb.record():
        y = mx.nd.exp(x)
        pb.attach_grad(y)
        z = second(y)
    pb.backward(z)
    expected = numeric_gradient(
        lambda v: float(second(mx.nd.array(v, dtype="float64")).asscalar()), np.exp(X)
    )
    np.testing.assert_allclose(y.grad.asnumpy(), expected, atol=1e-8)


def test_the_gradient_is_that_of_a_network_cut_into_two_halves(pb, mx):
    mx.random.seed(5)
    halves = [mx.gluon.nn.Dense(4, activation="tanh", in_units=3), mx.gluon.nn.Dense(2, in_units=4)]
    for half in halves:
        half.initialize(mx.init.Normal(1))
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = halves[0](x)
        pb.attach_grad(y)
        z = halves[1](y)
    pb.backward(z)
    whole = [p.grad().asnumpy() for half in halves for p in half.collect_params().values()]

    cut = leaf(pb, mx.nd, halves[0](x).asnumpy())
    with pb.record():
        z = halves[1](cut)
    pb.backward(z)
    with pb.record():
        y2 = halves[0](x)
    pb.backward(y2, cut.grad)

    np.testing.assert_array_equal(y.grad.asnumpy(), cut.grad.asnumpy())
    for one, other in zip(
        whole, [p.grad().asnumpy() for half in halves for p in half.collect_params().values()]
    ):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("grad_req", "expected"), [("write", 3), ("add", 6), ("null", 0), ("nop", 0)])
def test_grad_reqs_over_two_backwards_of_a_retained_graph(pb, front, grad_req, expected):
    x = leaf(pb, front, X, "add")
    with pb.record():
        y = x * 2
        pb.attach_grad(y, grad_req)
        z = y * 3
    pb.backward(z, retain_graph=True)
    pb.backward(z)
    if expected:
        np.testing.assert_array_equal(y.grad.asnumpy(), np.full(X.shape, expected))
    else:
        assert y.grad is None  # as for a leaf
    np.testing.assert_array_equal(x.grad.asnumpy(), np.full(X.shape, 12))


def test_mark_variables_lets_gradients_of_several_graphs_add_up_in_one_buffer(pb, front):
    x, buffer = leaf(pb, front, X, dtype="float32"), front.zeros(X.shape)
    other = front.array(X, dtype="float32")
    for _ in range(3):
        with pb.record():
            y = x * x
            pb.mark_variables([y, other], [buffer, front.zeros(X.shape)], ["add", "write"])
            z = y * 5 * other
        pb.backward(z)
    np.testing.assert_allclose(buffer.asnumpy(), 15 * X, rtol=1e-6)
    np.testing.assert_allclose(other.grad.asnumpy(), 5 * X * X, rtol=1e-6)


def test_what_is_added_to_one_buffer_does_not_leak_into_the_gradients_upstream(pb, mx):
    x = leaf(pb, mx.nd, X)
    buffer = mx.nd.full(X.shape, 100)
    with pb.record():
        y = x * 2
        pb.mark_variables(y, buffer, "add")
        z = y * 3
    pb.backward(z)
    np.testing.assert_array_equal(buffer.asnumpy(), 103)
    np.testing.assert_array_equal(x.grad.asnumpy(), 6)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_bits_are_kept_and_dtypes_too(pb, mx, dtype):
    special = (
        [0, -0.0, 1, -2, 3] if dtype.startswith("int") else [0.0, -0.0, 6e-8, -1.5, np.inf, -np.inf, np.nan]
    )
    x = leaf(pb, mx.nd, np.array(special), dtype=dtype)
    with pb.record():
        y = x * 1
        before = y.asnumpy().tobytes()
        pb.attach_grad(y)
        z = y * 2
    assert y.asnumpy().tobytes() == before
    assert np.dtype(y.dtype) == dtype
    pb.backward(z)
    assert np.dtype(y.grad.dtype) == dtype
    np.testing.assert_array_equal(y.grad.asnumpy(), 2)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


def test_arrays_without_dimensions_or_elements_have_gradients_too(pb, mx):
    with mx.util.np_shape(True), mx.util.np_array(True):
        for value in (np.array(3.0), np.zeros((0, 2))):
            x = leaf(pb, mx.np, value)
            with pb.record():
                y = x * x
                pb.attach_grad(y)
                z = y * 4
            pb.backward(z)
            assert y.grad.shape == value.shape
            np.testing.assert_array_equal(y.grad.asnumpy(), np.full(value.shape, 4.0))
            np.testing.assert_array_equal(x.grad.asnumpy(), 8 * value)


def test_arrays_larger_than_any_buffer_that_is_kept(pb, mx, monkeypatch):
    monkeypatch.setattr(pb._marks.zeros, "KEPT", 4)
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * -0.0
        pb.attach_grad(y)
        z = y * 7
    pb.backward(z)
    np.testing.assert_array_equal(np.signbit(y.asnumpy()), np.signbit(X * -0.0))
    np.testing.assert_array_equal(y.grad.asnumpy(), 7)


def test_julia_functions_before_and_behind_a_mark(pb, mx, functions):
    x = leaf(pb, mx.nd, X, dtype="float64")
    with pb.record():
        y = functions.Sigmoid(x)
        pb.attach_grad(y)
        z = functions.Square(y)
        pb.attach_grad(z)
        w = z * 3
    w.backward()
    s = sigmoid(X)
    np.testing.assert_array_equal(z.grad.asnumpy(), 3)
    np.testing.assert_allclose(y.grad.asnumpy(), 6 * s, rtol=1e-12)
    np.testing.assert_allclose(x.grad.asnumpy(), 6 * s * s * (1 - s), rtol=1e-12)


def test_one_of_several_outputs_of_an_operator(pb, mx):
    x = leaf(pb, mx.nd, [[1.0, 2.0, 3.0, 4.0]])
    with pb.record():
        left, right = mx.nd.split(x, 2, axis=1)
        pb.attach_grad(right)
        z = left * right
    pb.backward(z)
    np.testing.assert_array_equal(right.grad.asnumpy(), [[1, 2]])
    np.testing.assert_array_equal(x.grad.asnumpy(), [[3, 4, 1, 2]])


def test_a_mark_holds_outside_of_record_and_under_pause(pb, mx, front):
    x = leaf(pb, front, X)
    with pb.record():
        y = x * x
        with pb.pause():
            pb.attach_grad(y)
            assert not pb.is_recording()
        z = y * 2
    pb.attach_grad(z)
    assert not pb.is_recording()
    with pb.record():
        w = z * 3
    pb.backward(w)
    np.testing.assert_array_equal(z.grad.asnumpy(), 3)
    np.testing.assert_array_equal(y.grad.asnumpy(), 6)
    np.testing.assert_allclose(x.grad.asnumpy(), 12 * X, rtol=1e-6)


def test_views_of_the_other_front_end_have_the_same_gradient(pb, mx):
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        pb.attach_grad(y)
        same = y.as_np_ndarray()
        z = same * 2
    z.backward()
    np.testing.assert_array_equal(same.grad.asnumpy(), 2)
    np.testing.assert_array_equal(y.grad.asnumpy(), 2)


def test_a_list_of_marks_in_a_loop(pb, mx):
    x = leaf(pb, mx.nd, [2.0])
    states = []
    with pb.record():
        h = x
        for _ in range(200):
            h = h * 1.01
            pb.attach_grad(h)
            states.append(h)
    pb.backward(h)
    np.testing.assert_allclose([s.grad.asscalar() for s in states], 1.01 ** np.arange(199, -1, -1), rtol=1e-4)
    np.testing.assert_allclose(x.grad.asscalar(), 1.01**200, rtol=1e-4)


def test_a_gluon_loop_trains_the_same_with_a_mark_in_it(pb, mx):
    def train(marked):
        mx.random.seed(1)
        first, second = mx.gluon.nn.Dense(4, activation="relu", in_units=3), mx.gluon.nn.Dense(1, in_units=4)
        params = {**first.collect_params(), **second.collect_params()}
        for half in (first, second):
            half.initialize(mx.init.Normal(0.5))
        trainer = mx.gluon.Trainer(params, "sgd", {"learning_rate": 0.05})
        for _ in range(20):
            with mx.autograd.record():
                h = first(mx.nd.array(X))
                if marked:
                    pb.attach_grad(h)
                loss = (second(h) ** 2).sum()
            loss.backward()
            trainer.step(1)
            if marked:
                assert h.grad.norm().asscalar() > 0
        return [p.data().asnumpy() for p in params.values()]

    for one, other in zip(train(True), train(False)):
        np.testing.assert_array_equal(one, other)


# --- grad -------------------------------------------------------------------------------------------------


def test_grad_takes_marked_intermediates_among_its_variables(pb, mx, front):
    x = leaf(pb, front, X, dtype="float64")
    with pb.record():
        y = x * x
        pb.attach_grad(y)
        z = y * y
    dy, dx = pb.grad(z, [y, x], retain_graph=True)
    np.testing.assert_allclose(dy.asnumpy(), 2 * X**2, rtol=1e-12)
    np.testing.assert_allclose(dx.asnumpy(), 4 * X**3, rtol=1e-12)
    (dy,) = mx.autograd.grad(z, [y])
    np.testing.assert_allclose(dy.asnumpy(), 2 * X**2, rtol=1e-12)
    np.testing.assert_array_equal(y.grad.asnumpy(), 0)


def test_create_graph_gives_second_derivatives_through_a_mark(pb, mx):
    x = leaf(pb, mx.nd, X, dtype="float64")
    with pb.record():
        y = x * x
        pb.attach_grad(y)
        z = mx.nd.sin(y)
        dy = pb.grad(z, y, create_graph=True)
    np.testing.assert_allclose(dy.asnumpy(), np.cos(X * X), rtol=1e-12)
    pb.backward(dy)
    np.testing.assert_allclose(y.grad.asnumpy(), -np.sin(X * X), rtol=1e-12)
    np.testing.assert_allclose(x.grad.asnumpy(), -np.sin(X * X) * 2 * X, rtol=1e-12)


# --- drop_grad --------------------------------------------------------------------------------------------


def test_drop_grad_on_an_intermediate_leaves_what_was_before(pb, front):
    x = leaf(pb, front, X)
    with pb.record():
        y = x * x
        gradient = pb.attach_grad(y)
        pb.drop_grad(y)
        z = y * 2
    assert y.grad is None
    assert pb.getgrad(y) is None
    pb.backward(z)
    np.testing.assert_array_equal(gradient.asnumpy(), 0)
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * X, rtol=1e-6)


def test_drop_grad_on_a_leaf_makes_it_a_constant_of_the_same_memory(pb, front):
    x, w = leaf(pb, front, X), leaf(pb, front, X)
    pb.drop_grad(x)
    assert pb.getgrad(x) is None
    with pb.record():
        z = x * w
    pb.backward(z)
    np.testing.assert_allclose(w.grad.asnumpy(), X, rtol=1e-6)
    x[:] = 1
    np.testing.assert_array_equal(x.asnumpy(), 1)


def test_drop_grad_without_a_gradient_does_nothing_and_refuses_what_is_no_array(pb, front):
    x = front.array(X)
    pb.drop_grad(x)
    np.testing.assert_array_equal(x.asnumpy(), X.astype("float32"))
    with pytest.raises(TypeError, match=r"drop_grad: x is a list"):
        pb.drop_grad([x])


def test_a_mark_can_be_dropped_and_made_again_and_changed_before_the_value_is_used(pb, mx):
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        first = pb.attach_grad(y)
        second = pb.attach_grad(y, "add")
        pb.drop_grad(y)
        third = pb.attach_grad(y)
        z = y * 2
    pb.backward(z)
    assert (first.sum() + second.sum()).asscalar() == 0
    np.testing.assert_array_equal(third.asnumpy(), 2)
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * X, rtol=1e-6)


@pytest.mark.parametrize("attach", ["pb.attach_grad", "x.attach_grad"])
def test_a_marked_value_whose_graph_is_gone_can_become_a_leaf(pb, mx, front, attach):
    x = leaf(pb, front, X)
    with pb.record():
        y = x * x
        pb.attach_grad(y)
        z = y * 2
    pb.backward(z)
    if attach == "pb.attach_grad":
        pb.attach_grad(y)
    else:
        y.attach_grad()
    np.testing.assert_array_equal(y.grad.asnumpy(), 0)
    with pb.record():
        z = y * 5
    np.testing.assert_array_equal(pb.grad(z, y, retain_graph=True).asnumpy(), 5)
    pb.backward(z)
    np.testing.assert_array_equal(y.grad.asnumpy(), 5)
    np.testing.assert_array_equal(pb.getgrad(y).asnumpy(), 5)
    pb.drop_grad(y)
    assert y.grad is None


# --- marks that come too late -----------------------------------------------------------------------------


@pytest.mark.parametrize("case", ["some uses", "every use", "a head", "another array", "a Julia function"])
def test_a_mark_made_after_the_value_was_used_is_a_graph_error_and_writes_nothing(
    pb, mx, front, functions, case
):
    x = leaf(pb, front, X)
    x.grad[:] = 42
    with pb.record():
        y = x * x
        twin = y.as_np_ndarray() if front is mx.nd else y.as_nd_ndarray()
        same = twin if case == "another array" else y
        early = functions.Square(y) if case == "a Julia function" else same * 2
        if case == "a head":
            early = twin
        kept = pb.attach_grad(y)
        late = y * 3
        if case == "some uses":
            heads = [early.as_nd_ndarray() + late.as_nd_ndarray()]
        elif case == "every use":
            heads = [early]
        else:
            heads = [early, late]
    with pytest.raises(pb.GraphError, match=r"attach_grad.*\(2, 3\).*before") as caught:
        mx.autograd.backward(heads)
    assert_plain_words(caught.value)
    np.testing.assert_array_equal(x.grad.asnumpy(), 42)
    np.testing.assert_array_equal(kept.asnumpy(), 0)


def test_that_error_comes_even_if_only_the_gradient_buffer_is_still_held(pb, mx):
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        z = y * 2
        gradient = pb.attach_grad(y)
    del y
    gc.collect()
    with pytest.raises(pb.GraphError, match="attach_grad"):
        z.backward()
    del gradient
    z.backward()  # nobody can read it any more
    np.testing.assert_allclose(x.grad.asnumpy(), 4 * X, rtol=1e-6)


def test_early_uses_that_the_heads_do_not_depend_on_do_no_harm(pb, mx):
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        seen = y.sum()
        pb.attach_grad(y)
        z = y * 2
    z.backward()
    np.testing.assert_array_equal(y.grad.asnumpy(), 2)
    assert seen.asscalar() == pytest.approx((X * X).sum())


def test_marks_of_other_graphs_do_not_disturb_a_backward(pb, mx):
    x, other = leaf(pb, mx.nd, X), leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        z = y * 2
        pb.attach_grad(y)
        unrelated = other * 5
    unrelated.backward()
    np.testing.assert_array_equal(other.grad.asnumpy(), 5)
    with pytest.raises(pb.GraphError):
        z.backward()


@pytest.mark.parametrize("make", ["sparse", "bool"])
def test_what_cannot_have_a_gradient_is_refused_by_name(pb, mx, make):
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        if make == "sparse":
            y = mx.nd.sparse.square(x.tostype("row_sparse"))
        else:
            with mx.util.np_array(True):
                y = y.as_np_ndarray().astype("bool")
    if pb._libmxnet.is_intermediate(y):
        with pytest.raises(ValueError, match=rf"attach_grad.*{'row_sparse' if make == 'sparse' else 'bool'}"):
            pb.attach_grad(y)
    else:
        pytest.skip("libmxnet does not record this")


# --- lifetimes --------------------------------------------------------------------------------------------


def test_backwards_of_several_threads_keep_their_marks_apart(pb, mx):
    def work(scale):
        for _ in range(30):
            x = mx.nd.array(X)
            x.attach_grad()
            with mx.autograd.record():
                y = x * scale
                pb.attach_grad(y)
                z = y * y
            z.backward()
            np.testing.assert_allclose(y.grad.asnumpy(), 2 * scale * X, rtol=1e-5)
            np.testing.assert_allclose(x.grad.asnumpy(), 2 * scale * scale * X, rtol=1e-5)

    workers = [Worker(lambda scale=scale: work(scale)) for scale in (1.0, 2.0, 3.0)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.outcome()
    assert threading.active_count() >= 1


def test_garbage_collections_in_between_change_nothing(pb, mx):
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        pb.attach_grad(y)
        gc.collect()
        z = y * 2
        gc.collect()
    z.backward()
    gc.collect()
    np.testing.assert_array_equal(y.grad.asnumpy(), 2)


def test_after_the_arrays_are_gone_a_backward_is_mxnets_own_again(pb, mx):
    x = leaf(pb, mx.nd, X)
    with pb.record():
        y = x * x
        pb.attach_grad(y)
        z = y * 2
    z.backward()
    del y, z
    gc.collect()
    for _ in range(2):
        with pb.record():
            z = x * 2
        z.backward()
    assert not pb._marks.backward._expected
    assert not pb._marks.backward._watching


def test_ten_thousand_marked_steps_do_not_grow(pb, mx):
    x = leaf(pb, mx.nd, np.ones((64, 64)))

    def step():
        with pb.record():
            y = x * x
            pb.attach_grad(y)
            z = y * 2
        z.backward()

    grown = grown_by(mx, step, 1000, 9000)
    assert grown < 8, f"{grown:.1f} MB more after 9,000 steps"
