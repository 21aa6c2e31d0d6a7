"""Old MXNet.jl scripts, run in this process: `using MXNet` finds PyBridge's `mx`."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import _dispatch, _places, julia

#: What Julia's own `julia script.jl args...` makes known to a script.
_PREPARE = """
function (file, arguments, packages)
    empty!(ARGS)
    append!(ARGS, map(String, collect(arguments)))
    Core.eval(Base, :(PROGRAM_FILE = $(String(file))))
    found = Base.find_package("MXNet")
    folder = String(packages)
    folder in LOAD_PATH || pushfirst!(LOAD_PATH, folder)
    ours = realpath(joinpath(folder, "MXNet", "src", "MXNet.jl"))
    return found === nothing || realpath(found) == ours ? "" : found
end
"""


#: Exported names of MXNet.jl's symbolic half, which is not here: docs/running.md has what to use instead.
ABSENT = {
    "Variable",
    "@var",
    "Executor",
    "bind",
    "simple_bind",
    "AbstractModel",
    "FeedForward",
    "predict",
    "MLP",
    "AbstractEvalMetric",
    "ACE",
    "Accuracy",
    "MSE",
    "MultiACE",
    "MultiMetric",
    "NMSE",
    "SeqMetric",
    "KVStore",
    "init!",
    "pull!",
    "barrier",
    "setoptimizer!",
    "setupdater!",
    "AbstractInitializer",
    "UniformInitializer",
    "NormalInitializer",
    "XavierInitializer",
    "AbstractOptimizer",
    "AdaDelta",
    "AdaGrad",
    "ADAM",
    "AdaMax",
    "Nadam",
    "RMSProp",
    "SGD",
    "getupdater",
    "normgrad!",
    "update!",
    "AbstractDataProvider",
    "AbstractDataBatch",
    "DataBatch",
    "ArrayDataProvider",
    "ArrayDataBatch",
    "to_graphviz",
}


def run(file: Path, arguments: Sequence[str]) -> int:
    """Run a Julia script as `julia file arguments...` would; its status is returned, unless it ends the process itself.

    Its `using MXNet` loads the package in `julia/packages`, which hands on PyBridge's `mx`. Ctrl-C ends the process.
    """
    prepare(file, arguments)
    before = _let_interrupts_end_us()
    try:
        julia.include(file)
    except julia.JuliaError as error:
        sys.stdout.flush()
        sys.stderr.write(f"ERROR: {error}\n{_hint(str(error))}")
        return 1
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    return 0


def prepare(file: Path, arguments: Sequence[str]) -> Any:
    """Make Julia ready for an old script: its arguments, its name, and the package MXNet; returns Julia's `Main`."""
    _dispatch.ready()
    main = julia.start()
    shadowed = str(main.seval(_PREPARE)(str(file), list(arguments), str(packages())))
    if shadowed:
        sys.stderr.write(
            f'pybridge run: "using MXNet" means PyBridge.mx here, not the package in {shadowed}\n'
        )
    return main


def _hint(text: str) -> str:
    found = re.search(r"UndefVarError: `?([^\s`]+)`? not defined", text)
    if found is None or found[1] not in ABSENT:
        return ""
    return (
        f"\n{found[1]} belongs to MXNet.jl's symbolic half, which pybridge does not run. `pybridge migrate` turns "
        'simple symbolic networks into Gluon blocks; see "Running MXNet.jl code" in the documentation.\n'
    )


def packages() -> Path:
    """The folder with the package MXNet. It is on Julia's load path only where a script is run."""
    return _places.julia_package_dir() / "packages"


def _let_interrupts_end_us() -> Any:
    """Julia sees Ctrl-C only between Python's instructions, and a script has none: the system's way is left."""
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return None
    return signal.signal(signal.SIGINT, signal.SIG_DFL)
