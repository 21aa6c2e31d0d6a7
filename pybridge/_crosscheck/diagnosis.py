"""Names for what went wrong: hypotheses about a wrong array, tried against a right one."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from .array import Array
from .memory import pieces


def name_difference(
    wrong: Array, right: Array, allowed: Array | float, eps: float, sizes: Mapping[str, int] | None = None
) -> list[str]:
    """All that would turn `right` into `wrong`, the most telling first; empty where nothing simple would.

    Args:
        wrong, right: arrays of any shapes.
        allowed: how far two equal entries may lie apart.
        eps: of the dtype that was computed in.
        sizes: numbers that a factor may be, by name; those of the array itself are known.
    """
    if wrong.size != right.size:
        return []
    finite = np.isfinite(right).all()
    if finite and not np.isfinite(wrong).all():
        return ["it is infinite or NaN where the right one is a number"]
    slack = np.maximum(np.broadcast_to(np.asarray(allowed, float), right.shape), 64 * eps * _largest(right))

    def alike(candidate: Array) -> bool:
        if candidate.shape != wrong.shape:
            return False
        room = slack if slack.shape == candidate.shape else slack.max(initial=0.0)
        return _within(candidate, wrong, room)

    if wrong.shape == right.shape and alike(right):
        return []
    found = [name for name, candidate in _rearranged(right, wrong.shape) if alike(candidate)]
    if wrong.shape != right.shape or not finite:
        return found
    if not np.any(wrong):
        return [*found, "it is all zeros"]
    found += [name for name, candidate in _changed(right) if alike(candidate)]
    factor = _factor(wrong, right, slack, sizes or {})
    if factor is not None:
        found.append(factor)
    if eps < 1e-12 and _is_single_precision(wrong, right, allowed):
        found.append(
            "it was computed in float32" if is_float32(wrong) else "it is right to float32's precision only"
        )
    return list(dict.fromkeys(found))


def _within(a: Array, b: Array, room: Array | float) -> bool:
    """Is no entry further off than that?  Most candidates are told from the first piece of a large array."""
    x, y = a.reshape(-1), b.reshape(-1)
    most = room.reshape(-1) if isinstance(room, np.ndarray) else np.broadcast_to(room, x.shape)
    with np.errstate(invalid="ignore"):
        return all(bool((np.abs(x[k].astype(float) - y[k]) <= most[k]).all()) for k in pieces(x.size))


def common_names(lists: Sequence[list[str]]) -> list[str]:
    """The names that are in every list, for they must hold under every head gradient; factors may differ in digits."""
    kept = lists[0] if lists else []
    for names in lists[1:]:
        keys = {_key(name) for name in names}
        kept = [name for name in kept if _key(name) in keys]
    return kept


def _key(name: str) -> str:
    if not name.startswith("factor: it is "):
        return name
    factor = float(name[len("factor: it is ") :].split()[0])
    return f"factor {factor - 1:.2g}"


_MISFIT = re.compile(r"gradient of argument \d+ has size \(([\d, ]*)\); expected \(([\d, ]*)\)")


def name_misfit(message: str) -> tuple[str, str]:
    """The kind of finding that an exception of a backward is, and a hint: for gradients of a wrong size."""
    found = _MISFIT.search(message)
    if found is None:
        return "dtype" if "has element type" in message else "raised", ""
    came, expected = (tuple(int(n) for n in part.replace(",", " ").split()) for part in found.groups())
    if came == expected[::-1]:
        return "layout", " (layout: transposed, its dimensions are reversed)"
    padded = (*expected, *(1,) * (len(came) - len(expected)))
    if len(padded) == len(came) and all(n in (1, m) for m, n in zip(came, padded)):
        return "shape", " (the sum over a broadcast dimension was forgotten)"
    return "shape", ""


def is_float32(a: Array) -> bool:
    """Would float32 hold every entry as it is?"""
    return bool(np.array_equal(a, a.astype(np.float32).astype(a.dtype), equal_nan=True))


def _is_single_precision(wrong: Array, right: Array, allowed: Array | float) -> bool:
    """Is all of it right to some seven digits, in proportion to most of the entries that are off?"""
    off = np.abs(wrong.astype(float, copy=False) - right)
    if not (off <= 1e-5 * np.abs(right) + 1e-6 * _largest(right)).all():
        return False
    differing = off > allowed
    return bool(differing.any()) and bool(np.median((off <= 1e-5 * np.abs(right))[differing]) == 1)


def _largest(a: Array) -> float:
    return float(np.max(np.abs(a[np.isfinite(a)]), initial=0.0))


def _rearranged(right: Array, shape: tuple[int, ...]) -> Iterator[tuple[str, Array]]:
    """The same numbers in other places."""
    if right.shape != shape and sorted(right.shape) != sorted(shape) and right.size == int(np.prod(shape)):
        yield (
            f"its shape is {shape} instead of {right.shape}, with the same numbers in the same order",
            right.reshape(shape),
        )
    if 1 < right.ndim <= 4:
        for order in itertools.permutations(range(right.ndim)):
            if order != tuple(range(right.ndim)) and tuple(right.shape[i] for i in order) == shape:
                reverse = order == tuple(reversed(range(right.ndim)))
                name = (
                    "transposed"
                    if right.ndim == 2
                    else "its dimensions are reversed"
                    if reverse
                    else f"its axes are permuted to {order}"
                )
                yield f"layout: {name}", right.transpose(order)
        for source, target in (("C", "F"), ("F", "C")):
            candidate = right.reshape(-1, order=source).reshape(shape, order=target)  # type: ignore[call-overload]
            yield "layout: the same buffer read in the other language's index order", candidate
    if right.shape == shape:
        for axis in range(right.ndim):
            if right.shape[axis] > 1:
                for way in (1, -1):
                    moved = np.roll(right, way, axis)
                    yield f"shifted by one along axis {axis}", moved
                    edge = [slice(None)] * right.ndim
                    edge[axis] = slice(0, 1) if way == 1 else slice(-1, None)
                    filled = moved.copy()
                    filled[tuple(edge)] = 0
                    yield f"shifted by one along axis {axis}, with zeros at the edge", filled
                yield f"reversed along axis {axis}", np.flip(right, axis)


def _changed(right: Array) -> Iterator[tuple[str, Array]]:
    yield "sign: it is the negative of the right one", -right
    yield "its absolute value is taken", np.abs(right)
    yield "a constant is added or left out", right + 1
    yield "a constant is added or left out", right - 1


def _factor(wrong: Array, right: Array, slack: Array, sizes: Mapping[str, int]) -> str | None:
    """Is one a multiple of the other?"""
    clear = np.abs(right) > 1e3 * slack
    if not clear.any():
        return None
    ratio = wrong[clear].astype(float, copy=False) / right[clear]
    factor = float(np.median(ratio))
    room = 1e-3 * abs(factor - 1) + 4 * float(np.max(slack[clear] / np.abs(right[clear])))
    steady = bool((np.abs(ratio - factor) <= room).all())
    small = bool(
        (np.abs(wrong[~clear]) <= slack[~clear] * (2 + abs(factor)) + 1e3 * abs(factor) * slack[~clear]).all()
    )
    if steady and small and abs(factor - 1) > 4 * room - 4e-3 * abs(factor - 1):
        return f"factor: it is {factor:.10g} times the right one{_what_number(factor, right.shape, sizes)}"
    return None


def _what_number(factor: float, shape: tuple[int, ...], others: Mapping[str, int]) -> str:
    own = {f"the size of axis {i}": n for i, n in enumerate(shape)}
    for name, n in {**own, "the number of entries": int(np.prod(shape)), **others}.items():
        if n > 1 and abs(factor - n) < 1e-9 * n:
            return f" ({name}: a mean that should be a sum, or the reverse)"
        if n > 1 and abs(factor * n - 1) < 1e-9:
            return f" (one over {name}: a sum that should be a mean, or the reverse)"
    return ""


# ---- where it is wrong ----------------------------------------------------------------------------------------

_WHERE: list[tuple[str, Callable[[Array], Array]]] = [
    ("the input is negative", lambda x: x < 0),
    ("the input is positive", lambda x: x > 0),
    ("the input is zero", lambda x: x == 0),
    ("the input is not zero", lambda x: x != 0),
    ("the input ties with another entry", lambda x: _tied(x)),
    ("the input is larger than 1 in size", lambda x: np.abs(x) > 1),
    ("the input is smaller than 1 in size", lambda x: np.abs(x) < 1),
    ("the input is the largest", lambda x: x == np.max(x)),
    ("the input is the smallest", lambda x: x == np.min(x)),
    ("the input is denormal", lambda x: (x != 0) & (np.abs(x) < np.finfo(x.dtype).tiny)),
]


def _tied(x: Array) -> Array:
    _, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    found: Array = (counts > 1)[inverse].reshape(x.shape)
    return found


def name_places(wrong: Array, x: Array) -> str | None:
    """Where the wrong entries are, if they are all of one kind. `wrong` has the shape of the input `x`."""
    if not wrong.any() or wrong.all():
        return None
    if x.size <= 10**6:
        for name, condition in _WHERE:
            if np.array_equal(condition(x), wrong):
                return f"only where {name}"
        for threshold_name, condition in _WHERE[:2] + _WHERE[5:7]:
            inside = condition(x)
            if inside.any() and not (wrong & ~inside).any() and (wrong & inside).sum() >= 0.9 * inside.sum():
                return f"only where {threshold_name}"
        for name, condition in (_WHERE[4], _WHERE[2]):
            inside = condition(x)
            if not inside.all() and not (wrong & ~inside).any():  # one choice may be right at some of them
                return f"only where {name}"
    for axis in range(x.ndim):
        places = np.unique(np.nonzero(wrong)[axis])
        if len(places) == 1 and x.shape[axis] > 1:
            at = int(places[0])
            end = "first" if at == 0 else "last" if at == x.shape[axis] - 1 else None
            return f"only at index {at} of axis {axis}" + (f", the {end}" if end else "")
    return None
