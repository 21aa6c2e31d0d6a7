"""The steps of a comparison at one point: values, faults, gradients; and once more in a smaller dtype."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .array import Array
from .diagnosis import name_difference, name_misfit
from .evidence import Evidence, gather, split, units
from .explain import explain, explain_missing, explain_values, first
from .judge import judge
from .point import Point
from .report import Compared, Report
from .sides import Side
from .tolerance import differ, tolerance

FULL_JACOBIAN = 16  # results with at most this many entries are gone through one by one


class Comparison:
    """The settings of a comparison, and its steps."""

    def __init__(
        self, rtol: float | None, atol: float | None, directions: int, samples: int, seed: int
    ) -> None:
        self.rtol, self.atol = rtol, atol
        self.directions, self.samples = directions, samples
        self.seed = seed
        self._drawn: dict[Any, list[list[Array]]] = {}  # head gradients, for results of these shapes

    def at(
        self,
        report: Report,
        point: Point,
        functions: Sequence[Side],
        chosen: Sequence[int],
        given_heads: list[Array] | None,
        bar: Any,
    ) -> dict[str, Evidence]:
        """Compare values and gradients at a point, in its dtype."""
        eps = _eps(point)
        large = max((point.arguments[i].size for i in point.movable), default=0) >= 10**6
        evidence: dict[str, Evidence] = {}
        heads: dict[str, list[list[Array]]] = {}
        for side in functions:
            drawn = self._draw(given_heads, large)
            e, own = gather(side, point, None, drawn, careful=not large)
            evidence[side.language], heads[side.language] = e, own
            e.exact = self._exact(side, point, e)
            self._faults(report, e)
            bar()
        if len(evidence) == 2:
            self._values(report, evidence, eps)
        rng = np.random.default_rng(self.seed + 1)
        for i in chosen:
            result = judge(
                i,
                evidence,
                heads,
                eps=eps,
                rtol=self.rtol,
                atol=self.atol,
                samples=self.samples,
                directions=self.directions,
                rng=rng,
                same_values=not any(f.fault for f in report.findings),
                progress=bar,
            )
            explain_missing(report, result, evidence, i)
            explain(report, result, evidence, heads, i, eps)
            report.gradients.append(result)
        return evidence

    def _draw(self, given: list[Array] | None, large: bool) -> Callable[[list[Array]], list[list[Array]]]:
        """Head gradients for outputs of given shapes: the same on both sides where the shapes are."""

        def draw(outputs: list[Array]) -> list[list[Array]]:
            if given is not None:
                if len(given) != len(outputs):
                    raise ValueError(f"crosscheck: {len(given)} head_grads came for {len(outputs)} results")
                for i, (h, y) in enumerate(zip(given, outputs), 1):
                    if h.shape != y.shape:
                        raise ValueError(
                            f"crosscheck: head_grads {i} has shape {h.shape}; result {i} has {y.shape}"
                        )
                return [[h.astype(y.dtype, copy=False) for h, y in zip(given, outputs)]]
            shapes = tuple((y.shape, y.dtype) for y in outputs)
            if shapes in self._drawn:
                return self._drawn[shapes]
            total = sum(y.size for y in outputs if y.dtype.kind == "f")
            heads = []
            if total <= FULL_JACOBIAN:
                heads += units(outputs)
            rng = np.random.default_rng(self.seed)
            for _ in range(1 if heads or large else max(1, self.directions)):
                heads.append(split(rng.standard_normal(total), outputs))
            self._drawn[shapes] = heads
            return heads

        return draw

    def _exact(self, side: Side, point: Point, e: Evidence) -> Evidence:
        """The function in float64, for derivatives by numbers, if it runs in float64."""
        wide = point.in_dtype(np.float64)
        if _eps(point) == _eps(wide):
            return e
        try:
            outputs = side.values(wide.arguments)
        except Exception:  # a function of one dtype only: its own values have to do
            return e
        if [y.shape for y in outputs] != [y.shape for y in e.outputs]:
            return e
        return Evidence(side, wide, outputs, [np.zeros(y.shape) for y in outputs], heads=e.heads)

    def _faults(self, report: Report, e: Evidence) -> None:
        language, faults = e.side.language, e.faults
        for what in faults.changed:
            report.note("writes", language, f"it writes to its {what}, which is not its own")
        if faults.raised is not None:
            kind, hint = name_misfit(faults.raised)
            report.note(kind, language, f"its backward raised {faults.raised}{hint}")
        if faults.unstable:
            report.note("determinism", language, "the same call gave something else the second time")
        if faults.stateful:
            report.note(
                "state", language, "its backward depends on a call that came between forward and backward"
            )
        if faults.nonlinear:
            report.note(
                "linearity",
                language,
                "the gradient is not in proportion to the head gradient (−2 times as large gives something else)",
            )

    def _values(self, report: Report, evidence: dict[str, Evidence], eps: float) -> None:
        p, j = evidence["Python"], evidence["Julia"]
        if len(p.outputs) != len(j.outputs):
            report.note("values", "both", f"Python returns {len(p.outputs)} results, Julia {len(j.outputs)}")
            return
        for i, (a, b) in enumerate(zip(p.outputs, j.outputs)):
            name = f"result {i + 1}" if len(p.outputs) > 1 else "result"
            made = tolerance(a, p.output_spreads[i], eps, self.rtol, self.atol).entries
            other = tolerance(b, j.output_spreads[i], eps, self.rtol, self.atol).entries
            if a.dtype != b.dtype:
                report.note("dtype", "both", f"{name} is {a.dtype} in Python and {b.dtype} in Julia")
            if a.shape != b.shape:
                said = name_difference(b, a, made, eps)
                what = f": {said[0]}" if said else ""
                kind = "layout" if said and said[0].startswith("layout") else "shape"
                report.note(
                    kind, "both", f"{name} has shape {a.shape} in Python and {b.shape} in Julia{what}"
                )
                continue
            where = differ(a, b, made + other)
            with np.errstate(all="ignore"):
                apart = float(np.nanmax(np.abs(a.astype(np.float64, copy=False) - b), initial=0.0))
                largest = float(np.nanmax(np.abs(a), initial=0.0))
            count = int(where.sum())
            report.values.append(
                Compared(
                    name, a.shape, str(a.dtype), largest, apart, float((made + other).max(initial=0)), count
                )
            )
            if count:
                explain_values(report, evidence, i, name, where, made + other, eps)

    def in_small_dtype(
        self,
        report: Report,
        point: Point,
        functions: Sequence[Side],
        right: dict[str, Evidence],
        chosen: Sequence[int],
    ) -> None:
        """The two agree in float64: is one of them wrong in the dtype that the inputs have?"""
        eps = _eps(point)
        for side in functions:
            reference = right[side.language]
            e, _ = gather(side, point, reference.heads[:1], None, careful=False)
            if e.faults.raised is not None:
                report.note(
                    "raised", side.language, f"in {_dtype(point)} its backward raised {e.faults.raised}"
                )
                continue
            pairs: list[tuple[str, Array | None, Array | None, Array]] = [
                ("a result", y, z, s) for y, z, s in zip(e.outputs, reference.outputs, e.output_spreads)
            ]
            pairs += [
                (
                    f"the gradient of {point.names[i]}",
                    e.gradients[0][i],
                    reference.gradients[0][i],
                    e.spreads[0][i],
                )
                for i in chosen
                if e.gradients
            ]
            for what, found, exact, s in pairs:
                if found is None or exact is None or found.dtype.kind != "f":
                    continue
                if found.dtype != point.arguments[point.movable[0]].dtype:
                    report.note(
                        "dtype", side.language, f"{what} is {found.dtype} for inputs of {_dtype(point)}"
                    )
                    continue
                room = tolerance(found, s, eps, self.rtol, self.atol).entries * 4
                with np.errstate(over="ignore"):
                    rounded = exact.astype(found.dtype)
                where = differ(found, rounded, room + eps * np.abs(np.nan_to_num(rounded)))
                if where.any():
                    at = first(where)
                    report.note(
                        "float32",
                        side.language,
                        f"{what} is right in float64, but not in {_dtype(point)}: {found[at]!r} "
                        f"instead of {rounded[at]!r} at {list(at)}",
                    )


def _eps(point: Point) -> float:
    return max((float(np.finfo(point.arguments[i].dtype).eps) for i in point.movable), default=2.2e-16)


def _dtype(point: Point) -> str:
    return str(point.arguments[point.movable[0]].dtype)
