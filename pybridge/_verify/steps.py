"""From the traces of a comparison to its outcome: the first statement where they part, and the first line inside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Optional

from .compare import Comparison
from .pieces import Piece, Program
from .trace import Event, read

AGREE, PART, VAGUE, UNRUN = "agree", "part", "cannot tell", "not run"


@dataclass
class Runs:
    """The traces of three runs, and how the processes ended ("" for by themselves)."""

    old: Path
    new: Path
    shaken: Path
    old_ended: str = ""
    new_ended: str = ""


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
        vague: paths that rounding alone may move as far as they are apart.
        unseen: paths that only Julia can show.
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
    why: str = ""


def follow(cut: Program, runs: Runs) -> Outcome:
    """Piece by piece through the traces of whole runs."""
    walk = _Walk(cut, runs)
    outcome = Outcome()
    agreed: set[str] = set()
    for number, piece in enumerate(cut.pieces):
        old = walk.old.get(number)
        stopped = walk.new_error(number, piece, runs.new_ended)
        if old is None and not runs.old_ended and stopped:
            break  # both have ended their process
        if old is None or old.error:
            outcome.status = UNRUN
            outcome.why = _why_unrun(old, piece, runs, stopped)
            break
        walk.go(number, old)
        if not piece.python:
            continue  # what it made stands elsewhere in Python
        compared = walk.comparison.compare()
        agreed |= compared.agree
        outcome.vague += [path for path in compared.vague if path not in outcome.vague]
        outcome.unseen += [path for path in compared.unseen if path not in outcome.unseen]
        if compared.differences or stopped:
            outcome.differences = [f"Python stops: {stopped}"] if stopped else []
            outcome.differences += [str(each) for each in compared.differences]
            outcome.status, outcome.piece, outcome.row = PART, number, piece.row
            outcome.statement = piece.julia.split("\n", 1)[0]
            break
    outcome.compared = len(agreed)
    if outcome.status == AGREE and (outcome.vague or not agreed):
        outcome.status = VAGUE
        outcome.why = "" if outcome.vague else "its names hold nothing that could be compared"
    return outcome


def _why_unrun(old: Optional[Event], piece: Piece, runs: Runs, stopped: str) -> str:
    if old is None:
        return f"the old code did not get beyond line {piece.row}: {runs.old_ended or 'it ended its process'}"
    also = f" (the new one stops there as well: {stopped})" if stopped else ""
    return f"the old code stops at line {piece.row}: {old.error}{also}"


class _Walk:
    """Goes through three traces in step."""

    def __init__(self, cut: Program, runs: Runs) -> None:
        self.comparison = Comparison(cut.names)
        self.new = list(read(runs.new))
        self.old = {event.where: event for event in reversed(list(read(runs.old)))}
        self._moved: dict[int, list[Event]] = {}
        for event in read(runs.shaken):
            self._moved.setdefault(event.where, []).append(event)
        self._done = 0

    def new_error(self, number: int, piece: Piece, ended: str) -> str:
        """Why Python did not get through a piece; nothing if it did."""
        if not piece.python:
            return ""
        errors = [event.error for event in self.new if event.where == number and event.error]
        if errors or any(event.where == number for event in self.new):
            return errors[0] if errors else ""
        return ended or "it has ended its process"

    def go(self, number: int, old: Event) -> None:
        """Take the events up to the end of a piece, in the order in which they happened."""
        ends = [i + 1 for i, event in enumerate(self.new) if event.where == number and not event.error]
        upto = max([self._done, *ends])
        first, *others = self._moved.get(number, [None])
        self.comparison.take(old, self.new[self._done : upto], first if first and not first.error else None)
        for event in others:  # the same values, their last digits changed: what the next piece begins with
            self.comparison.shaken.take(event)
        self._done = upto


def look_within(cut: Program, piece: int, runs: Runs) -> Optional[Within]:
    """Line by line through the traces of runs that looked inside a piece."""
    old, new, shaken = (list(read(folder)) for folder in (runs.old, runs.new, runs.shaken))
    places = _places(cut, new)
    comparison = Comparison(cut.names)
    done, times = 0, Counter[int]()
    for i, event in enumerate(old):
        if event.error or event.where >= piece:
            break
        row = -event.where
        times[row] += 1
        upto = places.get((event.where, times[row]), done)
        moved = shaken[i] if i < len(shaken) and shaken[i].where == event.where else None
        comparison.take(event, [each for each in new[done:upto] if not each.error], moved)
        if upto <= done:
            continue  # no line of Python's
        done = upto
        compared = comparison.compare()
        if event.where < 0 and compared.differences:
            return Within(row, times[row], [str(each) for each in compared.differences])
    return None


def _places(cut: Program, new: list[Event]) -> dict[tuple[int, int], int]:
    """For pieces, and for lines of Julia's inside one: how far Python's trace is when it has run, for each time."""
    lines = {row: line for line, row in sorted(cut.rows.items())}  # of several lines of Python the last
    found: dict[tuple[int, int], int] = {}
    times: Counter[int] = Counter()
    for i, event in enumerate(new):
        if event.where >= 0:
            found[event.where, 1] = i + 1
            continue
        row = cut.rows.get(-event.where, 0)
        if lines.get(row) == -event.where:
            times[row] += 1
            found[-row, times[row]] = i + 1
    return found
