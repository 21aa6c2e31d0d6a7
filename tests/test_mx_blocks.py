"""Gluon blocks around Julia functions that want their arguments as `mx.NDArray`s."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from gluon_blocks import WAYS, X, gradients, hybridize, step

Y = 1 + X * X
W = np.array([2.0, -1.0, 0.5])


@pytest.fixture(autouse=True, scope="module")
def julia_layers(pb: ModuleType) -> None:
    """Layers on NDArrays with two results of different shapes, with an outputspec and without."""
    pb.jl.seval(
        """
        module OnNDArrays
        using PyBridge
        const mx = PyBridge.mx

        abstract type Several <: CustomFunction end
        PyBridge.argkind(::Type{<:Several}) = :ndarray
        function PyBridge.forward(f::Several, a, b, w)
            all(x -> x isa mx.NDArray, (a, b, w)) || error("expected NDArrays")
            f.a, f.b, f.w = a, b, w
            return (a .* w .+ b, sum(a .* b; dims = 1))
        end
        function PyBridge.backward(f::Several, Δ, Δsum)
            all(x -> x isa mx.NDArray, (Δ, Δsum)) || error("expected NDArrays")
            return (Δ .* f.w .+ Δsum .* f.b, Δ .+ Δsum .* f.a, reshape(sum(Δ .* f.a; dims = 2), length(f.w)))
        end
        PyBridge.paramshapes(::Several, a, b) = (weight = (a[1],),)

        mutable struct Specified <: Several
            a; b; w
            Specified() = new()
        end
        PyBridge.outputspec(::Specified, a, b, w) = ((size(a), eltype(a)), ((1, size(a, 2)), eltype(a)))

        mutable struct Probed <: Several
            a; b; w
            Probed() = new()
        end

        # The argument itself, one that nobody may ask for, and a sum that is a number in Julia.
        mutable struct Mixed <: CustomFunction
            x
            Mixed() = new()
        end
        PyBridge.argkind(::Type{Mixed}) = :ndarray
        PyBridge.forward(f::Mixed, x) = (f.x = x; (x, x .* x, sum(x)))
        PyBridge.backward(f::Mixed, Δ, Δsquare, Δsum) = Δ .+ 2 .* f.x .* Δsquare .+ Δsum
        end
        """
    )


@pytest.fixture(params=list(WAYS))
def way(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=["Specified", "Probed"])
def layer(request: pytest.FixtureRequest, pb: ModuleType, mx: ModuleType) -> Any:
    layer = pb.gluon.JuliaBlock(f"OnNDArrays.{request.param}", params={"weight": (0,)}, outputs=2)
    layer.initialize(mx.init.Constant(W))
    return layer


def leaves(mx: ModuleType, *values: Any, dtype: str = "float32", grad_req: str = "write") -> list[Any]:
    made = [mx.nd.array(v, dtype=dtype) for v in values]
    for x in made:
        x.attach_grad(grad_req)
    return made


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_several_results_and_their_gradients_are_right(pb, mx, layer, way, dtype):
    layer.cast(dtype)
    net = hybridize(layer, way)
    a, b = leaves(mx, X, Y, dtype=dtype)

    for _ in range(3):
        scaled, sums = step(pb, net, a, b)

        assert scaled.dtype == sums.dtype == dtype
        np.testing.assert_allclose(scaled, X * W + Y, rtol=1e-6)
        np.testing.assert_allclose(sums, (X * Y).sum(axis=1, keepdims=True), rtol=1e-6)
        # The head gradients are 1 and 2.
        np.testing.assert_allclose(a.grad.asnumpy(), W + 2 * Y, rtol=1e-6)
        np.testing.assert_allclose(b.grad.asnumpy(), 1 + 2 * X, rtol=1e-6)
        np.testing.assert_allclose(gradients(net)["weight"], X.sum(axis=0), rtol=1e-6)


@pytest.mark.parametrize(
    ("used", "right"), [(0, (W + 0 * X, 1 + 0 * X)), (1, (Y, X))], ids=["the first", "the second"]
)
def test_a_result_that_nobody_uses_has_the_gradient_zero(pb, mx, layer, way, used, right):
    net = hybridize(layer, way)
    a, b = leaves(mx, X, Y)

    with pb.record():
        y = net(a, b)[used].sum()
    y.backward()

    for x, expected in zip((a, b), right):
        np.testing.assert_allclose(x.grad.asnumpy(), expected, rtol=1e-6)


def test_gradients_add_up_and_are_skipped_as_asked_for(pb, mx, layer, way):
    net = hybridize(layer, way)
    (a,), (b,) = leaves(mx, X, grad_req="add"), leaves(mx, Y, grad_req="null")

    for _ in range(2):
        step(pb, net, a, b)

    np.testing.assert_allclose(a.grad.asnumpy(), 2 * (W + 2 * Y), rtol=1e-6)
    assert b.grad is None


def test_between_native_operators_and_other_shapes_afterwards(pb, mx, layer, way):
    class Net(mx.gluon.HybridBlock):
        def __init__(self) -> None:
            super().__init__()
            with self.name_scope():
                self.layer = layer

        def hybrid_forward(self, F, x):
            scaled, sums = self.layer(x * 2, x)
            return F.broadcast_mul(scaled, sums)

    net = hybridize(Net(), way)
    for values in (X, np.concatenate([X, 2 * X]), X):
        (x,) = leaves(mx, values)

        (y,) = step(pb, net, x)

        sums = 2 * (values**2).sum(axis=1, keepdims=True)
        factors = 2 * W + 1
        np.testing.assert_allclose(y, values * factors * sums, rtol=1e-5)
        of_sums = 4 * values * (values * factors).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(x.grad.asnumpy(), factors * sums + of_sums, rtol=1e-5)


def test_an_argument_and_a_number_can_be_among_the_results(pb, mx, way):
    net = hybridize(pb.gluon.JuliaBlock("OnNDArrays.Mixed", outputs=3), way)
    (x,) = leaves(mx, X)

    for _ in range(2):
        same, square, total = step(pb, net, x)

        np.testing.assert_array_equal(same, X)
        np.testing.assert_array_equal(square, X * X)
        np.testing.assert_allclose(total, [X.sum()], rtol=1e-6)
        np.testing.assert_allclose(x.grad.asnumpy(), 1 + 2 * 2 * X + 3, rtol=1e-6)


def test_mx_np_arrays_give_mx_np_arrays(pb, mx, layer, way):
    with mx.util.np_shape(True), mx.util.np_array(True):
        net = hybridize(layer, way)
        a, b = mx.np.array(X, dtype="float32"), mx.np.array(Y, dtype="float32")
        a.attach_grad()

        with pb.record():
            scaled, sums = net(a, b)
            y = scaled.sum() + 2 * sums.sum()
        y.backward()

        assert isinstance(scaled, mx.np.ndarray) and isinstance(sums, mx.np.ndarray)
        np.testing.assert_allclose(sums.asnumpy(), (X * Y).sum(axis=1, keepdims=True), rtol=1e-6)
        np.testing.assert_allclose(a.grad.asnumpy(), W + 2 * Y, rtol=1e-6)
