"""The demo learns, compares honestly, and says what is wrong before it starts."""

from __future__ import annotations

import io
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("sklearn", reason="the demo's data: pip install -e '.[demo]'")


@pytest.fixture
def demo(pb: ModuleType) -> ModuleType:
    from pybridge import demo

    return demo


def test_demo_learns_the_digits_and_agrees_with_mxnet_on_every_gradient(
    demo: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "demo.png"

    assert demo.run(out=out) == 0

    printed = capsys.readouterr().out
    accuracy = float(printed.split("Test accuracy: ")[1].split("%")[0])
    assert accuracy > 95
    for parameter in ("juliadense0_weight", "juliadense0_bias", "dense0_weight", "dense0_bias"):
        assert parameter in printed
    assert "NO" not in printed
    png = out.read_bytes()
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = (int.from_bytes(png[start : start + 4], "big") for start in (16, 20))
    assert width > 1000
    assert height > 400


def test_float64_gradients_agree_to_one_part_in_a_billion(demo: ModuleType, tmp_path: Path) -> None:
    assert demo.run(epochs=1, seed=3, out=tmp_path / "demo.png", dtype="float64") == 0


def test_same_seed_gives_the_same_training(demo: ModuleType) -> None:
    from rich.console import Console

    def losses() -> list[float]:
        digits = demo.Digits.load(5, "float64")
        network = demo.julia_network(5, "float64")
        return demo.train(network, digits, 1, 5, Console(file=io.StringIO())).steps

    assert losses() == pytest.approx(losses(), rel=1e-12)


def test_wrong_gradient_in_julia_makes_the_demo_fail(
    pb: ModuleType,
    demo: ModuleType,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pb.jl.seval(
        """
        module SlightlyWrong
        using PyBridge
        mutable struct JuliaSwish <: CustomFunction
            x
            JuliaSwish(; beta = 1) = new()
        end
        σ(z) = 1 / (1 + exp(-z))
        PyBridge.forward(f::JuliaSwish, x) = (f.x = x; x .* σ.(x))
        PyBridge.backward(f::JuliaSwish, Δ) = Δ .* (σ.(f.x) .+ f.x .* σ.(f.x) .* (1 .- σ.(f.x))) .* 1.001f0
        end
        """
    )
    right = demo._layer

    def layer(name: str, **kwargs: Any) -> Any:
        return pb.function("SlightlyWrong.JuliaSwish") if name == "JuliaSwish" else right(name, **kwargs)

    monkeypatch.setattr(demo, "_layer", layer)

    assert demo.run(epochs=1, out=tmp_path / "demo.png") == 1

    last = " ".join(capsys.readouterr().out.split("Picture")[-1].split())
    assert "juliadense0_weight" in last
    assert "juliadense0_bias" in last
    assert "disagree" in last
    # What lies behind the wrong layer is not touched by it.
    assert ", dense0" not in last


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"epochs": 0}, "epochs must be at least 1, got 0"),
        ({"dtype": "float16"}, "dtype must be one of float32, float64, got 'float16'"),
        ({"out": Path("no", "such", "folder", "x.png")}, "there is no folder"),
    ],
)
def test_arguments_out_of_range_are_refused_before_the_training(
    demo: ModuleType, arguments: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "train", lambda *args: pytest.fail("trained all the same"))

    with pytest.raises(ValueError, match=message):
        demo.run(**arguments)


def test_missing_extras_are_named_with_the_command_that_installs_them(
    demo: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        demo.importlib.util, "find_spec", lambda name: None if name == "sklearn" else object()
    )

    with pytest.raises(ImportError, match=r"needs sklearn.*pip install 'mxnet-pybridge\[demo\]'"):
        demo.run(out=tmp_path / "demo.png")


def test_comparison_counts_nan_as_infinitely_wrong(demo: ModuleType) -> None:
    import numpy as np

    nan = demo.GradientComparison("w", (2,), np.array([1.0, np.nan]), np.array([1.0, 2.0]))
    apart = demo.GradientComparison("w", (2,), np.array([1.0, 2.5]), np.array([1.0, 2.0]))

    assert nan.error == float("inf")
    assert apart.error == pytest.approx(0.25)
