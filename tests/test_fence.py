"""The fence: what is inside reads, computes and writes below its folder, and nothing outside changes."""

from __future__ import annotations

import os
import platform
import resource
import signal
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pybridge._verify import fence

LACKS = fence.missing()
pytestmark = pytest.mark.skipif(bool(LACKS), reason=f"this system lacks {' and '.join(LACKS)}")

PYTHON = [sys.executable, "-I", "-S", "-c"]
FENCE = str(Path(fence.__file__).absolute())
ABI = 0 if LACKS else fence._landlock_abi()

# The fence as it is on a kernel with the Landlock of argv[1].
OLDER = f"""
import runpy, sys
scope = runpy.run_path({FENCE!r})
scope["main"].__globals__["_landlock_abi"] = lambda: int(sys.argv[1])
sys.exit(scope["main"](sys.argv[2:]))
"""

# What attempts have at hand.
PRELUDE = """
import ctypes, errno, os, resource, shutil, socket, subprocess, sys, tempfile, threading
inside, outside, *told = sys.argv[1:]
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(*words):
    if libc.syscall(*map(ctypes.c_long, words)) < 0:
        raise OSError(ctypes.get_errno(), "refused")
def write(path, flags=os.O_WRONLY):
    os.write(os.open(path, flags), b"spoilt")
def attempt(code):
    try:
        exec(code, globals())
    except OSError as error:
        return errno.errorcode[error.errno]
    return "done"
"""


@dataclass(frozen=True)
class Yard:
    """A folder inside the fence and one outside."""

    inside: Path
    outside: Path


@pytest.fixture
def yard(tmp_path: Path) -> Yard:
    return planted(tmp_path)


def planted(root: Path) -> Yard:
    yard = Yard(root / "inside", root / "outside")
    yard.inside.mkdir(parents=True)
    (yard.inside / "own").write_text("own")
    (yard.outside / "empty").mkdir(parents=True)
    (yard.outside / "file").write_text("kept")
    return yard


def contents(folder: Path) -> dict[str, Any]:
    """All that an attempt could change."""
    found = {}
    for path in [folder, *folder.rglob("*")]:
        status = path.lstat()
        text = path.read_bytes() if path.is_file() else None
        found[str(path)] = (
            status.st_mode,
            status.st_uid,
            status.st_gid,
            status.st_nlink,
            status.st_mtime_ns,
            text,
        )
    return found


def run(argv: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, check=False, **options)


def fenced(
    argv: list[str], inside: Path, cpu_seconds: int = 30, file_bytes: int = 1 << 30, **options: Any
) -> subprocess.CompletedProcess[str]:
    return run(fence.command(argv, [inside], cpu_seconds, file_bytes), **options)


def python(code: str, yard: Yard, *told: object) -> list[str]:
    return [*PYTHON, PRELUDE + textwrap.dedent(code), str(yard.inside), str(yard.outside), *map(str, told)]


def outcome(code: str, yard: Yard, *told: object) -> str:
    """What an attempt comes to inside: done, or the error's name."""
    ended = fenced(python(f"print(attempt({code!r}))", yard, *told), yard.inside)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


def free_outcome(code: str, yard: Yard, *told: object) -> str:
    """The same without a fence."""
    ended = run(python(f"print(attempt({code!r}))", yard, *told))
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.strip()


FILE_ATTEMPTS = {
    "write": "write(f'{outside}/file')",
    "append": "write(f'{outside}/file', os.O_WRONLY | os.O_APPEND)",
    "create": "write(f'{outside}/new', os.O_WRONLY | os.O_CREAT)",
    "truncate": "os.truncate(f'{outside}/file', 0)",
    "open for reading, to truncate": "os.open(f'{outside}/file', os.O_RDONLY | os.O_TRUNC)",
    "open for neither, to truncate": "os.open(f'{outside}/file', os.O_ACCMODE | os.O_TRUNC)",
    "unlink": "os.unlink(f'{outside}/file')",
    "rename": "os.rename(f'{outside}/file', f'{outside}/moved')",
    "rename to the outside": "os.rename(f'{inside}/own', f'{outside}/moved')",
    "rename over a file outside": "os.rename(f'{inside}/own', f'{outside}/file')",
    "rename to the inside": "os.rename(f'{outside}/file', f'{inside}/moved')",
    "link": "os.link(f'{outside}/file', f'{outside}/linked')",
    "write through a link inside": "os.link(f'{outside}/file', f'{inside}/a'); write(f'{inside}/a')",
    "symlink": "os.symlink('file', f'{outside}/linked')",
    "write through a symlink inside": "os.symlink(f'{outside}/file', f'{inside}/b'); write(f'{inside}/b')",
    "write through a descriptor for reading": (
        "opened = os.open(f'{outside}/file', os.O_RDONLY); write(f'/proc/self/fd/{opened}')"
    ),
    "mkdir": "os.mkdir(f'{outside}/folder')",
    "rmdir": "os.rmdir(f'{outside}/empty')",
    "fifo": "os.mkfifo(f'{outside}/fifo')",
    "bind a name": "socket.socket(socket.AF_UNIX).bind(f'{outside}/name')",
}


@pytest.mark.parametrize("name", FILE_ATTEMPTS)
def test_files_outside_stay_as_they_are(name: str, tmp_path: Path) -> None:
    free, yard = planted(tmp_path / "free"), planted(tmp_path / "fenced")
    before = contents(free.outside)
    assert free_outcome(FILE_ATTEMPTS[name], free) == "done"
    assert contents(free.outside) != before  # or the attempt would show nothing

    before = contents(yard.outside)
    assert outcome(FILE_ATTEMPTS[name], yard) in ("EACCES", "EPERM", "EXDEV")
    assert contents(yard.outside) == before


@pytest.mark.parametrize("abi", range(1, ABI))
def test_files_outside_stay_as_they_are_with_an_older_landlock(abi: int, yard: Yard) -> None:
    before = contents(yard.outside)
    attempts = list(FILE_ATTEMPTS.values())
    asked = python(f"for code in {attempts!r}: print(attempt(code))", yard)
    _, _, _, *words = fence.command(asked, [yard.inside], 30, 1 << 30)
    ended = run([*PYTHON, OLDER, str(abi), *words])
    results = ended.stdout.split()
    assert len(results) == len(attempts), ended.stderr
    assert set(results) <= {"EACCES", "EPERM", "EXDEV"}
    assert contents(yard.outside) == before


METADATA_ATTEMPTS = {
    "chmod": "os.chmod(f'{outside}/file', 0o777)",
    "chmod of a descriptor": "os.fchmod(os.open(f'{outside}/file', os.O_RDONLY), 0o777)",
    "chmod of a folder": "os.chmod(outside, 0o777)",
    "utime": "os.utime(f'{outside}/file', (1, 1))",
    "utime of a descriptor": "os.utime(os.open(f'{outside}/file', os.O_RDONLY), (1, 1))",
}


@pytest.mark.parametrize("name", METADATA_ATTEMPTS)
def test_changes_of_mode_and_time_outside_do_nothing(name: str, tmp_path: Path) -> None:
    free, yard = planted(tmp_path / "free"), planted(tmp_path / "fenced")
    before = contents(free.outside)
    assert free_outcome(METADATA_ATTEMPTS[name], free) == "done"
    assert contents(free.outside) != before

    before = contents(yard.outside)
    assert outcome(METADATA_ATTEMPTS[name], yard) == "done"
    assert contents(yard.outside) == before


def test_changes_of_owner_do_nothing(yard: Yard) -> None:
    before = contents(yard.outside)
    assert outcome("os.chown(f'{outside}/file', 4321, 4321)", yard) == "done"
    assert contents(yard.outside) == before


def test_extended_attributes_are_not_supported(yard: Yard) -> None:
    assert outcome("os.setxattr(f'{outside}/file', 'user.a', b'1')", yard) == "ENOTSUP"  # its other name
    assert outcome("os.removexattr(f'{outside}/file', 'user.a')", yard) == "ENOTSUP"  # its other name


def test_a_thread_is_inside(yard: Yard) -> None:
    code = """
    results = []
    thread = threading.Thread(target=lambda: results.append(attempt("write(f'{outside}/file')")))
    thread.start(); thread.join()
    print(results)
    """
    assert fenced(python(code, yard), yard.inside).stdout == "['EACCES']\n"
    assert (yard.outside / "file").read_text() == "kept"


def test_a_grandchild_is_inside(yard: Yard) -> None:
    code = """
    shell = 'echo own > "$1/own"; /bin/sh -c "echo spoilt > $2/file"'
    print(subprocess.run(["/bin/sh", "-c", shell, "sh", inside, outside], stderr=subprocess.DEVNULL).returncode)
    """
    assert fenced(python(code, yard), yard.inside).stdout.strip() in ("1", "2")
    assert (yard.inside / "own").read_text() == "own\n"
    assert (yard.outside / "file").read_text() == "kept"


def test_a_second_fence_opens_nothing(yard: Yard) -> None:
    again = fence.command(
        python("print(attempt(\"write(f'{outside}/file')\"))", yard), [yard.outside], 30, 1 << 30
    )
    ended = fenced(again, yard.inside)
    assert (ended.returncode, ended.stdout) == (0, "EACCES\n"), ended.stderr
    assert (yard.outside / "file").read_text() == "kept"


def test_ordinary_work_inside_goes_on(yard: Yard) -> None:
    code = """
    os.makedirs(f"{inside}/a/b")
    write(f"{inside}/a/b/c", os.O_WRONLY | os.O_CREAT)
    os.rename(f"{inside}/a/b/c", f"{inside}/d")
    os.truncate(f"{inside}/d", 3)
    shutil.copy2(f"{inside}/d", f"{inside}/e")
    shutil.copytree(f"{inside}/a", f"{inside}/f")
    shutil.copy(f"{outside}/file", f"{inside}/g")
    os.symlink("g", f"{inside}/h"); os.link(f"{inside}/g", f"{inside}/i"); os.mkfifo(f"{inside}/j")
    shutil.rmtree(f"{inside}/f")
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        print(os.path.dirname(folder) == inside, os.path.dirname(file.name) == inside)
    write("/dev/null"); open("/dev/null", "w").write("nothing")
    ours, theirs = socket.socketpair()
    ours.sendall(b"across"); print(theirs.recv(6).decode())
    child = subprocess.Popen(["/bin/sleep", "60"])
    child.kill(); print(child.wait())
    print(open(f"{inside}/e").read(), open(f"{inside}/i").read(), sorted(os.listdir(inside)))
    """
    ended = fenced(python(code, yard), yard.inside, env={"TMPDIR": str(yard.inside)})
    names = ["a", "d", "e", "g", "h", "i", "j", "own"]
    assert ended.stderr == ""
    assert ended.stdout.splitlines() == ["True True", "across", "-9", f"spo kept {names}"]


def test_a_single_file_can_be_writable(yard: Yard) -> None:
    kept = contents(yard.outside / "empty")
    code = """
    write(f"{outside}/file", os.O_WRONLY | os.O_TRUNC)
    print([attempt(f"os.{what}") for what in ("remove(f'{outside}/file')", "mkdir(f'{outside}/new')")])
    """
    ended = run(fence.command(python(code, yard), [yard.inside, yard.outside / "file"], 30, 1 << 20))

    assert ended.stdout.strip() == "['EACCES', 'EACCES']", ended.stderr
    assert (yard.outside / "file").read_text() == "spoilt"
    assert contents(yard.outside / "empty") == kept


def test_several_folders_can_be_writable(yard: Yard) -> None:
    argv = python("write(f'{inside}/own'); write(f'{outside}/file')", yard)
    assert run(fence.command(argv, [yard.inside, yard.outside], 30, 1 << 30)).returncode == 0
    assert (yard.inside / "own").read_text() == (yard.outside / "file").read_text() == "spoilt"


@pytest.fixture
def listening() -> Iterator[int]:
    """The port of a server of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


NETWORK_ATTEMPTS = {
    "connect": "socket.create_connection(('127.0.0.1', int(told[0])), timeout=5)",
    "listen": "socket.create_server(('127.0.0.1', 0))",
    "a datagram": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', 9))",
    "a Unix socket": "socket.socket(socket.AF_UNIX)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
}


@pytest.mark.parametrize("name", NETWORK_ATTEMPTS)
def test_there_is_no_network(name: str, yard: Yard, listening: int) -> None:
    assert free_outcome(NETWORK_ATTEMPTS[name], yard, listening) == "done"
    assert outcome(NETWORK_ATTEMPTS[name], yard, listening) == "EPERM"


def test_no_datagram_leaves_through_a_pair_of_sockets(yard: Yard, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(yard.outside)  # the names of sockets are short
    code = "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'out', f'{outside}/log')"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind("log")
        log.setblocking(False)
        near = Yard(yard.inside, Path())
        assert free_outcome(code, near) == "done"
        assert log.recv(9) == b"out"
        assert outcome(code, near) == "EPERM"
        with pytest.raises(BlockingIOError):
            log.recv(9)


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process outside, asleep."""
    process = subprocess.Popen(["/bin/sleep", "60"])
    yield process
    process.kill()
    process.wait()


@pytest.mark.skipif(ABI < 6, reason="signals are fenced from Landlock ABI 6 on")
def test_a_process_outside_gets_no_signal(yard: Yard, sleeper: subprocess.Popen[bytes]) -> None:
    assert outcome("os.kill(int(told[0]), 15)", yard, sleeper.pid) == "EPERM"
    assert sleeper.poll() is None
    assert free_outcome("os.kill(int(told[0]), 15)", yard, sleeper.pid) == "done"
    assert sleeper.wait(10) == -signal.SIGTERM


def test_a_process_outside_keeps_its_limits(yard: Yard, sleeper: subprocess.Popen[bytes]) -> None:
    before = resource.prlimit(sleeper.pid, resource.RLIMIT_CPU)
    code = "resource.prlimit(int(told[0]), resource.RLIMIT_CPU, (1, 1))"
    assert outcome(code, yard, sleeper.pid) == "EPERM"
    assert resource.prlimit(sleeper.pid, resource.RLIMIT_CPU) == before


def test_a_process_outside_keeps_its_secrets(yard: Yard, sleeper: subprocess.Popen[bytes]) -> None:
    code = "open(f'/proc/{told[0]}/environ', 'rb').read()"
    assert free_outcome(code, yard, sleeper.pid) == "done"
    assert outcome(code, yard, sleeper.pid) == "EACCES"


def number(name: str) -> int:
    """A system call's number on this machine."""
    return {**fence._REFUSED, **fence._JUDGED}[name][fence._architecture() or 0] or 0


def test_dangerous_calls_are_refused(yard: Yard) -> None:
    calls = {
        "ptrace of itself": "if libc.ptrace(0, 0, 0, 0) < 0: raise OSError(ctypes.get_errno(), '')",
        "io_uring": f"call({number('io_uring_setup')}, 1, 0)",
        "memory of another": f"call({number('process_vm_readv')}, {os.getpid()}, 0, 0, 0, 0, 0)",
        "mount": f"call({number('mount')}, 0, 0, 0, 0, 0)",
        "a user namespace": f"call({number('unshare')}, 0x10000000)",
        "a child in one": f"call({number('clone')}, 0x10000011, 0, 0, 0, 0)",
        "shared memory": f"call({number('shmget')}, 0, 4096, 0o1600)",
        "typing into a terminal": f"call({number('ioctl')}, 0, 0x5412, 0)",
    }
    ended = fenced(python(f"for code in {list(calls.values())!r}: print(attempt(code))", yard), yard.inside)
    assert dict(zip(calls, ended.stdout.split())) == dict.fromkeys(calls, "EPERM"), ended.stderr


def test_device_nodes_are_refused_inside_too(yard: Yard) -> None:
    assert outcome("os.mknod(f'{inside}/zero', 0o20666, os.makedev(1, 5))", yard) in ("EACCES", "EPERM")
    assert not (yard.inside / "zero").exists()


def test_privileges_are_given_up(yard: Yard) -> None:
    status = fenced(["/bin/cat", "/proc/self/status"], yard.inside).stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines())
    assert (fields["NoNewPrivs"], fields["Seccomp"]) == ("1", "2")
    assert {int(fields[name], 16) & ~fence._CAP_DAC_OVERRIDE for name in ("CapPrm", "CapEff", "CapInh")} == {
        0
    }


def test_an_endless_loop_ends(yard: Yard) -> None:
    assert fenced(python("while True: pass", yard), yard.inside, cpu_seconds=1).returncode == -signal.SIGXCPU


def test_limits_cannot_be_raised(yard: Yard) -> None:
    code = """
    print(resource.getrlimit(resource.RLIMIT_CPU), resource.getrlimit(resource.RLIMIT_CORE))
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (9, 9))
    except ValueError as error:
        print(error)
    """
    ended = fenced(python(code, yard), yard.inside, cpu_seconds=5)
    assert ended.stdout == "(5, 8) (0, 0)\nnot allowed to raise maximum limit\n"


def test_a_lower_limit_of_the_caller_stays(yard: Yard) -> None:
    argv = fence.command(
        python("print(resource.getrlimit(resource.RLIMIT_CPU))", yard), [yard.inside], 30, 1 << 30
    )
    assert run(["/bin/sh", "-c", 'ulimit -t 7; exec "$@"', "sh", *argv]).stdout == "(7, 7)\n"


def test_a_file_grows_to_the_limit_only(yard: Yard) -> None:
    code = "open(f'{inside}/big', 'wb', buffering=0).write(bytes(3000)); os.truncate(f'{inside}/big', 5000)"
    ended = fenced(python(f"print(attempt({code!r}))", yard), yard.inside, file_bytes=4096)
    assert ended.stdout == "EFBIG\n"
    assert (yard.inside / "big").stat().st_size == 3000


def test_a_program_that_ignores_no_signal_ends_at_the_limit_of_a_file(yard: Yard) -> None:
    argv = ["/bin/dd", "if=/dev/zero", f"of={yard.inside}/big", "bs=9000", "count=2"]
    assert fenced(argv, yard.inside, file_bytes=4096).returncode == -signal.SIGXFSZ
    assert (yard.inside / "big").stat().st_size == 4096


def test_status_output_and_words_are_the_commands_own(yard: Yard) -> None:
    argv = ["/bin/sh", "-c", 'cat; echo "$@"; echo to stderr >&2; exit 7', "sh", "--", "--help", "-x", "a  b"]
    ended = fenced(argv, yard.inside, input="from stdin\n")
    assert (ended.returncode, ended.stderr) == (7, "to stderr\n")
    assert ended.stdout == "from stdin\n-- --help -x a  b\n"
    assert fenced(["/bin/sh", "-c", "kill -TERM $$"], yard.inside).returncode == -signal.SIGTERM


def test_the_working_directory_may_be_elsewhere(
    yard: Yard, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    argv = fence.command(python("write(f'{inside}/own')", yard), [Path("inside")], 30, 1 << 30)
    assert run(argv, cwd="/").returncode == 0
    assert (yard.inside / "own").read_text() == "spoilt"


@pytest.mark.parametrize(
    ("folder", "program", "limit", "said"),
    [
        ("nowhere", "/bin/true", 1, "Landlock: No such file or directory: {root}/nowhere"),
        ("inside/own/deeper", "/bin/true", 1, "Landlock: Not a directory: {root}/inside/own/deeper"),
        ("inside", "/nowhere/program", 1, "/nowhere/program: No such file or directory"),
        ("inside", "/bin/true", -1, "the limits: -1 is no limit"),
    ],
)
def test_status_125_and_a_reason_without_a_fence(
    folder: str, program: str, limit: int, said: str, yard: Yard
) -> None:
    root = yard.inside.parent
    ended = fenced([program], root / folder, cpu_seconds=limit)
    assert (ended.returncode, ended.stdout) == (125, "")
    assert ended.stderr == f"pybridge: the sandbox could not be set up: {said.format(root=root)}\n"


def test_nothing_runs_where_the_system_lacks_something(yard: Yard) -> None:
    _, _, _, *words = fence.command(["/bin/echo", "ran"], [yard.inside], 30, 1 << 30)
    ended = run([*PYTHON, OLDER, "-1", *words])
    assert (ended.returncode, ended.stdout) == (125, "")
    assert "this system lacks Landlock (Linux 5.13 or newer" in ended.stderr


def test_help_says_what_it_is() -> None:
    ended = run([sys.executable, "-I", FENCE, "--help"])
    assert ended.returncode == 0
    assert "--writable" in ended.stdout


def test_asking_what_is_missing_changes_nothing() -> None:
    code = f"""
    import os, resource, runpy
    missing = runpy.run_path({FENCE!r})["missing"]
    def state():
        kept = ("NoNewPrivs", "Seccomp", "Cap", "Sig", "Threads")
        status = [line for line in open("/proc/self/status") if line.startswith(kept)]
        limits = [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]
        return status, limits, os.listdir("/proc/self/fd")
    before = state()
    print(missing(), state() == before, "NoNewPrivs:\\t0\\n" in before[0])
    """
    assert run([*PYTHON, textwrap.dedent(code)]).stdout == "[] True True\n"


def test_what_is_missing_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert fence.missing() == []
    with monkeypatch.context() as lacking:
        lacking.setattr(fence, "_call", lambda *words: -1)
        assert fence.missing() == ["Landlock (Linux 5.13 or newer, not switched off)", "seccomp filters"]
    with monkeypatch.context() as other:
        other.setattr(platform, "machine", lambda: "riscv64")
        assert fence.missing() == ["this machine's processor (riscv64)"]
    monkeypatch.setattr(sys, "platform", "darwin")
    assert fence.missing() == ["sandboxes are known for Linux only"]
