"""The small cases of tests/migrate/cases: Julia snippets by construct, and running them in both languages."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CASES = Path(__file__).resolve().parent / "migrate" / "cases"
PROGRAMS = CASES.parent / "programs"
_MARK = re.compile(r"^#% (\w+)\n", re.MULTILINE)
_BETWEEN = "\x1e"


@dataclass(frozen=True)
class Case:
    """A snippet of Julia under its construct and its name."""

    construct: str
    name: str
    julia: str

    def __str__(self) -> str:
        return f"{self.construct}-{self.name}"


def split(file: Path) -> dict[str, str]:
    """The pieces of a file of cases by name."""
    pieces = _MARK.split(file.read_text(encoding="utf-8"))
    return dict(zip(pieces[1::2], pieces[2::2]))


def cases(*constructs: str) -> list[Case]:
    """All cases of these constructs, of all without any."""
    files = [CASES / f"{each}.jl" for each in constructs] or sorted(CASES.glob("*.jl"))
    return [Case(file.stem, name, text) for file in files for name, text in split(file).items()]


def julia() -> list[str]:
    """The command of the Julia that is set up."""
    from pybridge import _places

    state = _places.load_state(_places.prefix())
    assert state is not None, "no Julia is set up"
    return [state.variables()["PYTHON_JULIAPKG_EXE"], "--startup-file=no", "--color=no"]


_RUNNER = """
for (k, text) in enumerate(split(read(stdin, String), '\\x1d'))
    m = Module(Symbol("Case", k))
    Core.eval(m, :(eval(x) = Core.eval($m, x); include(x) = Base.include($m, x)))
    try
        include_string(m, String(text), "case.jl")
    catch e
        print("ERROR ", sprint(showerror, e))
    end
    print('\\x1e')
end
"""


def printed_by_julia(snippets: list[str]) -> list[str]:
    """What each snippet prints in Julia, each in a module of its own, in one process."""
    return _printed([*julia(), "-e", _RUNNER], snippets)


def printed_by_mxnet_jl(snippets: list[str], folder: Path) -> list[str]:
    """The same of MXNet.jl code, run as a script of it is."""
    script = folder / "cases.jl"
    script.write_text(_RUNNER, encoding="utf-8")
    command = [sys.executable, "-m", "pybridge", "run", str(script)]
    return _printed(command, ["using MXNet\n" + snippet for snippet in snippets])


def _printed(command: list[str], snippets: list[str]) -> list[str]:
    ran = subprocess.run(
        command,
        input="\x1d".join(snippets),
        capture_output=True,
        text=True,
        check=True,
        timeout=500,
    )
    return ran.stdout.split(_BETWEEN)[: len(snippets)]


def printed_by_python(code: str, **names: Any) -> str:
    """What Python code prints, run as a module of its own."""
    from types import ModuleType

    module = ModuleType("migrated")
    module.__dict__.update(names)
    sys.modules["migrated"] = module  # dataclasses look their module up
    heard = io.StringIO()
    try:
        with contextlib.redirect_stdout(heard):
            exec(compile(code, "migrated.py", "exec", dont_inherit=True), module.__dict__)
    finally:
        del sys.modules["migrated"]
    return heard.getvalue()


_WORDS = {"true": "True", "false": "False", "nothing": "None"}


def alike(text: str) -> str:
    """Text as both languages print it: truth values, and floats to twelve digits."""
    text = re.sub(r"\b(true|false|nothing)\b", lambda found: _WORDS[found[0]], text)
    return re.sub(r"-?\d+\.\d+(?:e[-+]?\d+)?", lambda found: f"{float(found[0]):.12g}", text).rstrip("\n")


def expected(file: Path) -> dict[str, str]:
    """The Python that stands beside a file of cases."""
    return split(file.with_suffix(".py"))


def same(made: str, wanted: str) -> bool:
    """Whether two Python texts are the same; before 3.11 `ast.unparse` put more tuples in parentheses."""
    if sys.version_info >= (3, 11):
        return made == wanted
    return ast.dump(ast.parse(made)) == ast.dump(ast.parse(wanted))


def write_expected() -> None:
    """Write the Python of every case and program anew: to be read before it is committed."""
    from pybridge._migrate.file import translate

    for file in [*sorted(CASES.glob("*.jl")), CASES.parent / "ndarray.jl"]:
        pieces = [f"#% {name}\n{python(file, name, text)}" for name, text in split(file).items()]
        file.with_suffix(".py").write_text("".join(pieces), encoding="utf-8")
    for file in sorted(PROGRAMS.glob("*.jl")):
        if file.stem.endswith("_functions"):
            continue
        made = translate(file.name, file.read_bytes(), julia_name=f"{file.stem}_functions.jl")
        file.with_suffix(".py").write_text(made.python, encoding="utf-8")
        if made.julia:
            file.with_name(f"{file.stem}_functions.jl").write_text(made.julia, encoding="utf-8")


def python(file: Path, name: str, text: str) -> str:
    """The translation of a case."""
    from pybridge._migrate.file import translate

    if file.stem == "ndarray":
        return translate(f"{name}.jl", f"using MXNet\n{text}".encode(), elsewhere=frozenset({"show_"})).python
    return translate(f"{name}.jl", text.encode()).python


if __name__ == "__main__":
    write_expected()
