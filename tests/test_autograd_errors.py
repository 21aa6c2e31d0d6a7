"""Refusals of the autograd front end: in plain words, with the cure, and leaving graphs and buffers as they were."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from measures import assert_plain_words

pytestmark = pytest.mark.usefixtures("clean_flags")


# --- arguments --------------------------------------------------------------------------------------------


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


def test_grad_refuses_no_variables(pb, front):
    x = front.array([1.0, 2.0])
    pb.attach_grad(x)
    with pb.record():
        y = x * 2
    with pytest.raises(ValueError, match=r"(?i)variable"):
        pb.grad(y, [])


# --- graphs -----------------------------------------------------------------------------------------------


def test_graph_error_is_an_mxnet_error(pb, mx):
    assert issubclass(pb.GraphError, mx.base.MXNetError)
    assert issubclass(pb.JuliaError, Exception)


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
