"""Second order: the derivative of a gradient, by MXNet's own second backward and by numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import autograd
from .array import Array
from .evidence import Evidence
from .numeric import slope
from .report import Report
from .tolerance import UNITS

Changes = dict[
    int, tuple[Array, Array]
]  # by argument: how its gradient changes along a direction, and the error


def compare(
    report: Report, evidence: dict[str, Evidence], chosen: Sequence[int], seed: int, bar: Any
) -> None:
    """Along a random direction v of all arguments, for one head: is the gradient of <g, v> what g's own change says?

    Julia functions have no second order; their gradients' derivatives by numbers are compared with Python's instead.
    """
    numbers: dict[str, Changes] = {}
    ways: dict[int, Array] = {}
    for language, e in evidence.items():
        if e.gradients and not e.blind:
            ways = {i: e.point.direction(i, np.random.default_rng([seed, 3, i])) for i in chosen}
            numbers[language] = _by_numbers(e, ways)
            bar()
    if len(numbers) == 2:
        for i in chosen:
            (p, p_error), (j, j_error) = numbers["Python"][i], numbers["Julia"][i]
            if bool((np.abs(p - j) > p_error + j_error).any()):
                name = evidence["Python"].point.names[i]
                report.note(
                    "order 2", "both", f"the gradients of {name} change differently along a direction"
                )
    if "Python" in numbers:
        _native_second(report, evidence["Python"], ways, numbers["Python"])


def _by_numbers(e: Evidence, ways: dict[int, Array]) -> Changes:
    """The change of each gradient along the directions of all arguments together."""
    places = np.cumsum([0, *(way.size for way in ways.values())])

    def gradients(t: float) -> Array:
        try:
            found = e.side.pull(e.point.moved(ways, t), e.heads[-1]).gradients
        except Exception:  # not defined there
            return np.full(int(places[-1]), np.nan)
        parts = [np.zeros(way.size) if found[i] is None else found[i].reshape(-1) for i, way in ways.items()]  # type: ignore[union-attr]
        return np.concatenate(parts).astype(np.float64, copy=False)

    here = gradients(0.0)
    noise = 4 * e.point.eps * np.full(here.shape, float(np.max(np.abs(here), initial=0)))

    def along(t: float) -> tuple[Array, Array]:
        there = gradients(t)
        return there, noise + e.point.eps * np.abs(there)

    found = slope(along, here, 0.05, 8)
    error = np.where(np.isfinite(found.error), 4 * found.error, np.inf)
    return {
        i: (found.value[a:b], error[a:b]) for i, a, b in zip(ways, places[:-1].tolist(), places[1:].tolist())
    }


def _native_second(report: Report, e: Evidence, ways: dict[int, Array], numbers: Changes) -> None:
    try:
        seconds = _second_backward(e, ways)
    except (
        Exception
    ) as error:  # not every operator has a second order; what MXNet says is what the user needs
        text = next(iter(str(error).splitlines()), type(error).__name__)[:200]
        report.note("order 2", "Python", f"it has no second order: {text}", fault=False)
        return
    for i, second in seconds.items():
        value, off = numbers[i]
        # <H v, .> by the second backward, H v by numbers: symmetric, so the same
        room = off + e.point.eps ** (2 / 3) * np.abs(value)
        room += UNITS * e.point.eps * float(np.max(np.abs(value[np.isfinite(value)]), initial=0))
        if bool((np.abs(second.reshape(-1) - value) > room).any()):
            name = e.point.names[i]
            report.note("order 2", "Python", f"the second derivative with respect to {name} is wrong")


def _second_backward(e: Evidence, ways: dict[int, Array]) -> dict[int, Array]:
    given = [e.side._given(a) for a in e.point.arguments]
    leaves = [given[i] for i in ways]
    for x in leaves:
        autograd.attach_grad(x)
    with e.side._shapes(), autograd.record():
        outputs = e.side._outputs(given)
        gradients = autograd.grad(
            outputs,
            leaves,
            head_grads=[e.side._array(h) for h in e.heads[-1]],
            create_graph=True,
            retain_graph=True,
        )
        # Each argument is in the graph, so that a gradient without one has the derivative zero and is no error.
        parts = [
            (g * e.side._array(w)).sum() + 0 * x.sum() for g, w, x in zip(gradients, ways.values(), leaves)
        ]
        projected = parts[0]
        for part in parts[1:]:
            projected = projected + part
    projected.backward()
    return {i: x.grad.asnumpy() for i, x in zip(ways, leaves)}
