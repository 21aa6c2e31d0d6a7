"""The command line: ``pybridge`` and ``python -m pybridge``."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Optional

import typer
from rich.console import Console

app = typer.Typer(
    name="pybridge",
    help="Julia-defined layers and differentiable functions in MXNet's autograd graph.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _examples(*lines: str) -> str:
    return "[bold]Examples[/bold]\n\n" + "\n\n".join(f"  {line}" for line in lines)


@app.command(
    epilog=_examples("pybridge setup", "pybridge setup --prefix /data/pybridge", "pybridge setup --remove")
)
def setup(
    way: str = typer.Option("auto", help="auto, named (PYBRIDGE_JULIA), juliapkg, or debian."),
    prefix: Optional[Path] = typer.Option(
        None, help="Where to put it. Set PYBRIDGE_HOME to the same folder afterwards."
    ),
    remove: bool = typer.Option(False, "--remove", help="Take away what set-up has brought."),
    keep_downloads: bool = typer.Option(
        False, "--keep-downloads", help="Keep the fetched archives in the folder."
    ),
) -> None:
    """Find a Julia or bring one, once; a second run does nothing. Needs no root, writes to one folder only."""
    from . import _places, _setup
    from ._run import SetupError
    from ._steps import Steps

    home = _places.prefix(prefix)
    steps = Steps(Console())
    try:
        if remove:
            _setup.remove(home, steps)
            return
        _setup.setup(home, steps, way, keep_downloads)
    except SetupError as error:
        Console(stderr=True).print(
            f"pybridge setup: {error}", style="red", markup=False, highlight=False, soft_wrap=True
        )
        raise typer.Exit(1) from None
    if home != _places.prefix():
        steps.say(f"Tell pybridge where it is: export PYBRIDGE_HOME={home}")


@app.command(epilog=_examples('eval "$(pybridge env)"   # then plain juliacall starts the same Julia'))
def env() -> None:
    """Print shell lines with which ``import juliacall``, without pybridge, starts the Julia that is set up."""
    import shlex

    from . import _places
    from .julia import HANDLE_SIGNALS

    home = _places.prefix()
    state = _places.load_state(home)
    if state is None:
        Console(stderr=True).print(
            f"nothing is set up in {home}; run: python -m pybridge setup", markup=False
        )
        raise typer.Exit(1)
    for name, value in {**state.variables(), HANDLE_SIGNALS: "yes"}.items():
        typer.echo(f"export {name}={shlex.quote(value)}")


@app.command(epilog=_examples("pybridge doctor", "pybridge doctor --json"))
def doctor(
    json: bool = typer.Option(False, "--json", help="Print one JSON object instead of a table."),
) -> None:
    """Show what pybridge stands on, where it was found, what is wrong and what mends it."""
    from . import doctor as rooms

    raise typer.Exit(rooms.report(as_json=json))


@app.command(epilog=_examples("pybridge demo", "pybridge demo --epochs 5 --seed 1 --out result.png"))
def demo(
    epochs: int = typer.Option(30, min=1, help="How often the training set is gone through."),
    seed: int = typer.Option(0, help="Seed of every random number."),
    out: Path = typer.Option(Path("pybridge-demo.png"), help="Where to save the picture."),
    dtype: str = typer.Option("float32", help="float32 or float64."),
) -> None:
    """Train a network with layers written in Julia on real scans, and compare its gradients with MXNet's own."""
    from .demo import run

    try:
        status = run(epochs=epochs, seed=seed, out=out, dtype=dtype)
    except (
        ImportError,
        ValueError,
    ) as error:  # what is missing, or out of range: the message says what to do
        Console(stderr=True).print(
            f"pybridge demo: {error}", style="red", markup=False, highlight=False, soft_wrap=True
        )
        status = 1
    raise typer.Exit(status)


@app.command(
    epilog=_examples(
        "pybridge run train.jl", "pybridge run train.jl --epochs 10   # the script's own arguments"
    ),
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": True},
)
def run(
    script: Path = typer.Argument(help="A Julia script, written for MXNet.jl."),
    arguments: Optional[list[str]] = typer.Argument(None, help="What the script finds in ARGS."),
) -> None:
    """Run an MXNet.jl script in this process, as `julia script.jl` would: `using MXNet` finds the imperative API."""
    from ._script import run as run_script

    try:
        status = run_script(script, arguments or [])
    except FileNotFoundError as error:
        Console(stderr=True).print(
            f"pybridge run: {error.strerror}: {error.filename}", style="red", markup=False, highlight=False
        )
        status = 1
    raise typer.Exit(status)


@app.command(
    epilog=_examples(
        "pybridge check model.py:swish layers.jl:Swish --input 32x10",
        "pybridge check model.py:affine layers.jl:affine --input 32x10 --input 10x3 --input 3 --html report.html",
        "pybridge check - layers.jl:Swish --input 100   # Julia alone, against numbers",
        "pybridge check --all pairs.toml",
    )
)
def check(
    context: typer.Context,
    python: Optional[str] = typer.Argument(None, help="FILE:NAME of the Python function, or - for none."),
    julia: Optional[str] = typer.Argument(None, help="FILE:NAME of the Julia function, or - for none."),
    shape: list[str] = typer.Option([], "--input", help="Shape of an argument, one for each, as in 32x10."),
    low: float = typer.Option(-2.0, help="Smallest random input."),
    high: float = typer.Option(2.0, help="Largest random input."),
    avoid: list[float] = typer.Option([], help="A value that inputs keep away from."),
    dtype: Optional[str] = typer.Option(
        None, help="float64, float32 or float16; by default float64, and then float32."
    ),
    layout: str = typer.Option("julia", help="Index order of the Julia function: julia or python."),
    keyword: list[str] = typer.Option(
        [], help="NAME=VALUE: a keyword of the Julia function, as in factor=2."
    ),
    seed: int = typer.Option(0, help="Seed of every random number."),
    rtol: Optional[float] = typer.Option(
        None, help="Relative tolerance, instead of what dtype and condition say."
    ),
    atol: Optional[float] = typer.Option(None, help="Absolute tolerance, likewise."),
    html: Optional[Path] = typer.Option(
        None, help="Write the report as a page (with --all: a folder of pages)."
    ),
    plot: Optional[Path] = typer.Option(None, help="Save the report's picture as a PNG."),
    all_pairs: Optional[Path] = typer.Option(None, "--all", help="A TOML file of pairs to compare."),
) -> None:
    """Compare a Python function with a Julia function: values, gradients, and who is right.

    Exit status 0: they agree; 1: they do not; 2: they could not be compared.
    """
    from ._crosscheck import command

    if all_pairs is not None:
        unused = [
            name for name in context.params if name not in ("all_pairs", "html") and _is_given(context, name)
        ]
        if unused:
            text = f"--all takes everything from its file; leave out {', '.join(sorted(unused))}"
            raise typer.Exit(command.refuse(command.CheckError(text)))
        raise typer.Exit(command.check_all(all_pairs, html))
    python, julia = (None if name in (None, "-") else name for name in (python, julia))
    try:
        if python is None and julia is None:
            raise command.CheckError("name a Python function, a Julia function, or both")
        keywords = command.read_keywords(keyword)
    except command.CheckError as error:
        raise typer.Exit(command.refuse(error)) from None
    options = {
        key: value for key, value in (("seed", seed), ("rtol", rtol), ("atol", atol)) if value is not None
    }
    pair = command.Pair(
        python,
        julia,
        shape,
        low=low,
        high=high,
        avoid=avoid,
        dtype=dtype,
        layout=layout,
        keywords=keywords,
        options=options,
    )
    raise typer.Exit(command.check_one(pair, html, plot))


@app.command(
    epilog=_examples(
        "pybridge migrate src/ --out py/",
        "pybridge migrate train.jl --out py/ --html report.html --strict",
        "pybridge migrate train.jl --check   # the report alone",
        "pybridge migrate --stdin < train.jl",
        "pybridge migrate train.jl --check --verify   # runs train.jl and its translation, and compares",
    )
)
def migrate(
    paths: Optional[list[Path]] = typer.Argument(None, help="Julia files, or folders of them."),
    out: Optional[Path] = typer.Option(
        None, "--out", help="The folder to write to; a folder keeps its tree."
    ),
    functions: str = typer.Option(
        "julia",
        help="julia: differentiable functions stay Julia, called through pb.function; python: mx.autograd.Function.",
    ),
    strict: bool = typer.Option(False, "--strict", help="Exit status 1 when anything needs a person."),
    check: bool = typer.Option(False, "--check", help="Write nothing, show the report."),
    diff: bool = typer.Option(False, "--diff", help="Write nothing, show what would change in the output."),
    stdin: bool = typer.Option(False, "--stdin", help="Read Julia from standard input, print Python."),
    force: bool = typer.Option(False, "--force", help="Overwrite files that are there."),
    json: bool = typer.Option(False, "--json", help="Print the report as one JSON object."),
    html: Optional[Path] = typer.Option(None, help="Write the report as a page, old and new side by side."),
    verify: bool = typer.Option(
        False,
        "--verify",
        help="Run the old code and the new on the same random numbers, and compare all arrays and gradients.",
    ),
    verify_seconds: int = typer.Option(600, help="How long each run of --verify may take."),
    sandbox: bool = typer.Option(
        True,
        "--sandbox/--no-sandbox",
        help="Whether --verify keeps what it runs from the network and your files.",
    ),
) -> None:
    """Turn MXNet.jl code into Python on mxnet and pybridge. Runs nothing of what it reads, but for --verify.

    Exit status 0: done; 1: with --strict, something needs a person, or with --verify, old and new part;
    2: a file could not be read, written or, with --verify, run.
    """
    try:
        from ._migrate import command
    except ImportError as error:
        Console(stderr=True).print(
            f"pybridge migrate: {error.name} is missing; install it with: pip install 'mxnet-pybridge[migrate]'",
            style="red",
            markup=False,
            highlight=False,
            soft_wrap=True,
        )
        raise typer.Exit(2) from None
    options = command.Options(out, functions, strict, check, diff, force, json, html)
    if stdin and paths:
        raise typer.Exit(command.refuse("--stdin takes no files"))
    if stdin and verify:
        raise typer.Exit(command.refuse("--verify needs files: what they read and include lies beside them"))
    if stdin:
        raise typer.Exit(command.run_stdin(options))
    run_both = None
    if verify:
        from ._verify.command import run as verified
        from ._verify.verify import Limits

        run_both = partial(verified, limits=Limits(verify_seconds, sandbox))

    raise typer.Exit(command.run(paths or [], options, run_both))


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def main() -> None:
    """Run the command line."""
    app()
