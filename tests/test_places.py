"""Where set-up keeps things: the state, the paths it gives to Julia, the prefix."""

from __future__ import annotations

import sys
from pathlib import Path

from prefixes import fake_julia

from pybridge import _places


def a_state(tmp_path: Path, **more: object) -> _places.State:
    julia = fake_julia(tmp_path, "1.10.0")
    values: dict[str, object] = {
        "way": "juliapkg", "why": "w", "julia": str(julia), "julia_version": "1.10.0", "pythoncall_version": "0.9.25",
        "juliacall_version": "0.9.25", "project": str(tmp_path),
    }  # fmt: skip
    return _places.State(**{**values, **more})  # type: ignore[arg-type]


def test_state_comes_back_as_it_was_and_only_whole(tmp_path: Path) -> None:
    state = a_state(tmp_path)
    assert _places.load_state(tmp_path) is None
    _places.save_state(tmp_path, state)
    assert _places.load_state(tmp_path) == state
    file = _places.state_file(tmp_path)
    text = file.read_text()
    for broken in ("", "{", "[]", text[: len(text) // 2], text.replace('"format": 1', '"format": 99')):
        file.write_text(broken)
        assert _places.load_state(tmp_path) is None
    file.write_text(text)
    Path(state.julia).unlink()
    assert _places.load_state(tmp_path) is None


def test_registered_pythoncall_never_sees_the_old_julias_packages(tmp_path: Path, own_settings) -> None:
    ordinary = a_state(tmp_path).variables()
    assert "JULIA_LOAD_PATH" not in ordinary and "PYTHON_JULIAPKG_EXE" not in ordinary
    old = a_state(tmp_path, way="debian", pythoncall="/p", depot="/d", offline=True).variables()
    assert old["JULIA_LOAD_PATH"].split(":") == ["@", str(_places.STAND_INS), "/p", "@stdlib"]
    assert old["JULIA_DEPOT_PATH"].startswith("/d:") and old["PYTHON_JULIAPKG_OFFLINE"] == "yes"


def test_users_own_paths_stay_and_are_not_doubled(tmp_path: Path, own_settings) -> None:
    old = a_state(tmp_path, way="debian", pythoncall="/p", depot="/d")
    own_settings.setenv("JULIA_LOAD_PATH", "@:/mine:@stdlib")
    own_settings.setenv("JULIA_DEPOT_PATH", "/my/depot")
    once = old.variables()
    assert once["JULIA_LOAD_PATH"] == f"@:{_places.STAND_INS}:/p:/mine:@stdlib"
    assert once["JULIA_DEPOT_PATH"] == "/d:/my/depot"
    for name, value in once.items():
        own_settings.setenv(name, value)
    assert old.variables() == once


def test_prefix_is_the_option_then_the_variable_then_the_platforms(own_settings, tmp_path: Path) -> None:
    own_settings.setenv("PYBRIDGE_HOME", str(tmp_path / "variable"))
    assert _places.prefix(tmp_path / "option") == tmp_path / "option"
    assert _places.prefix() == tmp_path / "variable"
    own_settings.delenv("PYBRIDGE_HOME")
    own_settings.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    if sys.platform == "linux":
        assert _places.prefix() == tmp_path / "data" / "pybridge"


def test_julia_package_is_found() -> None:
    folder = _places.julia_package_dir()
    assert 'name = "PyBridge"' in (folder / "Project.toml").read_text()
    assert (folder / "src" / "PyBridge.jl").is_file()
