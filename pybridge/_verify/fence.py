"""A fence around code that is not trusted: `python -I fence.py --writable DIR ... -- command` enters and becomes it.

It is run by its path in a fresh interpreter, so it imports nothing of pybridge. Every thread and every child of the
command is inside, and nothing that they do opens it again.

What is fenced:

- Files are made, written, cut, renamed and removed only below the writable folders; beside them, ``/dev/null``,
  ``zero`` and ``full`` can be written. ``/dev/shm``, with the locks of `multiprocessing`, is outside, and so is
  ``/dev/tty``. No device nodes are made anywhere. (Landlock)
- No network, and no sockets but pairs of streams; no System V shared memory, no message queues. (seccomp)
- No mounts, namespaces, debugging or memory of other processes, keyrings, kernel modules, BPF, io_uring; no typing
  into the user's terminal. (seccomp)
- Signals reach only processes inside, from Linux 6.12 on (Landlock ABI 6).
- It ends when the thread that started it does. (PR_SET_PDEATHSIG)
- Processor time of each process, and the size of each file, in-memory ones too; no core dumps. (setrlimit)
- Set-uid programs give nothing, and root keeps only its way past file permissions. (no_new_privs, capabilities)

Landlock does not control owners, modes, times and attributes of files, and seccomp cannot read paths. So these stay
as they are inside the folders as well. Changes of owner, mode and time *succeed and do nothing*, for `shutil.copy`,
Julia's precompilation and ``tar`` want them: a file made executable inside is not. Extended attributes are not
supported (EOPNOTSUPP).

What is open:

- Everything that the user may read can be read and executed, environment variables too.
- Memory, the number of processes, wall-clock time and the sum of all files are not limited: who starts this must.
- Before Linux 6.12, processes outside can be signalled. On any, ``nice`` and scheduling can be changed for the
  user's other processes, and files that can be read can be locked.
- Descriptors that are open at the start stay open. Hard links and mounts in a writable folder lead where they lead.
"""

from __future__ import annotations

import argparse
import ctypes
import errno
import os
import platform
import resource
import signal
import struct
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

# Each system call's number on x86_64 and on aarch64; None where an architecture has none.
_X86_64, _AARCH64 = 0, 1

# fmt: off
_REFUSED: dict[str, tuple[int, int | None]] = {
    # The network.
    "socket": (41, 198), "bind": (49, 200), "connect": (42, 203), "listen": (50, 201),
    # What does the work of other calls where seccomp does not look.
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    # Other processes.
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "pidfd_getfd": (438, 438), "perf_event_open": (298, 241), "userfaultfd": (323, 282),
    # Shared memory, semaphores and queues that have no path.
    "shmget": (29, 194), "shmctl": (31, 195), "shmat": (30, 196),
    "semget": (64, 190), "semctl": (66, 191), "semtimedop": (220, 192), "semop": (65, 193),
    "msgget": (68, 186), "msgctl": (71, 187), "msgrcv": (70, 188), "msgsnd": (69, 189),
    "mq_open": (240, 180), "mq_unlink": (241, 181),
    # Mounts and namespaces.
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "open_tree": (428, 428),
    "move_mount": (429, 429), "fsopen": (430, 430), "fsconfig": (431, 431), "fsmount": (432, 432),
    "fspick": (433, 433), "mount_setattr": (442, 442), "open_tree_attr": (467, 467),
    "unshare": (272, 97), "setns": (308, 268),
    # Keys and the kernel itself.
    "add_key": (248, 217), "request_key": (249, 218), "keyctl": (250, 219), "bpf": (321, 280),
    "kexec_load": (246, 104), "kexec_file_load": (320, 294),
    "init_module": (175, 105), "finit_module": (313, 273),
}

# Owners, modes and times of files.
_IGNORED: dict[str, tuple[int, int | None]] = {
    "chown": (92, None), "lchown": (94, None), "fchown": (93, 55), "fchownat": (260, 54),
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452),
    "utime": (132, None), "utimes": (235, None), "futimesat": (261, None), "utimensat": (280, 88),
}

# Attributes of files.
_UNSUPPORTED: dict[str, tuple[int, int | None]] = {
    "setxattr": (188, 5), "lsetxattr": (189, 6), "fsetxattr": (190, 7), "setxattrat": (463, 463),
    "removexattr": (197, 14), "lremovexattr": (198, 15), "fremovexattr": (199, 16),
    "removexattrat": (466, 466), "file_setattr": (469, 469),
}

# Refused or not by their arguments.
_JUDGED: dict[str, tuple[int, int | None]] = {
    "socketpair": (53, 199), "clone": (56, 220), "clone3": (435, 435), "prlimit64": (302, 261),
    "ioctl": (16, 29), "open": (2, None), "openat": (257, 56), "openat2": (437, 437), "truncate": (76, 45),
}

# What the fence itself calls.
_USED: dict[str, tuple[int, int]] = {
    "capget": (125, 90), "capset": (126, 91), "seccomp": (317, 277), "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445), "landlock_restrict_self": (446, 446),
}
# fmt: on

# linux/prctl.h, linux/seccomp.h, linux/audit.h, linux/capability.h
_PR_SET_PDEATHSIG, _PR_SET_NO_NEW_PRIVS = 1, 38
_SET_FILTER, _ACTION_AVAILABLE = 1, 2
_KILL, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_AUDIT_ARCH = (0xC000003E, 0xC00000B7)
_X32_BIT = 0x40000000
_CAPABILITY_VERSION_3 = 0x20080522
_CAP_DAC_OVERRIDE = 1 << 1

# linux/net.h, linux/socket.h
_SOCK_TYPE_MASK, _SOCK_STREAM, _SOCK_SEQPACKET, _AF_UNIX = 0xF, 1, 5, 1
# linux/sched.h: CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
_NEW_NAMESPACES = 0x7E020000
# TIOCSTI and TIOCLINUX type into a terminal; FS_IOC_SETFLAGS, FSSETXATTR, ENABLE_VERITY and SET_ENCRYPTION_POLICY
# change a file or folder that is open for reading.
_REFUSED_IOCTLS = (0x5412, 0x541C, 0x40086602, 0x401C5820, 0x40806685, 0x800C6613)

# linux/landlock.h
_LANDLOCK_VERSION, _PATH_BENEATH = 1, 1
_WRITE_FILE, _REFER, _TRUNCATE, _IOCTL_DEV = 1 << 1, 1 << 13, 1 << 14, 1 << 15
_REMOVE_DIR, _REMOVE_FILE, _MAKE_CHAR, _MAKE_BLOCK = 1 << 4, 1 << 5, 1 << 6, 1 << 11
_MAKE_DIR, _MAKE_REG, _MAKE_SOCK, _MAKE_FIFO, _MAKE_SYM = 1 << 7, 1 << 8, 1 << 9, 1 << 10, 1 << 12
_BIND_AND_CONNECT_TCP = 0b11
_ABSTRACT_SOCKETS_AND_SIGNALS = 0b11

# Until SIGKILL, for a program that handles SIGXCPU.
_SECONDS_AFTER_SIGXCPU = 3
_FAILED = 125


def missing() -> list[str]:
    """What this system lacks for the fence, in words for its user; empty if nothing.

    It only asks: the calling process stays as it is.
    """
    if sys.platform != "linux":
        return ["sandboxes are known for Linux only"]
    if _architecture() is None:
        return [f"this machine's processor ({platform.machine()})"]
    lacks = []
    if _landlock_abi() < 1:
        lacks.append("Landlock (Linux 5.13 or newer, not switched off)")
    if any(_call("seccomp", _ACTION_AVAILABLE, 0, struct.pack("=I", action)) for action in (_KILL, _ERRNO)):
        lacks.append("seccomp filters")
    return lacks


def command(argv: Sequence[str], writable: Sequence[Path], cpu_seconds: int, file_bytes: int) -> list[str]:
    """The argument vector that runs ``argv`` inside the fence.

    Arguments:
        argv: the command; its first word is an absolute path.
        writable: the folders below which files can be written, and single files that can be.
        cpu_seconds: processor time of each process, in seconds; then it gets SIGXCPU.
        file_bytes: size of each file, in bytes; writing on gives SIGXFSZ or, where that is ignored, EFBIG. Julia
            keeps compiled code in an in-memory file of 128 MiB and does not start with less.

    Returns:
        What to give to `subprocess.run`. Its status and output are the command's own; status 125, with a line on
        stderr, if there is no fence and so nothing ran.
    """
    folders = [word for folder in writable for word in ("--writable", str(Path(folder).absolute()))]
    limits = ["--cpu-seconds", str(cpu_seconds), "--file-bytes", str(file_bytes)]
    return [sys.executable, "-I", str(Path(__file__).absolute()), *folders, *limits, "--", *argv]


def enter(writable: Sequence[Path], cpu_seconds: int, file_bytes: int) -> None:
    """Put the calling thread, and all that it starts, inside the fence: for a process about to exec.

    Arguments:
        writable: the folders below which files can be written, and single files that can be.
        cpu_seconds: processor time of each process, in seconds.
        file_bytes: size of each file, in bytes.

    Raises:
        OSError: a part of the fence cannot be set up, and which. The process may be half inside: end it.
    """
    lacks = missing()
    if lacks:
        raise OSError(errno.ENOSYS, f"this system lacks {' and '.join(lacks)}")
    abi = _landlock_abi()
    with _step("ending with who started it"):
        _checked(_libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0))
    with _step("no_new_privs"):
        _checked(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    with _step("the limits"):
        _limit(resource.RLIMIT_CPU, cpu_seconds, cpu_seconds + _SECONDS_AFTER_SIGXCPU)
        _limit(resource.RLIMIT_FSIZE, file_bytes, file_bytes)
        _limit(resource.RLIMIT_CORE, 0, 0)
    with _step("Landlock"):
        _restrict_files(writable, abi)
    with _step("giving up capabilities"):
        _drop_capabilities()
    with _step("the seccomp filter"):
        # Last: it refuses some of what comes before.
        _install(_filter(_architecture() or _X86_64, abi))


def main(argv: Sequence[str]) -> int:
    """Enter the fence and become the command.

    Arguments:
        argv: the words after the file's name; see ``--help``.

    Returns:
        125 if there is no fence or no command, with a line on stderr. Otherwise it does not return.
    """
    parser = argparse.ArgumentParser(
        prog="fence.py",
        description="Run a command that can read everything, write below some folders only, and reach no network.",
    )
    parser.add_argument("--writable", action="append", default=[], type=Path, metavar="DIR")
    parser.add_argument("--cpu-seconds", required=True, type=int, metavar="N", help="of each process")
    parser.add_argument("--file-bytes", required=True, type=int, metavar="N", help="of each file")
    parser.add_argument("command", nargs="+", help="with its absolute path, after --")
    told = parser.parse_args(argv)
    try:
        enter(told.writable, told.cpu_seconds, told.file_bytes)
        for name in (signal.SIGPIPE, signal.SIGXFSZ):
            # Python ignores both, and what is ignored stays so in the command.
            signal.signal(name, signal.SIG_DFL)
        with _step(told.command[0]):
            os.execv(told.command[0], told.command)
    except OSError as error:
        sys.stderr.write(f"pybridge: the sandbox could not be set up: {error.strerror or error}\n")
    return _FAILED


def _architecture() -> int | None:
    if struct.calcsize("P") != 8:
        return None
    return {"x86_64": _X86_64, "aarch64": _AARCH64}.get(platform.machine())


_libc = ctypes.CDLL(None, use_errno=True)
_libc.syscall.restype = ctypes.c_long


def _call(name: str, *arguments: object) -> int:
    """The system call's result, -1 with errno set if it fails."""
    number = _USED[name][_architecture() or _X86_64]
    # As longs: syscall is variadic, and ctypes passes a bare int as 32 bits.
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return int(_libc.syscall(ctypes.c_long(number), *words))


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


@contextmanager
def _step(what: str) -> Iterator[None]:
    """Errors name the part of the fence that failed."""
    try:
        yield
    except (OSError, ValueError, OverflowError) as error:
        number, reason = getattr(error, "errno", None), getattr(error, "strerror", None)
        file = f": {error.filename}" if isinstance(error, OSError) and error.filename else ""
        raise OSError(number or errno.EINVAL, f"{what}: {reason or error}{file}") from error


def _limit(kind: int, soft: int, hard: int) -> None:
    _, ceiling = resource.getrlimit(kind)
    if soft < 0:
        raise ValueError(f"{soft} is no limit")
    if ceiling != resource.RLIM_INFINITY:
        soft, hard = min(soft, ceiling), min(hard, ceiling)
    resource.setrlimit(kind, (soft, hard))


def _drop_capabilities() -> None:
    # With no_new_privs, exec gives root back no more than it has here. Root without any could not read
    # what other users own, as in a container with the user's folder mounted.
    header = struct.pack("=Ii", _CAPABILITY_VERSION_3, 0)
    held = ctypes.create_string_buffer(struct.calcsize("=6I"))
    _checked(_call("capget", header, held))
    kept = struct.unpack("=6I", held.raw)[1] & _CAP_DAC_OVERRIDE
    _checked(_call("capset", header, struct.pack("=6I", kept, kept, 0, 0, 0, 0)))


def _landlock_abi() -> int:
    return _call("landlock_create_ruleset", None, 0, _LANDLOCK_VERSION)


def _restrict_files(writable: Sequence[Path], abi: int) -> None:
    in_file = _WRITE_FILE | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEV if abi >= 5 else 0)
    in_folder = in_file | _REMOVE_DIR | _REMOVE_FILE | (_REFER if abi >= 2 else 0)
    in_folder |= _MAKE_DIR | _MAKE_REG | _MAKE_SOCK | _MAKE_FIFO | _MAKE_SYM
    # Device nodes are in no rule: the disk's, made in a writable folder, would lead out of it.
    words = [in_folder | _MAKE_CHAR | _MAKE_BLOCK]
    if abi >= 4:
        words.append(_BIND_AND_CONNECT_TCP)
    if abi >= 6:
        words.append(_ABSTRACT_SOCKETS_AND_SIGNALS)
    handled = struct.pack(f"={len(words)}Q", *words)
    ruleset = _checked(_call("landlock_create_ruleset", handled, len(handled), 0))
    try:
        for place in writable:
            _allow(ruleset, place, in_file if place.is_file() else in_folder)
        for device in (Path("/dev/null"), Path("/dev/zero"), Path("/dev/full")):
            if device.exists():
                _allow(ruleset, device, in_file)
        _checked(_call("landlock_restrict_self", ruleset, 0))
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, access: int) -> None:
    descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    rule = struct.pack("=Qi", access, descriptor)
    try:
        _checked(_call("landlock_add_rule", ruleset, _PATH_BENEATH, rule, 0))
    finally:
        os.close(descriptor)


# linux/filter.h: loading a word of seccomp_data, masking it, jumping on it, returning.
_LOAD, _AND, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x54, 0x15, 0x35, 0x45, 0x06


def _do(code: int, operand: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One struct sock_filter; the jumps count the instructions to skip."""
    return struct.pack("=HBBI", code, if_true, if_false, operand)


def _low_word(argument: int) -> bytes:
    return _do(_LOAD, 16 + 8 * argument)


_REFUSE = _do(_RETURN, _ERRNO | errno.EPERM)
_IGNORE = _do(_RETURN, _ERRNO | 0)
_NOT_SUPPORTED = _do(_RETURN, _ERRNO | errno.EOPNOTSUPP)
_NO_SUCH_CALL = _do(_RETURN, _ERRNO | errno.ENOSYS)
_PASS = _do(_RETURN, _ALLOW)


def _truncates(argument: int) -> bytes:
    """Refuses flags that cut a file without opening it for writing, which Landlock first sees in ABI 3."""
    return (
        _low_word(argument)
        + _do(_ANY_BIT, os.O_TRUNC, 0, 3)
        + _do(_AND, os.O_ACCMODE)
        + _do(_EQUAL, os.O_WRONLY, 1)
        + _do(_EQUAL, os.O_RDWR, 0, 1)
        + _PASS
        + _REFUSE
    )


def _filter(architecture: int, abi: int) -> bytes:
    """The seccomp program. It reads struct seccomp_data: the call's number, the architecture, the arguments."""
    bodies = dict.fromkeys(_REFUSED, _REFUSE)
    bodies.update(dict.fromkeys(_IGNORED, _IGNORE))
    bodies.update(dict.fromkeys(_UNSUPPORTED, _NOT_SUPPORTED))
    # Not datagrams: one of such a pair can send to any other socket, the system log's for one.
    bodies["socketpair"] = (
        _low_word(0)
        + _do(_EQUAL, _AF_UNIX, 0, 5)
        + _low_word(1)
        + _do(_AND, _SOCK_TYPE_MASK)
        + _do(_EQUAL, _SOCK_STREAM, 1)
        + _do(_EQUAL, _SOCK_SEQPACKET, 0, 1)
        + _PASS
        + _REFUSE
    )
    bodies["clone"] = _low_word(0) + _do(_ANY_BIT, _NEW_NAMESPACES, 0, 1) + _REFUSE + _PASS
    # Its flags are in memory, where no filter reads; the C library then uses clone.
    bodies["clone3"] = _NO_SUCH_CALL
    # Only the process's own limits: a limit of processor time would end any other.
    bodies["prlimit64"] = _low_word(0) + _do(_EQUAL, 0, 1) + _REFUSE + _PASS
    refused = b"".join(_do(_EQUAL, request, 0, 1) + _REFUSE for request in _REFUSED_IOCTLS)
    bodies["ioctl"] = _low_word(1) + refused + _PASS
    if abi < 3:
        bodies.update(open=_truncates(1), openat=_truncates(2), openat2=_NO_SUCH_CALL, truncate=_REFUSE)

    program = _do(_LOAD, 4) + _do(_EQUAL, _AUDIT_ARCH[architecture], 1) + _do(_RETURN, _KILL)
    program += _do(_LOAD, 0)
    if architecture == _X86_64:
        program += _do(_AT_LEAST, _X32_BIT, 0, 1) + _REFUSE
    numbers = {**_REFUSED, **_IGNORED, **_UNSUPPORTED, **_JUDGED}
    for name, body in bodies.items():
        number = numbers[name][architecture]
        if number is not None:
            program += _do(_EQUAL, number, 0, len(body) // len(_PASS)) + body
    return program + _PASS


def _install(program: bytes) -> None:
    instructions = ctypes.create_string_buffer(program, len(program))
    # struct sock_fprog: the number of instructions, padding, their address.
    told = struct.pack("@HP", len(program) // len(_PASS), ctypes.addressof(instructions))
    _checked(_call("seccomp", _SET_FILTER, 0, told))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
