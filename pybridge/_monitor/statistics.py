"""`stats`: what every operator gave, in numbers."""

from __future__ import annotations

import json
import math
import time
from dataclasses import dataclass, field
from typing import Any

from mxnet.gluon import Block
from rich.table import Table

from .._libmxnet import NDArray
from .callback import Monitor, check_block
from .moments import Moments, moments
from .watch import check_backward


@dataclass
class Row:
    """One output of one operator, over all calls."""

    name: str
    operator: str
    shape: tuple[int, ...]
    dtype: str
    calls: int = 0
    seconds: float = 0.0
    values: Moments = field(default_factory=Moments)

    def as_dict(self) -> dict[str, Any]:
        """Plain numbers for JSON: None where nothing finite came by."""
        v = self.values
        numbers = {"min": v.minimum, "max": v.maximum, "mean": v.mean if v.count else math.nan, "std": v.std}
        return {
            "name": self.name,
            "operator": self.operator,
            "calls": self.calls,
            "shape": list(self.shape),
            "dtype": self.dtype,
            **{key: value if math.isfinite(value) else None for key, value in numbers.items()},
            "nan": v.nans,
            "inf": v.infs,
            "seconds": self.seconds,
        }


class Stats(Monitor):
    """Statistics of every operator of a block, gathered until removed. Made by `pb.stats`.

    `rows` maps names to them in the order of execution, `table()` is a rich table (printed by `rich.print(stats)`),
    `json()` the same as text.

    Examples:
        >>> import pybridge as pb, mxnet as mx
        >>> net = mx.gluon.nn.Dense(1, in_units=2, prefix="dense_")
        >>> net.initialize(mx.init.One())
        >>> with pb.stats(net) as stats:
        ...     _ = net(mx.nd.array([[1, 2], [3, 4]]))
        >>> row = stats.rows["dense_fwd_output"]
        >>> row.calls, row.values.minimum, row.values.maximum, row.values.mean
        (1, 3.0, 7.0, 5.0)
    """

    def __init__(self, block: Block, backward: bool = False) -> None:
        self.rows: dict[str, Row] = {}
        self._since = time.perf_counter()
        super().__init__(block, lambda *_: None, backward=backward)

    def begin(self, backward: bool) -> None:
        """The first operator of a call starts now."""
        self._since = time.perf_counter()

    def report(self, name: str, operator: str, array: NDArray, output: bool) -> None:
        """Take one array in."""
        array.wait_to_read()
        taken = time.perf_counter() - self._since
        row = self.rows.get(name)
        if row is None:
            dtype = getattr(array.dtype, "__name__", None) or str(array.dtype)
            row = self.rows[name] = Row(name, operator, array.shape, dtype)
        row.calls, row.shape = row.calls + 1, array.shape
        row.seconds += taken
        row.values.add(moments(array))
        self._since = time.perf_counter()

    def json(self) -> str:
        """The rows as a JSON array; what is no finite number is null."""
        return json.dumps([row.as_dict() for row in self.rows.values()], indent=1)

    def table(self) -> Table:
        """The rows as a rich table."""
        titles = (
            "node",
            "operator",
            "calls",
            "shape",
            "dtype",
            "min",
            "max",
            "mean",
            "std",
            "NaN",
            "Inf",
            "ms",
        )
        table = Table(*titles, title=f"operators of {self.block.name}")
        for row in self.rows.values():
            v = row.values
            numbers = (v.minimum, v.maximum, v.mean, v.std) if v.count else (math.nan,) * 4
            table.add_row(
                row.name,
                row.operator,
                str(row.calls),
                "×".join(map(str, row.shape)),
                row.dtype,
                *(f"{number:.4g}" for number in numbers),
                str(v.nans),
                str(v.infs),
                f"{1e3 * row.seconds:.3f}",
                style="red" if not v.finite else None,
            )
        return table

    def __rich__(self) -> Table:
        return self.table()


def stats(block: Any, *, backward: bool = False) -> Stats:
    """Gather statistics of every operator that a block runs: calls, shape, dtype, range, mean, deviation, NaNs, time.

    Each operator is waited for, so that its time is its own; the whole is slower than without.

    Args:
        block: a Gluon block, hybridized or not.
        backward: the operators of backwards too (hybridized blocks only).

    Returns:
        A `Stats`, gathering at once: a context manager, and a handle with `.remove()`.

    Raises:
        TypeError: `block` is no Gluon block.
        ValueError: `backward` is set, and a part of the block computes without being hybridized.

    Examples:
        >>> import pybridge as pb, mxnet as mx, json
        >>> net = mx.gluon.nn.Dense(1, in_units=2, prefix="dense_")
        >>> net.initialize()
        >>> with pb.stats(net) as stats:
        ...     _ = net(mx.nd.array([[float("nan"), 2], [3, 4]]))
        >>> [(row["name"], row["shape"], row["nan"]) for row in json.loads(stats.json())]
        [('dense_fwd_output', [2, 1], 1)]
    """
    check_block("stats", block)
    if backward:
        check_backward(block)
    return Stats(block, backward)
