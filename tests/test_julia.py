"""Starting Julia, its exceptions, its signals: what needs a fresh interpreter gets one."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture
def julia_file(tmp_path: Path):
    """Write a Julia file and give its path."""

    def write(text: str, name: str = "file.jl") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


# ---- include ------------------------------------------------------------------------------------------------


def test_include_returns_the_last_value(pb: ModuleType, julia_file) -> None:
    assert pb.include(julia_file("a = 20\na + 22\n")) == 42


def test_include_takes_relative_paths_from_the_current_folder(
    pb: ModuleType, julia_file, monkeypatch
) -> None:
    path = julia_file("1 + 1", "relative.jl")
    monkeypatch.chdir(path.parent)
    assert pb.include("relative.jl") == 2


def test_include_of_a_missing_file_says_which(pb: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="no such Julia file") as caught:
        pb.include(tmp_path / "absent.jl")
    assert caught.value.filename == str(tmp_path / "absent.jl")


def test_error_in_an_included_file_names_file_and_line(pb: ModuleType, julia_file) -> None:
    path = julia_file('function bad()\n    error("boom")\nend\n\nbad()\n')
    with pytest.raises(pb.JuliaError, match="boom") as caught:
        pb.include(path)
    assert f"{path}:5" in str(caught.value)  # where it was called
    assert f"{path}:2" in caught.value.stack  # where it happened
    assert pb.jl.isa(caught.value.exception, pb.jl.LoadError)


def test_syntax_error_in_an_included_file_names_file_and_line(pb: ModuleType, julia_file) -> None:
    path = julia_file("x = 1\ny = 1 +* 2\n")
    with pytest.raises(pb.JuliaError) as caught:
        pb.include(path)
    assert f"{path}:2" in str(caught.value)


@pytest.mark.parametrize(
    "code",
    [
        "pyexec(RAISE, Main)",
        "fetch(@async pyexec(RAISE, Main))",
        "try pyexec(RAISE, Main) catch e; throw(CapturedException(e, catch_backtrace())) end",
        "@sync begin @async pyexec(RAISE, Main) end",
    ],
    ids=["directly", "from a task", "captured", "from a group of tasks"],
)
@pytest.mark.parametrize("raised", ["KeyError('k')", "KeyboardInterrupt('c')", "SystemExit(3)"])
def test_python_exception_comes_out_of_include_as_itself(
    pb: ModuleType, julia_file, code: str, raised: str
) -> None:
    path = julia_file(
        f'using PythonCall\nconst RAISE = "raise {raised}"\n{code}\n', f"{abs(hash((code, raised)))}.jl"
    )
    expected = eval(raised)
    with pytest.raises(type(expected)) as caught:
        pb.include(path)
    assert type(caught.value) is type(expected)
    assert caught.value.args == expected.args


# ---- JuliaError ---------------------------------------------------------------------------------------------


def test_error_of_a_call_through_jl_is_a_julia_error(pb: ModuleType) -> None:
    with pytest.raises(pb.JuliaError) as caught:
        pb.jl.seval('throw(ArgumentError("three, not four"))')
    assert "three, not four" in str(caught.value)
    assert "Stacktrace" in caught.value.stack
    assert str(caught.value) == f"{caught.value.message}\n{caught.value.stack}"
    assert pb.jl.isa(caught.value.exception, pb.jl.ArgumentError)


def test_stack_overflow_is_a_julia_error_and_julia_goes_on(pb: ModuleType) -> None:
    pb.jl.seval("pybridge_test_deep(x) = pybridge_test_deep(x + 1) + 1")
    for _ in range(3):
        with pytest.raises(pb.JuliaError, match="StackOverflowError"):
            pb.jl.pybridge_test_deep(1)
    assert pb.jl.seval("sum(1:10)") == 55


def test_text_is_kept_for_other_threads_and_never_asked_for_there(pb: ModuleType) -> None:
    with pytest.raises(pb.JuliaError) as caught:
        pb.jl.seval('error("kept")')
    seen: list[str] = []

    def read() -> None:
        seen.append(str(caught.value))

    def on_thread() -> str:
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
        return seen.pop()

    assert "not available on this thread" in on_thread()
    assert "kept" in str(caught.value)
    assert "kept" in on_thread()


def test_julia_error_is_pickled_as_text(pb: ModuleType) -> None:
    with pytest.raises(pb.JuliaError) as caught:
        pb.jl.seval('error("far away")')
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is pb.JuliaError
    assert str(copy) == str(caught.value)


def test_translate_looks_through_wrapping(pb: ModuleType) -> None:
    from pybridge import julia

    wrapped = pb.jl.seval('using PythonCall; LoadError("f.jl", 1, PyException(pybuiltins.ValueError("v")))')
    inside = julia.translate(wrapped)
    assert type(inside) is ValueError and inside.args == ("v",)
    assert type(julia.translate(pb.jl.InterruptException())) is KeyboardInterrupt
    plain = julia.translate(pb.jl.ErrorException("e"))
    assert type(plain) is pb.JuliaError and plain.message == "e" and plain.stack == ""
    with pytest.raises(pb.JuliaError, match="again"):
        julia.reraise(pb.jl.ErrorException("again"))


# ---- starting -----------------------------------------------------------------------------------------------


def test_import_starts_no_julia(run_python) -> None:
    ran = run_python("""
        import sys, pybridge, importlib.util
        from pybridge import julia
        assert importlib.util.find_spec("juliacall") is not None
        assert "juliacall" not in sys.modules and not julia.started() and julia.owner() is None
    """)
    assert ran.returncode == 0, ran.stderr


def test_start_once_on_the_main_thread_with_threads_callbacks_and_a_clean_environment(run_python) -> None:
    ran = run_python(
        """
        import os, threading
        import pybridge as pb
        from pybridge import julia

        before = dict(os.environ)
        failed = []

        def off_main():
            try:
                pb.jl
            except RuntimeError as error:
                failed.append(str(error))

        thread = threading.Thread(target=off_main, name="worker")
        thread.start(); thread.join()
        assert "main thread" in failed[0] and "pb.jl" in failed[0] and "worker" in failed[0], failed
        assert not julia.started()

        order = []
        julia.on_start(lambda: order.append(julia.started()))
        jl = pb.jl
        julia.on_start(lambda: order.append("late"))
        assert order == [True, "late"] and pb.jl is jl and julia.start() is jl
        assert julia.owner() == threading.get_ident()
        assert dict(os.environ) == before
        assert jl.seval("Threads.nthreads()") == 2
        jl.seval("s = Threads.Atomic{Int}(0)")
        jl.seval("Threads.@threads for i in 1:100; Threads.atomic_add!(s, sum(ones(Int, i))); GC.gc(); end")
        assert jl.seval("s[]") == 5050
        jl.seval("using PyBridge")
        try:
            jl.seval("sqrt(-1)")
        except pb.JuliaError as error:
            assert "DomainError" in str(error) and "sqrt" in error.stack
        print("done")
        """,
        env={"PYBRIDGE_THREADS": "2", "JULIA_NUM_THREADS": "1"},
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


def test_number_of_threads_is_checked(run_python) -> None:
    ran = run_python("import pybridge; pybridge.jl", env={"PYBRIDGE_THREADS": "many"})
    assert ran.returncode == 1 and "PYBRIDGE_THREADS='many'" in ran.stderr


# ---- signals ------------------------------------------------------------------------------------------------


def test_ctrl_c_sigterm_and_own_handlers_work_after_julias_start(run_python) -> None:
    ran = run_python("""
        import os, signal, threading, time
        mine = []
        signal.signal(signal.SIGUSR1, lambda *_: mine.append("usr1"))
        import pybridge as pb
        jl = pb.jl

        def interrupt(after):
            threading.Timer(after, os.kill, (os.getpid(), signal.SIGINT)).start()

        interrupt(0.2)
        try:
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            print("in Python")

        jl.seval("busy(s) = (t = time() + s; n = 0; while time() < t; n += 1; end; n > 0)")
        jl.busy(0.01)
        interrupt(0.2)
        begin = time.monotonic()
        try:
            jl.busy(1.0)
            time.sleep(0)
        except KeyboardInterrupt:
            assert time.monotonic() - begin >= 0.9  # when the call returns
            print("after Julia")
        assert jl.seval("1 + 1") == 2

        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0)
        print(*mine, flush=True)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(5)
        print("still here")
    """)
    assert ran.stdout == "in Python\nafter Julia\nusr1\n", ran.stderr
    assert ran.returncode == -signal.SIGTERM


def test_julias_profiler_samples_a_training_step_and_ends_nothing(run_python) -> None:
    ran = run_python("""
        import pybridge as pb, mxnet as mx
        mx.nd.ones(2).wait_to_read()  # libmxnet has threads that take signals
        f = pb.function(pb.jl.seval("x -> (y = tanh.(x); (y, d -> d .* (1 .- y .^ 2)))"), pullback=True)
        x = mx.nd.ones(100_000)
        pb.attach_grad(x)

        def step():
            with pb.record():
                y = f(x)
            y.backward()

        step()
        pb.jl.seval("using Profile; Profile.init(delay=1e-3); Profile.clear()")
        pb.jl.seval("step -> @profile for _ in 1:200; step(); end")(step)
        pb.jl.seval("text = sprint(io -> Profile.print(io; format=:flat))")
        pb.jl.seval('println(occursin("forward_entry", text), " ", occursin("backward_entry", text))')
        print(round(x.grad.asnumpy()[0].item(), 4))
    """)
    assert (ran.stdout.split(), ran.returncode) == (["true", "true", "0.42"], 0), ran.stderr
    assert ran.stderr == ""


# ---- import orders ------------------------------------------------------------------------------------------


def shell_settings() -> dict[str, str]:
    """What ``pybridge env`` tells a shell."""
    out = subprocess.run(
        [sys.executable, "-m", "pybridge", "env"], capture_output=True, text=True, check=True
    ).stdout
    lines = (line[len("export ") :].partition("=") for line in out.splitlines())
    return {name: value.strip("'") for name, _, value in lines}


@pytest.mark.parametrize(
    "order", ["mxnet juliacall pybridge", "juliacall pybridge mxnet", "pybridge juliacall mxnet"]
)
def test_every_import_order_works(run_python, order: str) -> None:
    first = "" if order.startswith("pybridge") else "pybridge"
    ran = run_python(
        f"""
        import threading, time, os, signal
        for name in {order.split()!r}:
            __import__(name)
        import juliacall, mxnet as mx, pybridge as pb
        assert pb.jl is juliacall.Main or pb.jl.seval("1") == 1
        assert issubclass(juliacall.JuliaError, pb.JuliaError)
        try:
            juliacall.Main.seval("h(x) = h(x + 1) + 1; h(1)")
        except pb.JuliaError as error:
            assert "StackOverflow" in str(error)
        with mx.autograd.record():
            pass
        assert (mx.nd.ones((2, 2)) * 2).sum().asscalar() == 8
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while True:
                time.sleep(0.01)
        except KeyboardInterrupt:
            print("done")
        """,
        env=shell_settings() if first else None,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "done\n", "")


def test_juliacall_started_earlier_without_signals_is_warned_of_and_the_doctor_says_so(run_python) -> None:
    env = {**shell_settings(), "PYTHON_JULIACALL_HANDLE_SIGNALS": None}
    ran = run_python(
        """
        import juliacall, warnings
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            import pybridge as pb
            from pybridge import doctor, julia
            pb.jl
        print([str(w.message) for w in seen if "signal" in str(w.message)])
        print([row for row in doctor._this_process()])
        """,
        env=env,
    )
    assert ran.returncode == 0, ran.stderr
    warned, row = ran.stdout.splitlines()
    assert warned.count("stack overflow") == 1 and "Import pybridge before juliacall" in warned
    assert "'off'" in row and "import pybridge before juliacall" in row
