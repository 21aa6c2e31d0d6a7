"""The report of a cross-check: as text, JSON, a page, a picture."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from crosscheck_squares import SQUARE, TRIPLE, square

from pybridge import testing


def test_the_report_says_what_is_wrong_in_text_in_json_on_a_page_and_in_a_picture(pb, mx, seval, tmp_path):
    report = pb.crosscheck(square, seval(TRIPLE), [testing.inputs((4, 3))])
    text = " ".join(str(report).split())
    assert "Julia wrong" in text
    assert "factor: it is 1.5 times the right one" in text
    with pytest.raises(AssertionError, match="Julia wrong"):
        report.assert_ok()
    read = json.loads(json.dumps(report.to_dict()))
    assert (read["verdict"], read["ok"], read["gradients"][0]["wrong"]) == ("Julia wrong", False, ["Julia"])
    page = report.to_html(tmp_path / "deep" / "report.html").read_text(encoding="utf-8")
    assert "Julia wrong" in page and "data:image/png;base64," in page
    assert not [part for part in page.split('"') if part.startswith("http")]
    picture = report.plot(tmp_path / "report.png")
    assert picture.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 3, 2)])
def test_every_report_can_be_drawn(pb, seval, tmp_path, shape):
    numpy_like = [np.full(shape, 0.5)]
    for python, julia in ((square, SQUARE), (square, TRIPLE), (None, TRIPLE)):
        report = pb.crosscheck(python, seval(julia), numpy_like)
        assert report.plot(tmp_path / "r.png").stat().st_size > 1000


def test_a_report_fits_a_terminal_of_80_columns_and_shows_names_as_they_are(pb, seval):
    def named(x: Any) -> Any:
        return x * x

    named.__name__ = "[red]$x_1$[/red]"
    report = pb.crosscheck(named, seval(TRIPLE), [testing.inputs((12, 13))])
    assert "[red]$x_1$[/red]" in str(report)
    table = str(report).split("furthest apart")[1].splitlines()
    assert max(len(line.rstrip()) for line in table) <= 80
    assert "over 8 head gradients" in str(report)


def test_when_functions_differ_the_numbers_say_whose_they_are(pb, seval):
    other = seval("x -> (x .^ 3, Δ -> 2 .* Δ .* x)")
    report = pb.crosscheck(square, other, [np.array([2.0, 3.0])])
    assert report.verdict in ("the functions differ", "Julia wrong")
    assert "(Julia's)" in str(report)


def test_huge_gradients_and_dollars_in_names_can_be_drawn(pb, seval, tmp_path):
    def named(x: Any) -> Any:
        return 1e306 * x

    named.__name__ = "$x_"
    huge = seval("x -> (1e306 .* x, Δ -> -1e306 .* Δ)")
    report = pb.crosscheck(named, huge, [np.array([1.0, -2.0])])
    assert report.plot(tmp_path / "huge.png").stat().st_size > 1000
