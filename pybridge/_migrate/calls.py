"""Calls: of functions of the file, of functions that the tables know, and of those that nobody knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .annotations import annotated
from .base_system import ERRORS
from .code import call as make
from .code import const, method, name, py
from .rules import BROADCAST, Rule, is_mx, lookup, mx_name
from .shapes import dtype_of
from .types import T

if TYPE_CHECKING:
    from .translator import Translator

# Functions that return what they have changed, where Python's counterparts return nothing.
CHANGES = frozenset(
    [
        "push!",
        "pushfirst!",
        "append!",
        "insert!",
        "sort!",
        "empty!",
        "merge!",
        "reverse!",
        "shuffle!",
        "delete!",
        "add_to!",
        "sizehint!",
    ]
)


def call(tr: Translator, node: t.Call, statement: bool = False) -> ast.expr:
    """The Python for a call. As a statement, what it returns does not matter."""
    fn = node.fn
    if isinstance(fn, t.Name) and fn.var is not None:
        return _own(tr, node, fn)
    if isinstance(fn, t.Lambda):
        return make(tr.function_of(fn), *_arguments(tr, node))
    if isinstance(fn, t.Unary) and fn.op == "!":  # !f is the function that says the contrary
        return tr.expr(t.Unary(node.at, "!", t.Call(node.at, fn.operand, node.args, node.keywords)))
    mx = mx_name(fn)
    rule = lookup(tr.typer, fn)
    if mx is not None:
        tr.meet(mx, rule)
    if any(tr.type(arg).kind == "symbolic" for arg in node.args) and tr.type(node).kind == "symbolic":
        return tr.network(node)
    if rule is None:
        return _unknown(tr, node)
    if node.dotted and mx is None and tr.called(node) not in BROADCAST:
        return _spread(tr, node)
    made = _ruled(tr, node, rule)
    if not statement and tr.called(node) in CHANGES and isinstance(made, ast.Call):
        tr.before(ast.Expr(made))
        return tr.expr(node.args[0])
    return made


def _ruled(tr: Translator, node: t.Call, rule: Rule) -> ast.expr:
    if callable(rule.emit):
        return _with_options(tr, node, rule.emit)
    holes = [int(hole) for hole in re.findall(r"\b_(\d)\b", rule.emit)]
    if node.keywords:
        tr.refuse(node, f"{tr.called(node)} with the option {node.keywords[0][0]}")
    if "_all" not in rule.emit and (max(holes, default=-1) + 1) != len(node.args):
        tr.refuse(node, f"{tr.called(node)} with {len(node.args)} arguments")
    if tr.is_elementwise(node) or node.dotted:
        return py(rule.emit, *(tr.array(arg) for arg in node.args))
    return py(rule.emit, *(tr.expr(arg) for arg in node.args))


class _Options(list):  # type: ignore[type-arg]
    """Keyword arguments that know whether somebody looked at them."""

    seen = False

    def __iter__(self) -> Iterator[Any]:
        self.seen = True
        return super().__iter__()


def _with_options(tr: Translator, node: t.Call, emit: Callable[[Translator, t.Call], ast.expr]) -> ast.expr:
    """A rule that does not know of keyword arguments would pass over them in silence."""
    if not node.keywords:
        return emit(tr, node)
    plain, node.keywords = node.keywords, _Options(node.keywords)
    try:
        made = emit(tr, node)
        if not node.keywords.seen:
            return tr.refuse(node, f"{tr.called(node)} with the option {plain[0][0]}")
    finally:
        node.keywords = plain
    return made


def _arguments(tr: Translator, node: t.Call) -> tuple[list[ast.expr], list[tuple[Optional[str], ast.expr]]]:
    args = [
        tr.function_value(arg) if isinstance(arg, (t.Lambda, t.Name)) else tr.expr(arg) for arg in node.args
    ]
    return args, [_keyword(tr, key, value) for key, value in node.keywords]


def _keyword(tr: Translator, key: Optional[str], value: t.Node) -> tuple[Optional[str], ast.expr]:
    made = tr.function_value(value) if isinstance(value, t.Name) else tr.expr(value)
    if key:
        return tr.names.of(key), made
    return None, method(made, "_asdict") if tr.type(value).kind == "namedtuple" else made


def _own(tr: Translator, node: t.Call, fn: t.Name) -> ast.expr:
    """A function, struct or callable variable of the file."""
    var = fn.var
    assert var is not None
    if fn.id in tr.typer.custom or (var.type is not None and var.type.name in tr.typer.custom):
        return tr.custom_call(node, fn)
    if var.type is not None and var.type.kind == "symbolic":
        return tr.network(node)
    if node.dotted:
        return _own_dotted(tr, node, fn)
    args, keywords = _arguments(tr, node)
    target = tr.state.get("methods", {}).get((fn.id, len(node.args)))
    return make(name(target) if target else tr.variable(var), args, keywords)


def _own_dotted(tr: Translator, node: t.Call, fn: t.Name) -> ast.expr:
    kinds = [tr.type(arg) for arg in node.args]
    if (
        tr.typer.elementwise(fn.id)
        and not any(k.kind == "list" and k.elem and not k.elem.scalar for k in kinds)
        and not _branches(tr, fn.id)
    ):
        return make(tr.expr(fn), [tr.array(arg) for arg in node.args])
    if any(kind.kind == "nd" for kind in kinds):
        return tr.refuse(node, f"{fn.id} broadcast over an NDArray: it decides element by element")
    if len(node.args) == 1 and kinds[0].kind in ("list", "range", "arr") and (kinds[0].rank or 1) == 1:
        made = tr.mapped(fn, list(node.args), node)
        return make("np.array", [made]) if tr.type(node).kind == "arr" else made
    return make(make("np.vectorize", [tr.expr(fn)]), [tr.array(arg) for arg in node.args])


def _branches(tr: Translator, function: str) -> bool:
    """Whether a function looks at its argument: then it works on one number at a time."""
    for found in tr.typer.functions[function].methods:
        for each in found.body.walk():
            if isinstance(each, (t.If, t.Ternary, t.Logic, t.While, t.For, t.Try)):
                return True
    return False


def _spread(tr: Translator, node: t.Call) -> ast.expr:
    """f.(xs) for a function without a broadcast form: a comprehension over its collections."""
    fixed = ("str", "int", "float", "bool", "num", "sym", "char", "none", "type", "regex")
    moving = [
        arg
        for arg in node.args
        if tr.type(arg).kind not in fixed and not (isinstance(arg, t.Name) and arg.var is None)
    ]
    if not moving:
        return call(tr, t.Call(node.at, node.fn, node.args, node.keywords))
    if any(tr.type(arg).kind == "nd" for arg in moving):
        return tr.refuse(node, f"{tr.called(node)} broadcast over an NDArray")
    from .functional import _fresh_names

    names = _fresh_names(tr, node, moving)
    inner = iter(names)
    args = [next(inner) if arg in moving else arg for arg in node.args]
    with tr.without_hoisting():
        value = call(tr, t.Call(node.at, node.fn, list(args), node.keywords))
    target: ast.expr = ast.Name(names[0].id, ast.Store())
    source = tr.iterated(moving[0])
    if len(moving) > 1:
        target = ast.Tuple([ast.Name(n.id, ast.Store()) for n in names], ast.Store())
        source = make("zip", [tr.iterated(each) for each in moving])
    return ast.ListComp(value, [ast.comprehension(target, source, [], 0)])


def _unknown(tr: Translator, node: t.Call) -> ast.expr:
    fn = node.fn
    if tr.called(node) == "isapprox" and len(node.args) == 2:
        return tr.approximately(node.args[0], node.args[1], {k: v for k, v in node.keywords if k})
    if tr.called(node) == "∘":
        inner, outer = tr.function_value(node.args[1]), tr.function_value(node.args[0])
        return py("lambda x: _0(_1(x))", outer, inner)
    if tr.called(node) in ("include",) and isinstance(fn, t.Name):
        return tr.refuse(node, "include inside an expression")
    if isinstance(fn, t.Name):
        args, keywords = _arguments(tr, node)
        if fn.id in tr.elsewhere:
            return make(tr.names.of(fn.id), args, keywords)
        if fn.id in tr.state.get("struct names", ()):
            return make(tr.names.of(fn.id), args, keywords)
        tr.unknown(node, fn.id)
        return make(tr.names.of(fn.id), args, keywords)
    if isinstance(fn, t.Field):
        args, keywords = _arguments(tr, node)
        if is_mx(fn.obj):
            tr.unknown(node, f"mx.{fn.name}")
            return make(f"mx.{tr.names.of(fn.name)}", args, keywords)
        if isinstance(fn.obj, t.Name) and fn.obj.var is None:
            tr.unknown(node, f"{fn.obj.id}.{fn.name}")
            return make(name(f"{tr.names.of(fn.obj.id)}.{tr.names.of(fn.name)}"), args, keywords)
        return make(tr.expr(fn), args, keywords)
    applied = tr.custom_applied(node)
    if applied is not None:
        return applied
    args, keywords = _arguments(tr, node)
    own = tr.expr(fn)
    if tr.functions == "python" and tr.type(fn).kind == "struct" and tr.type(fn).name in tr.typer.custom:
        own = make(own)  # an instance of mx.autograd.Function serves one call
    return make(own, args, keywords)


# values in the form that a call wants


def array(tr: Translator, node: t.Node, literal: bool = False) -> ast.expr:
    """A value for arithmetic: lists and ranges become arrays."""
    kind = tr.type(node)
    if kind.kind == "range":
        if isinstance(node, t.Range):
            made = tr.expr(node)
            if isinstance(made, ast.Call) and ast.unparse(made.func) == "range":
                return make("np.arange", made.args)
            return made
        return make("np.array", [tr.expr(node)])
    if kind.kind == "list" and not literal:
        value = tr.expr(node)
        if isinstance(value, ast.List) and not value.elts:
            return value
        return make("np.array", [value])
    return tr.expr(node)


def as_list(tr: Translator, node: t.Node) -> bool:
    """Whether an array literal is bound to a variable that grows, and so must be a list."""
    return id(node) in tr.typer.lists


def iterated(tr: Translator, node: t.Node) -> ast.expr:
    """Something to go through: dictionaries give pairs, matrices all their elements."""
    kind = tr.type(node)
    if isinstance(node, t.Vector) and kind.kind == "arr":
        return ast.List([tr.expr(item) for item in node.items], ast.Load())
    value = tr.expr(node)
    if kind.kind == "dict":
        return method(value, "items")
    if kind.kind == "arr" and kind.rank is not None and kind.rank > 1:
        return py("_0.flat", value)
    if kind.kind == "int":
        return ast.List([value], ast.Load())
    return value


def dtype_keyword(
    tr: Translator, node: Optional[t.Node], default: str = "float64"
) -> list[tuple[Optional[str], ast.expr]]:
    """dtype="float32" for an element type that is not the default."""
    if isinstance(node, t.Curly):
        node = node.args[0] if node.args else None
    if node is None:
        return []
    dtype = dtype_of(node)
    if not dtype:
        return [("dtype", tr.expr(node))] if isinstance(node, t.Name) and node.var is not None else []
    if dtype == default:
        return []
    return [("dtype", const(dtype))]


def converted(tr: Translator, node: t.Call, target: str) -> ast.expr:
    """Int(x), Float32(x), Float64.(x)."""
    arg = node.args[0]
    kind = tr.type(arg)
    value = tr.array(arg)
    if (kind.arraylike or kind.kind in ("list", "range")) and (kind.kind != "numeric" or node.dotted):
        dtype = {"int": "int64", "float": "float64"}.get(target, target)
        return method(value, "astype", const(dtype))
    if node.dotted and kind.kind == "any":
        return method(value, "astype", const({"int": "int64", "float": "float64"}.get(target, target)))
    if target == "int" and kind.kind == "char":
        return make("ord", [value])
    word = {"float32": "np.float32", "float16": "np.float16"}.get(target, target)
    if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)) and target == "float":
        return const(float(value.value))
    return make(word, [value])


def concatenated(tr: Translator, word: str, iterable: t.Node, node: t.Node) -> ast.expr:
    """reduce(vcat, xs)."""
    splatted = t.Splat(iterable.at, iterable)
    if isinstance(iterable, t.Comprehension):
        iterable.generator = False
        return make("np.concatenate", [tr.expr(iterable)], [("axis", const(-1 if word == "vcat" else -2))])
    return tr.joined_arrays([splatted], 1 if word == "vcat" else 2, node)


_PYTHON_TYPES = {
    "int": "(int, np.integer)",
    "float": "(float, np.floating)",
    "num": "numbers.Number",
    "bool": "bool",
    "str": "str",
    "sym": "str",
    "char": "str",
    "dict": "dict",
    "nd": "mx.nd.NDArray",
    "arr": "(np.ndarray, list)",
    "list": "(list, np.ndarray)",
    "tuple": "tuple",
    "none": "type(None)",
    "symbolic": "mx.sym.Symbol",
    "context": "mx.Context",
}


def python_type(tr: Translator, kind: t.Node) -> Optional[ast.expr]:
    """A type of Julia's as one that isinstance takes."""
    if isinstance(kind, t.Name) and kind.var is not None:
        return tr.expr(kind)
    if isinstance(kind, t.Name) and kind.id in ERRORS:
        return name(ERRORS[kind.id])
    if isinstance(kind, t.Curly) and isinstance(kind.obj, t.Name) and kind.obj.id == "Union":
        parts = [python_type(tr, arg) for arg in kind.args]
        return None if None in parts else ast.Tuple([p for p in parts if p is not None], ast.Load())
    if isinstance(kind, t.Name) and kind.id == "Function":
        return None
    said = annotated(kind)
    word = _PYTHON_TYPES.get(said.kind) if said is not None else None
    return py(word) if word else None


def instance_of(tr: Translator, value: t.Node, kind: t.Node, node: t.Node) -> ast.expr:
    """x isa T."""
    if isinstance(kind, t.Name) and kind.id == "Nothing":
        return ast.Compare(tr.expr(value), [ast.Is()], [const(None)])
    if isinstance(kind, t.Name) and kind.id == "Function":
        return make("callable", [tr.expr(value)])
    made = python_type(tr, kind)
    if made is None:
        return tr.refuse(node, "a test for this type")
    return make("isinstance", [tr.expr(value), made])


def raised(tr: Translator, error: str, args: list[t.Node]) -> ast.expr:
    """error(…) and throw(…): a statement in Python, so only where one may stand."""
    if not tr.state.get("raising"):
        return tr.refuse(args[0] if args else tr.typer.tree, "an error raised inside an expression")
    if not error:
        tr.state["raise"] = tr.expr(args[0]) if args else None
        return const(None)
    from .code import formatted

    values = [tr.expr(arg) for arg in args]
    if len(values) > 1:
        values = [formatted(values)]
    tr.state["raise"] = make(error, values)
    return const(None)


def assignable(tr: Translator, node: t.Node) -> ast.expr:
    """The target of an assignment that is made before the statement."""
    return tr.expr(node)


def target(tr: Translator, node: t.Node) -> ast.expr:
    """What an assignment or a loop binds."""
    if isinstance(node, t.Name):
        if node.id == "_":
            return ast.Name("_", ast.Store())
        made = node.var.python if node.var is not None and node.var.python else tr.names.of(node.id)
        if node.var is not None and id(node.var) in tr.renamed:
            made = tr.renamed[id(node.var)]
        return ast.Name(made, ast.Store())
    if isinstance(node, t.TupleForm):
        return ast.Tuple([target(tr, item) for item in node.items], ast.Store())
    if isinstance(node, t.Splat):
        return ast.Starred(target(tr, node.value), ast.Store())
    if isinstance(node, t.Typed):
        return target(tr, node.value)
    if isinstance(node, t.Index):
        return tr.element(node.obj, node.args, store=True)
    if isinstance(node, t.Field):
        return tr.expr(node)
    return tr.refuse(node, "an assignment to this")


def kind_of(tr: Translator, node: t.Node) -> T:
    """The type of a form."""
    return tr.type(node)
