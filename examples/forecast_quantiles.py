"""Forecast quantiles: how far a periodic series will go, and how sure that is.

The noise grows and shrinks with the season, so one number is not a forecast. A network with `RMSNorm` and
`Snake` learns the 10 %, 50 % and 90 % quantiles of the value to come with `QuantileLoss`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

import pybridge as pb

import mxnet as mx  # isort: skip

LEVELS = (0.1, 0.5, 0.9)
SAMPLES = 1024

app = typer.Typer(add_completion=False)


@dataclass
class Result:
    """The mean loss after each step, and how many unseen values lay below each of the three forecasts."""

    losses: list[float]
    below: list[float]


def season(rng: np.random.Generator) -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    """Moments of shape (samples, 2), as points on the circle of a season, and values of shape (samples,)."""
    phase = rng.uniform(0, 2 * np.pi, size=SAMPLES)
    spread = 0.1 + 0.4 * (1 + np.cos(phase)) / 2
    values = np.sin(2 * phase) + spread * rng.normal(size=SAMPLES)
    moments = np.stack([np.cos(phase), np.sin(phase)], axis=1)
    return mx.nd.array(moments, dtype="float32"), mx.nd.array(values, dtype="float32")


def network() -> mx.gluon.nn.HybridSequential:
    """Two dense layers, and between them the normalisation and the activation from Julia."""
    net = mx.gluon.nn.HybridSequential()
    net.add(
        mx.gluon.nn.Dense(32),
        pb.gluon.JuliaBlock("ExampleLayers.RMSNorm", params={"gain": {"shape": (0,), "init": "ones"}}),
        pb.gluon.JuliaBlock("ExampleLayers.Snake", params={"frequency": {"shape": (0,), "init": "ones"}}),
        mx.gluon.nn.Dense(len(LEVELS)),
    )
    return net


def train(steps: int = 200, seed: int = 0, hybridize: bool = True) -> Result:
    """Train on all samples at once.

    Args:
        steps: of the optimizer.
        seed: of the data and the first weights.
        hybridize: run the network as one cached graph.
    """
    if not pb.jl.seval("isdefined(Main, :ExampleLayers)"):
        pb.include(Path(__file__).with_name("layers.jl"))
    mx.random.seed(seed)
    rng = np.random.default_rng(seed)
    moments, values = season(rng)

    net = network()
    net.initialize(mx.init.Xavier())
    if hybridize:
        net.hybridize()
    quantiles = pb.gluon.JuliaBlock("ExampleLayers.QuantileLoss", params={}, levels=LEVELS)
    net(moments)  # now all shapes are known
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.01})

    losses = []
    for _ in range(steps):
        with pb.record():
            loss = quantiles(net(moments), values)
        loss.backward()
        trainer.step(SAMPLES)
        losses.append(float(loss.mean().asscalar()))

    moments, values = season(rng)
    below = (values.expand_dims(1) < net(moments)).mean(axis=0)
    return Result(losses, below.asnumpy().tolist())


@app.command(epilog="Example: python examples/forecast_quantiles.py --steps 500 --no-hybridize")
def main(
    steps: int = typer.Option(200, min=1, help="Steps of the optimizer."),
    seed: int = typer.Option(0, help="Of the data and the first weights."),
    hybridize: bool = typer.Option(True, help="Run the network as one cached graph."),
) -> None:
    """Forecast quantiles with a network and a loss written in Julia."""
    result = train(steps, seed, hybridize)
    for step in range(0, steps, max(1, steps // 10)):
        print(f"step {step:4d}  loss {result.losses[step]:.4f}")
    print(f"step {steps - 1:4d}  loss {result.losses[-1]:.4f}")
    for level, part in zip(LEVELS, result.below):
        print(f"{part:.1%} of new values lie below the {level:.0%} forecast")


if __name__ == "__main__":
    app()
