"""Which of its kernels the OpenBLAS of an old Julia should take.

That OpenBLAS is older than many processors. One that it does not know by name gets kernels for processors without AVX,
a quarter as fast as those that would run there.
"""

from __future__ import annotations

from pathlib import Path

#: The newest kernels that OpenBLAS 0.3.9 has for x86-64, with the features that they need; the best first.
CORES = (
    ("SkylakeX", {"avx512f", "avx512cd", "avx512bw", "avx512dq", "avx512vl"}),
    ("Haswell", {"avx2", "fma"}),
)


def openblas_core(cpuinfo: Path = Path("/proc/cpuinfo")) -> str | None:
    """The value for OPENBLAS_CORETYPE, None where OpenBLAS's own choice has to do.

    Arguments:
        cpuinfo: the kernel's description of the processors.
    """
    try:
        lines = cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # no Linux
        return None
    features = next((set(line.split()) for line in lines if line.startswith("flags")), set())
    return next((core for core, needed in CORES if needed <= features), None)
