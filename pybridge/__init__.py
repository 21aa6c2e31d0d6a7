"""Julia layers and differentiable functions in MXNet's autograd graph, on shared memory.

Importing this starts no Julia; the first touch of `pybridge.jl`, or the first `pybridge.function`, does. The rooms
that need MXNet are entered at the first use of one of their names, so that `pybridge setup` and `pybridge doctor`
work where MXNet is missing or broken.
"""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING, Any

from . import _numpy_aliases
from . import julia as _julia
from .julia import JuliaError as JuliaError

if TYPE_CHECKING:
    from . import gluon as gluon
    from . import testing as testing
    from ._crosscheck import Report as Report
    from ._crosscheck import crosscheck as crosscheck
    from ._dispatch import serve as serve
    from ._intermediates import Intermediates as Intermediates
    from ._intermediates import get_mark_vars as get_mark_vars
    from ._intermediates import intermediates as intermediates
    from ._intermediates import internals as internals
    from ._intermediates import mark_vars as mark_vars
    from ._libmxnet import GraphError as GraphError
    from ._monitor import Monitor as Monitor
    from ._monitor import NanGuard as NanGuard
    from ._monitor import Stats as Stats
    from ._monitor import Trace as Trace
    from ._monitor import monitor as monitor
    from ._monitor import nan_guard as nan_guard
    from ._monitor import stats as stats
    from ._monitor import trace as trace
    from .arrays import asjulia as asjulia
    from .arrays import asndarray as asndarray
    from .autograd import attach_grad as attach_grad
    from .autograd import backward as backward
    from .autograd import drop_grad as drop_grad
    from .autograd import getgrad as getgrad
    from .autograd import grad as grad
    from .autograd import mark_variables as mark_variables
    from .autograd import symbol as symbol
    from .functions import JuliaFunction as JuliaFunction
    from .functions import function as function
    from .julia import include as include
    from .recording import is_recording as is_recording
    from .recording import is_training as is_training
    from .recording import pause as pause
    from .recording import predict_mode as predict_mode
    from .recording import record as record
    from .recording import set_recording as set_recording
    from .recording import set_training as set_training
    from .recording import train_mode as train_mode

__version__ = "0.1.0"

_ROOMS = {
    "recording": ("record pause train_mode predict_mode is_recording is_training set_recording set_training"),
    "autograd": "attach_grad drop_grad getgrad mark_variables symbol backward grad",
    "functions": "function JuliaFunction",
    "arrays": "asjulia asndarray",
    "_dispatch": "serve",
    "_crosscheck": "crosscheck Report",
    "_intermediates": "mark_vars get_mark_vars intermediates internals Intermediates",
    "_monitor": "monitor Monitor stats Stats nan_guard NanGuard trace Trace",
    "_libmxnet": "GraphError",
    "julia": "include",
}
_MODULES = ("gluon", "testing")
_WHERE = {name: room for room, names in _ROOMS.items() for name in names.split()}

__all__ = ["JuliaError", "jl", *_MODULES, *_WHERE]

with suppress(ImportError):  # without NumPy there is nothing to mend; the doctor says so
    _numpy_aliases.restore()


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(f".{name}", __name__)
    if name != "jl" and name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import_module("._dispatch", __name__)  # from the first use on, libmxnet's calls come to the dispatch
    if name == "jl":
        return _julia.start()
    value = globals()[name] = getattr(import_module(f".{_WHERE[name]}", __name__), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
