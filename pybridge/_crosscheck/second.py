"""Second order: the derivative of a gradient, by MXNet's own second backward and by numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import autograd
from .._libmxnet import NDArray
from .array import Array
from .evidence import Evidence
from .numeric import slope
from .report import Report


def compare(
    report: Report, evidence: dict[str, Evidence], chosen: Sequence[int], seed: int, bar: Any
) -> None:
    """Along a random direction v, for a random head: is the gradient of <g, v> what the gradient's own change says?

    Julia functions have no second order; their gradients' derivatives by numbers are compared with Python's instead.
    """
    for i in chosen:
        numbers: dict[str, tuple[Array, Array]] = {}
        for language, e in evidence.items():
            if not e.gradients or e.faults.raised is not None:
                continue
            way = e.point.direction(i, np.random.default_rng(seed + 3 + i))
            numbers[language] = _by_numbers(e, i, way)
            bar()
        name = next(iter(evidence.values())).point.names[i]
        if len(numbers) == 2:
            (p, p_error), (j, j_error) = numbers["Python"], numbers["Julia"]
            if p.shape == j.shape and bool((np.abs(p - j) > p_error + j_error).any()):
                report.note(
                    "order 2", "both", f"the gradients of {name} change differently along a direction"
                )
        if "Python" in numbers:
            _native_second(report, evidence["Python"], i, numbers["Python"], name, seed)


def _by_numbers(e: Evidence, argument: int, way: Array) -> tuple[Array, Array]:
    """The change of the gradient along `way`, and its error."""
    head = e.heads[-1]

    def along(t: float) -> tuple[Array, Array]:
        g = e.side.pull(e.point.moved({argument: way}, t), head).gradients[argument]
        flat = np.zeros(way.size) if g is None else g.reshape(-1).astype(np.float64, copy=False)
        return flat, np.abs(flat)

    at_zero, _ = along(0.0)
    noise = 4 * np.finfo(np.float64).eps * np.full(at_zero.shape, float(np.max(np.abs(at_zero), initial=0)))
    found = slope(along, at_zero, noise, 0.05, 8)
    return found.value, np.where(np.isfinite(found.error), 4 * found.error, np.inf)


def _native_second(
    report: Report, e: Evidence, argument: int, numbers: tuple[Array, Array], name: str, seed: int
) -> None:
    way = e.point.direction(argument, np.random.default_rng(seed + 3 + argument))
    try:
        second = _second_backward(e, argument, way)
    except (
        Exception
    ) as error:  # not every operator has a second order; what MXNet says is what the user needs
        text = str(error).splitlines()[0][:200]
        report.note("order 2", "Python", f"it has no second order: {text}", fault=False)
        return
    value, off = numbers
    # <H v, .> by the second backward, H v by numbers: symmetric, so the same
    if bool((np.abs(second.reshape(-1) - value) > off + 1e-9 * (1 + np.abs(value))).any()):
        report.note("order 2", "Python", f"the second derivative with respect to {name} is wrong")


def _second_backward(e: Evidence, argument: int, way: Array) -> Array:
    given = [e.side._given(a) for a in e.point.arguments]
    x: NDArray = given[argument]
    autograd.attach_grad(x)
    with autograd.record():
        outputs = e.side._outputs(given)
        gradient = autograd.grad(
            outputs,
            x,
            head_grads=[e.side._array(h) for h in e.heads[-1]],
            create_graph=True,
            retain_graph=True,
        )
        projected = (gradient * e.side._array(way)).sum()
    projected.backward()
    found: Array = x.grad.asnumpy()
    return found
