"""Julia 1.5.3 from Debian 11 ("bullseye"), as packages, without root and without touching the system.

apt gets a sources list, lists, a cache and a package database of its own, all in set-up's folder. Where the
mirror is and which key signs it are read from the machine's own sources, so what is fetched is checked against
Debian's signatures exactly as in any other installation.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from .._places import sha256
from .._run import CommandError, SetupError, run
from .._steps import Step

SUITE = "bullseye"
JULIA_VERSION = "1.5.3"
TRIPLET = "x86_64-linux-gnu"

# In this order and these versions tried; libunwind8 1.6 of Debian 12 crashes when Julia throws with Python's
# frames on the stack, so this one comes along whatever the system has.
PACKAGES = (
    "julia=1.5.3+dfsg-3", "julia-common=1.5.3+dfsg-3", "libjulia1=1.5.3+dfsg-3", "libjulia-dev=1.5.3+dfsg-3",
    "libdsfmt-19937-1", "libffi7", "libgfortran5", "libgit2-1.1", "libhttp-parser2.9", "libllvm9",
    "libmbedcrypto3", "libmbedtls12", "libmbedx509-0", "libopenlibm3", "libpcre3", "libutf8proc2",
    "libunwind8=1.3.2-2",
)  # fmt: skip

# What else the libraries above need, and most systems have: the library, and the packages for one that has not.
ELSEWHERE = {
    "libpcre2-8.so.0": ("libpcre2-8-0",),
    "libssh2.so.1": ("libssh2-1", "libgcrypt20", "libgpg-error0"),
    "libgmp.so.10": ("libgmp10",),
    "libmpfr.so.6": ("libmpfr6", "libgmp10"),
    "libedit.so.2": ("libedit2", "libbsd0", "libmd0"),
    "libz3.so.4": ("libz3-4", "libgmp10"),
    "libtinfo.so.6": ("libtinfo6",),
    "libquadmath.so.0": ("libquadmath0",),
    "libgssapi_krb5.so.2": (
        "libgssapi-krb5-2", "libkrb5-3", "libk5crypto3", "libkrb5support0", "libcom-err2", "libkeyutils1", "libssl1.1",
    ),
    "liblzma.so.5": ("liblzma5",),
    "libz.so.1": ("zlib1g",),
}  # fmt: skip

RELEASES = ("stable", "oldstable", "oldoldstable", "testing", "unstable", "sid")


@dataclass(frozen=True)
class Source:
    """A Debian mirror as the machine's own sources name it."""

    uri: str
    signed_by: str = ""  # a path, a fingerprint or a key; empty: apt's own keys


def is_debian(release: Path = Path("/etc/os-release")) -> bool:
    """Whether this is a Debian on a machine for which its old Julia was built."""
    return _os_release(release).get("ID") == "debian" and os.uname().machine == "x86_64"


def missing_tools() -> list[str]:
    """The programs of Debian that are needed and not there."""
    return [tool for tool in ("apt-get", "apt-cache", "apt-config", "dpkg") if shutil.which(tool) is None]


def sources(etc: Path = Path("/etc/apt"), release: Path = Path("/etc/os-release")) -> list[Source]:
    """The mirrors of Debian's main archive in the machine's sources, in both of apt's formats."""
    suites = {*RELEASES, _os_release(release).get("VERSION_CODENAME", "stable"), SUITE}
    found: list[Source] = []
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))]
    entries = [entry for file in files if file.is_file() for entry in _one_line(file.read_text())]
    for file in sorted((etc / "sources.list.d").glob("*.sources")):
        entries.extend(_deb822(file.read_text()))
    for uris, named, components, signed_by in entries:
        if suites & set(named) and "main" in components:
            found.extend(Source(uri, signed_by) for uri in uris)
    return list(dict.fromkeys(found))


def _os_release(path: Path) -> dict[str, str]:
    try:
        lines = path.read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name: value.strip().strip("\"'") for name, _, value in pairs}


Entry = tuple[list[str], list[str], list[str], str]


def _one_line(text: str) -> Iterator[Entry]:
    # deb [option=value ...] uri suite component...
    for line in text.splitlines():
        match = re.match(r"\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]*)", line)
        if match:
            options = dict(word.partition("=")[::2] for word in (match[1] or "").split())
            yield [match[2]], [match[3]], match[4].split(), options.get("signed-by", "").replace(",", " ")


def _deb822(text: str) -> Iterator[Entry]:
    for stanza in re.split(r"\n\s*\n", text):
        entry: dict[str, str] = {}
        name = ""
        for line in stanza.splitlines():
            if line.startswith("#"):
                continue
            if line[:1] in (" ", "\t"):
                entry[name] += "\n" + line
            elif ":" in line:
                name, _, value = line.partition(":")
                name = name.strip().lower()
                entry[name] = value.strip()
        if entry.get("enabled", "yes").lower() in ("no", "false", "0"):
            continue
        if "deb" in entry.get("types", "").split():
            uris, suites, components = (
                entry.get(key, "").split() for key in ("uris", "suites", "components")
            )
            yield uris, suites, components, entry.get("signed-by", "")


class Apt:
    """apt with everything that it writes in ``folder``."""

    def __init__(self, folder: Path, source: Source) -> None:
        self.folder = folder
        for name in ("lists/partial", "cache/archives/partial", "state"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / "status").touch()
        signed = f"Signed-By: {source.signed_by}\n" if source.signed_by else ""
        (folder / "bullseye.sources").write_text(
            f"Types: deb\nURIs: {source.uri}\nSuites: {SUITE}\nComponents: main\nArchitectures: amd64\n{signed}"
        )
        (folder / "apt.conf").write_text("\n".join(self._configuration()) + "\n")
        self.env = {
            **os.environ,
            "APT_CONFIG": str(folder / "apt.conf"),
            "LC_ALL": "C",
            "TMPDIR": str(folder),
        }

    def _configuration(self) -> Iterator[str]:
        # The machine's ways to the network (proxies, certificates, time-outs) count, its hooks do not:
        # they would write to the system.
        carried = re.compile(r"(?i)Acquire::(https?|ftp|mirror|Retries|ForceIPv[46])\b(?!.*(Insecure|Weak))")
        dump = run(["apt-config", "dump"], what="apt-config dump")
        yield from (line for line in dump.splitlines() if carried.match(line))
        here = self.folder
        yield from (
            f'Dir::Etc::SourceList "{here}/bullseye.sources";',
            'Dir::Etc::SourceParts "/dev/null";',
            'Dir::Etc::Parts "/dev/null";',
            'Dir::Etc::Main "/dev/null";',
            'Dir::Etc::Preferences "/dev/null";',
            'Dir::Etc::PreferencesParts "/dev/null";',
            f'Dir::State "{here}/state";',
            f'Dir::State::Lists "{here}/lists";',
            f'Dir::State::status "{here}/status";',
            f'Dir::Cache "{here}/cache";',
            'Dir::Log "/dev/null";',
            'APT::Architecture "amd64";',
            'APT::Architectures "amd64";',
            'APT::Get::AllowUnauthenticated "false";',
            'Acquire::AllowInsecureRepositories "false";',
            'Acquire::AllowWeakRepositories "false";',
            'Acquire::AllowDowngradeToInsecureRepositories "false";',
            'Acquire::Languages "none";',
            # As root apt would become a user that may not enter this folder.
            'APT::Sandbox::User "root";',
        )

    def update(self) -> None:
        """Fetch the signed list of packages."""
        command = ["apt-get", "-q", "update", "--error-on=any"]
        try:
            self._update(command)
        except CommandError as error:
            # An archived suite's date may have passed. Its signature is checked all the same.
            if "is not valid anymore" not in error.output and "is expired" not in error.output:
                raise
            self._update([*command, "-o", "Acquire::Check-Valid-Until=false"])

    def _update(self, command: list[str]) -> None:
        try:
            run(command, what="apt-get update", env=self.env, silence=180)
        except CommandError as error:
            if "--error-on" not in error.output:
                raise
            # Debian 11's apt does not know the option and then reports less.
            run([word for word in command if word != "--error-on=any"], what="apt-get update", env=self.env)

    def download(self, packages: Iterable[str], into: Path, step: Step) -> None:
        """Fetch packages into a folder; apt compares their hashes with the signed list's."""
        names = list(packages)
        step.count(0, len(names))
        done = 0

        def seen(line: str) -> None:
            nonlocal done
            if line.startswith("Get:"):
                done += 1
                step.count(min(done, len(names)), len(names))

        run(
            ["apt-get", "-q", "download", *names],
            what="apt-get download",
            env=self.env,
            cwd=into,
            silence=180,
            seen=seen,
        )


def wanted() -> list[str]:
    """The packages to fetch: the tried ones, and those for libraries that this system lacks."""
    more = [name for library, names in ELSEWHERE.items() if not _on_system(library) for name in names]
    return list(dict.fromkeys([*PACKAGES, *more]))


def system_folders() -> list[Path]:
    """Where Debian keeps its libraries."""
    return [Path("/usr/lib", TRIPLET), Path("/lib", TRIPLET), Path("/usr/lib"), Path("/lib")]


def _on_system(library: str) -> bool:
    return any((folder / library).exists() for folder in system_folders())


def fetch(source: Source, scratch: Path, downloads: Path, step: Step) -> list[Path]:
    """The wanted packages as files in ``downloads``; those of an earlier, whole download are taken again."""
    folder = downloads / "debian"
    listing = folder / "packages.json"
    names = wanted()
    try:
        kept = json.loads(listing.read_text())
        if kept["names"] == names and all(sha256(folder / f) == h for f, h in kept["files"].items()):
            step.result = "already here"
            return [folder / file for file in kept["files"]]
    except (OSError, ValueError, KeyError, TypeError):
        pass
    apt = Apt(scratch / "apt", source)
    step.note("list of packages")
    apt.update()
    into = scratch / "debs"
    into.mkdir()
    apt.download(names, into, step)
    files = sorted(into.glob("*.deb"))
    if len(files) != len(names):
        raise SetupError(f"apt-get download brought {len(files)} of {len(names)} packages")
    hashes = {file.name: sha256(file) for file in files}
    (into / listing.name).write_text(json.dumps({"names": names, "files": hashes}, indent=1))
    step.result = f"{len(files)} packages, {sum(f.stat().st_size for f in files) / 1e6:.0f} MB"
    shutil.rmtree(folder, ignore_errors=True)
    downloads.mkdir(parents=True, exist_ok=True)
    os.sync()
    into.replace(folder)
    return [folder / file for file in hashes]


def unpack(files: list[Path], root: Path, step: Step) -> None:
    """Unpack packages into ``root``, running none of their scripts."""
    root.mkdir(parents=True, exist_ok=True)
    for number, file in enumerate(files):
        step.count(number, len(files))
        step.note(file.name.partition("_")[0])
        run(["dpkg", "-x", file, root], what=f"dpkg -x {file.name}")
    step.count(len(files), len(files))
