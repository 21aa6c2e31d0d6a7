"""Head gradients: for each of a function's results an array of its shape."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from .array import Array

#: Several head gradients, each with an array for every result.
Heads = list[list[Array]]

FULL_JACOBIAN = 16  # results with at most this many entries are gone through one by one


class Draw:
    """Draws head gradients for results: the same for both functions where the results' shapes are the same.

    Results with few entries are gone through one by one, and then together; integer results get zeros, and so do
    entries that are not finite: nothing can be said of their derivatives.
    """

    def __init__(self, given: Sequence[Array] | None, count: int, seed: int) -> None:
        self._given, self._count, self._seed = given, count, seed
        self._drawn: dict[tuple[tuple[tuple[int, ...], str], ...], Heads] = {}

    def __call__(self, outputs: Sequence[Array]) -> Heads:
        """The head gradients for these results.

        Raises:
            ValueError: the head gradients that the user gave do not fit them.
        """
        if self._given is not None:
            return [_fitted(self._given, outputs)]
        if not all(np.isfinite(np.sum(y)) for y in outputs if y.dtype.kind == "f"):
            return _without_lost(self._draw(outputs), outputs)
        kinds = tuple((y.shape, y.dtype.str) for y in outputs)
        if kinds not in self._drawn:  # both functions have the very same arrays: nobody writes to them
            self._drawn[kinds] = self._draw(outputs)
        return self._drawn[kinds]

    def _draw(self, outputs: Sequence[Array]) -> Heads:
        total = sum(y.size for y in outputs if y.dtype.kind == "f")
        heads = units(outputs) if total <= FULL_JACOBIAN else []
        rng = np.random.default_rng(self._seed)
        for _ in range(1 if heads else max(1, self._count)):
            heads.append(split(rng.standard_normal(total), outputs))
        return heads


def _without_lost(heads: Heads, outputs: Sequence[Array]) -> Heads:
    """Zeros where a result is not finite."""
    for head in heads:
        for h, y in zip(head, outputs):
            if y.dtype.kind == "f":
                h[~np.isfinite(y)] = 0
    return heads


def _fitted(given: Sequence[Array], outputs: Sequence[Array]) -> list[Array]:
    if len(given) != len(outputs):
        raise ValueError(f"crosscheck: {len(given)} head_grads came for {len(outputs)} results")
    for i, (h, y) in enumerate(zip(given, outputs), 1):
        if h.shape != y.shape:
            raise ValueError(f"crosscheck: head_grads {i} has shape {h.shape}; result {i} has {y.shape}")
    return [h.astype(y.dtype, copy=False) for h, y in zip(given, outputs)]


def units(outputs: Sequence[Array]) -> Heads:
    """A head gradient for each entry of the results."""
    total = sum(y.size for y in outputs if y.dtype.kind == "f")
    return [split(row, outputs) for row in np.eye(total)]


def split(flat: Array, outputs: Sequence[Array]) -> list[Array]:
    """Head gradients out of one long vector; integer results get zeros."""
    heads, at = [], 0
    for y in outputs:
        if y.dtype.kind == "f":
            heads.append(flat[at : at + y.size].reshape(y.shape).astype(y.dtype, copy=False))
            at += y.size
        else:
            heads.append(np.zeros_like(y))
    return heads


def rows(heads: Heads, outputs: Sequence[Array]) -> Array:
    """One row for each head gradient, one column for each entry of the results of floating-point type."""
    floats = [i for i, y in enumerate(outputs) if y.dtype.kind == "f"]
    if len(heads) == 1 and len(floats) == 1:
        return heads[0][floats[0]].reshape(1, -1).astype(np.float64, copy=False)
    if not floats:
        return np.zeros((len(heads), 0))
    return np.stack([np.concatenate([h[i].reshape(-1) for i in floats]) for h in heads]).astype(np.float64)


def column(outputs: Sequence[Array]) -> Array:
    """The results of floating-point type as one long vector in float64."""
    floats = [y.reshape(-1) for y in outputs if y.dtype.kind == "f"]
    if len(floats) == 1:
        return floats[0].astype(np.float64, copy=False)
    return np.concatenate([np.zeros(0), *floats])


def rounded(head: Sequence[Array], trial: int, steps: int) -> list[Array]:
    """A head gradient, changed in its last digits."""
    rng = np.random.default_rng(trial)
    changed = []
    for h in head:
        if h.dtype.kind != "f":
            changed.append(h)
            continue
        way = rng.integers(0, 2, h.shape, np.int8) * np.int8(2) - np.int8(1)
        changed.append(np.asarray(h * (1 + 2 * steps * np.finfo(h.dtype).eps * way), h.dtype))
    return changed


DrawHeads = Callable[[Sequence[Array]], Heads]
