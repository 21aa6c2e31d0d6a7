"""From the traces of a comparison to its outcome: the first statement where they part, and the first line inside it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from .._migrate.outcome import AGREE, PART, UNRUN, VAGUE, Outcome, Within
from .compare import Comparison
from .pieces import Piece, Program
from .trace import Event, read
from .values import shown

ENDED = "it has ended its process"


@dataclass
class Runs:
    """The traces of three runs, and how the processes ended ("" for by themselves)."""

    old: Path
    new: Path
    shaken: Path
    old_ended: str = ""
    new_ended: str = ""


def follow(cut: Program, runs: Runs) -> Outcome:
    """Piece by piece through the traces of whole runs."""
    walk = _Walk(cut, runs)
    outcome = Outcome()
    agreed: set[str] = set()
    vague: dict[str, None] = {}
    unseen: dict[str, None] = {}
    dtypes: dict[str, None] = {}
    for number, piece in enumerate(cut.pieces):
        old = walk.old.get(number)
        stopped = walk.new_error(number, piece, runs.new_ended)
        if old is None and not runs.old_ended and stopped == ENDED:
            break  # both have ended their process
        if old is None or old.error:
            outcome.status = UNRUN
            outcome.why = _why_unrun(old, piece, runs, stopped)
            break
        walk.go(number, old)
        if not piece.python:
            continue  # what it made stands elsewhere in Python
        if stopped:  # what is missing now, is missing for that
            outcome.differences = [f"Python stops: {stopped}"]
        else:
            compared = walk.comparison.compare(values=not piece.unset)
            agreed |= compared.agree
            vague.update(dict.fromkeys(map(shown, compared.vague)))
            unseen.update(dict.fromkeys(map(shown, compared.unseen)))
            dtypes.update(dict.fromkeys(map(shown, compared.dtypes)))
            outcome.differences = [str(each) for each in compared.differences]
        if outcome.differences:
            outcome.status, outcome.piece, outcome.row = PART, number, piece.row
            outcome.statement = piece.statement
            break
    outcome.compared = len(agreed)
    outcome.vague, outcome.unseen, outcome.dtypes = list(vague), list(unseen), list(dtypes)
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
        return ended or ENDED

    def go(self, number: int, old: Event) -> None:
        """Take the events up to the end of a piece, in the order in which they happened."""
        ends = [i + 1 for i, event in enumerate(self.new) if event.where == number and not event.error]
        upto = max([self._done, *ends])
        moved = [event for event in self._moved.get(number, []) if not event.error]
        self.comparison.take(old, self.new[self._done : upto], moved[0] if moved else None)
        for event in moved[1:]:  # the same values, their last digits changed: what the next piece begins with
            self.comparison.shaken.take(event)
        self._done = upto


def look_within(cut: Program, piece: int, runs: Runs) -> Optional[Within]:
    """Line by line through the traces of runs that looked inside a piece."""
    new = list(read(runs.new))
    places, moved = _places(cut, new), _numbered(list(read(runs.shaken)))
    comparison = Comparison(cut.names, counters=False)
    done = 0
    for (where, time), event in _numbered(list(read(runs.old))).items():
        if event.error or where >= piece:
            break
        upto = places.get((where, time), done)
        comparison.take(event, [each for each in new[done:upto] if not each.error], moved.get((where, time)))
        if (where, 2) in moved and where >= 0:  # the same values, their last digits changed
            comparison.shaken.take(moved[where, 2])
        if upto <= done:
            continue  # no line of Python's
        done = upto
        compared = comparison.compare()
        if where < 0 and compared.differences:
            return Within(-where, time, [str(each) for each in compared.differences])
    return None


def _numbered(events: list[Event]) -> dict[tuple[int, int], Event]:
    """Events by where they happened, and for the how-manieth time."""
    times: Counter[int] = Counter()
    found = {}
    for event in events:
        times[event.where] += 1
        found[event.where, times[event.where]] = event
    return found


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
