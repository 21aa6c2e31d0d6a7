"""Writing several files so that each is there whole or not at all."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def write(files: Mapping[Path, str]) -> None:
    """Write all texts beside their places first, then put each in its place.

    Raises:
        OSError: a folder or file cannot be written; what was begun is taken away again.
    """
    waiting: list[tuple[str, Path]] = []
    try:
        for path, text in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
            waiting.append((beside, path))
            with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            Path(beside).chmod(_mode(path))
        while waiting:
            beside, path = waiting[0]
            Path(beside).replace(path)
            waiting.pop(0)
    finally:
        for beside, _ in waiting:
            Path(beside).unlink(missing_ok=True)


def _mode(path: Path) -> int:
    """The mode of the file that is there, or that of a new one."""
    if path.exists():
        return path.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
