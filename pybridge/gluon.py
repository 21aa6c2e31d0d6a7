"""Julia layers as Gluon blocks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

import mxnet as mx
import numpy as np

from . import _dispatch, julia
from ._libmxnet import NDArray, is_np_shape
from ._libmxnet_trampoline import OPERATOR
from .arrays import asndarray
from .functions import JuliaFunction, check_target, is_julia_name

Shape = Sequence[int]

_PARAMETER_ARGUMENTS = tuple(inspect.signature(mx.gluon.Parameter).parameters)[1:]  # but the name


class JuliaBlock(mx.gluon.HybridBlock):
    """A Gluon block around a layer written in Julia.

    Its parameters are ordinary `gluon.Parameter`s, and Julia computes on their memory. They reach the layer's `forward`
    after the inputs, in the order of `params`, and then the auxiliary states `aux`; `backward` returns a gradient for
    each argument in the same order, `nothing` for the states.

    Args:
        target: the layer: a Julia value, or its dotted name from `Main` as a string (looked up at each call, so that a
            redefinition counts; only a block made by name can be exported). A subtype of `PyBridge.CustomFunction`,
            a function, or a struct that can be called; see `pybridge.function`.
        params: parameter names to shapes in Python's order (0: known at the first call, from the Julia method
            `PyBridge.paramshapes(layer, inputsize...)`), or to dictionaries of arguments of `gluon.Parameter`
            (`shape`, `init`, `dtype`, `lr_mult`, `wd_mult`, `grad_req`, ...), where `init` can also be an array: of
            Julia, of MXNet or of NumPy. None: the floating-point arrays among the fields of `target`, if that is a
            struct, with their values; nested fields have dotted names.
        aux: auxiliary states, such as running means, in the same form. They have no gradient, `forward` may write to
            them, and they are initialised with zeros unless a dictionary says otherwise.
        outputs: how many arrays `forward` returns.
        pullback: `target` is a function that returns `(y, back)`.
        ad: where the gradient comes from if the layer has no `backward` and there is no `rrule` for it: a Julia module
            with `pullback(f, xs...)`, such as `pb.jl.Zygote`, or its name.
        layout: `"julia"` (sizes reversed) or `"python"`; see `pybridge.function`.
        prefix: of the names of the parameters; see `gluon.Block`.
        shared: a `ParameterDict` or a `JuliaBlock` whose parameters this block shares.
        **kw: keyword arguments for the constructor of a `CustomFunction`, or of the function.

    Raises:
        TypeError: an argument is of the wrong kind, or nothing says what the gradient is.
        ValueError: a name or a shape is none, or two parameters have the same name.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> _ = pb.jl.seval('''
        ... mutable struct Scale <: PyBridge.CustomFunction
        ...     x; w
        ...     Scale() = new()
        ... end
        ... PyBridge.forward(f::Scale, x, w) = (f.x = x; f.w = w; x .* w)
        ... PyBridge.backward(f::Scale, Δ) = (Δ .* f.w, vec(sum(Δ .* f.x; dims = 2)))
        ... PyBridge.paramshapes(::Scale, x) = (weight = (x[1],),)
        ... ''')
        >>> layer = pb.gluon.JuliaBlock("Scale", params={"weight": (0,)})
        >>> layer.initialize(mx.init.Constant(3))
        >>> layer(mx.nd.ones((2, 4)))[0].asnumpy().tolist()
        [3.0, 3.0, 3.0, 3.0]
        >>> layer.weight.shape
        (4,)
    """

    def __init__(
        self,
        target: Any,
        params: Mapping[str, Shape | dict[str, Any]] | None = None,
        *,
        aux: Mapping[str, Shape | dict[str, Any]] | None = None,
        outputs: int = 1,
        pullback: bool = False,
        ad: Any = None,
        layout: str = "julia",
        prefix: str | None = None,
        shared: Any = None,
        **kw: Any,
    ) -> None:
        check_target(target, pullback, layout, ad, "JuliaBlock")
        if isinstance(outputs, bool) or not isinstance(outputs, int) or outputs < 1:
            raise ValueError(f"JuliaBlock: outputs is {outputs!r}; expected a whole number from 1 on")
        named = _checked_parameters("params", {} if params is None else params)
        states = _checked_parameters("aux", {} if aux is None else aux)
        both = [name for name in named if name in states]
        if both:
            raise ValueError(
                f"JuliaBlock: {both[0]!r} is in params and in aux; a name can be only one of them"
            )
        fields = _fields_of(target) if params is None else {}
        named.update((name, _starting_with(values, {})) for name, values in fields.items())
        if isinstance(shared, mx.gluon.Block):
            shared = shared.params
        if shared is not None and not isinstance(shared, mx.gluon.ParameterDict):
            raise TypeError(
                f"JuliaBlock: shared is a {type(shared).__name__}; expected a JuliaBlock or a ParameterDict"
            )
        super().__init__(prefix=prefix, params=shared)
        self._outputs = outputs
        self._function = JuliaFunction(target, pullback, layout, kw, ad, tuple(fields))
        self._parameter_names, self._state_names = tuple(named), tuple(states)
        for name, arguments in named.items():
            self._register(name, arguments)
        for name, arguments in states.items():
            self._register(name, {"init": "zeros", **arguments, "grad_req": "null", "differentiable": False})

    def _register(self, name: str, arguments: dict[str, Any]) -> None:
        parameter = self.params.get(name, **{"allow_deferred_init": True, **arguments})
        if name.isidentifier() and not hasattr(self, name):
            setattr(self, name, parameter)
        else:
            self._reg_params[name] = parameter

    @property
    def function(self) -> JuliaFunction:
        """The Julia function that the block calls, on inputs, parameters and states."""
        return self._function

    def infer_shape(self, *args: Any) -> None:
        """Set the shapes of the parameters from those of the inputs."""
        names = [*self._parameter_names, *self._state_names]
        parameters = [self._reg_params[name] for name in names]
        declared = [None if p.shape is None else tuple(n or -1 for n in p.shape) for p in parameters]
        found = _dispatch.parameter_shapes(
            self._function.name, self._function._number, [a.shape for a in args], names, declared
        )
        for parameter, shape in zip(parameters, found):
            parameter.shape = shape

    # A parameter may have any name, F and self, too.
    def hybrid_forward(self, F: Any, /, *inputs: Any, **parameters: Any) -> Any:  # noqa: N803 (Gluon's name)
        """Call the Julia layer; with symbols, put it into the graph."""
        arguments = [
            *inputs,
            *(parameters[name] for name in self._parameter_names),
            *(parameters[name] for name in self._state_names),
        ]
        if any(isinstance(a, mx.sym.Symbol) for a in arguments):
            return self._compose(inputs, arguments)
        results = self._function._call(arguments, {}, written=len(self._state_names))
        several = results if isinstance(results, tuple) else (results,)
        if len(several) != self._outputs:
            raise ValueError(
                f"{self._function.name}: forward returned {len(several)} results, the block was made with outputs="
                f"{self._outputs}"
            )
        return several[0] if self._outputs == 1 else list(several)

    def _compose(self, inputs: Sequence[Any], arguments: Sequence[Any]) -> Any:
        for i, a in enumerate(inputs, 1):
            if not isinstance(a, mx.sym.Symbol):
                raise TypeError(
                    f"{self._function.name}: input {i} is a {type(a).__name__}; in a graph a JuliaBlock takes arrays "
                    "only. Give constants as keyword arguments of the block."
                )
        numpy = any(isinstance(a, mx.sym.np._Symbol) for a in arguments)
        attributes = _dispatch.attributes_of(
            self._function._number,
            self._function._made_from,
            len(inputs),
            self._outputs,
            self._parameter_names,
            self._state_names,
            numpy,
        )
        legacy = [a.as_nd_ndarray() if isinstance(a, mx.sym.np._Symbol) else a for a in arguments]
        plain = [_plain(a) for a in legacy[: len(inputs)]]
        made = mx.sym.Custom(*plain, *legacy[len(inputs) :], name="fwd", op_type=OPERATOR, **attributes)
        results = [_plain(r) for r in made]
        results = [r.as_np_ndarray() for r in results] if numpy else results
        return results[0] if self._outputs == 1 else results

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name}: {self._reg_params[name].shape}" for name in self._reg_params)
        return f"JuliaBlock({self._function.name}{', ' if shapes else ''}{shapes})"


_PLAIN = "__plain__"  # marks the symbols that `_plain` has made


def _plain(symbol: Any) -> Any:
    """The values of `symbol` in memory of their own, in the order of a plain array; their gradients likewise.

    Convolutions and their like leave arrays, and gradients, in layouts of oneDNN. libmxnet hands a custom operator a
    plain copy of such an array, but queues the operator and frees the copy before it has run. The swap of an axis with
    itself always writes to an array of its own, forward and backward, and oneDNN has no version of it. It wants a
    dimension: where there may be none, `tile` does the same, with a slower backward.
    """
    if symbol.attr(_PLAIN):
        return symbol
    if is_np_shape():
        return mx.sym.tile(symbol, reps=(), attr={_PLAIN: "1"})
    return mx.sym.SwapAxis(symbol, dim1=0, dim2=0, attr={_PLAIN: "1"})


class _Values(mx.init.Initializer):
    """Initialises a parameter with the values that a Julia field had."""

    def __init__(self, values: NDArray) -> None:
        super().__init__()
        self._values = values

    def _init_weight(self, name: str, array: NDArray) -> None:
        array[:] = self._values


def _checked_parameters(which: str, given: Any) -> dict[str, dict[str, Any]]:
    """Every parameter's arguments for `gluon.Parameter`."""
    if not isinstance(given, Mapping):
        raise TypeError(
            f"JuliaBlock: {which} is a {type(given).__name__}; expected a dictionary of names to shapes"
        )
    checked = {}
    for name, value in given.items():
        if not is_julia_name(name):
            raise ValueError(
                f"JuliaBlock: {which} has the name {name!r}; expected an identifier, or several with dots"
            )
        arguments = dict(value) if isinstance(value, Mapping) else {"shape": value}
        _check_arguments(f"{which}[{name!r}]", arguments)
        shape = arguments.get("shape")
        if isinstance(shape, (int, np.integer)) and not isinstance(shape, bool):
            arguments["shape"] = shape = (shape,)
        if shape is not None and not (
            isinstance(shape, Sequence)
            and all(isinstance(n, (int, np.integer)) and not isinstance(n, bool) and n >= 0 for n in shape)
        ):
            raise ValueError(
                f"JuliaBlock: {which}[{name!r}] is {shape!r}; expected a shape, a tuple of whole numbers (0: not known "
                "yet)"
            )
        if shape is not None:
            arguments["shape"] = tuple(int(n) for n in shape)
        init = arguments.get("init")
        if isinstance(init, (NDArray, np.ndarray)) or (
            julia.started() and isinstance(init, julia.value_base())
        ):
            arguments = _starting_with(init, arguments)
        checked[name] = arguments
    return checked


def _check_arguments(which: str, arguments: dict[str, Any]) -> None:
    unknown = [name for name in arguments if name not in _PARAMETER_ARGUMENTS]
    if unknown:
        raise TypeError(
            f"JuliaBlock: {which} has {unknown[0]!r}, which is no argument of gluon.Parameter; expected some of "
            f"{', '.join(_PARAMETER_ARGUMENTS)}"
        )
    for name in ("stype", "grad_stype"):
        if arguments.get(name, "default") != "default":
            raise ValueError(
                f"JuliaBlock: {which} has {name}={arguments[name]!r}; sparse storage cannot be shared with Julia"
            )


def _starting_with(values: Any, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments for a parameter that starts with these values."""
    if not isinstance(values, (NDArray, np.ndarray)):
        values = asndarray(values).copy()
    kept = values.copy() if isinstance(values, NDArray) else mx.nd.array(values, dtype=values.dtype)
    return {"dtype": kept.dtype, **arguments, "shape": kept.shape, "init": _Values(kept)}


def _fields_of(target: Any) -> dict[str, NDArray]:
    """The values of the array fields of a Julia struct, by dotted name; none for what is given by name."""
    if isinstance(target, str) or not isinstance(target, julia.value_base()):
        return {}

    def read(found: Any) -> dict[str, NDArray]:
        return {str(name): asndarray(values).copy() for name, values in found}

    fields: dict[str, NDArray] = _dispatch.ask_bridge("parameter_fields", "JuliaBlock", target, read=read)
    return fields
