"""The table of docs/performance.md, all rows measured in one run: `make bench`, or `python benchmarks/bench.py --help`.

Times are medians over rounds in which the candidates take turns, so that a drift of the machine's speed meets all of
them; what counts are the ratios.
"""

from __future__ import annotations

import gc
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import throughput
import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

import pybridge as pb  # before mxnet: it puts NumPy's old names back

import mxnet as mx  # isort: skip

SIZES = (16, 2**10, 2**20, 2**24)
CHAINS = (1, 10, 100, 1000)
BATCHES = (32, 128)


class PythonSigmoid(mx.autograd.Function):  # type: ignore[misc]
    """The same mathematics as an `mx.autograd.Function`."""

    def forward(self, x: Any) -> Any:
        y = 1 / (1 + mx.nd.exp(-x))
        self.save_for_backward(y)
        return y

    def backward(self, dy: Any) -> Any:
        (y,) = self.saved_tensors
        return dy * y * (1 - y)


def medians(candidates: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Seconds of one call of each, the median over `rounds` in which they take turns."""
    for run in candidates.values():
        run()
    seen: dict[str, list[float]] = {name: [] for name in candidates}
    for _ in range(rounds):
        for name, run in candidates.items():
            seen[name].append(run())
    return {name: statistics.median(times) for name, times in seen.items()}


def timed(step: Callable[[], None], repeats: int) -> Callable[[], float]:
    def run() -> float:
        begun = time.perf_counter()
        for _ in range(repeats):
            step()
        return (time.perf_counter() - begun) / repeats

    return run


def training_step(function: Callable[[Any], Any], x: Any, head: Any) -> Callable[[], None]:
    """Record, backward, and wait until the gradient is there."""

    def step() -> None:
        with mx.autograd.record():
            y = function(x)
        y.backward(head)
        x.grad.wait_to_read()

    return step


def one_node(size: int, rounds: int, table: Table) -> None:
    bench = pb.jl.Bench
    x, head = mx.nd.random.normal(shape=(size,)), mx.nd.ones((size,))
    x.attach_grad()
    y, gradient = mx.nd.empty((size,)), mx.nd.empty((size,))
    views = [pb.asjulia(a, writable=True) for a in (x, y, gradient, head)]
    repeats = max(1, min(100, 2**20 // size))
    steps = {
        "julia": training_step(pb.function("Bench.Sigmoid"), x, head),
        "python": training_step(lambda a: PythonSigmoid()(a), x, head),
        "native": training_step(mx.nd.sigmoid, x, head),
    }
    runs = {name: timed(step, repeats) for name, step in steps.items()}
    runs["bare"] = lambda: float(bench.bare_seconds(*views, repeats)) / repeats
    # Small ones consist of threads that wake each other, which varies.
    t = medians(runs, rounds if size > 2**10 else 4 * rounds)
    a, b, c, d = (t[name] for name in ("julia", "python", "native", "bare"))
    table.add_row(
        f"{size:,}",
        *(f"{1e6 * value:,.0f}" for value in (a, b, c, d)),
        *(f"{ratio:.2f}" for ratio in (a / b, a / c, a / (c + d))),
    )


def chains(rounds: int, table: Table) -> None:
    sigmoid = pb.function("Bench.Sigmoid")
    x, head = mx.nd.ones((16,)), mx.nd.ones((16,))
    x.attach_grad()

    def chain(length: int, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def run(a: Any) -> Any:
            for _ in range(length):
                a = function(a)
            return a

        return run

    runs = {}
    for length in CHAINS:
        repeats = max(1, 200 // length)
        runs[f"julia {length}"] = timed(training_step(chain(length, sigmoid), x, head), repeats)
        runs[f"native {length}"] = timed(training_step(chain(length, mx.nd.sigmoid), x, head), repeats)
    t = medians(runs, rounds)
    ten = t["julia 10"] / 10
    for length in CHAINS:
        julia, native = t[f"julia {length}"] / length, t[f"native {length}"] / length
        table.add_row(f"{length:,}", f"{1e6 * julia:,.1f}", f"{1e6 * native:,.1f}", f"{julia / ten:.2f}")


def marks(rounds: int, table: Table) -> None:
    from marks import CHANNELS, steps

    for channels in CHANNELS:
        runs = {str(count): timed(step, 3) for count, step in steps(channels).items()}
        seconds = medians(runs, rounds)
        for count, value in seconds.items():
            ratio = value / seconds["0"]
            each = f"{100 * (ratio - 1) / int(count):+.1f} %" if int(count) else ""
            first, then = channels
            table.add_row(f"{first}, {then}", count, f"{1e3 * value:.1f}", f"{ratio:.3f}", each)


def hooks(rounds: int, table: Table) -> None:
    from hooks import NETWORKS, candidates

    for name, network in NETWORKS.items():
        for monitor_all in (False, True):
            runs, calls = candidates(network, monitor_all)
            seconds = medians({each: timed(run, 5) for each, run in runs.items()}, rounds)
            for each, value in seconds.items():
                over = f"{1e6 * (value - seconds['none']) / calls:+.1f}" if "none" not in each else ""
                ratio = f"{value / seconds['upstream']:.2f}"
                what = f"{name}, {'inputs too' if monitor_all else 'outputs'}"
                table.add_row(what, str(calls), each, f"{1e3 * value:.2f}", over, ratio)


def imperative(rounds: int, table: Table) -> None:
    from imperative import TITLES, candidates

    for name, runs in candidates().items():
        seconds = medians(runs, rounds)
        bare = f"{1e6 * seconds['bare']:,.1f}" if "bare" in seconds else ""
        julia, python = seconds["julia"], seconds["python"]
        table.add_row(
            TITLES[name], f"{1e6 * julia:,.1f}", f"{1e6 * python:,.1f}", bare, f"{julia / python:.2f}"
        )


def peak_megabytes() -> float:
    """The peak of this process's resident memory since `reset_peak`."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def memory(table: Table) -> None:
    """Peak memory of a Julia step against a native one at 2^24, bytes copied, and whose memory Julia saw."""
    size = 2**24
    x, head = mx.nd.ones((size,)), mx.nd.ones((size,))
    x.attach_grad()
    buffer = size * 4 / 2**20
    sigmoid = pb.function("Bench.Sigmoid")
    copied = pb._dispatch.copied_bytes()
    peaks = {}
    for name, function in (("native", mx.nd.sigmoid), ("julia", sigmoid)):
        step = training_step(function, x, head)
        for _ in range(2):
            step()
        mx.nd.waitall()
        gc.collect()
        pb.jl.GC.gc()
        mx.nd.waitall()
        reset_peak()
        for _ in range(5):
            step()
        peaks[name] = peak_megabytes()
    copied = pb._dispatch.copied_bytes() - copied
    same = int(pb.jl.seval("a -> UInt(pointer(a))")(pb.asjulia(x, writable=True))) == data_pointer(x)
    grown = (peaks["julia"] - peaks["native"]) / buffer
    table.add_row("peak memory of a step at 2^24, over a native one", f"{grown:+.2f} buffers")
    table.add_row("bytes copied in 7 steps at 2^24", f"{copied:,}")
    table.add_row("Julia's pointer is the NDArray's", "yes" if same else "NO")


def data_pointer(x: Any) -> int:
    import ctypes

    pointer = ctypes.c_void_p()
    mx.base.check_call(mx.base._LIB.MXNDArrayGetData(x.handle, ctypes.byref(pointer)))
    return pointer.value or 0


def starts(rounds: int, table: Table) -> None:
    """Whole processes: imports, and the start of Julia."""
    codes = {
        "import mxnet": "import pybridge._numpy_aliases as n; n.restore(); import mxnet",
        "import pybridge, mxnet": "import pybridge, mxnet",
        "import pybridge": "import pybridge",
        "pybridge.jl (starts Julia)": "import pybridge; pybridge.jl",
    }

    def run(code: str) -> Callable[[], float]:
        def once() -> float:
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
            return time.perf_counter() - begun

        return once

    t = medians({name: run(code) for name, code in codes.items()}, rounds)
    for name in codes:
        table.add_row(name, f"{t[name]:.2f}", f"{t[name] / t['import mxnet']:.2f}")


def main(
    rounds: Annotated[int, typer.Option(help="Rounds of each measurement; medians are printed.", min=1)] = 15,
    quick: Annotated[bool, typer.Option("--quick", help="Three rounds, small sizes only.")] = False,
) -> None:
    """Print the table of docs/performance.md.

    Example: python benchmarks/bench.py --rounds 15
    """
    rounds, sizes = (3, SIZES[:2]) if quick else (rounds, SIZES)
    pb.include(Path(__file__).with_name("kernels.jl"))
    console = Console()
    node = Table(
        "floats", "(a) Julia µs", "(b) Python µs", "(c) native µs", "(d) bare µs", "a/b", "a/c", "a/(c+d)",
        title="record + backward through one sigmoid, until the gradient is there",
    )  # fmt: skip
    chain = Table("nodes", "Julia µs/node", "native µs/node", "Julia, over 10", title="chains at 16 floats")
    room = Table("memory", "", title="memory")
    mark = Table(
        "channels",
        "marks",
        "ms",
        "over none",
        "a mark",
        title="forward + backward, five convolutions, hybridized",
    )
    hook = Table(
        "network", "calls", "hook", "ms", "µs a call", "over upstream", title="forward, hybridized, hooked"
    )
    training = {batch: throughput.throughput_table(batch) for batch in BATCHES}
    small = Table(
        "16 floats",
        "(a) from Julia µs",
        "(b) from Python µs",
        "in libmxnet alone µs",
        "a/b",
        title="MXNet.jl's API",
    )
    start = Table("process", "s", "over import mxnet", title="start-up")
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("measuring", total=len(sizes) + 6 + len(BATCHES))
        for size in sizes:
            one_node(size, max(3, rounds // 3) if size == 2**24 else rounds, node)
            progress.advance(task)
        chains(max(3, rounds // 2), chain)
        progress.advance(task)
        if not quick:
            memory(room)
        progress.advance(task)
        marks(rounds, mark)
        progress.advance(task)
        hooks(rounds, hook)
        progress.advance(task)
        imperative(rounds, small)
        progress.advance(task)
        throughput.prepare(threads=None)
        for batch, trained in training.items():
            throughput.throughput(trained, 2 * rounds, batch, (64,) if quick else throughput.WIDTHS)
            progress.advance(task)
        starts(3, start)
        progress.advance(task)
    for table in (node, chain, room, mark, hook, small, *training.values(), start):
        if table.row_count:
            console.print(table)


if __name__ == "__main__":
    typer.run(main)
