"""The doctor, and the NumPy versions that MXNet does not import with by itself."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from pybridge import _numpy_aliases, doctor

PARTS = [
    "Python", "NumPy", "MXNet", "libmxnet", "juliacall", "PythonCall", "Julia", "threads", "signal handling",
]  # fmt: skip


def examine(tmp_path: Path, **env: str) -> tuple[int, dict[str, dict[str, str]], str]:
    ran = subprocess.run(
        [sys.executable, "-m", "pybridge", "doctor", "--json"],
        env={**os.environ, **env},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.stdout, ran.stderr
    read = json.loads(ran.stdout)
    assert read["ok"] == (ran.returncode == 0)
    assert [row["name"] for row in read["rows"]] == PARTS
    return ran.returncode, {row["name"]: row for row in read["rows"]}, ran.stderr


def test_everything_is_found_and_nothing_is_wrong(pb, tmp_path: Path) -> None:
    import mxnet
    import numpy as np

    status, rows, err = examine(tmp_path, PYBRIDGE_THREADS="2")
    assert status == 0, rows
    assert err == ""
    assert all(row["wrong"] == row["mend"] == "" for row in rows.values())
    assert rows["Python"]["where"] == sys.executable
    assert rows["NumPy"]["value"] == np.__version__
    assert rows["MXNet"]["value"] == mxnet.__version__
    assert "OPENMP" in rows["libmxnet"]["value"] and rows["libmxnet"]["where"].endswith(".so")
    assert rows["Julia"]["value"].startswith(pb.jl.seval("string(VERSION)") + " (way: ")
    assert rows["threads"]["value"] == "2" and rows["threads"]["where"] == "PYBRIDGE_THREADS=2"
    assert "Ctrl-C and SIGTERM reach Python" in rows["signal handling"]["value"]


def test_what_is_missing_or_broken_is_a_row_with_a_mend_and_no_crash(tmp_path: Path) -> None:
    (tmp_path / "mxnet").mkdir()
    (tmp_path / "mxnet" / "__init__.py").write_text("import os; os.abort()\n")
    status, rows, _ = examine(
        tmp_path,
        PYTHONPATH=str(tmp_path),
        PYBRIDGE_HOME=str(tmp_path / "empty"),
        PYTHON_JULIAPKG_EXE="",
        PYBRIDGE_JULIA="",
    )
    assert status == 1
    assert (
        "signal 6" in rows["MXNet"]["wrong"]
        and rows["MXNet"]["mend"] == "python -m pip install 'mxnet>=1.9.1,<2'"
    )
    assert rows["libmxnet"]["value"] == "not examined"
    assert rows["Julia"]["value"] == "not set up" and rows["Julia"]["mend"] == "python -m pybridge setup"
    assert str(tmp_path / "empty") in rows["Julia"]["wrong"]
    assert not (tmp_path / "empty").exists()


def test_signals_switched_off_are_wrong_and_said_in_the_table(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "pybridge", "doctor"],
        env={**os.environ, "PYTHON_JULIACALL_HANDLE_SIGNALS": "no", "COLUMNS": "120"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 1
    assert "✗ signal handling: Julia is started without its signal handling" in ran.stdout
    assert "unset PYTHON_JULIACALL_HANDLE_SIGNALS" in ran.stdout
    assert "PYTHON_JULIACALL_HANDLE_SIGNALS=no" in ran.stdout


def test_table_is_for_people_and_json_for_programs(monkeypatch, capsys) -> None:
    rows = [
        doctor.Row("Python", "3.11", "/usr/bin/python"),
        doctor.Row("Julia", "not set up", "", "none is there", "python -m pybridge setup"),
        doctor.Row("threads", "not set up", "", "none is there", "python -m pybridge setup"),
    ]
    monkeypatch.setattr(doctor, "rows", lambda: rows)
    assert doctor.report() == 1
    out = capsys.readouterr().out
    assert "✗ Julia, threads: none is there\n    python -m pybridge setup\n" in out
    monkeypatch.setattr(doctor, "rows", lambda: rows[:1])
    assert doctor.report() == 0
    assert "Nothing is wrong." in capsys.readouterr().out
    assert doctor.report(as_json=True) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["where"] == "/usr/bin/python"


# ---- the command line ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", ["setup", "doctor", "demo", "env"])
def test_every_command_has_help_with_an_example_and_loads_neither_mxnet_nor_julia(
    run_python, command: str
) -> None:
    ran = run_python(f"""
        import sys
        sys.argv = ["pybridge", "{command}", "--help"]
        try:
            import pybridge.cli
            pybridge.cli.main()
        except SystemExit as end:
            assert end.code == 0
        assert "mxnet" not in sys.modules and "juliacall" not in sys.modules
    """)
    assert ran.returncode == 0, ran.stderr
    assert "Examples" in ran.stdout and f"pybridge {command}" in ran.stdout


# ---- NumPy --------------------------------------------------------------------------------------------------


def test_aliases_are_left_alone_where_numpy_has_them_and_nothing_warns() -> None:
    import numpy as np

    has = tuple(map(int, np.__version__.split(".")[:2])) < (1, 24)
    before = {name: vars(np).get(name) for name in _numpy_aliases.ALIASES}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _numpy_aliases.restore()
        if has:
            assert _numpy_aliases.restore() == []
            assert {name: vars(np).get(name) for name in _numpy_aliases.ALIASES} == before


@pytest.fixture(scope="module")
def newer_numpy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with NumPy 1.26, in front of the environment's own."""
    folder = tmp_path_factory.mktemp("numpy-1.26")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*command, "--target", str(folder), "numpy==1.26.4"], check=True, timeout=300)
    return folder


def test_newer_numpy_works_once_pybridge_is_imported(run_python, newer_numpy: Path) -> None:
    ran = run_python(
        """
        import sys, warnings
        warnings.filterwarnings("error", module="pybridge")
        import numpy
        assert numpy.__version__ == "1.26.4"
        import pybridge as pb
        assert numpy.bool is bool and numpy.object is object
        import mxnet as mx
        x = mx.nd.array([[1, 2], [3, 4]])
        pb.attach_grad(x)
        with pb.record():
            y = x * x
        pb.backward(y)
        assert (pb.getgrad(x).asnumpy() == 2 * x.asnumpy()).all()
        print(pb.jl.seval("1 + 1"))
        """,
        env={"PYTHONPATH": str(newer_numpy)},
    )
    assert (ran.returncode, ran.stdout) == (0, "2\n"), ran.stderr


def test_doctor_says_that_mxnet_alone_dies_with_a_newer_numpy(newer_numpy: Path, tmp_path: Path) -> None:
    status, rows, _ = examine(tmp_path, PYTHONPATH=str(newer_numpy))
    assert status == 1
    assert "`import mxnet` alone dies with NumPy 1.26.4" in rows["NumPy"]["wrong"]
    assert rows["NumPy"]["mend"] == "python -m pip install 'numpy<1.24'"
    assert rows["NumPy"]["where"] == str(newer_numpy / "numpy")
    assert rows["MXNet"]["value"] == "1.9.1" and rows["MXNet"]["wrong"] == ""
