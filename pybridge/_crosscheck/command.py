"""`pybridge check`: compare two functions that files define, or a list of such pairs."""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from .. import julia
from ..testing import inputs
from .check import crosscheck
from .report import Report
from .sides import julia_function

AGREE, DIFFER, CANNOT_RUN = 0, 1, 2


class CheckError(Exception):
    """What was asked for cannot be run; the text says why."""


@dataclass
class Pair:
    """Two functions, and the inputs to compare them on. `python` and `julia` are "FILE:NAME", or None."""

    python: str | None
    julia: str | None
    shapes: Sequence[str]
    name: str = ""
    low: float = -2.0
    high: float = 2.0
    avoid: Sequence[float] = ()
    dtype: str | None = None
    layout: str = "julia"
    options: dict[str, Any] = field(default_factory=dict)

    def run(self, progress: bool | None = None) -> Report:
        """Compare them."""
        if not self.shapes:
            raise CheckError("no input: name the shape of each argument, as in --input 32x10")
        python = None if self.python is None else _python(self.python)
        julia_fn = None if self.julia is None else _julia(self.julia, self.layout)
        seed = int(self.options.get("seed", 0))
        given = [
            inputs(
                _shape(text),
                self.low,
                self.high,
                avoid=self.avoid,
                dtype=self.dtype or "float32",
                seed=seed + i,
            )
            for i, text in enumerate(self.shapes)
        ]
        return crosscheck(python, julia_fn, given, dtype=self.dtype, progress=progress, **self.options)


def check_one(pair: Pair, html: Path | None, plot: Path | None) -> int:
    """Compare a pair and show the report; returns the exit status."""
    console = Console()
    try:
        report = pair.run()
    except Exception as error:  # a file that does not load, a function that does not take these shapes
        return refuse(error)
    console.print(report)
    if html is not None:
        console.print(f"page: {report.to_html(html)}", markup=False, highlight=False)
    if plot is not None:
        console.print(f"plot: {report.plot(plot)}", markup=False, highlight=False)
    return AGREE if report else DIFFER


def check_all(file: Path, html: Path | None) -> int:
    """Compare every pair of a TOML file and show one table; `html` is a folder for a page each."""
    try:
        pairs = read_pairs(file)
    except (OSError, ValueError, CheckError) as error:
        return refuse(error)
    table = Table("pair", "verdict", "what was found", title=str(file))
    status = AGREE
    pages: set[str] = set()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("comparing", total=len(pairs))
        for pair in pairs:
            progress.update(task, description=pair.name)
            try:
                report = pair.run(progress=False)
            except Exception as error:  # the other pairs are compared all the same
                table.add_row(
                    pair.name,
                    "[yellow]could not run[/yellow]",
                    f"{type(error).__name__}: {error}".splitlines()[0],
                )
                status = CANNOT_RUN
            else:
                colour = "green" if report else "red"
                found = "; ".join(f"{f.language}: {f.message}" for f in report.findings if f.fault)
                table.add_row(pair.name, f"[{colour}]{report.verdict}[/{colour}]", found)
                status = status if report else max(status, DIFFER)
                if html is not None:
                    report.to_html(html / f"{_file_name(pair.name, pages)}.html")
            progress.advance(task)
    Console().print(table)
    return status


def refuse(error: BaseException) -> int:
    """Say on stderr why nothing could be compared; returns the exit status."""
    text = str(error) if isinstance(error, CheckError) else f"{type(error).__name__}: {error}"
    Console(stderr=True).print(
        f"pybridge check: {text}", style="red", markup=False, highlight=False, soft_wrap=True
    )
    return CANNOT_RUN


def _file_name(name: str, taken: set[str]) -> str:
    """A name of a file in the folder of pages, whatever the pair is called."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip(".-") or "pair"
    unique, number = plain, 1
    while unique in taken:
        number += 1
        unique = f"{plain}-{number}"
    taken.add(unique)
    return unique


def _said(error: BaseException) -> str:
    return str(error) if isinstance(error, CheckError) else f"{type(error).__name__}: {error}"


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a TOML file: `[[pair]]` tables with `python`, `julia`, `inputs` and options."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    tables = read.get("pair")
    if not isinstance(tables, list) or not tables:
        raise CheckError(f"{file} has no [[pair]] tables")
    return [_pair(file, number, table) for number, table in enumerate(tables, 1)]


_OWN = ("name", "python", "julia", "inputs", "low", "high", "avoid", "dtype", "layout")
_OPTIONS = ("rtol", "atol", "directions", "samples", "seed", "order")


def _pair(file: Path, number: int, table: dict[str, Any]) -> Pair:
    unknown = sorted(set(table) - {*_OWN, *_OPTIONS})
    if unknown:
        raise CheckError(
            f"{file}, pair {number}: unknown keys {', '.join(unknown)}; known are {', '.join((*_OWN, *_OPTIONS))}"
        )
    if "python" not in table and "julia" not in table:
        raise CheckError(f"{file}, pair {number}: neither python nor julia is named")
    own = {key: table[key] for key in ("low", "high", "avoid", "dtype", "layout") if key in table}
    python, julia_name = (_beside(file, table.get(key)) for key in ("python", "julia"))
    name = str(table.get("name", table.get("julia", table.get("python"))))
    options = {key: table[key] for key in _OPTIONS if key in table}
    return Pair(python, julia_name, table.get("inputs", []), name=name, options=options, **own)


def _beside(file: Path, target: str | None) -> str | None:
    """A target of a TOML file names files relative to it."""
    if target is None:
        return None
    path, name = _parted(target)
    return f"{file.parent / path}:{name}"


def _parted(target: str) -> tuple[str, str]:
    path, colon, name = target.rpartition(":")
    if not colon or not path or not name:
        raise CheckError(f"{target!r} is no FILE:NAME, as in model.py:swish")
    return path, name


def _python(target: str) -> Any:
    path, name = _parted(target)
    file = Path(path).resolve()
    if not file.is_file():
        raise CheckError(f"{path} does not exist")
    spec = importlib.util.spec_from_file_location(file.stem, file)
    if spec is None or spec.loader is None:
        raise CheckError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(file.parent))  # for what stands beside it, as when it is run
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(file.parent))
    if not hasattr(module, name):
        raise CheckError(f"{path} defines no {name}")
    return getattr(module, name)


def _julia(target: str, layout: str) -> Any:
    path, name = _parted(target)
    if not Path(path).is_file():
        raise CheckError(f"{path} does not exist")
    julia.include(path)
    return julia_function(name, layout)


def _shape(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in str(text).lower().split("x"))
    except ValueError:
        raise CheckError(f"{text!r} is no shape, as in 32x10") from None
