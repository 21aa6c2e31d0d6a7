"""Errors in Julia functions: where they surface, what they say, and that the next step is right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from measures import LAYERS, VALUES, assert_silent_end, differentiate, julia_step, leaf, script

# --- exceptions of callbacks ------------------------------------------------------------------------------


def test_an_exception_in_forward_surfaces_at_the_call_with_message_stack_and_object(pb, front, layers):
    f = pb.function("TestLayers.Fails", where="forward")
    x = leaf(pb, front, [1.0, 2.0])
    with pytest.raises(pb.JuliaError) as info, pb.record():
        f(x)
    assert "refused with code 17" in str(info.value)
    assert "refuse_here" in str(info.value)
    assert LAYERS.name in str(info.value)
    assert info.value.exception.code == 17
    assert (pb.is_recording(), pb.is_training()) == (False, False)
    with pytest.raises(pb.JuliaError, match=r"refused with code 17"):
        f(x)
    y = differentiate(pb, lambda a: f(a, where=""), x)
    np.testing.assert_array_equal(y.asnumpy(), [1, 2])
    np.testing.assert_array_equal(x.grad.asnumpy(), 1)


@pytest.mark.parametrize("pullback", [False, True])
def test_an_exception_in_backward_surfaces_at_the_backward_and_the_next_step_is_right(
    pb, mx, front, layers, pullback
):
    f = pb.function("TestLayers.failing_pullback" if pullback else "TestLayers.Fails", pullback=pullback)
    code = 19 if pullback else 18
    x = leaf(pb, front, [1.0, 2.0])
    for _ in range(3):
        with pytest.raises(pb.JuliaError) as info, pb.record():
            y = f(x) * 2
            pb.backward(y)
        assert f"refused with code {code}" in str(info.value)
        assert "refuse_here" in str(info.value)
        assert LAYERS.name in str(info.value)
        assert info.value.exception.code == code
        assert (pb.is_recording(), pb.is_training()) == (False, False)
        mx.nd.waitall()  # nobody else gets the blame
        differentiate(pb, pb.function("TestLayers.Square"), x)
        np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_after_an_error_requested_gradients_are_nan_and_accumulated_ones_untouched(pb, front, layers):
    square, fails, prod = (pb.function(f"TestLayers.{name}") for name in ("Square", "Fails", "Product"))
    before, other, after = (leaf(pb, front, [1.0, 2.0]) for _ in range(3))
    added = leaf(pb, front, [1.0, 2.0], "add")
    pb.getgrad(added)[:] = 7
    with pb.record():
        y = prod(fails(prod(square(after), other) + square(added)), before)
    with pytest.raises(pb.JuliaError, match=r"refused with code 18"):
        pb.backward(y)
    np.testing.assert_array_equal(before.grad.asnumpy(), [2, 12])  # done before the failure
    assert np.isnan(after.grad.asnumpy()).all()
    assert np.isnan(other.grad.asnumpy()).all()
    np.testing.assert_array_equal(added.grad.asnumpy(), 7)
    # No callback ran after the one that failed.
    assert layers.called().split().count("Product.backward") == 1
    assert layers.ncalls("Square.backward") == 0
    pb.backward(pb.record(lambda: prod(square(added), before)))
    np.testing.assert_array_equal(added.grad.asnumpy(), 7 + 2 * np.array([1, 4]))


def test_after_an_error_integer_gradients_are_zero(pb, front, layers):
    x = leaf(pb, front, [1, 2], dtype="int64")
    pb.getgrad(x)[:] = 9
    with pb.record():
        y = pb.function("TestLayers.Fails")(x)
    with pytest.raises(pb.JuliaError):
        pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 0)


# --- gradients, results and methods that do not fit -------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "error"),
    [("shape", ValueError), ("few", ValueError), ("many", ValueError), ("bare", ValueError)],
)
def test_gradients_that_do_not_fit_name_function_argument_what_came_and_what_was_expected(
    pb, mx, front, layers, how, error
):
    f = pb.function("TestLayers.WrongGradient", how=how)
    x, z = leaf(pb, front, [[1.0, 2.0]]), leaf(pb, front, [[3.0, 4.0]])
    with pb.record():
        y = f(x, z)
    with pytest.raises(error) as info:
        pb.backward(y)
    message = str(info.value)
    assert "WrongGradient" in message
    if how == "shape":
        assert "2" in message  # the argument
        assert "(5, 7)" in message or "(7, 5)" in message
        assert "(1, 2)" in message or "(2, 1)" in message
    else:
        assert {"few": "1", "many": "3", "bare": "1"}[how] in message or how == "bare"
        assert "2" in message
    mx.nd.waitall()
    differentiate(pb, pb.function("TestLayers.WrongGradient", how="right"), x, z)
    np.testing.assert_array_equal(z.grad.asnumpy(), 1)


@pytest.mark.parametrize(("how", "words"), [("dtype", ("Int32", "int32")), ("text", ("String", "str"))])
def test_gradients_of_a_wrong_type_name_function_and_type(pb, front, layers, how, words):
    x, z = leaf(pb, front, [[1.0, 2.0]]), leaf(pb, front, [[3.0, 4.0]])
    with pb.record():
        y = pb.function("TestLayers.WrongGradient", how=how)(x, z)
    with pytest.raises((TypeError, ValueError)) as info:
        pb.backward(y)
    assert "WrongGradient" in str(info.value)
    assert any(word in str(info.value) for word in words)
    assert not (z.grad.asnumpy() == 0).any()


@pytest.mark.parametrize(
    ("how", "word"),
    [
        ("text", "String"),
        ("nothing", "(?i)nothing"),
        ("complex", "Complex"),
        ("strings", "String"),
        ("mixed", "String"),
    ],
)
@pytest.mark.parametrize("recording", [False, True])
def test_results_that_are_no_arrays_of_libmxnet_name_function_and_type(pb, mx, layers, how, word, recording):
    f = pb.function("TestLayers.WrongOutput", how=how)
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with (
        pytest.raises((TypeError, ValueError), match=word) as info,
        pb.pause() if not recording else pb.record(),
    ):
        f(x)
    assert "WrongOutput" in str(info.value)
    assert (pb.is_recording(), pb.is_training()) == (False, False)


def test_missing_methods_name_the_function(pb, mx, layers):
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pytest.raises((pb.JuliaError, TypeError), match=r"(?s)forward.*NoForward|NoForward.*forward"):
        pb.function("TestLayers.NoForward")(x)
    with pytest.raises((pb.JuliaError, TypeError), match=r"(?s)backward.*NoBackward|NoBackward.*backward"):
        differentiate(pb, pb.function("TestLayers.NoBackward"), x)
    with pytest.raises((pb.JuliaError, TypeError), match=r"Sigmoid"):
        pb.function("TestLayers.Sigmoid")(x, x)


# --- exceptions and arrays that come from elsewhere -------------------------------------------------------


@pytest.mark.parametrize("where", ["onforward", "onbackward"])
@pytest.mark.parametrize("error", [KeyError, KeyboardInterrupt, SystemExit])
def test_a_python_exception_raised_through_julia_comes_out_as_itself(pb, mx, front, layers, where, error):
    raised = error("from Python")

    def throw() -> None:
        raise raised

    x = leaf(pb, front, [1.0, 2.0])
    with pytest.raises(error) as info:
        with pb.record():
            y = pb.function("TestLayers.Hook", **{where: throw})(x)
        assert where == "onbackward"
        pb.backward(y)
    assert info.value is raised
    assert (pb.is_recording(), pb.is_training()) == (False, False)
    mx.nd.waitall()
    differentiate(pb, pb.function("TestLayers.Square"), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


@pytest.mark.parametrize("stype", ["row_sparse", "csr"])
def test_sparse_inputs_are_refused_with_the_way_out(pb, mx, layers, stype):
    with pytest.raises((TypeError, ValueError), match=r"(?s)tostype\(.default.\)"):
        pb.function("TestLayers.Sigmoid")(mx.nd.ones((2, 2)).tostype(stype))


def test_inputs_on_a_gpu_are_refused_with_the_way_out(pb, mx, layers):
    handle = mx.nd.ndarray._new_alloc_handle((2, 3), mx.gpu(0), True, np.float32)
    with pytest.raises((TypeError, ValueError), match=r"(?is)gpu.*(as_in_context|as_in_ctx|copyto)"):
        pb.function("TestLayers.Sigmoid")(mx.nd.NDArray(handle))


def test_an_array_that_failed_before_raises_its_own_error_at_the_call(pb, mx, layers):
    broken = mx.nd.random.normal(0, -1, shape=(2,))  # fails later, on a thread of libmxnet
    with pytest.raises(mx.base.MXNetError, match=r"scale"):
        pb.function("TestLayers.Sigmoid")(broken)
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pb.record():
        y = pb.function("TestLayers.Square")(x)
    with pytest.raises(mx.base.MXNetError, match=r"scale"):
        pb.backward(y, mx.nd.random.normal(0, -1, shape=(2,)))
    mx.nd.waitall()
    differentiate(pb, pb.function("TestLayers.Square"), x)
    np.testing.assert_array_equal(x.grad.asnumpy(), [2, 4])


def test_an_unrelated_pending_error_is_neither_blamed_on_julia_nor_lost_nor_harmful(
    pb, mx, layers, functions
):
    for _ in range(3):
        x = leaf(pb, mx.nd, VALUES)
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


def test_the_error_of_a_python_function_is_not_explained_as_a_symbol_of_julia(pb, mx, capfd):
    class Failing(mx.autograd.Function):
        def forward(self, x: Any) -> Any:
            return x * 2

        def backward(self, dy: Any) -> Any:
            raise RuntimeError("of its own")

    x = leaf(pb, mx.nd, [1.0])
    with pb.record():
        y = Failing()(x)
    with pytest.raises(mx.base.MXNetError) as raised:
        pb.backward(y)
        mx.nd.waitall()
    assert "a symbol that holds" not in str(raised.value)
    assert "of its own" in "".join(capfd.readouterr())  # where MXNet prints it


# --- what may take the process with it --------------------------------------------------------------------


def test_a_stack_overflow_in_julia_is_a_julia_error_and_the_next_step_is_right(run_python):
    result = run_python(
        script("""
        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        for _ in range(2):
            try:
                pb.function("TestLayers.Endless", where="forward")(x)
            except pb.JuliaError as error:
                assert "StackOverflow" in str(error), str(error)[:500]
            else:
                raise AssertionError("no error in forward")
            with pb.record():
                y = pb.function("TestLayers.Endless", where="backward")(x)
            try:
                pb.backward(y)
            except pb.JuliaError as error:
                assert "StackOverflow" in str(error), str(error)[:500]
            else:
                raise AssertionError("no error in backward")
            assert np.isnan(x.grad.asnumpy()).all()
            assert_next_step_is_right()
        leave()
        """)
    )
    assert_silent_end(result)


def test_pybridge_check_finds_writes_to_what_is_only_to_be_read(run_python):
    result = run_python(
        script("""
        def refused(run):
            try:
                run()
            except Exception as error:
                assert "Scribbles" in str(error), str(error)
                assert "PYBRIDGE_CHECK" in str(error) or "read" in str(error) or "wr" in str(error), str(error)
                return True
            return False

        x = mx.nd.array([1.0, 2.0]); pb.attach_grad(x)
        assert refused(lambda: pb.function("TestLayers.Scribbles", where="forward")(x))
        with pb.record():
            y = pb.function("TestLayers.Scribbles", where="backward")(x)
        assert refused(lambda: pb.backward(y))
        assert not refused(lambda: pb.function("TestLayers.Scribbles", where="")(x))
        assert_next_step_is_right()
        leave()
        """),
        env={"PYBRIDGE_CHECK": "1"},
    )
    assert_silent_end(result)
