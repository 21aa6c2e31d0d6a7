"""The demonstration: a Gluon network with layers written in Julia learns handwritten digits.

After the training every gradient is compared with that of the same network made of MXNet's own operators.
Everything here is what a user of pybridge writes: Gluon blocks around ``pybridge.function``, ordinary Gluon
parameters, an ordinary ``gluon.Trainer``. The Julia side is ``examples/digits_layers.jl``.
"""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import mxnet as mx
import numpy as np
from mxnet import gluon
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from . import autograd
from ._crosscheck import Report, crosscheck
from .functions import JuliaFunction, function
from .julia import include
from .testing import inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray as Array

UNITS = 128
CLASSES = 10
BATCH = 32

TOLERANCE = {"float32": 1e-4, "float64": 1e-9}
"""Largest relative difference of a gradient that is still rounding, by dtype."""


class JuliaDense(gluon.Block):
    """A dense layer computed in Julia, with ordinary Gluon parameters.

    Arguments:
        units: number of outputs.
        in_units: number of inputs.

    Called on an NDArray of shape ``(batch, in_units)`` it returns one of shape ``(batch, units)``.
    """

    def __init__(self, units: int, in_units: int, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._function = _layer("JuliaDense")
        with self.name_scope():
            self.weight = self.params.get("weight", shape=(units, in_units))
            self.bias = self.params.get("bias", shape=(units,), init="zeros")

    def forward(self, x: mx.nd.NDArray) -> mx.nd.NDArray:
        """Apply the layer to a batch."""
        return self._function(x, self.weight.data(), self.bias.data())


class JuliaSwish(gluon.Block):
    """The activation ``x * sigmoid(beta * x)`` computed in Julia.

    Arguments:
        beta: steepness, passed to Julia as a keyword argument.
    """

    def __init__(self, beta: float = 1.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._function = _layer("JuliaSwish", beta=beta)

    def forward(self, x: mx.nd.NDArray) -> mx.nd.NDArray:
        """Apply the activation elementwise."""
        return self._function(x)


@dataclass(frozen=True)
class Digits:
    """scikit-learn's bundled scans of handwritten digits, 8 x 8 grey values in 0 to 1, as rows of 64."""

    train_x: Array[Any]
    train_y: Array[Any]
    test_x: Array[Any]
    test_y: Array[Any]

    @classmethod
    def load(cls, seed: int, dtype: str) -> Digits:
        """Split the 1,797 scans: four fifths to train on, one to test on, all digits in equal parts."""
        from sklearn.datasets import load_digits
        from sklearn.model_selection import train_test_split

        x, y = load_digits(return_X_y=True)
        parts = train_test_split(x / 16, y, test_size=0.2, random_state=seed, stratify=y)
        train_x, test_x, train_y, test_y = (part.astype(dtype) for part in parts)
        return cls(train_x, train_y, test_x, test_y)

    def batches(self, order: np.random.Generator) -> Iterator[tuple[mx.nd.NDArray, mx.nd.NDArray]]:
        """One epoch: the training set in random order, in batches."""
        rows = order.permutation(len(self.train_x))
        for start in range(0, len(rows), BATCH):
            batch = rows[start : start + BATCH]
            yield _ndarray(self.train_x[batch]), _ndarray(self.train_y[batch])


@dataclass(frozen=True)
class GradientComparison:
    """One parameter's gradient, from the network with Julia layers and from MXNet's operators."""

    name: str
    shape: tuple[int, ...]
    julia: Array[Any]
    mxnet: Array[Any]

    @property
    def error(self) -> float:
        """The largest difference, relative to the largest entry of MXNet's gradient."""
        scale = float(np.abs(self.mxnet).max())
        error = float(np.abs(self.julia - self.mxnet).max()) / (scale or 1.0)
        return error if np.isfinite(error) else float("inf")


@dataclass(frozen=True)
class History:
    """The loss of every step, and loss and accuracy on the test set after every epoch."""

    steps: list[float]
    test_loss: list[float]
    test_accuracy: list[float]


def run(
    epochs: int = 30, seed: int = 0, out: str | Path = "pybridge-demo.png", dtype: str = "float32"
) -> int:
    """Train, compare, draw.

    Arguments:
        epochs: passes over the training set, at least 1.
        seed: fixes the split, the first weights and the order of the batches.
        out: where the picture (PNG) goes; its folder must exist.
        dtype: ``"float32"`` or ``"float64"``.

    Returns:
        An exit status: 0, or 1 when some gradient differs from MXNet's by more than 1e-4 (float32) or 1e-9
        (float64) of its largest entry, or a Julia layer is not the function that MXNet's operators are.

    Raises:
        ValueError: for an argument out of range.
        ImportError: when scikit-learn or matplotlib is missing; the message says how to install them.
    """
    out = Path(out)
    if epochs < 1:
        raise ValueError(f"epochs must be at least 1, got {epochs}")
    if dtype not in TOLERANCE:
        raise ValueError(f"dtype must be one of {', '.join(TOLERANCE)}, got {dtype!r}")
    if not out.resolve().parent.is_dir():
        raise ValueError(f"the picture cannot be saved: there is no folder {out.resolve().parent}")
    _require_extras()

    console = Console()
    console.print("Starting Julia …")
    network = julia_network(seed, dtype)
    digits = Digits.load(seed, dtype)
    console.print(
        f"{len(digits.train_x)} scans of handwritten digits to learn from, {len(digits.test_x)} to be tested "
        "on. The hidden layer and its activation run in Julia."
    )
    history = train(network, digits, epochs, seed, console)
    console.print(f"Test accuracy: [bold]{history.test_accuracy[-1]:.2%}[/bold]")

    reports = crosscheck_layers(seed)
    for report in reports:
        console.print(f"{report.names}, in values and gradients: {report.verdict}", highlight=False)
    comparisons = compare_gradients(network, digits)
    console.print(_table(comparisons, TOLERANCE[dtype]))
    draw(history, comparisons, out)
    console.print(f"Picture: {out}")

    apart = [comparison.name for comparison in comparisons if not comparison.error <= TOLERANCE[dtype]]
    if apart:
        console.print(f"[bold red]The languages disagree on the gradient of {', '.join(apart)}.[/bold red]")
    for report in reports:
        if not report:
            console.print(report)
    if apart or not all(reports):
        return 1
    console.print("[green]Julia and MXNet agree on every gradient.[/green]")
    return 0


def julia_network(seed: int, dtype: str) -> gluon.Block:
    """64 inputs, a dense layer and Swish in Julia, and a native dense layer for the ten classes."""
    mx.random.seed(seed)
    network = gluon.nn.Sequential(prefix="demo_")
    with network.name_scope():
        network.add(JuliaDense(UNITS, 64), JuliaSwish(), gluon.nn.Dense(CLASSES, in_units=UNITS))
    network.cast(dtype)
    network.initialize(mx.init.Xavier())
    return network


def mxnet_network(weights: gluon.Block) -> gluon.Block:
    """The same network in MXNet's own operators, with the same weights."""
    network = gluon.nn.Sequential(prefix="demo_")
    with network.name_scope():
        network.add(
            gluon.nn.Dense(UNITS, in_units=64), gluon.nn.Swish(), gluon.nn.Dense(CLASSES, in_units=UNITS)
        )
    ours = weights.collect_params().values()
    network.cast(next(iter(ours)).dtype)
    network.initialize()
    for theirs, mine in zip(network.collect_params().values(), ours):
        theirs.set_data(mine.data())
    return network


def train(network: gluon.Block, digits: Digits, epochs: int, seed: int, console: Console) -> History:
    """A plain Gluon training loop: nothing in it knows of Julia."""
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    trainer = gluon.Trainer(network.collect_params(), "adam", {"learning_rate": 3e-3})
    order = np.random.default_rng(seed)
    history = History([], [], [])
    columns = (
        TextColumn("Training"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("epochs"),
        TextColumn("loss {task.fields[loss]}"),
        TextColumn("test accuracy {task.fields[accuracy]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("train", total=epochs, loss="–", accuracy="–")
        for _ in range(epochs):
            for x, y in digits.batches(order):
                with autograd.record():
                    loss = loss_of(network(x), y)
                loss.backward()
                trainer.step(len(x))
                history.steps.append(float(loss.mean().asscalar()))
                progress.update(task, loss=f"{history.steps[-1]:.4f}")
            test_loss, accuracy = evaluate(network, digits)
            history.test_loss.append(test_loss)
            history.test_accuracy.append(accuracy)
            progress.update(task, advance=1, accuracy=f"{accuracy:.2%}")
    return history


def evaluate(network: gluon.Block, digits: Digits) -> tuple[float, float]:
    """Mean loss and accuracy on the test set."""
    x, y = _ndarray(digits.test_x), _ndarray(digits.test_y)
    scores = network(x)
    loss = gluon.loss.SoftmaxCrossEntropyLoss()(scores, y).mean().asscalar()
    return float(loss), float((scores.asnumpy().argmax(axis=1) == digits.test_y).mean())


def compare_gradients(network: gluon.Block, digits: Digits) -> list[GradientComparison]:
    """The gradients of the test set's loss, of every parameter, from Julia's network and from MXNet's."""
    x, y = _ndarray(digits.test_x), _ndarray(digits.test_y)
    loss_of = gluon.loss.SoftmaxCrossEntropyLoss()
    twin = mxnet_network(network)
    for each in (network, twin):
        with autograd.record():
            loss = loss_of(each(x), y).mean()
        loss.backward()
    ours, theirs = (each.collect_params().items() for each in (network, twin))
    return [
        GradientComparison(name.replace("demo_", ""), p.shape, p.grad().asnumpy(), q.grad().asnumpy())
        for (name, p), (_, q) in zip(ours, theirs)
    ]


def crosscheck_layers(seed: int) -> list[Report]:
    """Each Julia layer against MXNet's operators and against derivatives by numbers, on small random inputs."""

    def dense(x: Any, weight: Any, bias: Any) -> Any:
        return mx.nd.FullyConnected(x, weight, bias, num_hidden=bias.shape[0])

    def swish(x: Any) -> Any:
        return x * mx.nd.sigmoid(x)

    shapes = ((5, 4), (3, 4), (3,))
    arguments = [inputs(shape, seed=seed + i) for i, shape in enumerate(shapes)]
    return [
        crosscheck(dense, _layer("JuliaDense"), arguments, seed=seed),
        crosscheck(swish, _layer("JuliaSwish"), [inputs((5, 4), -3, 3, seed=seed)], seed=seed),
    ]


def draw(history: History, comparisons: Sequence[GradientComparison], out: Path) -> None:
    """Save the loss curve, and Julia's gradients against MXNet's, as one PNG."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    left, right = figure.subplots(1, 2)

    epochs = len(history.test_loss)
    position = np.linspace(0, epochs, len(history.steps) + 1)[1:]
    left.semilogy(position, history.steps, color="#b8c4d6", linewidth=0.8, label="training, every step")
    left.semilogy(
        range(1, epochs + 1), history.test_loss, "o-", color="#1f4e9c", markersize=3, label="test set"
    )
    left.xaxis.set_major_locator(MaxNLocator(integer=True))
    left.set(xlabel="epoch", ylabel="cross-entropy loss", xlim=(0, epochs))
    left.set_title(f"Digits with Julia layers: test accuracy {history.test_accuracy[-1]:.1%}")
    left.legend(frameon=False)

    largest = max(float(np.abs(comparison.mxnet).max()) for comparison in comparisons) or 1.0
    right.plot([-largest, largest], [-largest, largest], color="#999999", linewidth=0.8, zorder=0)
    # The largest parameters first, so that the small ones are not hidden beneath them.
    for comparison in sorted(comparisons, key=lambda each: -each.mxnet.size):
        label = f"{comparison.name}  (error {comparison.error:.0e})"
        right.plot(
            comparison.mxnet.ravel(), comparison.julia.ravel(), "o", markersize=3.5, alpha=0.7, label=label
        )
    right.set(xlabel="gradient from MXNet's operators", ylabel="gradient with Julia layers", aspect="equal")
    right.set_title("Every gradient, in both languages")
    right.legend(frameon=False, fontsize="small")

    for axes in (left, right):
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(out, dpi=130)


@functools.cache
def _load_layers() -> None:
    # Once: including the file again would replace the module under layers that are already in use.
    include(examples() / "digits_layers.jl")


def _layer(name: str, **kwargs: Any) -> JuliaFunction:
    _load_layers()
    return function(f"DigitsLayers.{name}", **kwargs)


def examples() -> Path:
    """The folder of the example files: in the package when installed from a wheel, else the checkout's."""
    package = Path(__file__).resolve().parent
    for folder in (package / "_examples", package.parent / "examples"):
        if (folder / "digits_layers.jl").is_file():
            return folder
    raise FileNotFoundError(
        f"the demo's Julia file is neither in {package / '_examples'} nor in {package.parent / 'examples'}: "
        "the installation is incomplete. Reinstall mxnet-pybridge."
    )


def _ndarray(values: Array[Any]) -> mx.nd.NDArray:
    return mx.nd.array(values, dtype=values.dtype)


def _require_extras() -> None:
    missing = [name for name in ("matplotlib", "sklearn") if importlib.util.find_spec(name) is None]
    if missing:
        raise ImportError(
            f"the demo needs {' and '.join(missing)}, not installed here: pip install 'mxnet-pybridge[demo]'"
        )


def _table(comparisons: Sequence[GradientComparison], tolerance: float) -> Table:
    table = Table(title="Gradients of the same network: Julia layers against MXNet's operators")
    table.add_column("parameter")
    table.add_column("shape")
    table.add_column("largest entry", justify="right")
    table.add_column("max relative error", justify="right")
    table.add_column(f"≤ {tolerance:.0e}", justify="center")
    for each in comparisons:
        good = each.error <= tolerance
        table.add_row(
            each.name,
            " × ".join(map(str, each.shape)),
            f"{np.abs(each.mxnet).max():.3g}",
            f"{each.error:.2e}",
            "[green]yes[/green]" if good else "[bold red]NO[/bold red]",
        )
    return table
