"""The tables of a report, as text: for the terminal and for the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from .judge import Judgement
from .weigh import Row

if TYPE_CHECKING:
    from .report import Report


class Cells(NamedTuple):
    """A table."""

    title: str
    heads: tuple[str, ...]
    rows: list[tuple[str, ...]]


def tables(report: Report, entries: int) -> list[Cells]:
    """Those of a report that have rows; of single entries, the `entries` worst."""
    values = Cells(
        "values",
        ("result", "shape", "largest", "difference", "allowed", "entries that differ"),
        [
            (
                c.name,
                shape(c.shape),
                f"{c.largest:.4g}",
                f"{c.difference:.2e}",
                f"{c.allowed:.2e}",
                f"{c.differ:,}",
            )
            for c in report.values
        ],
    )
    gradients = Cells(
        f"gradients, counted over {report.settings.get('heads', 1)} head gradients",
        ("gradient of", "shape", "entries that differ", "wrong", "checks by numbers", "at kinks"),
        [_gradient(j) for j in report.gradients],
    )
    worst = Cells(
        "furthest apart",
        ("where", "head", "Python", "Julia", "by numbers", "±", "wrong"),
        [_entry(j, r) for j, r in report.worst(entries)],
    )
    return [table for table in (values, gradients, worst) if table.rows]


def _gradient(j: Judgement) -> tuple[str, ...]:
    wrong = ", ".join(sorted(j.wrong)) or "nobody"
    return j.argument, shape(j.shape), f"{j.differ:,}", wrong, f"{len(j.rows):,}", f"{j.kinks:,}"


def _entry(j: Judgement, r: Row) -> tuple[str, ...]:
    numbers = f"{r.left:.3g} … {r.right:.3g}" if r.kink else f"{r.numbers:.4g}"
    error = "kink" if r.kink else f"{r.error:.0e}"
    wrong = ", ".join(r.wrong)
    if r.by:  # the functions differ, so it matters whose values these are from
        numbers += f" ({r.by}'s)"
    where = j.argument + ("" if r.where.startswith("[") else ", ") + r.where
    return where, str(r.head), _said(r.python), _said(r.julia), numbers, error, wrong


def _said(value: float | None) -> str:
    return "" if value is None else f"{value:.4g}"


def shape(dimensions: tuple[int, ...]) -> str:
    """A shape as people write it."""
    return " × ".join(map(str, dimensions)) or "()"
