"""`pybridge migrate`: what it writes and where, its options, its report, and its exit status."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pybridge._migrate import atomic
from pybridge.cli import app

MAIN = """using MXNet
include("lib/tools.jl")
x = mx.zeros(2, 3)
println(twice(4), " ", size(x))
"""
TOOLS = "twice(x) = 2x\n"
UNSURE = "f(x, w) = w * x\n"
CUSTOM = """using MXNet
struct Double
end
mx.forward(f::Double, x) = 2 .* x
mx.backward!(f::Double, Δ) = 2 .* Δ
double = Double()
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src" / "lib").mkdir(parents=True)
    (tmp_path / "src" / "main.jl").write_text(MAIN)
    (tmp_path / "src" / "lib" / "tools.jl").write_text(TOOLS)
    return tmp_path


def run(*args: str, text: str | None = None) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["migrate", *args], input=text)
    return result.exit_code, result.stdout, result.stderr


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_a_folder_keeps_its_tree_and_includes_become_imports(source: Path) -> None:
    status, out, _ = run("src", "--out", "py")

    assert status == 0, out
    assert files(source / "py") == ["lib/tools.py", "main.py"]
    text = (source / "py" / "main.py").read_text()
    assert "from lib.tools import twice\n" in text
    assert "x = mx.nd.zeros((3, 2))\n" in text
    assert "5 of 5 lines turned (100 %)" in out


def test_a_file_becomes_a_file_of_its_name(source: Path) -> None:
    assert run("src/lib/tools.jl", "--out", "py")[0] == 0

    assert (source / "py" / "tools.py").read_text() == "def twice(x):\n    return 2 * x\n"


def test_files_that_are_there_are_kept_without_force(source: Path) -> None:
    (source / "py").mkdir()
    (source / "py" / "main.py").write_text("mine")

    status, _, err = run("src", "--out", "py")

    assert status == 2
    assert "would overwrite" in err and "main.py" in err and "--force" in err
    assert files(source / "py") == ["main.py"]
    assert (source / "py" / "main.py").read_text() == "mine"
    assert run("src", "--out", "py", "--force")[0] == 0
    assert (source / "py" / "main.py").read_text() != "mine"


def test_check_and_diff_write_nothing(source: Path) -> None:
    assert run("src", "--check")[0] == 0
    status, out, _ = run("src", "--out", "py", "--diff")

    assert status == 0
    assert "+++ py/main.py" in out and "+x = mx.nd.zeros((3, 2))" in out
    assert not (source / "py").exists()


def test_diff_shows_what_would_change_in_files_that_are_there(source: Path) -> None:
    run("src", "--out", "py")
    (source / "src" / "lib" / "tools.jl").write_text("twice(x) = 3x\n")

    _, out, _ = run("src", "--out", "py", "--diff")

    assert "-    return 2 * x\n+    return 3 * x" in out
    assert "main.py" not in out


def test_strict_says_whether_a_person_is_needed(source: Path) -> None:
    (source / "unsure.jl").write_text(UNSURE)

    assert run("src", "--check", "--strict")[0] == 0
    assert run("unsure.jl", "--check")[0] == 0
    assert run("unsure.jl", "--check", "--strict")[0] == 1


def test_standard_input_gives_python_and_the_report_beside_it(source: Path) -> None:
    status, out, err = run("--stdin", text=UNSURE)

    assert status == 0
    assert out == "def f(x, w):\n    return w * x  # migrate: check axis (* of two matrices is x @ w)\n"
    assert "1 places need a person" in err


def test_standard_input_holds_its_julia_functions_itself(source: Path) -> None:
    _, out, _ = run("--stdin", text=CUSTOM)

    assert 'pb.jl.seval("""\nmodule StdinFunctions\n' in out
    assert 'Double = pb.function("StdinFunctions.Double")' in out


def test_functions_kept_in_julia_lie_beside_the_python(source: Path) -> None:
    (source / "custom.jl").write_text(CUSTOM)

    assert run("custom.jl", "--out", "py")[0] == 0

    assert files(source / "py") == ["custom.py", "custom_functions.jl"]
    assert (
        'pb.include(Path(__file__).with_name("custom_functions.jl"))'
        in (source / "py" / "custom.py").read_text()
    )
    assert "struct Double <: CustomFunction" in (source / "py" / "custom_functions.jl").read_text()


def test_the_output_may_lie_with_the_source_and_never_replaces_it(source: Path) -> None:
    (source / "custom.jl").write_text(CUSTOM)

    assert run("custom.jl", "--out", ".")[0] == 0

    assert (source / "custom.jl").read_text() == CUSTOM


def test_the_report_is_json_when_asked(source: Path) -> None:
    (source / "src" / "unsure.jl").write_text(UNSURE)

    _, out, _ = run("src", "--check", "--json")
    report = json.loads(out)

    assert report["lines"] == report["turned"] == 6
    assert report["names"] == [{"name": "zeros", "target": "mx.nd.zeros", "count": 1}]
    (note,) = [note for file in report["files"] for note in file["attention"]]
    assert (note["kind"], note["row"], note["col"]) == ("axis", 1, 11)
    assert note["python_row"] == 2


def test_the_page_shows_both_sides(source: Path) -> None:
    (source / "src" / "unsure.jl").write_text(UNSURE + '# <b>"&"</b>\n')

    run("src", "--check", "--html", "report.html")
    page = (source / "report.html").read_text()

    assert "w * x" in page and "return w * x" in page
    assert "class='look'" in page
    assert "&lt;b&gt;&quot;&amp;&quot;&lt;/b&gt;" in page and '<b>"&"</b>' not in page


def test_broken_files_are_named_with_line_and_column_and_the_others_are_turned(source: Path) -> None:
    (source / "src" / "bad.jl").write_text("x = 1\ny = (2\n")

    status, _, err = run("src", "--out", "py")

    assert status == 2
    assert "bad.jl:2:" in err and "syntax error" in err
    assert files(source / "py") == ["lib/tools.py", "main.py"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "name the files"),
        (("src",), "--out"),
        (("gone.jl", "--out", "py"), "gone.jl does not exist"),
        (("src/lib", "--out", "py", "--functions", "rust"), "--functions"),
        (("--stdin", "src"), "--stdin takes no files"),
        (("empty", "--out", "py"), "holds no .jl files"),
        (("note.txt", "--out", "py"), "is no .jl file"),
        (("twins", "--out", "py"), "would both become"),
    ],
)
def test_what_cannot_begin_says_why(source: Path, args: tuple[str, ...], said: str) -> None:
    (source / "empty").mkdir()
    (source / "note.txt").write_text("x")
    (source / "twins").mkdir()
    for name in ("a-b.jl", "a_b.jl"):
        (source / "twins" / name).write_text("x = 1\n")

    status, _, err = run(*args)

    assert status == 2
    assert said in " ".join(err.split())
    assert not (source / "py").exists()


def test_a_write_that_fails_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("old")
    (tmp_path / "file").write_text("no folder")

    with pytest.raises(OSError):
        atomic.write({tmp_path / "there": "new", tmp_path / "file" / "below": "x"})

    assert files(tmp_path) == ["file", "there"]
    assert (tmp_path / "there").read_text() == "old"


def test_a_written_file_has_the_mode_of_any_new_file_or_of_the_one_it_replaces(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        atomic.write({tmp_path / "new": "x"})
    finally:
        os.umask(before)
    (tmp_path / "run").write_text("x")
    (tmp_path / "run").chmod(0o755)
    atomic.write({tmp_path / "run": "y"})

    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o644
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o755


def test_a_file_that_would_hide_a_module_of_python_is_pointed_out(source: Path) -> None:
    (source / "random.jl").write_text("x = 1\n")
    (source / "src" / "lib" / "random.jl").write_text("x = 1\n")

    _, out, _ = run("random.jl", "--check")
    assert "random.py takes the place of Python's own module random" in " ".join(out.replace("│", "").split())
    _, inner, _ = run("src", "--check")
    assert "Python's own" not in inner
