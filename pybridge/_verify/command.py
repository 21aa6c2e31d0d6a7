"""`pybridge migrate --verify`: every file that no other one includes."""

from __future__ import annotations

from rich.console import Console

from .._migrate.project import Job
from .._migrate.report import Report
from .pieces import program
from .verify import Case, Limits, VerifyError, prepare, verify


def run(work: list[Job], report: Report, limits: Limits) -> None:
    """Run old and new, and note the outcomes in the report's entries.

    Raises:
        VerifyError: nothing can be run.
    """
    if limits.seconds < 1:
        raise VerifyError(f"--verify-seconds is {limits.seconds}; expected at least 1")
    stderr = Console(stderr=True, highlight=False)
    how = "without network, writing only to folders of their own" if limits.fenced else "WITHOUT A SANDBOX"
    stderr.print(f"pybridge migrate --verify runs the old and the new code, {how}", soft_wrap=True)
    cases = {
        job.path: Case(job.path, job.target, program(entry.made), entry.made.python, entry.made.julia)
        for job, entry in zip(work, report.entries)
        if entry.made is not None
    }
    included = {path for job in work for path in job.includes}
    with stderr.status("Julia starts") as status:
        prepare(limits)
        for job, entry in zip(work, report.entries):
            case = cases.get(job.path)
            if case is not None and job.path.resolve() not in included:
                entry.outcome = verify(
                    case,
                    list(cases.values()),
                    limits,
                    lambda what, case=case: status.update(f"{case.path}: {what}"),  # type: ignore[misc]
                )
