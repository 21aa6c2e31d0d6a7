"""Tag sequences: a conditional random field learns that labels last, where single observations cannot tell.

A hidden label stays for some time and then moves on; what is observed is a noisy picture of it. A dense layer scores
labels for each moment, `CRFLoss` weighs whole sequences (forward-backward), `CRFDecode` finds the
likeliest one (Viterbi) with the same parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import typer

import pybridge as pb

import mxnet as mx  # isort: skip

LABELS, TIME, FEATURES, SEQUENCES = 4, 20, 6, 64

app = typer.Typer(add_completion=False)


@dataclass
class Result:
    """The mean loss after each step, and the part of the held-out labels that was found."""

    losses: list[float]
    accuracy: float
    accuracy_of_single_moments: float


def sequences(rng: np.random.Generator, pictures: np.ndarray) -> tuple[mx.nd.NDArray, mx.nd.NDArray]:
    """Observations of shape (sequences, time, features) and labels of shape (sequences, time)."""
    labels = np.zeros((SEQUENCES, TIME), dtype="int32")
    labels[:, 0] = rng.integers(LABELS, size=SEQUENCES)
    for t in range(1, TIME):
        moves = rng.random(SEQUENCES) < 0.15
        labels[:, t] = (labels[:, t - 1] + moves) % LABELS
    observed = pictures[labels] + 1.5 * rng.normal(size=(SEQUENCES, TIME, FEATURES))
    return mx.nd.array(observed, dtype="float32"), mx.nd.array(labels, dtype="int32")


def train(steps: int = 60, seed: int = 0) -> Result:
    """Train for a number of steps on all sequences at once.

    Args:
        steps: of the optimizer.
        seed: of the data and the first weights.
    """
    if not pb.jl.seval("isdefined(Main, :ExampleLayers)"):
        pb.include(Path(__file__).with_name("layers.jl"))
    mx.random.seed(seed)
    rng = np.random.default_rng(seed)
    pictures = rng.normal(size=(LABELS, FEATURES))
    observed, labels = sequences(rng, pictures)

    scores = mx.gluon.nn.Dense(LABELS, flatten=False)
    parameters = {
        "transitions": {"shape": (0, 0), "init": "zeros"},
        "start": {"shape": (0,), "init": "zeros"},
        "stop": {"shape": (0,), "init": "zeros"},
    }
    crf = pb.gluon.JuliaBlock("ExampleLayers.CRFLoss", params=parameters)
    decode = pb.gluon.JuliaBlock("ExampleLayers.CRFDecode", params=parameters, shared=crf)
    for block in (scores, crf):
        block.initialize(mx.init.Xavier())

    losses = []
    trained = scores.collect_params()
    trainer = None
    for _ in range(steps):
        with pb.record():
            loss = crf(scores(observed), labels)
        loss.backward()
        if trainer is None:  # now that all shapes are known
            trained.update(crf.collect_params())
            trainer = mx.gluon.Trainer(trained, "adam", {"learning_rate": 0.1})
        trainer.step(SEQUENCES)
        losses.append(float(loss.mean().asscalar()))

    unseen, truth = sequences(rng, pictures)
    emissions = scores(unseen)
    found = (decode(emissions).asnumpy() == truth.asnumpy()).mean()
    single = (emissions.asnumpy().argmax(axis=2) == truth.asnumpy()).mean()
    return Result(losses, float(found), float(single))


@app.command(epilog="Example: python examples/tag_sequences.py --steps 100")
def main(
    steps: int = typer.Option(60, min=1, help="Steps of the optimizer."),
    seed: int = typer.Option(0, help="Of the data and the first weights."),
) -> None:
    """Tag sequences with a conditional random field written in Julia."""
    result = train(steps, seed)
    for step in range(0, steps, max(1, steps // 10)):
        print(f"step {step:4d}  loss {result.losses[step]:.3f}")
    print(f"step {steps - 1:4d}  loss {result.losses[-1]:.3f}")
    print(
        f"right labels: {result.accuracy:.1%}, and {result.accuracy_of_single_moments:.1%} moment by moment"
    )


if __name__ == "__main__":
    app()
