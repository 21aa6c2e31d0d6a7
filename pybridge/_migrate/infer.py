"""Finding out what is known statically: the types of variables and expressions, from literals, calls and uses.

The passes know no order of statements: a variable's type joins everything that is ever assigned to it, a parameter's
everything that a call in the file passes. A few passes let that settle; each is one walk over the tree that starts
afresh and reads what the one before has found, so that what was unknown at first leaves no trace.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Optional

from . import growth
from . import tree as t
from .rules import BROADCAST, Rule, base_name, lookup, mx_name
from .scopes import Scope, Var, targets
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
    STR,
    SYM,
    SYMBOLIC,
    T,
    arr,
    dict_of,
    element,
    function,
    join,
    list_of,
    nd,
    range_of,
    struct,
    tuple_of,
)

PASSES = 4


@dataclass
class Function:
    """A function of the file: its methods, what it returns, and how it is called."""

    name: str
    methods: list[t.FuncDef] = field(default_factory=list)
    result: Optional[T] = None
    coming: Optional[T] = None
    plain: int = 0
    dotted: int = 0


@dataclass
class Struct:
    """A struct of the file, and what is known of its fields."""

    node: t.StructDef
    entries: dict[str, Optional[T]] = field(default_factory=dict)
    coming: dict[str, Optional[T]] = field(default_factory=dict)


def called_struct(name: str) -> str:
    """The key of the methods that make instances of a struct callable."""
    return f"(::{name})"


class Typer:
    """The types of one file."""

    def __init__(self, tree: t.Block, top: Scope) -> None:
        self.tree = tree
        self.top = top
        self.functions: dict[str, Function] = {}
        self.structs: dict[str, Struct] = {}
        self.custom: set[str] = set()  # structs that are differentiable functions
        self.keeps = True  # they stay Julia: their bodies say nothing of what Python does
        self._in_kept = False
        self.memo: dict[int, T] = {}
        self.lists: set[int] = set()  # array literals that end up where something grows
        self._bound: dict[int, Var] = {}
        self.marks: set[int] = set()  # forms in bodies of functions that are only ever broadcast
        self._returns: list[Optional[Function]] = []
        for node in tree.walk():
            if isinstance(node, t.FuncDef) and node.receiver is not None:
                key = called_struct(_last(node.receiver.type))
                self.functions.setdefault(key, Function(key)).methods.append(node)
            elif isinstance(node, t.FuncDef) and isinstance(node.name, t.Name):
                self.functions.setdefault(node.name.id, Function(node.name.id)).methods.append(node)
            elif isinstance(node, t.StructDef):
                entries = {
                    entry.target.id: None for entry in node.entries if isinstance(entry.target, t.Name)
                }
                self.structs[node.name.id] = Struct(node, dict(entries))

    def settle(self) -> None:
        """Walk the file until nothing new is to be expected."""
        self.lists = growth.literals(self)
        for _ in range(PASSES):
            self.memo.clear()
            for known in self.functions.values():
                known.plain = known.dotted = 0
            self.block(self.tree)
            self._turn_over()
            self.marks = {
                id(each)
                for known in self.functions.values()
                if self.elementwise(known.name)
                for method in known.methods
                for each in method.body.walk()
            }
        self.memo.clear()

    def _turn_over(self) -> None:
        """What this pass has found is what the next one reads."""
        for var in self._bound.values():
            var.type, var.coming = var.coming, None
        for function_ in self.functions.values():
            function_.result, function_.coming = function_.coming, None
        for known in self.structs.values():
            known.entries, known.coming = {**known.entries, **known.coming}, {}

    # statements

    def block(self, block: t.Block) -> T:
        """Every statement; the type of the last."""
        last: T = NONE
        for item in block.items:
            if not isinstance(item, t.Comment):
                last = self.of(item)
        return last

    def bind(self, target: t.Node, value: T) -> None:
        """What an assignment says of its target."""
        if isinstance(target, t.Name) and target.var is not None:
            self._grow(target.var, value)
        elif isinstance(target, t.TupleForm):
            for place, item in enumerate(target.items):
                if isinstance(item, t.Splat):
                    self.bind(item.value, list_of(None))
                elif value.items is not None and place < len(value.items):
                    self.bind(item, value.items[place])
                else:
                    self.bind(item, element(value))
        elif isinstance(target, t.Typed):
            self.bind(target.value, self.annotation(target.type) or value)
        elif isinstance(target, t.Field):
            self._bind_field(target, value)

    def _grow(self, var: Var, value: T) -> None:
        if var.grows and value.kind == "arr" and value.rank in (1, None):
            value = list_of(value.elem)
        var.coming = join(var.coming, value)
        self._bound[id(var)] = var

    def _bind_field(self, target: t.Field, value: T) -> None:
        obj = self.of(target.obj)
        known = self.structs.get(obj.name) if obj.kind == "struct" else None
        if known is not None:
            known.coming[target.name] = join(known.coming.get(target.name), value)

    def annotation(self, node: Optional[t.Node]) -> Optional[T]:
        """The type that a Julia type means, None if it says too little."""
        return annotated(node, self.structs)

    # expressions

    def of(self, node: Optional[t.Node]) -> T:
        """The type of a form."""
        if node is None:
            return NONE
        known = self.memo.get(id(node))
        if known is None:
            handler = _OF.get(type(node))
            known = handler(self, node) if handler is not None else self._other(node)
            self.memo[id(node)] = known
        return known

    def _other(self, node: t.Node) -> T:
        for child in node.children():
            self.of(child)
        return ANY

    def parameters(self, node: t.FuncDef) -> None:
        """What annotations and defaults say of the parameters."""
        receiver = [node.receiver] if node.receiver else []
        for param in [*receiver, *node.params, *node.keywords]:
            said = self.annotation(param.type)
            if param.default is not None:
                default = self.of(param.default)
                said = said or (default if default.kind != "none" else None)
            if param.splat:
                said = list_of(said) if param not in node.keywords else dict_of(STR, said)
            if said is not None:
                self.bind(param.target, said)

    def passed(self, node: t.FuncDef, args: list[T], keywords: dict[str, T]) -> None:
        """What a call says of the parameters."""
        for param, value in zip(node.params, args):
            if param.splat:
                break
            if self.annotation(param.type) is None:
                self.bind(param.target, value)
        for param in node.keywords:
            if isinstance(param.target, t.Name) and param.target.id in keywords:
                self.bind(param.target, keywords[param.target.id])

    def rule(self, call: t.Call) -> Optional[Rule]:
        """The rule of the tables for a call, unless the name belongs to the file."""
        return lookup(self, call.fn)

    def elementwise(self, name: str) -> bool:
        """Whether a function of the file is only ever called with a dot: its body is about single elements."""
        known = self.functions.get(name)
        return known is not None and known.dotted > 0 and known.plain == 0


def annotated(node: Optional[t.Node], structs: Any = ()) -> Optional[T]:
    """The type that a Julia type means."""
    if isinstance(node, t.Curly):
        base = _last(node.obj)
        inner = [annotated(arg, structs) for arg in node.args]
        rank = node.args[1].value if len(node.args) > 1 and isinstance(node.args[1], t.Number) else None
        if base in ("Vector", "AbstractVector"):
            return _vector(inner[0])
        if base in ("Matrix", "AbstractMatrix"):
            return arr(2, inner[0])
        if base in ("Array", "AbstractArray"):
            return _vector(inner[0]) if rank == 1 else arr(rank, inner[0])
        if base == "NDArray":
            return nd(rank)
        if base == "Dict":
            return dict_of(inner[0], inner[1] if len(inner) > 1 else None)
        if base in ("Tuple", "NTuple"):
            return T("tuple")
        return None
    name = _last(node)
    if name in structs:
        return struct(name)
    return _ANNOTATIONS.get(name)


def _vector(elem: Optional[T]) -> T:
    if elem is not None and (elem.scalar):
        return arr(1, elem)
    return list_of(elem)


def _last(node: Optional[t.Node]) -> str:
    return node.id if isinstance(node, t.Name) else node.name if isinstance(node, t.Field) else ""


_ANNOTATIONS: dict[str, T] = {
    **dict.fromkeys(
        ["Int", "Int64", "Int32", "Int16", "Int8", "UInt8", "Integer", "UInt", "UInt64", "UInt32"], INT
    ),
    **dict.fromkeys(["Float64", "Float32", "Float16", "AbstractFloat", "MX_float"], FLOAT),
    "Real": NUM,
    "Number": NUM,
    "Bool": BOOL,
    **dict.fromkeys(["String", "AbstractString"], STR),
    "Char": CHAR,
    "Symbol": SYM,
    "NDArray": nd(),
    "SymbolicNode": SYMBOLIC,
    "Nothing": NONE,
    "Vector": arr(1),
    "AbstractVector": arr(1),
    "Matrix": arr(2),
    "AbstractMatrix": arr(2),
    "Array": arr(),
    "AbstractArray": arr(),
    "Dict": T("dict"),
    "Context": T("context"),
    "Tuple": T("tuple"),
    "Function": T("func"),
}


def _name(typer: Typer, node: t.Name) -> T:
    var = node.var
    if var is not None:
        if isinstance(var.definition, t.FuncDef):
            return function(node.id)
        if isinstance(var.definition, (t.StructDef, t.AbstractDef)):
            return T("type", name=node.id)
        return var.coming or var.type or ANY
    return _NAMES.get(node.id, ANY)


_NAMES = {"π": FLOAT, "pi": FLOAT, "ℯ": FLOAT, "Inf": FLOAT, "NaN": FLOAT, "im": COMPLEX, "Inf32": FLOAT}
_TYPE_NAMES = frozenset(_ANNOTATIONS)


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


def counted(value: T) -> T:
    """Ranges and lists that arithmetic makes arrays of."""
    if value.kind == "range":
        return arr(1, value.elem)
    if value.kind == "list":
        return arr(1, value.elem)
    return value


def arithmetic(op: str, left: T, right: T, dotted: bool) -> T:
    """The type of `left op right`."""
    left, right = (counted(x) if dotted or x.kind == "range" else x for x in (left, right))
    if left.scalar and right.scalar:
        return _scalars(op, left, right)
    if "symbolic" in (left.kind, right.kind):
        return SYMBOLIC
    if op == "*" and not dotted:
        if left.kind in ("str", "char") and right.kind in ("str", "char"):
            return STR
        if left.arraylike and right.arraylike and "numeric" not in (left.kind, right.kind):
            kind = "nd" if "nd" in (left.kind, right.kind) else "arr"
            known = left.rank is not None and right.rank is not None
            rank = max(left.rank + right.rank - 2, 0) if known else None  # type: ignore[operator]
            if rank == 0 and kind == "arr":
                return NUM
            return T(kind, rank if rank else (1 if rank == 0 else None), FLOAT if kind == "arr" else None)
    if left.kind in ("str", "sym") and op == "^":
        return STR
    for one, other in ((left, right), (right, left)):
        if one.kind == "nd":
            if other.scalar:
                return nd(one.rank)
            if other.arraylike:
                known = one.rank is not None and other.rank is not None
                return nd(max(one.rank, other.rank) if known else None)  # type: ignore[type-var]
            return nd() if other.kind == "any" and dotted else (nd(one.rank) if op != "*" else nd())
    arrays = [x for x in (left, right) if x.kind == "arr"]
    if arrays:
        ranks = [x.rank for x in arrays]
        rank = max(r for r in ranks if r is not None) if None not in ranks else None
        others = [x for x in (left, right) if x.kind != "arr"]
        if all(x.scalar for x in others):
            elem = _scalars(op, left.elem or left, right.elem or right)
            return arr(rank, elem if elem.scalar else None)
        return arr(rank if not others else None)
    if "numeric" in (left.kind, right.kind):
        return NUMERIC
    return ANY


def _scalars(op: str, left: T, right: T) -> T:
    kinds = {left.kind, right.kind}
    if "complex" in kinds:
        return COMPLEX
    if op in ("/",):
        return FLOAT
    if kinds <= {"bool"} and op in ("&", "|", "⊻"):
        return BOOL
    if kinds <= {"int", "bool"}:
        keeps = op in ("+", "*", "÷", "%", "^", ">>", "<<", "&")
        return T("int", nonneg=keeps and left.nonneg and right.nonneg)
    if "float" in kinds:
        return FLOAT
    return NUM


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
    return arithmetic(node.op, left, right, node.dotted or id(node) in typer.marks)


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
        isinstance(node.name, t.Field) and bool(node.params) and _last(node.params[0].type) in typer.custom
    )
    if differentiable:
        for param in node.params[1:]:
            typer.bind(param.target, arr() if typer.keeps else nd())
        typer._in_kept = typer.keeps
    key = node.name.id if isinstance(node.name, t.Name) else ""
    if node.receiver is not None:
        key = called_struct(_last(node.receiver.type))
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


def _call(typer: Typer, node: t.Call) -> T:
    args = [typer.of(arg) for arg in node.args]
    keywords = {key: typer.of(value) for key, value in node.keywords if key}
    for key, value in node.keywords:
        if key is None:
            typer.of(value)
    if isinstance(node.fn, t.Name) and node.fn.var is not None:
        return _own_call(typer, node, node.fn.var, args, keywords)
    if isinstance(node.fn, t.Lambda):
        return typer.of(node.fn).elem or ANY
    if isinstance(node.fn, t.Call):
        made = typer.of(node.fn)
        if made.kind == "struct" and made.name in typer.custom:
            return args[0] if args else ANY
        return made.elem or ANY if made.kind == "func" else ANY
    rule = typer.rule(node)
    if rule is None:
        typer.of(node.fn)
        return ANY
    said = rule.type
    result = said(typer, node, args) if callable(said) else said
    if (
        node.dotted
        and base_name(node.fn) not in BROADCAST
        and not result.arraylike
        and mx_name(node.fn) is None
    ):
        return list_of(result)
    return result


def _own_call(typer: Typer, node: t.Call, var: Var, args: list[T], keywords: dict[str, T]) -> T:
    name = var.name
    if isinstance(var.definition, t.StructDef):
        known = typer.structs[name]
        others = typer.functions.get(name)
        for method in others.methods if others is not None else ():
            if len(args) <= len(method.params):
                typer.passed(method, args, keywords)
        if not known.node.constructors and len(args) == len(known.node.entries):
            for entry, value in zip(known.node.entries, args):
                if isinstance(entry.target, t.Name):
                    known.coming[entry.target.id] = join(known.coming.get(entry.target.id), value)
        return struct(name)
    known_function = typer.functions.get(name) if isinstance(var.definition, t.FuncDef) else None
    if known_function is None:
        if var.type is not None and var.type.kind == "struct" and var.type.name in typer.custom:
            return args[0] if args else ANY
        if (
            var.type is not None
            and var.type.kind == "struct"
            and called_struct(var.type.name) in typer.functions
        ):
            callee = typer.functions[called_struct(var.type.name)]
            for method in callee.methods:
                typer.passed(method, args, keywords)
            return callee.coming or callee.result or ANY
        told = (var.type.elem or ANY) if var.type is not None and var.type.kind == "func" else ANY
        # a function that comes as a value: what it makes of NDArrays is taken for one
        return nd() if told.kind == "any" and any(arg.kind == "nd" for arg in args) else told
    if typer._in_kept:
        if node.dotted:
            args = [FLOAT for _ in args]
    elif node.dotted:
        known_function.dotted += 1
        args = [NUMERIC if a.kind in ("arr", "list", "range") else a for a in args]
    else:
        known_function.plain += 1
    for method in known_function.methods:
        if any(isinstance(arg, t.Splat) for arg in node.args):
            break
        fits = len(args) <= len(method.params) and all(
            p.default is not None for p in method.params[len(args) :]
        )
        if fits or any(p.splat for p in method.params):
            typer.passed(method, args, keywords)
    result = known_function.coming or known_function.result or ANY
    if node.dotted and any(a.kind == "numeric" for a in args) and not result.arraylike:
        original = [typer.of(arg) for arg in node.args]
        ranks = [a.rank for a in original if a.kind in ("arr", "list", "range")]
        return arr(max((r for r in ranks if r is not None), default=0) or None, NUM)
    return result


_OF: dict[type, Callable[[Typer, Any], T]] = {
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
    t.Call: _call,
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


__all__ = ["Function", "Struct", "Typer", "annotated", "arithmetic", "element", "targets"]
