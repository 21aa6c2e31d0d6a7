"""The comparison itself, from the inputs to the verdict."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import second, sides
from .array import Array
from .diagnosis import name_difference, name_places
from .evidence import Evidence, gather
from .judge import Judgement, judge
from .point import Point, as_arguments, is_float
from .report import (
    AGREE,
    BOTH_WRONG,
    CANNOT_TELL,
    FUNCTIONS_DIFFER,
    JULIA_WRONG,
    NOT_DIFFERENTIABLE,
    PYTHON_WRONG,
    Compared,
    Finding,
    Report,
)
from .sides import Side
from .tolerance import differ, tolerance

FULL_JACOBIAN = 16  # results with at most this many entries are gone through one by one


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
    params: Mapping[str, int] | None = None,
    progress: bool = False,
) -> Report:
    """Are a Python function and a Julia function the same function, with the same derivatives?  Who is right, if not?

    Values are compared, then vector-Jacobian products under several head gradients, and both with derivatives by
    numbers (central differences, extrapolated by Ridders' method, in float64), so that the verdict can name the side
    that is wrong. Points without a derivative are recognised by one-sided differences. How far results may lie apart
    follows from the dtype and from what a change of the inputs' last digits does.

    Args:
        python_fn: a callable on NDArrays, a Gluon block (initialised; its parameters follow the inputs), a symbol, or
            None: then the Julia function is checked alone, against numbers.
        julia_fn: a `JuliaFunction`, a Julia value or its dotted name (a `CustomFunction` type, or a function that
            returns a pullback), or None.
        inputs: an array or a list of arguments: NDArrays or NumPy arrays, of any shape; anything else is a constant.
        grads: which arguments' gradients to compare: "all", or positions that count from 0.
        dtype: what to compute in. By default float64, and after that the inputs' own dtype if it is a smaller one.
        rtol, atol: tolerances to use instead: `atol + rtol * |value|`.
        head_grads: head gradients, one for each result, instead of random ones.
        directions: number of random head gradients, and of random directions.
        samples: how many entries of an argument are differentiated by numbers one by one (all, if it has no more).
        seed: of everything random here. The same seed gives the same report.
        order: 2 compares the derivative of Python's gradient as well (Julia functions have no second order).
        params: for a Gluon block, at which argument of the Julia function, counted from 1, each parameter stands; by
            default they follow the inputs in the block's order.
        progress: show a progress bar on stderr.

    Returns:
        A `Report`: true if the two agree.

    Raises:
        TypeError: a side is nothing that can be called, or there is no array among the inputs.
        ValueError: `order`, `grads` or `params` is out of range, or the number of head gradients is wrong.

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
    check = _Check(rtol, atol, directions, samples, seed)
    point, functions = _set_up(python_fn, julia_fn, inputs, params)
    if order not in (1, 2):
        raise ValueError(f"crosscheck: order is {order!r}; expected 1 or 2")
    chosen = _chosen(grads, point)
    given_heads = None if head_grads is None else _as_heads(head_grads)
    names = {side.language: side.name for side in functions}
    report = Report(names.get("Python"), names.get("Julia"))
    native = _native(point)
    work = np.dtype(dtype if dtype is not None else np.float64)
    if work.kind != "f":
        raise ValueError(f"crosscheck: dtype is {work}; expected a floating-point type")
    report.settings = {"dtype": str(work), "seed": seed, "directions": directions, "samples": samples}
    for i, a in enumerate(point.arguments):
        if isinstance(a, np.ndarray) and not is_float(a):
            report.findings.append(
                Finding(
                    "integer",
                    "both",
                    f"{point.names[i]} is {a.dtype}: it has no gradient to compare",
                    fault=False,
                )
            )
    with _Progress(progress) as bar:
        evidence = check.at(report, point.in_dtype(work), functions, chosen, given_heads, bar)
        if order == 2:
            second.compare(report, evidence, chosen, seed, bar)
    if dtype is None and native is not None and native != work and not any(f.fault for f in report.findings):
        check.in_small_dtype(report, point.in_dtype(native), functions, evidence, chosen)
    report.verdict = _verdict(report)
    return report


def _set_up(
    python_fn: Any, julia_fn: Any, inputs: Any, params: Mapping[str, int] | None
) -> tuple[Point, list[Side]]:
    if python_fn is None and julia_fn is None:
        raise TypeError("crosscheck: python_fn and julia_fn are both None; one function at least is needed")
    given = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    arguments, numpy = as_arguments(given)
    parameters = sides.parameters_of(python_fn)
    names = [f"argument {i}" for i in range(1, len(arguments) + 1)]
    arguments += list(parameters.values())
    names += list(parameters)
    if not any(isinstance(a, np.ndarray) for a in arguments):
        came = ", ".join(type(a).__name__ for a in given) or "nothing"
        raise TypeError(f"crosscheck: inputs holds no array ({came}); expected NDArrays or NumPy arrays")
    functions = []
    if python_fn is not None:
        functions.append(sides.python_side(python_fn, list(parameters), numpy))
    if julia_fn is not None:
        side = sides.julia_side(julia_fn, numpy)
        places = sides.match(list(parameters), params, len(given))
        functions.append(_reordered(side, len(given), places))
    return Point(arguments, names), functions


def _reordered(side: Side, inputs: int, places: Sequence[int]) -> Side:
    """The Julia function with the parameters where it expects them."""
    total = inputs + len(places)
    if list(places) == list(range(inputs, total)):
        return side
    if sorted(set(places)) != sorted(places) or not all(0 <= p < total for p in places):
        raise ValueError(
            f"crosscheck: params gives the places {[p + 1 for p in places]}; expected different ones from 1 to {total}"
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
    chosen = [int(i) for i in ([grads] if isinstance(grads, int) else grads)]
    for i in chosen:
        if i not in point.movable:
            raise ValueError(
                f"crosscheck: grads names position {i}; arguments with gradients stand at {point.movable}"
            )
    return chosen


def _as_heads(head_grads: Any) -> list[Array]:
    given = list(head_grads) if isinstance(head_grads, (list, tuple)) else [head_grads]
    return [np.asarray(a.asnumpy() if hasattr(a, "asnumpy") else a, np.float64) for a in given]


def _native(point: Point) -> np.dtype[Any] | None:
    found = [point.arguments[i].dtype for i in point.movable]
    return min(found, key=lambda d: d.itemsize) if found else None


class _Check:
    """The settings of a comparison, and its steps."""

    def __init__(
        self, rtol: float | None, atol: float | None, directions: int, samples: int, seed: int
    ) -> None:
        self.rtol, self.atol = rtol, atol
        self.directions, self.samples = directions, samples
        self.seed = seed

    def at(
        self,
        report: Report,
        point: Point,
        functions: Sequence[Side],
        chosen: Sequence[int],
        given_heads: list[Array] | None,
        bar: Any,
    ) -> dict[str, Evidence]:
        """Compare values and gradients at a point, in its dtype."""
        eps = _eps(point)
        large = max((point.arguments[i].size for i in point.movable), default=0) > 10**6
        evidence: dict[str, Evidence] = {}
        heads: dict[str, list[list[Array]]] = {}
        for side in functions:
            drawn = self._draw(given_heads, large)
            e, own = gather(side, point, None, drawn, careful=not large)
            evidence[side.language], heads[side.language] = e, own
            self._faults(report, e)
            bar()
        if len(evidence) == 2:
            self._values(report, evidence, eps)
        rng = np.random.default_rng(self.seed + 1)
        for i in chosen:
            result = judge(i, evidence, heads, eps=eps, rtol=self.rtol, atol=self.atol, samples=self.samples,
                           directions=self.directions, rng=rng, progress=bar)  # fmt: skip
            _missing(report, result, evidence, i)
            _explain(report, result, evidence, heads, i, eps)
            report.gradients.append(result)
        return evidence

    def _draw(self, given: list[Array] | None, large: bool) -> Callable[[list[Array]], list[list[Array]]]:
        """Head gradients for outputs of given shapes: the same on both sides where the shapes are."""

        def draw(outputs: list[Array]) -> list[list[Array]]:
            if given is not None:
                if len(given) != len(outputs):
                    raise ValueError(f"crosscheck: {len(given)} head_grads came for {len(outputs)} results")
                return [[np.broadcast_to(h, y.shape).astype(y.dtype) for h, y in zip(given, outputs)]]
            total = sum(y.size for y in outputs if y.dtype.kind == "f")
            heads = []
            if total <= FULL_JACOBIAN:
                flat = np.eye(total)
                heads += [_split(row, outputs) for row in flat]
            rng = np.random.default_rng(self.seed)
            for _ in range(1 if heads else min(self.directions, 2) if large else max(1, self.directions)):
                heads.append(_split(rng.standard_normal(total), outputs))
            return heads

        return draw

    def _faults(self, report: Report, e: Evidence) -> None:
        language, faults = e.side.language, e.faults
        for what in faults.changed:
            report.findings.append(
                Finding("writes", language, f"it writes to its {what}, which is not its own")
            )
        if faults.raised is not None:
            report.findings.append(Finding("raised", language, f"its backward raised {faults.raised}"))
        if faults.unstable:
            report.findings.append(
                Finding("determinism", language, "the same call gave something else the second time")
            )
        if faults.stateful:
            report.findings.append(
                Finding(
                    "state", language, "its backward depends on a call that came between forward and backward"
                )
            )
        if faults.nonlinear:
            report.findings.append(
                Finding("linearity", language, "twice the head gradient does not give twice the gradient")
            )

    def _values(self, report: Report, evidence: dict[str, Evidence], eps: float) -> None:
        p, j = evidence["Python"], evidence["Julia"]
        if len(p.outputs) != len(j.outputs):
            report.findings.append(
                Finding("values", "both", f"Python returns {len(p.outputs)} results, Julia {len(j.outputs)}")
            )
            return
        for i, (a, b) in enumerate(zip(p.outputs, j.outputs)):
            name = f"result {i + 1}" if len(p.outputs) > 1 else "result"
            made = tolerance(a, p.output_spreads[i], eps, self.rtol, self.atol).entries
            other = tolerance(b, j.output_spreads[i], eps, self.rtol, self.atol).entries
            if a.dtype != b.dtype:
                report.findings.append(
                    Finding("dtype", "both", f"{name} is {a.dtype} in Python and {b.dtype} in Julia")
                )
            if a.shape != b.shape:
                said = name_difference(b, a, made, eps)
                what = f": {said[0]}" if said else ""
                kind = "layout" if said and said[0].startswith("layout") else "shape"
                report.findings.append(
                    Finding(
                        kind, "both", f"{name} has shape {a.shape} in Python and {b.shape} in Julia{what}"
                    )
                )
                continue
            where = differ(a, b, made + other)
            with np.errstate(all="ignore"):
                apart = float(np.nanmax(np.abs(a.astype(np.float64) - b), initial=0.0))
                largest = float(np.nanmax(np.abs(a), initial=0.0))
            count = int(where.sum())
            report.values.append(
                Compared(
                    name, a.shape, str(a.dtype), largest, apart, float((made + other).max(initial=0)), count
                )
            )
            if count:
                self._explain_values(report, evidence, i, name, where, made + other, eps)

    def _explain_values(
        self,
        report: Report,
        evidence: dict[str, Evidence],
        i: int,
        name: str,
        where: Array,
        allowed: Array,
        eps: float,
    ) -> None:
        a, b = (evidence[k].outputs[i] for k in ("Python", "Julia"))
        said = name_difference(b, a, allowed, eps) or _other_axis(
            evidence["Python"], lambda outputs: outputs[i], b, allowed
        )
        kind = "layout" if said and said[0].startswith("layout") else "values"
        if said and "float32" in said[0]:
            kind = "float32"
            if np.array_equal(a, a.astype(np.float32).astype(a.dtype)) and not np.array_equal(
                b, b.astype(np.float32).astype(b.dtype)
            ):
                said = ["Python's was computed in float32"]
        first = int(np.argmax(where.reshape(-1)))
        at = tuple(int(k) for k in np.unravel_index(first, where.shape))
        text = f"{name} differs in {int(where.sum()):,} of {where.size:,} entries, first at {list(at)}: {a[at]!r} in Python, {b[at]!r} in Julia"
        places = next(
            (
                name_places(where, x)
                for x in evidence["Python"].point.arguments
                if is_float(x) and x.shape == where.shape
            ),
            None,
        )
        text += f" ({places})" if places else ""
        text += f". Julia's, seen from Python's: {said[0]}" if said else ""
        report.findings.append(Finding(kind, "both", text))

    def in_small_dtype(
        self,
        report: Report,
        point: Point,
        functions: Sequence[Side],
        right: dict[str, Evidence],
        chosen: Sequence[int],
    ) -> None:
        """The two agree in float64: is one of them wrong in the dtype that the inputs have?"""
        eps = _eps(point)
        for side in functions:
            reference = right[side.language]
            e, _ = gather(side, point, reference.heads[:1], None, careful=False)
            if e.faults.raised is not None:
                report.findings.append(
                    Finding(
                        "raised", side.language, f"in {_dtype(point)} its backward raised {e.faults.raised}"
                    )
                )
                continue
            pairs = [("a result", y, z, s) for y, z, s in zip(e.outputs, reference.outputs, e.output_spreads)]
            pairs += [
                (
                    f"the gradient of {point.names[i]}",
                    e.gradients[0][i],
                    reference.gradients[0][i],
                    e.spreads[0][i],
                )
                for i in chosen
                if e.gradients
            ]
            for what, found, exact, s in pairs:
                if found is None or exact is None or found.dtype.kind != "f":
                    continue
                if found.dtype != point.arguments[point.movable[0]].dtype:
                    report.findings.append(
                        Finding(
                            "dtype", side.language, f"{what} is {found.dtype} for inputs of {_dtype(point)}"
                        )
                    )
                    continue
                room = tolerance(found, s, eps, self.rtol, self.atol).entries * 4
                with np.errstate(over="ignore"):
                    rounded = exact.astype(found.dtype)
                where = differ(found, rounded, room + eps * np.abs(np.nan_to_num(rounded)))
                if where.any():
                    at = tuple(int(k) for k in np.unravel_index(int(np.argmax(where)), where.shape))
                    report.findings.append(
                        Finding(
                            "float32",
                            side.language,
                            f"{what} is right in float64, but not in {_dtype(point)}: {found[at]!r} instead of {rounded[at]!r} at {list(at)}",
                        )  # fmt: skip
                    )


def _eps(point: Point) -> float:
    return max((float(np.finfo(point.arguments[i].dtype).eps) for i in point.movable), default=2.2e-16)


def _dtype(point: Point) -> str:
    return str(point.arguments[point.movable[0]].dtype)


def _split(flat: Array, outputs: Sequence[Array]) -> list[Array]:
    """Head gradients out of one long vector; integer results get zeros."""
    heads, at = [], 0
    for y in outputs:
        if y.dtype.kind == "f":
            heads.append(flat[at : at + y.size].reshape(y.shape).astype(y.dtype))
            at += y.size
        else:
            heads.append(np.zeros_like(y))
    return heads


def _missing(report: Report, result: Judgement, evidence: dict[str, Evidence], argument: int) -> None:
    for language, e in evidence.items():
        if e.gradients and all(g[argument] is None for g in e.gradients) and e.faults.raised is None:
            needed = language in result.wrong
            text = f"there is no gradient of {result.argument}" + (
                ", and it is not zero" if needed else "; by numbers it is zero"
            )
            report.findings.append(Finding("missing", language, text, fault=needed))


def _explain(
    report: Report,
    result: Judgement,
    evidence: dict[str, Evidence],
    heads: dict[str, list[list[Array]]],
    argument: int,
    eps: float,
) -> None:
    """Say in words what is wrong with a gradient."""
    for text in result.findings:
        language, _, message = text.partition(": ")
        report.findings.append(Finding("shape", language, f"{result.argument}: {message}"))
    for language in sorted(result.wrong):
        said = [f for f in report.findings if f.language == language and f.fault]
        if language not in result.gradients or any(
            f.kind == "missing" and result.argument in f.message for f in said
        ):
            continue
        own = [r for r in result.rows if language in r.wrong]
        head = max({r.head for r in own}, key=lambda h: sum(r.head == h for r in own))
        wrong = _gradient_of(evidence[language], head, argument, result)
        right = _right(result, evidence, language, head, argument)
        text = f"the gradient of {result.argument} is wrong in {len({r.where for r in own}):,} of {len({r.where for r in result.rows}):,} places looked at"
        kind = "gradient"
        if right is not None:
            allowed = np.maximum(1e-7 * np.abs(right), 64 * eps * float(np.max(np.abs(right), initial=0)))
            names = name_difference(wrong, right, allowed, eps)
            other = next((e for k, e in evidence.items() if k != language), None)
            if not names and other is not None and language not in (other.side.language,):
                names = _other_axis_gradient(other, heads[language][head], argument, wrong, allowed)
            where = differ(wrong, right, allowed)
            places = name_places(where, evidence[language].point.arguments[argument])
            if places:
                text += f", {places}"
            if names:
                text += f": {names[0]}"
                kind = (
                    "layout"
                    if names[0].startswith("layout")
                    else "float32"
                    if "float32" in names[0]
                    else kind
                )
        worst = max(own, key=lambda r: r.off)
        value = worst.python if language == "Python" else worst.julia
        text += f" (at {worst.where} it is {value:.9g}, by numbers {worst.numbers:.9g} ± {worst.error:.1g})"
        report.findings.append(Finding(kind, language, text))
    if not result.wrong and result.undecided:
        at_kinks = [
            r
            for r in result.rows
            if r.kink and r.python is not None and r.julia is not None and abs(r.python - r.julia) > r.allowed
        ]
        if len(at_kinks) == result.undecided:
            text = f"the gradients of {result.argument} differ in {result.differ:,} entries where the function has a kink; both are between its one-sided derivatives"
            report.findings.append(Finding("kink", "both", text))
        else:
            report.findings.append(
                Finding(
                    "gradient",
                    "both",
                    f"the gradients of {result.argument} differ by less than numbers can tell apart",
                )
            )
    elif not result.wrong and result.differ:
        report.findings.append(
            Finding(
                "gradient",
                "both",
                f"the gradients of {result.argument} differ in {result.differ:,} entries; numbers do not tell whose is wrong",
            )
        )


def _gradient_of(e: Evidence, head: int, argument: int, result: Judgement) -> Array:
    found = e.gradients[head][argument]
    return np.zeros(result.shape, result.dtype) if found is None else found


def _right(
    result: Judgement, evidence: dict[str, Evidence], language: str, head: int, argument: int
) -> Array | None:
    """The gradient that is right: the other side's, or the numbers if they are complete."""
    for other, e in evidence.items():
        if (
            other != language
            and other not in result.wrong
            and other in result.gradients
            and e.outputs_like(evidence[language])
        ):
            return _gradient_of(e, head, argument, result)
    entries = [r for r in result.rows if r.head == head and r.where.startswith("[")]
    if len({r.where for r in entries}) != int(np.prod(result.shape)):
        return None
    return np.array([r.numbers for r in entries]).reshape(result.shape)


def _other_axis(e: Evidence, pick: Callable[[list[Array]], Array], wrong: Array, allowed: Array) -> list[str]:
    """Is `wrong` what the right function gives along the other axis?"""
    turned = _turned(e.point)
    if turned is None or wrong.ndim != 2:
        return []
    try:
        found = pick(e.side.values(turned)).T
    except Exception:  # it takes no such shapes, so that is not what happened
        return []
    fits = found.shape == wrong.shape and not differ(found, wrong, allowed).any()
    return ["it works along the other axis"] if fits else []


def _other_axis_gradient(
    e: Evidence, head: list[Array], argument: int, wrong: Array, allowed: Array
) -> list[str]:
    turned = _turned(e.point)
    if turned is None or wrong.ndim != 2:
        return []
    try:
        found = e.side.pull(turned, [h.T if h.ndim == 2 else h for h in head]).gradients[argument]
    except Exception:  # it takes no such shapes, so that is not what happened
        return []
    fits = found is not None and found.T.shape == wrong.shape and not differ(found.T, wrong, allowed).any()
    return ["it works along the other axis"] if fits else []


def _turned(point: Point) -> list[Any] | None:
    if not any(isinstance(a, np.ndarray) and a.ndim == 2 for a in point.arguments):
        return None
    return [
        np.ascontiguousarray(a.T) if isinstance(a, np.ndarray) and a.ndim == 2 else a for a in point.arguments
    ]


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


class _Progress:
    """A bar on stderr, or nothing."""

    def __init__(self, show: bool) -> None:
        self.show = show

    def __enter__(self) -> Callable[[], None]:
        if not self.show:
            return lambda: None
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        self._bar = Progress(
            TextColumn("comparing"), BarColumn(), TextColumn("{task.completed} points"), TimeElapsedColumn(),
            console=Console(stderr=True), transient=True,
        )  # fmt: skip
        self._bar.start()
        task = self._bar.add_task("comparing", total=None)
        return lambda: self._bar.advance(task)

    def __exit__(self, *_: object) -> None:
        if self.show:
            self._bar.stop()
