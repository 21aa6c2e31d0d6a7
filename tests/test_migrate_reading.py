"""Reading Julia: broken and hostile files get an error with line and column, and nothing of them ever runs."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from migrate_cases import PROGRAMS

from pybridge._migrate import translate
from pybridge._migrate.source import SourceError


@pytest.mark.parametrize(
    ("data", "row", "col", "why"),
    [
        (b"x = 1\ny = (1 + \n", 2, None, "syntax error"),
        (b"x = 1\nfunction f(x)\n  x\n", None, None, "syntax error"),
        ("α = 1\nβ = 2 + )\n".encode(), 2, 7, "syntax error"),
        (b"x = 1\n  y = \xff\xfe\n", 2, 7, "not UTF-8"),
        (b"a = 1\nb\0 = 2\n", 2, 2, "a NUL byte"),
        (b"x = " + b"(" * 4000 + b"1" + b")" * 4000, 1, None, "nested more than"),
        (b"x = " + b"[" * 300 + b"]" * 300, 1, None, "nested more than"),
        (b"x = " + b"-" * 3000 + b"1", 1, None, "nested more than"),
        (b"MZ\x90\x00\x03", 1, 3, "not UTF-8"),
    ],
)
def test_what_is_no_julia_is_refused_with_its_place(
    data: bytes, row: int | None, col: int | None, why: str
) -> None:
    with pytest.raises(SourceError, match=why) as caught:
        translate("bad.jl", data)

    assert str(caught.value).startswith(f"bad.jl:{caught.value.row}:{caught.value.col}: ")
    assert row is None or caught.value.row == row
    assert col is None or caught.value.col == col


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"# only a comment\n", b"\xef\xbb\xbfx = 1\n", b"x = 1\r\ny = x\r\n"]
)
def test_empty_files_and_other_line_ends_are_read(data: bytes) -> None:
    made = translate("a.jl", data)

    assert made.attention == []
    compile(made.python, "a.py", "exec")


def test_nothing_that_is_read_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = (
        'touch("seen"); run(`touch seen`); @eval touch("seen"); const x = (touch("seen"); 1)\n'
        'macro m() touch("seen") end\n@m\nprintln("$(touch("seen"))")\ninclude("seen.jl")\n'
        '__import__("os").system("touch seen")\n'
    )

    translate("hostile.jl", code.encode())

    assert list(tmp_path.iterdir()) == []


def test_julia_text_cannot_leave_its_string_or_comment_in_python() -> None:
    code = 'x = "\'; import os; os.system(1) #"\n# \n#= """\nimport os\n""" =#\ny = "a\\"\\"\\"b\\nc"\n'

    made = translate("a.jl", code.encode())
    names: dict[str, object] = {}
    exec(made.python, names)

    assert names["x"] == "'; import os; os.system(1) #"
    assert names["y"] == 'a"""b\nc'
    assert "os" not in names


def calls_for(lines: int) -> int:
    """How many functions of ours are called to translate a file of this length."""
    text = (PROGRAMS / "pipeline.jl").read_text(encoding="utf-8")
    data = "\n".join([text] * (lines // text.count("\n"))).encode()
    count = 0

    def tick(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(tick)
    try:
        translate("long.jl", data)
    finally:
        sys.setprofile(before)
    return count


def test_work_grows_with_the_length_of_the_file_and_not_faster() -> None:
    short, long = calls_for(400), calls_for(1600)

    assert long < 4.6 * short


def test_a_long_chain_of_operators_and_a_long_literal_are_no_deep_nesting() -> None:
    chain = "x = " + " + ".join(["1"] * 140)
    literal = "v = [" + ", ".join(["1"] * 5000) + "]"

    made = translate("a.jl", f"{chain}\n{literal}\n".encode())
    names: dict[str, object] = {}
    exec(made.python, names)

    assert names["x"] == 140
    assert len(names["v"]) == 5000  # type: ignore[arg-type]
