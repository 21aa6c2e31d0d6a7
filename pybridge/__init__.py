"""Julia layers and differentiable functions in MXNet's autograd graph, on shared memory.

Importing this starts no Julia; the first touch of `pybridge.jl`, or the first `pybridge.function`, does.
"""

from __future__ import annotations

from typing import Any

from . import _interposed as _interposed
from ._dispatch import serve as serve
from ._libmxnet import GraphError as GraphError
from .arrays import asjulia as asjulia
from .arrays import asndarray as asndarray
from .autograd import attach_grad as attach_grad
from .autograd import backward as backward
from .autograd import getgrad as getgrad
from .autograd import grad as grad
from .autograd import is_recording as is_recording
from .autograd import is_training as is_training
from .autograd import mark_variables as mark_variables
from .autograd import pause as pause
from .autograd import predict_mode as predict_mode
from .autograd import record as record
from .autograd import set_recording as set_recording
from .autograd import set_training as set_training
from .autograd import symbol as symbol
from .autograd import train_mode as train_mode
from .functions import JuliaFunction as JuliaFunction
from .functions import function as function
from .julia import JuliaError as JuliaError
from .julia import include as include

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    if name == "jl":
        from . import julia

        return julia.start()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
