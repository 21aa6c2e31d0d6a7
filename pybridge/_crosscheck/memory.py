"""Large arrays: seen without a copy, put where writing costs little, and gone through piece by piece.

Of an array of 10^7 entries, most of the time goes into memory that is written for the first time, not into arithmetic.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Iterator, Sequence

import numpy as np

from .. import _libmxnet
from .._libmxnet import NDArray, mxnet
from .array import Array

PIECE = 1 << 15  # entries that a cache holds, with some other arrays of as many
LARGE_BYTES = 1 << 22


def pieces(size: int) -> Iterator[slice]:
    """Slices that cover an array of one dimension."""
    for start in range(0, size, PIECE):
        yield slice(start, min(start + PIECE, size))


def float_pieces(outputs: Sequence[Array]) -> Iterator[tuple[slice, Array]]:
    """The results of floating-point type piece by piece, and where each piece is in all of them as one vector."""
    start = 0
    for y in outputs:
        if y.dtype.kind == "f":
            flat = y.reshape(-1)
            for part in pieces(y.size):
                yield slice(start + part.start, start + part.stop), flat[part]
            start += y.size


class _Held:
    """What an array made by `seen` has as its base: it keeps the NDArray alive."""

    def __init__(self, owner: NDArray, address: int) -> None:
        self.owner = owner
        self.__array_interface__ = {
            "version": 3,
            "shape": owner.shape,
            "typestr": np.dtype(owner.dtype).str,
            "data": (address, False),
        }


def seen(a: NDArray) -> Array:
    """An NDArray's own memory as a NumPy array: what is written to either shows in both. Writes are waited for."""
    if a.stype != "default" or not a.size:
        return np.asarray(a.asnumpy())
    _libmxnet.wait(a)
    data = ctypes.c_void_p()
    mxnet.base.check_call(mxnet.base._LIB.MXNDArrayGetData(a.handle, ctypes.byref(data)))
    assert data.value is not None
    return np.asarray(_Held(a, data.value))


def copied(a: Array, numpy: bool) -> NDArray:
    """A new NDArray with the contents of an array (C order)."""
    if a.nbytes < LARGE_BYTES:
        return _libmxnet.copied(a, numpy)
    made: NDArray = (mxnet.np if numpy else mxnet.nd).empty(a.shape, dtype=a.dtype)
    there = seen(made)
    _ask_for_huge_pages(there)
    np.copyto(there, a)
    return made


def _ask_for_huge_pages(a: Array) -> None:
    """As NumPy does for its own: the first write to memory is then more than twice as fast. Only a hint."""
    if not sys.platform.startswith("linux"):
        return
    first = -(-a.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
    length = a.ctypes.data + a.nbytes - first
    ctypes.CDLL(None).madvise(ctypes.c_void_p(first), ctypes.c_size_t(length), mmap.MADV_HUGEPAGE)
