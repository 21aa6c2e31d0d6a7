"""What set-up shows while it works: one line a step, with a bar where there is something to count."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID


class Step:
    """A step under way."""

    def __init__(self, progress: Progress | None = None, task: TaskID | None = None) -> None:
        self._progress, self._task = progress, task
        self.result = ""

    def count(self, done: int, total: int) -> None:
        """Show that ``done`` of ``total`` are finished."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, completed=done, total=total)

    def note(self, text: str) -> None:
        """Show what is being worked on."""
        if self._progress is not None and self._task is not None:
            self._progress.update(self._task, note=text)


class Steps:
    """The steps of one run, written to ``console``; a bar only where somebody watches."""

    def __init__(self, console: Console) -> None:
        self.console = console

    def say(self, text: str, style: str | None = None) -> None:
        """Write one line."""
        self.console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def step(self, title: str) -> Iterator[Step]:
        """Do one step; afterwards its line says how it went and how long it took."""
        begin = time.monotonic()
        with self._bar(title) as step:
            try:
                yield step
            except BaseException:
                self.say(f"  ✗ {title}", "red")
                raise
        result = f": {step.result}" if step.result else ""
        self.say(f"  ✓ {title}{result} ({time.monotonic() - begin:.1f} s)")

    @contextmanager
    def _bar(self, title: str) -> Iterator[Step]:
        if not self.console.is_terminal:
            yield Step()
            return
        from rich.markup import escape
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

        columns = (
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            TimeElapsedColumn(),
            TextColumn("[dim]{task.fields[note]}"),
        )
        with Progress(*columns, console=self.console, transient=True) as progress:
            yield Step(progress, progress.add_task(escape(title), total=None, note=""))
