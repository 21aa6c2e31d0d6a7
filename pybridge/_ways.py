"""Which way set-up goes to a Julia, and why (the order is in _setup)."""

from __future__ import annotations

import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

from . import _ordinary, _places
from ._run import SetupError, run
from ._steps import Steps

WAYS = ("auto", "named", "juliapkg", "debian")
JULIA_VARIABLE = "PYBRIDGE_JULIA"
OLDEST_SUPPORTED = (1, 6, 1)  # by PythonCall 0.9.25
OLDEST = (1, 5, 0)  # that the stand-ins carry


@dataclass(frozen=True)
class Choice:
    """A way, and why it was taken."""

    way: str
    why: str
    julia: str | None = None
    version: tuple[int, ...] = ()


def choose(way: str, home: Path, steps: Steps) -> Choice:
    """Which way to go. Raises SetupError when the one that was asked for is closed."""
    if way not in WAYS:
        raise SetupError(f"unknown way {way!r}; the ways are {', '.join(WAYS)}")
    if sys.platform == "win32":
        raise SetupError("Windows is not supported. Use the Windows Subsystem for Linux.")
    setting, julia = named()
    if way == "named" and julia is None:
        raise SetupError(f"no Julia is named. Set {JULIA_VARIABLE} to a julia executable and try again.")
    if julia is not None and way in ("auto", "named"):
        return _choose_named(setting, julia)
    if way == "juliapkg":
        return Choice("juliapkg", "asked for")
    if way == "debian":
        open_debian()
        return Choice("debian", "asked for")
    with steps.step("Looking for Julia's downloads") as step:
        reached, why = _ordinary.reachable(_places.environment(home) / "project")
        step.result = "reached" if reached else "not reached"
    if reached:
        return Choice("juliapkg", "the ordinary way: juliapkg finds Julia, or downloads it")
    try:
        open_debian()
    except SetupError as error:
        raise SetupError(no_way(why, str(error))) from None
    return Choice("debian", f"{why}, and Debian's packages can be had")


def named() -> tuple[str, str | None]:
    """The Julia that the user names, and by which setting; None if there is none."""
    if os.environ.get(JULIA_VARIABLE):
        return JULIA_VARIABLE, os.environ[JULIA_VARIABLE]
    return "PYTHON_JULIAPKG_EXE", _ordinary.own_setting("exe")


def executable(julia: str) -> str | None:
    """The absolute path of a program named by path or, without slashes, by name."""
    found = shutil.which(str(Path(julia).expanduser()) if julia.startswith("~") else julia)
    return None if found is None else str(Path(found).absolute())


def _choose_named(setting: str, julia: str) -> Choice:
    found = executable(julia)
    if found is None:
        raise SetupError(f"{setting} is {julia!r}, which is no executable file. Name a julia, or unset it.")
    return Choice("named", f"{setting} names it", found, julia_version(found))


def julia_version(julia: str | Path) -> tuple[int, ...]:
    """The version that a Julia tells of itself. Raises SetupError if it is none, or too old."""
    said = run([julia, "--version"], what=f"{julia} --version", silence=60).split()
    if said[:2] != ["julia", "version"]:
        raise SetupError(f"{julia} does not answer as a Julia does: {' '.join(said)!r}")
    version = tuple(int(part) for part in said[2].split("-")[0].split("+")[0].split("."))
    if version < OLDEST:
        raise SetupError(f"{julia} is Julia {said[2]}; pybridge needs 1.5 at least, and 1.6.1 is better")
    return version


def open_debian() -> None:
    """Raise SetupError if Debian's packages are no way here."""
    from ._old_julia import debian

    if not debian.is_debian():
        raise SetupError("this is no Debian on x86-64, so Debian's packages are no way to a Julia")
    missing = debian.missing_tools()
    if missing:
        raise SetupError(f"Debian's tools are missing: {', '.join(missing)}")
    if not debian.sources():
        raise SetupError("the machine's apt sources name no mirror of Debian's main archive")


def no_way(why: str, debian: str) -> str:
    """The message when every way is closed."""
    return (
        f"no way to a Julia is open.\n  - {why}.\n  - {debian}.\n"
        f"Install Julia 1.6 or newer yourself, then: {JULIA_VARIABLE}=/path/to/julia python -m pybridge setup"
    )
