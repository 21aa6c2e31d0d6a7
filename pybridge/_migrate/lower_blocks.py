"""From tree-sitter's tree to ours: statements, definitions, and the comments and docstrings between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Optional

from .tree import (
    AbstractDef,
    Assign,
    At,
    Block,
    Comment,
    Decl,
    Export,
    Field,
    For,
    FuncDef,
    Global,
    If,
    Lambda,
    Let,
    MacroCall,
    ModuleDef,
    Name,
    Node,
    Param,
    Return,
    Str,
    StructDef,
    Try,
    TupleForm,
    Unknown,
    Using,
    While,
)

if TYPE_CHECKING:
    from .lower import Lowering

_COMMENTS = ("line_comment", "block_comment")
_DOCUMENTED = (FuncDef, StructDef, ModuleDef)


def statement(low: Lowering, node: Any) -> Optional[Node]:
    """A statement or definition, None if the form is of another kind."""
    lower = _LOWER.get(node.type)
    return None if lower is None else lower(low, node)


def block(low: Lowering, nodes: list[Any], at: At) -> Block:
    """Statements with the comments between them, at their places."""
    items: list[Node] = []
    outer, low.pending = low.pending, []
    last_row = at.row if nodes and nodes[0].start_point[0] + 1 == at.row and at.row > 1 else 0
    for node in nodes:
        if node.type in _COMMENTS:
            row = node.start_point[0] + 1
            trailing = row == last_row and bool(items) and not isinstance(items[-1], Comment)
            items.append(low.comment(node, trailing))
        elif node.is_named:
            made = low.expr(node)
            inside, low.pending = low.pending, []
            items.extend(sorted(inside, key=lambda comment: comment.at.start))
            items.append(made)
            last_row = made.at.end_row
    low.pending = outer + low.pending
    return Block(at, _with_docstrings(items))


def body(low: Lowering, node: Any) -> Block:
    """The body of a short function: one expression, or what a begin block holds."""
    made = low.expr(node)
    return made if isinstance(made, Block) else Block(made.at, [made])


def _with_docstrings(items: list[Node]) -> list[Node]:
    """A string before a definition becomes its documentation."""
    kept: list[Node] = []
    for item in items:
        before = kept[-1] if kept else None
        target = item
        if isinstance(item, MacroCall) and item.args and isinstance(item.args[-1], (StructDef, FuncDef)):
            target = item.args[-1]
        if isinstance(before, Str) and isinstance(target, _DOCUMENTED) and target.doc is None:
            target.doc = before
            kept[-1] = item
        else:
            kept.append(item)
    return kept


def assignment(low: Lowering, node: Any) -> Node:
    """An assignment, or the short form of a function."""
    kids = low.named(node)
    left, op, right = kids[0], low.text(kids[1]), kids[2]
    at = low.at(node)
    if op == "=":
        call = _signature_call(left)
        if call is not None:
            return _function(low, at, left, body(low, right), short=True)
    value, target = low.expr(right), low.expr(left)
    dotted = op.startswith(".")
    return Assign(at, target, value, op[1:-1] if dotted else op[:-1], dotted)


def _signature_call(node: Any) -> Any:
    """The call inside a signature with return type and where clauses."""
    while node.type in ("where_expression", "typed_expression", "signature"):
        node = node.children[0]
    return node if node.type == "call_expression" else None


def _function(low: Lowering, at: At, signature: Any, inside: Block, short: bool = False) -> Node:
    while signature.type in ("where_expression", "typed_expression", "signature"):
        signature = signature.children[0]
    if signature.type == "identifier":
        return FuncDef(at, Name(low.at(signature), low.text(signature)), [], [], inside)
    if signature.type in ("argument_list", "tuple_expression"):
        params = low.params([kid for kid in signature.children if kid.is_named])
        return Lambda(at, params, inside)
    called, arguments = low.named(signature)[:2]
    params, keywords = _split(low, arguments)
    if called.type == "parenthesized_expression":
        receiver = low.param(low.named(called)[0])
        return FuncDef(at, None, params, keywords, inside, receiver=receiver, short=short)
    if called.type == "parametrized_type_expression":
        called = called.children[0]
    name = low.expr(called)
    if not isinstance(name, (Name, Field)):
        return Unknown(at, "a definition of something that is no plain name")
    return FuncDef(at, name, params, keywords, inside, short=short)


def _split(low: Lowering, arguments: Any) -> tuple[list[Param], list[Param]]:
    before: list[Any] = []
    after: list[Any] = []
    place = before
    for child in arguments.children:
        if child.type == ";":
            place = after
        elif child.type in _COMMENTS:
            low.pending.append(low.comment(child))
        elif child.is_named:
            place.append(child)
    return low.params(before), low.params(after)


def _function_definition(low: Lowering, node: Any) -> Node:
    signature = next(child for child in node.children if child.type == "signature")
    inside = [c for c in node.children if c.type not in ("function", "signature", "end")]
    made = block(low, inside, low.at(node))
    return _function(low, low.at(node), signature.children[0], made)


def _if(low: Lowering, node: Any) -> Node:
    return _branch(low, list(node.children), low.at(node))


def _branch(low: Lowering, children: list[Any], at: At) -> If:
    """`if` or `elseif`: the test is the first form after the word, the clauses stand behind the statements."""
    named = [c for c in children[1:] if c.is_named and c.type not in _COMMENTS]
    condition = named[0]
    clauses = [c for c in children if c.type in ("elseif_clause", "else_clause")]
    inside = [c for c in children[1:] if c != condition and c not in clauses and c.type != "end"]
    test = low.expr(condition)
    then = block(low, inside, low.at(condition))
    orelse: Optional[Node] = None
    for clause in reversed(clauses):
        if clause.type == "else_clause":
            orelse = block(low, list(clause.children)[1:], low.at(clause))
        else:
            made = _branch(low, list(clause.children), low.at(clause))
            made.orelse = orelse
            orelse = made
    return If(at, test, then, orelse)


def _for(low: Lowering, node: Any) -> Node:
    bindings = [low.binding(c) for c in node.children if c.type == "for_binding"]
    inside = [c for c in node.children if c.type not in ("for", "for_binding", "end", ",")]
    return For(low.at(node), bindings, block(low, inside, low.at(node)))


def _while(low: Lowering, node: Any) -> Node:
    named = [c for c in node.children if c.is_named and c.type not in _COMMENTS]
    inside = [c for c in node.children[1:] if c != named[0] and c.type != "end"]
    return While(low.at(node), low.expr(named[0]), block(low, inside, low.at(named[0])))


def _let(low: Lowering, node: Any) -> Node:
    """The bindings are what commas join on the line of the word."""
    children = list(node.children)[1:-1]
    bound: list[Any] = []
    comma = True
    while children:
        child = children[0]
        if child.type == ",":
            comma = True
        elif comma and child.is_named and child.type not in _COMMENTS:
            if child.start_point[0] != node.start_point[0] and not bound:
                break
            bound.append(child)
            comma = False
        else:
            break
        children.pop(0)
    return Let(low.at(node), [_binding(low, c) for c in bound], block(low, children, low.at(node)))


def _binding(low: Lowering, node: Any) -> Node:
    if node.type == "let_binding":
        kids = [kid for kid in low.named(node) if kid.type != "operator"]
        return Assign(low.at(node), low.expr(kids[0]), low.expr(kids[-1]))
    return low.expr(node)


def _try(low: Lowering, node: Any) -> Node:
    at = low.at(node)
    inside = [c for c in node.children[1:] if c.type not in ("catch_clause", "finally_clause", "end")]
    name: Optional[Name] = None
    handler = final = None
    for clause in node.children:
        if clause.type == "catch_clause":
            kids = list(clause.children)[1:]
            first = kids[0] if kids else None
            if (
                first is not None
                and first.type == "identifier"
                and first.start_point[0] == clause.start_point[0]
            ):
                name = Name(low.at(first), low.text(first))
                kids = kids[1:]
            handler = block(low, kids, low.at(clause))
        elif clause.type == "finally_clause":
            final = block(low, list(clause.children)[1:], low.at(clause))
    return Try(at, block(low, inside, at), name, handler, final)


def _struct(low: Lowering, node: Any) -> Node:
    head = next(c for c in node.children if c.type == "type_head")
    name, parent = _head(low, head)
    made = StructDef(low.at(node), name, parent, [], [], any(c.type == "mutable" for c in node.children))
    place = [c for c in node.children if c.type not in ("mutable", "struct", "type_head", "end")]
    for child in place:
        if child.type in _COMMENTS:
            made.comments.append(low.comment(child))
        elif child.type in ("function_definition", "assignment") and (
            child.type == "function_definition" or _signature_call(child.children[0]) is not None
        ):
            constructor = low.expr(child)
            if isinstance(constructor, FuncDef):
                made.constructors.append(constructor)
        elif child.type in ("identifier", "typed_expression", "assignment"):
            made.entries.append(low.param(child))
        elif child.type == "string_literal":
            made.comments.append(Comment(low.at(child), "# " + low.text(child).strip('"').strip()))
    return made


def _head(low: Lowering, head: Any) -> tuple[Name, Optional[Node]]:
    inner = low.named(head)[0]
    parent: Optional[Node] = None
    if inner.type == "binary_expression":
        left, _, right = low.named(inner)
        parent = low.expr(right)
        inner = left
    if inner.type == "parametrized_type_expression":
        inner = inner.children[0]
    return Name(low.at(inner), low.text(inner)), parent


def _abstract(low: Lowering, node: Any) -> Node:
    name, parent = _head(low, next(c for c in node.children if c.type == "type_head"))
    return AbstractDef(low.at(node), name, parent)


def _module(low: Lowering, node: Any) -> Node:
    named = [c for c in node.children if c.is_named and c.type not in _COMMENTS]
    inside = [c for c in node.children[1:] if c != named[0] and c.type != "end"]
    return ModuleDef(low.at(node), low.text(named[0]), block(low, inside, low.at(node)))


def _using(low: Lowering, node: Any) -> Node:
    modules: list[tuple[str, Optional[list[str]]]] = []
    for child in low.named(node):
        if child.type == "selected_import":
            kids = low.named(child)
            modules.append((low.text(kids[0]), [low.text(kid) for kid in kids[1:]]))
        else:
            modules.append((low.text(child), None))
    return Using(low.at(node), modules)


def _export(low: Lowering, node: Any) -> Node:
    return Export(low.at(node), [low.text(kid) for kid in low.named(node)])


def _return(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    return Return(low.at(node), low.expr(kids[0]) if kids else None)


def _global(low: Lowering, node: Any) -> Node:
    word = low.text(node.children[0])
    kid = low.expr(low.named(node)[0])
    target = kid.target if isinstance(kid, Assign) else kid
    names = target.items if isinstance(target, TupleForm) else [target]
    declared = [name.id for name in names if isinstance(name, Name)]
    return Global(low.at(node), word, declared, kid if isinstance(kid, Assign) else None)


def _const(low: Lowering, node: Any) -> Node:
    return Decl(low.at(node), low.expr(low.named(node)[0]))


def _macro_definition(low: Lowering, node: Any) -> Node:
    return Unknown(low.at(node), "a macro: write a function in its place")


_LOWER: dict[str, Callable[[Any, Any], Node]] = {
    "if_statement": _if,
    "for_statement": _for,
    "while_statement": _while,
    "let_statement": _let,
    "try_statement": _try,
    "function_definition": _function_definition,
    "struct_definition": _struct,
    "abstract_definition": _abstract,
    "module_definition": _module,
    "using_statement": _using,
    "import_statement": _using,
    "export_statement": _export,
    "return_statement": _return,
    "global_statement": _global,
    "local_statement": _global,
    "const_statement": _const,
    "macro_definition": _macro_definition,
}
