"""Asking a side for its values and gradients at a point, and for what it should not do.

The checker asks at points that nobody gave it, too: with other last digits, or a little elsewhere. A function need not
be defined there: what it raises is held against it at the user's own point only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from . import heads as head_gradients
from .array import Array
from .evidence import LARGE, Evidence
from .heads import DrawHeads
from .point import Point
from .sides import Pulled, Side
from .tolerance import apart

TRIALS = 2  # lines along which the last digits are changed
SMALLER = 16
ELSEWHERE = (0.1, 1e-2, 1e-3)  # how far off the call in between is, at most, in proportion to the entries


@dataclass
class Faults:
    """What a side does that no function should."""

    changed: list[str] = field(default_factory=list)  # arrays that it wrote to
    random: bool = False  # its values differ from call to call
    unstable: bool = False  # only its gradient does
    stateful: bool = False  # a call in between changed the gradient
    nonlinear: bool = False  # twice the head gradient did not give twice the gradient
    raised: str | None = None  # by the backward


def gather(side: Side, point: Point, draw: DrawHeads) -> tuple[Evidence, Faults]:
    """Everything but the numbers.

    The function is asked again and again, unless an argument is very large: for the same, for other heads, with other
    calls in between.
    """
    faults = Faults()
    careful = point.largest < LARGE
    outputs = side.values(point.arguments)
    if careful and not _same(side.values(point.arguments), outputs):
        faults.random = not side.seeded(point.arguments)
        outputs = side.values(point.arguments)
    heads = draw(outputs)
    evidence = Evidence(side, point, outputs, [np.zeros(y.shape) for y in outputs], heads)
    if not point.movable:
        return evidence, faults
    try:
        _differentiate(evidence, faults, careful)
    except Exception as error:  # whatever the function's backward raises is evidence against it
        faults.raised = next(iter(f"{type(error).__name__}: {error}".splitlines()), type(error).__name__)
        evidence.gradients, evidence.spreads = [], []
    if not evidence.gradients:
        _widen(evidence, _changes_of_values(evidence, careful))
    if faults.random:  # what differs anyway does not differ because of the inputs
        evidence.output_spreads = [np.zeros(y.shape) for y in outputs]
    return evidence, faults


def _differentiate(evidence: Evidence, faults: Faults, careful: bool) -> None:
    side, point, heads = evidence.side, evidence.point, evidence.heads
    for head in heads:
        evidence.gradients.append(_pull(evidence, faults, head))
    if careful:
        _measure_condition(evidence)
        _ask_for_smaller_inputs(evidence)
    else:
        _widen_by_one_call(evidence)
    first = evidence.gradients[-1]
    if faults.random:
        return
    faults.unstable = not _same(side.pull(point.arguments, heads[-1]).gradients, first)
    if not careful or faults.unstable:
        return
    elsewhere = _elsewhere(side, point)
    if elsewhere is not None:
        faults.stateful = _depends_on_a_call(side, point, elsewhere, heads[-1], first)
    faults.nonlinear = _is_nonlinear(side, point, heads[-1], first)


def _pull(evidence: Evidence, faults: Faults, head: Sequence[Array]) -> list[Array | None]:
    """The gradients for a head; what the function does besides is kept."""
    pulled = evidence.side.pull(evidence.point.arguments, head)
    faults.changed += [c for c in pulled.changed if c not in faults.changed]
    if not faults.random and not _same(pulled.outputs, evidence.outputs):
        faults.random = True
    return pulled.gradients


def _elsewhere(side: Side, point: Point) -> list[Any] | None:
    """Arguments at some distance, where the function is defined too."""
    ways = {i: point.direction(i, np.random.default_rng(0)) for i in point.movable}
    for distance in ELSEWHERE:
        arguments = point.moved(ways, distance)
        try:
            side.values(arguments)
        except Exception:  # not defined there
            continue
        return arguments
    return None


def _depends_on_a_call(
    side: Side, point: Point, elsewhere: Sequence[Any], head: Sequence[Array], alone: Sequence[Array | None]
) -> bool:
    """Does the gradient change if the function is called elsewhere between its forward and its backward?"""
    try:
        between = side.interleaved(point.arguments, elsewhere, head)
    except Exception:  # both calls work by themselves, so it is the one that the other disturbs
        return True
    return not _same(between.gradients, alone)


def _is_nonlinear(side: Side, point: Point, head: Sequence[Array], alone: Sequence[Array | None]) -> bool:
    doubled = side.pull(point.arguments, [np.asarray(-2 * h, h.dtype) for h in head]).gradients
    return not all(_close(d, None if g is None else -2 * g) for d, g in zip(doubled, alone))


def _measure_condition(evidence: Evidence) -> None:
    """What the last digits of inputs and head gradients do to values and gradients."""
    count = len(evidence.heads)
    for number, (head, gradients) in enumerate(zip(evidence.heads, evidence.gradients)):
        spreads = [np.zeros(() if g is None else g.shape) for g in gradients]
        together = number == count - 1  # the head under which all results count
        for near, far in _pairs(evidence, head, TRIALS if together else 1, together):
            if together:
                _widen(evidence, [(near.outputs, far.outputs)])
            for i, (a, b) in enumerate(zip(near.gradients, far.gradients)):
                if a is not None and b is not None and a.shape == b.shape == spreads[i].shape:
                    np.maximum(spreads[i], apart(a, b), out=spreads[i])
        evidence.spreads.append(spreads)


def _ask_for_smaller_inputs(evidence: Evidence) -> None:
    """Values and gradients for inputs a sixteenth as large."""
    point = evidence.point
    smaller = [
        np.asarray(a / SMALLER, a.dtype) if i in point.movable else a for i, a in enumerate(point.arguments)
    ]
    try:
        pulled = [evidence.side.pull(smaller, head) for head in evidence.heads]
    except Exception:  # these are not the user's arguments: the function need not take them
        return
    evidence.usual_outputs = pulled[-1].outputs
    evidence.usual = [p.gradients for p in pulled]


def _pairs(
    evidence: Evidence, head: Sequence[Array], trials: int, both_ways: bool
) -> list[tuple[Pulled, Pulled]]:
    """Calls with changed last digits, two on the same side of the point each, so that none is across a jump."""
    found = []
    side, point = evidence.side, evidence.point
    for trial in range(trials):
        for sign in (1, -1) if both_ways else (1,):
            try:
                near, far = (
                    side.pull(
                        point.rounded(trial, sign * steps), head_gradients.rounded(head, trial, sign * steps)
                    )
                    for steps in (1, 2)
                )
            except Exception:  # these are not the user's arguments: the function need not take them
                continue
            found.append((near, far))
    return found


def _widen_by_one_call(evidence: Evidence) -> None:
    """The same for very large arguments, of which nobody stands at a jump with many entries: one call has to do."""
    head, gradients = evidence.heads[-1], evidence.gradients[-1]
    evidence.spreads = [
        [np.zeros(() if g is None else g.shape) for g in every] for every in evidence.gradients
    ]
    try:
        near = evidence.side.pull(evidence.point.rounded(0, 1), head_gradients.rounded(head, 0, 1))
    except Exception:  # as above
        return
    _widen(evidence, [(near.outputs, evidence.outputs)])
    for i, (a, b) in enumerate(zip(near.gradients, gradients)):
        if a is not None and b is not None and a.shape == b.shape:
            for spreads in evidence.spreads:
                spreads[i] = apart(a, b)


def _changes_of_values(evidence: Evidence, careful: bool) -> list[tuple[list[Array], list[Array]]]:
    found = []
    for trial in range(TRIALS if careful else 1):
        for sign in (1, -1):
            try:
                near, far = (
                    evidence.side.values(evidence.point.rounded(trial, sign * steps)) for steps in (1, 2)
                )
            except Exception:  # as above
                continue
            found.append((near, far))
    return found


def _widen(evidence: Evidence, pairs: Sequence[tuple[list[Array], list[Array]]]) -> None:
    """Let the spreads of the results hold these changes."""
    for near, far in pairs:
        for i, (a, b) in enumerate(zip(near, far)):
            if a.shape == b.shape == evidence.output_spreads[i].shape:
                np.maximum(evidence.output_spreads[i], apart(a, b), out=evidence.output_spreads[i])


def _same(a: Sequence[Array | None], b: Sequence[Array | None]) -> bool:
    """The same but for the order in which threads add up."""
    return len(a) == len(b) and all(_close(x, y) for x, y in zip(a, b))


def _close(a: Array | None, b: Array | None) -> bool:
    if a is None or b is None or a.shape != b.shape:
        return a is b
    if np.array_equal(a, b):
        return True
    if a.dtype.kind != "f":
        return False
    allowed = 1e3 * float(np.finfo(a.dtype).eps)
    largest = float(np.max(np.abs(b[np.isfinite(b)]), initial=0))
    return bool(np.allclose(a, b, rtol=allowed, atol=allowed * largest, equal_nan=True))
