"""Fixtures: the package, MXNet, a started Julia and its functions, fresh interpreters, a prefix that is set up."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Protocol

import prefixes
import pytest
from measures import load_layers

# A shell that starts the tests in the background lets them ignore Ctrl-C, and what they start inherits that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def pb() -> ModuleType:
    """pybridge with Julia running, started once on pytest's main thread."""
    import pybridge

    assert pybridge.jl.seval("1 + 1") == 2
    return pybridge


@pytest.fixture
def seval(pb: ModuleType) -> Any:
    """What evaluates a text in Julia."""
    return pb.jl.seval


@pytest.fixture(scope="session")
def mx() -> ModuleType:
    """MXNet, imported after pybridge so that any NumPy does."""
    import pybridge  # noqa: F401 - puts NumPy's old names back
    import mxnet  # isort: skip

    return mxnet


@pytest.fixture(scope="session")
def stand_ins(pb: ModuleType) -> Path:
    """The folder of small stand-ins for registered Julia packages, on Julia's load path."""
    folder = Path(__file__).resolve().parent / "packages"
    pb.jl.seval("folder -> folder in LOAD_PATH || pushfirst!(LOAD_PATH, folder)")(str(folder))
    return folder


@pytest.fixture
def layers(pb: ModuleType) -> Any:
    return load_layers(pb)


@pytest.fixture
def functions(pb: ModuleType, layers: Any) -> SimpleNamespace:
    """Some Julia functions, made on the owner."""
    return SimpleNamespace(
        **{name: pb.function(f"TestLayers.{name}") for name in ("Square", "Sigmoid", "Fails", "Training")}
    )


@pytest.fixture(params=["nd", "np"])
def front(request: pytest.FixtureRequest, mx: ModuleType) -> Iterator[Any]:
    """mx.nd, and mx.np with its shape semantics."""
    if request.param == "nd":
        yield mx.nd
    else:
        with mx.util.np_shape(True), mx.util.np_array(True):
            yield mx.np


@pytest.fixture
def clean_flags(mx: ModuleType) -> Iterator[None]:
    """The test begins, and must end, outside of recording and training."""
    mx.autograd.set_recording(False)
    mx.autograd.set_training(False)
    yield
    left = mx.autograd.set_recording(False), mx.autograd.set_training(False)
    assert left == (False, False)


class RunPython(Protocol):
    def __call__(
        self, code: str, *, env: Mapping[str, str | None] | None = ..., timeout: float = ...
    ) -> subprocess.CompletedProcess[str]: ...


@pytest.fixture
def run_python(tmp_path: os.PathLike[str]) -> RunPython:
    """Run a snippet in a fresh interpreter, outside the checkout: its exit status, stdout and stderr.

    A value of None in ``env`` unsets the variable. On a time-out the whole process group is killed and the
    test fails with what was printed so far.
    """

    def run(
        code: str, *, env: Mapping[str, str | None] | None = None, timeout: float = 120
    ) -> subprocess.CompletedProcess[str]:
        merged = {**os.environ, **(env or {})}
        process = subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(code)],
            cwd=tmp_path,
            env={name: value for name, value in merged.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            # Its children too: they hold the pipes, and communicate would wait for them.
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            pytest.fail(f"no end after {timeout} s\nstdout:\n{out}\nstderr:\n{err}")
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    return run


@pytest.fixture
def own_settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in prefixes.SETTINGS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.fixture(scope="session")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A prefix that set-up has filled from nothing, as a user without a home of much worth."""
    base = tmp_path_factory.mktemp("brought")
    (base / "user").mkdir()
    # pip asks rustc for its version; rustup's would begin a folder of its own in this home.
    elsewhere = {"HOME": str(base / "user"), "RUSTUP_HOME": str(base / "rustup"), "XDG_CACHE_HOME": ""}
    home = base / "home"
    try:
        ran = prefixes.pybridge(home, "setup", "--way", "debian", "--keep-downloads", **elsewhere)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        (base / "said.txt").write_text(ran.stdout)
        yield home
    finally:  # 300 MB a prefix: pytest keeps its last three base folders
        shutil.rmtree(home, ignore_errors=True)
