"""Set-up: find a Julia, or bring one, and leave it ready to start. `pybridge setup` and the first use run it.

Three ways, in this order:

1. *named*: ``PYBRIDGE_JULIA``, or juliapkg's own setting of an executable, names a Julia;
2. *juliapkg*: juliapkg finds a Julia or downloads one, and gets PythonCall from the registry;
3. *debian*: where nothing can be downloaded but Debian's packages can, Debian's old Julia (_old_julia).

Every piece is made in a scratch folder and moved into place when it is whole; the state file comes last
(_places). Pieces that are in place are never fetched again.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from . import _ordinary, _places, _ways
from ._places import State
from ._run import CommandError, SetupError, run
from ._steps import Step, Steps

NEEDED_BYTES = 700_000_000
OURS = ("environments", "julia", "pythoncall", "depot", "downloads", "scratch")


def fitting_state(home: Path, way: str = "auto") -> State | None:
    """The whole set-up that is there already, if it is what would be made now."""
    state = _places.load_state(home)
    if state is None or (way != "auto" and way != state.way):
        return None
    _, named = _ways.named()
    if way != "debian" and named is not None and state.julia != _ways.executable(named):
        return None
    # juliapkg re-resolves for another juliacall; an old Julia brings its own.
    if not state.old_julia and state.juliacall_version != _installed("juliacall"):
        return None
    return state


def setup(home: Path, steps: Steps, way: str = "auto", keep_downloads: bool = False) -> State:
    """Make sure that the running Python's environment has a Julia ready under the prefix ``home``.

    Arguments:
        home: the prefix.
        steps: where the steps are shown.
        way: one of ``_ways.WAYS``.
        keep_downloads: keep the fetched archives, for another prefix.

    Raises:
        SetupError: it cannot be done; the message says why and what to do.
    """
    state = fitting_state(home, way)
    if state is not None:
        steps.say(f"Julia {state.julia_version} is set up already ({state.way}: {state.why}) in {home}")
        return state
    _refuse_foreign(home)
    with _places.lock(home, lambda: steps.say(f"another set-up is at work in {home}; waiting for it")):
        state = fitting_state(home, way)
        if state is not None:
            steps.say(f"the other set-up has done it: Julia {state.julia_version} ({state.way})")
            return state
        (home / _places.MARKER).write_text("pybridge's: `python -m pybridge setup --remove` takes it away\n")
        state = _build(home, steps, way)
        with steps.step("Starting Julia once (PythonCall and PyBridge are compiled)") as step:
            state = _warm(state)
            step.result = f"Julia {state.julia_version}, PythonCall {state.pythoncall_version}"
        _places.save_state(home, state)
        if not keep_downloads:
            shutil.rmtree(home / "downloads", ignore_errors=True)
    steps.say(f"Julia is ready in {home}", "green")
    return state


def _refuse_foreign(home: Path) -> None:
    if home.is_dir() and any(home.iterdir()) and not (home / _places.MARKER).exists():
        inside = {entry.name for entry in home.iterdir()}
        if inside - {*OURS, "lock"}:
            raise SetupError(f"{home} holds other things already; name an empty or a new folder")


def _build(home: Path, steps: Steps, way: str) -> State:
    choice = _ways.choose(way, home, steps)
    steps.say(f"Way: {choice.way} ({choice.why})", "bold")
    if choice.way == "juliapkg" and way == "auto":
        try:
            return _by_juliapkg(home, steps, choice)
        except CommandError as error:
            first = str(error).partition("\n")[0]
            try:
                _ways.open_debian()
            except SetupError as closed:
                raise SetupError(_ways.no_way(str(error), str(closed))) from error
            choice = _ways.Choice("debian", f"{first}, and Debian's packages can be had")
            steps.say(f"Way: {choice.way} ({choice.why})", "bold")
    if choice.way == "debian":
        return _by_debian(home, steps, choice)
    if choice.version and choice.version < _ways.OLDEST_SUPPORTED:
        return _with_old_julia(home, steps, choice)
    return _by_juliapkg(home, steps, choice)


def _by_juliapkg(home: Path, steps: Steps, choice: _ways.Choice) -> State:
    project = _ordinary.own_setting("project") or str(_places.environment(home) / "project")
    Path(project).mkdir(parents=True, exist_ok=True)
    depot = None if os.environ.get("JULIA_DEPOT_PATH") else str(home / "depot")
    state = State(
        way=choice.way,
        why=choice.why,
        julia=choice.julia or "",
        julia_version="",
        pythoncall_version="",
        juliacall_version=_installed("juliacall"),
        project=project,
        depot=depot,
        offline=_ordinary.own_setting("offline") == "yes",
    )
    variables = {name: value for name, value in state.variables().items() if value}
    with steps.step("juliapkg: Julia and its packages") as step:
        exe, project = _ordinary.resolve({**os.environ, **variables}, step)
        step.result = exe
    return replace(state, julia=exe, project=project)


def _by_debian(home: Path, steps: Steps, choice: _ways.Choice) -> State:
    from ._old_julia import debian, relocate

    root = home / "julia" / f"debian-{debian.JULIA_VERSION}"
    if not root.is_dir():
        _enough_room(home)
        with _scratch(home) as scratch:
            with steps.step("Fetching Debian's packages (signatures checked)") as step:
                files = _from_first_mirror(scratch, home / "downloads", step)
            with steps.step("Unpacking") as step:
                debian.unpack(files, scratch / "root", step)
            with steps.step("Making it one Julia") as step:
                relocate.relocate(scratch / "root", step)
                step.result = f"Julia {relocate.check(scratch / 'root')}"
            _put(scratch / "root", root)
    julia = str(relocate.julia_of(root))
    return _with_old_julia(home, steps, replace(choice, julia=julia, version=_ways.julia_version(julia)))


def _from_first_mirror(scratch: Path, downloads: Path, step: Step) -> list[Path]:
    from ._old_julia import debian

    failed: list[str] = []
    for number, source in enumerate(debian.sources()):
        try:
            return debian.fetch(source, scratch / f"source-{number}", downloads, step)
        except SetupError as error:
            failed.append(f"{source.uri}: {error}")
    raise SetupError("Debian's packages cannot be had.\n" + "\n".join(failed))


def _with_old_julia(home: Path, steps: Steps, choice: _ways.Choice) -> State:
    from ._old_julia import pythoncall

    place = home / "pythoncall" / pythoncall.VERSION
    if not place.is_dir():
        with _scratch(home) as scratch:
            with steps.step(f"Fetching PythonCall {pythoncall.VERSION} (SHA-256 pinned)") as step:
                archive = pythoncall.fetch(scratch, home / "downloads", step)
            pythoncall.unpack(archive, scratch / "packages")
            _put(scratch / "packages", place)
    project = _places.environment(home) / "project"
    project.mkdir(parents=True, exist_ok=True)
    (project / "Project.toml").touch()
    assert choice.julia is not None
    return State(
        way=choice.way,
        why=choice.why,
        julia=choice.julia,
        julia_version=".".join(map(str, choice.version)),
        pythoncall_version=pythoncall.VERSION,
        juliacall_version=_installed("juliacall"),
        project=str(project),
        depot=str(home / "depot"),
        pythoncall=str(place),
        juliacall=str(place / "PythonCall" / "pysrc" / "juliacall"),
        offline=True,
    )


def _warm(state: State) -> State:
    # In a process of its own: the one that sets up may go on without Julia, or start it afterwards.
    root = str(Path(__file__).resolve().parent.parent)
    code = f"import sys; sys.path.append({root!r}); from pybridge import julia; julia._start_for_setup()"
    command = [sys.executable, "-c", code]
    out = run(command, what="starting Julia", stdin=_places.state_text(state), silence=900)
    answer = json.loads(out.strip().splitlines()[-1])
    return replace(state, julia_version=answer["julia"], pythoncall_version=answer["pythoncall"])


@contextmanager
def _scratch(home: Path) -> Iterator[Path]:
    """An empty folder on the prefix's own file system. The lock is held: what lies there is dead."""
    folder = home / "scratch"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield Path(tempfile.mkdtemp(dir=folder))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _put(whole: Path, place: Path) -> None:
    """Move a finished folder into place. The disk has all of it before its name says so."""
    place.parent.mkdir(parents=True, exist_ok=True)
    os.sync()
    whole.replace(place)


def _enough_room(home: Path) -> None:
    free = shutil.disk_usage(home).free
    if free < NEEDED_BYTES:
        raise SetupError(
            f"{home} has {free / 1e6:.0f} MB free, {NEEDED_BYTES / 1e6:.0f} MB are needed. Name another folder: "
            "python -m pybridge setup --prefix FOLDER (and set PYBRIDGE_HOME to it)"
        )


def _installed(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def remove(home: Path, steps: Steps) -> bool:
    """Take away everything that set-up brought under ``home``; whether there was anything."""
    if not home.is_dir() or not (home / _places.MARKER).exists():
        steps.say(f"nothing is set up in {home}")
        return False
    with _places.lock(home, lambda: steps.say(f"a set-up is at work in {home}; waiting for it")):
        # States first: from here on nothing counts as set up, even if this is killed.
        for name in OURS:
            shutil.rmtree(home / name, ignore_errors=True)
        (home / _places.MARKER).unlink()
        (home / "lock").unlink()
    try:
        home.rmdir()
        steps.say(f"removed {home}")
    except OSError:
        steps.say(f"removed what set-up had brought to {home}; other things are in it and stay")
    return True
