"""Where gradients come from: a layer's own backward, a ChainRules rrule, an AD module; structs through them."""

from __future__ import annotations

import mxnet as mx
import numpy as np
import pytest

import pybridge as pb


@pytest.fixture(scope="module")
def jl(stand_ins):
    """Main, with ChainRulesCore, Zygote, Flux and Lux loaded."""
    main = pb.jl
    main.seval("using ChainRulesCore, Zygote, Flux, Lux")
    main.seval("""
    module Sources
    using ChainRulesCore, PyBridge, Zygote
    cube(x) = x .^ 3
    const calls = Ref(0)
    function ChainRulesCore.rrule(::typeof(cube), x)
        calls[] += 1
        return cube(x), Δ -> (NoTangent(), @thunk(3 .* x .^ 2 .* unthunk(Δ)))
    end
    scaled(x, by) = x .* by
    ChainRulesCore.rrule(::typeof(scaled), x, by) = scaled(x, by), Δ -> (NoTangent(), Δ .* by, ZeroTangent())
    minmax(x) = (minimum(x), maximum(x))
    function ChainRulesCore.rrule(::typeof(minmax), x)
        function back(Δ)
            g = zero(x)
            g[argmin(x)] += Δ[1]
            g[argmax(x)] += Δ[2]
            return NoTangent(), g
        end
        return minmax(x), back
    end
    square(x) = x .^ 2                      # no rule
    affine(x, w, b) = w * x .+ b            # no rule
    promoted(x) = 2.0 .* x
    ChainRulesCore.rrule(::typeof(promoted), x) = Float32.(promoted(x)), Δ -> (NoTangent(), 2.0 .* Δ)

    struct Quadratic
        a::Vector{Float32}
        name::String
    end
    (q::Quadratic)(x) = q.a .* x .^ 2
    function ChainRulesCore.rrule(q::Quadratic, x)
        back(Δ) = (Tangent{typeof(q)}(a = vec(sum(Δ .* x .^ 2; dims = 2))), 2 .* q.a .* x .* Δ)
        return q(x), back
    end
    struct Pair2
        first::Quadratic
        rest::Tuple{Quadratic,Int}
    end
    (p::Pair2)(x) = p.rest[1](p.first(x))
    mutable struct Tied
        a::Vector{Float32}
        b::Vector{Float32}
    end

    mutable struct NoBackward <: CustomFunction
        by
        NoBackward(; by = 2) = new(by)
    end
    PyBridge.forward(f::NoBackward, x) = f.by .* x .^ 2
    end
    """)
    return main


def gradient(f, *arrays):
    """The value of `f` at `arrays`, and the gradients of its sum."""
    for a in arrays:
        a.attach_grad()
    with mx.autograd.record():
        y = f(*arrays)
        total = y.sum()
    total.backward()
    return y.asnumpy(), *[a.grad.asnumpy() for a in arrays]


X = np.array([[1, -2, 3], [0.5, 0, -1]], dtype="float32")


def test_an_rrule_gives_the_gradient_thunks_and_all(jl):
    before = jl.Sources.calls[()]
    y, dx = gradient(pb.function("Sources.cube"), mx.nd.array(X))
    assert (y == X**3).all()
    assert (dx == 3 * X**2).all()
    assert jl.Sources.calls[()] == before + 1


def test_an_rrule_is_not_asked_when_nothing_is_recorded(jl):
    before = jl.Sources.calls[()]
    assert (pb.function("Sources.cube")(mx.nd.array(X)).asnumpy() == X**3).all()
    assert jl.Sources.calls[()] == before


def test_a_zero_tangent_is_zero(jl):
    by = mx.nd.array([[2.0, 3, 4], [5, 6, 7]])
    _, dx, dby = gradient(pb.function("Sources.scaled"), mx.nd.array(X), by)
    assert (dx == by.asnumpy()).all()
    assert (dby == 0).all()


def test_several_results_arrive_as_one_tangent_of_a_tuple(jl):
    x = mx.nd.array([3.0, 1, 2])
    x.attach_grad()
    with mx.autograd.record():
        low, high = pb.function("Sources.minmax")(x)
        total = 10 * low + 100 * high
    total.backward()
    assert (low.asscalar(), high.asscalar()) == (1, 3)
    assert x.grad.asnumpy().tolist() == [100, 10, 0]


def test_a_promoted_tangent_is_projected_to_the_type_of_the_argument(jl):
    _, dx = gradient(pb.function("Sources.promoted"), mx.nd.array(X))
    assert dx.dtype == np.float32
    assert (dx == 2).all()


@pytest.mark.parametrize("by_name", [True, False])
def test_an_ad_module_differentiates_what_has_no_rule(jl, by_name):
    ad = "Zygote" if by_name else jl.Zygote
    y, dx = gradient(pb.function("Sources.square", ad=ad), mx.nd.array(X))
    assert (y == X**2).all()
    assert (dx == 2 * X).all()


def test_an_ad_module_differentiates_several_arguments(jl):
    w, b = np.array([[1, 2, 3], [4, 5, 6]], "float32"), np.array([1, 2], "float32")
    f = pb.function("Sources.affine", ad="Zygote", layout="python")
    x = np.array([[1.0, 2], [3, 4], [5, 6]], "float32")
    y, dx, dw, db = gradient(f, mx.nd.array(x), mx.nd.array(w), mx.nd.array(b))
    np.testing.assert_array_equal(y, w @ x + b[:, None])
    np.testing.assert_array_equal(dx, w.T @ np.ones((2, 2)))
    np.testing.assert_array_equal(dw, np.ones((2, 2)) @ x.T)
    np.testing.assert_array_equal(db, [2, 2])


def test_the_rule_goes_before_the_ad_module(jl):
    before = jl.Sources.calls[()]
    gradient(pb.function("Sources.cube", ad="Zygote"), mx.nd.array(X))
    assert jl.Sources.calls[()] == before + 1


def test_a_custom_function_without_a_backward_is_differentiated_through_its_forward(jl):
    f = pb.function("Sources.NoBackward", ad="Zygote", by=3)
    y, dx = gradient(f, mx.nd.array(X))
    assert (y == 3 * X**2).all()
    assert (dx == 6 * X).all()


def test_with_nothing_the_error_says_what_was_looked_for(jl):
    f = pb.function("Sources.square")
    x = mx.nd.array(X)
    x.attach_grad()
    with pytest.raises(TypeError) as error, mx.autograd.record():
        f(x)
    for part in ("Sources.square", "CustomFunction", "rrule", "ad=pb.jl.Zygote", "pullback=True"):
        assert part in str(error.value)
    f = pb.function("Sources.NoBackward")
    with (
        pytest.raises(TypeError, match=r"PyBridge\.backward has no method for .*NoBackward"),
        mx.autograd.record(),
    ):
        f(x)


def test_pullback_and_ad_exclude_each_other(jl):
    with pytest.raises(ValueError, match="function: pullback=True and ad="):
        pb.function("Sources.square", pullback=True, ad="Zygote")
    with pytest.raises(ValueError, match="function: ad 'no name' is no dotted Julia name"):
        pb.function("Sources.square", ad="no name")


def test_an_ad_module_that_is_not_there_is_named(jl):
    x = mx.nd.array(X)
    x.attach_grad()
    with (
        pytest.raises(ValueError, match=r"Sources\.square: ad: there is no Nowhere in Main"),
        mx.autograd.record(),
    ):
        pb.function("Sources.square", ad="Nowhere")(x)


# ---- structs --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("hybrid", [False, True])
def test_a_struct_hands_over_its_fields_and_an_rrule_gives_their_gradients(jl, hybrid):
    block = pb.gluon.JuliaBlock(jl.seval('Sources.Quadratic(Float32[1, 2, 3], "q")'))
    block.initialize()
    if hybrid:
        block.hybridize()
    assert list(block.collect_params()) == [block.prefix + "a"]
    x = mx.nd.array(X)
    y, dx = gradient(block, x)
    a = np.array([1, 2, 3], "float32")
    np.testing.assert_array_equal(y, a * X**2)
    np.testing.assert_array_equal(dx, 2 * a * X)
    np.testing.assert_array_equal(block.a.grad().asnumpy(), (X**2).sum(0))


@pytest.mark.parametrize("hybrid", [False, True])
def test_nested_structs_have_dotted_names(jl, hybrid):
    block = pb.gluon.JuliaBlock(
        jl.seval(
            """Sources.Pair2(Sources.Quadratic(Float32[1, 2, 3], ""), (Sources.Quadratic(Float32[4, 5, 6], ""), 7))"""
        ),
        ad="Zygote",
    )
    block.initialize()
    if hybrid:
        block.hybridize()
    assert [p.removeprefix(block.prefix) for p in block.collect_params()] == ["first.a", "rest.1.a"]
    y, dx = gradient(block, mx.nd.array(X))
    a, b = np.array([1, 2, 3], "float32"), np.array([4, 5, 6], "float32")
    inner = a * X**2
    np.testing.assert_allclose(y, b * inner**2, rtol=1e-6)
    np.testing.assert_allclose(dx, 2 * b * inner * 2 * a * X, rtol=1e-6)
    params = block.collect_params()
    np.testing.assert_allclose(
        params[block.prefix + "first.a"].grad().asnumpy(), (2 * b * inner * X**2).sum(0), rtol=1e-6
    )
    np.testing.assert_allclose(
        params[block.prefix + "rest.1.a"].grad().asnumpy(), (inner**2).sum(0), rtol=1e-6
    )


def test_arrays_that_two_fields_share_are_refused(jl):
    with pytest.raises(ValueError, match=r"the fields a and b of .*Tied are one array"):
        pb.gluon.JuliaBlock(jl.seval("(w = Float32[1]; Sources.Tied(w, w))"))


def test_a_flux_layer_trains_as_a_gluon_block(jl):
    block = pb.gluon.JuliaBlock(
        jl.seval("Flux.Chain(Flux.Dense(3 => 4, tanh), Flux.Dense(4 => 1))"), ad="Zygote"
    )
    block.initialize()
    assert len(list(block.collect_params())) == 4
    rng = np.random.default_rng(0)
    x = mx.nd.array(rng.normal(size=(16, 3)))
    target = mx.nd.array(x.asnumpy() @ [[1.0], [-2], [0.5]])
    trainer = mx.gluon.Trainer(block.collect_params(), "adam", {"learning_rate": 0.05})
    losses = []
    for _ in range(60):
        with mx.autograd.record():
            loss = ((block(x) - target) ** 2).mean()
        loss.backward()
        trainer.step(1)
        losses.append(loss.asscalar())
    assert losses[-1] < 0.05 * losses[0]


def test_a_lux_layer_is_a_function_of_its_parameters(jl):
    jl.seval("""
    module Luxed
    import Lux, Random
    const layer = Lux.Dense(3 => 2, tanh)
    const state = Lux.setup(Random.MersenneTwister(1), layer)[2]
    dense(x, weight, bias) = first(layer(x, (weight = weight, bias = bias), state))
    end
    """)
    block = pb.gluon.JuliaBlock("Luxed.dense", params={"weight": (3, 2), "bias": (2,)}, ad="Zygote")
    block.initialize(mx.init.Normal(1))
    x = mx.nd.array(X)
    y, dx = gradient(block, x)
    w, b = block.weight.data().asnumpy(), block.bias.data().asnumpy()
    expected = np.tanh(X @ w + b)
    np.testing.assert_allclose(y, expected, rtol=1e-5, atol=1e-6)
    back = 1 - expected**2
    np.testing.assert_allclose(dx, back @ w.T, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(block.weight.grad().asnumpy(), X.T @ back, rtol=1e-4, atol=1e-5)
