"""Gradients of intermediate values: an intermediate `y` goes on as `y + z`, where the leaf `z` is minus zero.

1. `x + (-0.0)` is `x` to the last bit (`x + 0.0` would turn -0.0 into 0.0), and the gradient of `z` is that of `y`.
2. libmxnet knows only the leaf: what it is asked about the marked array is answered for the leaf.
3. What used `y` before the mark does not go through `z`. That shows in the recorded graph, so a backward looks there
   before it computes anything.
"""

from __future__ import annotations

from .mark import Mark as Mark
from .mark import check as check
from .mark import drop as drop
from .mark import mark as mark
from .mark import marked as marked
from .mark import new_leaf as new_leaf
from .mark import of as of
from .mark import tie as tie
from .zeros import minus_zeros as minus_zeros
