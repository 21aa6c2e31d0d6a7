"""From tree-sitter's tree to ours: expressions. Statements and definitions are `lower_blocks`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

from . import lower_blocks as blocks
from .lower_brackets import _comprehension, _generator, _index, _matrix, _vector
from .lower_literals import _boolean, _char, _number, _string
from .precedence import JUXTAPOSED, Climb, Item
from .source import Source, column
from .tree import (
    Adjoint,
    Assign,
    At,
    Binary,
    Binding,
    Block,
    Call,
    Colon,
    Comment,
    Compare,
    Comprehension,
    Const,
    Curly,
    End,
    Field,
    FuncDef,
    Jump,
    Lambda,
    MacroCall,
    Name,
    NamedTupleForm,
    Node,
    Param,
    Return,
    Splat,
    Sym,
    Ternary,
    TupleForm,
    Typed,
    Unary,
    Unknown,
)

_CHAIN = frozenset({"binary_expression", "unary_expression", "juxtaposition_expression", "range_expression"})


def _operator_call(node: Any) -> bool:
    """`-(x)`, and the `+(y)` of `9+(y)`: tree-sitter takes the operator for a function that is called."""
    if node.type != "call_expression" or node.children[0].type != "operator" or len(node.children) != 2:
        return False
    inside = [child for child in node.children[1].children if child.is_named]
    commas = any(child.type in (",", ";") for child in node.children[1].children)
    return len(inside) == 1 and not commas and inside[0].type not in ("splat_expression", "named_argument")


_COMMENTS = ("line_comment", "block_comment")


# Julia takes the micro sign for the Greek letter, and the open e for epsilon.
_SAME_LETTERS = str.maketrans({"\u00b5": "\u03bc", "\u025b": "\u03b5"})
_CONSTANTS = {"true": True, "false": False, "nothing": None}


class Lowering:
    """One file on its way into our tree. Comments met inside expressions wait in `pending` for their statement."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.pending: list[Comment] = []
        self.spare: list[Node] = []  # strings that tree-sitter joins to the argument of a macro before them

    def file(self) -> Block:
        """The whole file."""
        root = self.source.root
        return blocks.block(self, list(root.children), self.at(root))

    def at(self, node: Any) -> At:
        """The place of a form of tree-sitter's."""
        row = node.start_point[0] + 1
        col = column(self.source.lines, row, node.start_point[1])
        end_row = node.end_point[0] + (1 if node.end_point[1] else 0)
        return At(row, col, max(row, end_row), node.start_byte, node.end_byte)

    def text(self, node: Any) -> str:
        """The source of a form."""
        return self.source.text(node.start_byte, node.end_byte)

    def named(self, node: Any) -> list[Any]:
        """The forms inside, comments set aside."""
        kept = []
        for child in node.children:
            if child.type in _COMMENTS:
                self.pending.append(self.comment(child))
            elif child.is_named:
                kept.append(child)
        return kept

    def comment(self, node: Any, trailing: bool = False) -> Comment:
        """A comment, its marks taken off."""
        return Comment(self.at(node), self.text(node), trailing)

    def expr(self, node: Any) -> Node:
        """Any expression, or a statement that stands where an expression may."""
        if node.type in _CHAIN or _operator_call(node):
            return Climb(self._chain(node)).tree()
        lower = _LOWER.get(node.type)
        if lower is not None:
            return lower(self, node)
        statement = blocks.statement(self, node)
        if statement is not None:
            return statement
        return Unknown(self.at(node), f"no counterpart for this form ({node.type.replace('_', ' ')})")

    def exprs(self, nodes: Sequence[Any]) -> list[Node]:
        """Several."""
        return [self.expr(node) for node in nodes]

    def _chain(self, node: Any) -> list[Item]:
        """Operands and operators in the order in which they are written; without recursion along the left side."""
        pieces: list[Item] = []
        waiting: list[Any] = [node]
        while waiting:
            part = waiting.pop()
            if isinstance(part, tuple):
                pieces.append(part)
            elif part.type == "unary_expression":
                kids = self.named(part)
                waiting.append(kids[-1])
                waiting.append(("prefix", self.text(kids[0])))
            elif part.type == "juxtaposition_expression":
                left, right = self.named(part)
                if right.type == "string_literal":
                    self.spare.append(self.expr(right))
                    waiting.append(left)
                else:
                    waiting.extend((right, ("infix", JUXTAPOSED), left))
            elif part.type == "binary_expression":
                left, op, right = self.named(part)
                waiting.extend((right, ("infix", self.text(op)), left))
            elif part.type == "range_expression":
                left, right = self.named(part)
                waiting.extend((right, ("infix", ":"), left))
            elif _operator_call(part):
                op, arguments = self.named(part)[:2]
                if pieces and pieces[-1] == ("infix", JUXTAPOSED):
                    pieces[-1] = ("infix", self.text(op))
                else:
                    pieces.append(("prefix", self.text(op)))
                pieces.append(self.expr(self.named(arguments)[0]))
            else:
                pieces.append(self.expr(part))
        return pieces

    def row(self, nodes: Sequence[Any]) -> list[Node]:
        """The elements of a row in brackets, where `a -b` are two elements and `a - b` is one."""
        elements: list[Node] = []
        for node in nodes:
            if node.type != "binary_expression":
                elements.append(self.expr(node))
                continue
            left, op, right = self.named(node)
            before = self.source.data[left.end_byte : op.start_byte]
            after = self.source.data[op.end_byte : right.start_byte]
            if self.text(op) in ("+", "-") and before and not after:
                elements.extend(self.row([left]))
                operand = self.expr(right)
                elements.append(Climb([("prefix", self.text(op)), operand]).tree())
            else:
                elements.append(self.expr(node))
        return elements

    def arguments(self, node: Any) -> tuple[list[Node], list[tuple[Optional[str], Node]]]:
        """The positional and the keyword arguments of a call."""
        args: list[Node] = []
        keywords: list[tuple[Optional[str], Node]] = []
        after = False
        for child in node.children:
            if child.type in _COMMENTS:
                self.pending.append(self.comment(child))
            elif child.type == ";":
                after = True
            elif child.type in ("named_argument", "named_field"):
                kids = self.named(child)
                keywords.append((self.text(kids[0]), self.expr(kids[-1])))
            elif child.type == "for_clause":
                args[-1] = self.comprehension(node, args[-1], generator=True)
                break
            elif child.is_named:
                value = self.expr(child)
                if not after:
                    args.append(value)
                elif isinstance(value, Splat):
                    keywords.append((None, value.value))
                elif isinstance(value, (Name, Field)):
                    keywords.append((value.id if isinstance(value, Name) else value.name, value))
                else:
                    args.append(value)
        return args, keywords

    def comprehension(self, node: Any, value: Node, generator: bool = False) -> Comprehension:
        """The clauses of a comprehension or generator around its value."""
        clauses = [child for child in node.children if child.type == "for_clause"]
        tests = [self.named(child)[0] for child in node.children if child.type == "if_clause"]
        test = self.expr(tests[0]) if tests else None
        bindings = [self.binding(each) for clause in clauses for each in self.named(clause)]
        product = any(len(self.named(clause)) > 1 for clause in clauses)
        return Comprehension(
            self.at(node), value, bindings, test, generator=generator, product=product and test is None
        )

    def binding(self, node: Any) -> Binding:
        """`i in xs`, `i = xs` or `i ∈ xs`."""
        kids = [kid for kid in self.named(node) if kid.type != "operator"]
        return Binding(self.at(node), self.expr(kids[0]), self.expr(kids[-1]))

    def params(self, nodes: Sequence[Any]) -> list[Param]:
        """The parameters among some arguments."""
        return [self.param(node) for node in nodes if node.type not in (";", ",", "(", ")")]

    def param(self, node: Any) -> Param:
        """One parameter."""
        at = self.at(node)
        if node.type in ("named_argument", "assignment", "named_field"):
            kids = [kid for kid in self.named(node) if kid.type != "operator"]
            inner = self.param(kids[0])
            return Param(at, inner.target, inner.type, self.expr(kids[-1]), inner.splat)
        if node.type == "splat_expression":
            inner = self.param(self.named(node)[0])
            return Param(at, inner.target, inner.type, None, True)
        if node.type == "typed_expression":
            kids = self.named(node)
            return Param(at, self.expr(kids[0]), self.expr(kids[1]))
        if node.type == "unary_typed_expression":
            return Param(at, Name(at, "_"), self.expr(self.named(node)[0]))
        return Param(at, self.expr(node))


def _name(low: Lowering, node: Any) -> Node:
    text = low.text(node)
    if text in ("end", "begin"):
        return End(low.at(node), text == "begin")
    if text in _CONSTANTS:
        return Const(low.at(node), _CONSTANTS[text])
    return Name(low.at(node), text.translate(_SAME_LETTERS))


def _call(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    fn: Node = Name(low.at(kids[0]), low.text(kids[0])) if kids[0].type == "operator" else low.expr(kids[0])
    lists = [kid for kid in kids[1:] if kid.type in ("argument_list", "generator_expression")]
    args, keywords = low.arguments(lists[0]) if lists else ([], [])
    do = [kid for kid in kids if kid.type == "do_clause"]
    if do:
        args.insert(0, _do(low, do[0]))
    if kids[0].type == "operator" and len(args) > 1 and not any(isinstance(arg, Splat) for arg in args):
        folded: list[Item] = [args[0]]
        for arg in args[1:]:
            folded += [("infix", low.text(kids[0])), arg]
        return Climb(folded).tree()
    return Call(low.at(node), fn, args, keywords, node.type == "broadcast_call_expression")


def _do(low: Lowering, node: Any) -> Lambda:
    lists = [child for child in node.children if child.type == "argument_list"]
    inside = [kid for kid in node.children if kid.type not in ("do", "end", "argument_list")]
    params = low.params([kid for kid in lists[0].children if kid.is_named]) if lists else []
    return Lambda(low.at(node), params, blocks.block(low, inside, low.at(node)), do=True)


def _field(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    if kids[-1].type == "identifier":
        return Field(low.at(node), low.expr(kids[0]), low.text(kids[-1]))
    if kids[-1].type == "quote_expression":
        return Field(low.at(node), low.expr(kids[0]), low.text(kids[-1]).lstrip(":"))
    return Unknown(low.at(node), "a field whose name is computed")


def _scoped(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    return Field(low.at(node), low.expr(kids[0]), low.text(kids[-1]))


def _tuple(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    if any(child.type == ";" for child in node.children):
        return Unknown(low.at(node), "a tuple of properties, which is newer than Julia 1.5")
    if kids and all(kid.type == "named_field" for kid in kids):
        entries = [(low.text(low.named(kid)[0]), low.expr(low.named(kid)[-1])) for kid in kids]
        return NamedTupleForm(low.at(node), entries)
    return TupleForm(low.at(node), low.exprs(kids))


def _parenthesized(low: Lowering, node: Any) -> Node:
    kids = [child for child in node.children if child.type not in ("(", ")")]
    if any(kid.type in ("for_clause",) for kid in kids):
        return _generator(low, node)
    values = [kid for kid in kids if kid.is_named and kid.type not in _COMMENTS]
    if any(kid.type == ";" for kid in kids):
        return blocks.block(low, kids, low.at(node))
    low.named(node)
    return low.expr(values[0])


def _quote(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    if kids and kids[0].type in ("identifier", "operator", "boolean_literal"):
        return Sym(low.at(node), low.text(kids[0]))
    return Unknown(low.at(node), "quoted code: building Julia expressions has no counterpart")


def _arrow(low: Lowering, node: Any) -> Node:
    params, body = low.named(node)
    inside = [kid for kid in params.children if kid.is_named] if params.type == "argument_list" else [params]
    return Lambda(low.at(node), low.params(inside), blocks.body(low, body))


def _curly(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    return Curly(low.at(node), low.expr(kids[0]), low.exprs(low.named(kids[1])))


def _macro(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    name = next(kid for kid in kids if kid.type == "macro_identifier")
    lists = [kid for kid in kids if kid.type in ("macro_argument_list", "argument_list")]
    args: list[Node] = []
    for kid in low.named(lists[0]) if lists else ():
        args.append(low.expr(kid))
        args.extend(low.spare)
        low.spare = []
    text = low.text(name)[1:]
    if text == "." and len(args) == 1:
        return _dotted(args[0])
    if text.split(".")[-1] == "custom" and len(args) == 1 and _call_what_is_made(args[0]):
        return args[0]
    return MacroCall(low.at(node), text.split(".")[-1] if text != "." else ".", args)


def _dotted(node: Node) -> Node:
    """@. puts a dot to every operator, call and assignment inside."""
    for each in node.walk():
        if (
            isinstance(each, (Binary, Unary, Call)) and not (isinstance(each, Binary) and each.op == "=>")
        ) or isinstance(each, Assign):
            each.dotted = True
        elif isinstance(each, Compare):
            each.ops = [op if op.startswith(".") else "." + op for op in each.ops]
    return node


def _call_what_is_made(node: Node) -> bool:
    """@custom f(x) = Swish() means Swish()(x); False, and nothing changed, where it has another form."""
    items = node.body.items if isinstance(node, FuncDef) else []
    places = [i for i, item in enumerate(items) if not isinstance(item, Comment)]
    if not isinstance(node, FuncDef) or not places:
        return False
    args: list[Node] = []
    for param in node.params:
        name = param.target
        if not isinstance(name, Name):
            return False
        own = Name(name.at, name.id)
        args.append(Splat(name.at, own) if param.splat else own)
    made = items[places[-1]]
    if isinstance(made, Return) and made.value is not None:
        made.value = Call(made.at, made.value, args)
    else:
        items[places[-1]] = Call(made.at, made, args)
    return True


def _ternary(low: Lowering, node: Any) -> Node:
    return Ternary(low.at(node), *low.exprs(low.named(node)[:3]))


def _jump(low: Lowering, node: Any) -> Node:
    return Jump(low.at(node), low.text(node))


def _assignment(low: Lowering, node: Any) -> Node:
    return blocks.assignment(low, node)


def _argument_list(low: Lowering, node: Any) -> Node:
    return TupleForm(low.at(node), low.exprs(low.named(node)))


def _operator(low: Lowering, node: Any) -> Node:
    text = low.text(node)
    return Colon(low.at(node)) if text == ":" else Name(low.at(node), text)


def _interpolation(low: Lowering, node: Any) -> Node:
    return Unknown(low.at(node), "an interpolation outside of a string builds code")


def _named_field(low: Lowering, node: Any) -> Node:
    kids = low.named(node)
    return Assign(low.at(node), low.expr(kids[0]), low.expr(kids[-1]))


_LOWER: dict[str, Callable[[Lowering, Any], Node]] = {
    "identifier": _name,
    "integer_literal": _number,
    "float_literal": _number,
    "boolean_literal": _boolean,
    "string_literal": _string,
    "prefixed_string_literal": _string,
    "character_literal": _char,
    "call_expression": _call,
    "broadcast_call_expression": _call,
    "index_expression": _index,
    "vector_expression": _vector,
    "matrix_expression": _matrix,
    "comprehension_expression": _comprehension,
    "generator": _generator,
    "field_expression": _field,
    "scoped_identifier": _scoped,
    "tuple_expression": _tuple,
    "open_tuple": _tuple,
    "parenthesized_expression": _parenthesized,
    "quote_expression": _quote,
    "arrow_function_expression": _arrow,
    "parametrized_type_expression": _curly,
    "macrocall_expression": _macro,
    "ternary_expression": _ternary,
    "break_statement": _jump,
    "continue_statement": _jump,
    "assignment": _assignment,
    "compound_assignment_expression": _assignment,
    "argument_list": _argument_list,
    "operator": _operator,
    "interpolation_expression": _interpolation,
    "named_argument": _named_field,
    "named_field": _named_field,
    "splat_expression": lambda low, node: Splat(low.at(node), low.expr(low.named(node)[0])),
    "adjoint_expression": lambda low, node: Adjoint(low.at(node), low.expr(low.named(node)[0])),
    "typed_expression": lambda low, node: Typed(low.at(node), *low.exprs(low.named(node)[:2])),
    "compound_statement": lambda low, node: blocks.block(low, list(node.children)[1:-1], low.at(node)),
    "command_literal": lambda low, node: Unknown(low.at(node), "a shell command: write it with subprocess"),
    "unary_typed_expression": lambda low, node: Unknown(low.at(node), "a type without a value"),
    "quote_statement": lambda low, node: Unknown(low.at(node), "quoted code has no counterpart"),
}


def lower(source: Source) -> Block:
    """The file's forms in our tree."""
    return Lowering(source).file()
