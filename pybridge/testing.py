"""Cross-checks in tests: inputs, a decorator, and hypothesis strategies.

With pybridge installed, pytest also has a fixture of the name `crosscheck`: `pybridge.crosscheck` that raises
AssertionError, with the report as its text, unless the two functions agree.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ._crosscheck import Report
from ._crosscheck import crosscheck as _crosscheck

#: What `inputs(special=...)` can mix in.
SPECIAL = ("zeros", "negatives", "large", "denormal", "ties")


def inputs(
    shape: int | Sequence[int],
    low: float = -1.0,
    high: float = 1.0,
    *,
    avoid: Sequence[float] = (),
    special: str | Sequence[str] = (),
    dtype: Any = "float64",
    seed: int = 0,
) -> npt.NDArray[Any]:
    """Random numbers for a cross-check, uniform between `low` and `high`.

    Args:
        shape: of the array.
        low, high: the range.
        avoid: values to keep away from, by a hundredth of the range on either side: kinks and poles.
        special: which special values to mix in, as far as there is room: "zeros", "negatives" (the same values with
            the other sign), "large" (1e3 times `high`), "denormal" (the smallest that the dtype has), "ties".
        dtype: float16, float32 or float64.
        seed: the same seed gives the same numbers.

    Raises:
        TypeError: `shape` is made of something else than whole numbers.
        ValueError: the range is empty or not finite, `avoid` leaves nothing of it, `special` names something unknown,
            or `dtype` is no floating-point type that MXNet has.

    Examples:
        >>> from pybridge import testing
        >>> x = testing.inputs((3, 4), -2, 2, avoid=[0])
        >>> bool((abs(x) >= 0.04).all())
        True
    """
    if not low < high or not np.isfinite([low, high]).all():
        raise ValueError(f"inputs: low is {low}, high is {high}; expected low < high, both finite")
    if np.dtype(dtype).name not in ("float16", "float32", "float64"):
        raise ValueError(f"inputs: dtype is {np.dtype(dtype)}; expected float16, float32 or float64")
    special = (special,) if isinstance(special, str) else special
    unknown = [name for name in special if name not in SPECIAL]
    if unknown:
        raise ValueError(f"inputs: special names {unknown}; expected some of {SPECIAL}")
    rng = np.random.default_rng(seed)
    dimensions = tuple(operator.index(n) for n in (shape if isinstance(shape, Iterable) else (shape,)))
    drawn = rng.uniform(low, high, dimensions)
    room = (high - low) / 100
    for _ in range(1000):
        near = np.zeros(dimensions, bool)
        for value in avoid:
            near |= np.abs(drawn - value) < room
        if not near.any():
            break
        drawn[near] = rng.uniform(low, high, int(near.sum()))
    else:
        raise ValueError(f"inputs: avoid={list(avoid)} leaves nothing between {low} and {high}")
    made = drawn.astype(dtype)
    _mix_in(made, special, high, rng)
    return made


def _mix_in(a: npt.NDArray[Any], special: Sequence[str], high: float, rng: np.random.Generator) -> None:
    flat = a.reshape(-1)
    places = rng.permutation(flat.size)
    each = max(1, flat.size // (2 * max(1, len(special))))
    for number, name in enumerate(special):
        where = places[number * each : (number + 1) * each]
        if not where.size:
            continue
        if name == "zeros":
            flat[where] = 0
        elif name == "negatives":
            flat[where] = -np.abs(flat[where])
        elif name == "large":
            flat[where] = 1e3 * high
        elif name == "denormal":
            flat[where] = np.finfo(a.dtype).tiny / 4
        else:
            flat[where] = flat[where[0]]


def crosscheck(
    python_fn: Any, julia_fn: Any, **options: Any
) -> Callable[[Callable[..., Any]], Callable[..., None]]:
    """A decorator for tests: the function returns inputs, the test passes if the two functions agree there.

    Args:
        python_fn, julia_fn: as for `pybridge.crosscheck`. A Julia function may be given as a callable without
            arguments that returns it, so that collecting the tests starts no Julia.
        **options: those of `pybridge.crosscheck`.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> from pybridge import testing
        >>> double = pb.jl.seval("x -> (2 .* x, Δ -> 2 .* Δ)")
        >>> @testing.crosscheck(lambda x: 2 * x, double)
        ... def test_double():
        ...     return [testing.inputs((2, 3))]
        >>> test_double()
    """

    def decorate(test: Callable[..., Any]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(*args: Any, **kwargs: Any) -> None:
            julia = julia_fn() if type(julia_fn).__name__ == "function" else julia_fn
            _crosscheck(python_fn, julia, test(*args, **kwargs), **options).assert_ok()

        return run

    return decorate


def check(python_fn: Any, julia_fn: Any, inputs: Any, **options: Any) -> Report:
    """`pybridge.crosscheck`, with AssertionError unless the functions agree. What the fixture `crosscheck` gives.

    Raises:
        AssertionError: they do not agree; the report is its text.
    """
    report = _crosscheck(python_fn, julia_fn, inputs, **options)
    report.assert_ok()
    return report


# ---- hypothesis ------------------------------------------------------------------------------------------------


def shapes(*, min_dims: int = 1, max_dims: int = 4, max_side: int = 5) -> Any:
    """A hypothesis strategy for shapes that MXNet and Julia both have."""
    from hypothesis import strategies

    return strategies.lists(strategies.integers(1, max_side), min_size=min_dims, max_size=max_dims).map(tuple)


def arrays(
    shape: Any = None,
    low: float = -10.0,
    high: float = 10.0,
    *,
    avoid: Sequence[float] = (),
    special: Sequence[str] = ("ties",),
    dtype: Any = "float64",
) -> Any:
    """A hypothesis strategy for inputs: of a shape, or of shapes from a strategy, with special values mixed in.

    Examples:
        >>> from hypothesis import given
        >>> from pybridge import testing
        >>> @given(testing.arrays(low=-2, high=2, avoid=[0]))
        ... def test_something(x):
        ...     assert (x != 0).all()
        >>> test_something()
    """
    from hypothesis import strategies

    dimensions = shapes() if shape is None else shape if hasattr(shape, "flatmap") else strategies.just(shape)

    def make(drawn: tuple[Any, int, frozenset[str]]) -> npt.NDArray[Any]:
        dims, seed, chosen = drawn
        return inputs(dims, low, high, avoid=avoid, special=sorted(chosen), dtype=dtype, seed=seed)

    some = (
        strategies.frozensets(strategies.sampled_from(list(special)))
        if special
        else strategies.just(frozenset())
    )
    return strategies.tuples(dimensions, strategies.integers(0, 2**32 - 1), some).map(make)
