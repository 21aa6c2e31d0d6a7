"""Where pybridge keeps what it sets up, and the one file that says that a set-up is whole.

Everything lies under the *prefix*: ``PYBRIDGE_HOME``, or the platform's folder for user data. Several Python
environments share a prefix: what is large lies beside ``environments/``, what belongs to one environment in
a folder of its own there.

The state file is written last and moved into place in one step. Nothing else is ever taken for a sign that
a set-up is complete, so one that was killed half-way is simply none.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path

HOME_VARIABLE = "PYBRIDGE_HOME"
FORMAT = 1
# In the prefix, so that `setup --remove` never empties a folder that is not pybridge's.
MARKER = "pybridge-home.txt"
SEPARATOR = os.pathsep
# Julia packages that only an old Julia needs (_old_julia/README.md).
STAND_INS = Path(__file__).resolve().parent / "_old_julia" / "packages"


def prefix(path: str | os.PathLike[str] | None = None) -> Path:
    """The folder that holds everything that set-up brings.

    Arguments:
        path: overrides ``PYBRIDGE_HOME`` and the platform's default.
    """
    chosen = path or os.environ.get(HOME_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    import platformdirs

    return Path(platformdirs.user_data_dir("pybridge", appauthor=False))


def environment(home: Path) -> Path:
    """The folder of the running Python's environment under the prefix ``home``."""
    key = f"{sys.prefix}\n{sys.version_info[0]}.{sys.version_info[1]}"
    name = Path(sys.prefix).name.lstrip(".") or "python"
    return home / "environments" / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:10]}"


def julia_package_dir() -> Path:
    """The folder of the Julia package PyBridge: a wheel carries it, a checkout has it beside the package."""
    here = Path(__file__).resolve().parent
    for folder in (here / "_julia", here.parent / "julia"):
        if (folder / "Project.toml").is_file():
            return folder
    raise FileNotFoundError(
        f"the Julia half of pybridge is missing: neither {here / '_julia'} nor {here.parent / 'julia'} has a "
        "Project.toml. Install pybridge again: python -m pip install --force-reinstall mxnet-pybridge"
    )


@dataclass(frozen=True)
class State:
    """A complete set-up of one Python environment, as its state file holds it."""

    way: str  # "named", "juliapkg" or "debian"
    why: str
    julia: str  # the executable
    julia_version: str
    pythoncall_version: str
    juliacall_version: str  # of the package that is installed in the environment
    project: str  # juliapkg's project folder
    depot: str | None = None  # goes first in JULIA_DEPOT_PATH
    pythoncall: str | None = None  # old Julia only: the folder that holds PythonCall/
    juliacall: str | None = None  # old Julia only: the Python side that belongs to this PythonCall
    offline: bool = False
    format: int = FORMAT

    @property
    def old_julia(self) -> bool:
        """Whether this Julia is older than the oldest that PythonCall supports."""
        return self.pythoncall is not None

    def whole(self) -> bool:
        """Whether everything that the state names is still there."""
        named = (self.julia, self.project, self.pythoncall, self.juliacall)
        return all(Path(place).exists() for place in named if place is not None)

    def variables(self) -> dict[str, str]:
        """The environment variables with which ``import juliacall`` starts this Julia.

        Variables of the user's own stay in force: paths are put in front of theirs.
        """
        env = {"PYTHON_JULIAPKG_PROJECT": self.project}
        if self.way != "juliapkg":
            # There juliapkg has chosen itself; an executable named now would make it resolve anew at each start.
            env["PYTHON_JULIAPKG_EXE"] = self.julia
        if self.offline:
            env["PYTHON_JULIAPKG_OFFLINE"] = "yes"
        if self.depot is not None:
            # A trailing empty entry keeps Julia's own read-only depots.
            theirs = os.environ.get("JULIA_DEPOT_PATH") or f"{Path.home() / '.julia'}{SEPARATOR}"
            env["JULIA_DEPOT_PATH"] = _in_front([self.depot], theirs)
        if self.pythoncall is not None:
            theirs = os.environ.get("JULIA_LOAD_PATH") or SEPARATOR.join(("@", "@stdlib"))
            env["JULIA_LOAD_PATH"] = _in_front(["@", str(STAND_INS), self.pythoncall], theirs)
            from ._old_julia.processor import openblas_core

            core = os.environ.get("OPENBLAS_CORETYPE") or openblas_core()
            if core is not None:
                env["OPENBLAS_CORETYPE"] = core
        return env


def _in_front(first: list[str], theirs: str) -> str:
    rest = [entry for entry in theirs.split(SEPARATOR) if entry not in first]
    return SEPARATOR.join([*first, *rest])


def state_file(home: Path) -> Path:
    """Where the running environment's state lies."""
    return environment(home) / "state.json"


def load_state(home: Path) -> State | None:
    """The running environment's complete set-up under ``home``, or None."""
    try:
        read = json.loads(state_file(home).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    known = {field.name for field in fields(State)}
    if not isinstance(read, dict) or read.get("format") != FORMAT or not set(read) <= known:
        return None
    try:
        state = State(**read)
    except TypeError:
        return None
    return state if state.whole() else None


def state_text(state: State) -> str:
    """The text of a state file."""
    return json.dumps(asdict(state), indent=2) + "\n"


def save_state(home: Path, state: State) -> None:
    """Write the state file: from here on the set-up counts as whole."""
    # What the state speaks of must be on the disk before the state is.
    os.sync()
    write_whole(state_file(home), state_text(state))


def write_whole(path: Path, text: str) -> None:
    """Write a file so that it is seen with all of ``text``, or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    with temporary.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def sha256(file: Path) -> str:
    """The SHA-256 of a file's bytes, in hexadecimal."""
    digest = hashlib.sha256()
    with file.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()


@contextmanager
def lock(home: Path, waiting: object = None) -> Iterator[None]:
    """Hold the prefix for this process alone; ``waiting()`` is called once when another one has it.

    The kernel drops the lock when this process and the programs that it started have ended, however they do.
    """
    import fcntl

    path = home / "lock"
    while True:
        home.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if callable(waiting):
                    waiting()
                fcntl.flock(file, fcntl.LOCK_EX)
            # `setup --remove` deletes the file: then this lock is on nothing that anybody else sees.
            try:
                same = path.stat().st_ino == os.fstat(file.fileno()).st_ino
            except FileNotFoundError:
                same = False
            if same:
                os.set_inheritable(file.fileno(), True)
                yield
                return
