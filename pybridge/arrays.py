"""One buffer, two languages: Julia arrays over NDArrays, and NDArrays over Julia arrays. Nothing is copied."""

from __future__ import annotations

from typing import Any

from . import _dispatch
from ._libmxnet import NDArray


def asjulia(nd: NDArray, writable: bool = False, layout: str = "julia") -> Any:
    """The Julia array over the NDArray's own memory.

    The view keeps that memory alive for as long as Julia can reach it. Writes to `nd` that are under way are waited
    for (with `writable`, reads too); later ones show in the view.

    Args:
        nd: a dense NDArray (`mx.nd` or `mx.np`) on the CPU; float16/32/64, int8/32/64, uint8 or bool.
        writable: give a plain Julia array instead of one that refuses `setindex!`.
        layout: `"julia"`: shape `(a, b, c)` becomes size `(c, b, a)`; `"python"`: the same order of indices.

    Raises:
        TypeError: `nd` is no NDArray.
        ValueError: its storage is sparse, it lives on a GPU, or Julia cannot share its element type.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.zeros((2, 3))
        >>> pb.jl.size(pb.asjulia(x))
        (3, 2)
        >>> pb.jl.fill_b(pb.asjulia(x, writable=True), 7)[0, 0]
        7.0
        >>> x.asnumpy().tolist()
        [[7.0, 7.0, 7.0], [7.0, 7.0, 7.0]]
    """
    if not isinstance(nd, NDArray):
        raise TypeError(f"asjulia: nd is a {type(nd).__name__}; expected an NDArray")
    if layout not in ("julia", "python"):
        raise ValueError(f"asjulia: layout is {layout!r}; expected 'julia' or 'python'")
    return _dispatch.view(nd, bool(writable), layout == "python")


def asndarray(jl_array: Any, np: bool = False) -> NDArray:
    """The NDArray over the Julia array's own memory, which stays alive with it.

    Args:
        jl_array: a Julia `Array` of size `(c, b, a)`, which becomes shape `(a, b, c)`, or a `PermutedDimsArray` with
            all dimensions reversed (as `asjulia(..., layout="python")` gives), whose shape stays as it is.
        np: give an `mx.np` array instead of an `mx.nd` one.

    Raises:
        TypeError: `jl_array` is no Julia array.
        ValueError: it is read-only, not one dense block of memory, or of an element type that libmxnet has not.

    Examples:
        >>> import pybridge as pb
        >>> pb.asndarray(pb.jl.seval("Float32[1 2 3; 4 5 6]")).shape
        (3, 2)
    """
    return _dispatch.adopt(jl_array, bool(np))
