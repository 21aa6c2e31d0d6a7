"""Minus zeros of any shape, as views of one buffer for each dtype and context: nobody writes to them."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import mxnet

from .. import _libmxnet_marks
from .._libmxnet import NDArray
from ..recording import Scope

#: Elements of the largest buffer that is kept; larger ones are made for each mark.
KEPT = 2**24

_buffers: dict[tuple[Any, str], NDArray] = {}


def minus_zeros(shape: Sequence[int], dtype: Any, context: Any) -> NDArray:
    """A new `mx.nd` array of minus zeros (integers: zeros), in no graph."""
    size = prod(shape)
    with Scope(False, None):
        if not size or not shape or size > KEPT:
            return _made(tuple(shape), dtype, context)
        key = (dtype, str(context))
        buffer = _buffers.get(key)
        if buffer is None or buffer.size < size:
            buffer = _buffers[key] = _made((1 << (size - 1).bit_length(),), dtype, context)
        return _libmxnet_marks.view(buffer, size, shape)


def _made(shape: Any, dtype: Any, context: Any) -> NDArray:
    made: NDArray = mxnet.nd.negative(mxnet.nd.zeros(shape, ctx=context, dtype=dtype))
    return made
