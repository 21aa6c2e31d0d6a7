"""A progress bar for long comparisons."""

from __future__ import annotations

import sys
import time
from typing import Any

PATIENCE = 2.0  # seconds after which a comparison counts as long


class Progress:
    """A bar on stderr: always, never, or (`show` None) on a terminal when it takes long.

    Called, inside its `with`, after each step.
    """

    def __init__(self, show: bool | None) -> None:
        self._wanted = sys.stderr.isatty() if show is None else show
        self._due = time.monotonic() + (PATIENCE if show is None else 0)
        self._steps = 0
        self._bar: Any = None

    def __enter__(self) -> Progress:
        return self

    def __call__(self) -> None:
        """One step is done."""
        self._steps += 1
        if self._bar is None and self._wanted and time.monotonic() >= self._due:
            self._start()
        if self._bar is not None:
            self._bar.update(self._task, completed=self._steps)

    def _start(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn
        from rich.progress import Progress as Bar

        columns = (
            TextColumn("comparing"),
            BarColumn(),
            TextColumn("{task.completed} points"),
            TimeElapsedColumn(),
        )
        self._bar = Bar(*columns, console=Console(stderr=True), transient=True)
        self._bar.start()
        self._task = self._bar.add_task("comparing", total=None)

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
