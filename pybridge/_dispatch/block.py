"""The block: memory that C, Python and Julia all see. Mirrored in _trampoline.h and julia/src/block.jl."""

from __future__ import annotations

HEADER, WORDS, RESULTS = 16, 24, 64
H_FUNCTION, H_NODE, H_FLAGS, H_INPUTS, H_OUTPUTS, H_STAGED, H_SEVERAL, H_STATUS, H_ROOM, H_CALL, H_DEPTH = (
    range(11)
)
FLAG_TRAINING, FLAG_RECORDING, FLAG_NUMPY = 1, 2, 4
