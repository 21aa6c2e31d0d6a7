"""Julia's exceptions in Python, and Python's own coming back out of Julia as themselves."""

from __future__ import annotations

import os
import threading
from typing import Any, NoReturn

# Julia functions, set by `connect` once Julia runs.
_julia: dict[str, Any] = {}

# `message` and `stack` give text. `python` looks through the wrappers that Julia puts around an exception and
# returns the Python exception inside, if there is one.
FUNCTIONS = {
    "message": "e -> sprint(showerror, e)",
    "stack": "b -> b === nothing ? \"\" : lstrip(sprint(Base.show_backtrace, b), '\\n')",
    "python": """
        function (e)
            for _ in 1:100
                if e isa PythonCall.PyException || e isa InterruptException
                    return e
                elseif e isa LoadError || e isa InitError
                    e = e.error
                elseif e isa CapturedException
                    e = e.ex
                elseif e isa CompositeException && !isempty(e.exceptions)
                    e = first(e.exceptions)
                elseif isdefined(Base, :TaskFailedException) && e isa Base.TaskFailedException
                    e = e.task.exception
                else
                    return nothing
                end
            end
        end
        """,
    "interrupt": "e -> e isa InterruptException",
}


class JuliaError(Exception):
    """An exception raised by Julia code.

    Its text is Julia's message followed by the Julia stack. ``juliacall.JuliaError`` is made a subclass, so
    ``except pb.JuliaError`` catches what calls through ``pb.jl`` raise too.

    Arguments:
        exception: the Julia exception object, or a message if there is none.
        backtrace: the Julia backtrace that belongs to it, if there is one.
    """

    # Without slots of its own the class has Exception's layout; only then can it become the base of juliacall's.
    __slots__ = ()

    def __init__(self, exception: Any, backtrace: Any = None) -> None:
        super().__init__(exception, backtrace)

    @property
    def exception(self) -> Any:
        """The Julia exception object."""
        raw = self.args[0]
        convert = getattr(raw, "_jl_any", None)
        return raw if convert is None else convert()

    @property
    def message(self) -> str:
        """What Julia says of the exception, without the stack."""
        return self._text("message", self.args[0])

    @property
    def stack(self) -> str:
        """The Julia stack as text; empty if there is none."""
        backtrace = self.args[1] if len(self.args) > 1 else None
        return "" if backtrace is None else self._text("stack", backtrace)

    def __repr__(self) -> str:
        return f"JuliaError({self.message!r})"

    def __str__(self) -> str:
        return "\n".join(filter(None, (self.message, self.stack)))

    def __reduce__(self) -> Any:
        # Julia's objects stay in their process; the text can go.
        return JuliaError, (self.message, self.stack or None)

    def _text(self, kind: str, value: Any) -> str:
        if isinstance(value, str):
            return value
        kept: dict[str, str] = self.__dict__.setdefault("_texts", {})
        if kind not in kept:
            if _julia.get("owner") != (os.getpid(), threading.get_ident()):
                # Asking Julia from another thread, or in a forked child, would crash the process.
                return f"<Julia's {kind}: not available on this thread>"
            kept[kind] = str(_julia[kind](value))
        return kept[kind]

    def keep_text(self) -> JuliaError:
        """Ask Julia for the text now, so that it can be read on any thread. Returns itself."""
        str(self)
        return self


def connect(juliacall: Any) -> None:
    """Take hold of a running Julia: called by `julia.start` on the owner thread."""
    for name, code in FUNCTIONS.items():
        _julia[name] = juliacall.PythonCall.seval(f"begin\n{code}\nend")
    _julia["owner"] = (os.getpid(), threading.get_ident())
    theirs = juliacall.JuliaError
    if JuliaError not in theirs.__mro__:
        theirs.__bases__ = (JuliaError,)
        # Ours keep the text, and know which thread may ask for it.
        for name in ("__str__", "__repr__", "exception"):
            if name in vars(theirs):
                delattr(theirs, name)


def translate(exception: Any, backtrace: Any = None) -> BaseException:
    """The Python exception that stands for a Julia exception.

    A Python exception that passed through Julia is that exception itself, however deep Julia has wrapped it
    (KeyboardInterrupt and SystemExit too); everything else is a `JuliaError`.

    Arguments:
        exception: the Julia exception object as juliacall gives it (a ``PyException`` arrives as the Python
            exception already).
        backtrace: its Julia backtrace, if there is one.
    """
    if isinstance(exception, JuliaError) and _julia and not isinstance(exception.args[0], str):
        inside = _julia["python"](exception.args[0])
        if inside is None:
            return exception
    elif isinstance(exception, BaseException):
        return exception
    else:
        inside = _julia["python"](exception)
        if inside is None:
            return JuliaError(exception, backtrace)
    if isinstance(inside, BaseException):
        return inside
    return KeyboardInterrupt()


def reraise(exception: Any, backtrace: Any = None) -> NoReturn:
    """Raise what `translate` makes of a Julia exception."""
    raise translate(exception, backtrace)
