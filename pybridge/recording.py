"""Whether what is computed is recorded, and whether in training mode: the thread's flags, and scopes that set them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from types import TracebackType
from typing import Any, TypeVar, overload

from . import _libmxnet

_T = TypeVar("_T")


def is_recording() -> bool:
    """Whether what is computed on this thread is being recorded.

    Examples:
        >>> import pybridge as pb
        >>> pb.record(lambda: pb.is_recording()), pb.is_recording()
        (True, False)
    """
    return _libmxnet.is_recording()


def is_training() -> bool:
    """Whether this thread is in training mode (dropout drops, batch norm updates its statistics).

    Examples:
        >>> import pybridge as pb
        >>> pb.record(lambda: pb.is_training()), pb.is_training()
        (True, False)
    """
    return _libmxnet.is_training()


def set_recording(flag: bool) -> bool:
    """Turn recording on or off on this thread; returns the previous state.

    Examples:
        >>> import pybridge as pb
        >>> pb.set_recording(False)
        False
    """
    return _libmxnet.set_recording(_flag("set_recording", flag))


def set_training(flag: bool) -> bool:
    """Turn training mode on or off on this thread; returns the previous state.

    Examples:
        >>> import pybridge as pb
        >>> pb.set_training(False)
        False
    """
    return _libmxnet.set_training(_flag("set_training", flag))


def _flag(name: str, flag: Any) -> bool:
    if flag not in (True, False):
        raise TypeError(f"{name}: flag is {flag!r}; expected True or False")
    return bool(flag)


# ---- scopes ---------------------------------------------------------------------------------------------------


class Scope(contextlib.ContextDecorator):
    """Recording and training flags for a while. Both are put back as they were, whatever happens inside."""

    def __init__(self, recording: bool | None, training: bool | None) -> None:
        self._wanted = (recording, training)
        self._before: list[tuple[bool, bool]] = []

    def _recreate_cm(self) -> Scope:
        return Scope(*self._wanted)  # as a decorator: one for each call, whichever thread makes it

    def __enter__(self) -> None:
        recording, training = self._wanted
        self._before.append((is_recording(), is_training()))
        if recording is not None:
            _libmxnet.set_recording(recording)
        if training is not None:
            _libmxnet.set_training(training)

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        recording, training = self._before.pop()
        _libmxnet.set_recording(recording)
        _libmxnet.set_training(training)


def _scope(name: str, do: Any, recording: bool | None, training: Any) -> Any:
    if callable(do):
        with Scope(recording, training):
            return do()
    if do is not None and do not in (True, False):
        raise TypeError(f"{name}: expected a bool or a callable, got {do!r}")
    return Scope(recording, training if do is None else bool(do))


@overload
def record(train_mode: bool = True) -> Scope: ...
@overload
def record(train_mode: Callable[[], _T]) -> _T: ...
@overload
def record(do: Callable[[], _T], train_mode: bool) -> _T: ...


def record(*args: Any, **kwargs: Any) -> Any:
    """Record what is computed, so that it can be differentiated.

    A context manager (`with pb.record():`), a decorator (`@pb.record()`), and a do-block
    (`y = pb.record(lambda: x * x)`). Leaving it puts the recording *and* the training flag back as they were.

    Args:
        train_mode: run layers such as dropout in training mode.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> x = mx.nd.array([3.0])
        >>> _ = pb.attach_grad(x)
        >>> y = pb.record(lambda: x * x)
        >>> pb.backward(y)
        >>> pb.getgrad(x).asscalar()
        6.0
    """
    return _mode_scope("record", True, True, *args, **kwargs)


def pause(*args: Any, **kwargs: Any) -> Any:
    """Do not record for a while, inside `record`; used as `record` is.

    Args:
        train_mode: run layers such as dropout in training mode; False by default.

    Examples:
        >>> import pybridge as pb
        >>> with pb.record():
        ...     with pb.pause():
        ...         print(pb.is_recording())
        False
    """
    return _mode_scope("pause", False, False, *args, **kwargs)


def _mode_scope(name: str, recording: bool, default: bool, *args: Any, **kwargs: Any) -> Any:
    do = None
    arguments = list(args)
    if arguments and callable(arguments[0]):
        do = arguments.pop(0)
    training: Any = kwargs.pop("train_mode", default)
    if arguments:
        training = arguments.pop(0)
    if arguments or kwargs:
        raise TypeError(
            f"{name}: unexpected arguments {arguments or kwargs}; expected train_mode, or a callable"
        )
    if training not in (True, False):
        raise TypeError(f"{name}: train_mode is {training!r}; expected True or False")
    if do is not None:
        with Scope(recording, bool(training)):
            return do()
    return Scope(recording, bool(training))


def train_mode(do: Callable[[], Any] | None = None) -> Any:
    """Training mode for a while, recording as it is; used as `record` is.

    Examples:
        >>> import pybridge as pb
        >>> with pb.train_mode():
        ...     print(pb.is_training(), pb.is_recording())
        True False
    """
    return _scope("train_mode", do, None, True)


def predict_mode(do: Callable[[], Any] | None = None) -> Any:
    """Prediction mode for a while, recording as it is; used as `record` is.

    Examples:
        >>> import pybridge as pb
        >>> with pb.record():
        ...     with pb.predict_mode():
        ...         print(pb.is_training(), pb.is_recording())
        False True
    """
    return _scope("predict_mode", do, None, False)
