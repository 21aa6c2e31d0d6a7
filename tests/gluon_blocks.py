"""What the tests of Gluon blocks share: the layers of gluon_layers.jl, blocks around them, ways to hybridize."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

LAYERS = Path(__file__).with_name("gluon_layers.jl")
X = np.array([[-2.0, -0.5, 0.0], [0.25, 1.0, 3.0]])

# How a net may be called: hybridize's arguments, or None for eager.
WAYS: dict[str, dict[str, bool] | None] = {
    "eager": None,
    "hybrid": {},
    "static_alloc": {"static_alloc": True},
    "static_shape": {"static_alloc": True, "static_shape": True},
}
HYBRID_WAYS = [name for name in WAYS if name != "eager"]


def load_gluon_layers(pb: ModuleType) -> Any:
    """The module of gluon_layers.jl, included once in a process, its record of calls empty."""
    if not pb.jl.seval("isdefined(Main, :GluonLayers)"):
        pb.include(str(LAYERS))
    pb.jl.GluonLayers.reset()
    pb.jl.GluonLayers.failing(True)
    return pb.jl.GluonLayers


def block(pb: ModuleType, name: str, params: dict[str, Any] | None = None, **kw: Any) -> Any:
    """A block around a layer of gluon_layers.jl; without parameters unless they are given."""
    return pb.gluon.JuliaBlock(f"GluonLayers.{name}", params={} if params is None else params, **kw)


def dense(pb: ModuleType, units: int = 5, features: int = 0, **kw: Any) -> Any:
    """A dense layer in Julia, as gluon.nn.Dense."""
    return block(
        pb, "Dense", {"weight": (units, features), "bias": {"shape": (units,), "init": "zeros"}}, **kw
    )


def hybridize(net: Any, way: str) -> Any:
    flags = WAYS[way]
    if flags is not None:
        net.hybridize(**flags)
    return net


def step(pb: ModuleType, net: Callable[..., Any], *xs: Any) -> tuple[Any, ...]:
    """Record net(*xs), run backward from its sum, return the results as NumPy arrays."""
    with pb.record():
        ys = net(*xs)
        ys = ys if isinstance(ys, (list, tuple)) else (ys,)
        loss = sum(((i + 1) * y).sum() for i, y in enumerate(ys))
    loss.backward()
    return tuple(y.asnumpy() for y in ys)


def gradients(net: Any) -> dict[str, np.ndarray]:
    """The gradients of the parameters by their names in this net."""
    return {
        name: p.grad().asnumpy()
        for name, p in net._collect_params_with_prefix().items()
        if p.grad_req != "null"
    }


def copy_values(source: Any, target: Any) -> None:
    """The parameters of target get the values of those of source that have the same name in their net."""
    values = source._collect_params_with_prefix()
    for name, p in target._collect_params_with_prefix().items():
        p.set_data(values[name].data())


def assert_same(one: Any, other: Any) -> None:
    """The same numbers to the bit, of arrays, or of lists or dictionaries of them."""
    if isinstance(one, dict):
        assert one.keys() == other.keys()
        one, other = list(one.values()), [other[name] for name in one]
    if isinstance(one, (list, tuple)):
        assert len(one) == len(other)
        for a, b in zip(one, other):
            assert_same(a, b)
        return
    assert one.dtype == other.dtype
    np.testing.assert_array_equal(one, other)
