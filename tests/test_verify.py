"""`pybridge migrate --verify`: whole programs, run in both languages in the sandbox."""

from __future__ import annotations

import tempfile
from pathlib import Path, PurePosixPath

import pytest
from migrate_cases import PROGRAMS
from typer.testing import CliRunner

from pybridge._migrate.file import translate
from pybridge._migrate.outcome import AGREE, PART, UNRUN, Outcome
from pybridge._verify import fence
from pybridge._verify.pieces import program
from pybridge._verify.verify import Case, Limits, prepare, verify
from pybridge.cli import app

LIMITS = Limits(seconds=240)
pytestmark = [
    pytest.mark.skipif(bool(fence.missing()), reason=f"no sandbox here: {fence.missing()}"),
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module", autouse=True)
def julia_is_compiled() -> None:
    prepare(LIMITS)


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command need not start Julia once more beforehand."""
    monkeypatch.setattr("pybridge._verify.command.prepare", lambda limits: None)


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is left of the folders that the programs ran in."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def outcome(folder: Path, text: str, old: str = "", new: str = "", limits: Limits = LIMITS) -> Outcome:
    """Verify a program, in whose Python one text has been replaced by another."""
    file = folder / "program.jl"
    file.write_text(text, encoding="utf-8")
    made = translate(file.name, file.read_bytes(), julia_name="program_functions.jl")
    assert old in made.python, made.python
    made.python = made.python.replace(old, new) if old else made.python
    case = Case(file, PurePosixPath("program.py"), program(made), made.python, made.julia)
    found = verify(case, [case], limits, lambda _: None)
    assert not list(Path(tempfile.gettempdir()).iterdir())
    return found


def migrate(*args: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["migrate", *args])
    return result.exit_code, result.stdout, result.stderr


MANY = """using MXNet, Random, Statistics
include("lib.jl")

struct Layer
  W
  b
end

mutable struct Cubed
  x
  Cubed() = new()
end
@mx.customfunc Cubed
mx.forward(f::Cubed, x) = (f.x = copy(x); x .^ 3)
mx.backward!(f::Cubed, Δ) = 3 .* f.x .^ 2 .* Δ

Random.seed!(1)
mx.seed!(2)
table = [parse(Float64, line) for line in readlines("numbers.txt")]
order = randperm(4)
mixed = shuffle([10, 20, 30])
which = rand(1:6, 5)
one = rand()
rng = MersenneTwister(5)
grid = [1 2; 3 4; 5 6]
mixed_grid = Random.shuffle(rng, grid)
coins = rand(rng, Bool, 20)
Random.rand!(rng, table)
noise = 0.1f0 .* randn(Float32, 2, 4)
layer = Layer(mx.randn(3, 2), mx.zeros(3))
layers = [layer, Layer(mx.ones(3, 3), mx.ones(3))]
grads = [mx.attach_grad!(p) for l in layers for p in (l.W, l.b)]
x = mx.NDArray(noise)
y = x
for step in 1:3
  loss = mx.record() do
    h = layers[1].W * x .+ layers[1].b
    h = layers[2].W * tanh.(h) .+ layers[2].b
    sum(Cubed()(h))
  end
  mx.backward!(loss)
  for l in layers
    l.W .-= 0.01 .* mx.getgrad(l.W)
    l.b .-= 0.01 .* mx.getgrad(l.b)
  end
end
found = Dict(:mean => mean(copy(layers[1].W)), :doubled => doubled(table))
module Inside
using Random
rate = 7
faster() = 2rate
draws = Random.randperm(3)
end
rate = 3
rates = [rate, Inside.rate, Inside.faster()]
z = 1.5 + 2im
zs = [1 + 2im, 3]
third = 1//3 + 1//6
blank = Vector{Float64}(undef, 3)
blank .= 4
other = similar(blank)
other .= 5
flags = Dict(true => 1.5, false => 2)
keyed = Dict(("a", 1) => 2.5)
some = Set([3, 1, 2])
exact = 2^60 + 1
vast = big(2)^70
dice = rand(1:6, 4)
sides = 1:6
die = rand(sides)
struct Pt
  x::Float64
  y::Float64
  Pt(x) = new(x, 2x)
end
p = Pt(1.5)
unset = Vector{Any}(undef, 2)
huge = big(2)^70
open("out.txt", "w") do io
  println(io, found[:mean])
end
function last_words()
  global result = 5.0
  exit()
end
last_words()
"""


def test_draws_includes_structs_gradients_files_and_custom_functions_agree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    src = tmp_path / "src"
    src.mkdir()
    (src / "main.jl").write_text(MANY, encoding="utf-8")
    (src / "lib.jl").write_text("doubled(x) = 2 .* x\n")
    (src / "numbers.txt").write_text("1.5\n-2\n")

    status, out, err = migrate("src", "--out", "py", "--verify")

    assert status == 0, out + err
    assert "agree" in out and "lib.jl" not in out.partition("Run side by side")[2]
    assert err.startswith("pybridge migrate --verify runs the old and the new code, without network")
    assert sorted(path.name for path in src.iterdir()) == ["lib.jl", "main.jl", "numbers.txt"]
    assert sorted(path.name for path in (tmp_path / "py").iterdir()) == [
        "lib.py",
        "main.py",
        "main_functions.jl",
    ]


@pytest.mark.parametrize(
    "name", ["linear_regression", "two_layer_perceptron", "custom_loss", "lstm", "pipeline"]
)
def test_the_tutorials_agree(name: str, tmp_path: Path) -> None:
    found = outcome(tmp_path, (PROGRAMS / f"{name}.jl").read_text(encoding="utf-8"))

    assert (found.status, found.differences, found.why) == (AGREE, [], "")
    assert found.compared >= 8


TRAINING = """using MXNet
x = mx.NDArray(Float32[1 2; 3 4; 5 6])
w = mx.ones(2, 3)
mx.attach_grad!(w)
function update(w, rate)
  for i in 1:2
    g = mx.getgrad(w)
    w .-= rate .* g
  end
end
for step in 1:4
  y = mx.record() do
    sum((w * x) .^ 2)
  end
  mx.backward!(y)
  update(w, 0.001)
end
total = sum(copy(w))
"""


def test_a_slip_inside_a_function_in_a_loop_is_found_at_its_line(tmp_path: Path) -> None:
    found = outcome(tmp_path, TRAINING, "w -= rate * g", "w -= rate * g * 1.001")

    assert (found.status, found.row, found.statement) == (PART, 11, "for step in 1:4")
    assert found.within is not None
    assert (found.within.row, found.within.time) == (8, 1)
    assert found.within.differences[0].startswith("w: ")


def test_a_literal_that_is_not_turned_round_is_named_as_such(tmp_path: Path) -> None:
    found = outcome(tmp_path, TRAINING, "[[1, 3, 5], [2, 4, 6]]", "[[1, 2], [3, 4], [5, 6]]")

    assert (found.status, found.row) == (PART, 2)
    assert found.differences[0].startswith(
        "x: shape (3, 2) in Julia is (2, 3) in Python's order; it is (3, 2) (layout"
    )


HOSTILE = """using MXNet
x = [1.0]
try
  write("{outside}", "spoilt")
catch
end
try
  rm("{outside}")
catch
end
run(`touch {outside}.new`)
"""


def test_nothing_outside_is_written_to(tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("kept")

    found = outcome(tmp_path, HOSTILE.replace("{outside}", str(outside)))

    assert found.status in (UNRUN, PART)  # touch fails
    assert outside.read_text() == "kept" and not outside.with_suffix(".txt.new").exists()


ENDING = """x = [1.0]
child = run(detach(`sleep 98765`), wait=false)
last = 0.0
function last_words()
  global last = 5.0
  exit()
end
last_words()
"""


def test_what_ends_its_process_is_compared_at_its_end_and_leaves_none_behind(tmp_path: Path) -> None:
    found = outcome(
        tmp_path,
        ENDING.replace("child = run(detach(`sleep 98765`), wait=false)\n", ""),
        "last = 5.0",
        "last = 6.0",
    )
    assert (found.status, found.row) == (PART, 7)
    (tmp_path / "second").mkdir()
    outcome(tmp_path / "second", ENDING)

    running = [each.read_bytes() for each in Path("/proc").glob("[0-9]*/cmdline") if each.exists()]
    assert b"sleep\x0098765\x00" not in running


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("x = [1.0]\ny = 1 / 0\n", 1, "ZeroDivisionError: division by zero"),
        ('x = [1.0]\nerror("no more")\n', 2, "the old code stops at line 2: "),
        ("x = [1.0]\nwhile true\nend\n", 2, "it did not end within 15 seconds"),
    ],
    ids=["parts", "stops", "hangs"],
)
def test_the_exit_status_tells_what_came_of_it(
    text: str, status: int, said: str, tmp_path: Path, compiled: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    Path("a.jl").write_text(text)

    code, out, _ = migrate(
        "a.jl", "--check", "--verify", "--verify-seconds", "15" if "while" in text else "240"
    )

    assert (code, said in out) == (status, True), out
    assert not Path("a.py").exists()


def test_what_cannot_be_run_is_refused_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.jl").write_text("x = 1\n")
    monkeypatch.setattr(fence, "missing", lambda: ["Landlock (Linux 5.13 or newer)"])

    status, _, err = migrate("a.jl", "--out", "py", "--verify")

    assert status == 2 and "lacks Landlock (Linux 5.13 or newer); --no-sandbox runs it" in err
    assert not Path("py").exists()
    assert migrate("--stdin", "--verify")[0] == 2
    assert "expected at least 1" in migrate("a.jl", "--check", "--verify", "--verify-seconds", "0")[2]
