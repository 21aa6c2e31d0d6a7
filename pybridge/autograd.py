"""MXNet's autograd under MXNet.jl's names, thin over the C API; it mixes freely with `mxnet.autograd`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Union

from . import _libmxnet, _marks
from ._arguments import arrays, check_array, check_like, check_req
from ._arguments import heads as checked_heads
from ._libmxnet import GraphError, NDArray
from ._unseen import unseen
from .recording import Scope
from .recording import is_recording as is_recording
from .recording import is_training as is_training
from .recording import pause as pause
from .recording import predict_mode as predict_mode
from .recording import record as record
from .recording import set_recording as set_recording
from .recording import set_training as set_training
from .recording import train_mode as train_mode

Arrays = Union[NDArray, Sequence[NDArray]]


# ---- variables --------------------------------------------------------------------------------------------------


def attach_grad(x: NDArray, grad_req: str = "write") -> NDArray:
    """Attach a gradient to `x`: a leaf, or an intermediate value that was computed inside `record`.

    A leaf gets its gradient as in MXNet. An intermediate value keeps its place in the graph, so what it was computed
    from gets its gradients, too; `x` goes on as a new array of the same bits (views of the old one, such as
    `asjulia(x)`, stay with the old memory). Attach the gradient before `x` is used: a use that came earlier cannot be
    honoured, and a backward over it is a `GraphError`.

    Args:
        x: an NDArray (`mx.nd` or `mx.np`) of any shape; an intermediate value has to be dense, and not bool.
        grad_req: `"write"`, `"add"` (gradients of several backwards add up), or `"null"`/`"nop"` (none is computed).

    Returns:
        The gradient buffer, of the shape and dtype of `x`, filled with zeros.

    Raises:
        TypeError: `x` is no NDArray.
        ValueError: there is no such `grad_req`, or `x` is an intermediate value that is sparse or bool.
        GraphError: from the backward, if `x` was used before.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.array([1.0, 2.0])
        >>> pb.attach_grad(x).asnumpy().tolist()
        [0.0, 0.0]
        >>> with pb.record():
        ...     y = x * x
        ...     _ = pb.attach_grad(y)
        ...     z = (3 * y).sum()
        >>> pb.backward(z)
        >>> y.grad.asnumpy().tolist(), x.grad.asnumpy().tolist()
        ([3.0, 3.0], [6.0, 12.0])
    """
    check_array("attach_grad", "x", x)
    check_req("attach_grad", grad_req)
    with Scope(False, None), unseen():
        gradient = _libmxnet.zeros_like(x)
    if _libmxnet.is_intermediate(x):
        _marks.mark("attach_grad", x, gradient, grad_req)
    else:
        _libmxnet.mark_variables([x], [gradient], [grad_req])
    return gradient


def drop_grad(x: NDArray) -> None:
    """Undo `attach_grad` on `x`, which then has no gradient.

    An intermediate value is again what it was before the mark; a leaf becomes a constant, whose value and memory stay.
    A graph that was recorded with the gradient attached keeps it. Without a gradient attached nothing happens.

    Raises:
        TypeError: `x` is no NDArray.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.array([1.0, 2.0])
        >>> _ = pb.attach_grad(x)
        >>> pb.drop_grad(x)
        >>> pb.getgrad(x) is None
        True
    """
    check_array("drop_grad", "x", x)
    _marks.drop(x)


def getgrad(x: NDArray) -> NDArray | None:
    """The gradient buffer of `x`; None if it has none.

    Raises:
        TypeError: `x` is no NDArray.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> pb.getgrad(mx.nd.ones((2,))) is None
        True
    """
    check_array("getgrad", "x", x)
    return _libmxnet.gradient(x)


def mark_variables(vars: Arrays, grads: Arrays, grad_reqs: str | Sequence[str] = "write") -> None:
    """Attach given gradient buffers to leaves or intermediate values, one or many.

    Args:
        vars: an NDArray, or a sequence of them; for intermediate values the same holds as in `attach_grad`.
        grads: the buffer for each, of the same shape and dtype.
        grad_reqs: one for all, or one each: `"write"`, `"inplace"`, `"add"`, `"null"`/`"nop"`.

    Raises:
        TypeError: something among them is no NDArray.
        ValueError: lengths, shapes or dtypes do not match, or there is no such `grad_req`; an intermediate value is
            sparse or bool.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x, dx = mx.nd.array([1.0, 2.0]), mx.nd.zeros((2,))
        >>> pb.mark_variables(x, dx)
        >>> pb.backward(pb.record(lambda: x * x))
        >>> dx.asnumpy().tolist()
        [2.0, 4.0]
    """
    variables, gradients = arrays("mark_variables", "vars", vars), arrays("mark_variables", "grads", grads)
    reqs = [grad_reqs] * len(variables) if isinstance(grad_reqs, str) else list(grad_reqs)
    if not len(variables) == len(gradients) == len(reqs):
        raise ValueError(
            f"mark_variables: {len(variables)} vars, {len(gradients)} grads and {len(reqs)} grad_reqs; "
            "expected as many of each"
        )
    intermediate = [_libmxnet.is_intermediate(x) for x in variables]
    for i, (x, gradient, req) in enumerate(zip(variables, gradients, reqs)):
        check_req("mark_variables", req)
        check_like("mark_variables", f"grads[{i}]", gradient, f"vars[{i}]", x)
        if intermediate[i]:
            _marks.check("mark_variables", f"vars[{i}]", x)
    leaves = [i for i, inside in enumerate(intermediate) if not inside]
    if leaves:
        _libmxnet.mark_variables(*([these[i] for i in leaves] for these in (variables, gradients, reqs)))
    for x, gradient, req, inside in zip(variables, gradients, reqs, intermediate):
        if inside:
            _marks.mark("mark_variables", x, gradient, req)


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
    check_array("symbol", "y", y)
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
    outputs, gradients = checked_heads("backward", heads, head_grads)
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
    outputs, gradients = checked_heads("grad", heads, head_grads)
    wanted = arrays("grad", "variables", variables)
    if not wanted:
        raise ValueError("grad: variables is empty; expected at least one NDArray")
    retain = create_graph if retain_graph is None else retain_graph
    found = _libmxnet.backward(outputs, gradients, wanted, bool(retain), bool(create_graph), bool(train_mode))
    assert found is not None
    return found[0] if isinstance(variables, NDArray) else found
