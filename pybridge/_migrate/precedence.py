"""Julia's operator precedence.

tree-sitter's grammar binds some operators otherwise than Julia (`2x^2` is 2(x²), `1//2<<3` shifts first), so chains of
operators are taken apart and put together again here. The order is that of the table in Julia's manual, "Mathematical
Operations and Elementary Functions".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Union

from .tree import At, Binary, Call, Compare, Logic, Name, Node, Range, Unary

_LEVELS = (
    "=>",
    "--> → ←",
    "||",
    "&&",
    "< > <= >= ≤ ≥ == != ≠ === !== ≡ ≢ ≈ ≉ in ∈ ∉ isa <: >: ⊆ ⊈ ⊊ ∋",
    "|>",
    ":",
    "+ - | ⊻ ∪ ++ ⊕ ± ∨",
    "* / ÷ % & ⋅ × ∘ \\ ∩ ⊗ ⊙ ∧",
    "//",
    "<< >> >>>",
)
LEVEL = {op: level for level, ops in enumerate(_LEVELS) for op in ops.split()}
PAIR, ARROW, OR, AND, COMPARISON, PIPE, COLON = range(7)
_TOP = len(_LEVELS)
JUXTAPOSED = "juxtaposed"

Item = Union[Node, tuple[str, str]]  # an operand, or ("infix" or "prefix", operator)


def level(op: str) -> int:
    """How tightly an infix operator binds; dots do not matter. Unknown ones bind like +."""
    return LEVEL.get(undotted(op), LEVEL["+"])


def undotted(op: str) -> str:
    """The operator without its broadcasting dot."""
    return op[1:] if len(op) > 1 and op.startswith(".") and op != "..." else op


class Climb:
    """Precedence climbing over a chain of operands and operators."""

    def __init__(self, items: list[Item]) -> None:
        self.items = items
        self.place = 0

    def tree(self) -> Node:
        """The whole chain as one form."""
        return self._expression(0)

    def _peek(self) -> Any:
        return self.items[self.place] if self.place < len(self.items) else None

    def _infix(self) -> str | None:
        item = self._peek()
        return item[1] if isinstance(item, tuple) and item[0] == "infix" else None

    def _expression(self, lowest: int) -> Node:
        left = self._unary()
        while True:
            op = self._infix()
            if op is None or op == JUXTAPOSED or undotted(op) == "^":
                return left
            bound = level(op)
            if bound < lowest:
                return left
            if bound == COMPARISON:
                left = self._comparison(left)
            elif bound == COLON:
                left = self._range(left)
            else:
                self.place += 1
                right_first = bound in (PAIR, ARROW, OR, AND)
                left = _join(op, left, self._expression(bound if right_first else bound + 1))

    def _comparison(self, left: Node) -> Node:
        items, ops = [left], []
        while (op := self._infix()) is not None and level(op) == COMPARISON:
            self.place += 1
            ops.append(op)
            items.append(self._expression(COMPARISON + 1))
        return Compare(_span(items[0], items[-1]), items, ops)

    def _range(self, left: Node) -> Node:
        parts = [left]
        while len(parts) < 3 and self._infix() == ":":
            self.place += 1
            parts.append(self._expression(COLON + 1))
        at = _span(parts[0], parts[-1])
        return Range(at, parts[0], parts[-1], parts[1] if len(parts) == 3 else None)

    def _unary(self) -> Node:
        item = self._peek()
        if isinstance(item, tuple):
            self.place += 1
            op = item[1]
            operand = self._unary()
            at = replace(operand.at, start=operand.at.start - len(op.encode()), col=operand.at.col - len(op))
            return Unary(at, undotted(op), operand, op.startswith("."))
        return self._product()

    def _product(self) -> Node:
        left = self._power()
        while self._infix() == JUXTAPOSED:
            self.place += 1
            right = self._power()
            left = Binary(_span(left, right), "*", left, right)
        return left

    def _power(self) -> Node:
        base = self.items[self.place]
        self.place += 1
        if isinstance(base, tuple):
            raise ValueError(f"operator {base[1]} where an operand was expected")
        op = self._infix()
        if op is None or undotted(op) != "^":
            return base
        self.place += 1
        exponent = self._unary()
        return Binary(_span(base, exponent), "^", base, exponent, op.startswith("."))


def _join(op: str, left: Node, right: Node) -> Node:
    at = _span(left, right)
    if op in ("&&", "||"):
        return Logic(at, op, left, right)
    if op == "|>":
        return Call(at, right, [left])
    if op == ".|>":
        return Call(at, right, [left], dotted=True)
    if op == "∘":
        return Call(at, Name(at, "∘"), [left, right])
    return Binary(at, undotted(op), left, right, op.startswith("."))


def _span(first: Node, last: Node) -> At:
    return replace(first.at, end_row=last.at.end_row, stop=last.at.stop)
