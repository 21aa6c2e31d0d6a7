"""A progress bar for long comparisons."""

from __future__ import annotations

from collections.abc import Callable


class Progress:
    """A bar on stderr, or nothing."""

    def __init__(self, show: bool) -> None:
        self.show = show

    def __enter__(self) -> Callable[[], None]:
        if not self.show:
            return lambda: None
        import rich.progress
        from rich.console import Console
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn

        self._bar = rich.progress.Progress(
            TextColumn("comparing"), BarColumn(), TextColumn("{task.completed} points"), TimeElapsedColumn(),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._bar.start()
        task = self._bar.add_task("comparing", total=None)
        return lambda: self._bar.advance(task)

    def __exit__(self, *_: object) -> None:
        if self.show:
            self._bar.stop()
