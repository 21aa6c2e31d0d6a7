"""Printing, errors, types at run time, files and the clock."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from . import tree as t
from .code import call, compare, const
from .rules import Rule
from .types import ANY, BOOL, FLOAT, NONE, STR, T, list_of

if TYPE_CHECKING:
    from .translator import Translator

ERRORS = {
    "ArgumentError": "ValueError",
    "DomainError": "ValueError",
    "DimensionMismatch": "ValueError",
    "BoundsError": "IndexError",
    "KeyError": "KeyError",
    "ErrorException": "RuntimeError",
    "AssertionError": "AssertionError",
    "MethodError": "TypeError",
    "TypeError": "TypeError",
    "UndefVarError": "NameError",
    "DivideError": "ZeroDivisionError",
    "OverflowError": "OverflowError",
    "InexactError": "ValueError",
    "InterruptException": "KeyboardInterrupt",
    "SystemError": "OSError",
    "LoadError": "ImportError",
    "MXError": "mx.base.MXNetError",
    "EOFError": "EOFError",
    "OutOfMemoryError": "MemoryError",
    "StackOverflowError": "RecursionError",
    "NotImplementedError": "NotImplementedError",
    "Exception": "Exception",
}


def _print(tr: Translator, node: t.Call) -> ast.expr:
    return tr.printed(node.args, "" if tr.called(node) == "print" else "\n")


def _error(tr: Translator, node: t.Call) -> ast.expr:
    return tr.raised("RuntimeError", node.args)


def _throw(tr: Translator, node: t.Call) -> ast.expr:
    if not node.args:
        return tr.refuse(node, "throw without an error")
    thrown = node.args[0]
    if isinstance(thrown, t.Call) and tr.called(thrown) in ERRORS:
        return tr.raised(ERRORS[tr.called(thrown)], thrown.args)
    return tr.raised("", [thrown])


def _rethrow(tr: Translator, node: t.Call) -> ast.expr:
    return tr.raised("", [])


def _exception(tr: Translator, node: t.Call) -> ast.expr:
    return call(ERRORS[tr.called(node)], [tr.expr(arg) for arg in node.args])


def _is_nothing(tr: Translator, node: t.Call) -> ast.expr:
    return compare(tr.expr(node.args[0]), "is", const(None))


def _isa(tr: Translator, node: t.Call) -> ast.expr:
    return tr.instance_of(node.args[0], node.args[1], node)


def _convert(tr: Translator, node: t.Call) -> ast.expr:
    kind, value = node.args
    word = kind.id if isinstance(kind, t.Name) else ""
    if word in ("Int", "Int64", "Int32", "Integer"):
        return tr.converted(t.Call(node.at, kind, [value]), "int")
    if word in ("Float64", "Float32", "Float16"):
        target = {"Float64": "float", "Float32": "float32", "Float16": "float16"}[word]
        return tr.converted(t.Call(node.at, kind, [value]), target)
    return tr.refuse(node, "convert to this type")


def _converted(typer: object, node: t.Call, args: list[T]) -> T:
    from .annotations import annotated

    return annotated(node.args[0]) or ANY


def _nested(tr: Translator, node: t.Call) -> ast.expr:
    return tr.refuse(node, f"{tr.called(node)} runs code that is put together at run time")


def _parts(target: str) -> object:
    def emit(tr: Translator, node: t.Call) -> ast.expr:
        return call(target, [tr.expr(arg) for arg in node.args])

    return emit


def _exit(tr: Translator, node: t.Call) -> ast.expr:
    return call("sys.exit", [tr.expr(arg) for arg in node.args])


def _open(tr: Translator, node: t.Call) -> ast.expr:
    if node.args and isinstance(node.args[0], t.Lambda):
        return tr.refuse(node, "open with a block inside an expression")
    return call("open", [tr.expr(arg) for arg in node.args])


RULES: dict[str, Rule] = {
    "println": Rule(_print, NONE, "print(x)"),
    "print": Rule(_print, NONE, 'print(x, end="")'),
    "show": Rule(_print, NONE, 'print(x, end="")'),
    "display": Rule("print(_0)", NONE),
    "info": Rule("logging.info(_0)", NONE),
    "warn": Rule("logging.warning(_0)", NONE),
    "error": Rule(_error, ANY, "raise RuntimeError(text)"),
    "throw": Rule(_throw, ANY, "raise"),
    "rethrow": Rule(_rethrow, ANY, "raise"),
    "isnothing": Rule(_is_nothing, BOOL, "x is None"),
    "ismissing": Rule(_is_nothing, BOOL, "x is None"),
    "isa": Rule(_isa, BOOL, "isinstance(x, T)"),
    "typeof": Rule("type(_0)", T("type")),
    "convert": Rule(_convert, _converted, "int(x), float(x), x.astype"),
    "eval": Rule(_nested, ANY, "refused"),
    "include_string": Rule(_nested, ANY, "refused"),
    "invokelatest": Rule(_nested, ANY, "refused"),
    "ccall": Rule(_nested, ANY, "refused"),
    "getfield": Rule("getattr(_0, _1)", ANY),
    "getproperty": Rule("getattr(_0, _1)", ANY),
    "setfield!": Rule("setattr(_0, _1, _2)", NONE),
    "setproperty!": Rule("setattr(_0, _1, _2)", NONE),
    "hasproperty": Rule("hasattr(_0, _1)", BOOL),
    "isdefined": Rule("hasattr(_0, _1)", BOOL),
    "objectid": Rule("id(_0)", T("int")),
    "hash": Rule("hash(_0)", T("int")),
    "isequal": Rule("_0 == _1", BOOL),
    "time": Rule("time.time()", FLOAT),
    "time_ns": Rule("time.time_ns()", T("int")),
    "sleep": Rule("time.sleep(_0)", NONE),
    "exit": Rule(_exit, NONE, "sys.exit(status)"),
    "quit": Rule(_exit, NONE, "sys.exit()"),
    "open": Rule(_open, T("file"), "open(path)"),
    "close": Rule("_0.close()", NONE),
    "flush": Rule("_0.flush()", NONE),
    "readline": Rule("_0.readline().rstrip('\\n')", STR),
    "readlines": Rule("Path(_0).read_text().splitlines()", list_of(STR)),
    "isfile": Rule("Path(_0).is_file()", BOOL),
    "isdir": Rule("Path(_0).is_dir()", BOOL),
    "ispath": Rule("Path(_0).exists()", BOOL),
    "mkpath": Rule("Path(_0).mkdir(parents=True, exist_ok=True)", NONE),
    "mkdir": Rule("Path(_0).mkdir()", NONE),
    "rm": Rule("Path(_0).unlink()", NONE),
    "joinpath": Rule("os.path.join(_all)", STR),
    "dirname": Rule("os.path.dirname(_0)", STR),
    "basename": Rule("os.path.basename(_0)", STR),
    "abspath": Rule("os.path.abspath(_0)", STR),
    "homedir": Rule("os.path.expanduser('~')", STR),
    "pwd": Rule("os.getcwd()", STR),
    "cd": Rule("os.chdir(_0)", NONE),
    "readdir": Rule("sorted(os.listdir(_0))", list_of(STR)),
    "splitext": Rule("os.path.splitext(_0)", T("tuple", items=(STR, STR))),
    "gc": Rule("gc.collect()", NONE),
    "gensym": Rule("'gensym'", STR),
    **{error: Rule(_exception, T("exception"), target) for error, target in ERRORS.items()},
}
__all__ = ["ERRORS", "RULES"]
