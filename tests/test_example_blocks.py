"""The layers of examples/layers.jl as Gluon blocks: shapes that Julia finds, and the same numbers in a graph."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from example_layers import array, load

from pybridge.testing import inputs

X = inputs((6, 5), -2, 2)
SERIES = inputs((2, 4, 3))
LABELS = np.array([[0, 2, 1, 1], [2, 0, -1, -1]], dtype="int32")
GROUPS = np.array([1, 1, 2, 2, 2], dtype="int32")
CHAIN = {"transitions": (3, 3), "start": (3,), "stop": (3,)}

# the layer, its keyword arguments, the shapes its parameters must come to have (in Python's order), its inputs
BLOCKS = [
    ("Swish", {}, {"beta": (5,)}, [X]),
    ("Mish", {}, {}, [X]),
    ("Snake", {}, {"frequency": (5,)}, [X]),
    ("Pade", {"degrees": (3, 2)}, {"numerator": (4,), "denominator": (2,)}, [X]),
    ("RMSNorm", {}, {"gain": (5,)}, [X]),
    ("RBF", {"units": 7}, {"centres": (7, 5), "widths": (7,)}, [X]),
    ("MonotoneSpline", {"bins": 4}, {"widths": (5, 4), "heights": (5, 4), "slopes": (5, 3)}, [X]),
    ("QuantileLoss", {"levels": (0.1, 0.2, 0.5, 0.8, 0.9)}, {}, [X, inputs(6, seed=1)]),
    ("CRFLoss", {}, CHAIN, [SERIES, LABELS]),
    ("CRFDecode", {}, CHAIN, [SERIES]),
    ("SoftDTW", {}, {}, [SERIES, inputs((2, 7, 3), seed=1)]),
    ("RK4", {}, {"a": (5, 5)}, [X]),
    (
        "RK4",
        {"field": "mlp", "hidden": 8, "steps": 2},
        {"w1": (8, 5), "b1": (8,), "w2": (5, 8), "b2": (5,)},
        [X],
    ),
    ("SparseGroup", {}, {}, [X, GROUPS]),
]


@pytest.fixture(scope="module")
def pb(pb: ModuleType) -> ModuleType:
    return load(pb)


def results(pb: ModuleType, block: Any, xs: list[np.ndarray]) -> list[np.ndarray]:
    """The value of a block, and the gradients of its first input and its parameters."""
    leaves = [array(x, "float32") for x in xs]
    pb.attach_grad(leaves[0])
    with pb.record():
        y = block(*leaves)
    y.backward()
    return [a.asnumpy() for a in (y, leaves[0].grad, *(p.grad() for p in block.collect_params().values()))]


@pytest.mark.parametrize(
    ("name", "options", "shapes", "xs"), BLOCKS, ids=[f"{block[0]}-{len(block[2])}" for block in BLOCKS]
)
def test_julia_finds_the_shapes_and_a_graph_gives_the_same_numbers(pb, mx, name, options, shapes, xs):
    unknown = {key: {"shape": (0,) * len(shape), "init": mx.init.Uniform(1)} for key, shape in shapes.items()}
    block = pb.gluon.JuliaBlock(f"ExampleLayers.{name}", params=unknown, **options)
    mx.random.seed(0)
    block.initialize()

    eager = results(pb, block, xs)
    assert {key: block._reg_params[key].shape for key in shapes} == shapes
    block.hybridize()
    graph = results(pb, block, xs)

    assert len(eager) == 2 + len(shapes)
    for one, other in zip(eager, graph):
        np.testing.assert_array_equal(one, other)
    if name != "CRFDecode":
        assert all(np.abs(gradient).max() > 0 for gradient in eager[1:])
