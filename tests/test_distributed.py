"""Several processes under kvstore='dist_sync': the launcher and the training example."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import psutil
import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
MARK = "PYBRIDGE_TEST_JOB"

# Without Julia, which takes long to start: what is tested with it is the launcher.
JOIN = "import pybridge, mxnet as mx; kv = mx.kv.create('dist_sync'); print('rank', kv.rank);"


class Launched:
    """A launcher that runs, and all that it has started, found by a mark in their environment."""

    def __init__(self, *arguments: str) -> None:
        self.mark = uuid.uuid4().hex
        self.process = subprocess.Popen(
            [sys.executable, str(EXAMPLES / "launch.py"), *arguments],
            env={**os.environ, MARK: self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def processes(self) -> list[psutil.Process]:
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.mark and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.NoSuchProcess, psutil.AccessDenied):
                continue
        return found

    def wait_until(self, happened: Any, timeout: float = 120) -> None:
        until = time.monotonic() + timeout
        while not happened():
            assert time.monotonic() < until and self.process.poll() is None, self.end()
            time.sleep(0.05)

    def end(self, timeout: float = 240) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=timeout)
        return self.process.returncode, out, err


@pytest.fixture
def launch() -> Iterator[Any]:
    launched: list[Launched] = []

    def start(*arguments: str) -> Launched:
        launched.append(Launched(*arguments))
        return launched[-1]

    yield start
    for each in launched:
        for process in each.processes():
            process.kill()
        each.process.communicate()


def python(code: str) -> list[str]:
    return ["--", sys.executable, "-c", code]


@pytest.mark.parametrize("hybridize", [False, True], ids=["eager", "hybridized"])
def test_two_workers_reach_the_parameters_of_one_process_with_the_joint_batch(
    launch: Any,
    pb: ModuleType,
    mx: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    hybridize: bool,
) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import train_distributed

    steps, batch = 10, 64
    settings = ["--kvstore", "dist_sync", "--steps", str(steps), "--batch", str(batch)]
    settings += ["--out", str(tmp_path / "{rank}.params"), *(["--hybridize"] if hybridize else [])]
    script = ["--", sys.executable, str(EXAMPLES / "train_distributed.py"), *settings]
    job = launch("--workers", "2", "--timeout", "200", *script)
    net, _ = train_distributed.train("local", steps, batch, hybridize, seed=0)
    status, out, err = job.end()
    assert (status, err) == (0, ""), out + err
    assert {line.split(" step")[0] for line in out.splitlines()} == {"[worker 0]", "[worker 1]"}, out
    assert job.processes() == []

    expected = net._collect_params_with_prefix()
    for rank in (0, 1):
        reached = mx.nd.load(str(tmp_path / f"{rank}.params"))
        assert reached.keys() == expected.keys()
        for name, parameter in expected.items():
            # A sum of `batch` terms in another order differs by at most batch · eps times the sum of their sizes, once
            # in each step; no such sum is much larger than the largest value that the parameter has reached by them.
            value = parameter.data().asnumpy()
            tolerance = steps * batch * np.finfo("float32").eps * np.abs(value).max()
            np.testing.assert_allclose(reached[name].asnumpy(), value, rtol=0, atol=tolerance, err_msg=name)


def test_all_ports_are_on_loopback_and_servers_have_no_julia(launch: Any) -> None:
    job = launch("--workers", "1", *python(f"{JOIN} import time; time.sleep(600)"))
    ports: dict[int, set[str]] = {}

    def listening() -> bool:
        for process in job.processes():
            for connection in getattr(process, "net_connections", process.connections)("tcp"):
                if connection.status == psutil.CONN_LISTEN:
                    ports.setdefault(process.pid, set()).add(connection.laddr.ip)
        return len(ports) == 3

    job.wait_until(listening)
    assert set().union(*ports.values()) == {"127.0.0.1"}
    libraries = {
        process.pid: {Path(m.path).name for m in process.memory_maps()}
        for process in job.processes()
        if process.pid in ports
    }
    assert len(libraries) == 3
    for names in libraries.values():
        assert "libmxnet.so" in names and not any(name.startswith("libjulia") for name in names)
    job.process.send_signal(signal.SIGTERM)
    assert job.end()[0] == 128 + signal.SIGTERM
    assert job.processes() == []


def test_killed_worker_ends_the_job_with_its_status_and_leaves_nothing(launch: Any) -> None:
    # Worker 0 waits in a barrier for worker 1, for ever.
    code = f"{JOIN} import os, signal; kv.rank == 1 and os.kill(os.getpid(), signal.SIGKILL); kv._barrier()"
    job = launch("--workers", "2", *python(code))
    status, out, err = job.end()
    assert status == 128 + signal.SIGKILL, out + err
    assert "ended with status 137; stopping all processes" in err
    assert job.processes() == []


def test_failed_worker_gives_the_job_its_status_and_its_output_a_name(launch: Any) -> None:
    job = launch(
        "--workers", "1", *python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(7)")
    )
    status, out, err = job.end()
    assert (status, out) == (7, "[worker 0] out\n")
    assert err.splitlines() == [
        "[worker 0] err",
        "launch: worker 0 ended with status 7; stopping all processes",
    ]
    assert job.processes() == []


STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])
print('ready', flush=True)
time.sleep(600)
"""


def test_interrupt_ends_even_what_ignores_sigterm_and_what_it_has_started(launch: Any) -> None:
    job = launch("--workers", "1", *python(STUBBORN))
    assert job.process.stdout.readline() == "[worker 0] ready\n"
    job.process.send_signal(signal.SIGINT)
    job.process.send_signal(signal.SIGINT)  # the second must not stop the stopping
    status, _, err = job.end()
    assert status == 128 + signal.SIGINT, err
    assert job.processes() == []


def test_job_that_takes_too_long_is_stopped(launch: Any) -> None:
    job = launch("--workers", "1", "--timeout", "0.5", *python("import time; time.sleep(600)"))
    status, _, err = job.end()
    assert (status, err) == (124, "launch: not done after 0.5 s; stopping all processes\n")
    assert job.processes() == []


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's parent-death signal is Linux's")
def test_killed_launcher_takes_its_processes_with_it(launch: Any) -> None:
    job = launch("--workers", "1", *python("import time; print('ready', flush=True); time.sleep(600)"))
    assert job.process.stdout.readline() == "[worker 0] ready\n"
    job.process.kill()
    job.process.wait()
    until = time.monotonic() + 60
    while job.processes():
        assert time.monotonic() < until
        time.sleep(0.05)


def test_command_that_is_not_there_is_refused_before_anything_starts(launch: Any) -> None:
    job = launch("--", "no-such-command")
    status, out, err = job.end()
    assert (status, out) == (2, "") and "no-such-command was not found" in err
