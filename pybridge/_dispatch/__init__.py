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

`functions` and `arrays` come here to enter Julia; `interposed` sends libmxnet's calls here.
"""

from __future__ import annotations

from . import interposed as interposed
from . import operators as operators
from . import start as start
from .calls import adopt as adopt
from .calls import ask_bridge as ask_bridge
from .calls import call as call
from .calls import copied_bytes as copied_bytes
from .calls import forget as forget
from .calls import live_counts as live_counts
from .calls import pinned_bytes as pinned_bytes
from .calls import prepare as prepare
from .calls import view as view
from .operators import attributes_of as attributes_of
from .operators import parameter_shapes as parameter_shapes
from .others import on_owner as on_owner
from .others import serve as serve
from .owner import callers as callers
from .owner import ready as ready
