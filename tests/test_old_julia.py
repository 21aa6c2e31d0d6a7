"""Debian's old Julia: packages fetched and checked, the machine's apt sources, the stand-ins for PythonCall."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

import pytest
from prefixes import clean_environment, on_debian

from pybridge import _places
from pybridge._old_julia import debian, pythoncall
from pybridge._old_julia.processor import openblas_core
from pybridge._run import CommandError, SetupError, run
from pybridge._steps import Step

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


# ---- the kernels of its OpenBLAS ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "core"),
    [
        ("fpu sse2 avx fma avx2 avx512f avx512dq avx512cd avx512bw avx512vl amx_tile", "SkylakeX"),
        ("fpu sse2 avx fma avx2 avx512f avx512cd", "Haswell"),  # AVX-512 of another kind
        ("fpu sse2 avx fma avx2", "Haswell"),
        ("fpu sse2 avx", None),
    ],
)
def test_openblas_takes_the_newest_kernels_that_the_processor_can_run(
    tmp_path: Path, flags: str, core: str | None
) -> None:
    cpuinfo = tmp_path / "cpuinfo"
    cpuinfo.write_text(f"processor\t: 0\nmodel name\t: New\nflags\t\t: {flags}\nbugs\t\t:\n")
    assert openblas_core(cpuinfo) == core
    assert openblas_core(tmp_path / "none") is None


def test_users_choice_of_kernels_stays_and_newer_julias_choose_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = ("julia", "julia_version", "pythoncall_version", "juliacall_version", "project")
    fields = {name: str(tmp_path) for name in names}
    old = _places.State(way="debian", why="", pythoncall=str(tmp_path), **fields)
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    assert old.variables()["OPENBLAS_CORETYPE"] == "Nehalem"
    assert "OPENBLAS_CORETYPE" not in _places.State(way="juliapkg", why="", **fields).variables()


def test_matrices_are_multiplied_by_kernels_for_this_processor(pb: ModuleType) -> None:
    core = openblas_core()
    if core is None or pb.jl.seval('VERSION >= v"1.6"'):
        pytest.skip("OpenBLAS chooses itself")
    pb.jl.seval("import LinearAlgebra")
    said = pb.jl.seval(
        "unsafe_string(ccall((:openblas_get_config64_, LinearAlgebra.BLAS.libblas), Cstring, ()))"
    )
    assert core in str(said).split()
