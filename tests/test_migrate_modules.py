"""Modules become part of one Python module: what is kept in Julia, and names that say where they are from."""

from __future__ import annotations

from pybridge._migrate import translate

SWISHES = b"""
const a = 2.0
module Swishes
using MXNet
const a = 3.0
struct Act
end
mx.@customfunc Act
mx.forward(f::Act, x) = a .* x .+ Main.a
mx.backward!(f::Act, d) = a .* d
end
f = Swishes.Act()
"""


def test_code_that_stays_julia_uses_the_same_names() -> None:
    made = translate("swishes.jl", SWISHES, embed=False)

    assert "const Swishes_a = 3.0" in made.julia and "const a = 2.0" in made.julia
    assert "struct Act <: CustomFunction" in made.julia  # the only one: it keeps its name
    assert "forward(f::Act, x) = Swishes_a .* x .+ a" in made.julia
    assert made.names["Swishes.a"] == "Swishes_a"


def test_names_with_main_are_the_file_s() -> None:
    made = translate(
        "x.jl", b"limit = 5\nmodule Checks\nbelow(x) = x < Main.limit\nend\ny = Main.Checks.below(4)\n"
    )

    assert "return x < limit" in made.python and "y = below(4)" in made.python
    assert not made.attention
