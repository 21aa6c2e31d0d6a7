"""`pybridge migrate`: files in, files out, a report."""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from .atomic import write
from .file import translate
from .outcome import AGREE, UNRUN
from .output import FormatError
from .project import Job, MigrateError, jobs, turn
from .report import Entry, Report
from .source import SourceError

DONE, ATTENTION, FAILED = 0, 1, 2


#: Notes in the entries of a report what running the code came to.
Verify = Callable[[list[Job], Report], None]


@dataclass
class Options:
    """What the command line says."""

    out: Optional[Path] = None
    functions: str = "julia"
    strict: bool = False
    check: bool = False
    diff: bool = False
    force: bool = False
    as_json: bool = False
    html: Optional[Path] = None


def run(paths: list[Path], options: Options, verify: Optional[Verify] = None) -> int:
    """Turn files; returns the exit status. `verify` runs old and new code, if that is asked for."""
    try:
        _refuse_options(options)
        if not paths:
            raise MigrateError("name the files or folders to turn, or --stdin")
        if options.out is None and not (options.check or options.diff):
            raise MigrateError("say where to write with --out, or use --check or --diff")
        work = jobs(paths)
        report, texts = _turned(work, options)
        if verify is not None:
            verify(work, report)
        if not (options.check or options.diff):
            _write(report, texts, options)
        if options.html is not None:
            report.to_html(options.html)
    except (MigrateError, FormatError, OSError) as error:
        return refuse(str(error))
    if options.diff:
        _show_diff(texts)
    _show(report, options)
    return _status(report, options)


def run_stdin(options: Options) -> int:
    """Julia from standard input, Python to standard output, the report to standard error."""
    try:
        _refuse_options(options)
        made = translate("<stdin>", sys.stdin.buffer.read(), functions=options.functions, embed=True)
    except (MigrateError, FormatError, SourceError) as error:
        return refuse(str(error))
    report = Report([Entry("<stdin>", "", made)])
    if not options.check:
        sys.stdout.write(made.python)
    if options.as_json:
        sys.stderr.write(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n")
    elif made.attention or options.check:
        Console(stderr=True).print(report)
    if options.html is not None:
        report.to_html(options.html)
    return _status(report, options)


def refuse(text: str) -> int:
    """Say on stderr why nothing was done; returns the exit status."""
    Console(stderr=True).print(
        f"pybridge migrate: {text}", style="red", markup=False, highlight=False, soft_wrap=True
    )
    return FAILED


def _refuse_options(options: Options) -> None:
    if options.functions not in ("julia", "python"):
        raise MigrateError(f"--functions is julia or python, not {options.functions!r}")


def _turned(work: list[Job], options: Options) -> tuple[Report, dict[Path, str]]:
    report, texts = Report(), {}
    out = options.out if options.out is not None else Path()
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=len(work) < 3 or not sys.stderr.isatty(),
    )
    with progress:
        for job in progress.track(work, description="turning"):
            entry = Entry(str(job.path), str(out / job.target))
            report.entries.append(entry)
            try:
                entry.made = turn(job, work, options.functions)
            except SourceError as error:
                entry.error = str(error)
                continue
            texts[out / job.target] = entry.made.python
            if entry.made.julia:
                texts[out / job.julia_target] = entry.made.julia
    return report, texts


def _write(report: Report, texts: dict[Path, str], options: Options) -> None:
    there = sorted(str(path) for path in texts if path.exists() or path.is_symlink())
    if there and not options.force:
        raise MigrateError(f"would overwrite {', '.join(there)}; --force does")
    write(texts)
    for entry in report.entries:
        entry.written = entry.made is not None


def _show_diff(texts: dict[Path, str]) -> None:
    """From what is there to what would be written."""
    for path, text in texts.items():
        before = path.read_text(encoding="utf-8") if path.is_file() else ""
        name = str(path) if before else "/dev/null"
        lines = difflib.unified_diff(
            before.splitlines(keepends=True), text.splitlines(keepends=True), name, str(path)
        )
        sys.stdout.writelines(lines)


def _show(report: Report, options: Options) -> None:
    if options.as_json:
        stream = sys.stderr if options.diff else sys.stdout
        stream.write(json.dumps(report.to_dict(), ensure_ascii=False, indent=2) + "\n")
        return
    Console(stderr=options.diff).print(report)


def _status(report: Report, options: Options) -> int:
    if report.errors:
        for entry in report.errors:
            refuse(entry.error)
        return FAILED
    if any(outcome.status == UNRUN for _, outcome in report.verified):
        return FAILED
    parted = any(outcome.status != AGREE for _, outcome in report.verified)
    return ATTENTION if parted or (options.strict and report.attention) else DONE
