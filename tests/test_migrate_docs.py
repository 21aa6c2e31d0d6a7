"""The page "Migrating": its worked example and its table are what the command makes."""

from __future__ import annotations

import re
from pathlib import Path

from migrate_cases import same

from pybridge._migrate import translate
from pybridge._migrate.names_table import markdown
from pybridge._migrate.rules import base_rules, mx_rules

PAGE = (Path(__file__).resolve().parent.parent / "docs" / "migrate.md").read_text(encoding="utf-8")


def test_the_worked_example_is_what_the_command_writes() -> None:
    julia = re.search(r"```julia\n(# A line.*?)```", PAGE, re.DOTALL)
    python = re.search(r'```python title="line.py"\n(.*?)```', PAGE, re.DOTALL)
    assert julia is not None and python is not None

    assert same(translate("line.jl", julia[1].encode()).python, python[1])


def test_the_table_of_names_is_complete() -> None:
    table = PAGE.split("<!-- table: begin -->\n\n")[1].split("\n<!-- table: end -->")[0]

    assert table == markdown()


def test_tables_and_reports_show_no_holes_of_templates() -> None:
    shown = {name: rule.shown for name, rule in [*base_rules().items(), *mx_rules().items()]}

    assert not [name for name, text in shown.items() if re.search(r"\b_(\d|all)\b", text)]
    assert shown["choose_element_0index"] == "mx.nd.choose_element_0index"
