"""Which way set-up takes: a named Julia, juliapkg's, Debian's, or a clear word that there is none."""

from __future__ import annotations

import shutil
import time
from io import StringIO
from pathlib import Path

import pytest
from prefixes import fake_julia, on_debian, pybridge, quiet
from rich.console import Console

from pybridge import _ordinary, _setup, _ways
from pybridge._old_julia import debian
from pybridge._run import SetupError
from pybridge._steps import Steps


def test_named_julia_that_is_none_is_refused(own_settings, tmp_path: Path) -> None:
    own_settings.setenv("PYBRIDGE_JULIA", str(tmp_path / "absent"))
    with pytest.raises(SetupError, match=r"PYBRIDGE_JULIA is .*absent.*no executable"):
        _ways.choose("auto", tmp_path, quiet())
    own_settings.setenv("PYBRIDGE_JULIA", "/bin/echo")
    with pytest.raises(SetupError, match="does not answer as a Julia does"):
        _ways.choose("auto", tmp_path, quiet())
    own_settings.delenv("PYBRIDGE_JULIA")
    with pytest.raises(SetupError, match=r"no Julia is named. Set PYBRIDGE_JULIA"):
        _ways.choose("named", tmp_path, quiet())
    with pytest.raises(SetupError, match="unknown way 'magic'"):
        _ways.choose("magic", tmp_path, quiet())


@pytest.mark.parametrize(("version", "old"), [("1.5.3", True), ("1.6.1", False), ("1.12.0-rc1", False)])
def test_named_julia_is_taken_with_its_version(own_settings, tmp_path: Path, version: str, old: bool) -> None:
    julia = fake_julia(tmp_path, version)
    for name in ("PYTHON_JULIAPKG_EXE", "PYBRIDGE_JULIA"):
        own_settings.setenv(name, str(julia))
        choice = _ways.choose("auto", tmp_path, quiet())
        assert (choice.way, choice.why, choice.julia) == ("named", f"{name} names it", str(julia))
        assert (choice.version < _ways.OLDEST_SUPPORTED) == old


def test_named_julia_that_is_too_old_is_refused(own_settings, tmp_path: Path) -> None:
    own_settings.setenv("PYBRIDGE_JULIA", str(fake_julia(tmp_path, "1.4.2")))
    with pytest.raises(SetupError, match=r"is Julia 1\.4\.2; pybridge needs 1\.5"):
        _ways.choose("auto", tmp_path, quiet())


def test_juliapkg_is_the_way_wherever_julias_downloads_answer(own_settings, tmp_path: Path) -> None:
    own_settings.setattr(_ordinary, "reachable", lambda project: (True, ""))
    choice = _ways.choose("auto", tmp_path, quiet())
    assert choice.way == "juliapkg" and "ordinary way" in choice.why


def test_no_way_at_all_says_what_was_tried_and_what_to_do(own_settings, tmp_path: Path) -> None:
    own_settings.setattr(
        _ordinary, "reachable", lambda project: (False, "Julia's downloads cannot be reached: why")
    )
    own_settings.setattr(debian, "is_debian", lambda: False)
    with pytest.raises(SetupError) as caught:
        _ways.choose("auto", tmp_path, quiet())
    text = str(caught.value)
    assert "cannot be reached: why" in text and "no Debian" in text and "PYBRIDGE_JULIA=" in text


def test_no_network_is_seen_within_seconds(own_settings, tmp_path: Path) -> None:
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY"):
        own_settings.setenv(name, "http://127.0.0.1:9")
    begin = time.monotonic()
    reached, why = _ordinary.reachable(tmp_path)
    assert not reached and "cannot be reached" in why
    assert time.monotonic() - begin < 20


@on_debian
def test_juliapkg_that_fails_leads_to_debian(brought: Path, own_settings) -> None:
    for name in ("http_proxy", "https_proxy", "HTTPS_PROXY"):
        own_settings.setenv(name, "http://127.0.0.1:9")
    own_settings.setattr(_ordinary, "reachable", lambda project: (True, ""))
    own_settings.setattr(shutil, "which", lambda name, *_: f"/usr/bin/{name}")
    out = StringIO()
    state = _setup._build(brought, Steps(Console(file=out, width=400)), "auto")
    assert state.way == "debian" and state.why.startswith("juliapkg failed")
    assert "✗ juliapkg: Julia and its packages" in out.getvalue()


def test_wrong_way_on_the_command_line_is_a_clear_error(tmp_path: Path) -> None:
    ran = pybridge(tmp_path / "home", "setup", "--way", "magic")
    assert ran.returncode == 1 and "unknown way 'magic'" in ran.stderr
    assert "Traceback" not in ran.stderr
