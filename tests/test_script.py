"""`pybridge run`: old MXNet.jl scripts in this process, without an edit."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

SCRIPTS = Path(__file__).with_name("scripts")


def run(*arguments: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pybridge", "run", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=300,
        **options,  # type: ignore[call-overload]
    )


def test_linear_regression_finds_the_line() -> None:
    done = run(SCRIPTS / "linear_regression.jl")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "w = Float32[2.0 -3.4], b = Float32[4.2]\n"


def test_a_perceptron_learns_the_digits(mx: ModuleType, tmp_path: Path) -> None:
    datasets = pytest.importorskip("sklearn.datasets")
    digits = datasets.load_digits()
    file = tmp_path / "digits.params"
    mx.nd.save(
        str(file),
        {"data": mx.nd.array(digits.data / 16), "label": mx.nd.array(digits.target, dtype="float32")},
    )

    done = run(SCRIPTS / "digits.jl", file)

    assert (done.returncode, done.stderr) == (0, "")
    assert re.findall(r"epoch +(\d+): loss", done.stdout) == ["5", "10", "15"]
    assert float(done.stdout.split()[-1]) > 0.95


def test_a_custom_loss_is_robust() -> None:
    done = run(SCRIPTS / "custom_loss.jl")

    assert (done.returncode, done.stderr) == (0, "")
    # A tenth of the points pulls with force 1, the others, a distance d away, with d: d = 1/9 above the true -0.5.
    assert done.stdout == "slope 1.5, offset -0.4\n"


def test_a_script_has_its_arguments_its_file_and_its_folder(tmp_path: Path) -> None:
    (tmp_path / "part.jl").write_text("part() = 21", encoding="utf-8")
    script = tmp_path / "main.jl"
    script.write_text(
        """
        include("part.jl")
        main(arguments) = println(join(arguments, "|"), " ", 2 * part(), " ", basename(@__FILE__))
        if abspath(PROGRAM_FILE) == @__FILE__
            main(ARGS)
        end
        """,
        encoding="utf-8",
    )

    done = run("main.jl", "--epochs", "3", "--help", "-x", cwd=tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "--epochs|3|--help|-x 42 main.jl\n", "")


def test_a_script_that_exits_gives_its_status_and_loses_no_output(tmp_path: Path) -> None:
    script = tmp_path / "exits.jl"
    script.write_text(
        """
        using MXNet
        using PyBridge.PythonCall: pyexec
        x = mx.ones(3)
        pyexec("print('from Python')", Main)
        println("from Julia")
        exit(7)
        """,
        encoding="utf-8",
    )

    done = run(script)

    assert done.returncode == 7
    assert sorted(done.stdout.split("\n")) == ["", "from Julia", "from Python"]
    assert done.stderr == ""


def test_an_error_names_file_and_line_and_the_status_is_1(tmp_path: Path) -> None:
    script = tmp_path / "fails.jl"
    script.write_text('using MXNet\nprintln("so far")\nerror("on purpose")\n', encoding="utf-8")

    done = run(script)

    assert done.returncode == 1
    assert done.stdout == "so far\n"
    assert done.stderr.startswith("ERROR: LoadError: on purpose\n")
    assert f"{script}:3" in done.stderr


def test_what_is_not_here_is_said_with_what_to_use_instead(tmp_path: Path) -> None:
    script = tmp_path / "symbolic.jl"
    script.write_text("using MXNet\nmodel = mx.FeedForward(nothing)\n", encoding="utf-8")

    done = run(script)

    assert done.returncode == 1
    assert "FeedForward" in done.stderr and "pybridge migrate" in done.stderr


def test_every_name_that_is_not_here_stands_in_the_documentation() -> None:
    from pybridge._script import ABSENT

    page = (Path(__file__).parent.parent / "docs" / "running.md").read_text(encoding="utf-8")

    assert [name for name in sorted(ABSENT) if f"`{name}`" not in page] == []


def test_every_exported_name_stands_in_the_documentation(pb: ModuleType) -> None:
    page = (Path(__file__).parent.parent / "docs" / "running.md").read_text(encoding="utf-8")
    exported = [str(name) for name in pb.jl.seval("import PyBridge; map(string, names(PyBridge.mx))")]

    assert len(exported) > 15
    assert [name for name in exported if name != "mx" and f"`{name}`" not in page] == []


def test_a_missing_script_is_said(tmp_path: Path) -> None:
    done = run(tmp_path / "none.jl")

    assert done.returncode == 1
    assert "none.jl" in done.stderr and "Traceback" not in done.stderr


def test_another_package_of_that_name_is_not_shadowed_in_silence(tmp_path: Path) -> None:
    package = tmp_path / "MXNet" / "src" / "MXNet.jl"
    package.parent.mkdir(parents=True)
    package.write_text("module MXNet\nconst mx = 1\nend\n", encoding="utf-8")
    script = tmp_path / "which.jl"
    script.write_text("using MXNet\nprintln(mx)\n", encoding="utf-8")
    load_path = os.pathsep.join(["@", str(tmp_path), "@stdlib"])

    done = run(script, env={**os.environ, "JULIA_LOAD_PATH": load_path})

    assert done.stdout == "PyBridge.mx\n", done.stderr
    assert str(package) in done.stderr


def test_mxnet_is_no_package_for_those_who_run_no_script(pb: ModuleType) -> None:
    assert pb.jl.seval('Base.find_package("MXNet") === nothing')


def test_ctrl_c_ends_a_script(tmp_path: Path) -> None:
    import signal

    script = tmp_path / "long.jl"
    script.write_text('println("begun"); flush(stdout)\nwhile true end\n', encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "pybridge", "run", str(script)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=20) == -signal.SIGINT
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


def test_help_shows_an_example() -> None:
    done = run("--help")

    assert done.returncode == 0
    assert "pybridge run train.jl" in done.stdout
