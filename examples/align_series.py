"""Align series: the average of time series that run at different speeds, by soft dynamic time warping.

All series show the same bumps, each at its own times. Their plain mean smears the bumps; the series with the least
`SoftDTW` to all of them keeps their shape (a barycentre, Cuturi and Blondel 2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

import pybridge as pb

import mxnet as mx  # isort: skip

SERIES, TIME = 12, 40

app = typer.Typer(add_completion=False)


@dataclass
class Result:
    """The mean loss after each step, and the heights of the average and of the plain mean (1 in each series)."""

    losses: list[float]
    height: float
    height_of_mean: float


def warped_bumps(rng: np.random.Generator) -> np.ndarray:
    """Series of shape (series, time, 1): a bump up, then one down, at times of their own."""
    t = np.arange(TIME)
    first = rng.uniform(6, 18, size=(SERIES, 1))
    second = rng.uniform(22, 34, size=(SERIES, 1))
    bumps = np.exp(-((t - first) ** 2) / 6) - np.exp(-((t - second) ** 2) / 6)
    return bumps[:, :, None]


def train(steps: int = 60, seed: int = 0, gamma: float = 0.05) -> Result:
    """Move an average series, from the plain mean on, towards least warped distance to all.

    Args:
        steps: of the optimizer.
        seed: of the series.
        gamma: softness of the minimum over alignments.
    """
    if not pb.jl.seval("isdefined(Main, :ExampleLayers)"):
        pb.include(Path(__file__).with_name("layers.jl"))
    data = warped_bumps(np.random.default_rng(seed))
    series = mx.nd.array(data, dtype="float32")
    plain = data.mean(axis=0, keepdims=True)

    distance = pb.gluon.JuliaBlock("ExampleLayers.SoftDTW", params={}, gamma=gamma)
    average = mx.gluon.Parameter("average", shape=(1, TIME, 1), init=mx.init.Constant(plain))
    average.initialize()
    trainer = mx.gluon.Trainer([average], "adam", {"learning_rate": 0.03})

    losses = []
    for _ in range(steps):
        with pb.record():
            loss = distance(average.data().broadcast_axes(axis=0, size=SERIES), series)
        loss.backward()
        trainer.step(SERIES)
        losses.append(float(loss.mean().asscalar()))
    return Result(losses, float(average.data().max().asscalar()), float(plain.max()))


@app.command(epilog="Example: python examples/align_series.py --gamma 0.5")
def main(
    steps: int = typer.Option(60, min=1, help="Steps of the optimizer."),
    seed: int = typer.Option(0, help="Of the series."),
    gamma: float = typer.Option(0.05, min=1e-6, help="Softness of the minimum over alignments."),
) -> None:
    """Average time series that run at different speeds, by soft-DTW written in Julia."""
    result = train(steps, seed, gamma)
    for step in range(0, steps, max(1, steps // 10)):
        print(f"step {step:4d}  loss {result.losses[step]:.4f}")
    print(f"step {steps - 1:4d}  loss {result.losses[-1]:.4f}")
    print(f"height of the bumps: {result.height:.2f} aligned, {result.height_of_mean:.2f} in the plain mean")


if __name__ == "__main__":
    app()
