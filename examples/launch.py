"""Start a command as the workers of a distributed job on this machine, and always clean up after it.

Workers, servers and the scheduler of MXNet's `dist_*` stores are processes that find each other through the environment
variables `DMLC_*`. Here they all run on loopback, and end together: when the workers have finished, when one process
fails, after `--timeout`, on Ctrl-C, SIGTERM or SIGHUP, and on Linux even when this process is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from typing import IO, Annotated, Any, Optional

import typer

LOOPBACK = "127.0.0.1"
TIMED_OUT = 124  # the exit status of timeout(1)
GRACE = 5.0  # seconds between SIGTERM and SIGKILL
ENDING = 30.0  # seconds that servers have to end after the workers have
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

#: In the other roles the import of MXNet is the whole program: it serves, and exits when the job is over. The command
#: itself is not run, so no Julia starts there. pybridge comes first because it puts NumPy's old names back.
SERVE = [sys.executable, "-c", "import pybridge, mxnet"]

app = typer.Typer(add_completion=False)


class Process:
    """One process of the job, in a process group of its own; its output goes on with its name before each line."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.name = name
        self._process = subprocess.Popen(
            command,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        self._printers = [
            threading.Thread(target=self._print, args=ends, daemon=True)
            for ends in ((self._process.stdout, sys.stdout), (self._process.stderr, sys.stderr))
        ]
        for printer in self._printers:
            printer.start()

    def _print(self, source: IO[str], sink: Any) -> None:
        for line in source:
            with suppress(BrokenPipeError):  # nobody reads any more, the job goes on
                sink.write(f"[{self.name}] {line.rstrip()}\n")
                sink.flush()

    def status(self) -> int | None:
        """Its exit status as a shell counts it, None while it runs."""
        code = self._process.poll()
        return code if code is None or code >= 0 else 128 - code

    def signal(self, signum: int) -> None:
        """Send a signal to its group: what it has started ends with it."""
        with suppress(ProcessLookupError, PermissionError):  # the group is empty
            os.killpg(self._process.pid, signum)

    def join(self) -> None:
        """Wait until it has ended and its output has come."""
        self._process.wait()
        for printer in self._printers:
            printer.join(timeout=1)


class Job:
    """The processes, which are stopped one way or another when the `with` block ends."""

    def __init__(self) -> None:
        self.processes: list[Process] = []
        self.stopped_by: int | None = None

    def __enter__(self) -> Job:
        # Only noted: an exception that a handler raises could come between the start of a process and its being known,
        # or in the middle of the stopping.
        # What is ignored stays so: nohup, and jobs in the background of a script.
        heard = [signum for signum in SIGNALS if signal.getsignal(signum) is not signal.SIG_IGN]
        self._before = {signum: signal.signal(signum, self._note) for signum in heard}
        return self

    def _note(self, signum: int, frame: object) -> None:
        self.stopped_by = self.stopped_by or signum

    def __exit__(self, *failure: object) -> None:
        for process in self.processes:
            process.signal(signal.SIGTERM)
        wait_for(self.processes, GRACE)
        for process in self.processes:
            process.signal(signal.SIGKILL)
        for process in self.processes:
            process.join()
        for signum, handler in self._before.items():
            signal.signal(signum, handler)


def wait_for(processes: list[Process], seconds: float) -> bool:
    """Wait until all have ended; false if they have not after `seconds`."""
    until = time.monotonic() + seconds
    while any(process.status() is None for process in processes):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def say(text: str) -> None:
    """A message of the launcher's own."""
    print(f"launch: {text}", file=sys.stderr, flush=True)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])


def dying_with_this() -> list[str]:
    """What to put before a command so that the kernel ends it when this process is killed; nothing if there is none."""
    prefix = ["setpriv", "--pdeathsig", "KILL", "--"]
    if sys.platform != "linux" or shutil.which("setpriv") is None:
        return []
    knows = subprocess.run([*prefix, "true"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return prefix if knows.returncode == 0 else []


def threads_of_each(workers: int) -> dict[str, str]:
    """The processors shared out among the workers: else every one of them has threads for all."""
    threads = str(max(1, (os.cpu_count() or 1) // workers))
    names = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")
    return {name: os.environ.get(name, threads) for name in names}


def run(command: list[str], workers: int, servers: int, timeout: float | None) -> int:
    """Run the job to its end; returns its exit status."""
    common = {
        "DMLC_PS_ROOT_URI": LOOPBACK,
        "DMLC_PS_ROOT_PORT": str(free_port()),
        "DMLC_NODE_HOST": LOOPBACK,
        "DMLC_NUM_WORKER": str(workers),
        "DMLC_NUM_SERVER": str(servers),
        "PYTHONUNBUFFERED": "1",
        **threads_of_each(workers),
    }
    prefix = dying_with_this()
    deadline = None if timeout is None else time.monotonic() + timeout
    with Job() as job:

        def start(name: str, command: list[str], role: str) -> Process:
            process = Process(name, [*prefix, *command], {**common, "DMLC_ROLE": role})
            job.processes.append(process)
            return process

        start("scheduler", SERVE, "scheduler")
        for i in range(servers):
            start(f"server {i}", SERVE, "server")
        at_work = [start(f"worker {i}", command, "worker") for i in range(workers)]
        finished_at: float | None = None
        while True:
            statuses = {process.name: process.status() for process in job.processes}
            failed = [name for name, status in statuses.items() if status]
            now = time.monotonic()
            if job.stopped_by:
                say(f"{signal.Signals(job.stopped_by).name}; stopping all processes")
                return 128 + job.stopped_by
            if failed:
                say(f"{failed[0]} ended with status {statuses[failed[0]]}; stopping all processes")
                return statuses[failed[0]] or 1
            if all(status == 0 for status in statuses.values()):
                return 0
            if deadline is not None and now > deadline:
                say(f"not done after {timeout:g} s; stopping all processes")
                return TIMED_OUT
            if all(process.status() == 0 for process in at_work):
                finished_at = finished_at or now
                if now > finished_at + ENDING:
                    say("the workers have finished, but not the servers; stopping them")
                    return 0
            time.sleep(0.02)


@app.command(
    epilog="Example: python examples/launch.py --workers 2 -- "
    "python examples/train_distributed.py --kvstore dist_sync"
)
def main(
    command: Annotated[list[str], typer.Argument(help="What each worker runs, after `--`.")],
    workers: Annotated[int, typer.Option(help="Worker processes: they train.", min=1)] = 2,
    servers: Annotated[int, typer.Option(help="Server processes: they add up and update.", min=1)] = 1,
    timeout: Annotated[
        Optional[float], typer.Option(help="Seconds after which the job is stopped (status 124).", min=0)
    ] = None,
) -> None:
    """Run a training script in several processes on this machine, under kvstore='dist_sync' and its kin.

    The exit status is 0 when every worker's is, else that of the first process that failed; 128 more than the signal's
    number when a signal ended the job.
    """

    if shutil.which(command[0]) is None:
        raise typer.BadParameter(f"{command[0]} was not found", param_hint="COMMAND")
    raise typer.Exit(run(command, workers, servers, timeout))


if __name__ == "__main__":
    app()
