"""A JuliaBlock as a side of the cross-check: its parameters matched by name, by a map, or positional in Python."""

from __future__ import annotations

import numpy as np
import pytest

DENSE = """
module CrosscheckBlocks
using PyBridge
mutable struct Dense <: CustomFunction
    x; w; wrong
    Dense(; wrong = false) = new(nothing, nothing, wrong)
end
PyBridge.forward(f::Dense, x, w, b) = (f.x = x; f.w = w; w' * x .+ b)
function PyBridge.backward(f::Dense, Δ)
    db = vec(sum(Δ; dims = 2))
    return f.w * Δ, f.x * Δ', f.wrong ? db ./ size(Δ, 2) : db
end
PyBridge.outputspec(::Dense, x, w, b) = ((length(b), size(x, 2)), eltype(x))
PyBridge.paramshapes(::Dense, x) = (weight = (x[1], 4), bias = (4,), kernel = (x[1], 4), shift = (4,))
end
"""


@pytest.fixture
def dense(pb):
    """Makes JuliaBlocks of a dense layer with 4 units."""
    pb.jl.seval("isdefined(Main, :CrosscheckBlocks)") or pb.jl.seval(DENSE)

    def make(weight="weight", bias="bias", initialize=True, **keywords):
        shapes = {weight: {"shape": (4, 0), "init": "normal"}, bias: {"shape": (4,), "init": "normal"}}
        block = pb.gluon.JuliaBlock("CrosscheckBlocks.Dense", params=shapes, **keywords)
        if initialize:
            block.initialize()
        return block

    return make


@pytest.fixture
def x():
    return np.random.default_rng(0).normal(size=(5, 3))


def test_parameters_of_two_blocks_are_matched_by_name(pb, mx, dense, x):
    net = mx.gluon.nn.Dense(4)
    net.initialize()

    report = pb.crosscheck(net, dense(), x)

    assert report.verdict == "agree", str(report)
    assert {"weight", "bias"} <= set(str(report).replace(",", " ").split())


@pytest.mark.parametrize("flags", [{}, {"static_alloc": True, "static_shape": True}])
def test_hybridized_blocks_are_compared_and_stay_hybridized(pb, mx, dense, x, flags):
    net, block = mx.gluon.nn.Dense(4), dense()
    for b in (net, block):
        b.initialize(force_reinit=True)
        b.hybridize(**flags)

    assert pb.crosscheck(net, block, x).verdict == "agree"
    assert net._active and block._active


def test_a_map_says_which_parameters_belong_together(pb, mx, dense, x):
    net, block = mx.gluon.nn.Dense(4), dense("kernel", "shift")
    net.initialize()

    with pytest.raises(
        ValueError, match=r"parameter weight of Python's block goes with 'weight'.*'kernel', 'shift'"
    ):
        pb.crosscheck(net, block, x)
    assert pb.crosscheck(net, block, x, params={"weight": "kernel", "bias": "shift"}).verdict == "agree"
    with pytest.raises(ValueError, match=r"params names \['weight'\]"):
        pb.crosscheck(net, block, x, params={"weight": "kernel"})


def test_a_wrong_gradient_of_a_parameter_is_julias(pb, mx, dense, x):
    net = mx.gluon.nn.Dense(4)
    net.initialize()

    report = pb.crosscheck(net, dense(wrong=True), x)

    assert report.verdict == "Julia wrong"
    assert "bias" in str(report)


def test_a_python_function_gets_the_parameters_after_the_inputs(pb, mx, dense, x):
    def function(x, w, b):
        return mx.nd.FullyConnected(x, w, b, num_hidden=4)

    assert pb.crosscheck(function, dense(), x).verdict == "agree"


def test_a_block_is_checked_alone_against_numbers(pb, dense, x):
    assert pb.crosscheck(None, dense(), x).verdict == "agree"
    assert pb.crosscheck(None, dense(wrong=True), x).verdict == "Julia wrong"


def test_values_of_the_parameters_are_those_from_before(pb, mx, dense, x):
    net, block = mx.gluon.nn.Dense(4), dense()
    net.initialize()
    block(mx.nd.array(x))
    before = block.weight.data().asnumpy()

    pb.crosscheck(net, block, x)

    assert (block.weight.data().asnumpy() == before).all()
    assert block.weight.grad().shape == (4, 3)


def test_shapes_that_differ_and_missing_values_are_told(pb, mx, dense, x):
    net = mx.gluon.nn.Dense(2)
    net.initialize()
    with pytest.raises(
        ValueError, match=r"weight has shape \(2, 3\) in Python's block and \(4, 3\) in Julia's"
    ):
        pb.crosscheck(net, dense(), x)
    with pytest.raises(ValueError, match=r"weight of juliablock\d+ has no values; call initialize\(\) first"):
        pb.crosscheck(None, dense(initialize=False), x)
