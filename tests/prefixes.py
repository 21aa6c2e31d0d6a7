"""What the tests of set-up share: a clean environment, the command line on a prefix of its own, a Julia in name."""

from __future__ import annotations

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from pybridge._old_julia import debian
from pybridge._steps import Steps

on_debian = pytest.mark.skipif(
    not debian.is_debian() or bool(debian.missing_tools()) or not debian.sources(),
    reason="needs a Debian with a mirror in its apt sources",
)
SETTINGS = ("PYBRIDGE_JULIA", "PYTHON_JULIAPKG_EXE", "PYTHON_JULIAPKG_PROJECT", "PYTHON_JULIAPKG_OFFLINE")
SETTINGS += ("JULIA_LOAD_PATH", "JULIA_DEPOT_PATH", "JULIA_PKG_SERVER")


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return {**kept, "PYBRIDGE_HOME": str(home), **more}


def pybridge(home: Path, *words: str, timeout: float = 300, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m pybridge`` with ``home`` as its prefix."""
    command = [sys.executable, "-m", "pybridge", *words]
    env = clean_environment(home, **more)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout, cwd=home.parent)


def quiet() -> Steps:
    return Steps(Console(file=StringIO()))


def fake_julia(folder: Path, version: str) -> Path:
    julia = folder / "julia"
    julia.write_text(f"#!/bin/sh\necho julia version {version}\n")
    julia.chmod(0o755)
    return julia
