"""Fit dynamics: a neural differential equation learns how a damped pendulum moves, from short pieces of its path.

`RK4` solves `du/dt = W₂ tanh(W₁u + b₁) + b₂` by Runge-Kutta steps, with the gradients of these steps themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

import pybridge as pb

import mxnet as mx  # isort: skip

DT, PIECE, PIECES = 0.2, 5, 64

app = typer.Typer(add_completion=False)


@dataclass
class Result:
    """The loss after each step, and the error of a long path that was never seen, relative to its size."""

    losses: list[float]
    error: float


def pendulum(u: np.ndarray) -> np.ndarray:
    """Change of angle and speed."""
    return np.stack([u[:, 1], -np.sin(u[:, 0]) - 0.2 * u[:, 1]], axis=1)


def paths(start: np.ndarray, moments: int, within: int = 20) -> np.ndarray:
    """The pendulum's states of shape (moments + 1, batch, 2), in much smaller steps than the model takes."""
    states, h = [start], DT / within
    for _ in range(moments):
        u = states[-1]
        for _ in range(within):
            middle = u + h / 2 * pendulum(u)
            u = u + h * pendulum(middle)
        states.append(u)
    return np.stack(states)


def train(steps: int = 150, seed: int = 0) -> Result:
    """Fit pieces of path, each some steps long.

    Args:
        steps: of the optimizer.
        seed: of the starting points and the first weights.
    """
    if not pb.jl.seval("isdefined(Main, :ExampleLayers)"):
        pb.include(Path(__file__).with_name("layers.jl"))
    mx.random.seed(seed)
    rng = np.random.default_rng(seed)
    seen = mx.nd.array(paths(rng.uniform(-2, 2, size=(PIECES, 2)), PIECE), dtype="float32")

    weights = {"shape": (0, 0), "init": mx.init.Xavier()}
    biases = {"shape": (0,), "init": "zeros"}
    step = pb.gluon.JuliaBlock(
        "ExampleLayers.RK4",
        params={"w1": weights, "b1": biases, "w2": weights, "b2": biases},
        field="mlp",
        hidden=32,
        dt=DT,
    )
    step.initialize()
    step(seen[0])  # now all shapes are known
    trainer = mx.gluon.Trainer(step.collect_params(), "adam", {"learning_rate": 0.02})

    losses = []
    for _ in range(steps):
        with pb.record():
            u, loss = seen[0], 0
            for moment in range(1, PIECE + 1):
                u = step(u)
                loss = loss + ((u - seen[moment]) ** 2).mean()
        loss.backward()
        trainer.step(PIECE)
        losses.append(float(loss.asscalar()) / PIECE)

    whole = paths(np.array([[1.8, 0.0]]), 40)
    u, found = mx.nd.array(whole[0], dtype="float32"), []
    for _ in range(40):
        u = step(u)
        found.append(u.asnumpy())
    return Result(losses, float(np.abs(np.stack(found) - whole[1:]).max() / np.abs(whole).max()))


@app.command(epilog="Example: python examples/fit_dynamics.py --steps 300")
def main(
    steps: int = typer.Option(150, min=1, help="Steps of the optimizer."),
    seed: int = typer.Option(0, help="Of the starting points and the first weights."),
) -> None:
    """Fit a neural differential equation, solved in Julia, to a pendulum."""
    result = train(steps, seed)
    for step in range(0, steps, max(1, steps // 10)):
        print(f"step {step:4d}  loss {result.losses[step]:.6f}")
    print(f"step {steps - 1:4d}  loss {result.losses[-1]:.6f}")
    print(f"largest error of 8 seconds from 1.8 rad: {result.error:.1%}")


if __name__ == "__main__":
    app()
