"""The outcome of a comparison: a verdict, what was found, and the numbers behind it."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .judge import Judgement
from .tables import Cells, tables
from .weigh import Row

AGREE = "agree"
PYTHON_WRONG = "Python wrong"
JULIA_WRONG = "Julia wrong"
BOTH_WRONG = "both wrong"
FUNCTIONS_DIFFER = "the functions differ"
NOT_DIFFERENTIABLE = "cannot tell: not differentiable here"
CANNOT_TELL = "cannot tell"


@dataclass
class Finding:
    """One thing that was noticed.

    Attributes:
        kind: a short word: "values", "gradient", "layout", "state", "determinism", "writes", "linearity", "raised",
            "missing", "dtype", "shape", "float32", "kink", "integer", "unchecked", "order 2".
        language: the side that it is about, "Python", "Julia", or "both".
        message: a sentence.
        fault: whether it speaks against the side (or, for "both", against their being one function).
    """

    kind: str
    language: str
    message: str
    fault: bool = True


@dataclass
class Compared:
    """Values of one result, on both sides."""

    name: str
    shape: tuple[int, ...]
    dtype: str
    largest: float
    difference: float
    allowed: float
    differ: int


@dataclass
class Report:
    """What `pybridge.crosscheck` found. True if the functions agree, in values and in gradients.

    Attributes:
        verdict: "agree", "Python wrong", "Julia wrong", "both wrong", "the functions differ",
            "cannot tell: not differentiable here" or "cannot tell".
        findings: what was noticed, in sentences (`.message`), each with a `.kind` and the `.language` it is about.
        values: the comparison of each result.
        gradients: the judgement of each argument's gradient.
        settings: seed, dtype, numbers of heads, directions and samples.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> square = pb.jl.seval("x -> (x .^ 2, Δ -> 3 .* Δ .* x)")
        >>> report = pb.crosscheck(lambda x: x * x, square, [mx.nd.array([1, 2])])
        >>> bool(report), report.verdict
        (False, 'Julia wrong')
        >>> report.findings[0].message[:52]
        'the gradient of argument 1 is wrong in 10 of 10 plac'
        >>> report.gradients[0].wrong
        {'Julia'}
    """

    python: str | None
    julia: str | None
    verdict: str = AGREE
    findings: list[Finding] = field(default_factory=list)
    values: list[Compared] = field(default_factory=list)
    gradients: list[Judgement] = field(default_factory=list)
    settings: dict[str, Any] = field(default_factory=dict)

    def note(self, kind: str, language: str, message: str, fault: bool = True) -> None:
        """Add a finding."""
        self.findings.append(Finding(kind, language, message, fault))

    @property
    def names(self) -> str:
        """What was compared."""
        sides = ((self.python, "Python"), (self.julia, "Julia"))
        return " and ".join(f"{name} ({language})" for name, language in sides if name)

    @property
    def ok(self) -> bool:
        """Whether the two agree: the same as the report's truth value."""
        return self.verdict == AGREE

    def __bool__(self) -> bool:
        return self.ok

    def assert_ok(self) -> None:
        """Raise AssertionError, with the report as its text, unless the functions agree. For tests."""
        if not self.ok:
            raise AssertionError(str(self))

    def __str__(self) -> str:
        console = Console(width=110, no_color=True, highlight=False)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()

    def __repr__(self) -> str:
        return f"Report({self.verdict!r}, {len(self.findings)} findings)"

    def worst(self, count: int = 8) -> list[tuple[Judgement, Row]]:
        """The entries in which somebody is wrong, or that differ, the furthest apart first, with their arguments."""
        rows = [(j, r) for j in self.gradients for r in j.rows if r.wrong or r.undecided]
        return sorted(rows, key=lambda jr: (not jr[1].wrong, -_badness(jr[1])))[:count]

    def __rich__(self) -> Group:
        colour = "green" if self.ok else "yellow" if self.verdict.startswith("cannot") else "red"
        parts: list[Any] = [Text.assemble((self.verdict, f"bold {colour}"), f": {self.names}")]
        parts += [Text(f"  {'✗' if f.fault else '·'} {f.language}: {f.message}") for f in self.findings]
        parts += [_rich(cells) for cells in tables(self, 0 if self.ok else 8)]
        parts.append(Text(", ".join(f"{k} {v}" for k, v in self.settings.items()), "dim"))
        return Group(*parts)

    def to_dict(self) -> dict[str, Any]:
        """The report as plain numbers, strings, lists and dictionaries, ready for JSON (without the full gradients)."""
        return {
            "verdict": self.verdict,
            "ok": self.ok,
            "python": self.python,
            "julia": self.julia,
            "findings": [asdict(f) for f in self.findings],
            "values": [{k: _plain(v) for k, v in asdict(c).items()} for c in self.values],
            "gradients": [
                {
                    "argument": j.argument,
                    "shape": list(j.shape),
                    "dtype": j.dtype,
                    "wrong": sorted(j.wrong),
                    "entries_that_differ": j.differ,
                    "kinks": j.kinks,
                    "undecided": j.undecided,
                    "tolerances": j.tolerances,
                    "rows": [{k: _plain(v) for k, v in asdict(r).items()} for r in j.rows],
                }
                for j in self.gradients
            ],
            "settings": {k: _plain(v) for k, v in self.settings.items()},
        }

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write a page that needs nothing else (the picture is in it); returns its path. Needs matplotlib."""
        from .page import write

        return write(self, Path(path))

    def plot(self, path: str | PathLike[str]) -> Path:
        """Save a PNG: the gradients against each other, the errors, and where they lie. Needs matplotlib."""
        from .picture import draw

        return draw(self, Path(path))


def _badness(row: Row) -> float:
    off = row.off
    return float(np.nan_to_num(off / row.allowed if row.allowed > 0 else off, nan=np.inf, posinf=1e300))


def _rich(cells: Cells) -> Table:
    table = Table(title=Text(cells.title), box=SIMPLE_HEAD)
    for head in cells.heads:
        table.add_column(
            head, justify="left" if head in ("result", "gradient of", "where", "wrong") else "right"
        )
    for row in cells.rows:
        table.add_row(*map(Text, row))  # names may look like markup
    return table


def _plain(value: Any) -> Any:
    if isinstance(value, (np.floating, np.integer, np.bool_)):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)  # JSON has no NaN
    return list(value) if isinstance(value, tuple) else value
