"""The losses of examples/layers.jl, against everything that they sum over, gone through one by one."""

from __future__ import annotations

import itertools
from types import ModuleType

import numpy as np
import pytest
from example_layers import array, load, value

from pybridge.testing import inputs


@pytest.fixture(scope="module")
def pb(pb: ModuleType) -> ModuleType:
    return load(pb)


def test_the_quantile_loss_is_least_at_the_quantile(pb, mx):
    targets = np.sort(np.random.default_rng(0).exponential(size=1001))
    loss = pb.function("ExampleLayers.QuantileLoss", levels=(0.25,))
    candidates = targets[200:300]
    means = [value(loss, np.full((1001, 1), c), targets).mean() for c in candidates]
    assert candidates[int(np.argmin(means))] == np.quantile(targets, 0.25)


def test_the_quantile_loss_refuses_levels_that_are_none(pb, mx):
    with pytest.raises(pb.JuliaError, match="between 0 and 1"):
        pb.function("ExampleLayers.QuantileLoss", levels=(1.5,))(mx.nd.ones((2, 1)), mx.nd.ones(2))


def every_sequence(e, transitions, start, stop) -> dict[tuple[int, ...], float]:
    """The score of each label sequence."""
    time, n = e.shape
    return {
        labels: start[labels[0]]
        + stop[labels[-1]]
        + sum(e[t, k] for t, k in enumerate(labels))
        + sum(transitions[a, b] for a, b in zip(labels, labels[1:]))
        for labels in itertools.product(range(n), repeat=time)
    }


def crf_point() -> tuple[np.ndarray, list[np.ndarray]]:
    return inputs((2, 5, 3), -3, 3), [inputs((3, 3), seed=1), inputs(3, seed=2), inputs(3, seed=3)]


def test_the_crf_loss_is_that_of_all_label_sequences_gone_through(pb, mx):
    e, parameters = crf_point()
    labels = np.array([[0, 2, 1, 1, 0], [1, 1, 2, -1, -1]], dtype="int32")
    loss = value(pb.function("ExampleLayers.CRFLoss"), e, labels, *parameters)
    for j, length in enumerate((5, 3)):
        scores = every_sequence(e[j, :length], *parameters)
        expected = np.log(np.exp(list(scores.values())).sum()) - scores[tuple(labels[j, :length])]
        np.testing.assert_allclose(loss[j], expected, rtol=1e-12)


def test_the_gradient_of_the_crf_loss_is_marginal_probabilities_less_the_truth(pb, mx):
    e, parameters = crf_point()
    labels = np.array([[0, 2, 1, 1, 0], [2, 2, 2, 0, 0]], dtype="int32")
    leaf = array(e)
    pb.attach_grad(leaf)
    with pb.record():
        loss = pb.function("ExampleLayers.CRFLoss")(leaf, array(labels), *(array(p) for p in parameters))
    loss.backward()
    for j in range(2):
        scores = every_sequence(e[j], *parameters)
        total = np.exp(list(scores.values())).sum()
        marginal = np.zeros((5, 3))
        for sequence, score in scores.items():
            marginal[np.arange(5), sequence] += np.exp(score) / total
        marginal[np.arange(5), labels[j]] -= 1
        np.testing.assert_allclose(leaf.grad[j].asnumpy(), marginal, rtol=0, atol=1e-12)


def test_the_crf_loss_does_not_overflow(pb, mx):
    e, parameters = crf_point()
    labels = np.zeros((2, 5), dtype="int32")
    loss = value(pb.function("ExampleLayers.CRFLoss"), 1e4 * e, labels, *parameters, dtype="float32")
    assert np.isfinite(loss).all() and (loss > 1e3).all()


def test_decoding_finds_the_likeliest_of_all_label_sequences(pb, mx):
    e, parameters = crf_point()
    decoded = pb.function("ExampleLayers.CRFDecode")(array(e), *(array(p) for p in parameters))
    assert decoded.dtype == np.int32
    for j in range(2):
        scores = every_sequence(e[j], *parameters)
        assert tuple(decoded[j].asnumpy()) == max(scores, key=scores.get)


def test_the_crf_refuses_what_is_no_label(pb, mx):
    e, parameters = crf_point()
    for wrong, words in ((3, "label 3 is none of 0 to 2"), (-1, "sequence 1 is empty")):
        with pytest.raises(pb.JuliaError, match=words):
            value(pb.function("ExampleLayers.CRFLoss"), e, np.full((2, 5), wrong, "int32"), *parameters)


def paths(n: int, m: int) -> list[list[tuple[int, int]]]:
    """All ways to go from (0, 0) to (n - 1, m - 1), each step one further in either or both."""
    if n == 1 and m == 1:
        return [[(0, 0)]]
    before = [(n - 1, m), (n, m - 1), (n - 1, m - 1)]
    return [path + [(n - 1, m - 1)] for a, b in before if a and b for path in paths(a, b)]


@pytest.mark.parametrize("gamma", [1.0, 0.1])
def test_soft_dtw_is_the_soft_minimum_over_all_alignments(pb, mx, gamma):
    x, y = inputs((2, 4, 3)), inputs((2, 5, 3), seed=1)
    found = value(pb.function("ExampleLayers.SoftDTW", gamma=gamma), x, y)
    for j in range(2):
        costs = ((x[j][:, None] - y[j][None]) ** 2).sum(axis=2)
        totals = np.array([sum(costs[i] for i in path) for path in paths(4, 5)])
        expected = -gamma * np.log(np.exp(-totals / gamma).sum())
        np.testing.assert_allclose(found[j], expected, rtol=1e-12)


def test_soft_dtw_comes_near_to_the_least_cost_without_overflow(pb, mx):
    x, y = 10 * inputs((1, 4, 3)), 10 * inputs((1, 5, 3), seed=1)
    costs = ((x[0][:, None] - y[0][None]) ** 2).sum(axis=2)
    least = min(sum(costs[i] for i in path) for path in paths(4, 5))
    found = value(pb.function("ExampleLayers.SoftDTW", gamma=1e-3), x, y, dtype="float32")
    np.testing.assert_allclose(found[0], least, rtol=1e-5)


def test_soft_dtw_refuses_series_that_do_not_match(pb, mx):
    with pytest.raises(pb.JuliaError, match="as many features and samples"):
        pb.function("ExampleLayers.SoftDTW")(mx.nd.ones((2, 4, 3)), mx.nd.ones((2, 4, 2)))


def test_the_sparse_group_penalty_is_what_its_formula_says(pb, mx):
    w = np.array([[3.0, 4.0, 0.0], [0.0, 0.0, -2.0]])
    penalty = pb.function("ExampleLayers.SparseGroup", sparsity=0.5, grouping=2.0)
    found = value(penalty, w, np.array([1, 1, 2], dtype="int32"))
    np.testing.assert_allclose(found, 0.5 * 9 + 2 * (2 * 5 + np.sqrt(2) * 2), rtol=1e-14)


def test_the_sparse_group_penalty_has_a_finite_gradient_where_a_group_is_zero(pb, mx):
    w = array(np.array([[0.0, 0.0, 3.0]]))
    pb.attach_grad(w)
    with pb.record():
        y = pb.function("ExampleLayers.SparseGroup")(w, mx.nd.array([0, 0, 1], dtype="int32"))
    y.backward()
    np.testing.assert_array_equal(w.grad.asnumpy(), [[0, 0, 2]])
