"""The owner rule: Julia code runs on the owner thread and nowhere else.

1. The owner is the thread in which juliacall was initialised. Neither Python nor Julia ever runs on a thread of
   libmxnet: what those run is in `_trampoline.c`, which queues a request and waits for the owner's answer.
2. The owner never makes a call that can bring such requests about. A helper thread makes it, while the owner pumps:
   takes requests with the GIL released, serves them in Julia with the GIL held, answers.
3. A backward over Julia nodes returns only when every Julia callback of it has run; their errors are its errors.
4. Inside a served callback a backward only schedules, and calls that block are made by a helper while the owner pumps
   (a wait for everything would wait for the callback itself).
5. Other threads get Julia work done only while the owner attends (pumps, or runs `serve`).
6. Nothing waits for ever in silence: PYBRIDGE_TIMEOUT seconds without an owner, and the request fails.

`functions` and `arrays` come here to enter Julia; `_interposed` sends libmxnet's calls here.
"""

from __future__ import annotations

import atexit
import collections
import concurrent.futures
import ctypes
import itertools
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from . import _libmxnet, julia
from ._libmxnet import NDArray, quick, waiting

# The block: memory that C, Python and Julia all see. Mirrored in _trampoline.c and julia/src/block.jl.
HEADER, WORDS, RESULTS = 16, 24, 64
H_FUNCTION, H_NODE, H_FLAGS, H_INPUTS, H_OUTPUTS, H_STAGED, H_SEVERAL, H_STATUS, H_ROOM, H_CALL = range(10)
FLAG_TRAINING, FLAG_RECORDING, FLAG_NUMPY = 1, 2, 4
A_DATA, A_DTYPE, A_NDIM, A_CONTEXT = 1, 2, 3, 7

OK, FAILED, UNSERVED, TIMED_OUT = range(4)  # outcomes of a request

GRACE = 1.0  # seconds that an owner which is about to attend is waited for
STALL = 5.0  # seconds without any thread at work, after which a wait inside a callback waits for itself
TICK = 50  # milliseconds after which the pump lets Python handle signals


class _Owner:
    """What there is once: the owner thread, and Julia as seen from it."""

    ident: int | None = None
    bridge: Any = None  # the Julia module PyBridge
    forward: Callable[[int], int]
    backward: Callable[[int], int]
    release: Callable[[], int]
    inside: str | None = None  # the Julia function that runs now
    serving = 0  # depth of callbacks and foreign calls being served
    forked = False


owner = _Owner()

#: Names of prepared functions by number, for messages about calls that never reached Julia.
function_names: dict[int, str] = {}

_tickets: collections.deque[_Ticket] = collections.deque()
_foreign_failures: dict[int, BaseException] = {}
_pumps: list[_Pump] = []
_pump_numbers = itertools.count(1)
_blocks: dict[int, list[Any]] = {}
_dead_functions: collections.deque[int] = collections.deque()


def timeout() -> float:
    """Seconds that a request may wait for an owner that does not attend (PYBRIDGE_TIMEOUT; 0: for ever)."""
    text = os.environ.get("PYBRIDGE_TIMEOUT", "60")
    try:
        seconds = float(text)
    except ValueError:
        raise ValueError(
            f"PYBRIDGE_TIMEOUT is {text!r}; expected a number of seconds, 0 for no limit"
        ) from None
    return max(seconds, 0.0)


# ---- start, fork, exit -------------------------------------------------------------------------------------


def ready() -> Any:
    """Start Julia if need be; returns the Julia module PyBridge. Its functions are the owner's to call."""
    if owner.forked:
        raise RuntimeError(
            "pybridge: Julia does not survive os.fork(). Start the worker with multiprocessing's 'spawn' method, "
            "or call Julia in the parent only."
        )
    if owner.bridge is None:
        julia.start()
        assert owner.bridge is not None
    return owner.bridge


def _install() -> None:
    """Called once, on the owner, right after Julia has started."""
    main = julia.start()
    main.seval("import PyBridge")
    bridge = main.PyBridge
    check = os.environ.get("PYBRIDGE_CHECK", "") not in ("", "0")
    getattr(bridge, "link!")(_libmxnet.pybridge_addresses(), check)
    forward, backward, release = (int(address) for address in bridge.entries())
    # PYFUNCTYPE keeps the GIL: Julia code may call Python.
    owner.forward = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(forward)
    owner.backward = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(backward)
    owner.release = ctypes.PYFUNCTYPE(ctypes.c_int)(release)
    owner.ident = threading.get_ident()
    owner.bridge = bridge
    quick.pb_set_timeout(timeout())
    quick.pb_set_owner(ctypes.cast(_serve_inline, ctypes.c_void_p))
    if quick.pb_wrap_dealloc(julia.value_base(), b"juliacall.ValueBase"):
        raise RuntimeError("pybridge: juliacall's base type is not what this version of pybridge knows")
    os.register_at_fork(after_in_child=_after_fork_in_child)
    os.fork = _fork_outside_callbacks(os.fork)
    # Before threading joins its threads, where a thread may wait for an owner that will not come back.
    getattr(threading, "_register_atexit", atexit.register)(waiting.pb_shutdown)
    atexit.register(waiting.pb_shutdown)


def _after_fork_in_child() -> None:
    owner.forked = True
    owner.serving = 0
    _pumps.clear()
    _tickets.clear()
    _libmxnet.restore_all()


def _fork_outside_callbacks(fork: Callable[[], int]) -> Callable[[], int]:
    def checked() -> int:
        if owner.serving and threading.get_ident() == owner.ident:
            # libmxnet's own fork handler waits for the very callback that would fork.
            raise RuntimeError(
                "os.fork() inside a Julia callback would deadlock; fork outside, or use subprocess"
            )
        return fork()

    return checked


# ---- failures ----------------------------------------------------------------------------------------------


def _julia_failure() -> BaseException:
    """The Python exception for what an entry reported."""
    exception, trace = owner.bridge.take_failure()
    said = owner.bridge.misuse(exception)
    if said is not None:
        kind, message = str(said[0]), str(said[1])
        types = {"type": TypeError, "value": ValueError, "graph": _libmxnet.GraphError}
        return types[kind](message)
    return julia.translate(exception, trace)


def _owner_position() -> str:
    """Where the owner stands, for the message of a request that waited for it in vain."""
    where = f"inside Julia function {owner.inside}, called from" if owner.inside else "at"
    frame = sys._current_frames().get(owner.ident or 0)
    stack = "".join(traceback.format_stack(frame)) if frame else "  (the owner thread is gone)\n"
    return f"The owner thread is {where}:\n{stack}"


def _unattended(function: str, outcome: int, thread: int | str) -> Exception:
    if outcome == UNSERVED:
        return RuntimeError(
            f"the Julia function {function} runs on the thread that started Julia, and that thread does not attend. "
            "Let it call pb.serve(until=this thread) while other threads use Julia functions."
        )
    return TimeoutError(
        f"the Julia function {function} waited on thread {thread} for more than PYBRIDGE_TIMEOUT={timeout():g} "
        f"seconds, while the owner of Julia neither served nor pumped. {_owner_position()}"
        f"The call that waited was made at:\n{''.join(traceback.format_stack(sys._getframe(2)))}"
    )


# ---- serving -----------------------------------------------------------------------------------------------


class _Pump:
    """One pump on the owner's stack: a call whose requests it serves, and the first failure among them."""

    def __init__(self, create_graph: bool = False) -> None:
        self.number = next(_pump_numbers)
        self.create_graph = create_graph
        self.failure: BaseException | None = None

    def fail(self, failure: BaseException) -> None:
        if self.failure is None:
            self.failure = failure

    def run(self, done: Callable[[], bool], job: int | None = None, tick: int = TICK) -> None:
        """Serve requests until `job` or `done()`. What goes wrong is kept in `failure`; only then is the pump left."""
        _pumps.append(self)
        quick.pb_attend(1)
        take, number = waiting.pb_next, self.number
        try:
            while True:
                outcome = -1
                try:
                    while True:
                        block = take(number, job, tick, outcome)
                        outcome = -1
                        if block is not None and block != 1:
                            outcome = self.serve(block)
                        elif block == 1 or done():
                            return
                        while _tickets:
                            _tickets.popleft().run()
                except (
                    BaseException
                ) as failure:  # KeyboardInterrupt too: raised when the call has been served
                    self.fail(failure)
                    waiting.pb_answer_taken(number, FAILED)
                    if job is None:
                        return
        finally:
            quick.pb_attend(0)
            _pumps.pop()

    def serve(self, block: int) -> int:
        """Serve one request; returns its outcome."""
        header = _Header.from_address(block)
        call = header[H_CALL]
        if (_foreign_failures.get(call) if call else self.failure) is not None:
            return FAILED  # after a failure the rest of the call is answered, but not run
        inside, owner.inside = owner.inside, function_names.get(header[H_FUNCTION])
        owner.serving += 1
        try:
            if self.create_graph:
                raise _libmxnet.GraphError(
                    f"backward with create_graph=True reached the Julia function {owner.inside}: its gradient cannot "
                    "be differentiated again. Take first derivatives (create_graph=False), or write the function in "
                    "MXNet operators."
                )
            if not owner.backward(block):
                return OK
            failure: BaseException = _julia_failure()
        except BaseException as raised:
            failure = raised
        finally:
            owner.serving -= 1
            owner.inside = inside
        if call:
            _foreign_failures[call] = _readable(failure)
        else:
            self.fail(failure)
        return FAILED


_Header = ctypes.c_int64 * HEADER


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
def _serve_inline(block: int) -> int:
    """A callback that arrived on the owner itself: a call that no helper made (the GIL was released for it)."""
    if _pumps:
        return _pumps[-1].serve(block)
    pump = _Pump()
    outcome = pump.serve(block)
    if pump.failure is not None:
        # There is no call of ours that could raise it.
        sys.excepthook(type(pump.failure), pump.failure, pump.failure.__traceback__)
    return outcome


def _never() -> bool:
    return False


def run_backward(job: int | None, create_graph: bool) -> int:
    """Serve while a helper makes a backward's call and waits for the engine; returns the call's code.

    On failure libmxnet's text is set as this thread's last error; a failure of a Julia callback is raised.
    """
    if not job:
        raise RuntimeError("pybridge: no thread could be started to make the call")
    pump = _Pump(create_graph)
    pump.run(_never, job)
    code = _finish(job)
    if owner.release():
        pump.fail(_julia_failure())
    if pump.failure is not None:
        _raise(pump.failure, code)
    return code


def run_blocking(function: int, words: Any, keep: Any, name: str) -> int:
    """Let a helper make a call that can block inside a served callback, while the owner pumps on.

    `words` is a C array of the arguments, `keep` whatever they point into.
    """
    job = waiting.pb_start(function, 0, 0, len(words), words)
    if not job:
        raise RuntimeError("pybridge: no thread could be started to make the call")
    pump, stalled = _Pump(), _Stall()
    pump.run(stalled.now, job)
    if not quick.pb_done(job):
        _abandoned.append((job, words, keep))  # the helper still writes there when its wait ends
        quick.pb_abandon(job)
        raise _libmxnet.GraphError(
            f"{name} inside the backward of Julia function {owner.inside} waits for an array that depends on that "
            "backward itself. Use only values that were computed before it."
        )
    code = _finish(job)
    if pump.failure is not None:
        _raise(pump.failure, code)
    return code


_abandoned: list[tuple[int, Any, Any]] = []


class _Stall:
    """True once no other thread of the process has been at work for some seconds."""

    def __init__(self) -> None:
        limit = timeout()
        self.limit = min(STALL, limit) if limit else STALL
        self.since = time.monotonic()
        self.used = quick.pb_process_time()

    def now(self) -> bool:
        at, used = time.monotonic(), quick.pb_process_time()
        if used - self.used > 0.2 * (at - self.since) or _another_thread_is_at_work():
            self.since, self.used = at, used
        return at - self.since > self.limit


def _another_thread_is_at_work() -> bool:
    """Is one running or waiting for a processor, or for a disk?  (Linux; elsewhere processor time has to do.)"""
    me = str(threading.get_native_id())
    for thread in Path("/proc/self/task").glob("*"):
        try:
            state = (thread / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
        except OSError:  # it has ended
            continue
        if thread.name != me and state in "RD":
            return True
    return False


def _finish(job: int) -> int:
    """The return code of a finished job; its error text becomes this thread's."""
    code, waited = quick.pb_rc(job), quick.pb_wait_rc(job)
    if code or waited:
        text = quick.pb_error(job) if code else quick.pb_wait_error(job)
        _libmxnet.set_error((text or b"").decode("utf-8", "replace"))
    quick.pb_finish(job)
    return code or waited


def _raise(failure: BaseException, code: int) -> None:
    # libmxnet's own error of the same call is not lost: it is what the failure was raised from.
    raise failure from (_libmxnet.last_error() if code else failure.__cause__)


def _readable(failure: BaseException) -> BaseException:
    """A Julia exception that another thread will print: only the owner can ask Julia for its text."""
    return failure.keep_text() if isinstance(failure, julia.JuliaError) else failure


# ---- other threads -----------------------------------------------------------------------------------------


def foreign_backward(call_libmxnet: Callable[[], int], wait: Callable[[], int]) -> int:
    """A backward by another thread: it makes the call itself, the owner serves if it attends."""
    call = quick.pb_begin_call()
    function, thread = ctypes.c_int64(), ctypes.c_int64()
    try:
        code = call_libmxnet() or wait()
    finally:
        outcome = quick.pb_end_call(call, ctypes.byref(function), ctypes.byref(thread))
        failure = _foreign_failures.pop(call, None)
    if failure is None and outcome in (UNSERVED, TIMED_OUT):
        failure = _unattended(function_names.get(function.value, "?"), outcome, thread.value)
    if failure is not None:
        _raise(failure, code)
    return code


class _Ticket:
    """Work that another thread wants done on the owner."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.result: Any = None
        self.failure: BaseException | None = None
        self.done = threading.Event()
        self._taken = threading.Lock()

    def run(self) -> None:
        if not self._taken.acquire(blocking=False):
            return
        owner.serving += 1
        try:
            self.result = self.work()
        except BaseException as failure:
            self.failure = _readable(failure)
        finally:
            owner.serving -= 1
            self.done.set()

    def cancel(self) -> bool:
        return self._taken.acquire(blocking=False)


def on_owner(work: Callable[[], Any], name: str) -> Any:
    """Run `work` on the owner: at once if this is it, else while it attends."""
    if threading.get_ident() == owner.ident:
        return work()
    ticket, waited, outcome = _Ticket(work), 0.0, UNSERVED
    _tickets.append(ticket)
    waiting.pb_wake()
    while not ticket.done.wait(0.1):
        waited += 0.1
        if quick.pb_attending():
            waited, outcome = 0.0, TIMED_OUT
        limit = GRACE if outcome == UNSERVED else timeout()
        if 0 < limit < waited and ticket.cancel():
            raise _unattended(name, outcome, threading.current_thread().name)
    if ticket.failure is not None:
        raise ticket.failure
    return ticket.result


def serve(until: Any, timeout: float | None = None) -> None:
    """Serve the Julia calls of other threads, on the thread that owns Julia.

    Other threads may call Julia functions, or run a backward over them, only while the owner attends: inside this
    function, or inside a backward of its own.

    Args:
        until: what ends it: a `threading.Thread` that has finished, a `concurrent.futures.Future` that is done, a
            `threading.Event` that is set, or a callable without arguments that returns true.
        timeout: seconds after which TimeoutError is raised; None waits without a limit.

    Raises:
        TypeError: `until` is none of these.
        RuntimeError: this thread is not the one that started Julia.
        TimeoutError: `timeout` seconds passed first.

    Examples:
        >>> import threading
        >>> import pybridge as pb
        >>> worker = threading.Thread(target=lambda: None)
        >>> worker.start()
        >>> pb.serve(until=worker, timeout=60)
    """
    done = _condition(until)
    ready()
    if threading.get_ident() != owner.ident:
        raise RuntimeError("serve: only the owner, the thread that started Julia, can serve the others")
    limit = None if timeout is None else time.monotonic() + timeout
    pump = _Pump()
    pump.run(lambda: done() or (limit is not None and time.monotonic() > limit), tick=10)
    if owner.release():
        pump.fail(_julia_failure())
    if pump.failure is not None:
        raise pump.failure
    if not done():
        raise TimeoutError(f"serve: {until!r} was not done after {timeout:g} seconds")


def _condition(until: Any) -> Callable[[], bool]:
    if isinstance(until, threading.Thread):
        return lambda: not until.is_alive()
    if isinstance(until, concurrent.futures.Future):
        return until.done
    if isinstance(until, threading.Event):
        return until.is_set
    if callable(until):
        return lambda: bool(until())
    raise TypeError(
        f"serve: until is a {type(until).__name__}; expected a Thread, a Future, an Event or a callable"
    )


# ---- calls of Julia ----------------------------------------------------------------------------------------

_WHY = {
    2: "sparse storage; convert it with .tostype('default')",
    3: "on a GPU; copy it with .as_in_context(mx.cpu())",
    4: "an element type that Julia cannot share; convert it with .astype('float32')",
    5: "an unknown shape, or more than 16 dimensions",
}


def _take_block(arrays: int) -> Any:
    """A zeroed block with room for `arrays` inputs; blocks are used again (calls can be nested)."""
    room = 1 << max(3, arrays.bit_length())
    free = _blocks.setdefault(room, [])
    block = free.pop() if free else (ctypes.c_int64 * (HEADER + WORDS * (room + RESULTS)))()
    ctypes.memset(block, 0, 8 * HEADER)
    block[H_ROOM] = RESULTS
    return block


def _give_back(block: Any) -> None:
    _blocks[(len(block) - HEADER) // WORDS - RESULTS].append(block)


def _describe(
    block: Any, arrays: Sequence[NDArray], name: str, positions: Sequence[int], writing: bool
) -> Any:
    if owner.serving:  # wait as a callback does: pumping
        for a in arrays:
            _libmxnet.wait(a, writing)
    handles = _libmxnet.handles(arrays)
    bad = waiting.pb_describe(block, handles, len(arrays), writing)
    if bad:
        index, reason = divmod(bad, 8)
        if reason == 1:
            raise _libmxnet.last_error()
        which = f"argument {positions[index]}" if positions else "nd"
        raise ValueError(f"{name}: {which} cannot be shared with Julia: {_WHY[reason]}")
    return handles


def call(
    function: int,
    arrays: Sequence[NDArray],
    positions: Sequence[int],
    staged: tuple[Sequence[Any], dict[str, Any]] | None,
) -> NDArray | tuple[NDArray, ...]:
    """Call the prepared Julia function number `function`: one node of the graph if autograd is recording.

    `arrays` are its NDArrays, at the argument `positions`; `staged` holds all positional arguments (the arrays'
    places empty) and the keywords, if there is anything but arrays.
    """
    if owner.forked:
        ready()
    name = function_names[function]
    here = threading.get_ident() == owner.ident
    numpy = bool(arrays) and isinstance(arrays[0], _libmxnet.NumpyArray)
    block = _take_block(len(arrays))
    try:
        block[H_FUNCTION] = function
        block[H_FLAGS] = FLAG_NUMPY if numpy else 0
        handles = _describe(block, arrays, name, positions, writing=False)
        recording = bool(block[H_FLAGS] & FLAG_RECORDING) and len(arrays) > 0
        if recording:
            block[H_NODE] = quick.pb_new_node()
            quick.pb_set_recording(0)
        try:
            if here:
                _enter(block, name, staged)
            else:
                on_owner(lambda: _enter(block, name, staged), name)
        except BaseException:
            waiting.pb_release_block(block)
            raise
        finally:
            if recording:
                quick.pb_set_recording(1)
        first = HEADER + WORDS * len(arrays)
        results = [_libmxnet.array(block[first + WORDS * i], numpy) for i in range(block[H_OUTPUTS])]
        if recording and waiting.pb_record(
            block[H_NODE], function, len(arrays), handles, len(results), _libmxnet.handles(results)
        ):
            raise _libmxnet.last_error()
        return tuple(results) if block[H_SEVERAL] else results[0]
    finally:
        _give_back(block)


def _enter(block: Any, name: str, staged: tuple[Sequence[Any], dict[str, Any]] | None) -> None:
    _release()
    if staged is not None:
        arguments, keywords = staged
        slot = owner.bridge.Slot()
        owner.bridge.stage([slot if a is None else a[0] for a in arguments], keywords)
        block[H_STAGED] = 1
    inside, owner.inside = owner.inside, name
    try:
        status = owner.forward(ctypes.addressof(block))
    finally:
        owner.inside = inside
    if status:
        raise _julia_failure()


def _release() -> None:
    """Let Julia forget what libmxnet and Python have let go of."""
    if owner.release():
        raise _julia_failure()
    while _dead_functions:
        number = _dead_functions.pop()
        function_names.pop(number, None)
        owner.bridge.forget(number)


def prepare(target: Any, name: str, pullback: bool, python_layout: bool, keywords: dict[str, Any]) -> int:
    """Make a Julia function ready to be called; returns its number."""
    ready()
    number = int(_checked("prepare", name, target, name, pullback, python_layout, keywords))
    function_names[number] = name
    return number


def forget(number: int) -> None:
    """The prepared function `number` will not be called again; its nodes live on. Any thread may say so."""
    _dead_functions.append(number)


def _checked(function: str, name: str, *arguments: Any) -> Any:
    """Call a function of PyBridge on the owner, through juliacall; misuse is raised as `_julia_failure` says."""

    def work() -> Any:
        _release()
        bridge = owner.bridge  # not before: looking a name up in Julia is the owner's to do, too
        status, result = bridge.attempt(getattr(bridge, function), *arguments)
        if status:
            raise _julia_failure()
        return result

    return on_owner(work, name)


# ---- buffers -----------------------------------------------------------------------------------------------


def view(x: NDArray, writable: bool, python_layout: bool) -> Any:
    """The Julia array over the memory of `x`."""
    ready()
    block = _take_block(1)
    try:
        _describe(block, [x], "asjulia", [], writing=writable)
        return _checked("view_at", "asjulia", ctypes.addressof(block), writable, python_layout)
    finally:
        waiting.pb_release_block(block)
        _give_back(block)


def adopt(array: Any, numpy: bool) -> NDArray:
    """The NDArray over the memory of the Julia array `array`."""
    ready()
    if not isinstance(array, julia.value_base()):
        raise TypeError(f"asndarray: jl_array is a {type(array).__name__}; expected a Julia array")
    block = _take_block(1)
    try:
        _checked(
            "adopt_at", "asndarray", ctypes.addressof(block), array, numpy or _libmxnet.is_np_shape()
        )
        return _libmxnet.array(block[HEADER], numpy)
    finally:
        _give_back(block)


julia.on_start(_install)
