"""Activations: four of them, and radial functions, learn to tell two spirals apart.

Each network has one hidden layer that comes from Julia: `Swish`, `Mish`, `Pade` or
`MonotoneSpline` after a dense layer, or `RBF` instead of one. All but Mish learn their own shape.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

import pybridge as pb

import mxnet as mx  # isort: skip

UNITS, SAMPLES = 32, 400

# P and Q for which P / (1 + |Q|) is a leaky ReLU within 0.03 on [-3, 3], by least squares: a good start.
LEAKY_RELU = (np.array([0.03, 0.5, 1.65, 2.0, 0.93, 0.15]), np.array([0.0, 3.97, 0.0, 0.3]))

app = typer.Typer(add_completion=False)


@dataclass
class Result:
    """The mean loss after each step, and the part of new points that is told apart rightly."""

    losses: list[float]
    accuracy: float


def spirals(rng: np.random.Generator) -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    """Points of shape (samples, 2) on two spirals, and which spiral each is on."""
    which = rng.integers(2, size=SAMPLES)
    along = rng.uniform(0.25, 1, size=SAMPLES)
    angle = 4.5 * along + np.pi * which
    points = 3 * along[:, None] * np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points += 0.08 * rng.normal(size=points.shape)
    return mx.nd.array(points, dtype="float32"), mx.nd.array(which, dtype="float32")


def hidden_layers() -> dict[str, list[mx.gluon.HybridBlock]]:
    """What stands between the points and the two scores, by name."""
    block, dense = pb.gluon.JuliaBlock, mx.gluon.nn.Dense
    zeros = {"shape": (0, 0), "init": "zeros"}
    numerator, denominator = ({"init": values} for values in LEAKY_RELU)
    return {
        "Swish": [
            dense(UNITS),
            block("ExampleLayers.Swish", params={"beta": {"shape": (0,), "init": "ones"}}),
        ],
        "Mish": [dense(UNITS), block("ExampleLayers.Mish", params={})],
        "Pade": [
            dense(UNITS),
            block("ExampleLayers.Pade", params={"numerator": numerator, "denominator": denominator}),
        ],
        "MonotoneSpline": [
            dense(UNITS),
            block(
                "ExampleLayers.MonotoneSpline", params={"widths": zeros, "heights": zeros, "slopes": zeros}
            ),
        ],
        "RBF": [
            block(
                "ExampleLayers.RBF",
                params={
                    "centres": {"shape": (0, 0), "init": mx.init.Normal(1.5)},
                    "widths": {"shape": (0,), "init": "ones"},
                },
                units=UNITS,
            )
        ],
    }


def train(name: str, steps: int = 150, seed: int = 0) -> Result:
    """Train the network with one kind of hidden layer on all points at once.

    Args:
        name: of the layer, as in `hidden_layers`.
        steps: of the optimizer.
        seed: of the points and the first weights.
    """
    if not pb.jl.seval("isdefined(Main, :ExampleLayers)"):
        pb.include(Path(__file__).with_name("layers.jl"))
    mx.random.seed(seed)
    rng = np.random.default_rng(seed)
    points, which = spirals(rng)

    net = mx.gluon.nn.HybridSequential()
    net.add(*hidden_layers()[name], mx.gluon.nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    net(points)  # now all shapes are known
    cross_entropy = mx.gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = mx.gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})

    losses = []
    for _ in range(steps):
        with pb.record():
            loss = cross_entropy(net(points), which)
        loss.backward()
        trainer.step(SAMPLES)
        losses.append(float(loss.mean().asscalar()))

    points, which = spirals(rng)
    return Result(losses, float((net(points).argmax(axis=1) == which).mean().asscalar()))


@app.command(epilog="Example: python examples/activations.py --steps 300")
def main(
    steps: int = typer.Option(150, min=1, help="Steps of the optimizer."),
    seed: int = typer.Option(0, help="Of the points and the first weights."),
) -> None:
    """Tell two spirals apart with hidden layers written in Julia."""
    print("hidden layer    first loss  last loss  right")
    for name in ("Swish", "Mish", "Pade", "MonotoneSpline", "RBF"):
        result = train(name, steps, seed)
        print(f"{name:15} {result.losses[0]:10.3f} {result.losses[-1]:10.3f} {result.accuracy:6.1%}")


if __name__ == "__main__":
    app()
