"""Learn the digits with layers written in Julia, in one process or in several that share the work.

Nothing here is particular to Julia: the parameters of a `JuliaBlock` are ordinary Gluon parameters, which any KVStore
carries. Every worker takes its part of each batch, and the servers add up the gradients, so that the parameters after
each step are those of one process with the whole batch, up to the order in which floating-point numbers are added.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Optional

import numpy as np
import typer

import pybridge as pb  # before mxnet: it puts NumPy's old names back

import mxnet as mx  # isort: skip

UNITS, CLASSES = 64, 10

app = typer.Typer(add_completion=False)


def network(seed: int) -> Any:
    """A dense layer and Swish in Julia, and a native dense layer for the ten classes."""
    if not pb.jl.seval("isdefined(Main, :DigitsLayers)"):
        pb.include(Path(__file__).with_name("digits_layers.jl"))
    mx.random.seed(seed)
    dense = {"weight": (UNITS, 64), "bias": {"shape": (UNITS,), "init": "zeros"}}
    net = mx.gluon.nn.HybridSequential(prefix="digits_")
    with net.name_scope():
        net.add(
            pb.gluon.JuliaBlock("DigitsLayers.JuliaDense", params=dense),
            pb.gluon.JuliaBlock("DigitsLayers.JuliaSwish"),
            mx.gluon.nn.Dense(CLASSES, in_units=UNITS),
        )
    net.initialize(mx.init.Xavier())
    return net


def train(kvstore: str, steps: int, batch: int, hybridize: bool, seed: int) -> tuple[Any, int]:
    """Train; returns the network and the number of this worker."""
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    store = mx.kv.create(kvstore)
    net = network(seed)
    if hybridize:
        net.hybridize()
    loss_of = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(
        net.collect_params(), "sgd", {"learning_rate": 0.1, "momentum": 0.9}, kvstore=store
    )
    order = np.random.default_rng(seed)  # the same in every worker
    for step in range(steps):
        rows = order.choice(len(x), batch, replace=False)[store.rank :: store.num_workers]
        images, labels = (mx.nd.array(a[rows]) for a in (x / 16, y))
        with mx.autograd.record():
            loss = loss_of(net(images), labels)
        loss.backward()
        trainer.step(batch)  # the whole batch: the servers add, they do not average
        if step % max(1, steps // 10) == 0 or step == steps - 1:
            print(f"step {step:4d}  loss {loss.mean().asscalar():.3f}")
    return net, store.rank


@app.command(epilog="Example: python examples/train_distributed.py --steps 100")
def main(
    kvstore: Annotated[str, typer.Option(help="local in one process; dist_sync under launch.py.")] = "local",
    steps: Annotated[int, typer.Option(help="Steps of gradient descent.", min=1)] = 200,
    batch: Annotated[int, typer.Option(help="Samples of one step, of all workers together.", min=1)] = 64,
    hybridize: Annotated[bool, typer.Option("--hybridize", help="Train the hybridized network.")] = False,
    seed: Annotated[int, typer.Option(help="Fixes first weights and batches.")] = 0,
    out: Annotated[
        Optional[str], typer.Option(help="Where to save the parameters; {rank} is the worker's number.")
    ] = None,
) -> None:
    """Learn the digits with Julia layers, alone or as one of several workers (see launch.py)."""
    net, rank = train(kvstore, steps, batch, hybridize, seed)
    if out is not None:
        net.save_parameters(out.format(rank=rank))


if __name__ == "__main__":
    app()
