"""Finding, starting and configuring Julia through juliacall, and the ways into it.

Julia is started by the first touch of `jl`, by `start`, or by the user's own ``import juliacall`` once this
module is imported; in each case with what set-up has made (_setup) and with the signals given back to Python
(_signals). The thread that starts it, Python's main thread, owns it from then on.
"""

from __future__ import annotations

import ctypes
import errno
import importlib.util
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stdout, suppress
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, Callable

from . import _julia_error, _places, _signals
from ._julia_error import JuliaError as JuliaError
from ._julia_error import reraise as reraise
from ._julia_error import translate as translate

HANDLE_SIGNALS = "PYTHON_JULIACALL_HANDLE_SIGNALS"
THREADS = "PYTHON_JULIACALL_THREADS"

SIGNALS_WARNING = (
    "Julia was started without its signal handling, so a stack overflow in Julia code, and garbage collection with "
    "several Julia threads, end the process. Import pybridge before juliacall and leave "
    f"{HANDLE_SIGNALS} unset (or set it to yes)."
)

FORKED = (
    "Julia does not survive os.fork(): this is a child of the process that it runs in. Start the worker with "
    "multiprocessing's 'spawn' method, or call Julia in the parent only."
)

_main: Any = None
_process: int | None = None
_owner: int | None = None
_callbacks: list[Callable[[], None]] = []
_given_state: _places.State | None = None


def started() -> bool:
    """Whether Julia runs in this process and pybridge is connected to it."""
    return _main is not None


def start() -> Any:
    """Start Julia, once, and return its module ``Main``.

    Must first be called on Python's main thread, which then owns Julia. Where nothing is set up yet, set-up
    runs first (``python -m pybridge setup`` does the same).

    Returns:
        juliacall's ``Main``.

    Raises:
        RuntimeError: on another thread than the owner, or when Julia cannot be started.
        pybridge._run.SetupError: nothing is set up and set-up finds no way.
    """
    global _main, _owner, _process
    if _main is not None:
        if os.getpid() != _process:
            raise RuntimeError(FORKED)
        if threading.get_ident() != _owner:
            raise RuntimeError(
                f"Julia belongs to the thread that started it, this is {threading.current_thread().name!r}. Call Julia "
                "functions made by pb.function here while that thread runs pb.serve(until=this thread)."
            )
        return _main
    if threading.current_thread() is not threading.main_thread():
        raise RuntimeError(
            f"Julia must be started on Python's main thread, this is {threading.current_thread().name!r}. "
            "Touch pb.jl once on the main thread before starting others."
        )
    earlier = sys.modules.get("juliacall")
    import juliacall

    if not hasattr(juliacall, "Main"):
        raise RuntimeError(
            "juliacall is imported but has not started Julia (PYTHON_JULIACALL_INIT=no?). Unset that variable."
        )
    if earlier is not None and not _julia_error._julia:
        _connect(juliacall, None)
    _owner, _process = threading.get_ident(), os.getpid()
    _main = juliacall.Main
    while _callbacks:
        _callbacks.pop(0)()
    return _main


def on_start(callback: Callable[[], None]) -> None:
    """Have ``callback`` run once, right after Julia has started; now, if it runs already."""
    if _main is not None:
        callback()
    else:
        _callbacks.append(callback)


def owner() -> int | None:
    """The identifier of the thread that owns Julia; None before it is started."""
    return _owner


def forget_in_child() -> None:
    """In a forked child: juliacall's exit hook would run the parent's Julia there, which aborts."""
    juliacall = sys.modules.get("juliacall")
    if juliacall is not None:
        juliacall.CONFIG["lib"].jl_atexit_hook = lambda status: None


def value_base() -> Any:
    """The type at the root of all Julia values in Python; freeing one enters Julia."""
    return sys.modules["juliacall"].ValueBase


def include(path: str | os.PathLike[str]) -> Any:
    """Run a Julia file in ``Main``, like Julia's ``include``.

    Arguments:
        path: the file; a relative path counts from the current folder.

    Returns:
        The value of the file's last expression.

    Raises:
        FileNotFoundError: there is no such file.
        JuliaError: the file's code failed; the text names the file and the line. A Python exception that was
            raised in Python code called from the file comes out as itself.

    Examples:
        >>> import pathlib, pybridge as pb
        >>> _ = pathlib.Path("double.jl").write_text("double(x) = 2x")
        >>> pb.include("double.jl")(21)
        42
    """
    file = Path(path).expanduser().absolute()
    if not file.is_file():
        raise FileNotFoundError(errno.ENOENT, "no such Julia file", str(file))
    main = start()
    try:
        return main.Base.include(main, str(file))
    except JuliaError as error:
        raised = translate(error)
    # Outside the handler: the exception must not get Julia's wrapping as its context.
    raise raised


def __getattr__(name: str) -> Any:
    if name == "jl":
        return start()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


# ---- around juliacall's own start ---------------------------------------------------------------------------


class _Finder(MetaPathFinder):
    """Finds juliacall as everybody else does, and makes its first import start Julia our way.

    Asking whether juliacall is there (``importlib.util.find_spec``) starts nothing.
    """

    busy = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != "juliacall" or self.busy:
            return None
        self.busy = True
        try:
            spec = importlib.util.find_spec("juliacall")
        finally:
            self.busy = False
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader(Loader):
    def __init__(self, loader: Loader) -> None:
        self.loader = loader

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        return self.loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        state = _state()
        loader = self.loader
        if state is not None and state.juliacall is not None:
            loader = _take_from(module, Path(state.juliacall))
        before = _signals.hold()
        _unwind_with_libgcc()
        with _variables(state), _quiet(state):
            loader.exec_module(module)
        if hasattr(module, "Main"):
            _connect(module, before)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loader, name)  # resources, source lines


def _unwind_with_libgcc() -> None:
    """Put libgcc's unwinder into the global scope before Julia's libraries come.

    libjulia brings a libunwind with symbols of the same names (`_Unwind_*`). Were they found first, a C++ exception
    in any library loaded later would end the process.
    """
    if sys.platform == "linux":
        with suppress(OSError):
            ctypes.CDLL("libgcc_s.so.1", mode=ctypes.RTLD_GLOBAL)


def _take_from(module: ModuleType, folder: Path) -> Loader:
    """Make ``module`` the package in ``folder``: PythonCall works with the Python side of its own version alone."""
    spec = importlib.util.spec_from_file_location(
        module.__name__, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    assert spec is not None and spec.loader is not None
    module.__spec__, module.__loader__ = spec, spec.loader
    module.__file__, module.__path__ = spec.origin, [str(folder)]
    return spec.loader


def _state() -> _places.State | None:
    """What set-up has made; set-up runs if it has not. None: the environment itself says all."""
    if _given_state is not None:
        return _given_state
    from . import _ordinary, _setup

    if os.environ.get("PYTHON_JULIACALL_INIT") == "no":
        return None
    home = _places.prefix()
    state = _setup.fitting_state(home)
    if state is not None:
        return state
    if _ordinary.own_setting("exe") and _ordinary.own_setting("offline") == "yes":
        return None
    from rich.console import Console

    from ._steps import Steps

    steps = Steps(Console(stderr=True))
    steps.say(
        "pybridge: first use in this Python environment; setting up Julia once (python -m pybridge setup)"
    )
    return _setup.setup(home, steps)


@contextmanager
def _variables(state: _places.State | None) -> Iterator[None]:
    """Julia reads its settings from the environment; other programs must not, so they go again."""
    wanted = state.variables() if state is not None else {}
    threads = _threads()
    if threads is not None:
        wanted[THREADS] = threads
    if HANDLE_SIGNALS not in os.environ and "juliacall-handle-signals" not in sys._xoptions:
        wanted[HANDLE_SIGNALS] = "yes"
    kept = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    try:
        yield
    finally:
        for name, value in kept.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _threads() -> str | None:
    for name in ("PYBRIDGE_THREADS", THREADS, "JULIA_NUM_THREADS"):
        value = os.environ.get(name)
        if value:
            if value != "auto" and not (value.isdecimal() and int(value) >= 1):
                if name == "JULIA_NUM_THREADS":
                    return None  # Julia's own; newer forms ("4,1") are its to read
                raise ValueError(f"{name}={value!r}: expected a number of threads, 1 or more, or auto")
            return value
    return None


@contextmanager
def _quiet(state: _places.State | None) -> Iterator[None]:
    """Keep juliapkg's report off standard output, which is the program's; it is shown if the start fails."""
    said = StringIO()
    try:
        with redirect_stdout(said if state is not None else sys.stderr):
            yield
    except BaseException:
        sys.stderr.write(said.getvalue())
        raise


def _connect(juliacall: ModuleType, before: _signals.Held | None) -> None:
    """Make a running juliacall ours: signals, exceptions, the Julia package."""
    _signals.give_back(before)
    _julia_error.connect(juliacall)
    if not signals_handled(juliacall):
        warnings.warn(SIGNALS_WARNING, RuntimeWarning, stacklevel=3)
    juliacall.Base.push_b(juliacall.Base.LOAD_PATH, str(_places.julia_package_dir()))


def signals_handled(juliacall: Any) -> bool:
    """Whether Julia was started with its own signal handling, which stack overflows and threads need."""
    return bool(juliacall.CONFIG.get("opt_handle_signals") == "yes" or not juliacall.CONFIG.get("init", True))


def _start_for_setup() -> None:
    """Start the Julia of the state on standard input, compile PyBridge, and answer with the versions."""
    import json
    from dataclasses import fields

    global _given_state
    read = json.load(sys.stdin)
    _given_state = _places.State(**{field.name: read[field.name] for field in fields(_places.State)})
    main = start()
    main.seval("import PyBridge")
    import juliacall

    answer = {"julia": str(main.seval("string(VERSION)")), "pythoncall": str(juliacall.__version__)}
    sys.stdout.write(json.dumps(answer) + "\n")


if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
    sys.meta_path.insert(0, _Finder())
if getattr(sys.modules.get("juliacall"), "Main", None) is not None:
    # The user was earlier: signals and exceptions are put right at once, the rest at the first use.
    _connect(sys.modules["juliacall"], None)
