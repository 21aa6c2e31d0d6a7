"""Minus zeros of any shape: arrays of their own over buffers that are shared, since nobody writes to them."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from math import prod
from typing import Any

import mxnet

from .._libmxnet import NDArray
from .._unseen import unseen
from ..recording import Scope

#: Elements of the largest buffers that are kept, the last 32 of them; larger ones are made for each mark.
KEPT = 2**20


def minus_zeros(shape: Sequence[int], dtype: Any, context: Any) -> NDArray:
    """A new `mx.nd` array of minus zeros (integers: zeros), in no graph."""
    with Scope(False, None), unseen():
        if prod(shape) > KEPT:
            return _made(tuple(shape), dtype, context)
        shared: NDArray = _kept(tuple(shape), dtype, context).detach()
        return shared


def _made(shape: tuple[int, ...], dtype: Any, context: Any) -> NDArray:
    made: NDArray = mxnet.nd.negative(mxnet.nd.zeros(shape, ctx=context, dtype=dtype))
    return made


_kept = functools.lru_cache(maxsize=32)(_made)
