"""What pybridge computes for its own ends, which is no operator of the user's to whoever watches them."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

#: Part of the names of nodes that pybridge puts into a graph.
OWN = "_pybridge_"


class _Here(threading.local):
    depth = 0


_here = _Here()


@contextlib.contextmanager
def unseen() -> Iterator[None]:
    """Let nobody watch the operators that run inside, on this thread."""
    _here.depth += 1
    try:
        yield
    finally:
        _here.depth -= 1


def is_unseen() -> bool:
    return _here.depth > 0
