"""The small packages of tests/packages: do they keep to what the registered packages of these names document?"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from types import ModuleType

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


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_a_stand_in_keeps_to_the_published_protocol(pb: ModuleType, stand_ins: Path, file: Path) -> None:
    # In a Julia of its own, which interprets: compiling all these small calls takes ten times as long.
    environment = {
        **os.environ,
        "JULIA_LOAD_PATH": os.pathsep.join([str(stand_ins), "@stdlib"]),
        "JULIA_DEPOT_PATH": os.pathsep.join(pb.jl.seval("DEPOT_PATH")),
    }
    julia = pb.jl.seval('joinpath(Sys.BINDIR, "julia")')
    code = 'using Test; @testset "stand-in" begin include(ARGS[1]) end'

    done = subprocess.run(
        [julia, "--startup-file=no", "--compile=min", "-O0", "-e", code, str(file)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=500,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"\| Pass +Total\n", done.stdout), done.stdout


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
