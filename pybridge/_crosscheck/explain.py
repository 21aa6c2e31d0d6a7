"""Words for what was found: which entries are wrong, and in which way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .array import Array
from .diagnosis import common_names, is_float32, name_difference, name_places
from .evidence import Evidence
from .judge import Judgement
from .point import Point, is_float
from .report import Finding, Report
from .tolerance import differ


def explain_values(
    report: Report,
    evidence: dict[str, Evidence],
    result: int,
    name: str,
    where: Array,
    allowed: Array,
    eps: float,
) -> None:
    """Say in words how results differ; `where` they do."""
    a, b = (evidence[k].outputs[result] for k in ("Python", "Julia"))
    said = name_difference(b, a, allowed, eps)
    language = "both"
    said = said or _other_axis(evidence["Python"], lambda outputs: outputs[result], b, allowed)
    kind = "layout" if said and said[0].startswith("layout") else "values"
    if said and "float32" in said[0]:
        kind = "float32"
        language = _less_precise(a, b)
    at = first(where)
    text = f"{name} differs in {int(where.sum()):,} of {where.size:,} entries, first at {list(at)}: "
    text += f"{a[at]!r} in Python, {b[at]!r} in Julia"
    inputs = [x for x in evidence["Python"].point.arguments if is_float(x) and x.shape == where.shape]
    places = next((found for found in (name_places(where, x) for x in inputs) if found), None)
    text += f" ({places})" if places else ""
    if language != "both":
        text += f". {language}'s is right to float32's precision only"
    elif said:
        text += f". Julia's, seen from Python's: {said[0]}"
    report.note(kind, language, text)


def _less_precise(python: Array, julia: Array) -> str:
    """Whose values float32 holds as they are."""
    if is_float32(python) == is_float32(julia):
        return "both"
    return "Python" if is_float32(python) else "Julia"


def first(where: Array) -> tuple[int, ...]:
    """The first place that is true."""
    return tuple(int(k) for k in np.unravel_index(int(np.argmax(where)), where.shape))


def explain_missing(report: Report, result: Judgement, evidence: dict[str, Evidence], argument: int) -> None:
    """Say where there is no gradient at all."""
    for language, e in evidence.items():
        if e.gradients and all(g[argument] is None for g in e.gradients):
            needed = language in result.wrong
            text = f"there is no gradient of {result.argument}"
            text += ", and it is not zero" if needed else "; by numbers it is zero"
            report.note("missing", language, text, fault=needed)


def explain(
    report: Report,
    result: Judgement,
    evidence: dict[str, Evidence],
    argument: int,
    eps: float,
) -> None:
    """Say in words what is wrong with the gradient of an argument."""
    for text in result.findings:
        language, _, message = text.partition(": ")
        report.note("shape", language, f"{result.argument}: {message}")
    for language in sorted(result.wrong & set(result.gradients)):
        missing = f"there is no gradient of {result.argument},"
        if not any(f.language == language and f.message.startswith(missing) for f in report.findings):
            report.findings.append(_wrong(result, evidence, argument, language, eps))
    if result.wrong or any(
        f.fault and f.kind in ("values", "layout", "shape", "float32") for f in report.findings
    ):
        return  # the gradients of different functions differ
    name = result.argument
    if result.undecided:
        differing = [r for r in result.rows if r.undecided]
        if all(r.kink for r in differing):
            text = (
                f"the gradients of {name} differ in {result.differ:,} entries where the function has a kink; "
            )
            report.note("kink", "both", text + "both lie between its one-sided derivatives")
            return
    looked_at = {r.where for r in result.rows if r.where.startswith("[")}
    if result.undecided or (result.differ and len(looked_at) < np.prod(result.shape)):
        text = (
            f"the gradients of {name} differ in {result.differ:,} entries; numbers do not tell whose is wrong"
        )
        report.note("gradient", "both", text)


def _wrong(
    result: Judgement,
    evidence: dict[str, Evidence],
    argument: int,
    language: str,
    eps: float,
) -> Finding:
    own = [r for r in result.rows if language in r.wrong]
    head = max({r.head for r in own}, key=lambda h: sum(r.head == h for r in own))
    wrong = _gradient_of(evidence[language], head, argument, result)
    known = _right(result, evidence, language, head, argument, eps)
    text = f"the gradient of {result.argument} is wrong in {len({r.where for r in own}):,} of "
    text += f"{len({r.where for r in result.rows}):,} places looked at"
    kind = "gradient"
    if known is not None:
        right, allowed = known
        names = _names(result, evidence, language, sorted({r.head for r in own}), argument, eps)
        names = names or _swapped(result, evidence, language, head, argument, wrong, eps)
        other = next((e for k, e in evidence.items() if k != language), None)
        if not names and other is not None:
            names = _other_axis_gradient(other, evidence[language].heads[head], argument, wrong, allowed)
        places = name_places(
            _wrong_places(result, evidence, language, argument, eps, differ(wrong, right, allowed)),
            evidence[language].point.arguments[argument],
        )
        text += f", {places}" if places else ""
        if names:
            text += f": {names[0]}"
            kind = "layout" if names[0].startswith("layout") else "float32" if "float32" in names[0] else kind
            if names[0] == "it is all zeros":
                kind = "missing"
    worst = max(own, key=lambda r: r.off)
    value = worst.python if language == "Python" else worst.julia
    numbers = f"{worst.numbers:.9g} ± {worst.error:.1g}"
    if worst.kink:
        numbers = f"between {worst.left:.9g} and {worst.right:.9g}"
    return Finding(kind, language, f"{text} (at {worst.where} it is {value:.9g}, by numbers {numbers})")


def _names(
    result: Judgement,
    evidence: dict[str, Evidence],
    language: str,
    heads: list[int],
    argument: int,
    eps: float,
) -> list[str]:
    """What turns the right gradient into the wrong one under every head under which it is wrong."""
    found = []
    for head in heads:
        known = _right(result, evidence, language, head, argument, eps)
        if known is not None:
            right, allowed = known
            wrong = _gradient_of(evidence[language], head, argument, result)
            if differ(wrong, right, allowed).any():
                found.append(name_difference(wrong, right, allowed, eps, _sizes(evidence[language])))
    return common_names(found)


def _gradient_of(e: Evidence, head: int, argument: int, result: Judgement) -> Array:
    found = e.gradients[head][argument]
    return np.zeros(result.shape, result.dtype) if found is None else found


def _right(
    result: Judgement, evidence: dict[str, Evidence], language: str, head: int, argument: int, eps: float
) -> tuple[Array, Array] | None:
    """The gradient that is right, and how exact it is: the other side's, or the numbers if they are complete."""
    for other, e in evidence.items():
        good = other != language and other not in result.wrong and other in result.gradients
        if good and e.outputs_like(evidence[language]):
            right = _gradient_of(e, head, argument, result)
            return right, eps ** (2 / 3) * np.abs(right) + 64 * eps * float(np.max(np.abs(right), initial=0))
    entries = [r for r in result.rows if r.head == head and r.where.startswith("[")]
    if len({r.where for r in entries}) != int(np.prod(result.shape)):
        return None
    right = np.array([r.numbers for r in entries]).reshape(result.shape)
    return right, np.array([r.error + r.allowed for r in entries]).reshape(result.shape)


def _sizes(e: Evidence) -> dict[str, int]:
    """Sizes that an error may be a multiple of: of every argument's and every result's axes."""
    found: dict[str, int] = {}
    named = [
        *zip(e.point.names, e.point.arguments),
        *((f"result {i}", y) for i, y in enumerate(e.outputs, 1)),
    ]
    for name, a in named:
        if isinstance(a, np.ndarray):
            found.update({f"the size of axis {axis} of {name}": n for axis, n in enumerate(a.shape)})
            found[f"the number of entries of {name}"] = a.size
    return found


def _swapped(
    result: Judgement,
    evidence: dict[str, Evidence],
    language: str,
    head: int,
    argument: int,
    wrong: Array,
    eps: float,
) -> list[str]:
    """Is it the right gradient of another argument?"""
    e = next((e for other, e in evidence.items() if other != language and e.gradients), None)
    if e is None or not e.outputs_like(evidence[language]):
        return []
    for i, g in enumerate(e.gradients[head]):
        if i == argument or g is None or g.shape != wrong.shape or not g.any():
            continue
        if not differ(wrong, g, eps ** (2 / 3) * np.abs(g) + 64 * eps * float(np.abs(g).max())).any():
            return [f"it is the gradient of {e.point.names[i]}"]
    return []


def _wrong_places(
    result: Judgement, evidence: dict[str, Evidence], language: str, argument: int, eps: float, found: Array
) -> Array:
    """Where the gradient is wrong under any head, if the other side's is right under all of them; else as `found`."""
    for head in range(len(evidence[language].heads)):
        if not any(other != language and other in result.gradients for other in evidence):
            break
        known = _right(result, evidence, language, head, argument, eps)
        if known is not None:
            right, allowed = known
            found = found | differ(_gradient_of(evidence[language], head, argument, result), right, allowed)
    return found


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
    """Is `wrong` the right gradient of everything transposed, or of the head gradient alone?"""
    turned = _turned(e.point)
    heads = [h.T if h.ndim == 2 else h for h in head]
    if turned is None or not any(h.ndim == 2 for h in head):
        return []
    for arguments in (turned, e.point.arguments):
        try:
            found = e.side.pull(arguments, heads).gradients[argument]
        except Exception:  # it takes no such shapes, so that is not what happened
            continue
        for candidate in () if found is None else (found.T, found):
            if candidate.shape == wrong.shape and not differ(candidate, wrong, allowed).any():
                return ["it works along the other axis"]
    return []


def _turned(point: Point) -> list[Any] | None:
    if not any(isinstance(a, np.ndarray) and a.ndim == 2 for a in point.arguments):
        return None
    return [
        np.ascontiguousarray(a.T) if isinstance(a, np.ndarray) and a.ndim == 2 else a for a in point.arguments
    ]
