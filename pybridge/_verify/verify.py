"""Run old and new code and compare them: each in a process of its own, inside the fence."""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from .. import _places
from .._migrate.outcome import Outcome
from .._migrate.project import MigrateError
from . import fence, folders
from .pieces import Piece, Program
from .steps import Runs, follow, look_within
from .tape import TAPE

#: Starts a module without the current folder on the path: a file there must not stand for a library.
_START = (
    "import sys; sys.path.pop(0); import runpy; sys.argv.pop(0); "
    "runpy.run_module(sys.argv[0], run_name='__main__', alter_sys=True)"
)

_ERROR = re.compile(r"(\w+\.)*\w*(Error|Exception|ERROR|fault)\b")

FILE_BYTES = 4 * 2**30


class VerifyError(MigrateError):
    """Nothing can be run; the text says why."""


@dataclass(frozen=True)
class Limits:
    """What each of the processes may do.

    Attributes:
        seconds: how long it may take.
        fenced: whether it runs inside the fence; without, it can do all that the user can.
    """

    seconds: int = 600
    fenced: bool = True


@dataclass
class Case:
    """One migrated file: where it lies, where its Python goes in the output, and what was made of it."""

    path: Path
    target: PurePosixPath
    program: Program
    python: str
    julia: str = ""

    @property
    def base(self) -> Path:
        """The folder whose tree the output keeps."""
        return self.path.absolute().parents[len(self.target.parent.parts)]


def prepare(limits: Limits) -> None:
    """Make sure that the processes can be started: what they cannot write inside the fence is written now.

    Raises:
        VerifyError: this system has no fence, or Julia does not start.
    """
    lacking = fence.missing() if limits.fenced else []
    if lacking:
        raise VerifyError(
            f"--verify runs code in a sandbox, and this system lacks {', '.join(lacking)}; "
            "--no-sandbox runs it with all that you may do yourself"
        )
    started = subprocess.run(
        [sys.executable, "-c", _START, "pybridge._verify.old_side", "--only-compile"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if started.returncode:
        raise VerifyError(f"Julia does not start:\n{started.stdout.strip()}")


def verify(case: Case, company: Sequence[Case], limits: Limits, told: Callable[[str], None]) -> Outcome:
    """Run one file in both languages and compare what its names hold.

    Arguments:
        case: the file.
        company: all files of the migration; those of the same tree lie beside it when it runs.
        limits: of each process.
        told: hears what is being done.
    """
    with tempfile.TemporaryDirectory(prefix="pybridge-verify-") as made:
        place = Place(Path(made), case, company, limits)
        told("old and new")
        runs = place.run(None)
        outcome = follow(case.program, runs)
        if outcome.piece is not None and _has_inside(case.program, outcome.piece):
            told(f"inside line {case.program.pieces[outcome.piece].row}")
            outcome.within = look_within(case.program, outcome.piece, place.run(outcome.piece))
        return outcome


def _has_inside(cut: Program, piece: int) -> bool:
    pieces = cut.pieces[: piece + 1]
    return any(_lines_inside(each) for each in pieces)


def _lines_inside(piece: Piece) -> bool:
    return "PyBridgeVerify.at" in piece.followed


def _locks() -> list[Path]:
    """What juliapkg writes to at each start of Julia."""
    state = _places.load_state(_places.prefix())
    lock = Path(state.project) / "lock.pid" if state is not None else None
    return [lock] if lock is not None and lock.is_file() else []


@dataclass
class Place:
    """The folders of one comparison, and the processes in them."""

    root: Path
    case: Case
    company: Sequence[Case]
    limits: Limits
    _count: int = field(default=0, init=False)

    def run(self, within: int | None) -> Runs:
        """The old code twice at once, the second time shaken; then the new one with the random numbers of the first."""
        self._count += 1
        old, shaken = self._side("old", f"old-{self._count}"), self._side("old", f"shaken-{self._count}")
        with ThreadPoolExecutor(2) as pool:
            both = [pool.submit(old.start, within), pool.submit(shaken.start, within, "--shaken")]
            try:
                for each in both:
                    each.result()
            except BaseException:  # Ctrl-C comes here, and the pool waits for its threads
                old.stop()
                shaken.stop()
                raise
        new = self._side("new", f"new-{self._count}")
        if (old.trace / TAPE).is_file():
            shutil.copy(old.trace / TAPE, new.trace)
        new.start(within)
        return Runs(old.trace, new.trace, shaken.trace, old.ended, new.ended)

    def _side(self, language: str, name: str) -> Side:
        folder = self.root / name
        work = folder / "work"
        case = self.case
        folders.lay_out(case.base, work, [each.path.absolute() for each in self.company])
        file = work / case.path.absolute().relative_to(case.base)
        if language == "new":
            for each in self.company:
                if each.base == case.base:
                    (work / each.target).write_text(each.python, encoding="utf-8")
                    if each.julia:
                        kept = each.target.with_name(f"{each.target.stem}_functions.jl")
                        (work / kept).write_text(each.julia, encoding="utf-8")
            file = work / case.target
        return Side(language, file, folder, self.limits, json.dumps(case.program.to_dict()))


class Side:
    """One process: the code that it runs, the folder that it may write to, how it ended."""

    def __init__(self, language: str, file: Path, folder: Path, limits: Limits, pieces: str) -> None:
        self._language, self._file, self._folder, self._limits = language, file, folder, limits
        self.trace = folder / "trace"
        self.trace.mkdir()
        (folder / "pieces.json").write_text(pieces, encoding="utf-8")
        self.ended = ""
        self._process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def start(self, within: int | None, *options: str) -> None:
        """Run it to its end; `ended` says why, if it did not end by itself."""
        more = [*options, *([] if within is None else ["--within", str(within)])]
        words = [str(self._file), str(self._folder / "pieces.json"), str(self.trace), *more]
        command = [sys.executable, "-c", _START, f"pybridge._verify.{self._language}_side", *words]
        if self._limits.fenced:
            seconds = self._limits.seconds * (os.cpu_count() or 1)
            command = fence.command(command, [self._folder, *_locks()], seconds, FILE_BYTES)
        environment = folders.environment(self._folder / "home")
        with (self._folder / "said").open("wb") as said:
            self._process = process = subprocess.Popen(
                command,
                cwd=self._file.parent,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
            try:
                status = process.wait(0 if self._stopped else self._limits.seconds)
            except subprocess.TimeoutExpired:
                self.ended = f"it did not end within {self._limits.seconds} seconds"
            else:
                self.ended = self._why(status)
            finally:
                self._kill(process)
                process.wait()
                self._kill_the_rest(str(environment["HOME"]))

    def stop(self) -> None:
        """End it from another thread."""
        self._stopped = True
        if self._process is not None:
            self._kill(self._process)

    def _kill(self, process: subprocess.Popen[bytes]) -> None:
        """End it, and whatever it has started."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    def _kill_the_rest(self, home: str) -> None:
        """End what has left the group: everything that runs with this side's own home."""
        for environ in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if f"HOME={home}".encode() in environ.read_bytes().split(b"\0"):
                    os.kill(int(environ.parent.name), signal.SIGKILL)

    def _why(self, status: int) -> str:
        if not status:
            return ""
        with (self._folder / "said").open("rb") as said:
            said.seek(max(0, said.seek(0, os.SEEK_END) - 2**16))
            lines = said.read().decode("utf-8", "replace").strip().splitlines()
        errors = [line for line in lines if _ERROR.match(line)]
        # Julia's own comes before Python's, which only says that Julia has failed.
        errors = [line for line in lines if line.startswith("ERROR: ")] or errors
        last = f": {(errors or lines)[-1]}" if lines else ""
        how = f"was ended by {signal.Signals(-status).name}" if status < 0 else f"ended with status {status}"
        return f"it {how}{last}"
