"""Runs the old code, in a process of its own: `old_side FILE PIECES FOLDER [--shaken] [--within N]`.

FILE is the Julia file, PIECES its cut (JSON), FOLDER takes the trace and the tape. `--shaken` changes the last digits
of every number that a piece has made, so that a second trace tells how much such changes matter; `--within N` also
looks at the lines inside piece N, and stops behind it. `--only-compile` runs nothing; Julia finds all compiled later.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .. import _script, julia
from .tape import Tape
from .trace import MOST_EVENTS, FullError, Writer
from .values import nd_leaves

#: A change of the last digit, with either sign.
_SIGNS = np.random.RandomState(0)


def run(file: Path, cut: dict[str, Any], folder: Path, shaken: bool, within: int | None) -> None:
    """Run the pieces in order and write down what they made."""
    main = _script.prepare(file, [])
    main.seval("depot -> pushfirst!(DEPOT_PATH, String(depot))")(str(folder / "depot"))
    julia.include(_script.packages().parent / "src" / "verify.jl")
    old = main.PyBridgeVerify
    old.replace_random(cut["taken"])
    old.seed()
    old.start()
    writer = Writer(folder)
    found: dict[str, tuple[str, Any]] = {}
    originals: dict[str, Any] = {}  # what was found, still in Julia

    def emit(path: Any, kind: Any, value: Any) -> None:
        path, kind = str(path), str(kind)
        if kind == "NDArray":
            nd_leaves(lambda p, k, v: found.__setitem__(p, (k, v)), path, value)
            originals[path] = value
        elif kind in ("array", "list", "number"):
            originals[path] = value
            found[path] = (kind, np.array(value).T)
        else:
            found[path] = (kind, str(value) if kind == "whole" else None)

    def look(where: int, names: Any) -> list[str]:
        found.clear()
        originals.clear()
        old.everything(emit, names)
        return writer.observe(where, [(path, kind, value) for path, (kind, value) in found.items()])

    lines = number = 0
    running = True

    def line(row: int, names: Any) -> None:
        nonlocal lines
        lines += 1
        if lines <= MOST_EVENTS:
            look(-int(row), names)

    def save() -> None:
        Tape(np.array(old.tape_kinds), np.array(old.tape_values)).save(folder)
        if running:  # the script ends its process, within this piece
            look(number, ())

    main.seval("f -> atexit(() -> f())")(save)  # for a script that ends its process
    for number, piece in enumerate(cut["pieces"]):
        text = piece["followed"] if within is not None else piece["julia"]
        old.at_lines[()] = line if number == within else None
        try:
            old.piece(text, piece["row"], str(file))
        except julia.JuliaError as error:
            writer.stop(number, str(error).strip().split("\n", 1)[0])
            break
        try:
            changed = look(number, ())
            if shaken:
                for path in changed:
                    _shake(old, path, originals.get(path))
                look(number, ())
        except FullError as error:
            writer.stop(number, str(error))
            break
        if number == within:
            break
    running = False
    old.at_lines[()] = None
    save()


def _shake(old: Any, path: str, x: Any) -> None:
    """Change the last digits of floating-point numbers in place. Whole numbers stay: they were not rounded."""
    if x is None:
        return
    if hasattr(x, "asnumpy"):
        values = x.asnumpy()
        if values.dtype.kind == "f":
            x[:] = _changed(values)
        return
    values = np.asarray(x)
    if values.dtype.kind != "f":
        return
    if values.ndim:
        values[...] = _changed(values)
    elif "\n" not in path:
        old.replace(path, float(_changed(values)))


def _changed(values: Any) -> Any:
    signs = _SIGNS.choice([-1.0, 1.0], values.shape).astype(values.dtype)
    with np.errstate(all="ignore"):
        changed = values * (1 + np.finfo(values.dtype).eps * signs)
    return np.where(values == np.rint(values), values, changed)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("pieces", type=Path, nargs="?")
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("--only-compile", action="store_true")
    parser.add_argument("--shaken", action="store_true")
    parser.add_argument("--within", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    if given.only_compile:
        _script.prepare(Path("-"), []).seval("import MXNet")
        sys.exit()
    cut = json.loads(given.pieces.read_text(encoding="utf-8"))
    run(given.file, cut, given.folder, given.shaken, given.within)
