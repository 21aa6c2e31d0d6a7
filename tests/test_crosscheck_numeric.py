"""The parts of a cross-check that need neither language: derivatives by numbers, tolerances, names of errors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pybridge._crosscheck.diagnosis import name_difference, name_places
from pybridge._crosscheck.numeric import Slope, noise_along, slope
from pybridge._crosscheck.point import Point
from pybridge._crosscheck.settings import Settings
from pybridge._crosscheck.tolerance import apart, differ, tolerance

EPS = float(np.finfo(float).eps)


def derivative(f: Callable[[Any], Any], x: float, step: float = 0.1) -> Slope:
    def along(t: float) -> tuple[Any, Any]:
        values = np.atleast_1d(np.asarray(f(x + t), float))
        return values, 4 * EPS * np.abs(values) + 1e-300

    return slope(along, along(0.0)[0], step)


@pytest.mark.parametrize(
    ("f", "x", "right"),
    [
        (np.exp, 1.0, np.e),
        (np.sin, 100.0, np.cos(100.0)),
        (lambda x: x**20, 1.3, 20 * 1.3**19),
        (lambda x: np.tanh(50 * x), 0.01, 50 / np.cosh(0.5) ** 2),
        (np.log, 1e-6, 1e6),
        (lambda x: 3.0 + 0 * x, 1.0, 0.0),
        (lambda x: np.maximum(x, 0), 1e-3, 1.0),
        (np.abs, -1e-6, -1.0),
        (lambda x: np.maximum(x, 0), 1e-7, 1.0),  # across the kink the slope is ½, and very steady
        (lambda x: np.maximum(x, 0), -1e-7, 0.0),
    ],
)
def test_a_derivative_by_numbers_is_as_exact_as_it_says(f, x, right):
    found = derivative(f, x)
    assert abs(found.value[0] - right) <= found.error[0]
    assert found.error[0] <= 1e-3 * max(1, abs(right))
    assert not found.kink[0]


@pytest.mark.parametrize(
    ("f", "left", "right"),
    [(lambda x: np.maximum(x, 0), 0, 1), (np.abs, -1, 1), (lambda x: np.where(x > 0, x, 0.99 * x), 0.99, 1)],
)
def test_a_kink_is_told_from_curvature_with_its_one_sided_derivatives(f, left, right):
    found = derivative(f, 0.0)
    assert found.kink[0]
    assert (found.left[0], found.right[0]) == (pytest.approx(left), pytest.approx(right))
    assert not derivative(lambda x: x * x, 0.0).kink[0]
    assert not derivative(lambda x: x * abs(x), 0.0).kink[0]


def test_without_values_around_the_point_there_is_no_derivative():
    found = derivative(np.sqrt, 0.0)
    assert np.isnan(found.value[0]) and np.isinf(found.error[0])


def test_the_noise_of_values_is_seen_in_their_higher_differences():
    rng = np.random.default_rng(0)
    for size in (1e-4, 1e-8, 1e-12):
        noise, told = noise_along(
            lambda t, size=size: (np.sin([t]) + size * rng.standard_normal(1), np.ones(1)), 1e-3
        )
        assert 0.3 * size < noise[0] < 3 * size
        assert told[0] == 1
    assert noise_along(lambda t: (np.sin([1 + t]), np.ones(1)), 1e-3)[0][0] < 1e-15
    assert noise_along(lambda t: (np.abs([t - 7.3e-3]), np.ones(1)), 1e-3)[0][0] < 1e-15  # a kink is none


def test_noise_cannot_be_seen_between_points_that_rounding_makes_equal():
    def single(t: float) -> tuple[Any, Any]:
        return np.array([float(np.float32(1 + t))]), np.ones(1)

    assert 1e-8 < noise_along(single, 1e-5)[0][0] < 1e-7
    assert np.isnan(noise_along(single, 1e-10)[0][0])


def test_what_is_close_by_is_found_if_it_is_to_be_decided():
    # A wave so short that the first steps see nothing but its samples.
    def wave(t: float) -> tuple[Any, Any]:
        return np.sin(np.array([1e7 * (0.3 + t)])), np.full(1, 1e-9)

    right = 1e7 * np.cos(3e6)
    found = slope(wave, wave(0.0)[0], 0.1, wanted=1e3)
    assert abs(found.value[0] - right) <= found.error[0] < 1e-3 * abs(right)


def test_a_tolerance_grows_with_what_the_inputs_last_digits_change():
    value = np.array([1.0, 1e-8])
    calm = tolerance(value, np.zeros(2), EPS, Settings()).entries
    wild = tolerance(value, np.array([1e-9, 0]), EPS, Settings()).entries
    assert calm[0] < 1e-10 and wild[0] > 1e-8
    assert calm[1] == wild[1] < 1e-14
    given = tolerance(value, np.zeros(2), EPS, Settings(rtol=0.5, atol=1)).entries
    np.testing.assert_array_equal(given, [1.5, 1 + 0.5e-8])


def test_a_large_entry_does_not_make_the_tolerance_of_small_ones():
    value = np.array([1e17, 1.0, 1e-3, 2.0, 0.5])
    assert tolerance(value, np.zeros(5), EPS, Settings()).entries[2] < 1e-13


def test_a_tolerance_reckons_with_the_numbers_that_a_formula_computes_with():
    # 1 - tanh(x)^2 is 1e-12 here and was computed from ones.
    value, usual = np.array([1e-12, 1e-12]), np.array([0.9, np.nan])
    assert tolerance(value, np.zeros(2), EPS, Settings(), usual).entries[0] > 1e-15
    assert tolerance(value, np.zeros(2), EPS, Settings(), usual).entries[1] < 1e-21


def test_tolerances_of_denormals_are_numbers():
    made = tolerance(np.array([5e-324, 0, 1e-310]), np.array([0, 0, 5e-324]), EPS, Settings())
    assert (made.entries > 0).all() and np.isfinite(made.entries).all()


def test_sizes_of_any_magnitude_have_a_scale():
    for size in (1e-320, 1e-160, 1.0, 1e160, 1e300):
        assert Point([np.array([size, -size])], ["x"]).scale(0) == pytest.approx(size, rel=1e-3)
    assert Point([np.array([np.nan, 3.0, np.inf])], ["x"]).scale(0) == 3


def test_nans_and_infinities_must_be_the_same():
    a, b = np.array([np.nan, np.inf, np.inf, 1.0]), np.array([np.nan, np.inf, -np.inf, np.nan])
    assert differ(a, b, np.full(4, 1e9)).tolist() == [False, False, True, True]
    assert apart(np.array([1.0, np.nan]), np.array([2.0, np.nan])).tolist() == [1, 0]


RIGHT = np.arange(1.0, 13).reshape(3, 4) ** 1.5


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (-RIGHT, "sign"),
        (2.5 * RIGHT, "factor: it is 2.5 times"),
        (4 * RIGHT, "the size of axis 1"),
        (RIGHT / 12, "one over the number of entries"),
        ((1 + 1e-6) * RIGHT, "factor: it is 1.000001 times"),
        (RIGHT.T, "transposed"),
        (RIGHT.reshape(-1, order="F").reshape(3, 4), "the other language's index order"),
        (RIGHT.reshape(-1), "with the same numbers in the same order"),
        (np.roll(RIGHT, 1, axis=1), "shifted by one along axis 1"),
        (RIGHT[::-1], "reversed along axis 0"),
        (0 * RIGHT, "all zeros"),
        (RIGHT + 1, "a constant"),
        (RIGHT.astype(np.float32).astype(float), "computed in float32"),
        (RIGHT * (1 + 1e-8 * np.sin(7 * RIGHT)), "float32's precision"),
        (RIGHT**2, None),
        (RIGHT, None),
    ],
)
def test_errors_are_called_by_their_names(wrong, said):
    names = name_difference(wrong, RIGHT, 1e-12, EPS)
    assert (not names) if said is None else said in names[0]


def test_a_square_array_is_not_called_transposed_when_it_is_symmetric():
    symmetric = RIGHT[:3, :3] + RIGHT[:3, :3].T
    assert "transposed" not in str(name_difference(2 * symmetric, symmetric, 1e-12, EPS))


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        (lambda x: x < 0, "only where the input is negative"),
        (lambda x: x == 0, "only where the input is zero"),
        (lambda x: x == 3, "only where the input ties with another entry"),
        (lambda x: x > 1, "only where the input is larger than 1 in size"),
        (lambda x: x < 99, None),
        (lambda x: x > 99, None),
    ],
)
def test_places_are_named_by_what_the_input_is_there(condition, said):
    x = np.array([-0.5, -0.25, 0.0, 0.75, 3.0, 3.0, 2.0])
    assert name_places(condition(x), x) == said


def test_places_are_named_by_their_index():
    wrong = np.zeros((3, 4), bool)
    wrong[:, 3] = True
    x = np.random.default_rng(0).uniform(0.1, 0.9, (3, 4))
    assert name_places(wrong, x) == "only at index 3 of axis 1, the last"
