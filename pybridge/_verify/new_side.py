"""Runs the new code, in a process of its own: `new_side FILE PIECES FOLDER [--within N]`.

FILE is the translated Python file, PIECES the cut (JSON), FOLDER takes the trace and has the tape of the old code's
random numbers. `--within N` also looks at the lines inside piece N, and stops behind it.
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import traceback
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from .tape import Replayed, Tape
from .trace import MOST_EVENTS, Writer
from .values import leaves

_HOOK = "__pybridge_line__"


def run(file: Path, cut: dict[str, Any], folder: Path, within: int | None) -> None:
    """Run the statements in order and write down what the names hold after the last one of each piece."""
    import mxnet as mx

    mx.random.seed(0)
    Replayed(Tape.load(folder)).replace()
    rows = {int(line): row for line, row in cut["rows"].items()}
    tree = ast.parse(cut["python"], str(file))
    last = {piece["python"][-1]: n for n, piece in enumerate(cut["pieces"]) if piece["python"]}
    if within is not None:
        tree = ast.fix_missing_locations(_Followed().visit(tree))
    module = ModuleType("__main__")
    module.__dict__.update(__file__=str(file), __builtins__=__builtins__)
    sys.modules["__main__"] = module  # dataclasses look their module up
    sys.path.insert(0, str(file.parent))
    names = module.__dict__
    before = set(names)
    writer = Writer(folder)
    lines, inside = 0, False

    def look(where: int, local: dict[str, Any]) -> None:
        found: list[tuple[str, str, Any]] = []
        for name, held in [*names.items(), *(local.items() if local is not names else ())]:
            if name not in before or (name in local and local is not names):
                leaves(lambda p, k, v: found.append((p, k, v)), name, held)
        writer.observe(where, list({path: (path, kind, v) for path, kind, v in found}.values()))

    def line(number: int, local: dict[str, Any]) -> None:
        nonlocal lines
        if inside and number in rows:
            lines += 1
            if lines <= MOST_EVENTS:
                look(-number, local)

    names[_HOOK] = line
    before.add(_HOOK)
    piece = 0
    for number, statement in enumerate(tree.body):
        piece = next((n for at, n in last.items() if at >= number), piece)
        inside = piece == within
        try:
            exec(_compiled(statement, str(file)), names)
            if number in last:
                look(last[number], names)
        except SystemExit:
            look(piece, names)
            break
        except BaseException as error:
            writer.stop(piece, _said(error), _line_of(error, str(file)))
            break
        if last.get(number, -1) == within:
            break


def _compiled(statement: ast.stmt, file: str) -> CodeType:
    return compile(ast.Module([statement], []), file, "exec", dont_inherit=True)


def _said(error: BaseException) -> str:
    return "".join(traceback.format_exception_only(type(error), error)).strip().split("\n", 1)[0]


def _line_of(error: BaseException, file: str) -> int:
    """The line of the file at top level where it was raised."""
    return next((f.lineno or 0 for f in traceback.extract_tb(error.__traceback__) if f.filename == file), 0)


class _Followed(ast.NodeTransformer):
    """Calls the hook after each line inside loops, branches and functions."""

    def visit_Lambda(self, node: ast.Lambda) -> ast.AST:
        return node

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(node, (ast.Module, ast.ClassDef)):
            return node
        for part in ("body", "orelse", "finalbody"):
            body = getattr(node, part, None)
            if isinstance(body, list):
                setattr(node, part, [made for statement in body for made in _with_hook(statement)])
        return node


def _with_hook(statement: Any) -> list[Any]:
    if not isinstance(statement, ast.stmt) or isinstance(
        statement, (ast.Return, ast.Break, ast.Continue, ast.Raise)
    ):
        return [statement]
    here = ast.Call(ast.Name("locals", ast.Load()), [], [])
    told = ast.Call(ast.Name(_HOOK, ast.Load()), [ast.Constant(statement.lineno), here], [])
    return [statement, ast.copy_location(ast.Expr(told), statement)]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split(":")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("pieces", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--within", type=int)
    return parser.parse_args()


if __name__ == "__main__":
    given = _arguments()
    run(given.file, json.loads(given.pieces.read_text(encoding="utf-8")), given.folder, given.within)
