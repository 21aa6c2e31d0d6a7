"""Other programs, run by set-up: their output is watched, kept for the error, and they never hang for ever."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
import time
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Callable


class SetupError(Exception):
    """Set-up cannot go on; the message says why and what to do."""


class CommandError(SetupError):
    """A program that set-up ran has failed; ``output`` is the end of what it said."""

    def __init__(self, message: str, output: str) -> None:
        super().__init__(f"{message}\n{output}" if output else message)
        self.output = output


def run(
    command: Sequence[str | Path],
    *,
    what: str,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    stdin: str | None = None,
    silence: float = 600,
    seen: Callable[[str], None] | None = None,
) -> str:
    """Run a program to its end and return its standard output.

    Arguments:
        command: the program and its arguments.
        what: what it does, for the error's first line ("apt-get update").
        env: its environment, as a whole.
        cwd: its folder.
        stdin: text for its standard input.
        silence: seconds without a line of output after which it is given up.
        seen: called with each line of output, as it comes.

    Raises:
        CommandError: it could not be started, failed, or was silent for too long.
    """
    try:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(env) if env is not None else None,
            cwd=cwd,
            start_new_session=True,
            # It inherits the prefix's lock (_places.lock), and so keeps it if set-up itself is killed: what it
            # still writes must not meet the next set-up's cleaning.
            close_fds=False,
        )
    except OSError as error:
        raise CommandError(f"{what} could not be started: {error}", "") from error
    try:
        if stdin is not None and process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.write(stdin.encode())
            process.stdin.close()
        out, tail, silent = _watch(process, silence, seen or (lambda line: None))
    finally:
        _end(process)
    if silent:
        raise CommandError(f"{what} said nothing for {silence:.0f} s and was ended", tail)
    if process.returncode != 0:
        raise CommandError(f"{what} failed (exit status {process.returncode})", tail)
    return out


def _watch(
    process: subprocess.Popen[bytes], silence: float, seen: Callable[[str], None]
) -> tuple[str, str, bool]:
    assert process.stdout is not None and process.stderr is not None
    out: list[bytes] = []
    tail: deque[str] = deque(maxlen=30)
    rest = {process.stdout.fileno(): b"", process.stderr.fileno(): b""}
    last = time.monotonic()
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(timeout=1.0)
            if ready:
                last = time.monotonic()
            elif time.monotonic() - last > silence:
                return b"".join(out).decode(errors="replace"), "\n".join(tail), True
            for key, _ in ready:
                data = os.read(key.fd, 65536)
                if key.fileobj is process.stdout:
                    out.append(data)
                if not data:
                    selector.unregister(key.fileobj)
                lines = (rest[key.fd] + (data or b"\n")).split(b"\n")
                rest[key.fd] = lines.pop()
                for line in (raw.decode(errors="replace").rstrip() for raw in lines):
                    if line:
                        tail.append(line)
                        seen(line)
    process.wait()
    return b"".join(out).decode(errors="replace"), "\n".join(tail), False


def _end(process: subprocess.Popen[bytes]) -> None:
    """Leave nothing of it behind when set-up itself is interrupted: it has a process group of its own."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
