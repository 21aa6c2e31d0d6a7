"""What pybridge stands on: where each part was found, what is wrong with it, and the command that mends it.

Nothing risky is imported here: what could crash, hang or be missing is asked for in processes of its own.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Optional

from . import _places, _signals

SETUP = "python -m pybridge setup"
PIP = "python -m pip install"
MARK = "pybridge-doctor:"

MXNET_PROBE = f"""
import json, runpy
if {{aliases}}:
    runpy.run_path({str(Path(__file__).with_name("_numpy_aliases.py").resolve())!r})["restore"]()
import mxnet
needed = ("MXAutogradBackwardEx", "MXCustomFunctionRecord", "MXNDArrayFromDLPackEx", "MXNDArrayGetGrad")
print({MARK!r} + json.dumps({{{{
    "version": mxnet.__version__, "file": mxnet.__file__, "library": mxnet.base._LIB._name,
    "features": [f.name for f in mxnet.runtime.feature_list() if f.enabled],
    "missing": [name for name in needed if not hasattr(mxnet.base._LIB, name)],
}}}}))
"""

JULIA_PROBE = f"""
import json, sys
sys.path.append({str(Path(__file__).resolve().parent.parent)!r})
from pybridge import _signals, julia
main = julia.start()
import juliacall
print({MARK!r} + json.dumps({{
    "julia": str(main.seval("string(VERSION)")), "bindir": str(main.seval("Sys.BINDIR")),
    "threads": int(main.seval("Threads.nthreads()")),
    "juliacall": juliacall.__version__, "file": juliacall.__file__,
    "pythoncall": str(main.seval("string(PythonCall.VERSION)")),
    "source": str(main.seval("something(pathof(PythonCall), string())")),
    "handled": julia.signals_handled(juliacall), "blocked": _signals.blocked_now(),
}}))
"""


@dataclass(frozen=True)
class Row:
    """One part: what it is, where it was found, and what is wrong, if anything."""

    name: str
    value: str
    where: str = ""
    wrong: str = ""
    mend: str = ""


def rows() -> list[Row]:
    """Examine everything; takes some seconds, since Julia is started once in a process of its own."""
    return [*_python(), *_packages(), *_julia(), *_this_process()]


def report(as_json: bool = False) -> int:
    """Print what `rows` finds, as a table or as JSON; the exit status is 1 if something is wrong."""
    found = rows()
    bad = [row for row in found if row.wrong]
    if as_json:
        text = json.dumps({"ok": not bad, "rows": [asdict(row) for row in found]}, indent=2)
        sys.stdout.write(text + "\n")
    else:
        _print(found, bad)
    return 1 if bad else 0


def _print(found: list[Row], bad: list[Row]) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    table = Table(
        "", "part", "found", "where", title="pybridge doctor", title_justify="left", box=SIMPLE_HEAD
    )
    table.columns[3].overflow = "fold"
    for row in found:
        mark = Text("✗", "bold red") if row.wrong else Text("✓", "green")
        table.add_row(mark, row.name, Text(row.value), Text(row.where, "dim"))
    console.print(table)
    for wrong, mend in dict.fromkeys((row.wrong, row.mend) for row in bad):
        names = ", ".join(row.name for row in bad if (row.wrong, row.mend) == (wrong, mend))
        console.print(Text(f"✗ {names}: {wrong}", "red"), soft_wrap=True)
        if mend:
            console.print(Text(f"    {mend}"), soft_wrap=True)
    if not bad:
        console.print(Text("Nothing is wrong.", "green"))


# ---- Python and its packages --------------------------------------------------------------------------------


def _python() -> Iterator[Row]:
    version, wrong, mend = platform.python_version(), "", ""
    if not (3, 9) <= sys.version_info[:2] <= (3, 11):
        wrong = "MXNet 1.9.1 and pybridge need Python 3.9 to 3.11"
        mend = "python3.11 -m venv .venv && .venv/bin/pip install mxnet-pybridge"
    elif sys.platform == "win32":
        wrong = "Windows is not supported; use the Windows Subsystem for Linux"
    yield Row("Python", version, sys.executable, wrong, mend)


def _packages() -> Iterator[Row]:
    plain, error = _ask(MXNET_PROBE.format(aliases=False))
    mended, mended_error = (plain, error) if plain else _ask(MXNET_PROBE.format(aliases=True))
    numpy = _version("numpy")
    if not numpy:
        yield Row("NumPy", "missing", "", "NumPy is not installed", f"{PIP} 'numpy<1.24'")
    elif not plain and mended:
        yield Row(
            "NumPy",
            numpy,
            _folder("numpy"),
            f"`import mxnet` alone dies with NumPy {numpy} ({error}). With `import pybridge` before it, it works; "
            "an older NumPy mends it for every order",
            f"{PIP} 'numpy<1.24'",
        )
    elif int(numpy.partition(".")[0]) >= 2:
        yield Row("NumPy", numpy, _folder("numpy"), "MXNet needs NumPy below 2", f"{PIP} 'numpy<1.24'")
    else:
        yield Row("NumPy", numpy, _folder("numpy"))
    mend = f"{PIP} 'mxnet>=1.9.1,<2'"
    if not mended:
        missing = importlib.util.find_spec("mxnet") is None
        wrong = "MXNet is not installed" if missing else f"MXNet does not import: {mended_error}"
        yield Row("MXNet", "missing" if missing else _version("mxnet"), _folder("mxnet"), wrong, mend)
        yield Row("libmxnet", "not examined", "", "MXNet does not import", mend)
        return
    wrong = (
        ""
        if mended["version"].startswith("1.9.")
        else f"pybridge is made for MXNet 1.9.1, not {mended['version']}"
    )
    yield Row("MXNet", mended["version"], str(Path(mended["file"]).parent), wrong, mend if wrong else "")
    lacking = mended["missing"]
    wrong = f"this libmxnet lacks {', '.join(lacking)}" if lacking else ""
    yield Row(
        "libmxnet",
        ", ".join(mended["features"]) or "no features",
        mended["library"],
        wrong,
        mend if lacking else "",
    )


# ---- Julia --------------------------------------------------------------------------------------------------


def _julia() -> Iterator[Row]:
    from . import _ordinary, _setup

    if importlib.util.find_spec("juliacall") is None:
        yield Row("juliacall", "missing", "", "juliacall is not installed", f"{PIP} juliacall")
        yield from (
            Row(name, "not examined", "", "juliacall is missing", f"{PIP} juliacall") for name in STARTED
        )
        return
    home = _places.prefix()
    state = _setup.fitting_state(home)
    alone = _ordinary.own_setting("exe") and _ordinary.own_setting("offline") == "yes"
    if state is None and not alone:
        yield Row("juliacall", _version("juliacall"), _folder("juliacall"))
        wrong = f"no Julia is set up for this Python environment in {home}"
        yield from (Row(name, "not set up", "", wrong, SETUP) for name in STARTED)
        return
    way = f"way: {state.way}" if state is not None else "way: juliapkg's own settings"
    answer, error = _ask(JULIA_PROBE)
    if not answer:
        yield Row("juliacall", _version("juliacall"), _folder("juliacall"))
        mend = f"{SETUP} --remove && {SETUP}"
        julia = state.julia if state is not None else ""
        yield from (
            Row(name, "does not start", julia, f"Julia does not start: {error}", mend) for name in STARTED
        )
        return
    yield Row("juliacall", answer["juliacall"], str(Path(answer["file"]).parent))
    yield Row("PythonCall", answer["pythoncall"], answer["source"])
    yield Row("Julia", f"{answer['julia']} ({way})", state.julia if state is not None else answer["bindir"])
    yield Row("threads", str(answer["threads"]), _threads_from())
    yield _signal_row(answer["handled"], answer["blocked"])


STARTED = ("PythonCall", "Julia", "threads", "signal handling")


def _threads_from() -> str:
    names = ("PYBRIDGE_THREADS", "PYTHON_JULIACALL_THREADS", "JULIA_NUM_THREADS")
    return next((f"{name}={os.environ[name]}" for name in names if os.environ.get(name)), "default")


def _signal_row(handled: bool, blocked: list[str], where: str = "") -> Row:
    from .julia import HANDLE_SIGNALS

    setting = f"{HANDLE_SIGNALS}={os.environ[HANDLE_SIGNALS]}" if HANDLE_SIGNALS in os.environ else "default"
    where = where or setting
    if not handled:
        wrong = (
            "Julia is started without its signal handling: a stack overflow in Julia code, and garbage collection "
            "with several Julia threads, end the process"
        )
        return Row(
            "signal handling",
            "off",
            where,
            wrong,
            f"unset {HANDLE_SIGNALS}   # and import pybridge before juliacall",
        )
    if blocked:
        wrong = f"{', '.join(blocked)} cannot reach Python: Ctrl-C does nothing"
        return Row(
            "signal handling", "on", where, wrong, "import pybridge on the main thread, before juliacall"
        )
    return Row("signal handling", "on; Ctrl-C and SIGTERM reach Python", where)


def _this_process() -> Iterator[Row]:
    """If Julia runs in this very process: what its user's settings have made of it."""
    juliacall: Any = sys.modules.get("juliacall")
    if juliacall is None or not hasattr(juliacall, "Main"):
        return
    from .julia import signals_handled

    row = _signal_row(signals_handled(juliacall), _signals.blocked_now(), "this process")
    yield Row(f"{row.name} (here)", row.value, row.where, row.wrong, row.mend)


# ---- asking -------------------------------------------------------------------------------------------------


def _ask(code: str, timeout: float = 180) -> tuple[dict[str, Any], str]:
    """The answer of a snippet in a process of its own, or none and why."""
    options = [f"-X{name}={value}" for name, value in sys._xoptions.items() if isinstance(value, str)]
    try:
        ran = subprocess.run(
            [sys.executable, *options, "-c", code],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return {}, f"no answer within {timeout:.0f} s"
    for line in ran.stdout.splitlines():
        if line.startswith(MARK):
            answer = json.loads(line[len(MARK) :])
            assert isinstance(answer, dict)
            return answer, ""
    return {}, _last_words(ran)


def _last_words(ran: subprocess.CompletedProcess[str]) -> str:
    if ran.returncode < 0:
        return f"the process was ended by signal {-ran.returncode}"
    lines = [line.strip() for line in ran.stderr.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line.partition(":")[0]]
    return (errors or lines or [f"exit status {ran.returncode}"])[-1]


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _folder(package: str) -> str:
    spec: Optional[Any] = importlib.util.find_spec(package)
    return str(Path(spec.origin).parent) if spec is not None and spec.origin else ""
