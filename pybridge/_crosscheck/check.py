"""The comparison itself, from the inputs to the verdict."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import blocks, second, sides
from .array import Array
from .compare import Comparison
from .point import Point, as_arguments, is_float
from .progress import Progress
from .report import (
    AGREE,
    BOTH_WRONG,
    CANNOT_TELL,
    FUNCTIONS_DIFFER,
    JULIA_WRONG,
    NOT_DIFFERENTIABLE,
    PYTHON_WRONG,
    Report,
)
from .settings import Settings
from .sides import Side


def crosscheck(
    python_fn: Any,
    julia_fn: Any,
    inputs: Any,
    *,
    grads: Any = "all",
    dtype: Any = None,
    rtol: float | None = None,
    atol: float | None = None,
    head_grads: Any = None,
    directions: int = 8,
    samples: int = 64,
    seed: int = 0,
    order: int = 1,
    params: Mapping[str, int | str] | None = None,
    progress: bool | None = None,
) -> Report:
    """Are a Python function and a Julia function the same function, with the same derivatives?  Who is right, if not?

    Values are compared, then vector-Jacobian products under several head gradients, and both with derivatives by
    numbers (central differences, extrapolated by Ridders' method, in float64), so that the verdict can name the side
    that is wrong. Points without a derivative are recognised by one-sided differences. How far results may lie apart
    follows from the dtype and from what a change of the inputs' last digits does.

    Args:
        python_fn: a callable on NDArrays, a Gluon block (initialised; its parameters follow the inputs), a symbol, or
            None: then the Julia function is checked alone, against numbers.
        julia_fn: a `JuliaFunction`, a `JuliaBlock`, a Julia value or its dotted name (a `CustomFunction` type, or a
            function that returns a pullback), or None.
        inputs: an array or a list of arguments: NDArrays or NumPy arrays, of any shape; anything else is a constant.
        grads: which arguments' gradients to compare: "all", or positions that count from 0.
        dtype: what to compute in. By default float64, and after that the inputs' own dtype if it is a smaller one.
        rtol, atol: tolerances to use instead: `atol + rtol * |value|`.
        head_grads: head gradients, one for each result, instead of random ones.
        directions: number of random head gradients, and of random directions.
        samples: how many entries of an argument are differentiated by numbers one by one (all, if it has no more).
        seed: of everything random here. The same seed gives the same report.
        order: 2 compares the derivative of Python's gradient as well (Julia functions have no second order).
        params: for a Gluon block, at which argument of the Julia function each parameter stands, as positions that
            count from 0; by default they follow the inputs in the block's order. If `julia_fn` is a `JuliaBlock`: which
            of its parameters belongs to each of Python's, by name; by default those of the same name.
        progress: show a progress bar on stderr; by default on a terminal, when it takes more than two seconds.

    Returns:
        A `Report`: true if the two agree.

    Raises:
        TypeError: a side is nothing that can be called, or there is no array among the inputs.
        ValueError: `order`, `grads`, `params`, `directions` or `samples` is out of range, or the head gradients do not
            fit the results.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> softplus = pb.jl.seval("x -> (log1p.(exp.(x)), Δ -> Δ ./ (1 .+ exp.(-x)))")
        >>> report = pb.crosscheck(lambda x: mx.nd.log1p(mx.nd.exp(x)), softplus, [mx.nd.array([-1, 0, 2])])
        >>> report.verdict
        'agree'
        >>> wrong = pb.jl.seval("x -> (log1p.(exp.(x)), Δ -> -Δ ./ (1 .+ exp.(-x)))")
        >>> pb.crosscheck(lambda x: mx.nd.log1p(mx.nd.exp(x)), wrong, [mx.nd.array([-1, 0, 2])]).verdict
        'Julia wrong'
    """
    check = Comparison(Settings(rtol, atol, directions, samples, seed))
    point, functions = _set_up(python_fn, julia_fn, inputs, params)
    if order not in (1, 2):
        raise ValueError(f"crosscheck: order is {order!r}; expected 1 or 2")
    chosen = _chosen(grads, point)
    given_heads = None if head_grads is None else _as_heads(head_grads)
    names = {side.language: side.name for side in functions}
    report = Report(names.get("Python"), names.get("Julia"))
    native = _native(point)
    work = _work_dtype(report, functions, point, dtype, native)
    report.settings = {"dtype": str(work), "seed": seed, "directions": directions, "samples": samples}
    for i, a in enumerate(point.arguments):
        if isinstance(a, np.ndarray) and not is_float(a):
            report.note(
                "integer",
                "both",
                f"{point.names[i]} is {a.dtype}: it has no gradient to compare",
                fault=False,
            )
    with Progress(progress) as bar:
        evidence = check.at(report, point.in_dtype(work), functions, chosen, given_heads, bar)
        if order == 2:
            second.compare(report, evidence, chosen, seed, bar)
    if (
        dtype is None
        and native is not None
        and native.itemsize < work.itemsize
        and not any(f.fault for f in report.findings)
    ):
        check.in_small_dtype(report, point.in_dtype(native), functions, evidence, chosen)
    report.verdict = _verdict(report)
    return report


def _set_up(
    python_fn: Any, julia_fn: Any, inputs: Any, params: Mapping[str, int | str] | None
) -> tuple[Point, list[Side]]:
    if python_fn is None and julia_fn is None:
        raise TypeError("crosscheck: python_fn and julia_fn are both None; one function at least is needed")
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    arguments, numpy = as_arguments(given)
    for block in (python_fn, julia_fn):
        blocks.settle(block, arguments, numpy)
    in_julia = blocks.parameters_of(julia_fn) if blocks.is_julia_block(julia_fn) else None
    of_block = blocks.is_block(python_fn)
    parameters = blocks.parameters_of(python_fn) if of_block or in_julia is None else in_julia
    names = [f"argument {i}" for i in range(1, len(arguments) + 1)]
    arguments += list(parameters.values())
    names += list(parameters)
    if not any(isinstance(a, np.ndarray) for a in arguments):
        came = ", ".join(type(a).__name__ for a in given) or "nothing"
        raise TypeError(f"crosscheck: inputs holds no array ({came}); expected NDArrays or NumPy arrays")
    functions = []
    if python_fn is not None:
        functions.append((blocks if of_block else sides).python_side(python_fn, numpy))
    if julia_fn is not None and in_julia is not None:
        places = blocks.match(parameters, in_julia, params if of_block else None, len(given))
        functions.append(_reordered(blocks.julia_side(julia_fn, numpy), len(given), places))
    elif julia_fn is not None:
        side = sides.julia_side(julia_fn, numpy)
        places = blocks.positions(list(parameters), params, len(given))
        functions.append(_reordered(side, len(given), places))
    return Point(arguments, names), functions


def _reordered(side: Side, inputs: int, places: Sequence[int]) -> Side:
    """The Julia function with the parameters where it expects them."""
    total = inputs + len(places)
    if list(places) == list(range(inputs, total)):
        return side
    if sorted(set(places)) != sorted(places) or not all(0 <= p < total for p in places):
        raise ValueError(
            f"crosscheck: params gives the places {list(places)}; expected different ones from 0 to {total - 1}"
        )
    others = [i for i in range(total) if i not in places]
    order = [0] * total
    for source, target in enumerate([*others, *places]):
        order[target] = source
    call = side._call
    return Side(side.language, side.name, lambda *given: call(*[given[i] for i in order]), side.numpy)


def _chosen(grads: Any, point: Point) -> list[int]:
    if isinstance(grads, str):
        if grads != "all":
            raise ValueError(f"crosscheck: grads is {grads!r}; expected 'all' or positions")
        return point.movable
    try:
        chosen = [operator.index(i) for i in ([grads] if np.ndim(grads) == 0 else grads)]
    except TypeError:
        raise ValueError(f"crosscheck: grads is {grads!r}; expected 'all' or positions") from None
    if len(set(chosen)) != len(chosen):
        raise ValueError(f"crosscheck: grads is {grads!r}; expected different positions")
    for i in chosen:
        if i not in point.movable:
            raise ValueError(
                f"crosscheck: grads names position {i}; arguments with gradients stand at {point.movable}"
            )
    return chosen


def _as_heads(head_grads: Any) -> list[Array]:
    given = list(head_grads) if isinstance(head_grads, (list, tuple)) else [head_grads]
    return [np.asarray(a.asnumpy() if hasattr(a, "asnumpy") else a, np.float64) for a in given]


def _work_dtype(
    report: Report, functions: Sequence[Side], point: Point, asked: Any, native: np.dtype[Any] | None
) -> np.dtype[Any]:
    """What to compute in: what was asked for; else float64, or a smaller one if a function runs in that only."""
    if asked is not None:
        work: np.dtype[Any] = np.dtype(asked)
        if work.name not in ("float16", "float32", "float64"):
            raise ValueError(f"crosscheck: dtype is {work}; expected float16, float32 or float64")
        return work
    work = np.dtype(np.float64)
    smaller = native if native is not None and native != work else np.dtype(np.float32)
    for side in functions:
        try:
            side.values(point.in_dtype(work).arguments)
        except Exception as error:
            try:
                for each in functions:
                    each.values(point.in_dtype(smaller).arguments)
            except Exception:  # then it is not the dtype: the user is told what happened first
                raise error from None
            said = next(iter(str(error).splitlines()), "")[:150]
            text = f"it does not run in float64, but in {smaller}, which it is compared in: {said}"
            report.note("dtype", side.language, text, fault=False)
            return smaller
    return work


def _native(point: Point) -> np.dtype[Any] | None:
    found = [point.arguments[i].dtype for i in point.movable]
    return min(found, key=lambda d: d.itemsize) if found else None


def _verdict(report: Report) -> str:
    wrong = set().union(*(j.wrong for j in report.gradients)) if report.gradients else set()
    wrong |= {f.language for f in report.findings if f.fault and f.language != "both"}
    shared = [f for f in report.findings if f.fault and f.language == "both"]
    if any(f.kind in ("values", "layout", "shape", "dtype", "float32") for f in shared) and not wrong:
        return FUNCTIONS_DIFFER
    if wrong:
        return BOTH_WRONG if len(wrong) == 2 else PYTHON_WRONG if "Python" in wrong else JULIA_WRONG
    if any(f.kind == "kink" for f in shared) and all(f.kind == "kink" for f in shared):
        return NOT_DIFFERENTIABLE
    return CANNOT_TELL if shared else AGREE
