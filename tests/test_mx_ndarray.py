"""Operations of `PyBridge.mx` on NDArrays, against the same in Python, on random arrays."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def evaluated(pb: ModuleType) -> Callable[..., Any]:
    """Evaluate a Julia function, given as text in which `mx` is PyBridge's, on NDArrays."""
    functions: dict[str, Any] = {}
    pb.jl.seval("module Evaluated; using PyBridge, LinearAlgebra, Statistics; const mx = PyBridge.mx; end")

    def evaluate(text: str, *arrays: Any) -> Any:
        if text not in functions:
            functions[text] = pb.jl.seval(f"Core.eval(Evaluated, Meta.parse({text!r}))".replace("'", '"'))
        return functions[text](*arrays)

    return evaluate


shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple)
dtypes = st.sampled_from(["float32", "float64"])
seeds = st.integers(0, 2**16)


def random_array(mx: ModuleType, shape: tuple[int, ...], dtype: str, seed: int) -> Any:
    return mx.nd.array(np.random.default_rng(seed).uniform(0.5, 2.0, size=shape), dtype=dtype)


@st.composite
def shapes_that_broadcast(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(shapes)
    ones = draw(st.lists(st.sampled_from([0, 1, 2]), min_size=len(shape), max_size=len(shape)))
    first = tuple(1 if one == 1 else side for side, one in zip(shape, ones))
    second = tuple(1 if one == 2 else side for side, one in zip(shape, ones))
    return first, second


BINARY: dict[str, Callable[[ModuleType, Any, Any], Any]] = {
    "(x, y) -> x .+ y": lambda mx, x, y: mx.nd.broadcast_add(x, y),
    "(x, y) -> x .- y": lambda mx, x, y: mx.nd.broadcast_sub(x, y),
    "(x, y) -> x .* y": lambda mx, x, y: mx.nd.broadcast_mul(x, y),
    "(x, y) -> x ./ y": lambda mx, x, y: mx.nd.broadcast_div(x, y),
    "(x, y) -> x .^ y": lambda mx, x, y: mx.nd.broadcast_power(x, y),
    "(x, y) -> x .% y": lambda mx, x, y: mx.nd.broadcast_mod(x, y),
    "(x, y) -> max.(x, y)": lambda mx, x, y: mx.nd.broadcast_maximum(x, y),
    "(x, y) -> min.(x, y)": lambda mx, x, y: mx.nd.broadcast_minimum(x, y),
    "(x, y) -> hypot.(x, y)": lambda mx, x, y: mx.nd.broadcast_hypot(x, y),
    "(x, y) -> x .> y": lambda mx, x, y: mx.nd.broadcast_greater(x, y),
    "(x, y) -> x .<= y": lambda mx, x, y: mx.nd.broadcast_lesser_equal(x, y),
    "(x, y) -> x .== y": lambda mx, x, y: mx.nd.broadcast_equal(x, y),
    "(x, y) -> 2 .* x .- y ./ 3": lambda mx, x, y: mx.nd.broadcast_sub(2 * x, y / 3),
}


@pytest.mark.parametrize("text", BINARY)
@given(pair=shapes_that_broadcast(), dtype=dtypes, seed=seeds)
@EXAMPLES
def test_dots_of_two_arrays_broadcast_as_in_python(
    evaluated: Callable[..., Any], mx: ModuleType, text: str, pair: Any, dtype: str, seed: int
) -> None:
    x, y = random_array(mx, pair[0], dtype, seed), random_array(mx, pair[1], dtype, seed + 1)

    result = evaluated(text, x, y)

    expected = BINARY[text](mx, x, y)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    np.testing.assert_array_equal(result.asnumpy(), expected.asnumpy())


UNARY: dict[str, Callable[[ModuleType, Any], Any]] = {
    "x -> sqrt.(x)": lambda mx, x: mx.nd.sqrt(x),
    "x -> exp.(x) .- 1": lambda mx, x: mx.nd.exp(x) - 1,
    "x -> log.(x)": lambda mx, x: mx.nd.log(x),
    "x -> tanh.(x)": lambda mx, x: mx.nd.tanh(x),
    "x -> mx.σ.(x)": lambda mx, x: mx.nd.sigmoid(x),
    "x -> mx.relu.(x .- 1)": lambda mx, x: mx.nd.relu(x - 1),
    "x -> clamp(x, 0.75, 1.5)": lambda mx, x: mx.nd.clip(x, 0.75, 1.5),
    "x -> 1 ./ x": lambda mx, x: 1 / x,
    "x -> 2 .^ x": lambda mx, x: 2**x,
    "x -> x .^ 3": lambda mx, x: x**3,
    "x -> 5 .% x": lambda mx, x: 5 % x,
    "x -> sum(x)": lambda mx, x: mx.nd.sum(x),
    "x -> mean(x)": lambda mx, x: mx.nd.mean(x),
    "x -> maximum(x, dims = 1)": lambda mx, x: mx.nd.max(x, axis=-1, keepdims=True),
    "x -> sum(x, dims = ndims(x))": lambda mx, x: mx.nd.sum(x, axis=0, keepdims=True),
    "x -> minimum(x, dims = (1, ndims(x)))": lambda mx, x: mx.nd.min(
        x, axis=tuple({0, x.ndim - 1}), keepdims=True
    ),
    "x -> mx.softmax(x, 1)": lambda mx, x: mx.nd.softmax(x, axis=-1),
    "x -> reshape(x, -1)": lambda mx, x: mx.nd.reshape(x, (-1,)),
    "x -> mx.expand_dims(x, 1)": lambda mx, x: mx.nd.expand_dims(x, -1),
    "x -> permutedims(x, ndims(x):-1:1)": lambda mx, x: mx.nd.transpose(x),
    "x -> cat(x, 2x, dims = 1)": lambda mx, x: mx.nd.concat(x, 2 * x, dim=-1),
    "x -> x[1:1]": lambda mx, x: x[0:1],
    "x -> mx.NDArray(copy(x))": lambda mx, x: x.copy(),
}


@pytest.mark.parametrize("text", UNARY)
@given(shape=shapes, dtype=dtypes, seed=seeds)
@EXAMPLES
def test_functions_of_one_array_are_those_of_python(
    evaluated: Callable[..., Any], mx: ModuleType, text: str, shape: tuple[int, ...], dtype: str, seed: int
) -> None:
    x = random_array(mx, shape, dtype, seed)
    before = x.asnumpy()

    result = evaluated(text, x)

    expected = UNARY[text](mx, x)
    assert result.shape == expected.shape and result.dtype == expected.dtype
    np.testing.assert_allclose(
        result.asnumpy(), expected.asnumpy(), rtol=1e-6 if dtype == "float32" else 1e-14
    )
    np.testing.assert_array_equal(x.asnumpy(), before)


@given(n=st.integers(1, 5), k=st.integers(1, 5), m=st.integers(1, 5), dtype=dtypes, seed=seeds)
@EXAMPLES
def test_a_product_of_matrices_is_pythons_in_the_other_order(
    evaluated: Callable[..., Any], mx: ModuleType, n: int, k: int, m: int, dtype: str, seed: int
) -> None:
    x, y = random_array(mx, (k, n), dtype, seed), random_array(mx, (m, k), dtype, seed + 1)

    result = evaluated("(x, y) -> x * y", x, y)  # of sizes (n, k) and (k, m) in Julia

    np.testing.assert_array_equal(result.asnumpy(), mx.nd.dot(y, x).asnumpy())


INPLACE = {
    "x .= y": "y",
    "x .+= y": "x + y",
    "x .-= y .* 2": "x - y * 2",
    "mx.@inplace x .*= y": "x * y",
    "mx.@inplace x ./= 2": "x / 2",
    "mx.mul_to!(x, y)": "x * y",
    "x[:] = 3": "x * 0 + 3",
    "copyto!(x, y)": "y",
}


@pytest.mark.parametrize("statement", INPLACE)
@given(shape=shapes, dtype=dtypes, seed=seeds)
@EXAMPLES
def test_what_is_done_in_place_is_seen_in_python(
    evaluated: Callable[..., Any],
    mx: ModuleType,
    statement: str,
    shape: tuple[int, ...],
    dtype: str,
    seed: int,
) -> None:
    x, y = random_array(mx, shape, dtype, seed), random_array(mx, shape, dtype, seed + 1)
    expected = eval(INPLACE[statement], {}, {"x": x.copy(), "y": y})
    handle, kept = x.handle.value, y.asnumpy()

    evaluated(f"(x, y) -> ({statement}; nothing)", x, y)

    assert x.handle.value == handle
    np.testing.assert_array_equal(x.asnumpy(), expected.asnumpy())
    np.testing.assert_array_equal(y.asnumpy(), kept)
