"""`pybridge check`: compare two functions that files define, or a list of such pairs."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from .load import CheckError as CheckError
from .pairs import Pair as Pair
from .pairs import read_pairs, said

AGREE, DIFFER, CANNOT_RUN = 0, 1, 2


def check_one(pair: Pair, html: Path | None, plot: Path | None) -> int:
    """Compare a pair and show the report; returns the exit status."""
    console = Console()
    try:
        report = pair.run()
    except (
        Exception,
        SystemExit,
    ) as error:  # a file that does not load, a function that does not take these shapes
        return refuse(error)
    console.print(report)
    status = AGREE if report else DIFFER
    for path, kind, write in ((html, "page", report.to_html), (plot, "plot", report.plot)):
        if path is None:
            continue
        try:
            written = write(path)
        except (OSError, ValueError, ImportError) as error:
            status = refuse(CheckError(f"the {kind} could not be written to {path}: {said(error)}"))
        else:
            console.print(f"{kind}: {written}", markup=False, highlight=False)
    return status


def check_all(file: Path, html: Path | None) -> int:
    """Compare every pair of a TOML file and show one table; `html` is a folder for a page each."""
    try:
        pairs = read_pairs(file)
    except (OSError, ValueError, CheckError) as error:
        return refuse(error)
    table = Table("pair", "verdict", "what was found", title=Text(str(file)))
    status = AGREE
    pages: set[str] = set()
    with Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("comparing", total=len(pairs))
        for pair in pairs:
            progress.update(task, description=pair.name)
            page = None if html is None else html / f"{_file_name(pair.name, pages)}.html"
            one, verdict, found = _row(pair, page)
            colour = {AGREE: "green", DIFFER: "red", CANNOT_RUN: "yellow"}[one]
            table.add_row(Text(pair.name), Text(verdict, colour), Text(found))
            status = max(status, one)
            progress.advance(task)
    Console().print(table)
    return status


def _row(pair: Pair, page: Path | None) -> tuple[int, str, str]:
    """The exit status of a pair, its verdict, and what was found; the other pairs are compared whatever happens."""
    try:
        report = pair.run(progress=False)
    except (Exception, SystemExit) as error:
        return CANNOT_RUN, "could not run", said(error).splitlines()[0]
    found = "; ".join(f"{f.language}: {f.message}" for f in report.findings if f.fault)
    status = AGREE if report else DIFFER
    if page is not None:
        try:
            report.to_html(page)
        except (OSError, ValueError, ImportError) as error:
            return CANNOT_RUN, report.verdict, f"the page could not be written to {page}: {said(error)}"
    return status, report.verdict, found


def refuse(error: BaseException) -> int:
    """Say on stderr why nothing could be compared; returns the exit status."""
    Console(stderr=True).print(
        f"pybridge check: {said(error)}", style="red", markup=False, highlight=False, soft_wrap=True
    )
    return CANNOT_RUN


def read_keywords(given: Sequence[str]) -> dict[str, Any]:
    """Keywords of the Julia function, from NAME=VALUE; a value that is no Python literal is a string."""
    found = {}
    for text in given:
        name, equals, value = text.partition("=")
        if not equals or not name.isidentifier():
            raise CheckError(f"{text!r} is no NAME=VALUE, as in --keyword factor=2")
        try:
            found[name] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            found[name] = value
    return found


def _file_name(name: str, taken: set[str]) -> str:
    """A name of a file in the folder of pages, whatever the pair is called."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "pair"
    unique, number = plain, 1
    while unique in taken:
        number += 1
        unique = f"{plain}-{number}"
    taken.add(unique)
    return unique
