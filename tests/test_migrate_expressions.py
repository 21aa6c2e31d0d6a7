"""Expressions without parentheses, as hypothesis makes them: Julia's precedence decides what they are worth."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from migrate_cases import printed_by_python

from pybridge._migrate import translate

NAMES = {"a": 3, "b": -5, "c": 7}
atoms = st.one_of(
    st.sampled_from(list(NAMES)),
    st.integers(0, 9).map(str),
    st.tuples(st.integers(1, 4), st.sampled_from(list(NAMES))).map(lambda p: f"{p[0]}{p[1]}"),
    st.sampled_from(list(NAMES)).map(lambda n: f"-{n}"),
)
operators = st.sampled_from(["+", "-", "*", "÷", "%", "&", "|", "⊻"])
space = st.sampled_from([" ", ""])


def chains(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Operands and operators in a row, with and without spaces, some raised or shifted."""
    piece = st.one_of(
        st.tuples(space, operators, space, inner).map("".join),
        st.sampled_from([" ^ 2", "^2", " << 1", " >> 2", "^2a"]),
    )
    return st.tuples(inner, st.lists(piece, max_size=4)).map(lambda p: p[0] + "".join(p[1]))


wrapped = st.recursive(
    atoms,
    lambda inner: st.one_of(
        chains(inner).map(lambda s: f"({s})"),
        chains(inner).map(lambda s: f"abs({s})"),
        chains(inner).map(lambda s: f"-({s})"),
    ),
    max_leaves=6,
)
arithmetic = chains(wrapped)
comparisons = st.tuples(
    arithmetic,
    st.lists(st.tuples(st.sampled_from(["<", "<=", "==", "!=", "≥"]), arithmetic), min_size=1, max_size=2),
).map(lambda p: p[0] + "".join(f" {op} {side}" for op, side in p[1]))
logic = st.tuples(
    comparisons, st.lists(st.tuples(st.sampled_from(["&&", "||"]), comparisons), max_size=2)
).map(lambda p: p[0] + "".join(f" {op} {side}" for op, side in p[1]))
ternaries = st.tuples(logic, arithmetic, arithmetic).map(lambda p: f"{p[0]} ? {p[1]} : {p[2]}")


# Julia's integers wrap where Python's go on. What overflows anywhere on the way is found by the same in integers,
# literals among them, that throw instead.
_SETTING = """
module MigrateInts
a, b, c = NAMES
end
module MigrateChecked
using Base.Checked
struct Whole <: Integer
    n::Int
end
Base.:+(x::Whole, y::Whole) = Whole(checked_add(x.n, y.n))
Base.:-(x::Whole, y::Whole) = Whole(checked_sub(x.n, y.n))
Base.:*(x::Whole, y::Whole) = Whole(checked_mul(x.n, y.n))
Base.:-(x::Whole) = Whole(checked_neg(x.n))
Base.abs(x::Whole) = Whole(checked_abs(x.n))
Base.:(<<)(x::Whole, y::Whole) = x * Whole(2) ^ y
Base.:(>>)(x::Whole, y::Whole) = Whole(x.n >> y.n)
for op in (:div, :rem, :&, :|, :xor)
    @eval Base.$op(x::Whole, y::Whole) = Whole($op(x.n, y.n))
end
for op in (:<, :<=, :(==))
    @eval Base.$op(x::Whole, y::Whole) = $op(x.n, y.n)
end
function Base.:^(x::Whole, y::Whole)
    y.n < 0 && throw(DomainError(y.n))
    abs(x.n) <= 1 && return Whole(x.n ^ y.n)
    y.n > 64 && throw(OverflowError(""))
    return foldl(*, fill(x, y.n); init = Whole(1))
end
a, b, c = Whole.((NAMES))
whole(x) = x
whole(x::Int) = Whole(x)
whole(x::Expr) = Expr(x.head, map(whole, x.args)...)
worth(x::Whole) = x.n
worth(x) = x
end
function migrate_worth(text)
    try
        parsed = Meta.parse(text)
        v = Core.eval(MigrateInts, parsed)
        exact = MigrateChecked.worth(Core.eval(MigrateChecked, MigrateChecked.whole(parsed)))
        v == exact || error(string(text, " is ", v, " in Int, ", exact, " in checked ones"))
        return string(v)
    catch e
        e isa Union{OverflowError,DomainError,DivideError} || rethrow()
        return ""
    end
end
"""


def in_julia(pb: ModuleType, text: str) -> str:
    """What Julia prints for the value, nothing where it raises or overflows."""
    return str(pb.jl.migrate_worth(text))


@pytest.mark.parametrize("kind", ["arithmetic", "logic", "ternaries"])
def test_python_computes_what_julia_computes(kind: str, pb: ModuleType) -> None:
    heard = 0
    names = ", ".join(str(value) for value in NAMES.values())
    pb.jl.seval(f'Main.include_string(Main, raw"""{_SETTING.replace("NAMES", names)}""")')

    @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
    @given(text={"arithmetic": arithmetic, "logic": logic, "ternaries": ternaries}[kind])
    def holds(text: str) -> None:
        nonlocal heard
        text = text.replace("--", "- -")  # no operator of Julia's
        value = in_julia(pb, text)
        assume(value != "")
        heard += 1
        setting = "".join(f"{name} = {number}\n" for name, number in NAMES.items())
        made = translate("e.jl", f"{setting}println({text})\n".encode())
        assert printed_by_python(made.python).strip().lower() == value, made.python

    holds()
    assert heard >= 15
