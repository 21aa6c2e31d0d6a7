"""The report as one page of HTML that needs nothing else: the picture and all styles are in it."""

from __future__ import annotations

import base64
import html
import io
from pathlib import Path
from typing import TYPE_CHECKING

from .picture import make
from .tables import Cells, tables

if TYPE_CHECKING:
    from .report import Report

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; } th, td { padding: .25rem .7rem; border-bottom: 1px solid #ddd; text-align: right; }
th { background: #f4f4f6; } td:first-child, th:first-child { text-align: left; }
.agree { color: #1d7a36; } .cannot { color: #a06b00; } .wrong { color: #b02020; }
li.fault { color: #b02020; } img { max-width: 100%; } .settings, small { color: #666; }
@media (prefers-color-scheme: dark) { body { background: #18181b; color: #ddd; } th { background: #27272a; }
th, td { border-color: #3f3f46; } img { filter: invert(.92) hue-rotate(180deg); } }
"""


def write(report: Report, path: Path) -> Path:
    """Write the page; returns its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text(report), encoding="utf-8")
    return path


def text(report: Report) -> str:
    """The page."""
    kind = "agree" if report.ok else "cannot" if report.verdict.startswith("cannot") else "wrong"
    picture = io.BytesIO()
    make(report).savefig(picture, format="png", dpi=110)
    findings = "".join(
        f"<li class='{'fault' if f.fault else 'note'}'>"
        f"<b>{html.escape(f.language)}</b> ({html.escape(f.kind)}): {html.escape(f.message)}</li>"
        for f in report.findings
    )
    tolerances = "".join(
        f"<li>{html.escape(j.argument)}, {html.escape(language)}: {html.escape(said)}</li>"
        for j in report.gradients
        for language, said in j.tolerances.items()
    )
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{html.escape(report.names)}: {html.escape(report.verdict)}</title><style>{_STYLE}</style></head><body>
<h1>{html.escape(report.names)}: <span class="{kind}">{html.escape(report.verdict)}</span></h1>
<ul>{findings or "<li>nothing to note</li>"}</ul>
<img alt="gradients against each other, their differences, and where they lie"
 src="data:image/png;base64,{base64.b64encode(picture.getvalue()).decode("ascii")}">
{"".join(_table(cells) for cells in tables(report, 30))}
<h2>How the tolerances came about</h2><ul>{tolerances or "<li>none were needed</li>"}</ul>
<p class="settings">{html.escape(", ".join(f"{k} {v}" for k, v in report.settings.items()))}</p>
</body></html>
"""


def _table(cells: Cells) -> str:
    head = "".join(f"<th>{html.escape(h)}</th>" for h in cells.heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(c)}</td>" for c in row) + "</tr>" for row in cells.rows
    )
    return f"<h2>{cells.title.capitalize()}</h2><table><tr>{head}</tr>{body}</table>"
