"""Who is right: gradients of both sides, held against each other and against derivatives by numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array import Array
from .evidence import Evidence
from .point import Point
from .tolerance import differ, tolerance
from .weigh import Place, Row, weigh

LARGE = 10**5  # entries above which one evaluation for each entry of a sample is dear


@dataclass
class Judgement:
    """The gradient of one argument."""

    argument: str
    shape: tuple[int, ...]
    dtype: str
    wrong: set[str] = field(default_factory=set)  # languages
    differ: int = 0  # entries in which the sides differ, over all heads
    kinks: int = 0
    undecided: int = 0  # entries that differ and that the numbers do not decide
    rows: list[Row] = field(default_factory=list)
    gradients: dict[str, Array] = field(default_factory=dict)  # of the head that shows most, by language
    head: int = 0
    tolerances: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)


def judge(
    argument: int,
    evidence: dict[str, Evidence],
    heads: dict[str, list[list[Array]]],
    *,
    eps: float,
    rtol: float | None,
    atol: float | None,
    samples: int,
    directions: int,
    rng: np.random.Generator,
    same_values: bool,
    progress: Any,
) -> Judgement:
    """Compare the gradient of one argument; `evidence` by language, of one side or of both."""
    point = next(iter(evidence.values())).point
    a: Array = point.arguments[argument]
    result = Judgement(point.names[argument], a.shape, str(a.dtype))
    gradients, allowed = _gradients(result, argument, a, evidence, eps, rtol, atol)
    if not gradients:
        return result
    first, last = (list(evidence.values())[i] for i in (0, -1))
    apart = _compare(result, gradients, allowed) if first.outputs_like(last) else None
    result.head = _telling(apart, gradients)
    result.gradients = {language: g[result.head] for language, g in gradients.items()}
    shown = {language: e.exact or e for language, e in evidence.items() if language in gradients}
    if len(shown) == 2 and same_values and a.size >= 10**6:
        shown = dict.fromkeys(shown, next(iter(shown.values())))  # one function: half the evaluations
    shared = len(heads) == 2 and all(
        np.array_equal(x, y) for p, q in zip(*heads.values()) for x, y in zip(p, q)
    )
    for place in _places(point, argument, _entries(point, argument, apart, samples, rng), directions, rng):
        result.rows += weigh(place, gradients, allowed, shown, heads, _levels(a.size), shared)
        progress()
    result.wrong.update(*(row.wrong for row in result.rows))
    result.kinks = sum(row.kink for row in result.rows)
    result.undecided = sum(row.undecided for row in result.rows)
    return result


def _gradients(
    result: Judgement,
    argument: int,
    a: Array,
    evidence: dict[str, Evidence],
    eps: float,
    rtol: float | None,
    atol: float | None,
) -> tuple[dict[str, list[Array]], dict[str, list[Array]]]:
    """The gradients that fit the argument, for each head, and their tolerances, by language."""
    gradients, allowed = {}, {}
    for language, e in evidence.items():
        if e.faults.raised is not None or not e.gradients:
            continue
        given = [g[argument] for g in e.gradients]
        unfit = [g for g in given if g is not None and (g.shape != a.shape or g.dtype != a.dtype)]
        if unfit:
            result.wrong.add(language)
            result.findings.append(
                f"{language}: the gradient is {unfit[0].dtype} {unfit[0].shape}; expected {a.dtype} {a.shape}"
            )
            continue
        filled = [np.zeros(a.shape, a.dtype) if g is None else g for g in given]
        made = [
            tolerance(g, _like(s[argument], g), eps, rtol, atol, steep)
            for g, s, steep in zip(filled, e.spreads, e.steepness(argument))
        ]
        gradients[language] = filled
        allowed[language] = [t.entries for t in made]
        result.tolerances[language] = made[0].text
    return gradients, allowed


def _places(
    point: Point, argument: int, entries: list[int], directions: int, rng: np.random.Generator
) -> Iterator[Place]:
    """The entries, random directions, and those in which equal entries move together."""
    a: Array = point.arguments[argument]
    sizes = point.sizes(argument).reshape(-1)
    for entry in entries:
        way = np.zeros(a.size, a.dtype)
        way[entry] = sizes[entry]
        yield Place(_index(entry, a.shape), argument, way.reshape(a.shape), entry)
    for number in range(directions if a.size < 10**6 else min(directions, 2)):
        yield Place(f"direction {number + 1}", argument, point.direction(argument, rng))
    for number, way in enumerate(point.ties(argument), 1):
        yield Place(f"equal entries {number}", argument, way)


def _like(s: Array, g: Array) -> Array:
    return s if s.shape == g.shape else np.zeros(g.shape)


def _compare(
    result: Judgement, gradients: dict[str, list[Array]], allowed: dict[str, list[Array]]
) -> list[Array] | None:
    """How many tolerances the sides lie apart, for each head."""
    if len(gradients) < 2:
        return None
    apart = []
    for p, j, tp, tj in zip(*gradients.values(), *allowed.values()):
        where = differ(p, j, tp + tj)
        result.differ += int(where.sum())
        with np.errstate(all="ignore"):
            apart.append(
                np.where(
                    where,
                    np.nan_to_num(np.abs(p.astype(np.float64, copy=False) - j), nan=np.inf, posinf=np.inf),
                    0.0,
                )
            )
    return apart


def _telling(apart: list[Array] | None, gradients: dict[str, list[Array]]) -> int:
    """The head under which the sides differ most; else the one with the largest gradient."""
    if apart is not None and any(a.any() for a in apart):
        return int(np.argmax([float(np.count_nonzero(a)) for a in apart]))
    first = next(iter(gradients.values()))
    return int(np.argmax([float(np.max(np.abs(np.nan_to_num(g)), initial=0)) for g in first]))


def _levels(size: int) -> int:
    return 40 if size <= LARGE else 8 if size < 10**6 else 3


def _entries(
    point: Point, argument: int, apart: list[Array] | None, samples: int, rng: np.random.Generator
) -> list[int]:
    """Which entries to differentiate by numbers: all of a small argument; of a large one those that tell most."""
    a: Array = point.arguments[argument]
    if a.size <= samples:
        return list(range(a.size))
    if a.size > LARGE:
        samples = min(samples, 8 if a.size <= 10**6 else 0)
        if apart is not None and any(x.any() for x in apart):
            samples = max(samples, 2)
    chosen: dict[int, None] = {}
    if apart is not None:
        total = np.max([x.reshape(-1) for x in apart], axis=0) if len(apart) > 1 else apart[0].reshape(-1)
        count = min(samples // 2 or samples, int(np.count_nonzero(total)))
        if count:
            for i in np.argpartition(-total, count - 1)[:count]:
                chosen[int(i)] = None
    flat = a.reshape(-1)
    special = [int(np.argmin(flat)), int(np.argmax(flat)), int(np.argmin(np.abs(flat))), 0, a.size - 1]
    for i in special[: max(0, samples - len(chosen))]:
        chosen[i] = None
    while len(chosen) < samples:
        chosen[int(rng.integers(a.size))] = None
    return list(chosen)


def _index(entry: int, shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(str(int(i)) for i in np.unravel_index(entry, shape)) + "]" if shape else "[]"
