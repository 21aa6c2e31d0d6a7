"""What came of running old and new code side by side, for the report."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Optional

#: How many differences are told.
SHOWN = 5

AGREE, PART, VAGUE, UNRUN = "agree", "part", "cannot tell", "not run"


@dataclass
class Within:
    """The first line inside a statement after which the two differ, and the how-manieth time that it ran."""

    row: int
    time: int
    differences: list[str]


@dataclass
class Outcome:
    """What a comparison found.

    Attributes:
        status: "agree", "part", "cannot tell" or "not run".
        compared: how many arrays, gradients and numbers were the same after every statement.
        piece: the number of the first statement where the two part.
        row: its line.
        statement: its first line of code.
        differences: what differs there.
        within: the line inside it, where it has lines.
        vague: what rounding alone may move as far as it is apart.
        unseen: what only Julia can show.
        dtypes: plain arrays whose element types differ.
        why: why nothing more was compared.
    """

    status: str = AGREE
    compared: int = 0
    piece: Optional[int] = None
    row: int = 0
    statement: str = ""
    differences: list[str] = field(default_factory=list)
    within: Optional[Within] = None
    vague: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    dtypes: list[str] = field(default_factory=list)
    why: str = ""

    def lines(self) -> list[str]:
        """What is to be said of it."""
        said = [self.why] if self.why else []
        if self.row:
            said.append(f"line {self.row}: {self.statement}")
            said += _some(self.differences)
        if self.within is not None:
            said.append(f"inside it, first at line {self.within.row} (time {self.within.time}):")
            said += _some(self.within.differences)
        if self.vague:
            said.append(
                f"rounding alone moves these as far as they are apart: {', '.join(self.vague[:SHOWN])}"
            )
        if self.unseen:
            said.append(f"only Julia shows these: {', '.join(self.unseen[:SHOWN])}")
        if self.dtypes:
            said.append(f"other element types in Python: {', '.join(self.dtypes[:SHOWN])}")
        return [_printable(line) for line in said]


def _printable(text: str) -> str:
    """Texts of the programs' own may hold what moves the cursor of a terminal."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def _some(differences: list[str]) -> list[str]:
    left = len(differences) - SHOWN
    return [*(f"  {text}" for text in differences[:SHOWN]), *([f"  and {left} more"] if left > 0 else [])]
