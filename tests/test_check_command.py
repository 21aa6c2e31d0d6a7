"""`pybridge check`: pairs of functions from files, one report or a table of many, and the exit status."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from pybridge.cli import app

MODEL = """
import mxnet as mx

def swish(x):
    return x * mx.nd.sigmoid(x)

def affine(x, w, b):
    return mx.nd.dot(x, w) + b
"""
LAYERS = """
module CommandLayers
σ(x) = 1 / (1 + exp(-x))
swish(x) = (x .* σ.(x), Δ -> Δ .* (σ.(x) .+ x .* σ.(x) .* (1 .- σ.(x))))
forgot(x) = (x .* σ.(x), Δ -> Δ .* σ.(x))
affine(x, w, b) = (w * x .+ b, Δ -> (w' * Δ, Δ * x', vec(sum(Δ, dims=2))))
end
"""
PAIRS = """
[[pair]]
python = "model.py:swish"
julia = "layers.jl:CommandLayers.swish"
inputs = ["6x5"]

[[pair]]
name = "affine"
python = "model.py:affine"
julia = "layers.jl:CommandLayers.affine"
inputs = ["4x3", "3x2", "2"]
low = -1.0
"""
WRONG = """
[[pair]]
name = "forgot"
python = "model.py:swish"
julia = "layers.jl:CommandLayers.forgot"
inputs = ["5"]
"""
GONE = """
[[pair]]
name = "gone"
python = "model.py:nothing"
inputs = ["5"]
"""


@pytest.fixture
def files(pb: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "layers.jl").write_text(LAYERS)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "150")
    return tmp_path


def check(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["check", *arguments])
    return done.exit_code, done.output


def test_two_functions_that_agree(files):
    status, said = check(
        "model.py:swish", "layers.jl:CommandLayers.swish", "--input", "6x5", "--html", "r.html"
    )
    assert status == 0, said
    assert "agree: swish (Python) and CommandLayers.swish (Julia)" in said
    assert (files / "r.html").is_file()


def test_two_functions_that_do_not(files):
    status, said = check(
        "model.py:swish", "layers.jl:CommandLayers.forgot", "--input", "4", "--plot", "r.png"
    )
    assert status == 1, said
    assert "Julia wrong" in said and (files / "r.png").is_file()


def test_one_function_alone(files):
    assert check("-", "layers.jl:CommandLayers.swish", "--input", "4")[0] == 0
    assert check("model.py:swish", "-", "--input", "4")[0] == 0


def test_an_input_may_have_no_dimensions(files):
    (files / "model.py").write_text("def square(x):\n    return x * x if x.shape == () else None\n")
    (files / "layers.jl").write_text("square(x) = (x .^ 2, Δ -> 2 .* Δ .* x)")
    status, said = check("model.py:square", "layers.jl:square", "--input", "")
    assert status == 0, said


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a Python function, a Julia function, or both"),
        (("model.py:swish", "layers.jl:CommandLayers.swish"), "no input: name the shape"),
        (("model.py:swish", "gone.jl:f", "--input", "3"), "gone.jl does not exist"),
        (("model.py:nothing", "-", "--input", "3"), "model.py defines no nothing"),
        (("model", "-", "--input", "3"), "'model' is no FILE:NAME"),
        (("model.py:swish", "-", "--input", "3 by 4"), "'3 by 4' is no shape"),
        (("model.py:swish", "layers.jl:CommandLayers.absent", "--input", "3"), "absent not defined"),
    ],
)
def test_what_cannot_be_run_ends_with_2_and_says_why(files, arguments, message):
    status, said = check(*arguments)
    assert status == 2 and message in said


def test_a_file_of_pairs_gives_one_table_and_a_page_each(files):
    (files / "pairs.toml").write_text(PAIRS)
    status, said = check("--all", "pairs.toml", "--html", "pages")
    assert status == 0, said
    assert said.count("agree") == 2
    assert (files / "pages" / "affine.html").is_file()
    (files / "pairs.toml").write_text((PAIRS + PAIRS).replace('name = "affine"', 'name = "../../aff/ine"'))
    assert check("--all", "pairs.toml", "--html", "safe/pages")[0] == 0
    assert sorted(page.name for page in (files / "safe" / "pages").iterdir()) == [
        "aff-ine-2.html", "aff-ine.html", "layers.jl-CommandLayers.swish-2.html", "layers.jl-CommandLayers.swish.html",
    ]  # fmt: skip
    (files / "pairs.toml").write_text(PAIRS + WRONG)
    status, said = check("--all", "pairs.toml")
    assert status == 1 and "Julia wrong" in said
    (files / "pairs.toml").write_text(WRONG + GONE + PAIRS)
    status, said = check("--all", "pairs.toml")
    assert status == 2 and "defines no nothing" in said and said.count("agree") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no [[pair]] tables"),
        ("[[pair]]\ninputs = ['3']", "pair 1: neither python nor julia is named"),
        ("[[pair]]\njulia = 'a.jl:f'\nshapes = ['3']", "pair 1: unknown keys shapes"),
        ("[[pair", "pybridge check: "),
        ("[[pair]]\njulia = 'a.jl:f'\ninputs = '3'", "pair 1: inputs is '3'; expected a list of strings"),
        ("[[pair]]\njulia = 'a.jl:f'\nlow = 'a'", "pair 1: low is 'a'; expected a number"),
        ("[[pair]]\njulia = 'a.jl:f'\nseed = true", "pair 1: seed is True; expected a whole number"),
        ("pair = 3", "has no [[pair]] tables"),
    ],
)
def test_a_file_of_pairs_that_cannot_be_read_is_refused(files, text, message):
    (files / "pairs.toml").write_text(text)
    status, said = check("--all", "pairs.toml")
    assert status == 2 and message in said


def test_what_exits_is_not_taken_for_agreement(files):
    (files / "quits.py").write_text("import sys\n\ndef f(x):\n    sys.exit(0)\n")
    (files / "quits_at_once.py").write_text("import sys\nsys.exit(0)\n")
    for name, said_of in (("quits.py", "quits.py:f: exited"), ("quits_at_once.py", "the file exited")):
        status, said = check(f"{name}:f", "-", "--input", "3")
        assert status == 2 and said_of in said and "status 0" in said
    (files / "pairs.toml").write_text('[[pair]]\npython = "quits.py:f"\ninputs = ["3"]\n' + PAIRS)
    status, said = check("--all", "pairs.toml")
    assert status == 2 and said.count("agree") == 2


def test_an_error_names_the_side_and_the_file(files):
    (files / "broken.jl").write_text("f(x) = g(\n")
    (files / "broken.py").write_text("def f(x):\n    return x +\n")
    status, said = check("model.py:swish", "broken.jl:f", "--input", "3")
    assert status == 2 and "Julia, broken.jl:f: " in said
    status, said = check("broken.py:f", "-", "--input", "3")
    assert status == 2 and "Python, broken.py:f: SyntaxError" in said
    status, said = check("model.py:affine", "-", "--input", "3")
    assert status == 2 and "model.py:affine: TypeError" in said


def test_a_report_that_cannot_be_written_ends_with_2(files):
    (files / "file").write_text("")
    for option in ("--html", "--plot"):
        status, said = check("model.py:swish", "-", "--input", "3", option, "file/r.html")
        assert status == 2 and "could not be written to file/r.html" in said and "Traceback" not in said
    (files / "pairs.toml").write_text(PAIRS)
    status, said = check("--all", "pairs.toml", "--html", "file")
    assert status == 2 and "could not be written" in said.replace("\n", " ")


def test_names_that_look_like_markup_are_shown_as_they_are(files):
    (files / "pairs.toml").write_text(PAIRS.replace('"affine"', '"[bold]a[/x]"'))
    status, said = check("--all", "pairs.toml")
    assert status == 0 and "[bold]a[/x]" in said


def test_files_of_the_same_name_in_two_folders_are_not_mixed_up(files):
    for folder, factor in (("one", 2), ("two", 3)):
        (files / folder).mkdir()
        (files / folder / "beside.py").write_text(f"FACTOR = {factor}\n")
        (files / folder / "late.py").write_text(f"FACTOR = {factor}\n")
        (files / folder / "model.py").write_text(
            "from beside import FACTOR\n\ndef f(x):\n    import late\n    assert late.FACTOR == FACTOR\n"
            "    return FACTOR * x\n"
        )
        (files / folder / "layers.jl").write_text(
            f"module Same\nf(x) = ({factor} .* x, Δ -> {factor} .* Δ)\nend\n"
        )
    pair = '[[pair]]\npython = "{0}/model.py:f"\njulia = "{0}/layers.jl:Same.f"\ninputs = ["3"]\n'
    (files / "pairs.toml").write_text("".join(pair.format(name) for name in ("one", "two", "one")))
    status, said = check("--all", "pairs.toml")
    assert status == 0 and said.count("agree") == 3, said


def test_a_module_is_known_by_name_while_its_file_runs(files):
    (files / "typed.py").write_text(
        "from __future__ import annotations\nimport dataclasses\n\n@dataclasses.dataclass\nclass Scale:\n"
        "    by: float = 2.0\n\ndef f(x):\n    return Scale().by * x\n"
    )
    assert check("typed.py:f", "-", "--input", "3")[0] == 0


def test_keywords_reach_the_julia_function(files):
    (files / "scale.jl").write_text("scaled(x; factor = 2) = (factor .* x, Δ -> factor .* Δ)\n")
    (files / "scale.py").write_text("def tripled(x):\n    return 3 * x\n")
    both = ("scale.py:tripled", "scale.jl:scaled", "--input", "3")
    assert check(*both)[0] == 1
    assert check(*both, "--keyword", "factor=3")[0] == 0
    status, said = check(*both, "--keyword", "factor")
    assert status == 2 and "'factor' is no NAME=VALUE" in said


def test_all_takes_nothing_besides_its_file(files):
    (files / "pairs.toml").write_text(PAIRS)
    status, said = check("--all", "pairs.toml", "model.py:swish", "--seed", "3")
    assert status == 2 and "--all takes everything from its file; leave out python, seed" in said
