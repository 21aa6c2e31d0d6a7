"""The fence's filter of system calls, interpreted: what it answers on either architecture."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys

import pytest

from pybridge._verify import fence

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the filter is built from Linux's constants")

REFUSED, UNSUPPORTED, NO_SUCH_CALL = (
    fence._ERRNO | code for code in (errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS)
)
IGNORED, ALLOWED, KILLED = fence._ERRNO, fence._ALLOW, fence._KILL


def verdict(program: bytes, arch: int, number: int, *arguments: int) -> int:
    """What the kernel makes of a call: the program, interpreted."""
    data = struct.pack("=IIQ6Q", number, arch, 0, *arguments, *[0] * (6 - len(arguments)))
    steps = list(struct.iter_unpack("=HBBI", program))
    at = word = 0
    while True:
        code, if_true, if_false, operand = steps[at]
        at += 1
        if code == 0x06:
            return int(operand)
        if code == 0x20:
            (word,) = struct.unpack_from("=I", data, operand)
        elif code == 0x54:
            word &= operand
        else:
            holds = {0x15: word == operand, 0x35: word >= operand, 0x45: bool(word & operand)}[code]
            at += if_true if holds else if_false


@pytest.mark.parametrize("architecture", [fence._X86_64, fence._AARCH64], ids=["x86_64", "aarch64"])
def test_the_filter_knows_both_architectures(architecture: int) -> None:
    program = fence._filter(architecture, 7)
    arch = (0xC000003E, 0xC00000B7)[architecture]
    tables = {REFUSED: fence._REFUSED, IGNORED: fence._IGNORED, UNSUPPORTED: fence._UNSUPPORTED}
    expected = {
        numbers[architecture]: result for result, table in tables.items() for numbers in table.values()
    }
    judged = {numbers[architecture] for numbers in fence._JUDGED.values()}
    calls = set(range(500)) - judged
    assert {call: verdict(program, arch, call) for call in calls} == {
        call: expected.get(call, ALLOWED) for call in calls
    }
    assert verdict(program, 0x40000003, 4) == KILLED  # i386
    assert verdict(program, 0xC000003E, 0x40000000) == (
        REFUSED if architecture == fence._X86_64 else KILLED
    )  # x32


@pytest.mark.parametrize("architecture", [fence._X86_64, fence._AARCH64], ids=["x86_64", "aarch64"])
def test_the_filter_judges_by_arguments(architecture: int) -> None:
    arch = (0xC000003E, 0xC00000B7)[architecture]

    def judged(name: str, *arguments: int, abi: int = 7) -> int:
        number = fence._JUDGED[name][architecture]
        assert number is not None
        return verdict(fence._filter(architecture, abi), arch, number, *arguments)

    close_on_exec = socket.SOCK_CLOEXEC
    pairs = {kind: judged("socketpair", 1, kind | close_on_exec) for kind in range(8)}
    assert pairs == {**dict.fromkeys(range(8), REFUSED), 1: ALLOWED, 5: ALLOWED}
    assert judged("socketpair", 30, 1) == REFUSED  # TIPC
    assert judged("clone", 0x003D0F00) == ALLOWED  # a thread
    assert {judged("clone", 1 << bit) for bit in (17, *range(25, 31))} == {REFUSED}
    assert judged("clone3") == NO_SUCH_CALL
    assert (judged("prlimit64", 0), judged("prlimit64", 1)) == (ALLOWED, REFUSED)
    assert (judged("ioctl", 0, 0x5413), judged("ioctl", 0, 0x5412)) == (ALLOWED, REFUSED)
    assert judged("ioctl", 0, 0xFFFFFFFF_40086602) == REFUSED  # the kernel looks at 32 bits
    assert judged("truncate") == judged("openat", 0, 0, os.O_TRUNC) == judged("openat2") == ALLOWED
    assert judged("truncate", abi=2) == REFUSED
    assert judged("openat2", abi=2) == NO_SUCH_CALL
    cutting = [judged("openat", 0, 0, access | os.O_TRUNC, abi=2) for access in range(4)]
    assert cutting == [REFUSED, ALLOWED, ALLOWED, REFUSED]
    assert {judged("openat", 0, 0, access | os.O_CREAT, abi=2) for access in range(4)} == {ALLOWED}
