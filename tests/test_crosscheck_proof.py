"""Planted errors the cross-checker must find, and right pairs it must not blame, each over many seeds.

What a case expects comes from mathematics: which side is right is known from how the pair was made. To be
short, the default run takes every second case with one seed; PYBRIDGE_PROOF_SEEDS=20 takes all with 20.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import crosscheck_pairs as python
import numpy as np
import pytest
from crosscheck_pairs import function, mx, nd

ASKED = int(os.environ.get("PYBRIDGE_PROOF_SEEDS", "0"))
SEEDS = range(ASKED or 1)
EVERY = 1 if ASKED else 2

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


def noisy(x: Any) -> Any:
    return nd.random.uniform(shape=x.shape, dtype=x.dtype)


def swish_bug(bug: str, verdicts: Any = JULIA, words: tuple[str, ...] = (), inputs: Inputs = VECTOR) -> Case:
    return Case(f"swish: {bug}", python.swish, pullback("swish", bug), inputs, verdicts, words)


def affine_bug(bug: str, verdicts: Any = JULIA, words: tuple[str, ...] = (), inputs: Inputs = LAYER) -> Case:
    return Case(f"affine: {bug}", python.affine, ordered("affine", bug), inputs, verdicts, words)


def layernorm_bug(bug: str) -> Case:
    return Case(f"layer norm: {bug}", python.layernorm, pullback("layernorm", bug), normed, JULIA)


WRONG_JULIA = [
    swish_bug("sign", words=("sign",)),
    swish_bug("factor", words=("factor",)),
    swish_bug("tiny factor"),
    swish_bug("product rule"),
    swish_bug("negative", words=("negative",)),
    swish_bug("float32 only", words=("float32",), inputs=single),
    swish_bug("float32 forward", (JULIA, DIFFER), ("float32",)),
    swish_bug("float32 backward", words=("float32",)),
    swish_bug("noise forward", (JULIA, DIFFER), ("determinism",)),
    swish_bug("noise backward", words=("determinism",)),
    swish_bug("offset", DIFFER, ("values",)),
    swish_bug("writes", words=("writes",)),
    swish_bug("head ignored", words=("linearity",)),
    swish_bug("head squared", words=("linearity",)),
    swish_bug("head absolute", words=("linearity",)),
    swish_bug("head offset", words=("linearity",)),
    swish_bug("raises", words=("raised",)),
    swish_bug("shape", words=("shape", "raised")),
    swish_bug("missing", words=("missing",)),
    swish_bug("reversed", words=("layout", "transposed"), inputs=SQUARE),
    Case("swish: reversed, 3-D", python.swish, pullback("swish", "reversed"), CUBE, JULIA, ("layout",)),
    Case(
        "swish: reversed, layout python",
        python.swish,
        ordered("swish", "reversed"),
        SQUARE,
        JULIA,
        ("layout",),
    ),
    swish_bug("shifted", words=("shifted",)),
    Case(
        "swish: widened",
        python.swish,
        pullback("swish", "widened"),
        VECTOR,
        JULIA,
        ("float32", "dtype"),
        FLOAT32,
    ),
    Case(
        "swish: sign in float32", python.swish, pullback("swish", "sign"), VECTOR, JULIA, ("sign",), FLOAT32
    ),
    Case("swish: sign, no Python", None, pullback("swish", "sign"), VECTOR, JULIA, ("sign",)),
    Case("swish: stale", python.swish, custom("StaleSwish"), VECTOR, JULIA, ("state",)),
    Case("product: stale", lambda a, b: a * b, custom("StaleProduct"), normal((5,), (5,)), JULIA, ("state",)),
    Case(
        "softmax: axis",
        python.softmax(0),
        pullback("softmax", "axis", dims=2),
        SQUARE,
        DIFFER,
        ("axis", "layout"),
    ),
    Case("softmax: diagonal", python.softmax(1), pullback("softmax", "diagonal", dims=1), MATRIX, JULIA),
    Case("softmax: no sum", python.softmax(1), pullback("softmax", "no sum", dims=1), MATRIX, JULIA),
    Case(
        "softmax: gradient axis",
        python.softmax(1),
        pullback("softmax", "gradient axis", dims=1),
        MATRIX,
        JULIA,
    ),
    Case("log softmax: head", python.logsoftmax, pullback("logsoftmax", "head", dims=1), MATRIX, JULIA),
    Case(
        "logsumexp: not normalised",
        python.logsumexp(0),
        pullback("logsumexp", "not normalised", dims=2),
        MATRIX,
        JULIA,
    ),
    Case("logsumexp: uniform", python.logsumexp(1), pullback("logsumexp", "uniform", dims=1), MATRIX, JULIA),
    Case(
        "logsumexp: overflow",
        python.logsumexp(1),
        pullback("logsumexp", "overflow", dims=1),
        uniform(800, 810, (2, 3)),
        (JULIA, DIFFER),
    ),
    affine_bug("weight transposed", words=("transposed", "layout"), inputs=SQUARE_LAYER),
    affine_bug("input transposed", words=("transposed", "layout"), inputs=SQUARE_LAYER),
    affine_bug("swapped", inputs=SQUARE_LAYER),
    affine_bug("bias row"),
    affine_bug("bias mean", words=("factor",)),
    affine_bug("bias unsummed", words=("shape", "raised")),
    affine_bug("bias missing", words=("missing",)),
    affine_bug("bias axis", words=("axis",), inputs=SQUARE_LAYER),
    affine_bug("bias sign", words=("sign",)),
    affine_bug("weight", inputs=SQUARE_LAYER),
    affine_bug("value", words=("layout", "transposed"), inputs=SQUARE_LAYER),
    layernorm_bug("mean term"),
    layernorm_bug("variance term"),
    layernorm_bug("epsilon"),
    layernorm_bug("epsilon backward"),
    layernorm_bug("n - 1"),
    layernorm_bug("gain mean"),
    layernorm_bug("gain unscaled"),
    Case(
        "huber: absolute value",
        python.huber,
        pullback("huber", "absolute value"),
        VECTOR,
        JULIA,
        ("negative",),
    ),
    Case("huber: edge", python.huber, pullback("huber", "edge"), with_special(1, -1, 0.25), JULIA),
    Case("huber: factor", python.huber, pullback("huber", "factor"), with_special(0.25, 3.0), JULIA),
    Case("huber: tail", python.huber, pullback("huber", "tail"), with_special(-2.5, 3.0), JULIA),
    Case("hinge: label", python.hinge, pullback("hinge", "label"), labelled, JULIA),
    Case("hinge: mask", python.hinge, pullback("hinge", "mask"), labelled, JULIA),
    Case("hinge: mean", python.hinge, pullback("hinge", "mean"), labelled, DIFFER, ("values", "factor")),
    Case(
        "hinge: mean backward", python.hinge, pullback("hinge", "mean backward"), labelled, JULIA, ("factor",)
    ),
    Case("hinge: swapped", python.hinge, pullback("hinge", "swapped"), labelled, JULIA),
    Case(
        "cumsum: not reversed", python.runningsum, pullback("runningsum", "not reversed"), normal((6,)), JULIA
    ),
    Case("cumsum: exclusive", python.runningsum, pullback("runningsum", "exclusive"), normal((6,)), JULIA),
    Case(
        "cumsum: shifted",
        python.runningsum,
        pullback("runningsum", "shifted"),
        normal((6,)),
        JULIA,
        ("shifted",),
    ),
    Case("diff: edge", python.differences, pullback("differences", "edge"), normal((6,)), JULIA),
    Case("diff: first", python.differences, pullback("differences", "first"), normal((6,)), JULIA),
    Case(
        "diff: shifted",
        python.differences,
        pullback("differences", "shifted"),
        normal((6,)),
        JULIA,
        ("shifted",),
    ),
    Case("diff: sign", python.differences, pullback("differences", "sign"), normal((6,)), JULIA, ("sign",)),
    Case("max: ties", python.largest(1), pullback("largest", "ties", dims=1), tied_rows, JULIA, ("ties",)),
    Case("max: smallest", python.largest(1), pullback("largest", "smallest", dims=1), normal((3, 4)), JULIA),
    Case("sort: not undone", lambda x: nd.sort(x, axis=0), pullback("sorted", "not undone"), cycled, JULIA),
    Case("sort: unsorted", lambda x: nd.sort(x, axis=0), pullback("sorted", "unsorted"), cycled, JULIA),
    Case(
        "squared distances: factor",
        python.squareddistances,
        ordered("squareddistances", "factor"),
        POINTS,
        JULIA,
        ("factor",),
    ),
    Case(
        "squared distances: sign",
        python.squareddistances,
        ordered("squareddistances", "sign"),
        POINTS,
        JULIA,
        ("sign",),
    ),
    Case(
        "squared distances: swapped",
        python.squareddistances,
        ordered("squareddistances", "swapped"),
        SAME_POINTS,
        JULIA,
    ),
    Case(
        "squared distances: second missing",
        python.squareddistances,
        ordered("squareddistances", "second missing"),
        POINTS,
        JULIA,
        ("missing",),
    ),
    Case(
        "distances: not normalised", python.distances, ordered("distances", "not normalised"), POINTS, JULIA
    ),
    Case("distances: squared", python.distances, ordered("distances", "squared"), POINTS, JULIA),
    Case(
        "outer: transposed",
        python.outer,
        ordered("outer", "transposed"),
        normal((4,), (4,)),
        DIFFER,
        ("layout", "transposed"),
    ),
    Case(
        "outer: index order",
        python.outer,
        pullback("outer", ""),
        normal((4,), (4,)),
        DIFFER,
        ("layout", "transposed"),
    ),
    Case("outer: swapped", python.outer, ordered("outer", "swapped"), normal((4,), (4,)), JULIA),
    Case(
        "outer: head transposed", python.outer, ordered("outer", "head transposed"), normal((4,), (4,)), JULIA
    ),
    Case(
        "outer: first missing",
        python.outer,
        ordered("outer", "first missing"),
        normal((4,), (3,)),
        JULIA,
        ("missing",),
    ),
    Case(
        "convolution: flipped",
        python.correlate,
        pullback("correlate", "flipped"),
        FILTER,
        DIFFER,
        ("values",),
    ),
    Case(
        "convolution: kernel flipped",
        python.correlate,
        pullback("correlate", "kernel flipped"),
        FILTER,
        JULIA,
    ),
    Case(
        "convolution: shifted",
        python.correlate,
        pullback("correlate", "shifted"),
        FILTER,
        JULIA,
        ("shifted",),
    ),
    Case("convolution: edge", python.correlate, pullback("correlate", "edge"), FILTER, JULIA),
    Case("rbf: width", python.rbf, ordered("rbf", "width"), kernel_inputs, JULIA, ("factor",)),
    Case("rbf: sign", python.rbf, ordered("rbf", "sign"), kernel_inputs, JULIA, ("sign",)),
    Case(
        "rbf: width missing", python.rbf, ordered("rbf", "width missing"), kernel_inputs, JULIA, ("missing",)
    ),
    Case("rbf: width mean", python.rbf, ordered("rbf", "width mean"), kernel_inputs, JULIA, ("factor",)),
    Case(
        "determinant: not transposed",
        nd.linalg.det,
        pullback("determinants", "not transposed"),
        near_identity(2, 3, 3),
        JULIA,
    ),
    Case(
        "determinant: unscaled",
        nd.linalg.det,
        pullback("determinants", "unscaled"),
        near_identity(2, 3, 3),
        JULIA,
    ),
    Case(
        "sum and difference: heads swapped",
        python.sumdifference,
        pullback("sumdifference", "heads swapped"),
        normal((5,), (5,)),
        JULIA,
    ),
    Case(
        "sum and difference: second head",
        python.sumdifference,
        pullback("sumdifference", "second head"),
        normal((5,), (5,)),
        JULIA,
    ),
    Case(
        "sum and difference: inputs swapped",
        python.sumdifference,
        pullback("sumdifference", "inputs swapped"),
        normal((5,), (5,)),
        JULIA,
    ),
    Case(
        "sum and difference: outputs swapped",
        python.sumdifference,
        pullback("sumdifference", "outputs swapped"),
        normal((5,), (5,)),
        JULIA,
    ),
    Case(
        "quotient: second term",
        lambda a, b: a / b,
        pullback("quotient", "second term"),
        away_from_zero((5,), (5,)),
        JULIA,
    ),
    Case(
        "quotient: square",
        lambda a, b: a / b,
        pullback("quotient", "square"),
        away_from_zero((5,), (5,)),
        JULIA,
    ),
    Case(
        "quotient: sign",
        lambda a, b: a / b,
        pullback("quotient", "sign"),
        away_from_zero((5,), (5,)),
        JULIA,
        ("sign",),
    ),
    Case("product: ties", lambda a, b: a * b, pullback("product", "ties"), half_tied, JULIA),
    Case("product: zeros", lambda a, b: a * b, pullback("product", "zeros"), half_tied, JULIA, ("zero",)),
    Case(
        "product: ratio", lambda a, b: a * b, pullback("product", "ratio"), half_tied, JULIA, ("zero", "nan")
    ),
    Case(
        "neighbours: ties",
        lambda x: x[:-1] * x[1:],
        pullback("neighbours", "ties"),
        tied_neighbours,
        JULIA,
        ("ties",),
    ),
    Case(
        "cube: absolute value",
        lambda x: x**3,
        pullback("cube", "absolute value"),
        VECTOR,
        JULIA,
        ("negative",),
    ),
    Case("cube: power", lambda x: x**3, pullback("cube", "power"), VECTOR, JULIA),
    Case("cube: clipped", lambda x: x**3, pullback("cube", "clipped"), with_special(3.0, -2.5), JULIA),
    Case("sinc: zeros", python.sinc, pullback("sinc_", "zeros"), sinc_points, JULIA, ("zero", "nan")),
    Case(
        "norm: not normalised",
        python.norm,
        pullback("norm2", "not normalised"),
        normal((5,)),
        JULIA,
        ("factor",),
    ),
    Case("relu: twice at zero", nd.relu, pullback("relu", at_zero=2), with_special(0.0, -1.0), JULIA),
    Case("relu: minus one at zero", nd.relu, pullback("relu", at_zero=-1), with_special(0.0, -1.0), JULIA),
    Case("abs: three at zero", nd.abs, pullback("absolute", at_zero=3), with_special(0.0, -1.0), JULIA),
    Case(
        "mean square: sum",
        lambda x: (x * x).mean(),
        pullback("meansquare", "sum"),
        normal((5,)),
        DIFFER,
        ("values", "factor"),
    ),
    Case(
        "mean square: sum backward",
        lambda x: (x * x).mean(),
        pullback("meansquare", "sum backward"),
        normal((2, 3)),
        JULIA,
        ("factor",),
    ),
    Case(
        "matmul: reversed",
        nd.dot,
        ordered("multiply", "reversed"),
        normal((3, 3), (3, 3)),
        DIFFER,
        ("values", "layout"),
    ),
    Case(
        "matmul: index order",
        nd.dot,
        pullback("multiply"),
        normal((3, 3), (3, 3)),
        DIFFER,
        ("values", "layout"),
    ),
    Case(
        "matmul: first transposed",
        nd.dot,
        ordered("multiply", "first transposed"),
        normal((3, 3), (3, 3)),
        JULIA,
        ("transposed",),
    ),
    Case(
        "matmul: not transposed", nd.dot, ordered("multiply", "not transposed"), normal((3, 3), (3, 3)), JULIA
    ),
]

WRONG_JULIA += [
    *(
        Case(f"network: {bug}", python.relunet, ordered("relunet", bug), network, JULIA, (), NETWORK)
        for bug in ("half", "leaks", "tiny factor")
    ),
    *(
        Case(f"hinge of many: {bug}", lambda x: nd.relu(1 - x), pullback("hinged", bug), MANY, JULIA)
        for bug in ("tiny factor", "shifted kink")
    ),
    Case(
        "hinge: five at the kink",
        lambda x: nd.relu(1 - x),
        pullback("hinged", "five at the kink"),
        with_special(1.0, 1.0),
        JULIA,
    ),
    *(
        Case(f"poles: {bug}", lambda x: 1 / (x - 1), pullback("poles", bug), MANY, JULIA)
        for bug in ("tiny factor", "power")
    ),
    Case(
        "exp, wide: tenfold where negative",
        nd.exp,
        pullback("widexp", "gradient"),
        uniform(-30, 30, (40,)),
        JULIA,
    ),
    Case(
        "exp, wide: values tenfold where negative",
        nd.exp,
        pullback("widexp", "values"),
        uniform(-30, 30, (40,)),
        DIFFER,
        ("values",),
    ),
    Case(
        "offset: factor",
        lambda x: x * x + 1e8,
        pullback("offset", "factor"),
        normal((12,)),
        JULIA,
        ("factor",),
    ),
    Case("short waves: factor", lambda x: nd.sin(1e6 * x), pullback("shortwaves", "factor"), SMALL, JULIA),
]

WRONG_PYTHON = [
    # MXNet's own: it computes in float32 whatever its input.
    Case(
        "leaky relu: float32",
        lambda x: nd.LeakyReLU(x, slope=0.25),
        pullback("leaky"),
        SMALL,
        (PYTHON, DIFFER),
        ("float32",),
    ),
    Case(
        "sign",
        python.swish_with(lambda h, x: -h * python.swish_slope(x)),
        pullback("swish"),
        VECTOR,
        PYTHON,
        ("sign",),
    ),
    Case(
        "factor",
        python.swish_with(lambda h, x: 3 * h * python.swish_slope(x)),
        pullback("swish"),
        VECTOR,
        PYTHON,
        ("factor",),
    ),
    Case(
        "tiny factor",
        python.swish_with(lambda h, x: h * python.swish_slope(x) * (1 + 1e-6)),
        pullback("swish"),
        VECTOR,
        PYTHON,
    ),
    Case("product rule", lambda x: x * nd.BlockGrad(nd.sigmoid(x)), pullback("swish"), VECTOR, PYTHON),
    Case(
        "head ignored",
        python.swish_with(lambda h, x: python.swish_slope(x)),
        pullback("swish"),
        VECTOR,
        PYTHON,
        ("linearity",),
    ),
    Case(
        "float32 forward",
        lambda x: python.swish(x.astype("float32")).astype(x.dtype),
        pullback("swish"),
        VECTOR,
        (PYTHON, DIFFER),
        ("float32",),
    ),
    Case(
        "float32 backward",
        python.swish_with(lambda h, x: (h * python.swish_slope(x)).astype("float32").astype(x.dtype)),
        pullback("swish"),
        VECTOR,
        PYTHON,
        ("float32",),
    ),
    Case(
        "noise backward",
        python.swish_with(lambda h, x: h * python.swish_slope(x) * (1 + noisy(x))),
        pullback("swish"),
        VECTOR,
        PYTHON,
        ("determinism",),
    ),
    Case(
        "noise forward",
        lambda x: python.swish(x) + noisy(x),
        pullback("swish"),
        VECTOR,
        (PYTHON, DIFFER),
        ("determinism",),
    ),
    Case(
        "writes",
        function(python.writing, lambda xs, h: h * python.swish_slope(xs[0])),
        pullback("swish"),
        VECTOR,
        PYTHON,
        ("writes",),
    ),
    Case(
        "stale", python.stale(python.swish_slope, python.swish), pullback("swish"), VECTOR, PYTHON, ("state",)
    ),
    Case(
        "stale, 2-D, custom",
        python.stale(python.swish_slope, python.swish),
        custom("Swish"),
        MATRIX,
        PYTHON,
        ("state",),
    ),
    Case(
        "negative",
        python.swish_with(lambda h, x: h * python.swish_slope(x) * (x >= 0)),
        pullback("swish"),
        VECTOR,
        PYTHON,
        ("negative",),
    ),
    Case(
        "transposed",
        python.swish_with(lambda h, x: (h * python.swish_slope(x)).T),
        pullback("swish"),
        SQUARE,
        PYTHON,
        ("transposed", "layout"),
    ),
    Case("raises", lambda x: nd.sort(x), pullback("sorted"), cycled, PYTHON, ("raised",)),
    Case(
        "no Julia",
        python.swish_with(lambda h, x: -h * python.swish_slope(x)),
        None,
        VECTOR,
        PYTHON,
        ("sign",),
    ),
    Case(
        "softmax: diagonal",
        function(
            python.softmax(1), lambda xs, h: h * nd.softmax(xs[0], axis=1) * (1 - nd.softmax(xs[0], axis=1))
        ),
        pullback("softmax", dims=1),
        MATRIX,
        PYTHON,
    ),
    Case(
        "softmax: gradient axis",
        function(python.softmax(1), lambda xs, h: python.softmax_slope(xs, h, axis=1, along=0)),
        pullback("softmax", dims=1),
        MATRIX,
        PYTHON,
    ),
    Case("softmax: axis", python.softmax(0), pullback("softmax", dims=1), SQUARE, DIFFER, ("axis", "layout")),
    Case(
        "affine: weight transposed",
        python.affine_with(lambda gx, gw, gb, h: (gx, gw.T, gb)),
        ordered("affine"),
        SQUARE_LAYER,
        PYTHON,
        ("transposed",),
    ),
    Case(
        "affine: bias mean",
        python.affine_with(lambda gx, gw, gb, h: (gx, gw, gb / 4)),
        ordered("affine"),
        LAYER,
        PYTHON,
        ("factor",),
    ),
    Case(
        "affine: bias missing",
        lambda x, w, b: python.affine(x, w, nd.BlockGrad(b)),
        ordered("affine"),
        LAYER,
        PYTHON,
        ("missing",),
    ),
    Case(
        "affine: bias row",
        python.affine_with(lambda gx, gw, gb, h: (gx, gw, h[0])),
        ordered("affine"),
        LAYER,
        PYTHON,
    ),
    Case(
        "affine: swapped",
        python.affine_with(lambda gx, gw, gb, h: (gw, gx, gb)),
        ordered("affine"),
        SQUARE_LAYER,
        PYTHON,
    ),
    Case("layer norm: variance term", python.layernorm_blocked, pullback("layernorm"), normed, PYTHON),
    Case(
        "cumsum: not reversed",
        function(python.runningsum, lambda xs, h: python.runningsum(h)),
        pullback("runningsum"),
        normal((6,)),
        PYTHON,
    ),
    Case("max: ties", lambda x: x.max(axis=1), pullback("largest", dims=1), tied_rows, PYTHON, ("ties",)),
    Case("max: ties of all", lambda x: x.max(), pullback("largest_of_all"), tied_top, PYTHON, ("ties",)),
    Case(
        "prod: zeros",
        lambda x: x.prod(axis=1),
        pullback("productover", dims=1),
        lambda rng: [away_from_zero((2, 4))(rng)[0] * np.array([[1, 0, 1, 1], [1, 1, 1, 1]])],
        PYTHON,
        ("zero", "nan"),
    ),
    Case("sinc: zeros", python.sinc_undefined, pullback("sinc_"), sinc_points, PYTHON, ("zero", "nan")),
    Case(
        "norm: squared",
        function(python.norm, lambda xs, h: h * xs[0] / (xs[0] * xs[0]).sum()),
        pullback("norm2"),
        normal((5,)),
        PYTHON,
        ("factor",),
    ),
    Case(
        "squared distances: sign",
        lambda x, y: python.squareddistances(x, 2 * nd.BlockGrad(y) - y),
        ordered("squareddistances"),
        POINTS,
        PYTHON,
        ("sign",),
    ),
    Case(
        "rbf: width missing",
        lambda x, y, g: python.rbf(x, y, nd.BlockGrad(g)),
        ordered("rbf"),
        kernel_inputs,
        PYTHON,
        ("missing",),
    ),
    Case(
        "quotient: second term",
        lambda a, b: a / nd.BlockGrad(b),
        pullback("quotient"),
        away_from_zero((5,), (5,)),
        PYTHON,
        ("missing",),
    ),
    Case(
        "outer: swapped",
        function(python.outer, lambda xs, h: (nd.dot(h.T, xs[0]), nd.dot(h, xs[1]))),
        ordered("outer"),
        normal((4,), (4,)),
        PYTHON,
    ),
    Case(
        "diff: reversed",
        lambda x: x[:-1] - x[1:],
        pullback("differences"),
        normal((6,)),
        DIFFER,
        ("values", "sign"),
    ),
    Case(
        "huber: absolute value",
        function(python.huber, lambda xs, h: h * nd.minimum(nd.abs(xs[0]), 1)),
        pullback("huber"),
        VECTOR,
        PYTHON,
        ("negative",),
    ),
]

WRONG_BOTH = [
    Case(
        "sign and factor",
        python.swish_with(lambda h, x: -h * python.swish_slope(x)),
        pullback("swish", "factor"),
        VECTOR,
        BOTH,
    ),
    Case(
        "the same factor",
        python.swish_with(lambda h, x: 2 * h * python.swish_slope(x)),
        pullback("swish", "factor"),
        VECTOR,
        BOTH,
        ("factor",),
    ),
    Case(
        "the same term missing",
        lambda x: x * nd.BlockGrad(nd.sigmoid(x)),
        pullback("swish", "product rule"),
        VECTOR,
        BOTH,
    ),
    Case(
        "head ignored and stale",
        python.swish_with(lambda h, x: python.swish_slope(x)),
        custom("StaleSwish"),
        VECTOR,
        BOTH,
    ),
    Case(
        "both stale",
        python.stale(python.swish_slope, python.swish),
        custom("StaleSwish"),
        VECTOR,
        BOTH,
        ("state",),
    ),
    Case(
        "all the tied",
        lambda x: x.max(axis=1),
        pullback("largest", "ties", dims=1),
        tied_rows,
        BOTH,
        ("ties",),
    ),
    Case(
        "different inputs",
        python.affine_with(lambda gx, gw, gb, h: (-gx, gw, gb)),
        ordered("affine", "bias missing"),
        LAYER,
        BOTH,
    ),
    Case(
        "both transposed",
        python.affine_with(lambda gx, gw, gb, h: (gx, gw.T, gb)),
        ordered("affine", "weight transposed"),
        SQUARE_LAYER,
        BOTH,
        ("transposed", "layout"),
    ),
    Case("layer norm, two terms", python.layernorm_blocked, pullback("layernorm", "mean term"), normed, BOTH),
]


def elementwise(name: str, f: Any, julia: str, inputs: Inputs, verdicts: Any = AGREE, **options: Any) -> Case:
    return Case(name, f, pullback(julia), inputs, verdicts, (), options)


def ends(*fixed: float) -> Inputs:
    """The given numbers, each moved by up to a tenth."""
    return lambda rng: [np.array(fixed) * rng.uniform(0.9, 1.1, size=len(fixed))]


def exact(*fixed: float) -> Inputs:
    return lambda rng: [rng.permutation(np.array(fixed))]


def near_singular(rng: np.random.Generator) -> list[np.ndarray]:
    """A matrix that all but loses a direction, and a vector along that direction."""
    return [np.array([[1, 1], [1, 1 + 1e-9]]), np.array([[1.0], [-1.0]]) * rng.uniform(1, 2)]


def near_equal(rng: np.random.Generator) -> list[np.ndarray]:
    x = rng.uniform(1, 2, size=5)
    return [x, x * (1 + 1e-4 * rng.normal(size=5))]


def table_and_rows(rng: np.random.Generator) -> list[np.ndarray]:
    return [draw(rng, 5, 3), np.array([1, 3, 1, 0], dtype=np.int32)]


def tied_pair(rng: np.random.Generator) -> list[np.ndarray]:
    a = draw(rng, 5)
    return [a, a + np.array([0, 1, 0, -1, 0.5])]


RIGHT_SMOOTH = [
    elementwise("swish", python.swish, "swish", VECTOR),
    Case("swish, layout python, 3-D", python.swish, ordered("swish"), normal((2, 3, 2))),
    Case("swish, CustomFunction", python.swish, custom("Swish"), MATRIX),
    Case("swish, by name", python.swish, bare("Swish"), MATRIX),
    Case("swish, no Julia", python.swish, None, VECTOR),
    Case("swish, no Python", None, pullback("swish"), VECTOR),
    elementwise("swish, float32", python.swish, "swish", VECTOR, dtype="float32"),
    elementwise("swish, another formula", python.swish, "swishstable", SMALL),
    elementwise("swish by hand", python.swish_with(lambda h, x: h * python.swish_slope(x)), "swish", VECTOR),
    elementwise("swish of NDArrays", python.swish, "swish", lambda rng: [mx.nd.array(draw(rng, 2, 3))]),
    elementwise("swish, head given", python.swish, "swish", VECTOR, head_grads=[np.arange(6.0) - 2]),
    elementwise("tanh 50x", lambda x: nd.tanh(50 * x), "tanh50", with_special(0.0, 0.01, -0.02, 0.3)),
    elementwise(
        "tanh 50x, sech", lambda x: nd.tanh(50 * x), "tanh50sech", with_special(0.0, 0.01, -0.02, 0.3)
    ),
    elementwise("exp, wide", nd.exp, "exponential", ends(-80, -20, -1e-9, 0, 20, 80)),
    elementwise("exp, beyond float32", nd.exp, "exponential", ends(-600, 1, 300, 600)),
    elementwise("log near zero", nd.log, "logarithm", ends(1e-10, 1e-6, 1e-3, 1, 1e6)),
    elementwise("sqrt near zero", nd.sqrt, "squareroot", ends(1e-12, 1e-8, 1e-3, 1, 1e6)),
    elementwise(
        "near a pole",
        lambda x: 1 / (x - 1),
        "pole",
        lambda rng: [1 + rng.uniform(1, 2) * np.array([1e-4, -1e-3, 0.5])],
    ),
    elementwise(
        "near a pole, another formula",
        lambda x: 1 / (x - 1),
        "polearranged",
        lambda rng: [1 + rng.uniform(1, 2) * np.array([1e-4, -1e-3, 0.5])],
    ),
    elementwise("log1p and log", nd.log1p, "logplain", uniform(0.1, 2, (5,))),
    elementwise("exp - 1 and expm1", lambda x: nd.exp(x) - 1, "expminusone", uniform(0.5, 2, (5,))),
    elementwise("softplus, naive", lambda x: nd.log(1 + nd.exp(x)), "softplusstable", uniform(-5, 5, (5,))),
    elementwise("sigmoid and tanh", nd.sigmoid, "sigmoidtanh", SMALL),
    elementwise("polynomial, Horner", lambda x: 2 * x**3 - 3 * x**2 + 5 * x - 1, "horner", SMALL),
    elementwise("root difference", lambda x: nd.sqrt(x + 1) - nd.sqrt(x), "cancelling", uniform(1, 50, (5,))),
    elementwise("wave", lambda x: nd.sin(20 * x), "wave", SMALL),
    elementwise("gaussian", lambda x: nd.exp(-x * x), "gaussian", ends(-4, -1e-8, 0, 0.5, 5)),
    elementwise("arctan", nd.arctan, "arctangent", ends(-1e4, -1, 0, 1e-6, 1e3)),
    elementwise("sinc", python.sinc, "sinc_", sinc_points),
    elementwise("cube", lambda x: x**3, "cube", VECTOR),
    elementwise("huber", python.huber, "huber", with_special(0.25, -3.0, 1.0, -1.0)),
    elementwise("smooth l1", lambda x: nd.smooth_l1(x, scalar=1.0), "huber", with_special(0.25, -3.0, 1.0)),
    elementwise("scalar", python.swish, "swish", normal((1,))),
    elementwise("4-D", nd.tanh, "tanh_", normal((2, 1, 2, 2))),
    elementwise("large", lambda x: x * x, "squared", ends(1e15, -3e15, 2e15)),
    elementwise("tiny", lambda x: x * x, "squared", ends(1e-15, -3e-15, 2e-15)),
    elementwise("mixed magnitudes", lambda x: x * x, "squared", ends(1e-8, -1e-3, 1, -1e4, 1e8)),
    elementwise("huge, linear", lambda x: 2 * x, "doubled", ends(1e100, -1e90)),
    elementwise("no gradient: sin² + cos²", lambda x: nd.sin(x) ** 2 + nd.cos(x) ** 2, "pythagoras", SMALL),
    elementwise(
        "no gradient: floor", nd.floor, "roundedown", lambda rng: [np.arange(-3, 3) + rng.uniform(0.2, 0.8)]
    ),
    elementwise("no gradient: sign", nd.sign, "signum", away_from_zero((5,))),
    elementwise("no gradient: constant", lambda x: nd.zeros_like(x) + 3, "constant_", VECTOR),
    elementwise("no gradient: second unused", lambda a, b: a * a, "first_only", normal((4,), (4,))),
    elementwise("layer norm", python.layernorm, "layernorm", normed),
    elementwise("batch norm", lambda x: python.normalise(x, 0), "standardised", normal((5, 3))),
    elementwise("hinge", python.hinge, "hinge", labelled),
    elementwise("cumsum", python.runningsum, "runningsum", normal((6,))),
    elementwise("diff", python.differences, "differences", normal((6,))),
    elementwise("correlate", python.correlate, "correlate", FILTER),
    elementwise("determinants", nd.linalg.det, "determinants", near_identity(2, 3, 3)),
    elementwise("sum and difference", python.sumdifference, "sumdifference", normal((5,), (5,))),
    elementwise("quotient", lambda a, b: a / b, "quotient", away_from_zero((5,), (5,))),
    elementwise("product", lambda a, b: a * b, "product", half_tied),
    elementwise("neighbours", lambda x: x[:-1] * x[1:], "neighbours", tied_neighbours),
    elementwise("norm", python.norm, "norm2", normal((5,))),
    elementwise("mean square", lambda x: (x * x).mean(), "meansquare", normal((2, 3))),
    elementwise("cosine", python.cosine, "cosine", normal((5,), (5,))),
    elementwise("squares factored", lambda x, y: x * x - y * y, "squaresfactored", near_equal),
    elementwise("variance", lambda x: nd.square(x - x.mean()).mean(), "variance", normal((6,))),
    elementwise("sum of all", lambda x: x.sum(), "sumall", normal((2, 3, 2))),
    elementwise("sum and squares", lambda x: [x.sum(), (x * x).sum()], "momenta", normal((2, 3))),
    Case("softmax, axis 0", python.softmax(0), pullback("softmax", dims=2), normal((3, 3))),
    Case(
        "softmax, axis 1",
        python.softmax(1),
        pullback("softmax", dims=1),
        with_special(20.0, -20.0, shape=(3, 4)),
    ),
    Case("softmax, layout python", python.softmax(1), ordered("softmax", dims=2), normal((3, 4))),
    Case("log softmax", python.logsoftmax, pullback("logsoftmax", dims=1), with_special(15.0, shape=(3, 4))),
    Case("logsumexp, large", python.logsumexp(1), pullback("logsumexp", dims=1), uniform(800, 810, (2, 3))),
    Case("logsumexp, naive", python.logsumexp(1), pullback("logsumexp", "naive", dims=1), normal((2, 3))),
    Case("affine", python.affine, ordered("affine"), LAYER),
    Case(
        "fully connected", lambda x, w, b: nd.FullyConnected(x, w, b, num_hidden=2), ordered("affine"), LAYER
    ),
    Case("matmul", nd.dot, ordered("multiply"), normal((3, 2), (2, 4))),
    Case("matmul, nearly singular", nd.dot, ordered("matvec"), near_singular),
    Case("batched matmul", nd.batch_dot, pullback("batchproduct"), normal((2, 3, 4), (2, 4, 2))),
    Case(
        "determinant, nearly singular",
        python.determinant,
        ordered("twobytwo"),
        lambda rng: [np.array([[1, 2], [0.5, 1 + 1e-4]]) * rng.uniform(1, 2)],
    ),
    Case("outer", python.outer, ordered("outer"), normal((4,), (3,))),
    Case("squared distances", python.squareddistances, ordered("squareddistances"), POINTS),
    Case(
        "squared distances, expanded", python.squareddistances_expanded, ordered("squareddistances"), POINTS
    ),
    Case("distances", python.distances, ordered("distances"), POINTS),
    Case("rbf", python.rbf, ordered("rbf"), kernel_inputs),
    Case("flip", lambda x: x.flip(axis=1), pullback("flipped"), normal((3, 4))),
    Case("transpose", lambda x: x.T, pullback("turned"), normal((3, 4))),
    Case("transpose, 3-D", lambda x: x.transpose((2, 0, 1)), ordered("axesmoved"), normal((2, 3, 4))),
    Case(
        "all axes reversed, 4-D",
        lambda x: 3 * x.transpose((3, 2, 1, 0)),
        pullback("linear4"),
        normal((2, 3, 1, 2)),
    ),
    Case("concat", lambda a, b: nd.concat(a, b, dim=1), pullback("joined"), normal((3, 2), (3, 4))),
    Case("split", python.halves, pullback("halves"), normal((3, 4))),
    Case(
        "broadcast add", lambda a, b: nd.broadcast_add(a, b), pullback("broadcastadd"), normal((3, 4), (1, 4))
    ),
    Case(
        "broadcast mul", lambda a, b: nd.broadcast_mul(a, b), pullback("broadcastmul"), normal((3, 4), (1, 4))
    ),
    Case(
        "masked",
        lambda x, m: x * m,
        pullback("masked"),
        lambda rng: [draw(rng, 5), np.array([1.0, 0, 1, 0, 1])],
    ),
    Case("table", lambda w, at: nd.take(w, at), pullback("looked_up"), table_and_rows),
    Case("constant exponent", lambda x, n: x**n, pullback("power"), lambda rng: [draw(rng, 5), 3]),
    Case(
        "constant fraction",
        lambda x, p: (x**p).sum(),
        pullback("powersum"),
        lambda rng: [rng.uniform(1, 3, 4), 2.5],
    ),
    Case(
        "constant string",
        lambda x, name: x * {"double": 2, "triple": 3}[name],
        pullback("named"),
        lambda rng: [draw(rng, 5), "triple"],
    ),
    Case("block", mx.gluon.nn.Activation("tanh"), pullback("tanh_"), normal((2, 3))),
    Case("symbol", mx.sym.tanh(mx.sym.Variable("x")), pullback("tanh_"), normal((2, 3))),
    *(
        Case(
            f"{name}, axis {axis} of {len(shape)}", f, pullback(julia, dims=len(shape) - axis), normal(shape)
        )
        for shape in ((2, 3), (2, 3, 2), (2, 1, 3, 2))
        for axis in range(len(shape))
        for name, julia, f in (
            ("sum", "sumover", lambda x, axis=axis: x.sum(axis=axis)),
            ("mean", "meanover", lambda x, axis=axis: x.mean(axis=axis)),
        )
    ),
    *(
        Case(f"{name}, axis {axis}", f, pullback(julia, dims=2 - axis), normal((3, 4)))
        for axis in (0, 1)
        for name, julia, f in (
            ("prod", "productover", lambda x, axis=axis: x.prod(axis=axis)),
            ("max", "largest", lambda x, axis=axis: x.max(axis=axis)),
            ("min", "smallest", lambda x, axis=axis: x.min(axis=axis)),
        )
    ),
]

RIGHT_SMOOTH += [
    elementwise("poles, many", lambda x: 1 / (x - 1), "poles", MANY),
    elementwise("exp, wide, many", nd.exp, "widexp", uniform(-30, 30, (40,))),
    elementwise("offset", lambda x: x * x + 1e8, "offset", normal((12,))),
    elementwise("large offset", lambda x: x * x + 1e15, "largeoffset", normal((12,))),
    elementwise("short waves", lambda x: nd.sin(1e6 * x), "shortwaves", SMALL),
    elementwise(
        "softplus, naive, wide", lambda x: nd.log(1 + nd.exp(x)), "softplusstable", uniform(-40, 40, (40,))
    ),
    elementwise("log sigmoid, saturated", lambda x: nd.log(nd.sigmoid(x)), "logsigmoid", ends(40, 60, -3, 1)),
    Case(
        "log softmax, saturated",
        python.logsoftmax,
        pullback("logsoftmax", dims=1),
        with_special(60.0, shape=(3, 4)),
    ),
]

EITHER = (AGREE, KINK)

RIGHT_KINKED = [
    Case("network", python.relunet, ordered("relunet"), network, AGREE, (), NETWORK),
    elementwise("hinge of many", lambda x: nd.relu(1 - x), "hinged", MANY),
    elementwise("hinge, at the kink", lambda x: nd.relu(1 - x), "hinged", with_special(1.0, 1.0), EITHER),
    elementwise("clip of many", lambda x: nd.clip(x, -0.5, 0.5), "clipped", MANY),
    elementwise("relu", nd.relu, "relu", away_from_zero((6,))),
    elementwise("relu at zero, the same choice", nd.relu, "relu", with_special(0.0, -1.0)),
    Case(
        "relu at zero, the other choice", nd.relu, pullback("relu", at_zero=1), with_special(0.0, -1.0), KINK
    ),
    Case("relu at zero, in between", nd.relu, pullback("relu", at_zero=0.5), with_special(0.0, -1.0), KINK),
    elementwise("relu near zero", nd.relu, "relu", exact(1e-9, -1e-9, 1e-7, -1e-6, 1e-5, 1.0)),
    elementwise("abs at zero", nd.abs, "absolute", with_special(0.0, -1.0)),
    Case(
        "abs at zero, the other choice",
        nd.abs,
        pullback("absolute", at_zero=1),
        with_special(0.0, -1.0),
        KINK,
    ),
    elementwise("abs near zero", nd.abs, "absolute", exact(1e-9, -1e-9, 1e-7, -1e-6, 1e-5, -1.0)),
    elementwise("leaky relu", lambda x: nd.where(x > 0, x, x / 4), "leaky", with_special(0.0, -1.0)),
    elementwise("clip", lambda x: nd.clip(x, -0.5, 0.5), "clipped", with_special(0.5, -0.5, 2.0, 0.1)),
    elementwise(
        "clip, the other choice",
        lambda x: nd.clip(x, -0.5, 0.5),
        "clippedopen",
        with_special(0.5, -0.5, 2.0, 0.1),
        KINK,
    ),
    elementwise(
        "clip near the bound", lambda x: nd.clip(x, -0.5, 0.5), "clipped", exact(0.5 - 1e-7, 1e-6 - 0.5, 0.6)
    ),
    elementwise("maximum", nd.maximum, "larger", normal((5,), (5,))),
    elementwise("maximum, tied, the same choice", nd.maximum, "larger", tied_pair),
    elementwise("maximum, tied, the other choice", nd.maximum, "larger_open", tied_pair, KINK),
    elementwise(
        "maximum, nearly tied",
        nd.maximum,
        "larger",
        lambda rng: [np.array([1.0, 2.0, 3.0]), np.array([1 + 1e-7, 2 - 1e-6, 3 + 1e-4])],
    ),
    Case("max, tied, the same choice", python.largest(1), pullback("largest", dims=1), tied_rows),
    Case("max, tied, shared", python.largest(1), pullback("largest", "halves", dims=1), tied_rows, KINK),
    elementwise("median", python.middle, "middle", normal((5,))),
    elementwise("median, tied", python.middle, "middle", exact(1.0, 2.0, 2.0, 3.0, 0.0), EITHER),
    elementwise("sort", lambda x: nd.sort(x, axis=0), "sorted", cycled),
    elementwise("sort, tied", lambda x: nd.sort(x, axis=0), "sorted", tied_vector, EITHER),
    Case(
        "sort, tied, the other choice",
        lambda x: nd.sort(x, axis=0),
        pullback("sorted", "last ties first"),
        tied_vector,
        EITHER,
    ),
    Case("sort, tied, two choices", None, pullback("sorted", "last ties first"), tied_vector, EITHER),
    elementwise("top two", lambda x: nd.topk(x, k=2, ret_typ="value", axis=-1), "toptwo", normal((3, 4))),
    elementwise(
        "max pooling",
        lambda x: nd.Pooling(x.reshape((1, 1, -1)), kernel=(2,), stride=(2,), pool_type="max").reshape((-1,)),
        "pooled",
        normal((8,)),
    ),
]


def cases(*tables: tuple[str, list[Case]]) -> list[Any]:
    return [
        pytest.param(case, seed, id=f"{group}-{case.name}-{seed}")
        for group, table in tables
        for case in table[::EVERY]
        for seed in SEEDS
    ]


@pytest.fixture(scope="module")
def pairs(pb: ModuleType) -> ModuleType:
    """pybridge, the Julia sides included."""
    pb.include(str(Path(__file__).with_name("crosscheck_pairs.jl")))
    return pb


def check(pb: ModuleType, case: Case, seed: int) -> Any:
    inputs = case.inputs(np.random.default_rng([seed, 7]))
    mx.random.seed(seed)
    report = pb.crosscheck(
        case.python, case.julia and case.julia.build(pb), inputs, seed=seed, **case.options
    )
    expected = (case.verdicts,) if isinstance(case.verdicts, str) else case.verdicts
    assert report.verdict in expected, f"expected {' or '.join(expected)}\n{report}"
    assert bool(report) == (report.verdict == AGREE)
    return report


@pytest.mark.parametrize(
    ("case", "seed"), cases(("julia", WRONG_JULIA), ("python", WRONG_PYTHON), ("both", WRONG_BOTH))
)
def test_planted_error_is_found(pairs: ModuleType, case: Case, seed: int) -> None:
    report = check(pairs, case, seed)
    said = " ".join(f"{finding.kind} {finding.message}" for finding in report.findings).lower()
    assert any(word in said for word in case.words or ("",)), f"none of {case.words} in\n{report}"
    if "float32" not in case.words:
        assert "computed in float32" not in said, report
    blamed = {finding.language for finding in report.findings if finding.fault}
    assert blamed, f"no finding is a fault\n{report}"
    if report.verdict == PYTHON:
        assert "Julia" not in blamed, report
    if report.verdict == JULIA:
        assert "Python" not in blamed, report


@pytest.mark.parametrize(("case", "seed"), cases(("smooth", RIGHT_SMOOTH), ("kinked", RIGHT_KINKED)))
def test_right_pair_is_not_blamed(pairs: ModuleType, case: Case, seed: int) -> None:
    report = check(pairs, case, seed)
    if report.verdict == KINK:
        assert {finding.kind for finding in report.findings} == {"kink"}, report
    else:
        assert not [finding for finding in report.findings if finding.fault], report
