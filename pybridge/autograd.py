"""MXNet's autograd under MXNet.jl's names, thin over the C API; it mixes freely with `mxnet.autograd`."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, TypeVar, Union, overload

from . import _libmxnet
from ._libmxnet import GraphError, NDArray

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])
Arrays = Union[NDArray, Sequence[NDArray]]


def is_recording() -> bool:
    """Whether what is computed on this thread is being recorded.

    Examples:
        >>> import pybridge as pb
        >>> pb.record(lambda: pb.is_recording()), pb.is_recording()
        (True, False)
    """
    return _libmxnet.is_recording()


def is_training() -> bool:
    """Whether this thread is in training mode (dropout drops, batch norm updates its statistics).

    Examples:
        >>> import pybridge as pb
        >>> pb.record(lambda: pb.is_training()), pb.is_training()
        (True, False)
    """
    return _libmxnet.is_training()


def set_recording(flag: bool) -> bool:
    """Turn recording on or off on this thread; returns the previous state.

    Examples:
        >>> import pybridge as pb
        >>> pb.set_recording(False)
        False
    """
    return _libmxnet.set_recording(_flag("set_recording", flag))


def set_training(flag: bool) -> bool:
    """Turn training mode on or off on this thread; returns the previous state.

    Examples:
        >>> import pybridge as pb
        >>> pb.set_training(False)
        False
    """
    return _libmxnet.set_training(_flag("set_training", flag))


def _flag(name: str, flag: Any) -> bool:
    if flag not in (True, False):
        raise TypeError(f"{name}: flag is {flag!r}; expected True or False")
    return bool(flag)


# ---- scopes ---------------------------------------------------------------------------------------------------


class _Scope(contextlib.ContextDecorator):
    """Recording and training flags for a while. Both are put back as they were, whatever happens inside."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._wanted = (recording, training)
        self._before: list[tuple[bool, bool]] = []

    def _recreate_cm(self) -> _Scope:
        return _Scope(*self._wanted)  # as a decorator: one for each call, whichever thread makes it

    def __enter__(self) -> None:
        recording, training = self._wanted
        self._before.append((is_recording(), is_training()))
        if recording is not None:
            _libmxnet.set_recording(recording)
        if training is not None:
            _libmxnet.set_training(training)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        recording, training = self._before.pop()
        _libmxnet.set_recording(recording)
        _libmxnet.set_training(training)


def _scope(name: str, do: Any, recording: bool | None, training: Any) -> Any:
    if callable(do):
        with _Scope(recording, training):
            return do()
    if do is not None and do not in (True, False):
        raise TypeError(f"{name}: expected a bool or a callable, got {do!r}")
    return _Scope(recording, training if do is None else bool(do))


@overload
def record(train_mode: bool = True) -> _Scope: ...
@overload
def record(train_mode: Callable[[], _T]) -> _T: ...
@overload
def record(do: Callable[[], _T], train_mode: bool) -> _T: ...


def record(*args: Any, **kwargs: Any) -> Any:
    """Record what is computed, so that it can be differentiated.

    A context manager (`with pb.record():`), a decorator (`@pb.record()`), and a do-block
    (`y = pb.record(lambda: x * x)`). Leaving it puts the recording *and* the training flag back as they were.

    Args:
        train_mode: run layers such as dropout in training mode.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.array([3.0])
        >>> _ = pb.attach_grad(x)
        >>> y = pb.record(lambda: x * x)
        >>> pb.backward(y)
        >>> pb.getgrad(x).asscalar()
        6.0
    """
    return _mode_scope("record", True, True, *args, **kwargs)


def pause(*args: Any, **kwargs: Any) -> Any:
    """Do not record for a while, inside `record`; used as `record` is.

    Args:
        train_mode: run layers such as dropout in training mode; False by default.

    Examples:
        >>> import pybridge as pb
        >>> with pb.record():
        ...     with pb.pause():
        ...         print(pb.is_recording())
        False
    """
    return _mode_scope("pause", False, False, *args, **kwargs)


def _mode_scope(name: str, recording: bool, default: bool, *args: Any, **kwargs: Any) -> Any:
    do = None
    arguments = list(args)
    if arguments and callable(arguments[0]):
        do = arguments.pop(0)
    training: Any = kwargs.pop("train_mode", default)
    if arguments:
        training = arguments.pop(0)
    if arguments or kwargs:
        raise TypeError(
            f"{name}: unexpected arguments {arguments or kwargs}; expected train_mode, or a callable"
        )
    if training not in (True, False):
        raise TypeError(f"{name}: train_mode is {training!r}; expected True or False")
    if do is not None:
        with _Scope(recording, bool(training)):
            return do()
    return _Scope(recording, bool(training))


def train_mode(do: Callable[[], Any] | None = None) -> Any:
    """Training mode for a while, recording as it is; used as `record` is.

    Examples:
        >>> import pybridge as pb
        >>> with pb.train_mode():
        ...     print(pb.is_training(), pb.is_recording())
        True False
    """
    return _scope("train_mode", do, None, True)


def predict_mode(do: Callable[[], Any] | None = None) -> Any:
    """Prediction mode for a while, recording as it is; used as `record` is.

    Examples:
        >>> import pybridge as pb
        >>> with pb.record():
        ...     with pb.predict_mode():
        ...         print(pb.is_training(), pb.is_recording())
        False True
    """
    return _scope("predict_mode", do, None, False)


# ---- variables --------------------------------------------------------------------------------------------------


def attach_grad(x: NDArray, grad_req: str = "write") -> NDArray:
    """Attach a gradient to `x`, a leaf: an array that was not computed inside `record`.

    Args:
        x: an NDArray of any shape and dtype.
        grad_req: `"write"`, `"add"` (gradients of several backwards add up), or `"null"`/`"nop"` (none is computed).

    Returns:
        The gradient buffer, of the shape and dtype of `x`, filled with zeros.

    Raises:
        TypeError: `x` is no NDArray.
        ValueError: there is no such `grad_req`.
        GraphError: `x` is an intermediate result; marking it would cut the graph in silence.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> pb.attach_grad(mx.nd.ones((2, 2))).asnumpy().tolist()
        [[0.0, 0.0], [0.0, 0.0]]
    """
    _check_array("attach_grad", "x", x)
    _check_req("attach_grad", grad_req)
    _check_leaf("attach_grad", x)
    with _Scope(False, None):
        gradient = _libmxnet.zeros_like(x)
    _libmxnet.mark_variables([x], [gradient], [grad_req])
    return gradient


def getgrad(x: NDArray) -> NDArray | None:
    """The gradient buffer of `x`; None if it has none.

    Raises:
        TypeError: `x` is no NDArray.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> pb.getgrad(mx.nd.ones((2,))) is None
        True
    """
    _check_array("getgrad", "x", x)
    return _libmxnet.gradient(x)


def mark_variables(vars: Arrays, grads: Arrays, grad_reqs: str | Sequence[str] = "write") -> None:
    """Attach given gradient buffers to leaves, one or many.

    Args:
        vars: an NDArray, or a sequence of them.
        grads: the buffer for each, of the same shape and dtype.
        grad_reqs: one for all, or one each: `"write"`, `"inplace"`, `"add"`, `"null"`/`"nop"`.

    Raises:
        TypeError: something among them is no NDArray.
        ValueError: lengths, shapes or dtypes do not match, or there is no such `grad_req`.
        GraphError: one of `vars` is an intermediate result.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x, dx = mx.nd.array([1.0, 2.0]), mx.nd.zeros((2,))
        >>> pb.mark_variables(x, dx)
        >>> pb.backward(pb.record(lambda: x * x))
        >>> dx.asnumpy().tolist()
        [2.0, 4.0]
    """
    variables, gradients = _list("mark_variables", "vars", vars), _list("mark_variables", "grads", grads)
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(reqs):
        raise ValueError(
            f"mark_variables: {len(variables)} vars, {len(gradients)} grads and {len(reqs)} grad_reqs; "
            "expected as many of each"
        )
    for i, (x, gradient, req) in enumerate(zip(variables, gradients, reqs)):
        _check_req("mark_variables", req)
        _check_like("mark_variables", f"grads[{i}]", gradient, f"vars[{i}]", x)
        _check_leaf("mark_variables", x)
    if variables:
        _libmxnet.mark_variables(variables, gradients, reqs)


def symbol(y: NDArray) -> Any:
    """The recorded history of `y`, as an `mx.sym.Symbol`.

    Julia functions (and `mxnet.autograd.Function`s) are nodes of it; it prints, lists arguments, outputs and
    internals, but a symbol that holds one cannot be executed.

    Raises:
        TypeError: `y` is no NDArray.
        GraphError: `y` is in no graph.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.ones((2,))
        >>> _ = pb.attach_grad(x)
        >>> len(pb.symbol(pb.record(lambda: x * x)).list_arguments())
        1
    """
    _check_array("symbol", "y", y)
    found = _libmxnet.symbol(y)
    if found is None:
        raise GraphError("symbol: y is in no recorded graph. Compute it inside `with pb.record():`.")
    return found


# ---- gradients ----------------------------------------------------------------------------------------------------


def backward(
    heads: Arrays,
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool = False,
    train_mode: bool = True,
) -> None:
    """Compute the gradients of `heads` into the buffers of the leaves that they depend on.

    Args:
        heads: an NDArray, or a sequence of them.
        head_grads: the gradient with respect to each head, of its shape and dtype; None (for all, or for one) means
            ones.
        retain_graph: keep the graph for another backward.
        train_mode: whether this is the backward of a forward in training mode.

    Raises:
        TypeError: something among them is no NDArray.
        ValueError: lengths, shapes or dtypes do not match.
        GraphError: a head is in no graph, or its graph is gone after an earlier backward.
        JuliaError: the backward of a Julia function failed; the gradients that it owed are NaN (integers: 0).

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.array([1.0, 2.0])
        >>> _ = pb.attach_grad(x)
        >>> pb.backward(pb.record(lambda: x * x * x), mx.nd.array([1.0, 10.0]))
        >>> pb.getgrad(x).asnumpy().tolist()
        [3.0, 120.0]
    """
    outputs, gradients = _heads("backward", heads, head_grads)
    _libmxnet.backward(outputs, gradients, None, bool(retain_graph), False, bool(train_mode))


def grad(
    heads: Arrays,
    variables: Arrays,
    head_grads: NDArray | Sequence[NDArray | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    train_mode: bool = True,
) -> Any:
    """The gradients of `heads` with respect to `variables`, as new arrays.

    Args:
        heads: an NDArray, or a sequence of them.
        variables: a leaf with a gradient attached, or a sequence of such.
        head_grads: the gradient with respect to each head; None (for all, or for one) means ones.
        retain_graph: keep the graph for another backward; by default as `create_graph`.
        create_graph: record this computation too, so that the result can be differentiated again. Julia functions
            have first derivatives only: with one of them on the way this is a GraphError.
        train_mode: whether this is the backward of a forward in training mode.

    Returns:
        An NDArray for a single variable, a list of them for a sequence.

    Raises:
        TypeError, ValueError, GraphError, JuliaError: as `backward`; GraphError also when a variable is no leaf, or
            the heads do not depend on it.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.array([0.0])
        >>> _ = pb.attach_grad(x)
        >>> with pb.record():
        ...     y = mx.nd.exp(x)
        ...     dx = pb.grad(y, x, create_graph=True)
        >>> pb.backward(dx)
        >>> dx.asscalar(), pb.getgrad(x).asscalar()
        (1.0, 1.0)
    """
    outputs, gradients = _heads("grad", heads, head_grads)
    wanted = _list("grad", "variables", variables)
    if not wanted:
        raise ValueError("grad: variables is empty; expected at least one NDArray")
    retain = create_graph if retain_graph is None else retain_graph
    found = _libmxnet.backward(outputs, gradients, wanted, bool(retain), bool(create_graph), bool(train_mode))
    assert found is not None
    return found[0] if isinstance(variables, NDArray) else found


# ---- checks -------------------------------------------------------------------------------------------------------


def _check_array(function: str, argument: str, x: Any) -> None:
    if not isinstance(x, NDArray):
        raise TypeError(f"{function}: {argument} is a {type(x).__name__}; expected an NDArray")


def _list(function: str, argument: str, arrays: Any) -> list[NDArray]:
    if isinstance(arrays, NDArray):
        return [arrays]
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(
            f"{function}: {argument} is a {type(arrays).__name__}; expected an NDArray, a list or a tuple of them"
        )
    for i, x in enumerate(arrays):
        _check_array(function, f"{argument}[{i}]", x)
    return list(arrays)


def _check_req(function: str, req: Any) -> None:
    if not isinstance(req, str) or req not in _libmxnet.GRAD_REQS:
        names = ", ".join(map(repr, _libmxnet.GRAD_REQS))
        raise ValueError(f"{function}: grad_req is {req!r}; expected one of {names}")


def _check_leaf(function: str, x: NDArray) -> None:
    if _libmxnet.is_intermediate(x):
        raise GraphError(
            f"{function}: x was computed inside record, so it is an intermediate result of a graph. Marking it would "
            "cut the graph: the gradients of everything before it would become zero. Mark the leaves before record, "
            "or mark a copy that is none of the graph's (x.detach())."
        )


def _check_like(function: str, argument: str, x: NDArray, other: str, like: NDArray) -> None:
    if x.shape != like.shape or x.dtype != like.dtype:
        raise ValueError(
            f"{function}: {argument} has shape {x.shape} and dtype {_dtype(x)}; expected shape {like.shape} and "
            f"dtype {_dtype(like)}, those of {other}"
        )


def _dtype(x: NDArray) -> str:
    name: str = getattr(x.dtype, "__name__", None) or str(x.dtype)
    return name


def _heads(function: str, heads: Any, head_grads: Any) -> tuple[list[NDArray], list[NDArray | None] | None]:
    outputs = _list(function, "heads", heads)
    if not outputs:
        raise ValueError(f"{function}: heads is empty; expected at least one NDArray")
    if head_grads is None:
        return outputs, None
    gradients = [head_grads] if isinstance(head_grads, NDArray) else head_grads
    if not isinstance(gradients, (list, tuple)):
        raise TypeError(
            f"{function}: head_grads is a {type(head_grads).__name__}; expected an NDArray, a sequence of them, or None"
        )
    if len(gradients) != len(outputs):
        raise ValueError(
            f"{function}: {len(outputs)} heads and {len(gradients)} head_grads; expected as many of each"
        )
    for i, (gradient, head) in enumerate(zip(gradients, outputs)):
        if gradient is not None:
            _check_array(function, f"head_grads[{i}]", gradient)
            _check_like(function, f"head_grads[{i}]", gradient, f"heads[{i}]", head)
    return outputs, list(gradients)
