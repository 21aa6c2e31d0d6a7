"""`mark_vars` inside a block, `get_mark_vars` after its call."""

from __future__ import annotations

from typing import Any

import mxnet
from mxnet.gluon import Block

from .. import _blocks, _libmxnet, _marks
from .._libmxnet import GraphError, NDArray
from . import cached as cached  # from here on blocks make the cached operators that know marks
from . import calls, traced

_CONTROL_FLOW = ("foreach", "while_loop", "cond")
_CONTROL_FLOW_MODULES = ("mxnet.symbol.contrib", "mxnet.ndarray.contrib")


def mark_vars(*values: Any) -> Any:
    """Mark intermediate values inside a block's `hybrid_forward` (or `forward`), to have their gradients afterwards.

    Go on with what this returns: the gradient is that of every use of the returned value. After the call of the block
    `get_mark_vars` gives the values, and after a backward they hold their gradients, the same whether the block is
    hybridized or not.

    Args:
        *values: one or several NDArrays or Symbols, whatever `F` makes; or one list or tuple of them.

    Returns:
        The value to go on with, of the same bits; a tuple (a list) for several.

    Raises:
        TypeError: something among them is neither an NDArray nor a Symbol.
        ValueError: a value is sparse, bool, or a symbol with several outputs.
        GraphError: outside of any block; inside the body of `F.contrib.foreach`, `while_loop` or `cond`; at the call of
            a hybridized block, or at the backward of one that is not, if nothing went on with what was returned.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> class Net(mx.gluon.HybridBlock):
        ...     def hybrid_forward(self, F, x):
        ...         h = pb.mark_vars(F.square(x))
        ...         return 3 * h
        >>> net = Net()
        >>> net.hybridize()
        >>> x = mx.nd.array([1.0, 2.0])
        >>> _ = pb.attach_grad(x)
        >>> with pb.record():
        ...     y = net(x)
        >>> pb.backward(y)
        >>> (h,) = pb.get_mark_vars(net)
        >>> h.asnumpy().tolist(), h.grad.asnumpy().tolist()
        ([1.0, 4.0], [3.0, 3.0])
    """
    if len(values) == 1 and isinstance(values[0], (list, tuple)):
        return type(values[0])(_mark(f"values[{i}]", value) for i, value in enumerate(_checked(values[0])))
    marked = tuple(_mark(f"values[{i}]", value) for i, value in enumerate(_checked(values)))
    return marked[0] if len(marked) == 1 else marked


def get_mark_vars(block: Any) -> list[NDArray]:
    """The values that were marked inside `block` in its last call, in the order of execution.

    Marks of the blocks inside it count, and those of all its calls, if a block around it called it several times.

    Args:
        block: a Gluon block.

    Returns:
        NDArrays with gradients attached (`h.grad`, `pb.getgrad(h)`), if the call was recorded; without one, if not. A
        value of an unrecorded call stays as it was until the next call of a block with static allocation.

    Raises:
        TypeError: `block` is no Gluon block.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> pb.get_mark_vars(mx.gluon.nn.Dense(2))
        []
    """
    if not isinstance(block, Block):
        raise TypeError(f"get_mark_vars: block is a {type(block).__name__}; expected a gluon Block")
    return calls.marks_of(block)


def _checked(values: Any) -> Any:
    if not values:
        raise TypeError("mark_vars: no values; expected at least one NDArray or Symbol")
    for i, value in enumerate(values):
        if not isinstance(value, (NDArray, mxnet.symbol.Symbol)):
            raise TypeError(
                f"mark_vars: values[{i}] is a {type(value).__name__}; expected an NDArray or a Symbol"
            )
        outputs = len(value.list_outputs()) if isinstance(value, mxnet.symbol.Symbol) else 1
        if outputs != 1:
            raise ValueError(
                f"mark_vars: values[{i}] is a symbol with {outputs} outputs; mark them one by one"
            )
    if not _blocks.stack() and calls.tracing_block() is None:
        raise GraphError("mark_vars: called outside of any block; inside record, use pb.attach_grad there")
    for frame in _blocks.frames():
        if frame.f_code.co_name in _CONTROL_FLOW and frame.f_globals.get("__name__") in _CONTROL_FLOW_MODULES:
            raise GraphError(
                f"mark_vars: called inside the body of F.contrib.{frame.f_code.co_name}, which a graph runs as one "
                "operator. Return the value from the body and mark it outside, or use a Python loop."
            )
    return values


def _mark(argument: str, value: Any) -> Any:
    if isinstance(value, mxnet.symbol.Symbol):
        return traced.mark(value)
    if _libmxnet.is_recording():
        value = _marks.marked("mark_vars", value, None, "write", in_place=False)
    else:
        _marks.check("mark_vars", argument, value)
    calls.register(value)
    return value
