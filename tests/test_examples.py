"""The scripts of examples/ that train with examples/layers.jl: what they learn, and how they are called."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
SCRIPTS = sorted(
    {path.stem for path in EXAMPLES.glob("*.py")} - {"grad_cam", "launch"}
)  # those train nothing


@pytest.fixture
def example(pb: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Import a script by name."""
    monkeypatch.syspath_prepend(str(EXAMPLES))
    return importlib.import_module


def test_a_conditional_random_field_tags_better_than_moment_by_moment(example):
    result = example("tag_sequences").train()

    assert result.losses[-1] < result.losses[0] / 8
    assert result.accuracy > 0.85 > result.accuracy_of_single_moments + 0.1


def test_an_aligned_average_keeps_the_height_that_the_plain_mean_loses(example):
    result = example("align_series").train()

    assert result.losses[-1] < result.losses[0] - 1.5
    assert result.height > 0.85 and result.height_of_mean < 0.6


def test_a_neural_differential_equation_follows_the_pendulum(example):
    result = example("fit_dynamics").train()

    assert result.losses[-1] < result.losses[0] / 100
    assert result.error < 0.2


def test_quantile_forecasts_have_the_share_of_values_below_them_that_they_claim(example):
    result = example("forecast_quantiles").train()

    assert result.losses[-1] < result.losses[0] / 5
    # Three standard deviations of a share of 1,024 values, once for the training set and once for the new one.
    for level, below in zip((0.1, 0.5, 0.9), result.below):
        assert abs(below - level) < 3 * np.sqrt(2 * level * (1 - level) / 1024)


def test_a_network_with_julia_layers_learns_the_same_hybridized_and_not(example):
    script = example("forecast_quantiles")

    np.testing.assert_allclose(script.train(20).losses, script.train(20, hybridize=False).losses, rtol=1e-5)


@pytest.mark.parametrize("name", ["Swish", "Mish", "Pade", "MonotoneSpline", "RBF"])
def test_two_spirals_are_told_apart(example, name):
    result = example("activations").train(name)

    assert result.losses[0] > 0.6 and result.losses[-1] < 0.02
    assert result.accuracy > 0.97


def test_useless_sensors_get_no_weight(example):
    script = example("sparse_groups")
    result = script.train()

    assert result.losses[-1] < result.losses[0] / 8
    for sensor, norm in enumerate(result.norms):
        assert norm > 1 if sensor in script.USEFUL else norm < 0.05


def test_the_same_seed_gives_the_same_losses(example):
    script = example("sparse_groups")

    assert script.train(10).losses == script.train(10).losses != script.train(10, seed=1).losses


@pytest.mark.parametrize("name", SCRIPTS)
def test_a_script_says_how_it_is_called_and_prints_a_loss_that_falls(example, name):
    script = example(name)
    runner = CliRunner()

    said = runner.invoke(script.app, ["--help"])
    assert said.exit_code == 0 and f"Example: python examples/{name}.py" in said.output

    ran = runner.invoke(script.app, ["--steps", "12"])
    assert ran.exit_code == 0, ran.output
    losses = [float(n) for n in re.findall(r"^step .*loss +(-?[\d.]+)$", ran.output, re.MULTILINE)]
    if name == "activations":  # a row for each network
        rows = [line.split() for line in ran.output.splitlines()[1:]]
        assert len(rows) == 5 and all(float(last) < float(first) for _, first, last, _ in rows)
    else:
        assert len(losses) >= 11 and losses[-1] < losses[0]


def test_every_layer_is_used_by_an_example():
    defined = set()
    for file in (EXAMPLES / "layers").glob("*.jl"):
        defined.update(re.findall(r"struct (\w+) <: CustomFunction", file.read_text(encoding="utf-8")))
    used = set()
    for name in SCRIPTS:
        used.update(
            re.findall(r'"ExampleLayers\.(\w+)"', (EXAMPLES / f"{name}.py").read_text(encoding="utf-8"))
        )

    assert defined == used and len(defined) == 13
