"""The block: memory that C, Python and Julia all see. Mirrored in _trampoline.h and julia/src/block.jl."""

from __future__ import annotations

HEADER, WORDS, RESULTS, MAXDIM = 16, 24, 64, 16
(
    H_FUNCTION,
    H_NODE,
    H_FLAGS,
    H_INPUTS,
    H_OUTPUTS,
    H_STAGED,
    H_SEVERAL,
    H_STATUS,
    H_ROOM,
    H_CALL,
    H_DEPTH,
    H_KIND,
    H_DIRECT,
    H_WRITTEN,
) = range(14)
A_DTYPE, A_NDIM, A_DIMS = 2, 3, 8
FLAG_TRAINING, FLAG_RECORDING, FLAG_NUMPY = 1, 2, 4
K_BACKWARD, K_FORWARD, K_WORK, K_CREATE, K_SHAPES, K_TYPES = range(6)
