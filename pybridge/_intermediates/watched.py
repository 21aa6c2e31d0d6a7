"""Values and gradients inside an existing network, chosen by name: `intermediates` and `internals`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from mxnet.gluon import HybridBlock

from .._libmxnet import NDArray
from .cached import MarkedOp
from .named import choose, named
from .rewrite import Entry


class Intermediates(Mapping[str, NDArray]):
    """The chosen values of a network's last call, by name, in the order of execution. Made by `pb.intermediates`.

    A name may be given whole or without the network's own prefix.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.Dense(2, in_units=2, prefix="dense_")
        >>> net.initialize()
        >>> with pb.intermediates(net, "fwd") as values:
        ...     y = net(mx.nd.ones((1, 2)))
        >>> values["fwd"].shape, list(values)
        ((1, 2), ['dense_fwd'])
    """

    def __init__(self, net: HybridBlock, patterns: Sequence[str]) -> None:
        self._net, self._patterns = net, patterns
        self._values: dict[str, NDArray] = {}
        self._before: tuple[Any, ...] | None = None
        self._called = False

    def __enter__(self) -> Intermediates:
        net = self._net
        if self._before is not None or "_build_cache" in vars(net):
            raise RuntimeError(
                "intermediates: the network is being looked into already; one `with` at a time"
            )
        self._before = net._active, net._flags, net._cached_graph, net._cached_op, net._cached_op_args
        net._active, net._cached_op = True, None
        net._build_cache = self._build
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        net, before = self._net, self._before
        assert before is not None
        active, flags, graph, operator, arguments = before
        del net._build_cache
        net._cached_op = None
        if net._flags is not flags:
            pass  # hybridized anew meanwhile: that stays, and the network makes an operator of its own
        elif graph and net._cached_graph is not graph:
            net._active = active  # its old operator is no longer that of the network (cast, a layer more)
        else:
            net._active, net._cached_graph, net._cached_op, net._cached_op_args = (
                active,
                graph,
                operator,
                arguments,
            )
        self._before = None

    def _build(self, *args: Any) -> None:
        net = self._net
        type(net)._build_cache(net, *args)
        inputs, symbol = net._cached_graph
        entries = named(symbol, (each.name for each in inputs))
        chosen = choose(self._patterns, entries, net.prefix)
        data = [i for i, (is_data, _) in enumerate(net._cached_op_args) if is_data]
        parameters = [i for i, (is_data, _) in enumerate(net._cached_op_args) if not is_data]
        flags = [("data_indices", data), ("param_indices", parameters), *net._flags]
        places: list[Entry] = [entries[name] for name in chosen]
        net._cached_op = MarkedOp(symbol, flags, places, lambda values: self._take(chosen, values))

    def _take(self, names: Sequence[str], values: Sequence[NDArray]) -> None:
        self._called = True
        self._values = dict(zip(names, values))

    def __getitem__(self, name: str) -> NDArray:
        if not self._called:
            raise LookupError(
                "intermediates: the network has not been called inside the `with` (or another block that is hybridized "
                "called it: look into that one)"
            )
        if name in self._values:
            return self._values[name]
        return self._values[self._net.prefix + name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Intermediates({', '.join(self._values) or 'not called yet'})"


def intermediates(net: Any, names: str | Sequence[str]) -> Intermediates:
    """Values and gradients inside a network, without a change to its code.

    Inside the `with` every call of `net` runs as a graph, with the flags that `net` was hybridized with, and the
    chosen values of the last call are there by name; after a backward they hold their gradients. Afterwards `net`
    runs as before.

    Args:
        net: a HybridBlock, hybridized or not, called directly or from a block that is not hybridized.
        names: names of internal values as `pb.internals` lists them, or glob patterns for them (`"*conv*"`), whole or
            without the network's own prefix.

    Returns:
        A context manager that is the mapping from names to NDArrays.

    Raises:
        TypeError: `net` is no HybridBlock, or a name is no string.
        ValueError: at the call, if nothing inside the network has such a name.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.HybridSequential(prefix="net_")
        >>> with net.name_scope():
        ...     net.add(mx.gluon.nn.Dense(3, activation="relu"), mx.gluon.nn.Dense(1))
        >>> net.initialize(mx.init.One())
        >>> with pb.intermediates(net, ["dense0_relu_fwd"]) as values:
        ...     with pb.record():
        ...         y = net(mx.nd.ones((1, 2)))
        ...     pb.backward(y)
        >>> relu = values["dense0_relu_fwd"]
        >>> relu.asnumpy().tolist(), relu.grad.asnumpy().tolist()
        ([[2.0, 2.0, 2.0]], [[1.0, 1.0, 1.0]])
    """
    _check_net("intermediates", net)
    patterns = [names] if isinstance(names, str) else list(names or ())
    if not patterns or not all(isinstance(name, str) for name in patterns):
        raise TypeError(f"intermediates: names is {names!r}; expected one or more names or patterns")
    return Intermediates(net, patterns)


def internals(net: Any, *inputs: Any) -> list[str]:
    """The names of the values inside a network, in the order of execution: its inputs, and what each operator gives.

    Args:
        net: a HybridBlock.
        *inputs: what it is called with (NDArrays); not needed after a call that was hybridized.

    Raises:
        TypeError: `net` is no HybridBlock.
        ValueError: no inputs are given, and the network has not been traced yet.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.Dense(2, activation="relu", prefix="dense_")
        >>> pb.internals(net, mx.nd.ones((1, 3)))
        ['data', 'dense_fwd', 'dense_relu_fwd']
    """
    _check_net("internals", net)
    before = net._cached_graph
    if not inputs and not before:
        raise ValueError(
            "internals: the network has not been traced yet; give what it is called with: internals(net, x)"
        )
    try:
        data, symbol = net._get_graph(*inputs)
    finally:
        net._cached_graph = before
    return list(named(symbol, (each.name for each in data)))


def _check_net(function: str, net: Any) -> None:
    if not isinstance(net, HybridBlock):
        raise TypeError(f"{function}: net is a {type(net).__name__}; expected a gluon HybridBlock")
