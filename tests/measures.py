"""What the tests share and measure with: the Julia functions of layers.jl, leaves, threads, addresses, slopes."""

from __future__ import annotations

import ctypes
import gc
import sys
import textwrap
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import psutil

LAYERS = Path(__file__).with_name("layers.jl")
POINTS = np.array([[-2.0, -0.5, 0.0], [0.25, 1.0, 3.0]])
VALUES = np.array([1.0, 2.0, 3.0])
JOIN = 60

# What every snippet for a fresh interpreter begins with.
PREAMBLE = f"""\
import gc, os, signal, sys, threading
import pybridge as pb
import mxnet as mx
import numpy as np
pb.include({str(LAYERS)!r})
L = pb.jl.TestLayers

def sigmoid(a):
    return 1 / (1 + np.exp(-a))

def assert_next_step_is_right():
    x = mx.nd.array([-1.0, 0.0, 2.0]); pb.attach_grad(x)
    with pb.record():
        y = pb.function("TestLayers.Sigmoid")(x)
    y.backward()
    s = sigmoid(np.array([-1.0, 0.0, 2.0]))
    np.testing.assert_allclose(y.asnumpy(), s, rtol=1e-5)
    np.testing.assert_allclose(x.grad.asnumpy(), s * (1 - s), rtol=1e-5)

def leave(status=None):
    # Behind this mark nothing may appear on stderr.
    print("the last word", flush=True)
    print("---", file=sys.stderr, flush=True)
    if status is not None:
        sys.exit(status)
"""


def load_layers(pb: ModuleType) -> Any:
    """The module of layers.jl, included once in a process, its record of calls empty."""
    if not pb.jl.seval("isdefined(Main, :TestLayers)"):
        pb.include(str(LAYERS))
    pb.jl.TestLayers.reset()
    return pb.jl.TestLayers


def pullback(pb: ModuleType, code: str, **kw: Any) -> Any:
    """A function of Julia code that gives a result and its pullback."""
    return pb.function(pb.jl.seval(code), pullback=True, **kw)


def leaf(pb: ModuleType, front: Any, values: Any, grad_req: str = "write", dtype: str | None = None) -> Any:
    """An array of mx.nd or mx.np with a gradient; without a dtype, of the one that these give it."""
    x = front.array(values, dtype=dtype)
    pb.attach_grad(x, grad_req)
    return x


def differentiate(pb: ModuleType, f: Callable[..., Any], *xs: Any) -> Any:
    """Record f(*xs), run backward from it, return its value."""
    with pb.record():
        y = f(*xs)
    pb.backward(y)
    return y


def collect_garbage(pb: ModuleType, mx: ModuleType) -> None:
    """Everything that can be freed is freed."""
    for _ in range(3):
        gc.collect()
        mx.nd.waitall()
        pb.asjulia(mx.nd.zeros(1))
        pb.jl.GC.gc()


def batch(mx: ModuleType, size: int, dtype: str = "float64") -> Any:
    """A leaf of `size` rows of three normal numbers, the same for the same size."""
    x = mx.nd.array(np.random.default_rng(size).normal(size=(size, 3)), dtype=dtype)
    x.attach_grad()
    return x


def grown_by(mx: ModuleType, step: Callable[[], Any], before: int, after: int) -> float:
    """Megabytes that the process grows by in `after` steps, when it has made `before`."""

    def steps(count: int) -> int:
        for _ in range(count):
            step()
        mx.nd.waitall()
        gc.collect()
        return resident_bytes()

    begun = steps(before)
    return (steps(after) - begun) / 2**20


class Worker(threading.Thread):
    """A Python thread that keeps what its function returned or raised."""

    def __init__(self, work: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self.work = work
        self.value: Any = None
        self.error: BaseException | None = None

    def run(self) -> None:
        try:
            self.value = self.work()
        except BaseException as error:
            self.error = error

    def outcome(self) -> Any:
        self.join(JOIN)
        assert not self.is_alive(), "the thread hangs"
        if self.error is not None:
            raise self.error
        return self.value


def julia_step(functions: SimpleNamespace, mx: ModuleType, values: np.ndarray = VALUES) -> np.ndarray:
    """A forward and a backward of two Julia functions, as any thread makes them, and the value."""
    x = mx.nd.array(values, dtype="float64")  # 1 - s cancels in float32
    x.attach_grad()
    with mx.autograd.record():
        y = functions.Square(functions.Sigmoid(x))
    y.backward()
    s = 1 / (1 + np.exp(-values))
    np.testing.assert_allclose(x.grad.asnumpy(), 2 * s * s * (1 - s), rtol=1e-4, atol=1e-6)
    return y.asnumpy()


def script(body: str) -> str:
    """A snippet for a fresh interpreter, with the layers included."""
    return PREAMBLE + textwrap.dedent(body)


def assert_silent_end(result: Any, status: int = 0) -> None:
    """The snippet came to its last word, kept its exit status, and wrote nothing to stderr after that."""
    assert result.returncode == status, f"status {result.returncode}\n{result.stdout}\n{result.stderr}"
    assert "the last word" in result.stdout, result.stderr
    assert result.stderr.partition("---\n")[2] == "", result.stderr


def assert_plain_words(error: BaseException) -> None:
    """Not libmxnet's own text of a failed check."""
    assert "Check failed" not in str(error)
    assert len(str(error)) > 20


def resident_bytes() -> int:
    """Memory of this process that is in use now, without the freed pages that the allocator has kept for later."""
    if sys.platform == "linux":  # whether glibc gives the top of its heap back by itself is a matter of luck
        ctypes.CDLL(None).malloc_trim(0)
    return int(psutil.Process().memory_info().rss)


def address(x: Any) -> int:
    """Where the data of an NDArray lie."""
    import mxnet as mx

    x.wait_to_read()
    pointer = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayGetData(x.handle, ctypes.byref(pointer)))
    return pointer.value or 0


def sigmoid(a: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-a))


def slope(a: np.ndarray) -> np.ndarray:
    return sigmoid(a) * (1 - sigmoid(a))


def numeric_gradient(f: Callable[[Any], float], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a number that depends on the float64 array x."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient
