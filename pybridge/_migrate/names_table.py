"""The table of MXNet.jl's names and their targets, as the documentation shows it."""

from __future__ import annotations

from .operators import OPERATORS
from .rules import base_rules, mx_rules

# Forms that are no calls of a function.
_FORMS = [
    ("@mx.chain a => b => c", "gluon.nn.HybridSequential", "one input, one output"),
    ("@mx.inplace x += y", "x += y", "-=, *=, /= and %= too"),
    ("@mx.nd_as_jl ro=x rw=z", "x.asnumpy(), z[:] = z_np", "copies; those of rw are written back"),
    (
        "@mx.customfunc T, mx.forward, mx.backward!",
        "pb.function",
        "or mx.autograd.Function, with --functions python",
    ),
    ("@mx.custom f(x) = T()", "def f(x): return T(x)", "T as before"),
]


def markdown() -> str:
    """Both tables, of MXNet.jl's names and of Julia's own, and the operators that keep their names."""
    mx = mx_rules()
    plain = sorted(
        name for name in mx if name in OPERATORS and mx[name].shown == f"mx.nd.{name}" and not mx[name].note
    )
    rows = [(f"mx.{name}", rule.shown, rule.note) for name, rule in mx.items() if name not in plain]
    lines = ["| MXNet.jl | Python | |", "| --- | --- | --- |"]
    lines += [_row(*row) for row in [*sorted(rows, key=lambda row: row[0].lower()), *_FORMS]]
    lines += [
        "",
        "Operators of libmxnet keep their names, `mx.NAME` is `mx.nd.NAME`; tuples of sizes are turned round:",
        "",
    ]
    lines += [", ".join(f"`{name}`" for name in plain) + ".", ""]
    lines += ["| Julia | Python |", "| --- | --- |"]
    lines += [
        f"| `{name}` | `{_escaped(rule.shown)}` |"
        for name, rule in sorted(base_rules().items())
        if rule.shown
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, target: str, note: str) -> str:
    return f"| `{_escaped(name)}` | `{_escaped(target)}` | {_escaped(note)} |"


def _escaped(text: str) -> str:
    """No bars that would end a cell."""
    return text.replace("|", "\\|")
