"""The Python text: imports that the code needs, comments at their lines, formatted by ruff."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path
from typing import Any

_IMPORTS = {
    "np": "import numpy as np",
    "mx": "import mxnet as mx",
    "pb": "import pybridge as pb",
    "gluon": "from mxnet import gluon",
    "Path": "from pathlib import Path",
    "dataclass": "from dataclasses import dataclass",
    "field": "from dataclasses import field",
    "Any": "from typing import Any",
}
_MODULES = frozenset(
    [
        "math",
        "sys",
        "os",
        "logging",
        "time",
        "fractions",
        "functools",
        "itertools",
        "collections",
        "copy",
        "operator",
        "random",
        "re",
        "gc",
        "numbers",
        "pytest",
    ]
)
LINE_LENGTH = 100


class FormatError(Exception):
    """Ruff did not take the text, or is not there; the message says so."""


def render(lines: Sequence[Any]) -> str:
    """Lines at their depths, with the marks behind them."""
    made = []
    for line in lines:
        if not line.text:
            made.append("")
            continue
        text = "    " * line.depth + line.text
        if line.comment:
            text += f"  # {line.comment}"
        made.append(text)
    return "\n".join(made) + "\n"


def with_imports(body: str, tree: ast.Module, logs: bool) -> tuple[str, int, int]:
    """The text with its imports behind the comments and the docstring that it begins with.

    Also how many statements that are, and how many stand before them.
    """
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    bound = {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    used -= bound
    standard = [f"import {word}" for word in sorted(used & (_MODULES - {"pytest"}))]
    froms: dict[str, list[str]] = {}
    for word in ("Path", "dataclass", "field", "Any"):
        if word in used:
            module = _IMPORTS[word].split()[1]
            froms.setdefault(module, []).append(word)
    standard += [
        f"from {module} import {', '.join(sorted(words))}" for module, words in sorted(froms.items())
    ]
    others = [_IMPORTS["np"]] if "np" in used else []
    others += ["import pytest"] if "pytest" in used else []
    mxnet = bool(used & {"mx", "gluon"})
    if "pb" in used or mxnet:
        # pybridge first: it puts back the old names of NumPy's that MXNet asks for
        others.append(
            _IMPORTS["pb"] if "pb" in used else "import pybridge  # noqa: F401  (MXNet wants it first)"
        )
    others += [_IMPORTS[word] for word in ("mx", "gluon") if word in used]
    groups = ["\n".join(group) for group in (standard, others) if group]
    if logs:
        groups.append('logging.basicConfig(level=logging.INFO, format="%(message)s")')
    if not groups:
        return body, 0, 0
    lines = body.split("\n")
    place = _head(lines)
    head, rest = lines[:place], lines[place:]
    text = "\n".join([*head, *([""] if head else []), "\n\n".join(groups), "", *rest])
    return text, sum(group.count("\n") + 1 for group in groups), 1 if lines[:1] and '"""' in lines[0] else 0


def _head(lines: list[str]) -> int:
    """How many lines belong to the comments at the top: those that a blank line parts from the code."""
    place = 0
    if lines and lines[0].startswith(('"""', 'r"""')):
        while place < len(lines):
            place += 1
            if lines[place - 1].rstrip().endswith('"""') and (place > 1 or lines[0].count('"""') > 1):
                break
        return place
    while place < len(lines) and (lines[place].startswith("#") and "migrate:" not in lines[place]):
        place += 1
    return place


def _ruff() -> str:
    """The executable of ruff's wheel: beside the interpreter, or on the path."""
    name = "ruff" + (sysconfig.get_config_var("EXE") or "")
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (folder / name).is_file():
            return str(folder / name)
    for entry in os.get_exec_path():
        if (Path(entry) / name).is_file():
            return str(Path(entry) / name)
    raise FormatError(
        "ruff is not installed; it formats what is written: pip install 'mxnet-pybridge[migrate]'"
    )


def formatted(text: str) -> str:
    """The text as `ruff format` writes it, whatever settings lie around."""
    command = [
        _ruff(),
        "format",
        "--isolated",
        "--quiet",
        f"--line-length={LINE_LENGTH}",
        "--stdin-filename=x.py",
        "-",
    ]
    ran = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8", check=False)
    if ran.returncode != 0:
        raise FormatError(f"ruff did not take the translated text: {ran.stderr.strip()}")
    return ran.stdout


def rows(tree: ast.Module) -> list[int]:
    """The line of each statement, in order."""
    found: list[int] = []

    def visit(body: list[Any]) -> None:
        for node in body:
            if isinstance(node, ast.stmt):
                found.append(node.lineno)
            for name in ("body", "handlers", "orelse", "finalbody"):
                inner = getattr(node, name, None)
                if isinstance(inner, list):
                    visit(inner)

    visit(tree.body)
    return found
