"""The wheel is whole and works away from the checkout; a build that cannot be says why."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from importlib.metadata import version
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent

pytestmark = pytest.mark.skipif(
    not (ROOT / "setup.py").is_file(), reason="these tests build the package: they need the checkout"
)


def run(
    *command: str | os.PathLike[str], timeout: float = 900, **kwargs: Any
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [os.fspath(word) for word in command],
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        **kwargs,
    )


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The checkout without anything built, so that nothing stale can reach the wheel."""
    copy = tmp_path_factory.mktemp("source") / "pybridge"
    built = (".*", "build", "dist", "site", "*.so", "*.egg-info", "__pycache__", "Manifest.toml")
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*built))
    shutil.copytree(ROOT / ".ci", copy / ".ci")
    return copy


@pytest.fixture(scope="module")
def wheel(source: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    built = run(sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", folder, ".", cwd=source)
    assert built.returncode == 0, built.stdout + built.stderr
    (result,) = folder.glob("*.whl")
    return result


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_one_wheel_serves_every_cpython_from_3_9_on(wheel: Path) -> None:
    name, number, python, abi, platform = wheel.stem.split("-")

    assert (name, python, abi) == ("mxnet_pybridge", "cp39", "abi3")
    assert number == version("mxnet-pybridge")
    assert platform.startswith(("linux_", "macosx_"))


def test_wheel_carries_the_trampoline_the_julia_package_and_the_examples(wheel: Path) -> None:
    carried = names(wheel)

    assert "pybridge/_trampoline.abi3.so" in carried
    assert "pybridge/py.typed" in carried
    expected = {
        "pybridge/_julia/Project.toml",
        *(
            f"pybridge/_julia/{file.relative_to(ROOT / 'julia')}"
            for file in (ROOT / "julia/src").rglob("*.jl")
        ),
        *(
            f"pybridge/_examples/{file.relative_to(ROOT / 'examples')}"
            for file in (ROOT / "examples").rglob("*.jl")
        ),
        *(str(file.relative_to(ROOT)) for file in (ROOT / "pybridge").rglob("*.py")),
        *(str(file.relative_to(ROOT)) for file in (ROOT / "pybridge/_old_julia").rglob("*.jl")),
        *(str(file.relative_to(ROOT)) for file in (ROOT / "pybridge/_old_julia").rglob("*.toml")),
    }
    assert "pybridge/_julia/src/PyBridge.jl" in expected
    assert expected - carried == set()


def test_wheel_carries_nothing_else(wheel: Path) -> None:
    strangers = {
        name
        for name in names(wheel)
        if not name.startswith("pybridge/")
        and not re.fullmatch(r"mxnet_pybridge-[^/]+\.dist-info/[\w./-]+", name)
    }

    assert strangers == set()


def test_source_archive_builds_the_same_wheel_and_holds_tests_and_docs(
    source: Path, wheel: Path, tmp_path: Path
) -> None:
    code = "import sys; from setuptools import build_meta; build_meta.build_sdist(sys.argv[1])"
    made = run(sys.executable, "-c", code, tmp_path, cwd=source)
    assert made.returncode == 0, made.stdout + made.stderr
    (archive,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(archive) as tar:
        inside = {name.partition("/")[2] for name in tar.getnames()}
        tar.extractall(tmp_path)

    for file in ("LICENSE", "README.md", "Makefile", ".ci/run", "mkdocs.yml", "requirements-dev.txt"):
        assert file in inside
    for folder in ("tests", "docs", "julia/src", "julia/test", "examples"):
        held = (
            file
            for file in (ROOT / folder).rglob("*")
            if file.is_file() and file.suffix in (".py", ".jl", ".md")
        )
        assert {str(file.relative_to(ROOT)) for file in held} - inside == set()

    unpacked = tmp_path / archive.name[: -len(".tar.gz")]
    built = run(
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--no-deps",
        "--no-build-isolation",
        "-w",
        tmp_path,
        ".",
        cwd=unpacked,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    (again,) = tmp_path.glob("*.whl")
    assert names(again) == names(wheel)


def test_wheel_works_in_a_clean_environment_outside_the_checkout(wheel: Path, tmp_path: Path) -> None:
    environment = tmp_path / "venv"
    venv.create(environment, with_pip=True)
    python = environment / "bin" / "python"
    # NumPy the newest that the metadata admits, as users get it; juliacall as it suits the Julia set up here.
    wanted = f"juliacall=={version('juliacall')}"
    installed = run(python, "-m", "pip", "install", "-q", f"{wheel}[demo]", wanted, cwd=tmp_path)
    assert installed.returncode == 0, installed.stdout + installed.stderr

    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    code = """
import pybridge as pb
import mxnet as mx
import numpy, pathlib
print(numpy.__version__)
print(pathlib.Path(pb.__file__).parent)
print(pathlib.Path(str(pb.jl.seval("using PyBridge; pathof(PyBridge)"))))
square = pb.function(pb.jl.seval("x -> (x .^ 2, d -> 2 .* x .* d)"), pullback=True)
x = mx.nd.array([1, 2, 3])
pb.attach_grad(x)
with pb.record():
    y = square(x)
y.backward()
print(y.asnumpy().tolist(), x.grad.asnumpy().tolist())
"""
    called = run(python, "-c", code, cwd=tmp_path, env=clean, timeout=300)
    assert called.returncode == 0, called.stdout + called.stderr
    numpy, package, julia, values = called.stdout.strip().splitlines()
    assert numpy.startswith("1.")
    assert int(numpy.split(".")[1]) >= 24
    assert environment in Path(package).parents
    assert environment in Path(julia).parents
    assert values == "[1.0, 4.0, 9.0] [2.0, 4.0, 6.0]"

    demonstrated = run(
        environment / "bin" / "pybridge",
        *("demo", "--epochs", "1", "--out", "demo.png"),
        cwd=tmp_path,
        env=clean,
        timeout=300,
    )
    assert demonstrated.returncode == 0, demonstrated.stdout + demonstrated.stderr
    assert (tmp_path / "demo.png").is_file()


def build_extension(source: Path, tmp_path: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return run(
        *(
            sys.executable,
            "setup.py",
            "build_ext",
            "--force",
            "--build-lib",
            tmp_path,
            "--build-temp",
            tmp_path,
        ),
        cwd=source,
        env={**os.environ, **env},
    )


def test_build_without_a_compiler_names_the_package_to_install(source: Path, tmp_path: Path) -> None:
    built = build_extension(source, tmp_path, CC="/nonexistent/cc")

    assert built.returncode == 1
    assert "no C compiler, '/nonexistent/cc' was not found" in built.stderr
    assert "sudo apt install build-essential python3-dev" in built.stderr
    assert "xcode-select --install" in built.stderr
    assert "Traceback" not in built.stderr


def test_compiler_that_fails_is_told_apart_from_one_that_is_missing(source: Path, tmp_path: Path) -> None:
    built = build_extension(source, tmp_path, CC="false")

    assert built.returncode == 1
    assert "the C compiler 'false' failed on the trampoline" in built.stderr
    assert "Traceback" not in built.stderr


@pytest.fixture
def build_steps(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """setup.py's names, without its call of setup()."""
    import setuptools

    monkeypatch.setattr(setuptools, "setup", lambda **kwargs: None)
    return runpy.run_path(str(ROOT / "setup.py"))


def test_windows_is_refused_with_the_way_out(build_steps: dict[str, Any]) -> None:
    from setuptools import Distribution

    command = build_steps["BuildTrampoline"](Distribution())
    command.run.__globals__["sys"] = SimpleNamespace(platform="win32")

    with pytest.raises(SystemExit, match=r"Windows is not supported(?s:.*)Subsystem for Linux"):
        command.run()


def test_missing_python_headers_are_named(build_steps: dict[str, Any]) -> None:
    from setuptools import Distribution

    command = build_steps["BuildTrampoline"](Distribution())
    command.compiler = SimpleNamespace(compiler_so=["true"])
    command.run.__globals__["sysconfig"] = SimpleNamespace(get_path=lambda name: "/nonexistent/include")

    with pytest.raises(SystemExit, match=r"Python's C headers are missing(?s:.*)python3-dev"):
        command.build_extensions()


def test_all_places_that_state_the_version_agree() -> None:
    stated = version("mxnet-pybridge")

    def find(pattern: str, file: str) -> str:
        found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"), re.MULTILINE)
        assert found, f"{file} states no version"
        return found.group(1)

    assert find(r'^version = "(.+)"', "pyproject.toml") == stated
    assert find(r'^version = "(.+)"', "julia/Project.toml") == stated
    assert find(r"^## \[(\d.+?)\]", "CHANGELOG.md") == stated
