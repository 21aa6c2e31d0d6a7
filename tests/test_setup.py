"""Set-up on a bare prefix, with real packages and real kills; what is there already is neither lost nor done again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from prefixes import clean_environment, on_debian, pybridge, quiet

from pybridge import _places, _setup
from pybridge._old_julia import debian
from pybridge._run import CommandError, SetupError, run

# ---- the whole way, on a bare folder ------------------------------------------------------------------------


@on_debian
def test_bare_prefix_gets_a_julia_that_runs_and_nothing_is_written_elsewhere(brought: Path) -> None:
    said = (brought.parent / "said.txt").read_text()
    assert "Way: debian (asked for)" in said
    assert "✓ Fetching Debian's packages (signatures checked)" in said
    assert "✓ Starting Julia once" in said and "PythonCall 0.9.25" in said
    assert list((brought.parent / "user").rglob("*")) == []
    assert not (brought / "scratch").exists()
    code = "import pybridge as pb, sys; print(pb.jl.seval('string(VERSION)')); print(sys.modules['juliacall'].__file__)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=clean_environment(brought),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stderr == "" and ran.returncode == 0
    version, file = ran.stdout.split()
    assert version == debian.JULIA_VERSION
    assert brought in Path(file).parents  # PythonCall's own Python side


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.name != "__pycache__" and "__pycache__" not in path.parts
    }


@on_debian
def test_second_run_changes_nothing_and_needs_no_network(brought: Path, tmp_path: Path) -> None:
    for tool in ("apt-get", "apt-cache", "dpkg"):
        (tmp_path / tool).write_text("#!/bin/sh\necho called >> $0.called\nexit 1\n")
        (tmp_path / tool).chmod(0o755)
    before = files_of(brought)
    begin = time.monotonic()
    no_network = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}
    no_network |= dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    ran = pybridge(brought, "setup", **no_network)
    assert ran.returncode == 0 and "set up already (debian: asked for)" in ran.stdout
    assert time.monotonic() - begin < 20
    assert files_of(brought) == before
    assert list(tmp_path.glob("*.called")) == []


@on_debian
def test_two_runs_at_once_are_both_right_and_one_does_the_work(brought: Path) -> None:
    shutil.rmtree(brought / "environments")
    command = [sys.executable, "-m", "pybridge", "setup", "--way", "debian", "--keep-downloads"]
    both = [
        subprocess.Popen(
            command,
            env=clean_environment(brought),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sorted("Starting Julia once" in text for text in said) == [False, True], said
    assert sum("the other set-up has done it" in text or "set up already" in text for text in said) == 1, said


def test_foreign_folder_is_neither_filled_nor_removed(own_settings, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(SetupError, match="holds other things"):
        _setup.setup(tmp_path, quiet())
    assert not _setup.remove(tmp_path, quiet())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


# ---- killed on the way --------------------------------------------------------------------------------------

KILLED = """
    import os, signal, sys
    from pathlib import Path
    from rich.console import Console
    from pybridge import _places, _setup, _steps

    where, home = sys.argv[1], Path(sys.argv[2])

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    class Steps(_steps.Steps):
        def step(self, title):
            if title.startswith(where):
                die()
            return super().step(title)

    counted = _steps.Step.count

    def count(self, done, total):
        if where == "amid unpacking" and done == 8 and total == 17:
            die()
        if where == "amid run paths" and done == 20:
            die()
        counted(self, done, total)

    _steps.Step.count = count
    if where == "before the state":
        _places.save_state = lambda *_: die()
    if where == "amid the state":
        Path.replace = lambda *_: die()
    _setup.setup(home, Steps(Console()), "debian", True)
"""
KILLS = (
    "Fetching Debian",
    "Unpacking",
    "amid unpacking",
    "Making it one",
    "amid run paths",
    "Fetching PythonCall",
    "Starting Julia",
    "before the state",
)


@on_debian
def test_killed_anywhere_leaves_nothing_that_is_taken_for_whole(brought: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / _places.MARKER).touch()
    shutil.copytree(brought / "downloads", home / "downloads", copy_function=os.link)
    env = clean_environment(home)
    # The first start compiles; with the compiled files of the same Julia the later kills come sooner.
    for where in KILLS:
        command = [sys.executable, "-c", textwrap.dedent(KILLED), where, str(home)]
        ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        assert ran.returncode == -signal.SIGKILL, (where, ran.stdout + ran.stderr)
        assert list((home / "environments").rglob("state.json")) == []
        assert pybridge(home, "env").returncode == 1
        placed = home / "julia" / f"debian-{debian.JULIA_VERSION}"
        assert placed.exists() == (KILLS.index(where) > KILLS.index("amid run paths"))
    ran = pybridge(home, "setup", "--way", "debian", PIP_NO_INDEX="1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (home / "scratch").exists() and not (home / "downloads").exists()
    assert "export PYTHON_JULIAPKG_EXE=" in pybridge(home, "env").stdout
    check_removal(home)


def check_removal(home: Path) -> None:
    (home.parent / "other.txt").write_text("not pybridge's")
    ran = pybridge(home, "setup", "--remove")
    assert ran.returncode == 0 and f"removed {home}" in ran.stdout
    assert not home.exists() and (home.parent / "other.txt").exists()
    ran = pybridge(home, "setup", "--remove")
    assert ran.returncode == 0 and "nothing is set up" in ran.stdout


@on_debian
def test_killed_set_up_ends_its_programs_before_the_next_one_cleans(tmp_path: Path) -> None:
    # The lock goes to the programs that set-up has started: it is free when the last of them has ended.
    code = f"""
        import os, signal, threading
        from pathlib import Path
        from pybridge import _places, _run
        with _places.lock(Path({str(tmp_path / "home")!r})):
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
            _run.run(["sleep", "3"], what="sleep")
    """
    begin = time.monotonic()
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(code)]).returncode == -signal.SIGKILL
    waited = []
    with _places.lock(tmp_path / "home", lambda: waited.append(True)):
        assert time.monotonic() - begin > 3 and waited == [True]


# ---- other programs -----------------------------------------------------------------------------------------


def test_program_that_fails_is_quoted_and_one_that_is_silent_is_ended() -> None:
    with pytest.raises(CommandError, match=r"(?s)the thing failed.*status 3.*its reason"):
        run(["sh", "-c", "echo its reason >&2; exit 3"], what="the thing")
    with pytest.raises(CommandError, match="said nothing for 1 s"):
        run(["sleep", "60"], what="the thing", silence=1)
    with pytest.raises(CommandError, match="could not be started"):
        run(["/nonexistent/program"], what="the thing")
    assert run(["cat"], what="cat", stdin="text\n") == "text\n"
