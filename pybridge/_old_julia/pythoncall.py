"""PythonCall 0.9.25 out of juliacall's source archive: the newest that runs on Julia 1.5 (README.md)."""

from __future__ import annotations

import importlib.machinery
import os
import shutil
import sys
import tarfile
from pathlib import Path

from .._places import sha256
from .._run import CommandError, SetupError, run
from .._steps import Step

VERSION = "0.9.25"
ARCHIVE = f"juliacall-{VERSION}.tar.gz"
SHA256 = "4ca736c6a7939a41b68d59e5130a20e696e2c016688fc53c96f6329de3abcf96"
# The archive's parts that are used: Julia's side, Python's side, and whose work it is.
PARTS = ("Project.toml", "LICENSE", "CondaPkg.toml", "src/", "pysrc/")


def fetch(scratch: Path, downloads: Path, step: Step) -> Path:
    """The source archive, by way of pip and its settings; one that is already here is taken again."""
    archive = downloads / ARCHIVE
    if archive.is_file() and sha256(archive) == SHA256:
        step.result = "already here"
        return archive
    into = scratch / "pip"
    into.mkdir()
    wanted = into / "requirements.txt"
    wanted.write_text(f"juliacall=={VERSION} --hash=sha256:{SHA256}\n")
    command: list[str | Path] = [
        sys.executable, "-m", "pip", "download", "--disable-pip-version-check", "--no-input", "--no-cache-dir",
        "--no-deps", "--no-binary", "juliacall", "--require-hashes", "--requirement", wanted, "--dest", into,
    ]  # fmt: skip
    run(
        command,
        what="pip download",
        env={**_with_pip(), "TMPDIR": str(into)},
        cwd=scratch,
        silence=300,
        seen=step.note,
    )
    fetched = into / ARCHIVE
    if not fetched.is_file() or sha256(fetched) != SHA256:
        raise SetupError(f"pip brought no {ARCHIVE} with the SHA-256 {SHA256}")
    downloads.mkdir(parents=True, exist_ok=True)
    fetched.replace(archive)
    return archive


def _with_pip() -> dict[str, str]:
    """An environment in which ``python -m pip`` works: some virtual environments have none of their own."""
    env = dict(os.environ)
    # Not importlib.util.find_spec: setuptools listens there, and takes asking for pip for a start of pip.
    if importlib.machinery.PathFinder.find_spec("pip") is None:
        try:
            import ensurepip

            wheels = sorted((Path(ensurepip.__file__).parent / "_bundled").glob("pip-*.whl"))
            wheels += sorted(Path("/usr/share/python-wheels").glob("pip-*.whl"))
        except ImportError:
            wheels = []
        if not wheels:
            raise SetupError("this Python environment has no pip. Install it: python -m ensurepip")
        env["PYTHONPATH"] = os.pathsep.join([str(wheels[-1]), *filter(None, [env.get("PYTHONPATH")])])
    return env


def unpack(archive: Path, into: Path) -> None:
    """Unpack the used parts of a verified archive as ``into/PythonCall``."""
    top = archive.name[: -len(".tar.gz")]
    folder = into / "PythonCall"
    with tarfile.open(archive, "r:gz") as tar:
        for member in tar:
            name = member.name[len(top) + 1 :]
            if not member.isfile() or not name.startswith(PARTS):
                continue
            target = (folder / name).resolve()
            if folder.resolve() not in target.parents:
                raise SetupError(f"{archive.name} holds a file outside its folder: {member.name}")
            content = tar.extractfile(member)
            assert content is not None
            target.parent.mkdir(parents=True, exist_ok=True)
            with content, target.open("wb") as file:
                shutil.copyfileobj(content, file)
    if not (folder / "src" / "PythonCall.jl").is_file() or not (folder / "pysrc" / "juliacall").is_dir():
        raise CommandError(f"{archive.name} does not hold PythonCall", "")
