"""Where a Julia function comes from and how long it holds: names, values, redefinitions, copies, files, packages."""

from __future__ import annotations

import copy
import gc
import pickle

import numpy as np
import pytest
from measures import differentiate, leaf, pullback

# --- names and values -------------------------------------------------------------------------------------


def test_a_julia_function_says_what_it_is(pb):
    f = pb.function("TestLayers.Sigmoid")
    assert isinstance(f, pb.functions.JuliaFunction)
    assert callable(f)
    assert "TestLayers.Sigmoid" in repr(f)


def test_a_name_that_julia_does_not_know_is_refused_at_the_latest_at_the_call(pb, mx, layers):
    for name in ("TestLayers.Sigmoyd", "NoSuchModule.Sigmoid"):
        with pytest.raises((ValueError, pb.JuliaError), match=name.split(".")[1]):
            pb.function(name)(mx.nd.ones(2))


@pytest.mark.parametrize("target", [3, None, 2.5, [1]], ids=str)
def test_a_target_that_is_no_julia_function_is_a_type_error(pb, mx, target):
    with pytest.raises(TypeError, match="CustomFunction"):
        pb.function(target)(mx.nd.ones(2))


def test_a_plain_julia_function_needs_to_be_told_that_it_returns_a_pullback(pb, mx, layers):
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pytest.raises((TypeError, ValueError), match=r"(?s)plain.*pullback|pullback.*plain"), pb.record():
        pb.function("TestLayers.plain")(x)
    with pytest.raises((TypeError, ValueError), match=r"(?s)plain.*back"), pb.record():
        pb.function("TestLayers.plain", pullback=True)(x)


def test_a_call_without_any_array_is_a_type_error(pb, layers):
    with pytest.raises((TypeError, ValueError), match=r"NDArray"):
        pb.function("TestLayers.Sigmoid")(3.0)


# --- redefinitions and copies -----------------------------------------------------------------------------


def test_a_redefinition_in_julia_counts_from_the_next_call(pb, mx, layers):
    define = "module Live; using PyBridge; struct F <: CustomFunction end; {} end"
    forward = "PyBridge.forward(::F, x) = {0} .* x; PyBridge.backward(::F, Δ) = {0} .* Δ;"
    pb.jl.seval(define.format(forward.format(2)))
    f = pb.function("Live.F")
    x = leaf(pb, mx.nd, [1.0, 2.0])
    np.testing.assert_array_equal(differentiate(pb, f, x).asnumpy(), [2, 4])
    # New methods of the same type, as in a notebook's cell that is run again.
    pb.jl.seval(
        "module NewMethods; using PyBridge; import ..Live; "
        + forward.format(3).replace("::F", "::Live.F")
        + "end"
    )
    np.testing.assert_array_equal(differentiate(pb, f, x).asnumpy(), [3, 6])
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)
    # A new type of the same name.
    pb.jl.seval(define.format(forward.format(5)))
    np.testing.assert_array_equal(differentiate(pb, f, x).asnumpy(), [5, 10])
    np.testing.assert_array_equal(x.grad.asnumpy(), 5)
    # A plain function.
    pb.jl.Live.seval("g(x) = error()")
    g = pb.function("Live.g", pullback=True)
    for factor in (7, 11):
        pb.jl.Live.seval(f"g(x) = ({factor} .* x, Δ -> {factor} .* Δ)")
        np.testing.assert_array_equal(differentiate(pb, g, x).asnumpy(), np.array([1, 2]) * factor)
        np.testing.assert_array_equal(x.grad.asnumpy(), factor)


def test_a_redefinition_between_forward_and_backward_does_not_mix_two_definitions(pb, mx, layers):
    code = (
        "module Swap; using PyBridge; struct F <: CustomFunction end; "
        "PyBridge.forward(::F, x) = {0} .* x; PyBridge.backward(::F, Δ) = {0} .* Δ; end"
    )
    pb.jl.seval(code.format(2))
    f = pb.function("Swap.F")
    x = leaf(pb, mx.nd, [1.0, 2.0])
    with pb.record():
        y = f(x)
    pb.jl.seval(code.format(3))
    pb.backward(y)
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


def test_a_copy_of_a_function_outlives_it(pb, mx, layers):
    f = pb.function("TestLayers.Square")
    copies = copy.copy(f), copy.deepcopy(f)
    del f
    gc.collect()
    other = pb.function("TestLayers.Sigmoid")
    other(mx.nd.ones(1))
    assert [g(mx.nd.array([3.0])).asscalar() for g in copies] == [9, 9]


def test_a_function_is_pickled_by_name_or_not_at_all(pb, mx, layers):
    named = pickle.dumps(pb.function("TestLayers.Scale", factor=3))
    assert pickle.loads(named)(mx.nd.array([2.0])).asscalar() == 6
    with pytest.raises(TypeError, match="name"):
        pickle.dumps(pullback(pb, "x -> (2 .* x, Δ -> 2 .* Δ)"))


# --- files and packages -----------------------------------------------------------------------------------


def test_an_included_file_can_use_pybridge_and_returns_its_last_value(pb, mx, tmp_path):
    path = tmp_path / "mine.jl"
    path.write_text(
        "using PyBridge\n"
        "struct IncludedTwice <: CustomFunction end\n"
        "PyBridge.forward(::IncludedTwice, x) = 2 .* x\n"
        "PyBridge.backward(::IncludedTwice, Δ) = 2 .* Δ\n"
        "40 + 2\n",
        encoding="utf-8",
    )
    assert pb.include(str(path)) == 42
    assert pb.include(path) == 42
    x = leaf(pb, mx.nd, [1.0, 2.0])
    np.testing.assert_array_equal(differentiate(pb, pb.function("IncludedTwice"), x).asnumpy(), [2, 4])
    np.testing.assert_array_equal(x.grad.asnumpy(), 2)


@pytest.mark.parametrize(
    ("text", "line"), [("x = 1\ny = (1,\nz = ]\n", "3"), ('x = 1\nerror("at line two")\n', "2")]
)
def test_an_error_in_an_included_file_names_file_and_line(pb, tmp_path, text, line):
    path = tmp_path / "broken.jl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(pb.JuliaError, match=rf"broken\.jl:{line}"):
        pb.include(str(path))


def test_a_package_of_the_users_own_can_use_pybridge(pb, mx, layers, tmp_path):
    uuid = pb.jl.seval("m -> string(Base.PkgId(m).uuid)")(pb.jl.seval("import PyBridge; PyBridge"))
    folder = tmp_path / "UsersLayers"
    (folder / "src").mkdir(parents=True)
    (folder / "Project.toml").write_text(
        'name = "UsersLayers"\nuuid = "6e0cd6a8-2b1f-4f0e-9d0a-0c9c1f2d3e4f"\n\n'
        f'[deps]\nPyBridge = "{uuid}"\n'
    )
    (folder / "src" / "UsersLayers.jl").write_text(
        "module UsersLayers\nusing PyBridge\nexport Triple\nstruct Triple <: CustomFunction end\n"
        "PyBridge.forward(::Triple, x) = 3 .* x\nPyBridge.backward(::Triple, Δ) = 3 .* Δ\nend\n",
        encoding="utf-8",
    )
    pb.jl.push_b(pb.jl.LOAD_PATH, str(tmp_path))
    try:
        pb.jl.seval("using UsersLayers")
    finally:
        pb.jl.pop_b(pb.jl.LOAD_PATH)
    x = leaf(pb, mx.nd, [1.0, 2.0])
    np.testing.assert_array_equal(differentiate(pb, pb.function("UsersLayers.Triple"), x).asnumpy(), [3, 6])
    np.testing.assert_array_equal(x.grad.asnumpy(), 3)


def test_pybridge_exports_three_names(pb, layers):
    names = set(pb.jl.seval("join(filter(n -> n != :PyBridge, names(PyBridge)), ' ')").split())
    assert names == {"CustomFunction", "@registerfunc", "is_training"}
