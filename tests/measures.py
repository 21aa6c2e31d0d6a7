"""What the tests measure with: addresses, finite differences, and the Julia functions of layers.jl."""

from __future__ import annotations

import ctypes
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

LAYERS = Path(__file__).with_name("layers.jl")

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


def script(body: str) -> str:
    """A snippet for a fresh interpreter, with the layers included."""
    return PREAMBLE + textwrap.dedent(body)


def assert_silent_end(result: Any, status: int = 0) -> None:
    """The snippet came to its last word, kept its exit status, and wrote nothing to stderr after that."""
    assert result.returncode == status, f"status {result.returncode}\n{result.stdout}\n{result.stderr}"
    assert "the last word" in result.stdout, result.stderr
    assert result.stderr.partition("---\n")[2] == "", result.stderr


def address(x: Any) -> int:
    """Where the data of an NDArray lie."""
    import mxnet as mx

    x.wait_to_read()
    pointer = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayGetData(x.handle, ctypes.byref(pointer)))
    return pointer.value or 0


def numeric_gradient(f: Callable[[Any], float], x: np.ndarray, step: float = 1e-6) -> np.ndarray:
    """Central differences of a number that depends on the float64 array x."""
    gradient = np.zeros_like(x)
    for i in np.ndindex(*x.shape):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = (f(up) - f(down)) / (2 * step)
    return gradient
