"""The types of forms, one function for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Optional

from . import tree as t
from .annotations import called_struct, last_name
from .arithmetic import arithmetic, counted
from .infer_calls import call
from .rules import STANDARD, base_name

if TYPE_CHECKING:
    from .infer import Typer
from .scopes import targets
from .types import (
    ANY,
    BOOL,
    CHAR,
    COMPLEX,
    FLOAT,
    INT,
    NAT,
    NONE,
    NUM,
    NUMERIC,
    RNG,
    STR,
    SYM,
    SYMBOLIC,
    T,
    arr,
    element,
    function,
    join,
    list_of,
    matrix_rank,
    nd,
    range_of,
    tuple_of,
)


def _name(typer: Typer, node: t.Name) -> T:
    var = node.var
    if var is not None:
        if isinstance(var.definition, t.FuncDef):
            return function(node.id)
        if isinstance(var.definition, (t.StructDef, t.AbstractDef)):
            return T("type", name=node.id)
        return var.coming or var.type or ANY
    return _NAMES.get(node.id, ANY)


_NAMES = {
    **dict.fromkeys(["π", "pi", "ℯ", "Inf", "NaN", "Inf32"], FLOAT),
    "im": COMPLEX,
    "GLOBAL_RNG": RNG,
}


def _number(typer: Typer, node: t.Number) -> T:
    if isinstance(node.value, int):
        return NAT if node.value >= 0 else INT
    return FLOAT


def _const(typer: Typer, node: t.Const) -> T:
    return NONE if node.value is None else BOOL


def _string(typer: Typer, node: t.Str) -> T:
    for part in node.parts:
        if isinstance(part, t.Node):
            typer.of(part)
    return STR if node.prefix in ("", "raw") else T("regex") if node.prefix == "r" else ANY


def _unary(typer: Typer, node: t.Unary) -> T:
    value = typer.of(node.operand)
    if node.op == "!":
        return value if value.arraylike else BOOL
    if node.op == "-":
        return INT if value.kind == "int" else counted(value)
    if node.op in ("√", "∛"):
        return FLOAT if value.scalar else value
    return value


def _binary(typer: Typer, node: t.Binary) -> T:
    left, right = typer.of(node.left), typer.of(node.right)
    if node.op == "=>":
        return T("pair", items=(left, right))
    if node.op == "//":
        return NUM
    if node.op in ("∪", "∩"):
        return left
    if node.op == "⋅":
        return nd(1) if "nd" in (left.kind, right.kind) else NUM
    if node.op == "^" and isinstance(node.right, t.Unary) and left.kind == "int":
        return FLOAT
    dotted = node.dotted or id(node) in typer.marks
    row = node.left.value if node.op == "*" and not dotted and isinstance(node.left, t.Adjoint) else None
    if row is not None and left.kind == right.kind == "arr" and typer.of(row).rank == right.rank == 1:
        return NUM  # an inner product
    return arithmetic(node.op, left, right, dotted)


def _compare(typer: Typer, node: t.Compare) -> T:
    kinds = [typer.of(item) for item in node.items]
    if any(op.startswith(".") for op in node.ops):
        if any(kind.kind == "nd" for kind in kinds):
            ranks = [kind.rank for kind in kinds if kind.kind == "nd"]
            return nd(ranks[0])
        if any(kind.kind in ("arr", "list", "range", "numeric") for kind in kinds):
            return arr(max((k.rank or 0 for k in kinds), default=0) or None, BOOL)
        return ANY
    if any(kind.kind == "numeric" for kind in kinds) and id(node) in typer.marks:
        return NUMERIC
    return BOOL


def _logic(typer: Typer, node: t.Logic) -> T:
    typer.of(node.left)
    return join(BOOL, typer.of(node.right)) or BOOL


def _ternary(typer: Typer, node: t.Ternary) -> T:
    typer.of(node.test)
    return join(typer.of(node.yes), typer.of(node.no)) or ANY


def _range(typer: Typer, node: t.Range) -> T:
    parts = [typer.of(part) for part in (node.start, node.step, node.stop) if part is not None]
    if all(part.kind == "int" for part in parts):
        down = isinstance(node.step, t.Unary)
        return range_of(NAT if parts[-1 if down else 0].nonneg else INT)
    if any(part.kind == "float" for part in parts):
        return arr(1, FLOAT)
    return range_of(INT if all(part.kind in ("int", "any") for part in parts) else NUM)


def _tuple(typer: Typer, node: t.TupleForm) -> T:
    items = [typer.of(item) for item in node.items]
    if any(isinstance(item, t.Splat) for item in node.items):
        return T("tuple")
    return tuple_of(*items)


def _vector_literal(typer: Typer, node: t.Vector) -> T:
    items = [typer.of(item) for item in node.items]
    if node.elem is not None:
        typer.of(node.elem)
        elem = typer.annotation(node.elem)
        if elem is not None and elem.scalar and items and id(node) not in typer.lists:
            return arr(1, elem)
        return list_of(elem)
    if not items:
        return list_of(None)
    if id(node) in typer.lists:
        joined_list: Optional[T] = None
        for item in items:
            joined_list = join(joined_list, item)
        return list_of(joined_list)
    if len(node.items) == 1 and isinstance(node.items[0], t.Range):
        return list_of(items[0])
    joined: Optional[T] = None
    for item in items:
        joined = join(joined, item)
    if all(item.scalar for item in items):
        return arr(1, joined)
    return list_of(joined)


def _matrix(typer: Typer, node: t.Matrix) -> T:
    cells = [typer.of(cell) for row in node.rows for cell in row]
    if all(cell.scalar or cell.kind == "any" for cell in cells):
        column = all(len(row) == 1 for row in node.rows)
        elem = typer.annotation(node.elem) or (join(cells[0], cells[-1]) if cells else None)
        return arr(1 if column else 2, elem)
    if any(cell.kind == "nd" for cell in cells):
        return nd(2 if any(len(row) > 1 for row in node.rows) else cells[0].rank)
    return arr(2 if any(len(row) > 1 for row in node.rows) else cells[0].rank)


def _comprehension(typer: Typer, node: t.Comprehension) -> T:
    for binding in node.bindings:
        typer.bind(binding.target, element(typer.of(binding.iterable)))
    typer.of(node.test) if node.test is not None else None
    elem = typer.of(node.value)
    if node.elem is not None:
        elem = typer.annotation(node.elem) or elem
    if node.generator:
        return T("generator", 1, elem)
    rank = len(node.bindings) if node.product else 1
    if rank == 1 and node.test is None and elem.scalar:
        rank = matrix_rank(typer.of(node.bindings[0].iterable)) or 1
    if elem.scalar and id(node) not in typer.lists:
        return arr(rank, elem)
    return list_of(elem) if rank == 1 else ANY


def _index(typer: Typer, node: t.Index) -> T:
    obj = typer.of(node.obj)
    args = [typer.of(arg) for arg in node.args]
    return indexed(obj, node, args)


def indexed(obj: T, node: t.Index, args: list[T]) -> T:
    """The type of an element or a part."""
    if obj.kind == "dict":
        return obj.elem or ANY
    if obj.kind == "match":
        return STR
    masked = len(args) == 1 and args[0].kind in ("arr", "list") and args[0].elem == BOOL
    if masked and obj.kind in ("arr", "list", "range"):
        return arr(1, obj.elem) if obj.kind == "arr" else obj
    whole = [
        isinstance(a, (t.Colon, t.Range)) or k.kind in ("range", "arr", "list")
        for a, k in zip(node.args, args)
    ]
    if obj.kind == "tuple":
        first = node.args[0] if node.args else None
        if whole and whole[0]:
            return T("tuple")
        if obj.items is not None and obj.items:
            if isinstance(first, t.Number) and 1 <= first.value <= len(obj.items):
                return obj.items[first.value - 1]
            if isinstance(first, t.End):
                return obj.items[-1]
        return element(obj)
    if obj.kind == "pair" and obj.items is not None:
        first = node.args[0]
        return obj.items[first.value - 1] if isinstance(first, t.Number) else ANY
    if obj.kind == "str":
        return STR if any(whole) else CHAR
    if obj.kind == "nd":
        if not node.args:
            return FLOAT
        if len(node.args) == 1:
            return replace(obj, rank=obj.rank) if any(whole) else nd(1)
        return nd(sum(whole) or 1)
    if obj.kind in ("arr", "list", "range"):
        if not any(whole):
            return obj.elem or (NUM if obj.kind == "arr" else ANY)
        if obj.kind == "arr":
            return arr(sum(whole), obj.elem)
        return obj
    return ANY


def _field(typer: Typer, node: t.Field) -> T:
    if base_name(node.obj) in STANDARD and node.name in _NAMES:
        return _NAMES[node.name]
    obj = typer.of(node.obj)
    if obj.kind == "struct" and obj.name in typer.structs:
        known = typer.structs[obj.name]
        for entry in known.node.entries:
            if isinstance(entry.target, t.Name) and entry.target.id == node.name:
                said = typer.annotation(entry.type)
                if said is not None:
                    return said
        return known.entries.get(node.name) or ANY
    if obj.kind == "pair" and obj.items is not None:
        return obj.items[0 if node.name == "first" else 1]
    if obj.kind == "namedtuple" and obj.items is not None and node.name in obj.name.split():
        return obj.items[obj.name.split().index(node.name)]
    return ANY


def _lambda(typer: Typer, node: t.Lambda) -> T:
    for param in node.params:
        said = typer.annotation(param.type)
        if said is not None:
            typer.bind(param.target, said)
        if param.default is not None:
            typer.of(param.default)
    typer._returns.append(None)
    result = typer.block(node.body)
    typer._returns.pop()
    return T("func", elem=result)


def _funcdef(typer: Typer, node: t.FuncDef) -> T:
    typer.parameters(node)
    differentiable = (
        isinstance(node.name, t.Field)
        and bool(node.params)
        and last_name(node.params[0].type) in typer.custom
    )
    if differentiable:
        for param in node.params[1:]:
            typer.bind(param.target, arr() if typer.keeps else nd())
        typer._in_kept = typer.keeps
    key = node.name.id if isinstance(node.name, t.Name) else ""
    if node.receiver is not None:
        key = called_struct(last_name(node.receiver.type))
    known = typer.functions.get(key)
    typer._returns.append(known)
    result = typer.block(node.body)
    typer._returns.pop()
    if differentiable:
        typer._in_kept = False
    if known is not None:
        known.coming = join(known.coming, result)
    return function(node.name.id) if isinstance(node.name, t.Name) else NONE


def _return(typer: Typer, node: t.Return) -> T:
    value = typer.of(node.value)
    known = typer._returns[-1] if typer._returns else None
    if known is not None:
        known.coming = join(known.coming, value)
    return value


def _assign(typer: Typer, node: t.Assign) -> T:
    value = typer.of(node.value)
    if node.op and not node.dotted:
        before = typer.of(node.target)
        value = arithmetic(node.op, before, value, False)
        typer.bind(node.target, value)
    elif node.dotted or isinstance(node.target, t.Index):
        typer.of(node.target)
    else:
        typer.bind(node.target, value)
    return value


def _for(typer: Typer, node: t.For) -> T:
    for binding in node.bindings:
        typer.bind(binding.target, element(typer.of(binding.iterable)))
    typer.block(node.body)
    return NONE


def _while(typer: Typer, node: t.While) -> T:
    typer.of(node.test)
    typer.block(node.body)
    return NONE


def _if(typer: Typer, node: t.If) -> T:
    typer.of(node.test)
    then = typer.block(node.then)
    other = NONE if node.orelse is None else typer.of(node.orelse)
    return join(then, other) or ANY


def _let(typer: Typer, node: t.Let) -> T:
    for binding in node.bindings:
        typer.of(binding)
    return typer.block(node.body)


def _try(typer: Typer, node: t.Try) -> T:
    if node.name is not None:
        typer.bind(node.name, T("exception"))
    result: Optional[T] = typer.block(node.body)
    if node.handler is not None:
        result = join(result, typer.block(node.handler))
    if node.final is not None:
        typer.block(node.final)
    return result or ANY


def _struct(typer: Typer, node: t.StructDef) -> T:
    for constructor in node.constructors:
        typer.parameters(constructor)
        typer.block(constructor.body)
    for entry in node.entries:
        if entry.default is not None:
            typer.of(entry.default)
    return NONE


def _macro(typer: Typer, node: t.MacroCall) -> T:
    if node.name == "nd_as_jl":
        for arg in node.args[:-1]:
            for name in targets(arg.value) if isinstance(arg, t.Assign) else ():
                outer = typer.of(name)
                typer._grow(node.scope.vars[name.id], arr(outer.rank, NUM))
        typer.of(node.args[-1])
        return NONE
    if node.name == "chain":
        for arg in node.args:
            typer.of(arg)
        return SYMBOLIC
    last: T = ANY
    for arg in node.args:
        last = typer.of(arg.value if isinstance(arg, t.Assign) and node.name in ("info", "warn") else arg)
    if node.name == "sprintf":
        return STR
    if node.name == "elapsed":
        return FLOAT
    if node.name in ("view", "views", "inbounds", "time", "fastmath", "simd", "mx"):
        return last
    if node.name == "var":
        return SYMBOLIC
    return ANY


FORMS: dict[type, Callable[[Typer, Any], T]] = {
    t.Name: _name,
    t.Number: _number,
    t.Const: _const,
    t.Str: _string,
    t.Char: lambda typer, node: CHAR,
    t.Sym: lambda typer, node: SYM,
    t.Unary: _unary,
    t.Binary: _binary,
    t.Compare: _compare,
    t.Logic: _logic,
    t.Ternary: _ternary,
    t.Range: _range,
    t.TupleForm: _tuple,
    t.NamedTupleForm: lambda typer, node: T(
        "namedtuple",
        items=tuple(typer.of(value) for _, value in node.entries),
        name=" ".join(key for key, _ in node.entries),
    ),
    t.Vector: _vector_literal,
    t.Matrix: _matrix,
    t.Comprehension: _comprehension,
    t.Index: _index,
    t.Field: _field,
    t.Lambda: _lambda,
    t.FuncDef: _funcdef,
    t.Return: _return,
    t.Assign: _assign,
    t.For: _for,
    t.While: _while,
    t.If: _if,
    t.Let: _let,
    t.Try: _try,
    t.StructDef: _struct,
    t.MacroCall: _macro,
    t.Call: call,
    t.Block: lambda typer, node: typer.block(node),
    t.Adjoint: lambda typer, node: _adjoint(typer.of(node.value)),
    t.Typed: lambda typer, node: typer.annotation(node.type) or typer.of(node.value),
    t.Splat: lambda typer, node: typer.of(node.value),
    t.Decl: lambda typer, node: typer.of(node.value),
    t.Global: lambda typer, node: typer.of(node.value) if node.value is not None else NONE,
    t.ModuleDef: lambda typer, node: typer.block(node.body),
    t.Comment: lambda typer, node: NONE,
}


def _adjoint(value: T) -> T:
    if value.kind in ("nd", "arr"):
        return replace(value, rank=2 if value.rank in (1, 2) else None)
    return value
