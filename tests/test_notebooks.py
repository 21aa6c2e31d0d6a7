"""IPython and a Jupyter kernel: cells that define, train, redefine, are interrupted, and end."""

from __future__ import annotations

import os
import queue
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

CELLS = {
    "define": """
import pybridge as pb, mxnet as mx, numpy as np, os, signal, threading
pb.jl.seval('''
using PyBridge
struct CellScale <: CustomFunction end
PyBridge.forward(::CellScale, x) = 2 .* x
PyBridge.backward(::CellScale, Δ) = 2 .* Δ
''')
f = pb.function("CellScale")
x = mx.nd.array([1.0, 2.0]); g = pb.attach_grad(x)
def step():
    with pb.record():
        y = f(x)
    y.backward()
    return y.asnumpy().tolist(), g.asnumpy().tolist()
""",
    "redefine": """
pb.jl.seval('''
PyBridge.forward(::CellScale, x) = 3 .* x
PyBridge.backward(::CellScale, Δ) = 3 .* Δ
''')
""",
}


def test_ipython_runs_julia_functions_with_and_without_juliacalls_extension(run_python, tmp_path):
    code = (
        CELLS["define"]
        + "assert step() == ([2, 4], [2, 2])\n"
        + CELLS["redefine"]
        + "assert step() == ([3, 6], [3, 3])\n"
        + "get_ipython().run_line_magic('load_ext', 'juliacall')\n"
        + "assert get_ipython().run_line_magic('julia', '40 + 2') == 42\n"
        + "assert step() == ([3, 6], [3, 3])\n"
        + "print('the last word')\n"
    )
    result = run_python(
        f"import sys\nfrom IPython import start_ipython\nsys.exit(start_ipython(argv=['-c', {code!r}]))\n",
        env={"IPYTHONDIR": str(tmp_path / "ipython")},
    )
    assert result.returncode == 0, result.stderr
    assert "the last word" in result.stdout, result.stdout + result.stderr
    assert "Traceback" not in result.stdout + result.stderr


class Kernel:
    """A Jupyter kernel of this interpreter, driven as a notebook drives it."""

    def __init__(self, folder: Any) -> None:
        from jupyter_client.manager import KernelManager

        self.manager = KernelManager()
        self.manager.kernel_spec.argv = [
            sys.executable,
            "-m",
            "ipykernel_launcher",
            "-f",
            "{connection_file}",
        ]
        self.manager.start_kernel(
            cwd=str(folder),
            env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), "JUPYTER_NO_HISTORY": "1"},
        )
        self.client = self.manager.client()
        self.client.start_channels()
        self.client.wait_for_ready(timeout=120)

    def close(self) -> None:
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def start(self, code: str) -> str:
        return self.client.execute(code, store_history=False)

    def until(self, request: str, text: str | None = None, timeout: float = 120) -> tuple[str, str | None]:
        """What the cell printed, and the name of its error; comes back early once ``text`` is printed."""
        printed, error = "", None
        deadline = time.monotonic() + timeout
        while True:
            try:
                message = self.client.get_iopub_msg(timeout=max(0.1, deadline - time.monotonic()))
            except queue.Empty:
                pytest.fail(f"the kernel is silent; it had printed: {printed}")
            if message["parent_header"].get("msg_id") != request:
                continue
            kind, content = message["msg_type"], message["content"]
            if kind == "stream":
                printed += content["text"]
                if text is not None and text in printed:
                    return printed, None
            elif kind == "execute_result":
                printed += content["data"]["text/plain"]
            elif kind == "error":
                error = content["ename"]
                printed += "\n".join(content["traceback"])
            elif kind == "status" and content["execution_state"] == "idle":
                return printed, error

    def run(self, code: str) -> str:
        printed, error = self.until(self.start(code))
        assert error is None, printed
        return printed


@pytest.fixture
def kernel(tmp_path: Any) -> Iterator[Kernel]:
    kernel = Kernel(tmp_path)
    try:
        yield kernel
    finally:
        kernel.close()


def test_a_jupyter_kernel_trains_redefines_is_interrupted_and_idles(kernel):
    kernel.run(CELLS["define"])
    assert kernel.run("step()") == "([2.0, 4.0], [2.0, 2.0])"
    kernel.run(CELLS["redefine"])
    assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"

    # Idle between cells: another thread gets its clear error, and does not hang.
    kernel.run("""
outcome, idle = [], threading.Event()
def work():
    idle.wait(60)
    try:
        f(mx.nd.array([1.0]))
    except Exception as error:
        outcome.append(f"{type(error).__name__}: {error}")
    else:
        outcome.append("served")
worker = threading.Thread(target=work); worker.start(); idle.set()
""")
    printed = kernel.run("worker.join(60); assert not worker.is_alive(); print(outcome)")
    assert "serve" in printed

    # The interrupt button, in a training loop and in a Julia callback that calls Python.
    for cell in (
        "print('running', flush=True)\nwhile True: step()",
        "h = pb.jl.seval('''struct CellWait <: CustomFunction; hook; CellWait(; hook) = new(hook); end;"
        " PyBridge.forward(::CellWait, x) = copy(x);"
        " PyBridge.backward(f::CellWait, Δ) = (f.hook(); copy(Δ)); CellWait''')\n"
        "with pb.record(): y = pb.function(h, hook=lambda: (print('running', flush=True),"
        " threading.Event().wait(60)))(x)\n"
        "y.backward()",
    ):
        request = kernel.start(cell)
        printed, error = kernel.until(request, text="running")
        assert error is None and "running" in printed, printed
        kernel.manager.interrupt_kernel()
        _, error = kernel.until(request)
        assert error == "KeyboardInterrupt"
        assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"

    # juliacall's own extension, loaded by hand.
    kernel.run("%load_ext juliacall")
    assert kernel.run("%julia 40 + 2") == "42"
    assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"
    assert "from Julia" in kernel.run('%julia println("from Julia")')
    # A Julia error in a cell is shown with its message, and the kernel lives on.
    printed, error = kernel.until(kernel.start("pb.jl.seval('error(\"refused here\")')"))
    assert error == "JuliaError"
    assert "refused here" in printed
    assert kernel.run("step()") == "([3.0, 6.0], [3.0, 3.0])"


def test_a_jupyter_kernel_ends_when_told_to(tmp_path):
    kernel = Kernel(tmp_path)
    try:
        kernel.run(CELLS["define"])
        kernel.run("step()")
        kernel.client.shutdown()
        deadline = time.monotonic() + 60
        while kernel.manager.is_alive() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert not kernel.manager.is_alive(), "the kernel hangs at its end"
    finally:
        kernel.close()
