"""The Grad-CAM example: it runs, and its map is that of the formula."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import numpy as np

EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "grad_cam.py"


def test_the_example_saves_a_picture(tmp_path):
    path = tmp_path / "cam.png"
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), str(path)], capture_output=True, text=True, timeout=300, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stderr == ""
    assert "map of 4×4" in ran.stdout
    assert path.read_bytes().startswith(b"\x89PNG")


def test_the_map_is_that_of_the_formula_for_a_network_cut_in_two(pb, mx):
    spec = importlib.util.spec_from_file_location("grad_cam", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    mx.random.seed(4)
    net = mx.gluon.model_zoo.vision.resnet18_v1(prefix="net_")
    net.initialize(mx.init.Xavier())
    image = example.picture()
    cam, chosen = example.grad_cam(net, image, "stage3_activation1")

    split = [layer.prefix.endswith("stage3_") for layer in net.features].index(True) + 1
    middle = mx.nd.array(image[None])
    for layer in net.features[:split]:
        middle = layer(middle)
    middle = middle.detach()
    middle.attach_grad()
    with mx.autograd.record(train_mode=False):
        rest = middle
        for layer in net.features[split:]:
            rest = layer(rest)
        scores = net.output(rest)
    assert chosen == int(scores.asnumpy().argmax())
    head = mx.nd.one_hot(mx.nd.array([chosen]), scores.shape[1])
    scores.backward(head, train_mode=False)
    values, gradient = middle.asnumpy()[0], middle.grad.asnumpy()[0]
    expected = np.maximum((gradient.mean(axis=(1, 2))[:, None, None] * values).sum(axis=0), 0)
    np.testing.assert_allclose(cam, expected / expected.max(), rtol=1e-3, atol=1e-4)
