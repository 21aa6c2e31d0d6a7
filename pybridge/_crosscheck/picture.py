"""The picture of a report: gradients against each other, how far they lie apart, and where."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .array import Array
from .judge import Judgement

if TYPE_CHECKING:
    from .report import Report

POINTS = 20_000  # of a scatter; more only make the file large
SIDES = {"Python": "#1f5fa8", "Julia": "#9558b2"}


def draw(report: Report, path: Path) -> Path:
    """Save a PNG with one row for each argument's gradient (at most four, the worst first); returns its path."""
    figure = make(report)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    return path


def make(report: Report) -> Any:
    """The figure, as matplotlib's `Figure`."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("crosscheck: plots need matplotlib: pip install matplotlib") from error
    shown = sorted((j for j in report.gradients if j.rows), key=lambda j: (not j.wrong, -j.differ))[:4]
    figure = Figure(figsize=(13, 1.2 + 3.4 * max(1, len(shown))), layout="constrained")
    figure.suptitle(_plain(f"{report.names}: {report.verdict}"), fontsize=13)
    if not shown:
        axes = figure.subplots()
        axes.set_axis_off()
        axes.text(0.5, 0.5, "no gradients were compared", ha="center", va="center")
        return figure
    for row, judgement in zip(figure.subplots(len(shown), 3, squeeze=False), shown):
        _scatter(row[0], judgement)
        _histogram(row[1], judgement)
        _places(figure, row[2], judgement)
    return figure


def _pair(j: Judgement) -> tuple[str, str, Array, Array]:
    """What is drawn against what: Julia against Python, or the one side against the numbers."""
    if len(j.gradients) == 2:
        return "Python", "Julia", j.gradients["Python"].reshape(-1), j.gradients["Julia"].reshape(-1)
    (language,) = j.gradients
    rows = [r for r in j.rows if r.head == j.head and np.isfinite(r.numbers)]
    said = [r.python if language == "Python" else r.julia for r in rows]
    return "by numbers", language, np.array([r.numbers for r in rows]), np.array(said, float)


def _plain(text: str) -> str:
    """Names may hold what matplotlib takes for the start of a formula."""
    return text.replace("$", r"\$")


def _drawable(*arrays: Array) -> tuple[list[Array], str]:
    """Arrays in a common unit in which matplotlib can compute their range, and what an axis says of it."""
    largest = max((float(np.max(np.abs(a[np.isfinite(a)]), initial=0)) for a in arrays), default=0.0)
    if largest < 1e100:
        return list(arrays), ""
    exponent = int(np.floor(np.log10(largest)))
    return [a / 10.0**exponent for a in arrays], f" (in 1e{exponent})"


def _scatter(axes: Any, j: Judgement) -> None:
    x_name, y_name, x, y = _pair(j)
    (x, y), unit = _drawable(x.astype(np.float64, copy=False), y.astype(np.float64, copy=False))
    step = max(1, len(x) // POINTS)
    axes.plot(x[::step], y[::step], ".", color=SIDES.get(y_name, "#444444"), markersize=4, label="entries")
    known = np.concatenate([x[np.isfinite(x)], y[np.isfinite(y)]])
    if len(known):
        low, high = float(known.min()), float(known.max())
        axes.plot([low, high], [low, high], color="#999999", linewidth=0.8, zorder=0, label="equal")
    axes.set_xlabel(x_name + unit)
    axes.set_ylabel(y_name + unit)
    axes.set_title(_plain(f"gradient of {j.argument}"), fontsize=10)
    axes.legend(fontsize=8)


def _histogram(axes: Any, j: Judgement) -> None:
    x_name, y_name, x, y = _pair(j)
    with np.errstate(all="ignore"):
        error = np.abs(y - x) / np.maximum(np.maximum(np.abs(x), np.abs(y)), 1e-300)
    logs = np.log10(np.maximum(error[np.isfinite(error)], 1e-18))
    axes.hist(logs, bins=40, range=(-18, max(0.5, float(logs.max(initial=-18)))), color="#666666")
    axes.set_xlabel(f"log10 of the relative difference, {y_name} from {x_name}")
    axes.set_ylabel("entries")
    axes.set_title("how far they lie apart (at -18: not at all)", fontsize=10)


def _places(figure: Any, axes: Any, j: Judgement) -> None:
    axes.set_title("where they differ", fontsize=10)
    if len(j.gradients) < 2 or len(j.shape) not in (1, 2) or not j.differ:
        wrong = sorted({r.where for r in j.rows if r.wrong})[:12]
        axes.set_axis_off()
        axes.text(
            0,
            1,
            "\n".join(wrong) or "nowhere that was looked at",
            va="top",
            fontsize=9,
            transform=axes.transAxes,
        )
        return
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.abs(j.gradients["Julia"].astype(float, copy=False) - j.gradients["Python"])
    (apart,), unit = _drawable(apart)
    if len(j.shape) == 1:
        axes.plot(apart, ".-", color="#b03030", markersize=3, linewidth=0.6)
        axes.set_xlabel("index")
        axes.set_ylabel(f"|Julia − Python|{unit}")
        return
    from matplotlib.ticker import MaxNLocator

    rows, columns = (max(1, -(-n // 400)) for n in j.shape)
    image = axes.imshow(apart[::rows, ::columns], aspect="auto", cmap="magma_r", interpolation="nearest")
    figure.colorbar(image, ax=axes, label=f"|Julia − Python|{unit}")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel("axis 1")
    axes.set_ylabel("axis 0")
