"""Where two traces part: values of the same name after the same piece, by the cross-checker's tolerances.

How far a value may be off follows from its dtype and from its condition, which a third trace tells: that of the old
code again, every number that a piece made changed in its last digit.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Optional

import numpy as np

from .._crosscheck.diagnosis import name_difference
from .._crosscheck.settings import Settings
from .._crosscheck.tolerance import differ, tolerance, typical
from .._migrate.names import python_name
from .trace import Event, Leaf
from .values import GRADIENT, shown

_NUMBERS = ("ndarray", "array", "list", "number")
_COMPARED = (*_NUMBERS, "whole")
#: A tolerance of this share of the values themselves tells nothing.
VAGUE = 0.05


@dataclass
class Difference:
    """What is not the same in both languages."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{shown(self.path)}: {self.text}"


@dataclass
class State:
    """What the names hold, as a trace tells it event by event."""

    leaves: dict[str, Leaf] = field(default_factory=dict)

    def take(self, event: Event) -> list[str]:
        """Go on by one event; the paths that it touches."""
        self.leaves.update(event.changed)
        for path in event.gone:
            self.leaves.pop(path, None)
        return [*event.changed, *event.gone]


@dataclass
class Compared:
    """A comparison after a piece: what agrees, what does not, what cannot be told, what only Julia can show, dtypes."""

    agree: set[str] = field(default_factory=set)
    differences: list[Difference] = field(default_factory=list)
    vague: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)


class Comparison:
    """Two states in step, and a third one for the condition.

    Arguments:
        names: of Julia's names, what they are in Python.
        counters: whether whole numbers that stand alone count; a loop's may begin elsewhere in Python.
    """

    def __init__(self, names: dict[str, str], *, counters: bool = True) -> None:
        self._counters = counters
        self.old, self.new, self.shaken = State(), State(), State()
        self._names = names
        self._julia: dict[str, str] = {}  # paths in Python's names: in Julia's
        self._touched: dict[str, None] = {}  # in Python's names, in order

    def take(self, old: Optional[Event], new: list[Event], shaken: Optional[Event]) -> None:
        """Go on in each of the traces."""
        for event in [old] if old else []:
            self._touched.update(dict.fromkeys(self._python(path) for path in self.old.take(event)))
        for event in new:
            self._touched.update(dict.fromkeys(self.new.take(event)))
        for event in [shaken] if shaken else []:
            self.shaken.take(event)

    def compare(self, *, values: bool = True) -> Compared:
        """Compare what has changed since the last time; without `values`, only whether it is there and its shape."""
        made = Compared()
        for path in self._touched:
            if path in self._julia:
                self._compare(path, self._julia[path], made, values)
        self._touched.clear()
        return made

    def _python(self, path: str) -> str:
        """A path of Julia's in Python's names."""
        first, *rest = path.split("\n")
        name = first.rsplit(".", 1)[-1]  # M.x is x, but for names that had to be kept apart
        parts = [self._names.get(first) or self._names.get(name) or python_name(name)]
        for part in rest:
            name = part[1:]
            parts.append("." + (self._names.get(name) or python_name(name)) if part.startswith(".") else part)
        made = "\n".join(parts)
        self._julia[made] = path
        return made

    def _compare(self, path: str, julia: str, made: Compared, values: bool) -> None:
        a, b = self.old.leaves.get(julia), self.new.leaves.get(path)
        if a is None:
            return
        if b is None:
            self._missing(path, julia, a, made)
        elif a.kind in _NUMBERS and b.kind in _NUMBERS:
            self._numbers(julia, a, b, made, values)
        elif a.kind != b.kind or (a.kind == "whole" and a.value != b.value):
            made.differences.append(Difference(julia, f"{_kind(a)} in Julia, {_kind(b)} in Python"))
        elif a.kind == "whole":
            made.agree.add(julia)

    def _missing(self, path: str, julia: str, a: Leaf, made: Compared) -> None:
        """Nothing at this path: inside an object that cannot be looked into, or forgotten."""
        around, _, last = path.rpartition("\n")
        if last == GRADIENT and around in self.new.leaves:
            made.differences.append(Difference(julia, "there is none in Python"))
        elif a.kind in _COMPARED and (not around or self._looked_into(around)):
            made.differences.append(Difference(julia, f"{_kind(a)} in Julia, not there in Python"))
        else:
            made.unseen.append(julia)

    def _looked_into(self, path: str) -> bool:
        return any(known.startswith(f"{path}\n") for known in self.new.leaves)

    def _numbers(self, julia: str, a: Leaf, b: Leaf, made: Compared, values: bool) -> None:
        x, y = a.value, b.value
        if not self._counters and a.kind == b.kind == "number" and x.dtype.kind in "iu":
            return
        whole = x.dtype.kind in "biu" and y.dtype.kind in "biu" and x.shape == y.shape
        if whole and values and a.kind != "ndarray":
            self._whole(julia, x, y, made)
            return
        eps = max(_eps(x), float(np.finfo(y.dtype).eps) if y.dtype.kind in "fc" else 0.0)
        spread = _spread(x, self.shaken.leaves.get(julia))
        room = _room(x, spread, eps)
        if x.shape != y.shape:
            said = name_difference(_inexact(y), _inexact(x), room, eps) if x.ndim and y.ndim else None
            text = f"shape {x.shape[::-1]} in Julia is {x.shape} in Python's order; it is {y.shape}"
            made.differences.append(Difference(julia, f"{text} ({said[0]})" if said else text))
            return
        if x.dtype != y.dtype and a.kind == b.kind == "ndarray":
            made.differences.append(Difference(julia, f"{x.dtype} in Julia, {y.dtype} in Python"))
            return
        if (
            x.dtype != y.dtype and a.kind == b.kind == "array"
        ):  # of numbers, whose types Python does not keep apart
            made.dtypes.append(julia)
        if not x.size or not values:
            made.agree.add(julia)
            return
        if not differ(x, y, _room(x, 0 * spread, eps)).any():
            made.agree.add(julia)
            return
        where = differ(x, y, room)
        if where.any():
            made.differences.append(Difference(julia, _worst(x, y, where, room)))
        elif float(np.max(room)) > VAGUE * (typical(np.abs(_inexact(x))) or 1):
            made.vague.append(julia)
        else:
            made.agree.add(julia)

    def _whole(self, julia: str, x: Any, y: Any, made: Compared) -> None:
        """Whole numbers have to be the same, beyond what float64 can tell apart, too."""
        where = np.asarray(x != y)
        if where.any():
            made.differences.append(Difference(julia, _worst(x, y, where, np.zeros(x.shape))))
        else:
            made.agree.add(julia)
            if x.dtype != y.dtype and x.ndim:
                made.dtypes.append(julia)


def _inexact(x: Any) -> Any:
    return x if x.dtype.kind in "fc" else x.astype(np.float64)


def _room(x: Any, spread: Any, eps: float) -> Any:
    """How far each entry may be off; whole numbers may not."""
    return tolerance(_inexact(x), spread, eps, Settings()).entries if eps else np.zeros(x.shape)


def _eps(x: Any) -> float:
    if x.dtype.kind not in "fc":
        return 0.0
    return float(np.finfo(np.float32 if _from_float32(x) else x.dtype).eps)


def _from_float32(x: Any) -> bool:
    """Whether numbers in float64 are float32's, to the last digit: one language may have computed them in float32."""
    if x.dtype != np.float64:
        return False
    with np.errstate(all="ignore"):
        short = x.astype(np.float32)
    finite = np.isfinite(x)
    return bool((short == x)[finite].all() and (short[finite].view(np.int32) & 0xFFF).any())


def _spread(x: Any, c: Optional[Leaf]) -> Any:
    """How much each entry changes when numbers before it do in their last digit."""
    if c is None or c.kind not in _NUMBERS or c.value.shape != x.shape or x.dtype.kind not in "fc":
        return np.zeros(x.shape)
    with np.errstate(all="ignore"):
        return np.nan_to_num(np.abs(np.asarray(c.value - x)).astype(np.float64), nan=0.0, posinf=0.0)


def _kind(leaf: Leaf) -> str:
    if leaf.kind in _NUMBERS:
        words = {"ndarray": "an NDArray", "array": "an array"}.get(leaf.kind, f"a {leaf.kind}")
        return f"{words} of {leaf.value.dtype}"
    if leaf.kind == "whole":
        return str(leaf.value)
    return "nothing" if leaf.kind == "none" else "a text"


def _worst(x: Any, y: Any, where: Any, room: Any) -> str:
    with np.errstate(all="ignore"):
        off = np.where(where, np.abs(_inexact(x) - _inexact(y)), -1)
    at = np.unravel_index(int(np.argmax(np.nan_to_num(off, nan=np.inf))), x.shape) if x.ndim else ()
    place = f"[{', '.join(str(i) for i in at)}]" if x.ndim else ""
    many = f"{int(where.sum())} of {x.size} entries differ, the worst " if x.size > 1 else ""
    allowed = float(np.broadcast_to(room, x.shape)[at])
    return f"{many}{x[at]!s} in Julia, {y[at]!s} in Python{f' at {place}' if place else ''} (allowed {allowed:.1e})"
