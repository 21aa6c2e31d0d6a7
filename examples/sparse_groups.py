"""Sparse groups: find out which sensors matter, when each of them gives several readings.

A linear model with the penalty `SparseGroup` puts all weights of a useless sensor near zero together, and single
useless readings of a useful one as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

import pybridge as pb

import mxnet as mx  # isort: skip

SENSORS, READINGS, SAMPLES = 8, 4, 256
USEFUL = (1, 5)

app = typer.Typer(add_completion=False)


@dataclass
class Result:
    """The loss after each step, and the norm of each sensor's weights."""

    losses: list[float]
    norms: list[float]


def measurements(rng: np.random.Generator) -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    """Readings of shape (samples, sensors * readings), and what they tell of, of shape (samples, 1)."""
    x = rng.normal(size=(SAMPLES, SENSORS * READINGS))
    weight = np.zeros((SENSORS, READINGS))
    weight[USEFUL, :2] = [[1.0, -1.5], [2.0, 0.5]]  # the other two readings of these say nothing
    y = x @ weight.reshape(-1, 1) + 0.5 * rng.normal(size=(SAMPLES, 1))
    return mx.nd.array(x, dtype="float32"), mx.nd.array(y, dtype="float32")


def train(steps: int = 200, seed: int = 0, sparsity: float = 0.02, grouping: float = 0.05) -> Result:
    """Fit the linear model with its penalty.

    Args:
        steps: of gradient descent, in steps that become smaller.
        seed: of the data and the first weights.
        sparsity: weight of the penalty on single weights.
        grouping: weight of the penalty on all weights of a sensor.
    """
    if not pb.jl.seval("isdefined(Main, :ExampleLayers)"):
        pb.include(Path(__file__).with_name("layers.jl"))
    mx.random.seed(seed)
    x, y = measurements(np.random.default_rng(seed))

    model = mx.gluon.nn.Dense(1, in_units=SENSORS * READINGS)
    model.initialize(mx.init.Normal(0.3))
    penalty = pb.gluon.JuliaBlock(
        "ExampleLayers.SparseGroup", params={}, sparsity=sparsity, grouping=grouping
    )
    groups = mx.nd.array(np.repeat(np.arange(SENSORS), READINGS), dtype="int32")
    schedule = mx.lr_scheduler.CosineScheduler(steps, base_lr=0.1, final_lr=1e-3)
    trainer = mx.gluon.Trainer(
        model.collect_params(), "sgd", {"learning_rate": 0.1, "lr_scheduler": schedule}
    )

    losses = []
    for _ in range(steps):
        with pb.record():
            loss = ((model(x) - y) ** 2).mean() + penalty(model.weight.data(), groups)
        loss.backward()
        trainer.step(1)
        losses.append(float(loss.asscalar()))
    weight = model.weight.data().asnumpy().reshape(SENSORS, READINGS)
    return Result(losses, np.linalg.norm(weight, axis=1).tolist())


@app.command(epilog="Example: python examples/sparse_groups.py --grouping 0")
def main(
    steps: int = typer.Option(200, min=1, help="Steps of gradient descent."),
    seed: int = typer.Option(0, help="Of the data and the first weights."),
    sparsity: float = typer.Option(0.02, min=0, help="Weight of the penalty on single weights."),
    grouping: float = typer.Option(0.05, min=0, help="Weight of the penalty on whole sensors."),
) -> None:
    """Find the useful sensors with a sparse-group penalty written in Julia."""
    result = train(steps, seed, sparsity, grouping)
    for step in range(0, steps, max(1, steps // 10)):
        print(f"step {step:4d}  loss {result.losses[step]:.4f}")
    print(f"step {steps - 1:4d}  loss {result.losses[-1]:.4f}")
    for sensor, norm in enumerate(result.norms):
        print(f"sensor {sensor}: {norm:6.3f} {'#' * round(20 * norm)}")


if __name__ == "__main__":
    app()
