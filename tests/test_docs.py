"""Every example in the README, the documentation and the public docstrings runs."""

from __future__ import annotations

import contextlib
import doctest
import importlib
import inspect
import io
import re
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
MODULES = (
    *("autograd", "recording", "functions", "arrays", "julia", "gluon", "testing"),
    *("_crosscheck.check", "_crosscheck.report", "_intermediates.marking", "_intermediates.watched"),
    *("_monitor.callback", "_monitor.statistics", "_monitor.guard", "_monitor.timeline"),
)

BLOCK = re.compile(
    r"(?P<unrun><!-- not run: [^>]+ -->\n+)?"
    r"^```(?P<language>python|julia)(?: title=\"(?P<file>[^\"]+)\")?\n(?P<code>.*?)^```\n"
    r"(?:\n```text\n(?P<printed>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """One example; a titled one is a file that a later one reads, ``printed`` is what the page says."""

    line: int
    language: str
    file: str | None
    code: str
    printed: str | None


def blocks(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            text.count("\n", 0, each.start("code")),
            each["language"],
            each["file"],
            each["code"],
            each["printed"],
        )
        for each in BLOCK.finditer(text)
        if not each["unrun"]
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_example_of_the_page_runs_and_prints_what_the_page_says(
    page: Path, pb: ModuleType, stand_ins: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = blocks(page)
    if not examples:
        pytest.skip("no examples on this page")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": "__main__"}
    for example in examples:
        printed = io.StringIO()
        if example.file:
            Path(example.file).write_text(example.code, encoding="utf-8")
        elif example.language == "julia":
            pb.jl.seval(example.code)
        else:
            # The blank lines make a traceback's line numbers those of the page.
            code = compile("\n" * example.line + example.code, str(page), "exec", dont_inherit=True)
            with contextlib.redirect_stdout(printed):
                exec(code, names)
        if example.printed is not None:
            assert squeeze(printed.getvalue()) == squeeze(example.printed), f"{page.name}:{example.line}"


def squeeze(text: str) -> str:
    return "\n".join(" ".join(line.split()) for line in text.splitlines() if line.strip())


def test_no_block_escapes_the_pattern() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        openings = len(re.findall(r"^\s*(?:```|~~~)\s*(?:python|julia|pycon|py|jl)\b", text, re.MULTILINE))
        assert openings == len(BLOCK.findall(text)), page.name


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(
    name: str, pb: ModuleType, mx: ModuleType, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(f"pybridge.{name}")
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner = doctest.DocTestRunner(optionflags=flags)
    report = io.StringIO()
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs={"pb": pb, "mx": mx}):
        runner.run(test, out=report.write)

    assert runner.failures == 0, report.getvalue()
    assert runner.tries > 0, f"pybridge.{name} has no examples"


def public_names(pb: ModuleType) -> list[str]:
    """What pybridge/__init__.py puts on the table of contents."""
    own = (
        name
        for name, value in vars(pb).items()
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("pybridge.")
    )
    return ["jl", *own]


def public_callables(pb: ModuleType) -> list[str]:
    return [name for name in public_names(pb) if name != "jl" and callable(getattr(pb, name))]


def test_every_public_name_is_documented_with_an_example(pb: ModuleType) -> None:
    without = [
        name
        for name in public_callables(pb)
        if not (isinstance(getattr(pb, name), type) and issubclass(getattr(pb, name), Exception))
        and ">>>" not in (inspect.getdoc(getattr(pb, name)) or "")
    ]

    assert without == []


def test_examples_stand_in_the_section_that_the_api_pages_know(pb: ModuleType) -> None:
    # "Example:" would be set as a paragraph of text, not as code.
    astray = [
        name
        for name in public_callables(pb)
        if re.search(r"^Example:$", inspect.getdoc(getattr(pb, name)) or "", re.M)
    ]

    assert astray == [], "write Examples:"


def test_every_public_name_is_on_a_page_of_the_documentation(pb: ModuleType) -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs").rglob("*.md"))

    missing = [name for name in public_names(pb) if not re.search(rf"\b{name}\b", text)]

    assert missing == []
