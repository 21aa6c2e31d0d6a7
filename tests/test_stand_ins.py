"""The small packages of tests/packages: do they keep to what the registered packages of these names document?"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).resolve().parent
PACKAGES = HERE / "packages"
FILES = sorted((HERE / "stand_ins").glob("*.jl"))

# As in Julia's General registry: what asks for a package by name and UUID must find these.
REGISTERED = {
    "ChainRulesCore": "d360d2e6-b24c-11e9-a2a3-2a2ae2dbcce4",
    "Flux": "587475ba-b771-5e3f-ad9e-33799f191a9c",
    "Lux": "b2108857-7c20-44ae-9111-449ecde12c47",
    "Zygote": "e88e6eb3-aa80-5325-afca-941959d7151f",
}


@pytest.fixture(scope="module")
def run(pb: ModuleType, stand_ins: Path) -> Any:
    """Run a file of Julia tests with the stand-ins on the load path."""
    return pb.include(HERE.parent / "julia" / "test" / "report.jl").report


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_stand_in_keeps_to_the_public_protocol(run: Callable[[str], Any], file: Path) -> None:
    passed, text = run(str(file))

    if not passed:
        pytest.fail(str(text), pytrace=False)
    assert re.search(r"\| Pass +Total\n", str(text)), text


def test_each_stand_in_bears_the_registered_name_and_uuid_and_says_what_it_is() -> None:
    folders = {folder.name: folder for folder in PACKAGES.iterdir() if folder.is_dir()}

    assert folders.keys() == REGISTERED.keys()
    assert {name.lower() for name in folders} == {file.stem for file in FILES}
    for name, folder in folders.items():
        project = (folder / "Project.toml").read_text(encoding="utf-8")
        assert re.search(rf'^name = "{name}"$', project, re.MULTILINE), name
        assert re.search(rf'^uuid = "{REGISTERED[name]}"$', project, re.MULTILINE), name
        for dependency, uuid in re.findall(r'^(\w+) = "([0-9a-f-]{36})"$', project, re.MULTILINE):
            assert REGISTERED.get(dependency, uuid) == uuid, dependency
        source = (folder / "src" / f"{name}.jl").read_text(encoding="utf-8")
        assert source.startswith(f'"""\nA small stand-in for the registered package {name}, for tests')
