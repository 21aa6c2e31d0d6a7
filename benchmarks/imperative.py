"""What a small imperative operation costs from Julia (`PyBridge.mx`), from Python (`mx.nd`), and in libmxnet alone."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pybridge as pb

import mxnet as mx  # isort: skip

REPEATS = {"square": 1000, "add": 1000, "differentiated": 300, "chain": 5}
TITLES = {
    "square": "mx.square(x)",
    "add": "x .+ y",
    "differentiated": "record and backward of mx.square(x)",
    "chain": "record and backward of 100 operations",
}


def python_steps() -> dict[str, Callable[[], None]]:
    x, y = mx.nd.random.uniform(shape=(16,)), mx.nd.random.uniform(shape=(16,))
    x.attach_grad()

    def differentiated() -> None:
        with mx.autograd.record():
            z = mx.nd.square(x)
        z.backward()

    def chain() -> None:
        with mx.autograd.record():
            z = x
            for _ in range(50):
                z = (z + y) * y
        z.backward()

    return {
        "square": lambda: mx.nd.square(x),
        "add": lambda: x + y,
        "differentiated": differentiated,
        "chain": chain,
    }


def candidates() -> dict[str, dict[str, Callable[[], float]]]:
    """For each operation: seconds of one, from Julia, from Python, and in libmxnet alone."""
    pb.include(Path(__file__).with_name("imperative.jl"))
    julia: Any = pb.jl.Imperative
    julia.prepare()
    return {
        name: {
            "julia": lambda name=name: julia.run(getattr(julia, name), REPEATS[name]),  # type: ignore[misc]
            "python": timed(step, REPEATS[name]),
            **(
                {"bare": lambda name=name: getattr(julia, f"bare_{name}")(REPEATS[name])}  # type: ignore[misc]
                if name != "chain"
                else {}
            ),
        }
        for name, step in python_steps().items()
    }


def timed(step: Callable[[], None], repeats: int) -> Callable[[], float]:
    def run() -> float:
        begun = time.perf_counter()
        for _ in range(repeats):
            step()
        mx.nd.waitall()
        return (time.perf_counter() - begun) / repeats

    return run
