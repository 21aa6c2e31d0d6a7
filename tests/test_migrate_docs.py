"""The page "Migrating": its worked example and its table are what the command makes."""

from __future__ import annotations

import re
from pathlib import Path

from migrate_cases import same

from pybridge._migrate import translate
from pybridge._migrate.names_table import markdown

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "migrate.md").read_text(encoding="utf-8")


def test_the_worked_example_is_what_the_command_writes() -> None:
    julia = re.search(r"```julia\n(# A line.*?)```", PAGE, re.DOTALL)
    python = re.search(r'```python title="line.py"\n(.*?)```', PAGE, re.DOTALL)
    assert julia is not None and python is not None

    assert same(translate("line.jl", julia[1].encode()).python, python[1])


def test_the_table_of_names_is_complete() -> None:
    table = PAGE.split("<!-- table: begin -->\n\n")[1].split("\n<!-- table: end -->")[0]

    assert table == markdown()
