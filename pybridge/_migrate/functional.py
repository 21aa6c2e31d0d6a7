"""Functions as values: anonymous functions, comprehensions, map and its relatives."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Optional

from . import tree as t
from .base_math import ELEMENTWISE
from .code import call, const, list_of, method, name, py
from .scopes import Var, targets
from .types import T, element, matrix_rank

if TYPE_CHECKING:
    from .translator import Translator


def simple_body(tr: Translator, node: t.Lambda) -> Optional[t.Node]:
    """The one expression of an anonymous function's body, None if there is more."""
    items = [item for item in node.body.items if not isinstance(item, t.Comment)]
    if not items:
        return t.Const(node.at, None)
    if len(items) > 1:
        return None
    only = items[0]
    if isinstance(only, t.Return):
        only = only.value or t.Const(node.at, None)
    if isinstance(only, (t.If, t.For, t.While, t.Let, t.Try, t.Assign, t.FuncDef, t.Block, t.Jump)):
        return _as_expression(only) if isinstance(only, t.If) else None
    if isinstance(only, t.Call) and only.args and isinstance(only.args[0], t.Lambda):
        from .mx_autograd import BLOCKS

        if tr.called(only) in BLOCKS:
            return None
    if isinstance(only, t.Call) and tr.called(only) in ("error", "throw", "rethrow", "foreach"):
        return None
    if isinstance(only, t.Call) and tr.called(only) in _EFFECTS:
        return None
    if any(isinstance(each, (t.Return, t.Jump)) for each in only.walk() if not isinstance(each, t.Lambda)):
        return None
    if isinstance(only, t.MacroCall) and only.name not in ("sprintf", "view", "chain", "elapsed", "var"):
        return None
    return only


_EFFECTS = frozenset(
    [
        "add_to!",
        "sub_from!",
        "mul_to!",
        "div_from!",
        "mod_from!",
        "fill!",
        "copy!",
        "copyto!",
        "deleteat!",
        "prepend!",
        "clamp!",
    ]
)


def _as_expression(node: t.If) -> Optional[t.Node]:
    """if/else with one expression in each branch."""

    def only(block: Optional[t.Node]) -> Optional[t.Node]:
        if isinstance(block, t.If):
            return _as_expression(block)
        items = [i for i in block.items if not isinstance(i, t.Comment)] if isinstance(block, t.Block) else []
        if len(items) != 1 or isinstance(
            items[0], (t.Assign, t.Return, t.For, t.While, t.Let, t.Try, t.Jump)
        ):
            return _as_expression(items[0]) if len(items) == 1 and isinstance(items[0], t.If) else None
        return items[0]

    yes, no = only(node.then), only(node.orelse)
    return None if yes is None or no is None else t.Ternary(node.at, node.test, yes, no)


def parameter_names(tr: Translator, params: list[t.Param]) -> Optional[list[str]]:
    """Plain parameters by name; None if one is a tuple, has a default or takes the rest."""
    names = []
    for param in params:
        if not isinstance(param.target, t.Name) or param.default is not None or param.splat:
            return None
        names.append(tr.names.of(param.target.id) if param.target.id != "_" else "_")
    return names


def function_of(tr: Translator, node: t.Lambda, purpose: str = "") -> ast.expr:
    """A lambda where one expression does, else a function defined before the statement."""
    body = simple_body(tr, node)
    names = parameter_names(tr, node.params)
    if body is None or names is None or len(set(names)) < len(names):
        return tr.defined_before(node, purpose)
    with tr.inside_function(node):
        value = tr.unhoisted(body)
    args = ast.arguments([], [ast.arg(n) for n in names], None, [], [], None, [])
    captured = _captured(tr, node)
    if captured:
        args.args += [ast.arg(n) for n in captured]
        args.defaults = [name(n) for n in captured]
    return ast.Lambda(args, value)


def _captured(tr: Translator, node: t.Lambda) -> list[str]:
    """Loop variables that the function uses: Julia makes them anew in each round, Python does not."""
    own = {id(n.var) for param in node.params for n in targets(param.target)}
    found: dict[str, None] = {}
    for each in node.body.walk():
        var = each.var if isinstance(each, t.Name) else None
        if var is not None and id(var) not in own and tr.in_loop(var):
            found[tr.names.of(var.name)] = None
    return list(found)


def _bound_value(tr: Translator, fn: t.Node, values: list[t.Node]) -> ast.expr:
    """fn applied to values that are names already."""
    return tr.expr(t.Call(fn.at, fn, values))


def _fresh_names(tr: Translator, fn: t.Node, iterables: list[t.Node]) -> list[t.Name]:
    from .scopes import Scope

    made = []
    for number, iterable in enumerate(iterables):
        short = "xyz"[number] if len(iterables) < 4 else f"x{number + 1}"
        plural = iterable.id if isinstance(iterable, t.Name) else ""
        if plural.isascii() and plural.endswith("s") and len(plural) > 3 and not plural.endswith("ss"):
            short = plural[:-1]
        word = tr.names.fresh(short)
        var = Var(word, Scope("block", None))
        var.type = element(tr.type(iterable))
        var.python = word
        made.append(t.Name(fn.at, word, var))
    return made


def _applied(tr: Translator, fn: t.Node, iterables: list[t.Node]) -> tuple[ast.expr, ast.expr]:
    """The target of a comprehension and the value of fn in it."""
    if isinstance(fn, t.Lambda):
        body = simple_body(tr, fn)
        if body is not None and len(fn.params) == len(iterables) and not any(p.splat for p in fn.params):
            wanted = [tr.target(param.target) for param in fn.params]
            with tr.inside_function(fn):
                value = tr.unhoisted(body)
            return (wanted[0] if len(wanted) == 1 else ast.Tuple(wanted, ast.Store())), value
    names = _fresh_names(tr, fn, iterables)
    stores: list[ast.expr] = [ast.Name(n.id, ast.Store()) for n in names]
    if isinstance(fn, t.Lambda):
        made = tr.defined_before(fn, "each")
        value = call(made, [name(n.id) for n in names])
    else:
        value = _bound_value(tr, fn, list(names))
    return (stores[0] if len(stores) == 1 else ast.Tuple(stores, ast.Store())), value


def _source(tr: Translator, iterables: list[t.Node]) -> ast.expr:
    if len(iterables) == 1:
        return tr.iterated(iterables[0])
    return call("zip", [tr.iterated(each) for each in iterables])


def mapped(
    tr: Translator, fn: t.Node, iterables: list[t.Node], node: t.Node, generator: bool = False
) -> ast.expr:
    """[f(x) for x in xs]."""
    if not iterables:
        return tr.refuse(node, "map without something to go through")
    target, value = _applied(tr, fn, iterables)
    clause = ast.comprehension(target, _source(tr, iterables), [], 0)
    if generator:
        return ast.GeneratorExp(value, [clause])
    if tr.type(iterables[0]).kind == "tuple" and len(iterables) == 1:
        return call("tuple", [ast.GeneratorExp(value, [clause])])
    if len(iterables) == 1 and tr.type(iterables[0]).kind == "nd":
        return tr.refuse(node, "map over the elements of an NDArray")
    made: ast.expr = ast.ListComp(value, [clause])
    if len(iterables) == 1 and matrix_rank(tr.type(iterables[0])):
        return in_shape_of(tr, call("np.array", [made]), iterables[0])
    return made


def filtered(tr: Translator, fn: t.Node, iterable: t.Node, node: t.Node) -> ast.expr:
    """[x for x in xs if f(x)]."""
    target, test = _applied(tr, fn, [iterable])
    made = ast.ListComp(_as_load(target), [ast.comprehension(target, tr.iterated(iterable), [test], 0)])
    if tr.type(iterable).kind == "str":
        return call(ast.Attribute(const(""), "join", ast.Load()), [made])
    return (
        call("np.array", [made]) if tr.type(iterable).kind == "arr" and tr.type(node).kind == "arr" else made
    )


def filtered_dict(tr: Translator, fn: t.Node, iterable: t.Node, node: t.Node) -> ast.expr:
    """{k: v for k, v in d.items() if f}: the pair's parts are p.first and p.second, or p[1] and p[2]."""
    if not isinstance(fn, t.Lambda):
        return tr.refuse(node, "filter of a dictionary by a named function")
    target, test = _applied(tr, fn, [iterable])
    return py(
        "dict(_0)",
        ast.ListComp(_as_load(target), [ast.comprehension(target, tr.iterated(iterable), [test], 0)]),
    )


def counted(tr: Translator, fn: t.Node, iterable: t.Node, node: t.Node) -> ast.expr:
    """How many satisfy f."""
    target, test = _applied(tr, fn, [iterable])
    return call(
        "sum", [ast.GeneratorExp(const(1), [ast.comprehension(target, tr.iterated(iterable), [test], 0)])]
    )


def found(tr: Translator, fn: t.Node, iterable: t.Node, node: t.Node, every: bool) -> ast.expr:
    """The positions, from one, where f holds; the first of them or None."""
    target, test = _applied(tr, fn, [iterable])
    place = tr.names.fresh("i")
    pair = ast.Tuple([ast.Name(place, ast.Store()), target], ast.Store())
    clause = ast.comprehension(pair, py("enumerate(_0, 1)", tr.iterated(iterable)), [test], 0)
    if every:
        return ast.ListComp(name(place), [clause])
    return call("next", [ast.GeneratorExp(name(place), [clause]), const(None)])


def foreach(tr: Translator, fn: t.Node, iterables: list[t.Node], node: t.Node) -> ast.expr:
    """foreach inside an expression; as a statement it is a loop."""
    return tr.refuse(node, "foreach inside an expression: write a loop")


def _as_load(target: ast.expr) -> ast.expr:
    if isinstance(target, ast.Tuple):
        return ast.Tuple([_as_load(item) for item in target.elts], ast.Load())
    return name(target.id) if isinstance(target, ast.Name) else target


def comprehension(tr: Translator, node: t.Comprehension) -> ast.expr:
    """A comprehension or generator; over a grid the last iterator runs outermost, as memory does."""
    if isinstance(node.value, t.Binary) and node.value.op == "=>" and not node.generator:
        node.value = t.TupleForm(node.value.at, [node.value.left, node.value.right])
    if node.product and not node.generator:
        return _grid(tr, node)
    with tr.loop(node.scope):
        # the iterables may use the variables of the clauses before
        clauses = [
            ast.comprehension(tr.target(b.target), _clause(tr, node, b), [], 0)
            for b in (reversed(node.bindings) if node.product else node.bindings)
        ]
        if node.test is not None:
            clauses[-1].ifs.append(tr.unhoisted(node.test))
        value = tr.unhoisted(node.value)
    if node.generator:
        return ast.GeneratorExp(value, clauses)
    made: ast.expr = ast.ListComp(value, clauses)
    if tr.type(node).kind != "arr" or tr.as_list(node):
        return made
    made = call("np.array", [made], tr.dtype_keyword(node.elem, default="float64"))
    if node.test is None and len(node.bindings) == 1:
        return in_shape_of(tr, made, node.bindings[0].iterable)
    return made


def in_shape_of(tr: Translator, flat: ast.expr, source: t.Node) -> ast.expr:
    """What was made of a matrix's elements one by one is a matrix again."""
    if not matrix_rank(tr.type(source)):
        return flat
    if any(isinstance(each, t.Call) for each in source.walk()):
        return tr.refuse(source, "a matrix that is computed and gone through at once: give it a name")
    return method(flat, "reshape", py("_0.shape", tr.expr(source)))


def _clause(tr: Translator, node: t.Comprehension, binding: t.Binding) -> ast.expr:
    """What a clause goes through; positions count from zero where that is what they are used for."""
    from .loops import from_zero

    bodies = [node.value, *([node.test] if node.test is not None else [])]
    bodies += [other.iterable for other in node.bindings if other is not binding]
    made = from_zero(tr, bodies, binding)
    return made if made is not None else tr.iterated(binding.iterable)


def _grid(tr: Translator, node: t.Comprehension) -> ast.expr:
    with tr.loop(node.scope):
        clauses = [
            ast.comprehension(tr.target(binding.target), _clause(tr, node, binding), [], 0)
            for binding in node.bindings
        ]
        made = tr.unhoisted(node.value)
        for clause in clauses:
            made = ast.ListComp(made, [clause])
    if tr.type(node.value).scalar or tr.type(node.value).kind == "any":
        return call("np.array", [made], tr.dtype_keyword(node.elem, default=""))
    return tr.refuse(node, "a matrix of things that are no numbers")


def dict_comprehension(tr: Translator, node: t.Comprehension) -> ast.expr:
    """Dict(k => v for …)."""
    with tr.loop(node.scope):
        clauses = [
            ast.comprehension(tr.target(b.target), tr.iterated(b.iterable), [], 0) for b in node.bindings
        ]
        if node.test is not None:
            clauses[-1].ifs.append(tr.unhoisted(node.test))
        value = node.value
        if isinstance(value, t.Binary) and value.op == "=>":
            return ast.DictComp(tr.unhoisted(value.left), tr.unhoisted(value.right), clauses)
        if isinstance(value, t.TupleForm) and len(value.items) == 2:
            return ast.DictComp(tr.unhoisted(value.items[0]), tr.unhoisted(value.items[1]), clauses)
        return call("dict", [ast.GeneratorExp(tr.unhoisted(value), clauses)])


_OPERATORS = {
    "+": "operator.add",
    "-": "operator.sub",
    "*": "operator.mul",
    "/": "operator.truediv",
    "^": "operator.pow",
    "==": "operator.eq",
    "<": "operator.lt",
    ">": "operator.gt",
    "<=": "operator.le",
    ">=": "operator.ge",
    "&": "operator.and_",
    "|": "operator.or_",
    "!": "operator.not_",
}
_PLAIN = {
    "abs": "abs",
    "string": "str",
    "length": "len",
    "sum": "sum",
    "maximum": "max",
    "minimum": "min",
    "max": "max",
    "min": "min",
    "println": "print",
    "Int": "int",
    "Float64": "float",
    "String": "str",
    "uppercase": "str.upper",
    "lowercase": "str.lower",
    "strip": "str.strip",
    "round": "round",
    "typeof": "type",
    "isempty": "operator.not_",
    "first": "operator.itemgetter(0)",
    "last": "operator.itemgetter(-1)",
    "repr": "repr",
    "sort": "sorted",
    "collect": "list",
    "tuple": "lambda *items: items",
    "mean": "np.mean",
    "relu": "mx.nd.relu",
    "sigmoid": "mx.nd.sigmoid",
    "size": "np.shape",
}


def function_value(tr: Translator, fn: t.Node) -> ast.expr:
    """A function as a value: map's first argument, a default, an element of a list."""
    if isinstance(fn, t.Lambda):
        return function_of(tr, fn)
    if isinstance(fn, t.Name) and fn.var is None:
        if fn.id in _OPERATORS:
            return name(_OPERATORS[fn.id])
        if fn.id in _PLAIN:
            return py(_PLAIN[fn.id])
        if fn.id in ELEMENTWISE:
            single, numpy, _ = ELEMENTWISE[fn.id]
            return name(single if not tr.uses_arrays else numpy or single)
        if tr.typer.rule(t.Call(fn.at, fn, [])) is not None:
            return _wrapped(tr, fn)
    if isinstance(fn, t.Field):
        from .rules import is_mx, mx_rules

        rule = mx_rules().get(fn.name) if is_mx(fn.obj) else None
        if rule is not None and rule.shown.startswith("mx.nd.") and "," not in rule.shown:
            tr.meet(fn.name, rule)
            return name(rule.shown.split("(")[0])
        if is_mx(fn.obj):
            return _wrapped(tr, fn)
    return tr.expr(fn)


def _wrapped(tr: Translator, fn: t.Node) -> ast.expr:
    value = _fresh_names(tr, fn, [t.Const(fn.at, None)])[0]
    if value.var is not None:
        value.var.type = T("any")
    made = _bound_value(tr, fn, [value])
    return ast.Lambda(ast.arguments([], [ast.arg(value.id)], None, [], [], None, []), made)


__all__ = ["comprehension", "filtered", "function_of", "function_value", "list_of", "mapped", "simple_body"]
