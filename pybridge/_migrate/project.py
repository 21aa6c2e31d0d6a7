"""The files of a migration together: which become which, and what they define for each other."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Optional

from . import tree as t
from .file import Translated, translate
from .lower import lower
from .modules import flatten
from .names import Names
from .notes import Note
from .scopes import resolve
from .source import SourceError, read

#: Modules that other libraries import; the list is Python 3.10's, 3.9 knows only those that are compiled in.
_PYTHONS_OWN = frozenset(
    {"numpy", "mxnet", "pybridge", *getattr(sys, "stdlib_module_names", sys.builtin_module_names)}
)


class MigrateError(Exception):
    """The migration cannot begin; the text says why."""


@dataclass
class Job:
    """One file: where it lies, where it goes (relative to the output folder), its bytes."""

    path: Path
    target: PurePosixPath
    data: bytes
    defines: list[str] = field(default_factory=list)
    free: frozenset[str] = frozenset()
    error: Optional[SourceError] = None
    includes: frozenset[Path] = frozenset()

    @property
    def julia_target(self) -> PurePosixPath:
        """The Julia file beside the Python one."""
        return self.target.with_name(f"{self.target.stem}_functions.jl")


def jobs(paths: list[Path]) -> list[Job]:
    """The files that arguments name; a folder gives all its Julia files and keeps its tree.

    Raises:
        MigrateError: nothing is there, a file is no `.jl`, or two become the same.
    """
    made: list[Job] = []
    for path in paths:
        if path.is_dir():
            found = sorted(each for each in path.rglob("*.jl") if each.is_file() and not _hidden(each, path))
            if not found:
                raise MigrateError(f"{path} holds no .jl files")
            made += [_job(each, PurePosixPath(each.relative_to(path).as_posix())) for each in found]
        elif not path.exists():
            raise MigrateError(f"{path} does not exist")
        elif path.suffix != ".jl":
            raise MigrateError(f"{path} is no .jl file")
        else:
            made.append(_job(path, PurePosixPath(path.name)))
    taken: dict[PurePosixPath, Path] = {}
    for job in made:
        for target in (job.target, job.julia_target):
            if target in taken and taken[target] != job.path:
                raise MigrateError(f"{taken[target]} and {job.path} would both become {target}")
            taken[target] = job.path
    return made


def _hidden(path: Path, root: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(root).parts)


def _job(path: Path, relative: PurePosixPath) -> Job:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise MigrateError(f"{path} cannot be read: {error.strerror}") from None
    job = Job(path, relative.with_name(relative.stem.replace("-", "_") + ".py"), data)
    try:
        tree = lower(read(str(path), data))
        flatten(tree)
        top = resolve(tree)
    except SourceError as error:
        job.error = error
        return job
    names = Names()
    job.defines = [names.of(name) for name in top.vars]
    included = (_included(each) for each in tree.walk() if isinstance(each, t.Call))
    job.includes = frozenset((path.parent / name).resolve() for name in included if name is not None)
    job.free = frozenset(each.id for each in tree.walk() if isinstance(each, t.Name) and each.var is None)
    return job


def _included(call: t.Call) -> Optional[str]:
    """The file that a call of `include` names."""
    if isinstance(call.fn, t.Name) and call.fn.id == "include" and len(call.args) == 1:
        given = call.args[0]
        if isinstance(given, t.Str) and len(given.parts) == 1 and isinstance(given.parts[0], str):
            return given.parts[0]
    return None


def turn(job: Job, everything: list[Job], functions: str) -> Translated:
    """Translate one file in the company of the others.

    Raises:
        SourceError: it is no Julia.
    """
    if job.error is not None:
        raise job.error
    names = Names()
    given = {names.of(name) for name in job.free}
    included: dict[str, list[str]] = {}
    folder = job.path.parent
    for other in everything:
        if other is not job and other.error is None:
            shown = os.path.relpath(other.path, folder).replace(os.sep, "/")
            included[shown] = sorted(name for name in other.defines if name in given)
    elsewhere = frozenset(
        name for name in job.free if any(Names().of(name) in o.defines for o in everything if o is not job)
    )
    made = translate(
        str(job.path),
        job.data,
        functions=functions,
        elsewhere=elsewhere,
        included=included,
        julia_name=job.julia_target.name,
    )
    if len(job.target.parts) == 1 and job.target.stem in _PYTHONS_OWN:
        why = f"{job.target.name} takes the place of Python's own module {job.target.stem} for all that runs beside it"
        made.notes.append(Note("name", 1, 1, 1, f"{why}: give the file another name"))
    return made


__all__ = ["Job", "MigrateError", "jobs", "turn"]
