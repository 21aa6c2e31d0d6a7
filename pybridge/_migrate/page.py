"""The report as one page of HTML that needs nothing else: Julia on the left, Python on the right."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING

from .atomic import write as write_atomically
from .outcome import AGREE, PART

if TYPE_CHECKING:
    from .file import Translated
    from .outcome import Outcome
    from .report import Entry, Report

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .15rem .6rem; text-align: left; vertical-align: top; }
th { background: #f4f4f6; } table.names td, table.notes td { border-bottom: 1px solid #ddd; }
table.sides { width: 100%; table-layout: fixed; } table.sides td { border-top: 1px solid #eee; width: 50%; }
pre { margin: 0; font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre i { color: #999; font-style: normal; user-select: none; }
.look { background: #fff3cd; } .left { background: #f8d7da; }
@media (prefers-color-scheme: dark) { body { background: #18181b; color: #ddd; } th { background: #27272a; }
td { border-color: #3f3f46 !important; } .look { background: #4d3b00; } .left { background: #5a1e24; } }
"""


def write(report: Report, path: Path) -> Path:
    """Write the page; returns its path."""
    write_atomically({path: text(report)})
    return path


def text(report: Report) -> str:
    """The page."""
    share = f"{100 * report.turned / report.total:.0f} %" if report.total else "none"
    names = "".join(
        f"<tr><td><code>{html.escape(name)}</code></td><td><code>{html.escape(target)}</code></td><td>{count}</td></tr>"
        for name, target, count in report.names()
    )
    files = "".join(_file(entry) for entry in report.entries)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>MXNet.jl to Python: {share} turned</title><style>{_STYLE}</style></head><body>
<h1>{report.turned} of {report.total} lines turned ({share}), {report.attention} places need a person</h1>
<h2>Names met</h2>
<table class="names"><tr><th>MXNet.jl</th><th>Python</th><th>times</th></tr>{names}</table>
{files}
</body></html>
"""


def _file(entry: Entry) -> str:
    title = html.escape(entry.source)
    if entry.made is None:
        return f"<h2>{title}</h2><p class='left'>{html.escape(entry.error)}</p>"
    notes = "".join(
        f"<tr><td>{note.row}:{note.col}</td><td>{html.escape(note.kind)}</td><td>{html.escape(note.why)}</td></tr>"
        for note in entry.made.attention
    )
    table = (
        f"<table class='notes'><tr><th>line</th><th>what</th><th>why</th></tr>{notes}</table>"
        if notes
        else ""
    )
    return f"<h2>{title} → {html.escape(entry.target)}</h2>{_ran(entry.outcome)}{table}{_sides(entry.made)}"


def _ran(outcome: Outcome | None) -> str:
    """What came of running both."""
    if outcome is None:
        return ""
    lines = "\n".join(outcome.lines())
    said = f"<pre>{html.escape(lines)}</pre>" if lines else ""
    kind = {AGREE: "", PART: "left"}.get(outcome.status, "look")
    return (
        f"<p class='{kind}'>Run side by side: {outcome.status}, {outcome.compared} values the same.</p>{said}"
    )


def _sides(made: Translated) -> str:
    """Both texts, cut where a statement begins on either side."""
    old, new = made.source.rstrip("\n").split("\n"), made.python.rstrip("\n").split("\n")
    cuts = [(1, 1)]
    for line, row in sorted(made.pairs.items()):
        if row > cuts[-1][1] and line > cuts[-1][0]:
            cuts.append((line, row))
    cuts.append((len(new) + 1, len(old) + 1))
    marked: dict[int, str] = {}
    for note in made.notes:
        for row in range(note.row, note.end_row + 1):
            marked[row] = "left" if not note.turned else marked.get(row, "look")
    rows = []
    for (line, row), (next_line, next_row) in zip(cuts, cuts[1:]):
        kinds = {marked[each] for each in range(row, next_row) if each in marked}
        kind = "left" if "left" in kinds else "look" if kinds else ""
        left = _numbered(old[row - 1 : next_row - 1], row)
        right = _numbered(new[line - 1 : next_line - 1], line)
        rows.append(f"<tr class='{kind}'><td><pre>{left}</pre></td><td><pre>{right}</pre></td></tr>")
    return f"<table class='sides'><tr><th>Julia</th><th>Python</th></tr>{''.join(rows)}</table>"


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"<i>{number:4d} </i>{html.escape(line)}" for number, line in enumerate(lines, first))
