"""Whole programs in the manner of MXNet.jl's tutorials: their Python, what it prints, and how much of them it is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from migrate_cases import PROGRAMS, same

from pybridge._migrate import Translated, translate

WHOLE = {
    "linear_regression": ["largest error of a weight below 0.01: True"],
    "two_layer_perceptron": ["losses fell: True", "accuracy: 1.0"],
    "custom_loss": ["the robust loss finds the line, the squared one does not", "-3.0  1.375  4.5"],
    "lstm": ["first losses are large: True", "last losses are small: True"],
    "pipeline": ["(4, 6) 1 1 2 2 3 3", "2.0 2.0 2.0", "hits: 6 of 6", "setosa      2"],
}


def turned(name: str, functions: str = "julia") -> Translated:
    file = PROGRAMS / f"{name}.jl"
    return translate(file.name, file.read_bytes(), functions=functions, julia_name=f"{name}_functions.jl")


@pytest.mark.parametrize("name", [*WHOLE, "refused"])
def test_the_python_is_the_one_that_stands_beside_the_program(name: str) -> None:
    made = turned(name)

    assert same(made.python, (PROGRAMS / f"{name}.py").read_text(encoding="utf-8"))
    kept = PROGRAMS / f"{name}_functions.jl"
    assert made.julia == (kept.read_text(encoding="utf-8") if kept.exists() else "")


@pytest.mark.parametrize("name", WHOLE)
def test_nine_of_ten_lines_become_python_and_nothing_is_left_to_do(name: str) -> None:
    made = turned(name)

    assert made.turned >= 0.9 * made.total
    assert made.turned + made.kept == made.total
    assert made.attention == []


def run(folder: Path, name: str) -> str:
    ran = subprocess.run(
        [sys.executable, f"{name}.py"], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("name", WHOLE)
def test_the_program_runs_and_finds_what_it_should(name: str, tmp_path: Path) -> None:
    made = turned(name)
    (tmp_path / f"{name}.py").write_text(made.python, encoding="utf-8")
    if made.julia:
        (tmp_path / f"{name}_functions.jl").write_text(made.julia, encoding="utf-8")

    heard = run(tmp_path, name).splitlines()

    assert [line for line in WHOLE[name] if line not in heard] == []


def test_the_custom_loss_also_runs_as_a_python_function(tmp_path: Path) -> None:
    made = turned("custom_loss", functions="python")
    (tmp_path / "custom_loss.py").write_text(made.python, encoding="utf-8")

    assert made.julia == ""
    assert "class Huber(mx.autograd.Function):" in made.python


def test_what_is_refused_is_named_with_its_line() -> None:
    made = turned("refused")

    refused = {note.row: note.why for note in made.notes if not note.turned}
    assert refused[6] == "a macro: write a function in its place"
    assert refused[13] == "the macro @generated"
    assert refused[19] == "eval runs code that is put together at run time"
    assert refused[21] == "a shell command: write it with subprocess"
    assert refused[26] == "a network that branches: write it as a gluon.HybridBlock"
    assert refused[29] == "η_sched of mx.SGD: a schedule is an mx.lr_scheduler in Python"
    assert {note.why for note in made.notes if note.kind == "package"} == {
        "no counterpart known for the package Distributions",
        "no counterpart known for the package Plots",
    }
    assert 'print(f"still here: {1 + 1}")' in made.python
