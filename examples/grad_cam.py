"""Grad-CAM of a model-zoo network, whose code is not touched: where in the image does the network look?

    python examples/grad_cam.py grad_cam.png

The class activation map of Selvaraju et al., "Grad-CAM: Visual Explanations from Deep Networks via Gradient-based
Localization" (ICCV 2017): the channels of the last convolutional stage, each weighted with the mean of the gradient of
the class's score, and of the sum what is positive. The weights are random, so the map shows that it works, no more.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import matplotlib as mpl
import numpy as np
import typer

import pybridge as pb  # before mxnet: it puts NumPy's old names back

import mxnet as mx  # isort: skip

mpl.use("Agg")  # a file is all that is wanted
import matplotlib.pyplot as plt  # isort: skip


def picture(size: int = 64) -> np.ndarray:
    """A bright disc on a dim gradient, as (3, size, size)."""
    rows, columns = np.mgrid[0:size, 0:size] / size
    disc = ((rows - 0.35) ** 2 + (columns - 0.6) ** 2 < 0.04).astype("float32")
    return np.stack([0.2 * rows + 0.8 * disc, 0.2 * columns + 0.5 * disc, 0.2 + 0.1 * disc]).astype("float32")


def grad_cam(net: Any, image: np.ndarray, layer: str) -> tuple[np.ndarray, int]:
    """The map of the class with the highest score, between 0 and 1, of the size of `layer`; and the class."""
    x = mx.nd.array(image[None])
    with pb.intermediates(net, layer) as values:
        with pb.record(train_mode=False):
            scores = net(x)
            chosen = int(scores.argmax(axis=1).asscalar())
            score = scores[0, chosen]
        pb.backward(score, train_mode=False)
    activation = values[layer]
    weights = activation.grad.mean(axis=(2, 3), keepdims=True)
    cam = mx.nd.relu((weights * activation.detach()).sum(axis=1))[0].asnumpy()
    return cam / max(float(cam.max()), 1e-12), chosen


def main(
    path: Annotated[Path, typer.Argument(help="The PNG to write.")] = Path("grad_cam.png"),
    layer: Annotated[
        str, typer.Option(help="Name of the activation; pb.internals lists them.")
    ] = "stage3_activation1",
    seed: Annotated[int, typer.Option(help="Seed of the random weights.")] = 1,
) -> None:
    """Save the image, its Grad-CAM map, and both together."""
    mx.random.seed(seed)
    net = mx.gluon.model_zoo.vision.resnet18_v1()
    net.initialize(mx.init.Xavier())
    image = picture()
    cam, chosen = grad_cam(net, image, layer)

    shown = np.clip(image.transpose(1, 2, 0), 0, 1)
    side = shown.shape[0]
    figure, axes = plt.subplots(1, 3, figsize=(9, 3.2))
    for axis, title in zip(axes, ("image", f"Grad-CAM of class {chosen}", "both")):
        axis.set_title(title)
        axis.axis("off")
    axes[0].imshow(shown)
    axes[1].imshow(cam, cmap="inferno", extent=(0, side, side, 0), interpolation="bilinear")
    axes[2].imshow(shown)
    axes[2].imshow(cam, cmap="inferno", alpha=0.5, extent=(0, side, side, 0), interpolation="bilinear")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    print(
        f"class {chosen}, map of {cam.shape[0]}×{cam.shape[1]} from {cam.min():.2f} to {cam.max():.2f}: {path}"
    )


if __name__ == "__main__":
    typer.run(main)
