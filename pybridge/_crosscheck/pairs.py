"""Pairs of functions to compare, from the command line or from a TOML file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..julia import JuliaError
from ..testing import inputs
from .check import crosscheck
from .load import CheckError, folder_of, julia_function_of, parted, python_function
from .report import Report


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
    keywords: Mapping[str, Any] = field(default_factory=dict)  # of the Julia function
    options: dict[str, Any] = field(default_factory=dict)  # of crosscheck

    def run(self, progress: bool | None = None) -> Report:
        """Compare them.

        Raises:
            CheckError: they cannot be compared; the text names the side and the file.
        """
        if not self.shapes:
            raise CheckError("no input: name the shape of each argument, as in --input 32x10")
        shapes = [_shape(text) for text in self.shapes]
        with folder_of(self.python):
            python = julia_fn = None
            if self.python is not None:
                python = _loaded("Python", self.python, lambda: python_function(str(self.python)))
            if self.julia is not None:
                julia_fn = _loaded(
                    "Julia",
                    self.julia,
                    lambda: julia_function_of(str(self.julia), self.layout, self.keywords),
                )
            seed = int(self.options.get("seed", 0))
            given = [
                inputs(
                    shape,
                    self.low,
                    self.high,
                    avoid=self.avoid,
                    dtype=self.dtype or "float32",
                    seed=seed + i,
                )
                for i, shape in enumerate(shapes)
            ]
            try:
                return crosscheck(
                    python, julia_fn, given, dtype=self.dtype, progress=progress, **self.options
                )
            except SystemExit as error:
                raise CheckError(f"{self._sides}: exited, with status {error.code!r}") from error
            except Exception as error:
                raise CheckError(f"{self._sides}: {said(error)}") from error

    @property
    def _sides(self) -> str:
        return " and ".join(target for target in (self.python, self.julia) if target is not None)


def said(error: BaseException) -> str:
    """An exception in one line, or, for one of Julia's, in the lines above its stack."""
    if isinstance(error, CheckError):
        return str(error)
    text = str(error)
    if isinstance(error, JuliaError):
        text = text.split("\nStacktrace:")[0]
    return f"{type(error).__name__}: {text}"


def _loaded(language: str, target: str, load: Any) -> Any:
    """What a file defines; whatever goes wrong says which side, and which file."""
    try:
        return load()
    except CheckError:
        raise
    except SystemExit as error:
        raise CheckError(f"{language}, {target}: the file exited, with status {error.code!r}") from error
    except Exception as error:
        raise CheckError(f"{language}, {target}: {said(error)}") from error


def _shape(text: str) -> tuple[int, ...]:
    """A shape in words: 32x10, or nothing for one without dimensions."""
    try:
        shape = tuple(int(part) for part in text.lower().split("x") if text)
    except ValueError:
        shape = (-1,)
    if min(shape, default=0) < 0:
        raise CheckError(f"{text!r} is no shape, as in 32x10")
    return shape


# ---- from a file -----------------------------------------------------------------------------------------------

_NUMBER, _TEXT, _WHOLE = (int, float), (str,), (int,)
_EXPECTED: dict[str, tuple[tuple[type, ...], str]] = {
    "name": (_TEXT, "a string"),
    "python": (_TEXT, "a string"),
    "julia": (_TEXT, "a string"),
    "low": (_NUMBER, "a number"),
    "high": (_NUMBER, "a number"),
    "dtype": (_TEXT, "a string"),
    "layout": (_TEXT, "a string"),
    "rtol": (_NUMBER, "a number"),
    "atol": (_NUMBER, "a number"),
    "directions": (_WHOLE, "a whole number"),
    "samples": (_WHOLE, "a whole number"),
    "seed": (_WHOLE, "a whole number"),
    "order": (_WHOLE, "a whole number"),
    "keywords": ((dict,), "a table"),
}
_LISTS: dict[str, tuple[tuple[type, ...], str]] = {
    "inputs": (_TEXT, "a list of strings"),
    "avoid": (_NUMBER, "a list of numbers"),
}
_OWN = ("low", "high", "avoid", "dtype", "layout", "keywords")
_OPTIONS = ("rtol", "atol", "directions", "samples", "seed", "order")


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a TOML file: `[[pair]]` tables with `python`, `julia`, `inputs` and options.

    Raises:
        CheckError: a table has what no pair has.
        OSError, ValueError: the file cannot be read, or is no TOML.
    """
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    read = tomllib.loads(file.read_text(encoding="utf-8"))
    tables = read.get("pair")
    if not isinstance(tables, list) or not tables or not all(isinstance(t, dict) for t in tables):
        raise CheckError(f"{file} has no [[pair]] tables")
    unknown = sorted(set(read) - {"pair"})
    if unknown:
        raise CheckError(f"{file}: unknown keys {', '.join(unknown)}; there are only [[pair]] tables")
    return [_pair(file, number, table) for number, table in enumerate(tables, 1)]


def _pair(file: Path, number: int, table: dict[str, Any]) -> Pair:
    known = (*_EXPECTED, *_LISTS)
    unknown = sorted(set(table) - set(known))
    if unknown:
        raise CheckError(
            f"{file}, pair {number}: unknown keys {', '.join(unknown)}; known are {', '.join(known)}"
        )
    for key, value in table.items():
        kinds, expected = _EXPECTED.get(key) or _LISTS[key]
        fits = isinstance(value, list) if key in _LISTS else True
        entries = value if key in _LISTS and fits else [value]
        if not fits or any(not isinstance(v, kinds) or isinstance(v, bool) for v in entries):
            raise CheckError(f"{file}, pair {number}: {key} is {value!r}; expected {expected}")
    if "python" not in table and "julia" not in table:
        raise CheckError(f"{file}, pair {number}: neither python nor julia is named")
    python, julia_name = (_relative(file, table.get(key)) for key in ("python", "julia"))
    return Pair(
        python,
        julia_name,
        table.get("inputs", []),
        name=str(table.get("name", table.get("julia", table.get("python")))),
        options={key: table[key] for key in _OPTIONS if key in table},
        **{key: table[key] for key in _OWN if key in table},
    )


def _relative(file: Path, target: str | None) -> str | None:
    """A target of a TOML file names files relative to it."""
    if target is None:
        return None
    path, name = parted(target)
    return f"{file.parent / path}:{name}"
