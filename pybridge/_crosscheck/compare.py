"""The steps of a comparison at one point: values, faults, gradients; and once more in a smaller dtype."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from .array import Array
from .diagnosis import name_difference, name_misfit
from .evidence import Evidence
from .explain import explain, explain_missing, explain_values, first
from .gather import Faults, gather
from .heads import Draw
from .judge import Judgement, judge
from .point import Point
from .report import Compared, Report
from .settings import Settings
from .sides import Side
from .tolerance import differ, tolerance


class Comparison:
    """The steps of a comparison, as the settings ask for it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

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
        # Each head costs two arrays of an argument's size for each side.
        draw = Draw(
            given_heads, 1 if point.largest >= 10**6 else self.settings.directions, self.settings.seed
        )
        evidence: dict[str, Evidence] = {}
        for side in functions:
            e, faults = gather(side, point, draw)
            evidence[side.language] = e
            e.blind = faults.random
            e.exact = self._exact(side, point, e)
            self._faults(report, side, faults)
            bar()
        report.settings["heads"] = max(len(e.heads) for e in evidence.values())
        if len(evidence) == 2:
            self._values(report, evidence, point.eps)
        same_values = not any(f.fault for f in report.findings)
        for i in chosen:
            result = judge(i, evidence, self.settings, point.eps, same_values, bar)
            explain_missing(report, result, evidence, i)
            explain(report, result, evidence, i, point.eps)
            self._unchecked(report, result, alone=len(evidence) == 1)
            report.gradients.append(result)
        return evidence

    def _unchecked(self, report: Report, result: Judgement, alone: bool) -> None:
        """Say where derivatives by numbers tell nothing: one function by itself is not checked at all, then."""
        if result.gradients and np.prod(result.shape) and not any(row.useful for row in result.rows):
            text = f"the gradient of {result.argument} is not checked by numbers: there are none that tell anything"
            report.note("unchecked", "both", text, fault=alone)

    def _exact(self, side: Side, point: Point, e: Evidence) -> Evidence:
        """The function in float64, for derivatives by numbers, if it runs in float64."""
        wide = point.in_dtype(np.float64)
        if point.eps == wide.eps:
            return e
        try:
            outputs = side.values(wide.arguments)
        except Exception:  # a function of one dtype only: its own values have to do
            return e
        if [y.shape for y in outputs] != [y.shape for y in e.outputs]:
            return e
        return Evidence(side, wide, outputs, [np.zeros(y.shape) for y in outputs], e.heads, blind=e.blind)

    def _faults(self, report: Report, side: Side, faults: Faults) -> None:
        language = side.language
        for what in faults.changed:
            report.note("writes", language, f"it writes to its {what}, which is not its own")
        if faults.raised is not None:
            kind, hint = name_misfit(faults.raised)
            report.note(kind, language, f"its backward raised {faults.raised}{hint}")
        if faults.random:
            report.note(
                "determinism",
                language,
                "its values differ from call to call, so numbers tell nothing",
                fault=False,
            )
        elif side.seed is not None:
            text = "its values are random: MXNet's random numbers start from the same seed at each call"
            report.note("determinism", language, text, fault=False)
        if faults.unstable:
            report.note("determinism", language, "the same call gave another gradient the second time")
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
            made, other = (
                tolerance(
                    e.outputs[i], e.output_spreads[i], eps, self.settings, _at(e.usual_outputs, i)
                ).entries
                for e in (p, j)
            )
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
            made += other
            where = differ(a, b, made)
            with np.errstate(all="ignore"):
                flat = a.reshape(-1)
                apart = float(
                    np.nanmax(np.abs(flat.astype(np.float64, copy=False) - b.reshape(-1)), initial=0.0)
                )
                largest = float(np.nanmax(np.abs(flat), initial=0.0))
            count = int(where.sum())
            report.values.append(
                Compared(name, a.shape, str(a.dtype), largest, apart, float(made.max(initial=0)), count)
            )
            if count:
                explain_values(report, evidence, i, name, where, made, eps)

    def in_small_dtype(
        self,
        report: Report,
        point: Point,
        functions: Sequence[Side],
        right: dict[str, Evidence],
        chosen: Sequence[int],
    ) -> None:
        """The two agree in float64: is one of them wrong in the dtype that the inputs have?"""
        eps = point.eps
        for side in functions:
            reference = right[side.language]
            e, faults = gather(side, point, partial(_last_head, reference))
            if faults.raised is not None:
                report.note("raised", side.language, f"in {point.dtype} its backward raised {faults.raised}")
                continue
            if faults.random:
                continue
            pairs: list[tuple[str, Array | None, Array | None, Array, Array | None]] = [
                ("a result", y, z, s, _at(e.usual_outputs, i))
                for i, (y, z, s) in enumerate(zip(e.outputs, reference.outputs, e.output_spreads))
            ]
            pairs += [
                (
                    f"the gradient of {point.names[i]}",
                    e.gradients[0][i],
                    reference.gradients[-1][i],
                    e.spreads[0][i],
                    e.usual_gradient(0, i),
                )
                for i in chosen
                if e.gradients and reference.gradients
            ]
            for what, found, exact, s, usual in pairs:
                if found is None or exact is None or found.dtype.kind != "f":
                    continue
                if found.dtype != point.arguments[point.movable[0]].dtype:
                    report.note(
                        "dtype", side.language, f"{what} is {found.dtype} for inputs of {point.dtype}"
                    )
                    continue
                room = tolerance(found, s, eps, self.settings, usual).entries * 4
                with np.errstate(over="ignore"):
                    rounded = exact.astype(found.dtype)
                where = differ(found, rounded, room + eps * np.abs(np.nan_to_num(rounded)))
                if where.any():
                    at = first(where)
                    report.note(
                        "float32",
                        side.language,
                        f"{what} is right in float64, but not in {point.dtype}: {found[at]!r} "
                        f"instead of {rounded[at]!r} at {list(at)}",
                    )


def _at(outputs: list[Array], i: int) -> Array | None:
    return outputs[i] if i < len(outputs) else None


def _last_head(e: Evidence, outputs: Sequence[Array]) -> list[list[Array]]:
    """The head gradient under which all results count, in the dtypes of these."""
    return [[h.astype(y.dtype, copy=False) for h, y in zip(e.heads[-1], outputs)]]
