"""Julia's names in Python: kept where Python allows them, mapped by a table and by rules where it does not."""

from __future__ import annotations

import builtins
import keyword
import unicodedata

# The letters and marks that Python has no place for, or that nobody can type there.
TABLE = {
    "∇": "grad",
    "∂": "d",
    "′": "_prime",
    "″": "_prime2",
    "ẋ": "x_dot",
    "ẏ": "y_dot",
    "ż": "z_dot",
    "ẇ": "w_dot",
    "ḃ": "b_dot",
    "ẍ": "x_ddot",
    "x̂": "x_hat",
    "ŷ": "y_hat",
    "ŵ": "w_hat",
    "x̄": "x_bar",
    "ȳ": "y_bar",
    "∞": "inf",
    "∑": "sum_",
    "∏": "prod_",
    "√": "sqrt_",
    "∅": "empty",
    "⁺": "_plus",
    "⁻": "_minus",
    "ᵀ": "_T",
}
_MARKS = {
    "\u0307": "_dot",
    "\u0308": "_ddot",
    "\u0302": "_hat",
    "\u0304": "_bar",
    "\u0303": "_tilde",
    "\u20d7": "_vec",
}
_SCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789" * 2))

# What the translation itself writes: a variable of that name would stand in its way.
_WRITTEN = frozenset(
    [
        "np",
        "mx",
        "pb",
        "math",
        "sys",
        "gluon",
        "logging",
        "random",
        "time",
        "fractions",
        "functools",
        "collections",
        "copy",
        "operator",
        "os",
        "re",
        "gc",
        "itertools",
        "Path",
        "dataclass",
        "field",
        "Any",
    ]
)
_BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))


def python_name(name: str) -> str:
    """One name by itself; `Names` also keeps two names apart.

    Examples:
        >>> python_name("∇W"), python_name("x̂"), python_name("step!"), python_name("lambda"), python_name("η")
        ('grad_W', 'x_hat', 'step', 'lambda_', 'η')
    """
    plain = name.rstrip("!")
    if plain in TABLE:
        return TABLE[plain]
    pieces = []
    text = unicodedata.normalize("NFC", plain)
    place = 0
    while place < len(text):
        letter = text[place]
        pair = text[place : place + 2]
        if pair in TABLE:
            pieces.append(TABLE[pair])
            place += 1
        elif letter in _SCRIPTS:
            pieces.append(_SCRIPTS[letter])
        elif letter in TABLE:
            word = TABLE[letter]
            follows = place + 1 < len(text) and not word.startswith("_") and text[place + 1] != "_"
            pieces.append(word + ("_" if follows else ""))
        elif letter in _MARKS:
            pieces.append(_MARKS[letter])
        elif ("a" + letter).isidentifier():
            pieces.append(letter)
        else:
            pieces.append("_")
        place += 1
    made = "".join(pieces) or "_"
    if not made.isidentifier():
        made = "_" + made
    made = unicodedata.normalize("NFKC", made)
    if keyword.iskeyword(made) or made in _WRITTEN or made in _BUILTINS:
        made += "_"
    return made


class Names:
    """The names of one file: the same Julia name is the same Python name, two names are never one."""

    def __init__(self) -> None:
        self.given: dict[str, str] = {}
        self.taken: set[str] = set()

    def of(self, name: str) -> str:
        """The Python name of a Julia name."""
        if name not in self.given:
            made = python_name(name)
            while made in self.taken:
                made += "_"
            self.given[name] = made
            self.taken.add(made)
        return self.given[name]

    def fresh(self, name: str) -> str:
        """A name that nothing else in the file has."""
        made, number = name, 1
        while made in self.taken or made in _BUILTINS or keyword.iskeyword(made):
            number += 1
            made = f"{name}_{number}"
        self.taken.add(made)
        return made
