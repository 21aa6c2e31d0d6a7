"""Where the two codes run: copies of the folder that the files lie in, where they find their data."""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection
from pathlib import Path

from .. import _places

#: Files up to this size are copied; larger ones, and folders without code, are linked and cannot be written to.
COPIED = 16 * 2**20
COPIED_TOGETHER = 512 * 2**20

_KEPT = (
    "PATH",
    "LANG",
    "LC_",
    "TZ",
    "PYTHON",
    "VIRTUAL_ENV",
    "LD_LIBRARY_PATH",
    "JULIA",
    "MXNET",
    "OMP_",
    "OPENBLAS_",
    "MKL_",
)


def lay_out(base: Path, folder: Path, files: Collection[Path]) -> None:
    """Make `folder` look like `base`, in which `files` are the code."""
    _lay_out(base, folder, files, [COPIED_TOGETHER])


def _lay_out(base: Path, folder: Path, files: Collection[Path], left: list[int]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for entry in sorted(base.iterdir()):
        target = folder / entry.name
        if entry.is_dir() and any(entry in file.parents for file in files):
            _lay_out(entry, target, files, left)
        elif entry.is_file() and entry.stat().st_size <= min(COPIED, left[0]):
            left[0] -= entry.stat().st_size
            shutil.copyfile(entry, target)
        else:
            target.symlink_to(entry.resolve())


def environment(home: Path) -> dict[str, str]:
    """What a process that runs there sees: settings of the languages and libraries, a home of its own, no secrets."""
    found = {name: value for name, value in os.environ.items() if name.startswith(_KEPT)}
    theirs = os.environ.get("JULIA_DEPOT_PATH") or str(Path.home() / ".julia") + os.pathsep
    temporary = home / "tmp"
    temporary.mkdir(parents=True)
    found.update(
        HOME=str(home),
        TMPDIR=str(temporary),
        JULIA_DEPOT_PATH=theirs,
        PYTHONHASHSEED="0",
        PYTHONDONTWRITEBYTECODE="1",
        JOBLIB_MULTIPROCESSING="0",  # needs /dev/shm, and says so
    )
    found[_places.HOME_VARIABLE] = str(_places.prefix())
    return found
