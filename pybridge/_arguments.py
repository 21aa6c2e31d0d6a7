"""What comes as an argument is looked at in the first lines: is it an array, is it like another, how many are there."""

from __future__ import annotations

from typing import Any

from . import _libmxnet
from ._libmxnet import NDArray


def check_array(function: str, argument: str, x: Any) -> None:
    if not isinstance(x, NDArray):
        raise TypeError(f"{function}: {argument} is a {type(x).__name__}; expected an NDArray")


def arrays(function: str, argument: str, arrays: Any) -> list[NDArray]:
    if isinstance(arrays, NDArray):
        return [arrays]
    if not isinstance(arrays, (list, tuple)):
        raise TypeError(
            f"{function}: {argument} is a {type(arrays).__name__}; expected an NDArray, a list or a tuple of them"
        )
    for i, x in enumerate(arrays):
        check_array(function, f"{argument}[{i}]", x)
    return list(arrays)


def check_req(function: str, req: Any) -> None:
    if not isinstance(req, str) or req not in _libmxnet.GRAD_REQS:
        names = ", ".join(map(repr, _libmxnet.GRAD_REQS))
        raise ValueError(f"{function}: grad_req is {req!r}; expected one of {names}")


def check_like(function: str, argument: str, x: NDArray, other: str, like: NDArray) -> None:
    if x.shape != like.shape or x.dtype != like.dtype:
        raise ValueError(
            f"{function}: {argument} has shape {x.shape} and dtype {dtype(x)}; expected shape {like.shape} and "
            f"dtype {dtype(like)}, those of {other}"
        )


def dtype(x: NDArray) -> str:
    name: str = getattr(x.dtype, "__name__", None) or str(x.dtype)
    return name


def heads(function: str, heads: Any, head_grads: Any) -> tuple[list[NDArray], list[NDArray | None] | None]:
    outputs = arrays(function, "heads", heads)
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
            check_array(function, f"head_grads[{i}]", gradient)
            check_like(function, f"head_grads[{i}]", gradient, f"heads[{i}]", head)
    return outputs, list(gradients)
