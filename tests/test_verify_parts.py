"""The parts of `pybridge migrate --verify`, without running anything: cutting, paths, traces, tapes, comparing."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import mxnet as mx
import numpy as np
import pytest

from pybridge._migrate.file import translate
from pybridge._migrate.outcome import AGREE, PART, UNRUN, VAGUE, Outcome
from pybridge._migrate.report import Entry, Report
from pybridge._verify import folders
from pybridge._verify.compare import Comparison
from pybridge._verify.pieces import Program, program
from pybridge._verify.steps import Runs, follow, look_within
from pybridge._verify.tape import KINDS, Replayed, Tape, TapeError
from pybridge._verify.trace import Event, FullError, Leaf, Writer, read
from pybridge._verify.values import leaves, shown

SCRIPT = """# A comment.
using MXNet

"Twice."
function twice(x)
  y = 2x   # a comment behind
  y
end
a = 1; b = 2
for i in 1:2
  global a
  a += twice(i)
  if a > 3
    a -= 1
  else
    a += 1
  end
end
module Inner
f() = rand(3)
end
"""


def cut(text: str) -> Program:
    return program(translate("a.jl", text.encode()))


# ---- pieces


def test_statements_are_cut_with_their_lines_and_their_python() -> None:
    made = cut(SCRIPT)

    assert [(piece.row, piece.end_row) for piece in made.pieces] == [
        (2, 2), (4, 4), (5, 8), (9, 9), (10, 18), (19, 21),
    ]  # fmt: skip
    assert made.pieces[3].julia == "a = 1; b = 2"
    python = made.python.split("\n")
    for piece, words in ((2, "def twice"), (4, "for i in"), (5, "def f")):
        lines = [line for line, row in made.rows.items() if row == made.pieces[piece].row + (piece == 5)]
        assert any(python[line - 1].startswith(words) for line in lines)
    assert all(piece.python for piece in made.pieces[2:])


def test_lines_inside_tell_that_they_have_run_but_not_where_they_give_a_value() -> None:
    pieces = cut(SCRIPT).pieces
    told = "Main.PyBridgeVerify.at({}, Base.@locals)"

    assert pieces[2].followed == pieces[2].julia.replace("y = 2x ", f"y = 2x; {told.format(6)} ")
    assert [told.format(row) in pieces[4].followed for row in (12, 13, 14, 16)] == [True] * 4
    assert "at(" not in pieces[4].julia
    assert pieces[5].julia.startswith("module Inner; import Main: rand, randn, ")


def test_the_random_functions_of_a_module_write_on_the_tape_too() -> None:
    pieces = cut("x = Random.shuffle!([1, 2])\nusing Random: shuffle\ny = Random.seed!(1)\n").pieces
    assert [piece.julia for piece in pieces] == [
        "x = Main.PyBridgeVerify.Qualified.Random.shuffle!([1, 2])",
        "using Random: shuffle",
        "y = Random.seed!(1)",
    ]
    assert pieces[0].statement == "x = Random.shuffle!([1, 2])"


def test_a_statement_is_shown_as_it_is_written() -> None:
    assert cut(SCRIPT).pieces[5].statement == "module Inner"


def test_names_of_modules_are_told_from_those_of_the_file() -> None:
    made = cut("x = 1\nmodule M\nx = 2\ny = 3\nend\n").names
    comparison = Comparison(made)
    assert [comparison._python(path) for path in ("x", "M.x", "M.y", "M.y\n[1]")] == [
        "x",
        "M_x",
        "y",
        "y\n[1]",
    ]


def test_names_are_known_in_both_languages() -> None:
    assert cut("∇w = 1\nx̂! = 2").names == {"∇w": "grad_w", "x̂!": "x_hat"}


def test_random_functions_whose_names_the_file_takes_are_left_alone() -> None:
    made = cut("shuffle = true\nmodule A\nend\nrand(n) = n\n")
    assert made.taken == ["rand", "shuffle"]
    assert made.pieces[1].julia.startswith(
        "module A; import Main: randn, rand!, randn!, randperm, shuffle!\n"
    )


# ---- values


@dataclass
class Net:
    w: Any
    size: int


Pair = namedtuple("Pair", "a b")


def found(x: Any) -> dict[str, tuple[str, Any]]:
    made: dict[str, tuple[str, Any]] = {}
    leaves(lambda path, kind, value: made.__setitem__(path, (kind, value)), "x", x)
    return made


def test_values_are_found_wherever_they_lie() -> None:
    weight = mx.nd.array([[1.0, 2.0]])
    weight.attach_grad()
    held = {"net": Net(weight, 3), "xs": [1, 2.5], "mixed": [1, "a", None], "pair": Pair(1, 2), "f": len}

    made = found(held)

    assert {path: kind for path, (kind, _) in made.items()} == {
        "x\nlength": "number",
        "x\n{net}\n.w": "ndarray",
        "x\n{net}\n.w\ngradient": "ndarray",
        "x\n{net}\n.size": "number",
        "x\n{xs}": "list",
        "x\n{mixed}\nlength": "number",
        "x\n{mixed}\n[1]": "number",
        "x\n{mixed}\n[2]": "text",
        "x\n{mixed}\n[3]": "none",
        "x\n{pair}\nlength": "number",
        "x\n{pair}\n{a}": "number",
        "x\n{pair}\n{b}": "number",
    }
    np.testing.assert_array_equal(made["x\n{net}\n.w"][1], [[1, 2]])
    np.testing.assert_array_equal(made["x\n{net}\n.w\ngradient"][1], [[0, 0]])
    np.testing.assert_array_equal(made["x\n{xs}"][1], [1, 2.5])


def test_texts_are_texts_in_numpy_too() -> None:
    assert found(np.array(["a", "b"])[0]) == found("a") == found(Path("a")) == {"x": ("text", None)}


def test_what_holds_itself_and_what_is_deep_ends() -> None:
    round_and_round: list[Any] = ["x"]
    round_and_round.append(round_and_round)
    assert set(found(round_and_round)) == {"x\nlength", "x\n[1]"}
    deep: Any = ["end"]
    for _ in range(50):
        deep = [deep, "x"]
    assert len(found(deep)) < 50


def test_integers_beyond_64_bits_are_told_digit_by_digit() -> None:
    assert found(2**70 + 1)["x"] == ("whole", "1180591620717411303425")
    assert found([2**70, 1])["x\n[1]"] == ("whole", str(2**70))
    assert found(-(2**63))["x"][1] == -(2**63)


def test_fractions_complex_numbers_and_sets_are_numbers() -> None:
    assert found(Fraction(1, 4))["x"] == ("number", 0.25)
    assert found([1 + 2j, 3])["x"][1].tolist() == [1 + 2j, 3]
    assert found({3, 1, 2})["x"][1].tolist() == [1, 2, 3]
    assert found({"b", "a"})["x\nlength"][1] == 2


def test_keys_are_written_as_julia_writes_them() -> None:
    paths = found({True: 1, ("a", 1): 2, 0.1: 3, None: 4, "b": 5, (2,): 6})
    assert {path.partition("\n")[2] for path in paths} == {
        "length", "{true}", "{(a, 1)}", "{0.10000000000000001}", "{nothing}", "{b}", "{(2)}"
    }  # fmt: skip


def test_instances_of_the_files_own_classes_are_looked_into() -> None:
    own = type("Point", (), {"__module__": "__main__"})()
    own.x = 1.5
    assert found(own) == {"x\n.x": ("number", 1.5)}
    assert found(np.random.RandomState(1)) == {}


def test_paths_are_shown_as_one_would_write_them() -> None:
    assert shown("xs\n[2]\n.w\ngradient") == "the gradient of xs[2].w"
    assert shown("d\n{a}") == "d['a']"


# ---- traces


def test_a_trace_gives_back_what_changed_and_what_went(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    writer.observe(0, [("x", "array", x), ("t", "text", "a")])
    writer.observe(1, [("x", "array", x), ("t", "text", "b"), ("e", "array", np.empty((0, 2)))])
    writer.observe(2, [("x", "array", x.astype(np.float64))])
    writer.stop(3, "no more", 7)

    first, second, third, last = read(tmp_path)

    np.testing.assert_array_equal(first.changed["x"].value, x)
    assert first.changed["x"].value.dtype == np.float32
    assert set(second.changed) == {"t", "e"} and second.changed["e"].value.shape == (0, 2)
    assert set(third.changed) == {"x"} and sorted(third.gone) == ["e", "t"]
    assert (last.where, last.error, last.line) == (3, "no more", 7)


def test_a_trace_that_would_be_too_long_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pybridge._verify.trace.MOST_BYTES", 100)
    writer = Writer(tmp_path)
    writer.observe(0, [("x", "array", np.zeros(10))])
    with pytest.raises(FullError, match="what follows was not looked at"):
        writer.observe(1, [("x", "array", np.ones(10))])


# ---- the tape


def tape(*drawn: tuple[str, list[float]]) -> Tape:
    codes = {word: code for code, word in KINDS.items()}
    kinds = [codes[kind] for kind, values in drawn for _ in values]
    return Tape(np.array(kinds, np.uint8), np.array([v for _, values in drawn for v in values], float))


def test_python_gets_the_numbers_that_julia_drew() -> None:
    numpy = Replayed(
        tape(
            ("uniform", [0.1, 0.2, 0.3, 0.4]),
            ("normal", [-1.5]),
            ("range", [1, 8]),
            ("whole", [7, 8]),
            ("range", [1, 3]),
            ("whole", [2]),
            ("index", [2]),
            ("permutation", [3, 1, 2]),
            ("permutation", [2, 1]),
        )
    )

    np.testing.assert_array_equal(numpy.rand(2, 2), [[0.1, 0.2], [0.3, 0.4]])
    assert numpy.randn() == -1.5
    np.testing.assert_array_equal(numpy.randint(1, 9, size=2), [7, 8])
    assert numpy.choice(range(1, 4)) == 2
    assert numpy.choice(["a", "b", "c"]) == "b"
    np.testing.assert_array_equal(numpy.permutation(3), [2, 0, 1])
    items = ["x", "y"]
    numpy.shuffle(items)
    assert items == ["y", "x"]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            lambda numpy: numpy.randn(2),
            "2 normal numbers are asked for, where the old code drew uniform numbers",
        ),
        (lambda numpy: numpy.rand(3), r"where the old code drew uniform numbers \(2 are left\)"),
    ],
)
def test_other_random_numbers_than_julia_drew_are_an_error(ask: Any, said: str) -> None:
    with pytest.raises(TapeError, match=said):
        ask(Replayed(tape(("uniform", [0.1, 0.2]))))


@pytest.mark.parametrize("bounds", [(1, 6), (0, 7), (1, 8)])
def test_a_range_that_begins_or_ends_elsewhere_is_an_error(bounds: tuple[int, int]) -> None:
    with pytest.raises(TapeError, match="where the old code drew from 1 to 6"):
        Replayed(tape(("range", [1, 6]), ("whole", [3]))).randint(*bounds)


def test_a_tape_is_stored_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    tape(("normal", [1.0])).save(tmp_path)
    assert Tape.load(tmp_path).take("normal", ()) == 1.0
    with pytest.raises(TapeError, match="drew nothing more"):
        Tape.load(tmp_path / "nowhere").take("normal", ())


# ---- comparing


def event(where: int = 0, **held: Any) -> Event:
    changed = {
        name: value if isinstance(value, Leaf) else Leaf("array", np.asarray(value))
        for name, value in held.items()
    }
    return Event(where, changed)


def compared(old: Any, new: Any, shaken: Any = None) -> Any:
    comparison = Comparison({})
    comparison.take(event(x=old), [event(x=new)], None if shaken is None else event(x=shaken))
    return comparison.compare()


F32 = np.float32


def test_rounding_agrees_and_more_does_not() -> None:
    x = np.array([1, 2, 3], F32)
    assert compared(x, x * (1 + np.finfo(F32).eps)).agree == {"x"}
    made = compared(x, x + np.array([0, 1e-3, 0], F32))
    assert [str(each) for each in made.differences] == [
        "x: 1 of 3 entries differ, the worst 2.0 in Julia, 2.001 in Python at [1] (allowed 5.2e-05)"
    ]


def test_whole_numbers_have_to_be_the_same() -> None:
    assert compared(np.array([10**9]), np.array([10**9])).agree == {"x"}
    assert compared(np.array([10**9]), np.array([10**9 + 1])).differences
    assert compared(np.array([2**60 + 1]), np.array([2**60])).differences
    assert compared(Leaf("whole", str(2**70)), Leaf("whole", str(2**70))).agree == {"x"}
    (made,) = compared(Leaf("whole", str(2**70)), Leaf("whole", str(2**70 + 1))).differences
    assert str(made) == f"x: {2**70} in Julia, {2**70 + 1} in Python"


@pytest.mark.filterwarnings("error")
def test_complex_numbers_are_compared_whole() -> None:
    z = np.array([1.5 + 2j, 3])
    assert compared(z, z.copy(), shaken=z * (1 + 1e-16)).agree == {"x"}
    assert compared(z, np.array([1.5 + 2.001j, 3])).differences


def test_arrays_without_values_yet_have_to_have_the_same_shape_only() -> None:
    comparison = Comparison({})
    comparison.take(
        event(x=np.array([1.0, 2]), y=np.ones(2)), [event(x=np.array([3.0, np.nan]), y=np.ones(3))], None
    )
    made = comparison.compare(values=False)
    assert made.agree == {"x"} and [each.path for each in made.differences] == ["y"]
    pieces = cut(
        "a = Vector{Float64}(undef, 3)\nb = similar(a)\na .= 1\nc = f(undef) + 1\nfor i in 1:2\n  d = similar(a)\nend\n"
    )
    assert [piece.unset for piece in pieces.pieces] == [True, True, False, False, False]


def test_a_value_that_rounding_moves_may_be_as_far_off_and_is_vague_when_that_is_far() -> None:
    x, y = np.array([1.0]), np.array([1.0 + 1e-6])
    assert compared(x, y).differences
    assert compared(x, y, shaken=x + 1e-7).agree == {"x"}
    assert compared(x, np.array([1.5]), shaken=x + 0.1).vague == ["x"]


def test_dtypes_of_ndarrays_count_and_those_of_plain_arrays_are_told() -> None:
    x = np.array([1.0, 2.0])
    made = compared(Leaf("ndarray", x.astype(F32)), Leaf("ndarray", x))
    assert [str(d) for d in made.differences] == ["x: float32 in Julia, float64 in Python"]
    made = compared(x.astype(F32), x)
    assert (made.agree, made.dtypes) == ({"x"}, ["x"])
    made = compared(x, Leaf("list", x.astype(F32)))
    assert (made.agree, made.dtypes) == ({"x"}, [])
    assert compared(Leaf("number", np.array(0.1, F32)), Leaf("number", np.array(0.1))).agree == {"x"}


def test_float64_that_was_computed_in_float32_is_as_exact_as_float32() -> None:
    x = np.array([0.1, 2.5, -7.3])
    assert compared(x, x * (1 + 1e-7)).differences
    assert compared(x.astype(F32).astype(float), x).agree == {"x"}
    assert compared(x, x.astype(F32).astype(float)).differences  # that Python has rounded is its own
    assert compared(np.array(0.5), np.array(0.5 + 1e-7)).differences  # short by chance


def test_a_matrix_turned_round_is_named() -> None:
    x = np.arange(6.0).reshape(2, 3)
    (made,) = compared(x, np.ascontiguousarray(x.T)).differences
    assert str(made).startswith("x: shape (3, 2) in Julia is (2, 3) in Python's order; it is (3, 2) (layout")


def test_nans_are_the_same_as_nans_only() -> None:
    assert compared(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])).agree == {"x"}
    assert compared(np.array([np.nan, 1]), np.array([1.0, 1])).differences
    assert compared(np.array([np.inf]), np.array([-np.inf])).differences


def test_what_is_forgotten_inside_of_what_python_holds_is_a_difference() -> None:
    comparison = Comparison({})
    held = {
        "l\n.w": np.ones(2),
        "l\n.w\ngradient": np.ones(2),
        "d\nlength": np.array(1),
        "d\n{a}": np.array(2),
    }
    old = Event(0, {path: Leaf("number", value) for path, value in held.items()})
    new = Event(0, {path: Leaf("number", held[path]) for path in ("l\n.w", "d\nlength")})
    new.changed["d\n{b}"] = Leaf("number", np.array(2))
    comparison.take(old, [new], None)

    made = comparison.compare()

    assert [str(each) for each in made.differences] == [
        "the gradient of l.w: there is none in Python",
        "d['a']: a number of int64 in Julia, not there in Python",
    ]


def test_gradients_and_names_that_python_lacks_are_differences_and_closed_objects_are_not() -> None:
    comparison = Comparison({"∇w": "grad_w", "w": "w", "net": "net", "y": "y"})
    old = Event(0, {name: Leaf("array", np.ones(2)) for name in ("w", "w\ngradient", "∇w", "net\n.w", "y")})
    comparison.take(old, [Event(0, {name: Leaf("array", np.ones(2)) for name in ("w", "grad_w")})], None)

    made = comparison.compare()

    assert made.agree == {"w", "∇w"} and made.unseen == ["net\n.w"]
    assert [str(each) for each in made.differences] == [
        "the gradient of w: there is none in Python",
        "y: an array of float64 in Julia, not there in Python",
    ]


# ---- steps


def traced(folder: Path, *events: tuple[Any, ...]) -> Path:
    """A trace: (where, names of values) or (where, error)."""
    folder.mkdir()
    writer = Writer(folder)
    for where, held in events:
        if isinstance(held, str):
            writer.stop(where, held)
        else:
            writer.observe(where, [(name, "array", np.array(value, float)) for name, value in held.items()])
    return folder


PROGRAM = "a = [1.0]\nb = 2 .* a\nc = 3 .* a\n"


def outcome(tmp_path: Path, old: Any, new: Any, **ended: str) -> Outcome:
    folder = traced(tmp_path / "old", *old)
    return follow(cut(PROGRAM), Runs(folder, traced(tmp_path / "new", *new), folder, **ended))


ALL = [(0, {"a": [1]}), (1, {"a": [1], "b": [2]}), (2, {"a": [1], "b": [2], "c": [3]})]


def test_the_first_statement_that_parts_is_named(tmp_path: Path) -> None:
    made = outcome(tmp_path, ALL, [ALL[0], (1, {"a": [1], "b": [4]}), (2, {"a": [1], "b": [4], "c": [6]})])

    assert (made.status, made.piece, made.row, made.statement) == (PART, 1, 2, "b = 2 .* a")
    assert made.lines()[:2] == [
        "line 2: b = 2 .* a",
        "  b: 2.0 in Julia, 4.0 in Python at [0] (allowed 3.0e-10)".replace("3.0e-10", f"{_room(2.0):.1e}"),
    ]


def _room(x: float) -> float:
    eps = np.finfo(float).eps
    return float(eps ** (2 / 3) * x + 16 * eps * x)


def test_the_report_tells_it_in_the_terminal_as_json_and_as_a_page(tmp_path: Path) -> None:
    made = outcome(tmp_path, ALL, [ALL[0], (1, {"a": [1], "b": [4]}), (2, {"a": [1], "b": [4], "c": [6]})])
    report = Report([Entry("a.jl", "a.py", translate("a.jl", PROGRAM.encode()), outcome=made)])

    assert "part" in str(report) and "line 2: b = 2 .* a" in str(report)
    told = report.to_dict()["files"][0]["verified"]
    assert (told["status"], told["row"], told["compared"]) == ("part", 2, 1)
    page = report.to_html(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "Run side by side: part, 1 values the same." in page and "line 2: b = 2 .* a" in page


def test_the_same_traces_agree(tmp_path: Path) -> None:
    made = outcome(tmp_path, ALL, ALL)
    assert (made.status, made.compared, made.lines()) == (AGREE, 3, [])


def test_an_error_in_python_parts_and_one_in_julia_ends_the_comparison(tmp_path: Path) -> None:
    stopped = outcome(tmp_path, ALL, [ALL[0], (1, "ZeroDivisionError: division by zero")])
    assert (stopped.status, stopped.row) == (PART, 2)
    assert stopped.differences == ["Python stops: ZeroDivisionError: division by zero"]
    (tmp_path / "second").mkdir()
    ended = outcome(tmp_path / "second", [ALL[0], (1, "LoadError: no")], ALL)
    assert (ended.status, ended.compared) == (UNRUN, 1)
    assert ended.why == "the old code stops at line 2: LoadError: no"


def test_an_error_in_python_is_no_end_of_the_process(tmp_path: Path) -> None:
    made = outcome(tmp_path, ALL[:1], [ALL[0], (1, "ValueError: boom")])
    assert made.status == UNRUN
    (tmp_path / "b").mkdir()
    made = outcome(tmp_path / "b", ALL[:2], [ALL[0], (1, "ValueError: boom")])
    assert (made.status, made.row, made.differences) == (PART, 2, ["Python stops: ValueError: boom"])


def test_what_moves_a_cursor_is_not_printed() -> None:
    assert Outcome(why="\x1b[31mred").lines() == ["\ufffd[31mred"]


def test_processes_that_end_early_are_told(tmp_path: Path) -> None:
    made = outcome(tmp_path, ALL[:2], ALL, old_ended="it was ended by SIGKILL")
    assert (made.status, made.why) == (
        UNRUN,
        "the old code did not get beyond line 3: it was ended by SIGKILL",
    )
    (tmp_path / "b").mkdir()
    assert outcome(tmp_path / "b", ALL[:2], ALL[:2]).status == AGREE  # exit() in both
    (tmp_path / "c").mkdir()
    assert outcome(tmp_path / "c", ALL, ALL[:2]).differences == ["Python stops: it has ended its process"]


def test_nothing_to_compare_cannot_tell(tmp_path: Path) -> None:
    made = outcome(tmp_path, [(n, {}) for n in range(3)], [(n, {}) for n in range(3)])
    assert (made.status, made.why) == (VAGUE, "its names hold nothing that could be compared")


LOOP = """a = [1.0]
for i in 1:3
  a .*= 2
  a .+= 1
end
"""


def test_the_line_inside_a_loop_and_its_time_are_found(tmp_path: Path) -> None:
    made = cut(LOOP)
    lines = {row: line for line, row in made.rows.items()}
    old = [(0, {"a": [1]}), (-3, {"a": [2]}), (-4, {"a": [3]}), (-3, {"a": [6]}), (-4, {"a": [7]})]
    new = [(0, {"a": [1]}), (-lines[3], {"a": [2]}), (-lines[4], {"a": [3]}), (-lines[3], {"a": [6]})]
    new.append((-lines[4], {"a": [7.5]}))
    folder = traced(tmp_path / "old", *old)

    within = look_within(made, 1, Runs(folder, traced(tmp_path / "new", *new), folder))

    assert within is not None and (within.row, within.time) == (4, 2)
    assert within.differences[0].startswith("a: 7.0 in Julia, 7.5 in Python")


# ---- folders


def test_the_folder_is_copied_and_what_is_large_is_linked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = tmp_path / "base"
    (base / "lib").mkdir(parents=True)
    (base / "data").mkdir()
    for name in ("a.jl", "lib/b.jl", "data/x.csv", "small.csv"):
        (base / name).write_text(name)
    (base / "large.bin").write_bytes(b"x" * 2000)
    monkeypatch.setattr(folders, "COPIED", 1000)

    folders.lay_out(base, tmp_path / "run", [base / "a.jl", base / "lib" / "b.jl"])

    run = tmp_path / "run"
    assert {p.name: p.is_symlink() for p in run.iterdir()} == {
        "a.jl": False, "lib": False, "data": True, "small.csv": False, "large.bin": True,
    }  # fmt: skip
    assert (run / "data" / "x.csv").read_text() == "data/x.csv" and not (run / "lib" / "b.jl").is_symlink()


def test_secrets_stay_out_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    monkeypatch.setenv("MXNET_ENGINE_TYPE", "NaiveEngine")
    found = folders.environment(tmp_path)
    assert "AWS_SECRET_ACCESS_KEY" not in found and found["MXNET_ENGINE_TYPE"] == "NaiveEngine"
    assert found["HOME"] == str(tmp_path)
