"""Julia functions as nodes of MXNet's autograd graph."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

from . import _dispatch
from ._libmxnet import NDArray

Watch = Callable[[str, Sequence[NDArray], Sequence[NDArray]], None]

_watch: Watch | None = None


def watch(tell: Watch | None) -> None:
    """Let `tell(name, arguments, results)` know of every call from now on; None ends it."""
    global _watch
    _watch = tell


class JuliaFunction:
    """A Julia function that is called on NDArrays: one call is one node of the autograd graph.

    Made by `pybridge.function`. Positional arguments that are NDArrays reach Julia as arrays over the same memory,
    everything else as constants; keyword arguments override those given to `pybridge.function`.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> double = pb.function(pb.jl.seval("x -> (2 .* x, Δ -> 2 .* Δ)"), pullback=True)
        >>> double(mx.nd.array([1, 2])).asnumpy().tolist()
        [2.0, 4.0]
    """

    def __init__(
        self,
        target: Any,
        pullback: bool,
        layout: str,
        keywords: dict[str, Any],
        ad: Any = None,
        fields: Sequence[str] = (),
    ) -> None:
        self.layout = layout
        self._made_from = (target, pullback, layout, keywords, ad, fields)
        self._number, self.name = _dispatch.prepare(
            target, pullback, layout == "python", keywords, ad, fields
        )
        _dispatch.callers[self._number] = self
        weakref.finalize(self, _dispatch.forget, self._number).atexit = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the Julia function.

        Args:
            *args: what `forward` gets. NDArrays must be dense and on the CPU; the results are `mx.nd` or `mx.np`
                arrays like the first of them.
            **kwargs: keyword arguments of the constructor (or of the function, with `pullback=True`).

        Returns:
            An NDArray, or a tuple of them when the function returns a tuple.

        Raises:
            JuliaError: the Julia code failed; a Python exception that passed through it comes out as itself.
            TypeError: no argument is an NDArray, or the function returned something that is no array.
            ValueError: an argument or a result cannot be shared (sparse, GPU, element type).
            RuntimeError: another thread than the owner of Julia called, and the owner does not attend.
        """
        return self._call(args, kwargs)

    def _call(self, args: Sequence[Any], kwargs: dict[str, Any], written: int = 0) -> Any:
        """Call it; it may write to the last `written` arguments, which are NDArrays."""
        arrays = [a for a in args if isinstance(a, NDArray)]
        staged: tuple[list[Any], dict[str, Any]] | None = None
        if len(arrays) == len(args):
            positions: Any = range(1, len(args) + 1)
            if kwargs:
                staged = ([None] * len(args), kwargs)
        else:
            positions = [i for i, a in enumerate(args, 1) if isinstance(a, NDArray)]
            staged = ([None if isinstance(a, NDArray) else (a,) for a in args], kwargs)
        if not arrays:
            raise TypeError(
                f"{self.name}: expected at least one NDArray among the arguments, got "
                f"({', '.join(type(a).__name__ for a in args)})"
            )
        results = _dispatch.call(self._number, arrays, positions, staged, written)
        if _watch is not None:
            _watch(self.name, arrays, results if isinstance(results, tuple) else (results,))
        return results

    def __repr__(self) -> str:
        return f"JuliaFunction({self.name})"

    def __copy__(self) -> JuliaFunction:
        return self  # it holds nothing that changes

    def __deepcopy__(self, memo: Any) -> JuliaFunction:
        return self

    def __reduce__(self) -> Any:
        if not isinstance(self._made_from[0], str) or not isinstance(self._made_from[4], (str, type(None))):
            raise TypeError(
                f"{self!r} holds a Julia value, which stays in its process; make it by name to pickle it"
            )
        return JuliaFunction, self._made_from


def function(
    target: Any, *, pullback: bool = False, ad: Any = None, layout: str = "julia", **kw: Any
) -> JuliaFunction:
    """Make a Julia function callable on NDArrays, as one node of MXNet's autograd graph.

    Args:
        target: a Julia value, or its dotted name as a string (`"MyModule.Swish"`), looked up in Julia's `Main` at
            each call, so that a redefinition counts. Either a subtype of `PyBridge.CustomFunction`, of which each
            call makes a fresh instance from the keyword arguments, or a function. Its gradient comes from the
            subtype's own `backward`, else from a ChainRules `rrule`, else from `ad`.
        pullback: `target` is a plain function that returns `(y, back)`, where `back(Δ...)` returns the gradient of
            each argument.
        ad: a Julia module with `pullback(f, xs...)`, such as `pb.jl.Zygote`, or its name.
        layout: what an NDArray of shape `(a, b, c)` is in Julia: `"julia"`, an `Array` of size `(c, b, a)`, or
            `"python"`, a `PermutedDimsArray` of size `(a, b, c)`. Neither copies.
        **kw: keyword arguments for every call; those of a call override them.

    Returns:
        A `JuliaFunction`.

    Raises:
        TypeError: nothing says what the gradient of `target` is: it is no subtype of `CustomFunction`, `pullback` is
            not set, no package has loaded ChainRulesCore, and no `ad` was given.
        ValueError: `target` is no Julia name, or there is no such layout. That a name is not defined is found at
            the call.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> square = pb.function(pb.jl.seval("x -> (x .^ 2, Δ -> 2 .* x .* Δ)"), pullback=True)
        >>> x = mx.nd.array([1, 2, 3])
        >>> _ = pb.attach_grad(x)
        >>> with pb.record():
        ...     y = square(x)
        >>> pb.backward(y)
        >>> pb.getgrad(x).asnumpy().tolist()
        [2.0, 4.0, 6.0]
    """
    check_target(target, pullback, layout, ad, "function")
    return JuliaFunction(target, pullback, layout, kw, ad)


def is_julia_name(name: Any) -> bool:
    """Is it a dotted Julia name such as 'MyModule.Swish'?"""
    return isinstance(name, str) and all(part.rstrip("!").isidentifier() for part in name.split("."))


def check_target(target: Any, pullback: Any, layout: Any, ad: Any, caller: str) -> None:
    """Refuse what can be seen to be wrong before Julia is asked; `caller` is the function whose arguments they are."""
    if layout not in ("julia", "python"):
        raise ValueError(f"{caller}: layout is {layout!r}; expected 'julia' or 'python'")
    if not isinstance(pullback, bool):
        raise TypeError(f"{caller}: pullback is a {type(pullback).__name__}; expected a bool")
    if isinstance(target, str) and not is_julia_name(target):
        raise ValueError(f"{caller}: target {target!r} is no dotted Julia name such as 'MyModule.Swish'")
    if isinstance(ad, str) and not is_julia_name(ad):
        raise ValueError(f"{caller}: ad {ad!r} is no dotted Julia name such as 'Zygote'")
    if ad is not None and pullback:
        raise ValueError(f"{caller}: pullback=True and ad= both say where the gradient comes from; give one")
