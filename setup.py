"""The build steps that pyproject.toml cannot say.

The C trampoline is one limited-API extension (a wheel serves every CPython from 3.9 on), and the Julia files
live beside the Python package, in julia/ and examples/: a wheel carries copies, an editable install uses the
checkout's.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import CCompilerError, CompileError, ExecError, LinkError, PlatformError

ROOT = Path(__file__).resolve().parent
ABI = "cp39"

# What a wheel carries from outside the package: folder in the checkout, folder in the package, which files.
CARRIED = (
    ("julia", "_julia", ("Project.toml", "src/**/*.jl", "packages/**/*.toml", "packages/**/*.jl")),
    ("examples", "_examples", ("**/*.jl",)),
)

MENDS = """\
  Debian, Ubuntu:  sudo apt install build-essential python3-dev
  Fedora:          sudo dnf install gcc python3-devel
  macOS:           xcode-select --install
then run the same command again. Another compiler is taken from the environment variable CC."""


def stop(problem: str) -> None:
    """End the build with a message a person can act on, instead of a page of traceback."""
    raise SystemExit(f"\nmxnet-pybridge cannot be built: {problem}\n")


class BuildTrampoline(build_ext):
    """Compile the trampoline, or say what is missing."""

    def run(self) -> None:
        if sys.platform == "win32":
            stop(
                "Windows is not supported (MXNet's threads meet Julia through POSIX condition variables).\n"
                "Use the Windows Subsystem for Linux; inside it pybridge installs as on Linux."
            )
        super().run()

    def build_extensions(self) -> None:
        compiler = self._compiler_name()
        if shutil.which(compiler) is None:
            stop(f"no C compiler, {compiler!r} was not found. Install one:\n{MENDS}")
        header = Path(sysconfig.get_path("include"), "Python.h")
        if not header.is_file():
            stop(f"Python's C headers are missing ({header} does not exist). Install them:\n{MENDS}")
        try:
            super().build_extensions()
        except (CCompilerError, CompileError, ExecError, LinkError, PlatformError) as error:
            stop(
                f"the C compiler {compiler!r} failed on the trampoline ({error}).\n"
                f"Its own messages are above. If it is incomplete, install it:\n{MENDS}"
            )

    def _compiler_name(self) -> str:
        command = getattr(self.compiler, "compiler_so", None) or ["cc"]
        words = shlex.split(command) if isinstance(command, str) else command
        return next((word for word in words if "=" not in word), "cc")


class BuildPython(build_py):
    """Copy the Python package, and the Julia files into it."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        for source, target, patterns in CARRIED:
            self._carry(ROOT / source, Path(self.build_lib, "pybridge", target), patterns)

    def _carry(self, source: Path, target: Path, patterns: tuple[str, ...]) -> None:
        # A file that is gone from the checkout must not survive in build/ and reach the wheel.
        shutil.rmtree(target, ignore_errors=True)
        for file in sorted(path for pattern in patterns for path in source.glob(pattern)):
            copy = target / file.relative_to(source)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)


setup(
    ext_modules=[
        Extension(
            "pybridge._trampoline",
            sources=sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("pybridge/_trampoline*.c")),
            depends=["pybridge/_trampoline.h"],
            define_macros=[("Py_LIMITED_API", "0x03090000")],
            py_limited_api=True,
            extra_compile_args=["-O2", "-pthread", "-fvisibility=hidden", "-Wall", "-Wextra"],
            extra_link_args=["-pthread"],
        )
    ],
    cmdclass={"build_ext": BuildTrampoline, "build_py": BuildPython},
    options={"bdist_wheel": {"py_limited_api": ABI}},
)
