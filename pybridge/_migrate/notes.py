"""What a person has to look at, each with its place and its reason."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Note:
    """One thing to look at.

    Attributes:
        kind: "axis", "type", "name", "refused", "package", "julia" (stays Julia), or another short word.
        row, end_row, col: where it stands in the Julia file, from 1.
        why: a sentence.
    """

    kind: str
    row: int
    end_row: int
    col: int
    why: str
    python_row: int = 0

    @property
    def turned(self) -> bool:
        """Whether the line did become Python all the same."""
        return self.kind not in ("refused", "julia")


class Refused(Exception):  # noqa: N818 - it is caught at the statement, never shown as an error
    """A form that has no counterpart; its statement is left to a person."""

    def __init__(self, row: int, col: int, why: str) -> None:
        super().__init__(why)
        self.row, self.col, self.why = row, col, why
