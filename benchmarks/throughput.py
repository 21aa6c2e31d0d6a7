"""Training throughput: a network on the digits with dense layers in Julia, against the same in native Gluon.

`make bench` prints the table, too; alone: `python benchmarks/throughput.py --help`. The candidates of a row take turns
every few steps, so that other work on the machine meets both; what counts are the ratios.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

import pybridge as pb  # before mxnet: it puts NumPy's old names back

import mxnet as mx  # isort: skip

WIDTHS = (64, 256, 512, 1024)
MODES: dict[str, dict[str, bool] | None] = {
    "eager": None,
    "hybridized": {},
    "static": {"static_alloc": True, "static_shape": True},
}
STEPS = 3  # of one turn


def network(julia: bool, width: int, mode: str) -> Any:
    """64 inputs, two hidden layers with rectifiers, ten classes; only the dense layers differ."""

    def dense(units: int, inputs: int) -> Any:
        if not julia:
            return mx.gluon.nn.Dense(units, in_units=inputs)
        params = {"weight": (units, inputs), "bias": {"shape": (units,), "init": "zeros"}}
        return pb.gluon.JuliaBlock("BenchLayers.Dense", params=params)

    mx.random.seed(0)
    net = mx.gluon.nn.HybridSequential()
    with net.name_scope():
        net.add(dense(width, 64), mx.gluon.nn.Activation("relu"))
        net.add(dense(width, width), mx.gluon.nn.Activation("relu"))
        net.add(dense(10, width))
    net.initialize(mx.init.Xavier())
    flags = MODES[mode]
    if flags is not None:
        net.hybridize(**flags)
    return net


def turn(net: Any, batches: list[Any], size: int, waits: bool = False) -> Callable[[], float]:
    """Some steps of training; gives the seconds of one step.

    With `waits` every call of a block and every backward waits for what it computes, as those with Julia functions do:
    that shows how much of a difference is the synchrony, and how much the bridge.
    """
    trainer = mx.gluon.Trainer(net.collect_params(), "sgd", {"learning_rate": 0.01}, kvstore=None)
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    loss_of.hybridize()
    if waits:
        for block in [*net, net]:
            block.register_forward_hook(lambda block, inputs, result: wait(result))

    def run() -> float:
        mx.nd.waitall()
        begun = time.perf_counter()
        for images, labels in batches:
            with mx.autograd.record():
                loss = loss_of(net(images), labels)
            loss.backward()
            if waits:
                mx.nd.waitall()
            trainer.step(size)
        mx.nd.waitall()
        return (time.perf_counter() - begun) / len(batches)

    return run


def wait(result: Any) -> None:
    if isinstance(result, mx.nd.NDArray):  # a symbol, while a graph is being made
        result.wait_to_read()


def throughput(table: Table, rounds: int, batch: int, widths: tuple[int, ...] = WIDTHS) -> None:
    """Samples per second of each, and the medians of the ratios turn by turn."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    parts = [slice(i * batch, (i + 1) * batch) for i in range(STEPS)]
    batches = [(mx.nd.array(x[part] / 16), mx.nd.array(y[part])) for part in parts]
    for width in widths:
        gemms = pb.jl.BenchLayers.gemm_seconds
        julia_gemms = sum(gemms(*sizes, batch, 30) for sizes in ((64, width), (width, width), (width, 10)))
        for mode in MODES:
            # One pair at a time: live nodes of other networks would make every backward wait for the whole engine.
            native, waiting = network(False, width, mode), network(False, width, mode)
            runs = [
                turn(network(True, width, mode), batches, batch),
                turn(native, batches, batch),
                turn(waiting, batches, batch, waits=True),
            ]
            for run in runs:
                run()
            turns = [[run() for run in runs] for _ in range(rounds)]
            medians = [statistics.median(times) for times in zip(*turns)]
            ratios = [statistics.median(each[i] / each[0] for each in turns) for i in (1, 2)]
            table.add_row(
                f"{width:,}",
                mode,
                *(f"{batch / seconds:,.0f}" for seconds in medians),
                *(f"{ratio:.2f}" for ratio in ratios),
                f"{1e6 * julia_gemms:,.0f}",
            )


def throughput_table(batch: int) -> Table:
    title = f"training on the digits, batches of {batch}: dense layers in Julia against native Gluon"
    columns = ("(a) Julia /s", "(b) native /s", "(c) native, waiting /s", "a/b", "a/c", "GEMMs in Julia µs")
    return Table("width", "mode", *columns, title=title)


def prepare(threads: int | None) -> None:
    """Load the layer; `threads` for Julia's BLAS, None leaves them as they are."""
    pb.include(Path(__file__).with_name("layers.jl"))
    if threads is not None:
        pb.jl.BenchLayers.BLAS.set_num_threads(threads)


def main(
    rounds: Annotated[int, typer.Option(help="Turns of each network.", min=1)] = 30,
    batch: Annotated[int, typer.Option(help="Samples of a step.", min=1)] = 128,
    widths: Annotated[str, typer.Option(help="Widths, with commas between.")] = "64,256,512,1024",
    blas_threads: Annotated[int, typer.Option(help="Threads of Julia's BLAS; 0: its own choice.", min=0)] = 0,
) -> None:
    """Print the table of training throughput.

    Example: OMP_NUM_THREADS=1 python benchmarks/throughput.py --widths 256,512
    """
    prepare(blas_threads or None)
    table = throughput_table(batch)
    throughput(table, rounds, batch, tuple(map(int, widths.split(","))))
    Console(width=110).print(table)


if __name__ == "__main__":
    typer.run(main)
