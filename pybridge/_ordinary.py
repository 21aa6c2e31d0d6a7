"""The ordinary way: juliapkg finds Julia or downloads it, and gets PythonCall from Julia's registry."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ._run import CommandError, SetupError, run
from ._steps import Step

# Answers on one line, so that what juliapkg itself prints can be told from it.
MARK = "pybridge-answer:"

PROBE = f"""
import json, urllib.request
from juliapkg import install_julia
answer = {{"reached": True, "why": ""}}
url = getattr(install_julia, "_julia_versions_url", None)
if url is not None:
    try:
        with urllib.request.urlopen(url, timeout=8) as reply:
            reply.read(1)
    except Exception as error:
        answer.update(reached=False, why=str(getattr(error, "reason", error)))
print({MARK!r} + json.dumps(answer))
"""

RESOLVE = f"""
import json, juliapkg
exe, project = juliapkg.executable(), juliapkg.project()
print({MARK!r} + json.dumps({{"exe": exe, "project": project}}))
"""


def own_setting(name: str) -> str | None:
    """One of juliapkg's settings, by option or variable, as juliapkg reads them."""
    value = sys._xoptions.get(f"juliapkg-{name}") or os.environ.get(f"PYTHON_JULIAPKG_{name.upper()}")
    return value if isinstance(value, str) else None


def reachable(project: Path) -> tuple[bool, str]:
    """Whether Julia's downloads can be had, and why not; an answer comes within seconds, not minutes."""
    if own_setting("offline") == "yes":
        return False, "juliapkg is set to work offline"
    if importlib.util.find_spec("juliapkg") is None:
        raise SetupError("juliacall is not installed. Install it: python -m pip install juliacall")
    if os.environ.get("JULIA_PKG_SERVER"):
        return True, ""  # a server of the user's own: only trying can tell
    env = {**os.environ, "PYTHON_JULIAPKG_PROJECT": str(project)}
    try:
        answer = _ask(PROBE, env, "looking for Julia's downloads", 20, None)
    except CommandError as error:
        return False, str(error).partition("\n")[0]
    reached, why = bool(answer["reached"]), answer["why"]
    return reached, f"Julia's downloads cannot be reached: {why}" if why else ""


def resolve(env: Mapping[str, str], step: Step) -> tuple[str, str]:
    """Let juliapkg do its work under ``env``; returns the executable and the project folder."""
    answer = _ask(RESOLVE, env, "juliapkg", 900, step)
    return answer["exe"], answer["project"]


def _ask(code: str, env: Mapping[str, str], what: str, silence: float, step: Step | None) -> dict[str, Any]:
    options = [f"-X{name}={value}" for name, value in sys._xoptions.items() if name.startswith("juliapkg-")]
    out = run(
        [sys.executable, *options, "-c", code],
        what=what,
        env=env,
        silence=silence,
        seen=(lambda line: step.note(line[:70])) if step is not None else None,
    )
    for line in out.splitlines():
        if line.startswith(MARK):
            answer = json.loads(line[len(MARK) :])
            assert isinstance(answer, dict)
            return answer
    raise CommandError(f"{what} gave no answer", out[-2000:])
