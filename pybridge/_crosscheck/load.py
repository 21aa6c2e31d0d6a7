"""Functions out of files: `FILE:NAME`, in Python and in Julia.

Files of different folders may have the same names, and so may what stands beside them: each folder keeps the modules
that were imported from it, and has them in `sys.modules` (and the folder on `sys.path`) only while its functions run.
Each Julia file is run once, in a module of its own.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from .. import julia
from ..functions import JuliaFunction
from .sides import julia_function

_number = itertools.count(1)
_beside: dict[Path, dict[str, ModuleType]] = {}  # by folder: the modules that were imported from it
_julia_files: dict[tuple[Path, int], Any] = {}  # by path and time of change: the module that it was run in


class CheckError(Exception):
    """What was asked for cannot be run; the text says why."""


def parted(target: str) -> tuple[str, str]:
    """The file and the name in FILE:NAME."""
    path, colon, name = target.rpartition(":")
    if not colon or not path or not name:
        raise CheckError(f"{target!r} is no FILE:NAME, as in model.py:swish")
    return path, name


@contextmanager
def folder_of(target: str | None) -> Iterator[None]:
    """Within, Python files find what stands beside the target's, as when that is run."""
    if target is None:
        yield
        return
    folder = Path(parted(target)[0]).resolve().parent
    before = dict(sys.modules)
    sys.modules.update(_beside.get(folder, {}))
    sys.path.insert(0, str(folder))
    try:
        yield
    finally:
        if str(folder) in sys.path:
            sys.path.remove(str(folder))
        for name, module in list(sys.modules.items()):
            if before.get(name) is not module and _stands_in(module, folder):
                _beside.setdefault(folder, {})[name] = sys.modules.pop(name)
                if name in before:
                    sys.modules[name] = before[name]


def _stands_in(module: Any, folder: Path) -> bool:
    file = getattr(module, "__file__", None)
    return isinstance(file, str) and folder in Path(file).resolve().parents


def python_function(target: str) -> Any:
    """The Python object of that name, from a file that is run for it."""
    path, name = parted(target)
    file = Path(path).resolve()
    if not file.is_file():
        raise CheckError(f"{path} does not exist")
    unique = f"_pybridge_check_{next(_number)}_{file.stem}"
    spec = importlib.util.spec_from_file_location(unique, file)
    if spec is None or spec.loader is None:
        raise CheckError(f"{path} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[unique] = module  # before it runs: dataclasses and pickles look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[unique]
        raise
    if not hasattr(module, name):
        raise CheckError(f"{path} defines no {name}")
    return getattr(module, name)


def julia_function_of(target: str, layout: str, keywords: Mapping[str, Any]) -> JuliaFunction:
    """The Julia function of that (dotted) name, from a file."""
    path, name = parted(target)
    file = Path(path).resolve()
    if not file.is_file():
        raise CheckError(f"{path} does not exist")
    key = (file, file.stat().st_mtime_ns)
    if key not in _julia_files:
        main = julia.start()
        own = main.seval(f"module PyBridgeCheck{next(_number)} end")
        main.Base.include(own, str(file))
        _julia_files[key] = own
    value = _julia_files[key]
    for part in name.split("."):
        value = getattr(value, part)
    made = julia_function(value, layout, **keywords)
    made.name = name
    return made
