"""What cannot be known or turned is marked at its line, stands in the report, and never runs on in silence."""

from __future__ import annotations

import pytest

from pybridge._migrate import translate


@pytest.mark.parametrize(
    ("julia", "kind", "line"),
    [
        ("f(x, w) = w * x", "axis", "return w * x  # migrate: check axis (* of two matrices is x @ w)"),
        ("f(x) = length(x)", "axis", "return len(x)  # migrate: check axis"),
        ("f(x, i) = x[i]", "axis", "return x[i - 1]  # migrate: check axis"),
        ("f(x) = x'", "axis", "return x.T  # migrate: check axis"),
        ("f(x, d) = sum(x, dims=d)", "axis", "return x.sum(axis=-d, keepdims=True)  # migrate: check axis"),
        ("f(n) = zeros(n)", "axis", "return np.zeros(n)  # migrate: check axis"),
        ("f(x) = vcat(x, x)", "axis", "return np.concatenate([x, x], axis=-1)  # migrate: check axis"),
        ("f(x) = exp.(x)", "type", "return np.exp(x)  # migrate: check type"),
        ("f(x) = somewhere(x)", "name", "return somewhere(x)  # migrate: no counterpart known for somewhere"),
        (
            "v = 9; for i in 1:2 v = i end",
            "scope",
            "    v = i  # migrate: check scope (v is the file's; in Julia 1 a loop's own, unless it says global)",
        ),
        ("using Plots", "package", "# migrate: no counterpart known for the package Plots"),
    ],
)
def test_a_line_that_needs_a_person_carries_a_mark_and_stands_in_the_report(
    julia: str, kind: str, line: str
) -> None:
    made = translate("a.jl", julia.encode())

    assert line in made.python
    assert [note.kind for note in made.attention] == [kind]
    assert (made.attention[0].row, made.attention[0].end_row) == (1, 1)


@pytest.mark.parametrize(
    "julia",
    [
        "x = @eval 1 + 1",
        "x = ccall(:f, Int, ())",
        "y = quote\n  x\nend",
        "x = `ls`",
        "x = :(a + b)",
        'x = v"1.2"',
        "x = sort([1, 2], lt=(a, b) -> a > b)",
        "x = permutedims(zeros(2, 3, 4), p)",
        "x = 1 + (return 3)",
        "a = [1]; push!(a, 4); b = @view a[1:2]",
        "f(r, xs) = shuffle(r, xs)\nx = f(1, [2])",
        "f(r, n) = randperm(r, n)\nx = f(1, 2)",
        "x = deepcopy(p, p)",
        "@custom function f(x)\nend\nx = f(1)",
        "@custom f((a, b)) = T()\nx = f(1)",
        "@custom p",
        "a, b = size(zeros(2, 3)) .÷ 2",
        "x = count([true]; init=3)",
        "x = reshape(zeros(4), 2, 2; reverse=true)",
    ],
)
def test_what_is_refused_is_an_error_when_it_would_run(julia: str) -> None:
    made = translate("a.jl", f"p = (1, 2, 3)\n{julia}\n".encode())

    assert [note.turned for note in made.attention] == [False]
    assert made.turned == 1 or made.total > 2
    assert "# migrate: " in made.python
    with pytest.raises(NotImplementedError, match=r"a\.jl:2: "):
        exec(made.python, {})


def test_definitions_that_are_refused_do_not_stop_what_is_around_them() -> None:
    made = translate("a.jl", b"macro m(x)\n  x\nend\n@generated f(x) = :(x)\nBase.first(x::Foo) = 1\ny = 2\n")
    names: dict[str, object] = {}

    exec(made.python, names)

    assert names["y"] == 2
    with pytest.raises(NotImplementedError):
        names["f"](1)  # type: ignore[operator]
    assert len(made.attention) == 3


def test_one_refused_statement_leaves_the_others_of_its_function() -> None:
    made = translate("a.jl", b"function f(x)\n  y = x + 1\n  z = @eval y\n  y + 2\nend\n")

    assert made.python.count("raise NotImplementedError") == 1
    assert "y = x + 1" in made.python and "return y + 2" in made.python
    assert (made.total, made.turned) == (5, 4)


def test_comments_and_docstrings_stay_at_their_places() -> None:
    made = translate(
        "a.jl",
        b"# head\n\nx = 1  # behind\n\n# above\ny = [1, # inside\n  2]\n#= block\n   of two =#\n"
        b'"""\n    f(x)\n\nDoubles `x`.\n"""\nf(x) = 2x  # so\nif x > 0\n  # in the branch\n  z = 1\nend\n',
    )

    assert made.python == (
        "# head\n\nimport numpy as np\n\n\nx = 1  # behind\n\n# above\n# inside\ny = np.array([1, 2])\n"
        '# block\n# of two\n\n\ndef f(x):\n    """f(x)\n\n    Doubles `x`.\n    """\n    return 2 * x  # so\n\n\n'
        "if x > 0:\n    # in the branch\n    z = 1\n"
    )
