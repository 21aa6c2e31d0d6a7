"""What a migration did: files, lines turned, lines that need a person, names of MXNet.jl and their targets."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from .file import Translated
from .outcome import Outcome


@dataclass
class Entry:
    """One file: where it came from and went to, what was made of it, or why nothing was."""

    source: str
    target: str = ""
    made: Translated | None = None
    error: str = ""
    written: bool = False
    outcome: Outcome | None = None


@dataclass
class Report:
    """All files of a migration.

    Examples:
        >>> from pybridge._migrate.file import translate
        >>> report = Report([Entry("a.jl", "a.py", translate("a.jl", b"using MXNet; x = mx.zeros(2, 3)"))])
        >>> report.turned, report.total, report.attention
        (1, 1, 0)
        >>> report.names()
        [('zeros', 'mx.nd.zeros', 1)]
    """

    entries: list[Entry] = field(default_factory=list)

    @property
    def made(self) -> list[Translated]:
        """The files that became Python."""
        return [entry.made for entry in self.entries if entry.made is not None]

    @property
    def total(self) -> int:
        """Lines of code."""
        return sum(each.total for each in self.made)

    @property
    def turned(self) -> int:
        """Lines that became Python."""
        return sum(each.turned for each in self.made)

    @property
    def kept(self) -> int:
        """Lines of differentiable functions that stay Julia."""
        return sum(each.kept for each in self.made)

    @property
    def attention(self) -> int:
        """Places that need a person."""
        return sum(len(each.attention) for each in self.made)

    @property
    def errors(self) -> list[Entry]:
        """The files that could not be read."""
        return [entry for entry in self.entries if entry.error]

    def names(self) -> list[tuple[str, str, int]]:
        """MXNet.jl's names that were met: name, target, how often."""
        found: dict[str, tuple[str, int]] = {}
        for each in self.made:
            for met in each.met:
                _, count = found.get(met.name, ("", 0))
                found[met.name] = (met.target, count + met.count)
        return [(name, target, count) for name, (target, count) in sorted(found.items())]

    @property
    def verified(self) -> list[tuple[Entry, Outcome]]:
        """The files of which old and new code were run."""
        return [(entry, entry.outcome) for entry in self.entries if entry.outcome is not None]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values, ready for JSON."""
        return {
            "files": [_entry(entry) for entry in self.entries],
            "lines": self.total,
            "turned": self.turned,
            "kept_in_julia": self.kept,
            "attention": self.attention,
            "names": [
                {"name": name, "target": target, "count": count} for name, target, count in self.names()
            ],
        }

    def to_html(self, path: str | PathLike[str]) -> Path:
        """Write the page that shows old and new side by side; returns its path."""
        from .page import write

        return write(self, Path(path))

    def __rich__(self) -> Group:
        parts: list[Any] = [_files(self)]
        notes = [(entry, note) for entry in self.entries if entry.made for note in entry.made.attention]
        if notes:
            table = Table("place", "what", "why", title="Needs a person", title_justify="left")
            for entry, note in notes:
                table.add_row(Text(f"{entry.source}:{note.row}:{note.col}"), note.kind, Text(note.why))
            parts.append(table)
        if self.names():
            table = Table("MXNet.jl", "Python", "times", title="Names met", title_justify="left")
            for name, target, count in self.names():
                table.add_row(Text(name), Text(target), str(count))
            parts.append(table)
        if self.verified:
            parts.append(_verified(self))
        for entry in self.errors:
            parts.append(Text(entry.error, "red"))
        share = f" ({100 * self.turned / self.total:.0f} %)" if self.total else ""
        kept = f", {self.kept} of differentiable functions stay Julia" if self.kept else ""
        parts.append(
            Text(
                f"{self.turned} of {self.total} lines turned{share}{kept}; {self.attention} places need a person"
            )
        )
        return Group(*parts)

    def __str__(self) -> str:
        console = Console(width=110, no_color=True, highlight=False)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip()


def _files(report: Report) -> Table:
    table = Table(
        "file", "Python", "lines", "turned", "Julia", "to look at", title="Files", title_justify="left"
    )
    for entry in report.entries:
        made = entry.made
        if made is None:
            table.add_row(Text(entry.source), Text("not read", "red"), "", "", "", "")
            continue
        target = entry.target if entry.written else f"{entry.target} (not written)" if entry.target else "-"
        counts = (made.total, made.turned, made.kept, len(made.attention))
        table.add_row(Text(entry.source), Text(target), *(str(count) for count in counts))
    return table


def _verified(report: Report) -> Table:
    colours = {"agree": "green", "part": "red"}
    table = Table(
        "file", "old and new", "values", "where and why", title="Run side by side", title_justify="left"
    )
    for entry, outcome in report.verified:
        status = Text(outcome.status, colours.get(outcome.status, "yellow"))
        table.add_row(Text(entry.source), status, str(outcome.compared), Text("\n".join(outcome.lines())))
    return table


def _entry(entry: Entry) -> dict[str, Any]:
    made = entry.made
    if made is None:
        return {"source": entry.source, "error": entry.error}
    ran = {} if entry.outcome is None else {"verified": asdict(entry.outcome)}
    return {
        **ran,
        "source": entry.source,
        "target": entry.target,
        "written": entry.written,
        "lines": made.total,
        "turned": made.turned,
        "kept_in_julia": made.kept,
        "attention": [asdict(note) for note in made.attention],
        "names": [asdict(met) for met in made.met],
    }
