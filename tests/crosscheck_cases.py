"""What a case of test_crosscheck_proof.py is, and the inputs that cases have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

import numpy as np
from crosscheck_pairs import nd

AGREE = "agree"
PYTHON = "Python wrong"
JULIA = "Julia wrong"
BOTH = "both wrong"
DIFFER = "the functions differ"
KINK = "cannot tell: not differentiable here"

Inputs = Callable[[np.random.Generator], list[Any]]


@dataclass(frozen=True)
class Julia:
    """A function of crosscheck_pairs.jl, and how pb.function takes it."""

    name: str
    keywords: dict[str, Any]
    bare: bool = False

    def build(self, pb: ModuleType) -> Any:
        name = f"CrosscheckPairs.{self.name}"
        return name if self.bare else pb.function(name, **self.keywords)


def pullback(name: str, bug: str = "", **keywords: Any) -> Julia:
    return Julia(name, {"pullback": True, **({"bug": bug} if bug else {}), **keywords})


def ordered(name: str, bug: str = "", **keywords: Any) -> Julia:
    """A pullback that sees Python's index order."""
    return pullback(name, bug, layout="python", **keywords)


def custom(name: str) -> Julia:
    return Julia(name, {})


def bare(name: str) -> Julia:
    return Julia(name, {}, bare=True)


@dataclass(frozen=True)
class Case:
    """A pair, its inputs, the verdicts that are right, and words of which a finding must have one."""

    name: str
    python: Any
    julia: Julia | None
    inputs: Inputs
    verdicts: str | tuple[str, ...] = AGREE
    words: tuple[str, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)


def draw(rng: np.random.Generator, *shape: int, special: tuple[float, ...] = ()) -> np.ndarray:
    """Normal numbers, the special ones at random places among them."""
    x = rng.normal(size=shape)
    x.reshape(-1)[rng.choice(x.size, len(special), replace=False)] = special
    return x


def normal(*shapes: tuple[int, ...]) -> Inputs:
    return lambda rng: [draw(rng, *shape) for shape in shapes]


def with_special(*special: float, shape: tuple[int, ...] = (6,)) -> Inputs:
    return lambda rng: [draw(rng, *shape, special=special)]


def uniform(low: float, high: float, *shapes: tuple[int, ...]) -> Inputs:
    return lambda rng: [rng.uniform(low, high, size=shape) for shape in shapes]


def away_from_zero(*shapes: tuple[int, ...]) -> Inputs:
    return lambda rng: [rng.uniform(0.5, 2, size=s) * rng.choice([-1.0, 1.0], size=s) for s in shapes]


def cycled(rng: np.random.Generator) -> list[np.ndarray]:
    """Five values whose sorting permutation is no involution: it differs from its inverse."""
    return [np.array([3.0, 1.0, 2.0, 5.0, 4.0]) + rng.uniform(-0.2, 0.2, size=5)]


def single(rng: np.random.Generator) -> list[Any]:
    """An NDArray in float32, as networks have them."""
    return [nd.array(draw(rng, 6), dtype="float32")]


def tied_neighbours(rng: np.random.Generator) -> list[np.ndarray]:
    """Two pairs of equal neighbours, on either side of zero, among entries of either sign."""
    x = np.array([0.4, -0.6, 1.1, 1.1, -1.5, -0.8, -0.8, 1.7, 0.2])
    return [x * rng.uniform(0.5, 2)]


def tied_rows(rng: np.random.Generator) -> list[np.ndarray]:
    """Rows whose largest entry occurs twice."""
    x = draw(rng, 3, 4)
    x[:, [0, 2]] = x.max(axis=1, keepdims=True) + 1
    return [x]


def tied_vector(rng: np.random.Generator) -> list[np.ndarray]:
    x = draw(rng, 7)
    x[[1, 4]] = x[6]
    return [x]


def tied_top(rng: np.random.Generator) -> list[np.ndarray]:
    """A vector whose largest entry occurs twice."""
    x = draw(rng, 7)
    x[[1, 4]] = x.max() + 1
    return [x]


def half_tied(rng: np.random.Generator) -> list[np.ndarray]:
    """Two vectors equal in some places, both with a zero elsewhere."""
    a, b = draw(rng, 6), draw(rng, 6)
    b[[1, 4]] = a[[1, 4]] = rng.uniform(0.5, 2, size=2) * (1, -1)
    a[0], a[3], a[2], b[2] = 0.7, -0.7, 0, 1.5
    return [a, b]


def labelled(rng: np.random.Generator) -> list[np.ndarray]:
    """Scores on both sides of the margin, and labels."""
    labels = np.array([1.0, -1.0, 1.0, -1.0, 1.0, -1.0])
    return [labels * np.array([0.3, -0.4, 2.5, 1.8, -1.0, 0.7]) + rng.uniform(-0.2, 0.2, size=6), labels]


def normed(rng: np.random.Generator) -> list[np.ndarray]:
    """A batch with gains and offsets."""
    return [draw(rng, 4, 5), rng.uniform(0.5, 2, size=5), draw(rng, 5)]


def sinc_points(rng: np.random.Generator) -> list[np.ndarray]:
    return [np.array([0, 0.5, -2, 3]) * rng.uniform(0.8, 1.2)]


def kernel_inputs(rng: np.random.Generator) -> list[np.ndarray]:
    return [draw(rng, 3, 2), draw(rng, 4, 2), rng.uniform(0.3, 0.7, size=1)]


def near_identity(*shape: int) -> Inputs:
    return lambda rng: [2 * np.eye(shape[-1]) + rng.uniform(-0.6, 0.6, size=shape)]


def network(rng: np.random.Generator) -> list[np.ndarray]:
    """A layer of 128 units on three rows, and what its results are multiplied with."""
    return [draw(rng, 3, 6), draw(rng, 128, 6), draw(rng, 128), draw(rng, 128, 1)]


SMALL = uniform(-3, 3, (6,))
VECTOR = with_special(-1.5, 0.0, 2.0)
MATRIX = with_special(-1.5, 2.0, shape=(3, 4))
SQUARE = with_special(-1.5, 2.0, shape=(3, 3))
CUBE = with_special(-1.5, 2.0, shape=(3, 3, 3))
POINTS = normal((3, 2), (4, 2))
SAME_POINTS = normal((3, 2), (3, 2))
LAYER = normal((4, 3), (2, 3), (2,))
SQUARE_LAYER = normal((3, 3), (3, 3), (3,))
FILTER = normal((7,), (3,))
MANY = normal((20, 30))
NETWORK = {"grads": [0], "samples": 12}
FLOAT32 = {"dtype": "float32"}
