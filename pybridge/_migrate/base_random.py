"""Julia's random numbers as NumPy's. The numbers themselves are others: the generators are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .code import binary, call, const, method, name, py, shifted, subscript
from .rules import Rule, base_name
from .shapes import _split_type, dtype_of, shape_rank
from .types import BOOL, FLOAT, NAT, NONE, RNG, T, arr, element

if TYPE_CHECKING:
    from .infer import Typer
    from .translator import Translator


def _drawn_from(typed: T) -> bool:
    """rand((2, 3)) is one of the two, as rand([2, 3]) is; rand(Float64, (2, 3)) and rand(2, 3) are arrays."""
    return typed.kind in ("range", "list", "arr", "tuple")


def _parted(typer: Typer, node: t.Call) -> tuple[Optional[t.Node], list[t.Node]]:
    """The generator, if one is given, and the other arguments."""
    args = list(node.args)
    if args and (typer.of(args[0]).kind == "rng" or base_name(args[0]) == "rng"):
        return args[0], args[1:]
    return None, args


def _one(tr: Translator, node: t.Call) -> tuple[Optional[t.Node], t.Node]:
    """The generator, if one is given, and the only other argument."""
    generator, args = _parted(tr.typer, node)
    if len(args) != 1:
        tr.refuse(node, f"{base_name(node.fn)} with {len(args)} arguments")
    return generator, args[0]


def _source(tr: Translator, generator: Optional[t.Node]) -> ast.expr:
    """np.random, or a generator, which has functions of the same names."""
    return name("np.random") if generator is None else tr.expr(generator)


def _random(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        generator, args = _parted(tr.typer, node)
        kind, sizes = _split_type(t.Call(node.at, node.fn, args))
        source = _source(tr, generator)
        dtype = dtype_of(kind)
        if word == "rand" and dtype == "bool":
            return method(source, "choice", py("[False, True]"), **_size(tr, sizes))
        if kind is not None and not dtype.startswith("float"):
            return tr.refuse(node, f"{word} of {base_name(kind)}")
        if not sizes:
            return method(source, word)
        if isinstance(sizes[0], t.Call) and tr.type(sizes[0]).kind == "any":
            return tr.refuse(node, "random numbers of a distribution from another package")
        first = tr.type(sizes[0])
        if word == "rand" and kind is None and _drawn_from(first):
            return _drawn(tr, source, sizes)
        if first.kind == "tuple":
            shape = tr.shape(sizes)
            elements = shape.elts if isinstance(shape, ast.Tuple) else [ast.Starred(shape, ast.Load())]
        else:
            elements = [tr.expr(size) for size in reversed(sizes)]
        made = method(source, word, *elements)
        return method(made, "astype", const(dtype)) if dtype and dtype != "float64" else made

    return emit


def _drawn(tr: Translator, source: ast.expr, args: list[t.Node]) -> ast.expr:
    """One of several values, or an array of such."""
    among = args[0]
    if isinstance(among, t.Range) and among.step is None:
        low, high = tr.expr(among.start), shifted(tr.expr(among.stop), 1)
        return method(source, "randint", low, high, **_size(tr, args[1:]))
    return method(source, "choice", tr.array(among), **_size(tr, args[1:]))


def _size(tr: Translator, sizes: list[t.Node]) -> dict[str, ast.expr]:
    return {"size": tr.shape(sizes)} if sizes else {}


def _random_type(typer: Typer, node: t.Call, args: list[T]) -> T:
    _, given = _parted(typer, node)
    kind, sizes = _split_type(t.Call(node.at, node.fn, given))
    drawn = BOOL if dtype_of(kind) == "bool" else FLOAT
    if not sizes:
        return drawn
    first = typer.of(sizes[0])
    if kind is None and base_name(node.fn) == "rand" and _drawn_from(first):
        elem = element(first)
        return arr(shape_rank(typer, sizes[1:]), elem) if sizes[1:] else elem
    return arr(shape_rank(typer, sizes), drawn)


def _random_into(word: str) -> Any:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        generator, x = _one(tr, node)
        made = method(_source(tr, generator), word, ast.Starred(py("_0.shape", tr.expr(x)), ast.Load()))
        tr.before(ast.Assign([subscript(tr.assignable(x), [ast.Slice()])], made))
        return tr.expr(x)

    return emit


def _shuffled(tr: Translator, node: t.Call) -> ast.expr:
    """In Julia the elements change places, whatever the shape; NumPy moves rows."""
    generator, x = _one(tr, node)
    source = _source(tr, generator)
    if (tr.type(x).rank or 1) == 1:
        return method(source, "permutation", tr.expr(x))
    if not isinstance(x, t.Name):
        return tr.refuse(node, "shuffle of a matrix that has no name")
    flat, shape = py("_0.ravel()", tr.expr(x)), py("_0.shape", tr.expr(x))
    return method(method(source, "permutation", flat), "reshape", shape)


def _shuffle(tr: Translator, node: t.Call) -> ast.expr:
    generator, x = _one(tr, node)
    if (tr.type(x).rank or 1) != 1:
        return tr.refuse(
            node, "shuffle! of a matrix: its elements change places, np.random.shuffle moves rows"
        )
    return method(_source(tr, generator), "shuffle", tr.expr(x))


def _permutation(tr: Translator, node: t.Call) -> ast.expr:
    generator, n = _one(tr, node)
    return binary(method(_source(tr, generator), "permutation", tr.expr(n)), "+", const(1))


def _of_last(typer: Typer, node: t.Call, args: list[T]) -> T:
    x = args[-1]
    return arr(1 if x.listlike or x.kind == "range" else x.rank, element(x))


def _seed(tr: Translator, node: t.Call) -> ast.expr:
    generator, args = _parted(tr.typer, node)
    return method(_source(tr, generator), "seed", *(tr.expr(arg) for arg in args))


def _generator(tr: Translator, node: t.Call) -> ast.expr:
    if len(node.args) > 1:
        return tr.refuse(node, f"MersenneTwister with {len(node.args)} arguments")
    return call("np.random.RandomState", [tr.expr(arg) for arg in node.args])


RULES = {
    "rand": Rule(_random("rand"), _random_type, "np.random.rand"),
    "randn": Rule(_random("randn"), _random_type, "np.random.randn"),
    "rand!": Rule(_random_into("rand"), lambda ty, n, a: a[-1], "x[:] = np.random.rand(*x.shape)"),
    "randn!": Rule(_random_into("randn"), lambda ty, n, a: a[-1], "x[:] = np.random.randn(*x.shape)"),
    "randperm": Rule(_permutation, arr(1, NAT), "np.random.permutation(n) + 1"),
    "shuffle": Rule(_shuffled, _of_last, "np.random.permutation"),
    "shuffle!": Rule(_shuffle, NONE, "np.random.shuffle"),
    "seed!": Rule(_seed, NONE, "np.random.seed"),
    "srand": Rule(_seed, NONE, "np.random.seed"),
    "MersenneTwister": Rule(_generator, RNG, "np.random.RandomState"),
    "default_rng": Rule("np.random", RNG),
}

__all__ = ["RULES"]
