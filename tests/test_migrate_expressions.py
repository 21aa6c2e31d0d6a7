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


# Julia's integers wrap where Python's go on: what overflows anywhere on the way is told by the same in big integers.
_SETTING = """
module MigrateInts
a, b, c = {names}
end
module MigrateBigs
a, b, c = big.(({names}))
end
function migrate_worth(text)
    try
        parsed = Meta.parse(text)
        v = Core.eval(MigrateInts, parsed)
        exact = Core.eval(MigrateBigs, parsed)
        return v == exact && abs(v) <= 2^40 ? string(v) : ""
    catch
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
    pb.jl.seval(f'Main.include_string(Main, raw"""{_SETTING.format(names=names)}""")')

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
