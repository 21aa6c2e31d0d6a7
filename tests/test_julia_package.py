"""The Julia package: its own tests, run in the bridge's process, and what it must have in common with C and Python."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "julia" / "test"
NO_TESTS = {"common.jl", "report.jl", "runtests.jl"}
FILES = sorted(path for path in TESTS.glob("*.jl") if path.name not in NO_TESTS)

Report = Callable[[Path], "tuple[bool, str]"]


@pytest.fixture(scope="module")
def report(pb: ModuleType) -> Report:
    """Run a file of Julia tests: has it passed, and what Julia says of it."""
    run = pb.include(TESTS / "report.jl").report

    def report(file: Path) -> tuple[bool, str]:
        passed, text = run(str(file))
        return bool(passed), str(text)

    return report


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_julias_own_tests_pass(report: Report, file: Path) -> None:
    passed, text = report(file)

    if not passed:
        pytest.fail(text, pytrace=False)
    assert re.search(r"\| Pass +Total\n", text), text


def test_a_julia_test_that_fails_is_shown_by_name_and_nothing_else_is_printed(
    report: Report, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "failing.jl"
    file.write_text(
        """
        @testset "sums are right" begin
            println("on standard output"); println(stderr, "on standard error")
            @test 1 + 1 == 3
        end
        @testset "nothing is thrown" begin
            error("on purpose")
        end
        @testset "products are right" begin
            @test 2 * 2 == 4
        end
        """,
        encoding="utf-8",
    )

    passed, text = report(file)

    assert not passed
    assert re.search(rf"sums are right: .*Test Failed.* at {re.escape(str(file))}:4", text), text
    assert "1 + 1 == 3" in text and "2 == 3" in text
    assert re.search(r"nothing is thrown: .*Error During Test", text) and "on purpose" in text
    assert "on standard output" in text and "on standard error" in text
    assert capfd.readouterr() == ("", "")


def test_a_file_of_julia_tests_that_cannot_be_read_fails(report: Report, tmp_path: Path) -> None:
    file = tmp_path / "broken.jl"
    file.write_text("@test (", encoding="utf-8")

    passed, text = report(file)

    assert not passed
    assert "broken.jl" in text


def test_runtests_runs_every_file_of_tests() -> None:
    text = (TESTS / "runtests.jl").read_text(encoding="utf-8")

    assert sorted(re.findall(r'"(\w+\.jl)"', text)) == sorted([*(file.name for file in FILES), "common.jl"])


def test_runtests_runs_in_julia_alone_without_a_bridge(pb: ModuleType, tmp_path: Path) -> None:
    # As `Pkg.test` does it: Julia starts Python, and nothing is linked to libmxnet.
    environment = {
        **os.environ,
        "JULIA_LOAD_PATH": os.pathsep.join(pb.jl.seval("Base.load_path()")),
        "JULIA_DEPOT_PATH": os.pathsep.join(pb.jl.seval("DEPOT_PATH")),
        "JULIA_PYTHONCALL_EXE": sys.executable,
        "JULIA_CONDAPKG_BACKEND": "Null",
    }
    julia = pb.jl.seval('joinpath(Sys.BINDIR, "julia")')

    done = subprocess.run(
        [julia, "--startup-file=no", str(TESTS / "runtests.jl"), "block.jl", "graph.jl"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"PyBridge +\| +\d+", done.stdout), done.stdout
    assert "graph.jl needs libmxnet" in done.stderr


# ---- the block, mirrored in three languages ------------------------------------------------------------------

C = "".join(
    path.read_text(encoding="utf-8") for path in sorted((ROOT / "pybridge").glob("_trampoline*.[ch]"))
)
PYTHON = runpy.run_path(str(ROOT / "pybridge" / "_dispatch" / "block.py"))


def enumerated(first: str) -> dict[str, int]:
    """The constants of the C enumeration that begins with ``first``."""
    found = re.search(rf"^enum \{{ ({first}\b[^}}]*)\}};", C, re.MULTILINE)
    assert found, f"no enum that begins with {first}"
    values: dict[str, int] = {}
    for item in found[1].split(","):
        name, _, value = item.partition("=")
        values[name.strip()] = int(value) if value else len(values)
    return values


def constants(pb: ModuleType, prefix: str) -> dict[str, int]:
    """The integer constants of PyBridge whose names begin with ``prefix``."""
    names = [str(name) for name in pb.jl.seval("map(string, names(PyBridge, all = true))")]
    values = {name: getattr(pb.jl.PyBridge, name) for name in names if name.startswith(prefix)}
    return {name: value for name, value in values.items() if isinstance(value, int)}


@pytest.fixture(scope="module")
def bridge(pb: ModuleType) -> Any:
    pb.jl.seval("import PyBridge")
    return pb.jl.PyBridge


def test_header_and_descriptors_have_one_length_in_c_python_and_julia(bridge: Any) -> None:
    sizes = enumerated("HEADER")

    for name in ("HEADER", "WORDS", "MAXDIM"):
        assert getattr(bridge, name) == sizes[name], name
    assert (PYTHON["HEADER"], PYTHON["WORDS"]) == (sizes["HEADER"], sizes["WORDS"])
    assert sizes.get("MAXRESULTS", PYTHON["RESULTS"]) == PYTHON["RESULTS"]
    assert enumerated("A_HANDLE")["A_DIMS"] + sizes["MAXDIM"] <= sizes["WORDS"]
    assert max(enumerated("H_FUNCTION").values()) < sizes["HEADER"]


def test_words_of_the_header_are_the_same_in_c_python_and_julia(pb: ModuleType, bridge: Any) -> None:
    in_c = enumerated("H_FUNCTION")
    in_julia = constants(pb, "H_")

    assert {name: value for name, value in PYTHON.items() if name.startswith("H_")} == in_c
    assert len(in_julia) >= 9
    assert {name: value - 1 for name, value in in_julia.items()} == {name: in_c[name] for name in in_julia}


def test_flags_are_the_same_in_c_python_and_julia(pb: ModuleType, bridge: Any) -> None:
    in_c = enumerated("FLAG_TRAINING")
    in_python = {name: value for name, value in PYTHON.items() if name.startswith("FLAG_")}

    assert constants(pb, "FLAG_") == in_c
    assert in_python.items() <= in_c.items() and in_python


def test_fields_of_a_descriptor_come_in_one_order_in_c_and_julia(pb: ModuleType, bridge: Any) -> None:
    accessors = {
        "A_HANDLE": "handle(d)",
        "A_DATA": "data(d)",
        "A_DTYPE": "code(d)",
        "A_NDIM": "dims(d)",
        "A_REQ": "req(d)",
        "A_PIN": "pin(d)",
        "A_BYTES": "bytes(d)",
        "A_CONTEXT": "context(d)",
        "A_DIMS": "dim(d, 1)",
    }
    words = "w = collect(Int64, 1:PyBridge.WORDS)"
    in_julia = {
        name: pb.jl.seval(
            f"let {words}; GC.@preserve w (d = PyBridge.Descriptor(pointer(w)); Int(PyBridge.{access})) - 1; end"
        )
        for name, access in accessors.items()
    }

    assert in_julia == enumerated("A_HANDLE")


def test_element_types_have_libmxnets_numbers_and_sizes_in_julia_and_c(
    pb: ModuleType, mx: ModuleType, bridge: Any
) -> None:
    names = [str(name).lower() for name in pb.jl.seval("map(string, collect(PyBridge.DTYPES))")]
    sizes = list(pb.jl.seval("collect(map(sizeof, PyBridge.DTYPES))"))
    in_mxnet = {
        number: type_.__name__.rstrip("_")
        for type_, number in mx.ndarray.ndarray._DTYPE_NP_TO_MX.items()
        if type_ is not None and 0 <= number < len(names)
    }

    assert names == [in_mxnet[number] for number in range(len(names))]
    assert sizes == numbers_of("item_size")
    assert [1 if name == "bool" else 8 * size for name, size in zip(names, sizes)] == numbers_of("bits")
    kinds = {"f": 2, "u": 1, "i": 0, "b": 1}  # DLPack's; libmxnet's Bool is an unsigned integer of one bit
    assert [kinds[name[0]] for name in names] == numbers_of("code")


def numbers_of(array: str) -> list[int]:
    found = re.search(rf"\b{array}\[\] = \{{([^}}]*)\}}", C)
    assert found, array
    return [int(number) for number in found[1].split(",")]


def test_requests_have_libmxnets_numbers(mx: ModuleType, bridge: Any) -> None:
    numbers = mx.ndarray.ndarray._GRAD_REQ_MAP

    assert numbers["null"] == bridge.REQ_NULL
    assert numbers["add"] == bridge.REQ_ADD


def test_c_functions_are_handed_to_julia_in_the_order_in_which_it_takes_them() -> None:
    from pybridge import _libmxnet_trampoline

    text = (ROOT / "julia" / "src" / "links.jl").read_text(encoding="utf-8")
    taken = re.search(r"links = \(([^)]*)\)", text)

    assert taken
    assert [name.lower() for name in re.findall(r"C_(\w+)", taken[1])] == [
        {"pb_pinned_bytes": "pb_pinned"}.get(name, name)[3:] for name in _libmxnet_trampoline._PYBRIDGE_CALLS
    ]


def test_julia_refuses_another_number_of_c_functions(pb: ModuleType, bridge: Any) -> None:
    with pytest.raises(pb.JuliaError, match="link"):
        pb.jl.seval("PyBridge.link!((1, 2, 3), false)")


# ---- the package ---------------------------------------------------------------------------------------------


def test_julia_code_is_written_for_julia_1_5() -> None:
    # Syntax and names of later versions that are easily slipped in; the rest shows when the code runs.
    later = {
        r"^\s*(?:import|using) .* as ": "import … as (1.6)",
        r"^\s*\(;[^=]*\)\s*=[^=]": "(; a, b) = x (1.7)",
        r"@something|@coalesce|@lock\b": "macros of 1.7",
        r"\bpublic\s+\w+": "public (1.11)",
        r"\bconst\s+\w+::": "typed globals (1.8)",
        r"(?<!\.)\binvokelatest\(|(?<!mx\.)\b(?:stack|getglobal|setglobal!|redirect_stdio|eachsplit)\(": "1.7 to 1.9",
        r"@atomic|\bIterators\.(?:map|flatmap)\b": "1.6 to 1.9",
    }
    sources = [
        path for name in ("julia", "examples", "tests/packages") for path in (ROOT / name).rglob("*.jl")
    ]

    found = [
        f"{path.name}:{number}: {why}"
        for path in sources
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        for pattern, why in later.items()
        if re.search(pattern, line.split("#")[0])
    ]

    assert sources and found == []


def test_the_project_file_lets_pkg_run_the_tests() -> None:
    text = (ROOT / "julia" / "Project.toml").read_text(encoding="utf-8")
    used: set[str] = set()
    for path in TESTS.glob("*.jl"):
        for line in re.findall(
            r"^(?:using|import) ([\w, ]+)$", path.read_text(encoding="utf-8"), re.MULTILINE
        ):
            used.update(name.strip() for name in line.split(","))
    target = re.search(r"^test = \[([^\]]*)\]", text, re.MULTILINE)

    assert target
    assert set(re.findall(r'"(\w+)"', target[1])) == used - {"PyBridge"}
    extras = text[text.index("[extras]") :]
    assert all(
        re.search(rf'^{name} = "[0-9a-f-]{{36}}"$', extras, re.MULTILINE) for name in used - {"PyBridge"}
    )
