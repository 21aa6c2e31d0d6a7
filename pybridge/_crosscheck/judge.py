"""Who is right: gradients of both sides, held against each other and against derivatives by numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .array import Array
from .evidence import Evidence
from .numeric import Slope
from .point import Point
from .tolerance import differ, tolerance

LARGE = 10**5  # entries above which one evaluation for each entry of a sample is dear


@dataclass
class Row:
    """One entry of a gradient, or the derivative along a direction, as everybody has it."""

    where: str
    head: int
    python: float | None
    julia: float | None
    numbers: float
    error: float  # of the numbers
    allowed: float
    left: float
    right: float
    kink: bool
    wrong: tuple[str, ...] = ()

    @property
    def undecided(self) -> bool:
        """Do the sides differ, without one that is wrong by the numbers?"""
        if self.wrong or self.python is None or self.julia is None:
            return False
        return not abs(self.python - self.julia) <= self.allowed

    @property
    def off(self) -> float:
        """How far the worst side is from the numbers, or, where those do not tell, the sides from each other."""
        said = [v for v in (self.python, self.julia) if v is not None]
        apart = abs(said[0] - said[-1])
        if not np.isfinite(self.numbers) or not np.isfinite(self.error):
            return apart
        return max([apart, *(abs(v - self.numbers) for v in said)]) if not self.kink else apart


@dataclass
class Judgement:
    """The gradient of one argument."""

    argument: str
    shape: tuple[int, ...]
    dtype: str
    wrong: set[str] = field(default_factory=set)  # languages
    differ: int = 0  # entries in which the sides differ, over all heads
    entries: int = 0  # entries compared between the sides
    kinks: int = 0
    undecided: int = 0  # entries that differ and that the numbers do not decide
    rows: list[Row] = field(default_factory=list)
    gradients: dict[str, Array] = field(default_factory=dict)  # of the head that shows most, by language
    head: int = 0
    tolerances: dict[str, str] = field(default_factory=dict)
    findings: list[str] = field(default_factory=list)
    reference: Array | None = None  # the right gradient, where it is known

    @property
    def agrees(self) -> bool:
        return not self.wrong and not self.differ


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
    gradients: dict[str, list[Array]] = {}
    allowed: dict[str, list[Array]] = {}
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
    comparable = len(evidence) < 2 or next(iter(evidence.values())).outputs_like(list(evidence.values())[-1])
    apart = _compare(result, gradients, allowed) if comparable else None
    if not gradients:
        return result
    result.head = _telling(apart, gradients)
    result.gradients = {language: g[result.head] for language, g in gradients.items()}
    looked_at = _entries(point, argument, apart, samples, rng)
    shared = len(heads) == 2 and all(
        np.array_equal(x, y) for p, q in zip(*heads.values()) for x, y in zip(p, q)
    )
    shown = {language: e.exact or e for language, e in evidence.items() if language in gradients}
    if len(shown) == 2 and same_values and a.size >= 10**6:
        shown = dict.fromkeys(shown, next(iter(shown.values())))  # one function: half the evaluations
    levels = _levels(a.size)
    for entry in looked_at:
        said = {k: [float(g.reshape(-1)[entry]) for g in v] for k, v in gradients.items()}
        may = {k: [float(t.reshape(-1)[entry]) for t in v] for k, v in allowed.items()}

        def by_entry(shrink: float, entry: int = entry) -> dict[str, Slope]:
            return _each(shown, lambda of, e: e.slope_of_entry(heads[of], argument, entry, levels, shrink))

        def around_entry(entry: int = entry) -> dict[str, tuple[Array, Array]]:
            size = point.sizes(argument).reshape(-1)[entry]
            way = np.zeros(a.size, a.dtype)
            way[entry] = size
            found = {k: e.around(heads[k], argument, way.reshape(a.shape)) for k, e in shown.items()}
            return {k: (low / size, high / size) for k, (low, high) in found.items()}

        _weigh(result, _index(entry, a.shape), said, may, by_entry, around_entry, shared)
        progress()
    ways = [
        point.direction(argument, rng) for _ in range(directions if a.size < 10**6 else min(directions, 2))
    ]
    for number, way in enumerate([*ways, *point.ties(argument)]):
        flat = way.astype(np.float64, copy=False)
        said = {k: [float(np.vdot(g, flat)) for g in v] for k, v in gradients.items()}
        may = {k: [float(np.vdot(t, np.abs(flat))) for t in v] for k, v in allowed.items()}

        def by_way(shrink: float, way: Array = way) -> dict[str, Slope]:
            return _each(shown, lambda of, e: e.slope_along(heads[of], argument, way, levels, shrink))

        def around_way(way: Array = way) -> dict[str, tuple[Array, Array]]:
            return {k: e.around(heads[k], argument, way) for k, e in shown.items()}

        tied = number - len(ways) + 1
        name = f"direction {number + 1}" if tied < 1 else f"equal entries {tied}"
        _weigh(result, name, said, may, by_way, around_way, shared)
        progress()
    result.kinks = sum(row.kink for row in result.rows)
    result.undecided = sum(row.undecided for row in result.rows)
    return result


def _each(shown: dict[str, Evidence], differentiate: Callable[[str, Evidence], Slope]) -> dict[str, Slope]:
    """The slopes by language; evidence that stands for both languages is asked once."""
    found: dict[int, Slope] = {}
    for language, e in shown.items():
        if id(e) not in found:
            found[id(e)] = differentiate(language, e)
    return {language: found[id(e)] for language, e in shown.items()}


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
        result.entries += where.size
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


def _weigh(
    result: Judgement,
    where: str,
    values: dict[str, list[float]],
    allowed: dict[str, list[float]],
    differentiate: Callable[[float], dict[str, Slope]],
    around: Callable[[], dict[str, tuple[Array, Array]]],
    shared: bool,
) -> None:
    """Judge one entry, or one direction, under every head.

    `around` gives the ranges of derivatives at points close by: only what lies outside of them is wrong where there is
    no derivative.
    """
    slopes = differentiate(1.0)
    count = len(next(iter(values.values())))
    wrong = [
        {k for k, said in values.items() if _is_wrong(said[head], allowed[k][head], slopes[k], head)}
        for head in range(count)
    ]
    smooth = [True] * count
    if any(wrong):  # on two witnesses only, who say the same
        again = differentiate(0.31)
        wrong = [
            {
                k
                for k in suspects
                if _is_wrong(values[k][head], allowed[k][head], again[k], head)
                and _same(slopes[k], again[k], head)
            }
            for head, suspects in enumerate(wrong)
        ]
    if any(wrong):
        ranges = around()
        for head, suspects in enumerate(wrong):
            for k in sorted(suspects):
                low, high = (float(end[head]) for end in ranges[k])
                if high - low > 1e-3 * max(abs(low), abs(high)):
                    smooth[head] = False
                    slack = allowed[k][head] + 1e-2 * (high - low)
                    if low - slack <= values[k][head] <= high + slack:
                        suspects.remove(k)
    for head in range(count):
        best = next(iter(slopes.values()))
        if shared:
            best = min(slopes.values(), key=lambda s: float(np.nan_to_num(s.error[head], nan=np.inf)))
        row = Row(
            where,
            head,
            _number(values.get("Python"), head),
            _number(values.get("Julia"), head),
            float(best.value[head]),
            float(best.error[head]),
            sum(t[head] for t in allowed.values()),
            float(best.left[head]),
            float(best.right[head]),
            not smooth[head] or any(bool(s.kink[head]) for s in slopes.values()),
            tuple(sorted(wrong[head])),
        )
        result.wrong.update(wrong[head])
        result.rows.append(row)


def _same(a: Slope, b: Slope, head: int) -> bool:
    """Do two derivatives by numbers agree within their errors, or both see a kink?"""
    if bool(a.kink[head]) or bool(b.kink[head]):
        return bool(a.kink[head]) == bool(b.kink[head])
    return bool(abs(a.value[head] - b.value[head]) <= a.error[head] + b.error[head])


def _number(said: Sequence[float] | None, head: int) -> float | None:
    return None if said is None else float(said[head])


def _is_wrong(said: float, allowed: float, s: Slope, head: int) -> bool:
    value, error = float(s.value[head]), float(s.error[head])
    left, right = float(s.left[head]), float(s.right[head])
    if bool(s.kink[head]):
        low, high = min(left, right), max(left, right)
        slack = allowed + 1e-3 * (high - low)
        return not low - slack <= said <= high + slack
    if not np.isfinite(value) or not np.isfinite(error):
        return False
    return not abs(said - value) <= allowed + error
