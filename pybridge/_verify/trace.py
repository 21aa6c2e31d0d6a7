"""What a run wrote down, piece by piece: what has changed; whole up to its last line even if the process was killed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

#: What a trace may hold; a run that would write more is not followed further.
MOST_BYTES = 2 * 2**30
MOST_EVENTS = 20_000


@dataclass
class Leaf:
    """A value at a path: an NDArray, an array, a list, a number (all of them NumPy arrays here), a text, or nothing."""

    kind: str
    value: Any = None


@dataclass
class Event:
    """A piece has run. `where` numbers it; within a piece it is the line."""

    where: int
    changed: dict[str, Leaf] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    error: str = ""
    line: int = 0


class FullError(Exception):
    """The trace holds as much as it may."""

    def __init__(self) -> None:
        super().__init__(f"its values fill {MOST_BYTES // 2**20} MB; what follows was not looked at")


class Writer:
    """Writes a trace into a folder."""

    def __init__(self, folder: Path) -> None:
        self._events = (folder / "events").open("w", encoding="utf-8")
        self._data = (folder / "data").open("wb")
        self._known: dict[str, bytes] = {}
        self._written = 0

    def observe(self, where: int, found: list[tuple[str, str, Any]]) -> list[str]:
        """Note what has changed since the last time; returns the paths.

        Raises:
            Full: the trace has become too long.
        """
        changed: dict[str, Any] = {}
        seen = set()
        for path, kind, value in found:
            seen.add(path)
            digest = _digest(kind, value)
            if self._known.get(path) != digest:
                self._known[path] = digest
                changed[path] = self._store(kind, value)
        gone = [path for path in self._known if path not in seen and path.split("\n", 1)[0]]
        for path in gone:
            del self._known[path]
        self._write({"where": where, "changed": changed, "gone": gone})
        return list(changed)

    def stop(self, where: int, error: str, line: int = 0) -> None:
        """Note that a piece could not be run."""
        self._write({"where": where, "error": error, "line": line})

    def _write(self, entry: dict[str, Any]) -> None:
        self._events.write(json.dumps(entry) + "\n")
        self._events.flush()

    def _store(self, kind: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, np.ndarray):
            return {"kind": kind, "value": value}
        if self._written + value.nbytes > MOST_BYTES:
            raise FullError
        place, self._written = self._written, self._written + value.nbytes
        self._data.write(np.ascontiguousarray(value).tobytes())
        self._data.flush()
        return {"kind": kind, "dtype": str(value.dtype), "shape": value.shape, "at": place}


def _digest(kind: str, value: Any) -> bytes:
    made = hashlib.blake2b(kind.encode(), digest_size=16)
    if isinstance(value, np.ndarray):
        made.update(f"{value.dtype}{value.shape}".encode())
        made.update(np.ascontiguousarray(value).tobytes())
    else:
        made.update(repr(value).encode())
    return made.digest()


def read(folder: Path) -> Iterator[Event]:
    """The events of a trace, in order."""
    if not (folder / "events").is_file():
        return
    data = np.memmap(folder / "data", np.uint8, "r") if (folder / "data").stat().st_size else None
    for line in (folder / "events").read_text(encoding="utf-8").splitlines():
        entry = json.loads(line)
        event = Event(entry["where"], {}, entry.get("gone", []), entry.get("error", ""), entry.get("line", 0))
        for path, leaf in entry.get("changed", {}).items():
            value = _array(leaf, data) if "dtype" in leaf else leaf["value"]
            event.changed[path] = Leaf(leaf["kind"], value)
        yield event


def _array(leaf: dict[str, Any], data: Any) -> Any:
    dtype, shape = np.dtype(leaf["dtype"]), tuple(leaf["shape"])
    count = int(np.prod(shape))
    if not count:
        return np.empty(shape, dtype)
    return np.frombuffer(data, dtype, count, leaf["at"]).reshape(shape)
