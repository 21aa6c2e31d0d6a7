"""Pairs of which both functions are right, where they are smooth and where they are not."""

from __future__ import annotations

from typing import Any

import crosscheck_pairs as python
import numpy as np
from crosscheck_cases import (
    AGREE,
    FILTER,
    KINK,
    LAYER,
    MANY,
    MATRIX,
    NETWORK,
    POINTS,
    SMALL,
    VECTOR,
    Case,
    Inputs,
    away_from_zero,
    bare,
    custom,
    cycled,
    draw,
    half_tied,
    kernel_inputs,
    labelled,
    near_identity,
    network,
    normal,
    normed,
    ordered,
    pullback,
    sinc_points,
    tied_neighbours,
    tied_rows,
    tied_vector,
    uniform,
    with_special,
)
from crosscheck_pairs import mx, nd


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
