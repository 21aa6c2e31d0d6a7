"""Who is right: gradients of both sides, held against each other and against derivatives by numbers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array import Array
from .evidence import Evidence
from .point import Point
from .settings import Settings
from .tolerance import differ, tolerance
from .weigh import Place, Row, Scales

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
    settings: Settings,
    eps: float,
    same_values: bool,
    progress: Any,
) -> Judgement:
    """Compare the gradient of one argument; `evidence` by language, of one side or of both."""
    point = next(iter(evidence.values())).point
    a: Array = point.arguments[argument]
    result = Judgement(point.names[argument], a.shape, str(a.dtype))
    gradients, allowed = _gradients(result, argument, a, evidence, eps, settings)
    if not gradients:
        return result
    lost = _lost(argument, [e for language, e in evidence.items() if language in gradients])
    first, last = (list(evidence.values())[i] for i in (0, -1))
    apart = _compare(result, gradients, allowed, lost) if first.outputs_like(last) else None
    result.head = _telling(apart, gradients)
    result.gradients = {language: g[result.head] for language, g in gradients.items()}
    shown = {language: e.exact or e for language, e in evidence.items() if language in gradients}
    if len(shown) == 2 and same_values and a.size >= 10**5:
        shown = dict.fromkeys(shown, next(iter(shown.values())))  # one function: half the evaluations
    heads = {language: e.heads for language, e in evidence.items()}
    shared = len(heads) == 2 and first.outputs_like(last) and same_values
    scales = Scales(argument, gradients, allowed, shown, heads, shared)
    rng = np.random.default_rng([settings.seed, 1, argument])
    entries = _entries(a, apart, lost, settings.samples, rng)
    for place in _places(point, argument, entries, lost, settings.directions, rng):
        result.rows += scales.weigh(place)
        progress()
    result.wrong.update(*(row.wrong for row in result.rows))
    result.kinks = sum(row.kink for row in result.rows)
    result.undecided = sum(row.undecided for row in result.rows)
    return result


def _lost(argument: int, evidence: list[Evidence]) -> Array | None:
    """Entries that are not finite, or that results which are not come from: nothing can be told there."""
    found = [e.lost(argument) for e in evidence]
    lost = found[0] | found[-1]
    return lost if lost.any() else None


def _gradients(
    result: Judgement,
    argument: int,
    a: Array,
    evidence: dict[str, Evidence],
    eps: float,
    settings: Settings,
) -> tuple[dict[str, list[Array]], dict[str, list[Array]]]:
    """The gradients that fit the argument, for each head, and their tolerances, by language."""
    gradients, allowed = {}, {}
    for language, e in evidence.items():
        if not e.gradients:
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
            tolerance(g, _like(s[argument], g), eps, settings, e.usual_gradient(head, argument))
            for head, (g, s) in enumerate(zip(filled, e.spreads))
        ]
        for s in e.spreads:
            s[argument] = np.zeros(())  # it is in the tolerances now, and may be large
        gradients[language] = filled
        allowed[language] = [t.entries for t in made]
        result.tolerances[language] = made[-1].text
    return gradients, allowed


def _places(
    point: Point,
    argument: int,
    entries: list[int],
    lost: Array | None,
    directions: int,
    rng: np.random.Generator,
) -> Iterator[Place]:
    """The entries, random directions, and those in which equal entries move together."""
    a: Array = point.arguments[argument]
    sizes = point.sizes(argument).reshape(-1)[entries]
    for entry, size in zip(entries, sizes):
        way = np.zeros(a.size, a.dtype)
        way[entry] = size
        yield Place(_index(entry, a.shape), argument, way.reshape(a.shape), entry)
    ties = point.ties(argument)
    count = directions if a.size < 10**6 else min(directions, 2)
    for number in range(count + len(ties)):
        way = _without(point.direction(argument, rng) if number < count else ties[number - count], lost)
        name = f"direction {number + 1}" if number < count else f"equal entries {number - count + 1}"
        if way.any():
            yield Place(name, argument, way)


def _without(way: Array, lost: Array | None) -> Array:
    return way if lost is None else np.where(lost, 0, way).astype(way.dtype)


def _like(s: Array, g: Array) -> Array:
    return s if s.shape == g.shape else np.zeros(g.shape)


def _compare(
    result: Judgement, gradients: dict[str, list[Array]], allowed: dict[str, list[Array]], lost: Array | None
) -> list[Array] | None:
    """How many tolerances the sides lie apart, for each head."""
    if len(gradients) < 2:
        return None
    found = []
    for p, j, tp, tj in zip(*gradients.values(), *allowed.values()):
        room = tp + tj
        where = differ(p, j, room)
        if lost is not None:
            where &= ~lost
        result.differ += int(np.count_nonzero(where))
        if not where.any():
            found.append(np.zeros(p.shape, bool))
            continue
        with np.errstate(all="ignore"):
            distance = np.abs(p.astype(np.float64, copy=False) - j) / room
        found.append(np.where(where, np.nan_to_num(distance, nan=np.inf, posinf=np.inf), 0.0))
    return found


def _telling(apart: list[Array] | None, gradients: dict[str, list[Array]]) -> int:
    """The head under which the sides differ most; else the one with the largest gradient."""
    if apart is not None and any(a.any() for a in apart):
        return int(np.argmax([float(np.count_nonzero(a)) for a in apart]))
    first = next(iter(gradients.values()))
    return int(np.argmax([float(np.max(np.abs(np.nan_to_num(g)), initial=0)) for g in first]))


def _entries(
    a: Array, apart: list[Array] | None, lost: Array | None, samples: int, rng: np.random.Generator
) -> list[int]:
    """Which entries to differentiate by numbers: all of a small argument; of a large one those that tell most."""
    if a.size <= samples:
        return [i for i in range(a.size) if lost is None or not lost.reshape(-1)[i]]
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
    flat = a.reshape(-1) if lost is None else np.where(lost, 0, a).reshape(-1)
    special = [int(np.argmin(flat)), int(np.argmax(flat)), int(np.argmin(np.abs(flat))), 0, a.size - 1]
    for i in special[: max(0, samples - len(chosen))]:
        chosen[i] = None
    while len(chosen) < samples:
        chosen[int(rng.integers(a.size))] = None
    return [i for i in chosen if lost is None or not lost.reshape(-1)[i]]


def _index(entry: int, shape: tuple[int, ...]) -> str:
    return "[" + ", ".join(str(int(i)) for i in np.unravel_index(entry, shape)) + "]" if shape else "[]"
