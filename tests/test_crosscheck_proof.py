"""Planted errors the cross-checker must find, and right pairs it must not blame, each over many seeds.

What a case expects comes from mathematics: which side is right is known from how the pair was made. To be
short, the default run takes every second case with one seed; PYBRIDGE_PROOF_SEEDS=20 takes all with 20.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from crosscheck_cases import AGREE, JULIA, KINK, PYTHON, Case
from crosscheck_pairs import mx
from crosscheck_right import RIGHT_KINKED, RIGHT_SMOOTH
from crosscheck_wrong_julia import WRONG_JULIA
from crosscheck_wrong_python import WRONG_BOTH, WRONG_PYTHON

ASKED = int(os.environ.get("PYBRIDGE_PROOF_SEEDS", "0"))
SEEDS = range(ASKED or 1)
EVERY = 1 if ASKED else 2


def cases(*tables: tuple[str, list[Case]]) -> list[Any]:
    return [
        pytest.param(case, seed, id=f"{group}-{case.name}-{seed}")
        for group, table in tables
        for case in table[::EVERY]
        for seed in SEEDS
    ]


@pytest.fixture(scope="module")
def pairs(pb: ModuleType) -> ModuleType:
    """pybridge, the Julia sides included."""
    pb.include(str(Path(__file__).with_name("crosscheck_pairs.jl")))
    return pb


def check(pb: ModuleType, case: Case, seed: int) -> Any:
    inputs = case.inputs(np.random.default_rng([seed, 7]))
    mx.random.seed(seed)
    report = pb.crosscheck(
        case.python, case.julia and case.julia.build(pb), inputs, seed=seed, **case.options
    )
    expected = (case.verdicts,) if isinstance(case.verdicts, str) else case.verdicts
    assert report.verdict in expected, f"expected {' or '.join(expected)}\n{report}"
    assert bool(report) == (report.verdict == AGREE)
    return report


@pytest.mark.parametrize(
    ("case", "seed"), cases(("julia", WRONG_JULIA), ("python", WRONG_PYTHON), ("both", WRONG_BOTH))
)
def test_planted_error_is_found(pairs: ModuleType, case: Case, seed: int) -> None:
    report = check(pairs, case, seed)
    said = " ".join(f"{finding.kind} {finding.message}" for finding in report.findings).lower()
    assert any(word in said for word in case.words or ("",)), f"none of {case.words} in\n{report}"
    if "float32" not in case.words:
        assert "computed in float32" not in said, report
    blamed = {finding.language for finding in report.findings if finding.fault}
    assert blamed, f"no finding is a fault\n{report}"
    if report.verdict == PYTHON:
        assert "Julia" not in blamed, report
    if report.verdict == JULIA:
        assert "Python" not in blamed, report


@pytest.mark.parametrize(("case", "seed"), cases(("smooth", RIGHT_SMOOTH), ("kinked", RIGHT_KINKED)))
def test_right_pair_is_not_blamed(pairs: ModuleType, case: Case, seed: int) -> None:
    report = check(pairs, case, seed)
    if report.verdict == KINK:
        assert {finding.kind for finding in report.findings} == {"kink"}, report
    else:
        assert not [finding for finding in report.findings if finding.fault], report
