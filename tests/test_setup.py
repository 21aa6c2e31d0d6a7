"""Set-up on a bare prefix, with real packages and real kills; what is fetched is fetched once a session."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from pybridge import _ordinary, _places, _setup, _ways
from pybridge._old_julia import debian, pythoncall
from pybridge._run import CommandError, SetupError, run
from pybridge._steps import Step, Steps

on_debian = pytest.mark.skipif(
    not debian.is_debian() or bool(debian.missing_tools()) or not debian.sources(),
    reason="needs a Debian with a mirror in its apt sources",
)
SETTINGS = ("PYBRIDGE_JULIA", "PYTHON_JULIAPKG_EXE", "PYTHON_JULIAPKG_PROJECT", "PYTHON_JULIAPKG_OFFLINE")
SETTINGS += ("JULIA_LOAD_PATH", "JULIA_DEPOT_PATH", "JULIA_PKG_SERVER")


def clean_environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name not in SETTINGS}
    return {**kept, "PYBRIDGE_HOME": str(home), **more}


def pybridge(home: Path, *words: str, timeout: float = 300, **more: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m pybridge`` with ``home`` as its prefix."""
    command = [sys.executable, "-m", "pybridge", *words]
    env = clean_environment(home, **more)
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=timeout, cwd=home.parent)


def files_of(folder: Path) -> dict[str, tuple[int, int]]:
    return {
        str(path.relative_to(folder)): (path.lstat().st_mtime_ns, path.lstat().st_size)
        for path in sorted(folder.rglob("*"))
        if path.name != "__pycache__" and "__pycache__" not in path.parts
    }


def quiet() -> Steps:
    return Steps(Console(file=StringIO()))


@pytest.fixture
def own_settings(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.fixture(scope="session")
def brought(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A prefix that set-up has filled from nothing, as a user without a home of much worth."""
    base = tmp_path_factory.mktemp("brought")
    (base / "user").mkdir()
    # pip asks rustc for its version; rustup's would begin a folder of its own in this home.
    elsewhere = {"HOME": str(base / "user"), "RUSTUP_HOME": str(base / "rustup"), "XDG_CACHE_HOME": ""}
    home = base / "home"
    ran = pybridge(home, "setup", "--way", "debian", "--keep-downloads", **elsewhere)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    (base / "said.txt").write_text(ran.stdout)
    return home


# ---- the whole way, on a bare folder ------------------------------------------------------------------------


@on_debian
def test_bare_prefix_gets_a_julia_that_runs_and_nothing_is_written_elsewhere(brought: Path) -> None:
    said = (brought.parent / "said.txt").read_text()
    assert "Way: debian (asked for)" in said
    assert "✓ Fetching Debian's packages (signatures checked)" in said
    assert "✓ Starting Julia once" in said and "PythonCall 0.9.25" in said
    assert list((brought.parent / "user").rglob("*")) == []
    assert not (brought / "scratch").exists()
    code = "import pybridge as pb, sys; print(pb.jl.seval('string(VERSION)')); print(sys.modules['juliacall'].__file__)"
    ran = subprocess.run(
        [sys.executable, "-c", code],
        env=clean_environment(brought),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert ran.stderr == "" and ran.returncode == 0
    version, file = ran.stdout.split()
    assert version == debian.JULIA_VERSION
    assert brought in Path(file).parents  # PythonCall's own Python side


@on_debian
def test_second_run_changes_nothing_and_needs_no_network(brought: Path, tmp_path: Path) -> None:
    for tool in ("apt-get", "apt-cache", "dpkg"):
        (tmp_path / tool).write_text("#!/bin/sh\necho called >> $0.called\nexit 1\n")
        (tmp_path / tool).chmod(0o755)
    before = files_of(brought)
    begin = time.monotonic()
    no_network = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PIP_NO_INDEX": "1"}
    no_network |= dict.fromkeys(("http_proxy", "https_proxy", "HTTPS_PROXY"), "http://127.0.0.1:9")
    ran = pybridge(brought, "setup", **no_network)
    assert ran.returncode == 0 and "set up already (debian: asked for)" in ran.stdout
    assert time.monotonic() - begin < 20
    assert files_of(brought) == before
    assert list(tmp_path.glob("*.called")) == []


@on_debian
def test_two_runs_at_once_are_both_right_and_one_does_the_work(brought: Path) -> None:
    shutil.rmtree(brought / "environments")
    command = [sys.executable, "-m", "pybridge", "setup", "--way", "debian", "--keep-downloads"]
    both = [
        subprocess.Popen(
            command,
            env=clean_environment(brought),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate(timeout=300)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sorted("Starting Julia once" in text for text in said) == [False, True], said
    assert sum("the other set-up has done it" in text or "set up already" in text for text in said) == 1, said


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from rich.console import Console
    from pybridge import _places, _setup, _steps

    where, home = sys.argv[1], Path(sys.argv[2])

    def die():
        os.kill(os.getpid(), signal.SIGKILL)

    class Steps(_steps.Steps):
        def step(self, title):
            if title.startswith(where):
                die()
            return super().step(title)

    counted = _steps.Step.count

    def count(self, done, total):
        if where == "amid unpacking" and done == 8 and total == 17:
            die()
        if where == "amid run paths" and done == 20:
            die()
        counted(self, done, total)

    _steps.Step.count = count
    if where == "before the state":
        _places.save_state = lambda *_: die()
    if where == "amid the state":
        Path.replace = lambda *_: die()
    _setup.setup(home, Steps(Console()), "debian", True)
"""
KILLS = (
    "Fetching Debian",
    "Unpacking",
    "amid unpacking",
    "Making it one",
    "amid run paths",
    "Fetching PythonCall",
    "Starting Julia",
    "before the state",
)


@on_debian
def test_killed_anywhere_leaves_nothing_that_is_taken_for_whole(brought: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / _places.MARKER).touch()
    shutil.copytree(brought / "downloads", home / "downloads", copy_function=os.link)
    env = clean_environment(home)
    # The first start compiles; with the compiled files of the same Julia the later kills come sooner.
    for where in KILLS:
        command = [sys.executable, "-c", textwrap.dedent(KILLED), where, str(home)]
        ran = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300)
        assert ran.returncode == -signal.SIGKILL, (where, ran.stdout + ran.stderr)
        assert list((home / "environments").rglob("state.json")) == []
        assert pybridge(home, "env").returncode == 1
        placed = home / "julia" / f"debian-{debian.JULIA_VERSION}"
        assert placed.exists() == (KILLS.index(where) > KILLS.index("amid run paths"))
    ran = pybridge(home, "setup", "--way", "debian", PIP_NO_INDEX="1")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert not (home / "scratch").exists() and not (home / "downloads").exists()
    assert "export PYTHON_JULIAPKG_EXE=" in pybridge(home, "env").stdout
    check_removal(home)


def check_removal(home: Path) -> None:
    (home.parent / "other.txt").write_text("not pybridge's")
    ran = pybridge(home, "setup", "--remove")
    assert ran.returncode == 0 and f"removed {home}" in ran.stdout
    assert not home.exists() and (home.parent / "other.txt").exists()
    ran = pybridge(home, "setup", "--remove")
    assert ran.returncode == 0 and "nothing is set up" in ran.stdout


@on_debian
def test_killed_set_up_ends_its_programs_before_the_next_one_cleans(tmp_path: Path) -> None:
    # The lock goes to the programs that set-up has started: it is free when the last of them has ended.
    code = f"""
        import os, signal, threading
        from pathlib import Path
        from pybridge import _places, _run
        with _places.lock(Path({str(tmp_path / "home")!r})):
            threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGKILL)).start()
            _run.run(["sleep", "3"], what="sleep")
    """
    begin = time.monotonic()
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(code)]).returncode == -signal.SIGKILL
    waited = []
    with _places.lock(tmp_path / "home", lambda: waited.append(True)):
        assert time.monotonic() - begin > 3 and waited == [True]


# ---- what is fetched is checked -----------------------------------------------------------------------------


@on_debian
def test_packages_signed_by_another_key_are_refused(tmp_path: Path) -> None:
    key = tmp_path / "other.gpg"
    key.write_bytes(b"")
    source = debian.Source(debian.sources()[0].uri, str(key))
    with pytest.raises(CommandError, match=r"(?s)apt-get update failed.*not signed"):
        debian.fetch(source, tmp_path / "scratch", tmp_path / "downloads", Step())
    assert not (tmp_path / "downloads").exists()


@on_debian
def test_kept_package_that_was_changed_is_not_taken(brought: Path, tmp_path: Path) -> None:
    shutil.copytree(brought / "downloads", tmp_path / "downloads")
    package = next((tmp_path / "downloads" / "debian").glob("libutf8proc2*.deb"))
    whole = package.read_bytes()
    package.write_bytes(whole[:-1] + b"x")
    (tmp_path / "scratch").mkdir()
    step = Step()
    debian.fetch(debian.sources()[0], tmp_path / "scratch", tmp_path / "downloads", step)
    assert step.result.startswith("17 packages") or "packages" in step.result
    assert package.read_bytes() == whole


@on_debian
def test_source_archive_with_another_hash_is_not_taken(brought: Path, tmp_path: Path, own_settings) -> None:
    archive = tmp_path / "downloads" / pythoncall.ARCHIVE
    archive.parent.mkdir()
    archive.write_bytes((brought / "downloads" / pythoncall.ARCHIVE).read_bytes() + b"x")
    own_settings.setenv("PIP_NO_INDEX", "1")
    (tmp_path / "scratch").mkdir()
    with pytest.raises(SetupError, match="pip download failed"):
        pythoncall.fetch(tmp_path / "scratch", archive.parent, Step())


# ---- choosing a way -----------------------------------------------------------------------------------------


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


def fake_julia(folder: Path, version: str) -> Path:
    julia = folder / "julia"
    julia.write_text(f"#!/bin/sh\necho julia version {version}\n")
    julia.chmod(0o755)
    return julia


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


def test_foreign_folder_is_neither_filled_nor_removed(own_settings, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(SetupError, match="holds other things"):
        _setup.setup(tmp_path, quiet())
    assert not _setup.remove(tmp_path, quiet())
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


def test_wrong_way_on_the_command_line_is_a_clear_error(tmp_path: Path) -> None:
    ran = pybridge(tmp_path / "home", "setup", "--way", "magic")
    assert ran.returncode == 1 and "unknown way 'magic'" in ran.stderr
    assert "Traceback" not in ran.stderr


# ---- the machine's apt sources ------------------------------------------------------------------------------

ONE_LINE = """
# deb http://commented.example/debian bookworm main
deb [arch=amd64 signed-by=/usr/share/keyrings/a.gpg] http://mirror.example/debian bookworm main contrib
deb-src http://mirror.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
deb http://other.example/debian stable contrib
"""
STANZAS = """\
Types: deb deb-src
# a comment within
URIs: http://one.example/debian http://two.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQ
 -----END PGP PUBLIC KEY BLOCK-----

Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main
Enabled: no

Types: deb
URIs: https://vendor.example/apt
Suites: nodistro
Components: main
"""


def test_mirror_and_key_are_read_from_both_formats(tmp_path: Path) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "sources.list.d" / "debian.sources").write_text(STANZAS)
    (tmp_path / "os-release").write_text('ID=debian\nVERSION_CODENAME="bookworm"\n')
    found = debian.sources(tmp_path, tmp_path / "os-release")
    assert [source.uri for source in found] == [
        "http://mirror.example/debian",
        "http://one.example/debian",
        "http://two.example/debian",
    ]
    assert found[0].signed_by == "/usr/share/keyrings/a.gpg"
    assert found[1].signed_by.startswith("\n -----BEGIN PGP") and found[1].signed_by.endswith("BLOCK-----")


@on_debian
def test_apt_keeps_the_machines_proxies_and_none_of_its_hooks(tmp_path: Path, own_settings) -> None:
    machine = tmp_path / "machine.conf"
    machine.write_text(
        'Acquire::http::Proxy "http://proxy.example:3128";\nAcquire::AllowInsecureRepositories "true";\n'
        'APT::Update::Post-Invoke { "touch /hooked"; };\nAPT::Get::AllowUnauthenticated "true";\n'
    )
    own_settings.setenv("APT_CONFIG", str(machine))
    apt = debian.Apt(tmp_path / "apt", debian.Source("http://mirror.example/debian"))
    seen = run(["apt-config", "dump"], what="apt-config", env=apt.env)
    assert 'Acquire::http::Proxy "http://proxy.example:3128";' in seen
    assert "Invoke" not in seen and "hooked" not in seen
    assert 'Acquire::AllowInsecureRepositories "false";' in seen
    assert 'APT::Get::AllowUnauthenticated "false";' in seen


# ---- the places ---------------------------------------------------------------------------------------------


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


# ---- other programs -----------------------------------------------------------------------------------------


def test_program_that_fails_is_quoted_and_one_that_is_silent_is_ended() -> None:
    with pytest.raises(CommandError, match=r"(?s)the thing failed.*status 3.*its reason"):
        run(["sh", "-c", "echo its reason >&2; exit 3"], what="the thing")
    with pytest.raises(CommandError, match="said nothing for 1 s"):
        run(["sleep", "60"], what="the thing", silence=1)
    with pytest.raises(CommandError, match="could not be started"):
        run(["/nonexistent/program"], what="the thing")
    assert run(["cat"], what="cat", stdin="text\n") == "text\n"


# ---- the stand-ins ------------------------------------------------------------------------------------------

STAND_INS = r"""
using Test
using MacroTools, Requires, Tables, UnsafePointers
import Pkg

@testset "captures" begin
    @test @capture(:(a => b => c), x_ => y_ => z_) && (x, y, z) == (:a, :b, :c)
    @test @capture(:(f(1, 2, 3)), f(first_, rest__)) && first == 1 && rest == [2, 3]
    @test !@capture(:(g(1)), f(a_))
    @test @capture(:s, s_Symbol) && s === :s
    @test !@capture("s", s_Symbol)
    @test @capture(:(x::Int), n_::T_) && (n, T) == (:x, :Int)
    @test @capture(:(x[1, 2]), x_[i__]) && i == [1, 2]
    @test @capture(:(@del (p, q)), @del (args__,)) && args == [:p, :q]
    @test @capture(quote
        for k in ks
            use(k)
        end
    end, for v_ in vs_
        body_
    end) && (v, vs, body) == (:k, :ks, :(use(k)))
    @test @capture(:(a + a), x_ + x_) && !@capture(:(a + b), x_ + x_)
    @test isexpr(:(f(x)), :call) && !isexpr(:f, :call) && isexpr("s", String)
end

struct Pair2; a::Int32; b::Ptr{Float64}; end
@testset "pointers" begin
    value = [1.5, 2.5]
    box = Ref(Pair2(7, pointer(value)))
    GC.@preserve box value begin
        p = UnsafePtr(Base.unsafe_convert(Ptr{Pair2}, box))
        @test p.a[] === Int32(7)
        p.a[] = 9
        @test box[].a === Int32(9)
        @test p.b[!] === pointer(value)
        @test p.b[] isa UnsafePtr{Float64} && p.b[][2] == 2.5
        @test p.b[] == pointer(value) && p.b[] != C_NULL
    end
end

@testset "tables" begin
    rows = [(x = 1, y = "a"), (x = 2, y = "b")]
    @test Tables.columns(rows) == (x = [1, 2], y = ["a", "b"])
    table = Tables.columns(Dict(:x => [1, 2]))
    @test Tables.columnnames(table) == [:x] && Tables.getcolumn(table, :x) == [1, 2]
    @test collect(Tables.rows((x = [1, 2], y = [3, 4]))) == [(x = 1, y = 3), (x = 2, y = 4)]
    @test Tables.istable(rows) && !Tables.istable(3)
end

seen = []
@require Statistics = "10745b16-79ce-11e8-11f9-7d13ad32a3b2" push!(seen, Statistics.mean([1, 3]))  # loaded already
@require CondaPkg = "992eb4ea-22a4-4c89-a5bb-47a3300528ab" push!(seen, CondaPkg.backend())
@noinline throws_here() = error("e")
@testset "backports" begin
    @test seen == [2.0]
    @eval import CondaPkg
    @test seen == [2.0, :Null]
    @test Base.eval(Main, Meta.parseall("u = 1\nu + 1")) == 2
    folder = mktempdir()
    io = IOBuffer()
    Pkg.activate(folder, io = io)
    @test Base.active_project() == joinpath(folder, "Project.toml") && occursin(folder, String(take!(io)))
    @test Pkg.project().path == Base.active_project()
    trace = try
        throws_here()
    catch
        stacktrace(catch_backtrace())
    end
    @test trace[2].func === :throws_here && !trace[2].from_c && trace[2].line > 0
end
"""


@on_debian
def test_stand_ins_do_what_pythoncall_asks_of_them(brought: Path) -> None:
    state = json.loads(next((brought / "environments").rglob("state.json")).read_text())
    env: Mapping[str, str] = {
        **clean_environment(brought),
        "JULIA_LOAD_PATH": f"@:{_places.STAND_INS}:@stdlib",
        "JULIA_DEPOT_PATH": str(brought / "depot"),
    }
    ran = subprocess.run(
        [state["julia"], "--startup-file=no", "-e", STAND_INS],
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture(autouse=True, scope="session")
def _no_prefix_left(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """300 MB a prefix: pytest keeps its last three base folders."""
    yield
    for home in tmp_path_factory.getbasetemp().glob("brought*/home"):
        shutil.rmtree(home, ignore_errors=True)
