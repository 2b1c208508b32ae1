"""Rules about pull requests: one message about the end, at most two preview builds for each press."""

from __future__ import annotations

from tests.torture.checks import Checks
from tests.torture.record import Record
from tests.torture.record_index import RecordIndex
from tests.torture.rows import Row

_ENDED = ("was merged after", "was closed after")
_NOTICED = (
    "It's in the docs now",
    "Its page is gone from the docs",
    "I can't see it in the docs yet",
)
"""The notice to who asked a question in the same thread, in place of the report."""
_MOST_BUILDS = 2
"""For each press: a second build if the outcome of the first request is unknown."""


def pulls(index: RecordIndex, checks: Checks) -> None:
    """Check the messages about pull requests and their previews."""
    books = {row["id"]: row for row in index.record.service["jobs"]}
    for job in index.jobs.values():
        _end(index, checks, job, books.get(job["service_id"]))
    for preview in index.record.of("previews"):
        _preview(index, checks, preview)
    presses = sum(done.act.text == "preview" for done in index.made("press"))
    builds = len(index.record.service["builds"])
    checks.insist(builds <= _MOST_BUILDS * presses, f"{builds} previews built at {presses} presses")


def _end(index: RecordIndex, checks: Checks, job: Row, book: Row | None) -> None:
    """Check that the end of a pull request is reported once, and only after it."""
    subject = f"Job {job['number']}"
    texts = [reply["text"] for reply in index.in_thread(job)]
    reports = sum(any(sign in text for sign in _ENDED) for text in texts)
    checks.reported_pulls += reports
    ended = book["pull_end"] if book else None
    checks.insist(reports <= 1, f"{subject}: the end of its pull request is told {reports} times")
    checks.insist(
        ended or not reports, f"{subject}: its pull request is open, and it is told that it is not"
    )
    if not (ended and index.record.plan.polls_pull_requests and job["state"] == "pull_request"):
        return
    bent = {"bad_pr_link", "stale_status"} & set(index.docs_faults) or _is_held(index.record)
    excuse = bent or any(row["state"] == "dead" for row in index.deliveries(job["number"]))
    is_noticed = any(sign in text for sign in _NOTICED for text in texts)
    checks.insist(
        reports or is_noticed,
        f"{subject}: its pull request is ended, and nobody was told",
        explained=excuse,
    )
    became = "merged" if ended["merged_by"] else "closed"
    checks.insist(
        job.get("review") == became,
        f"{subject}: {became}, and shown as {job.get('review')}",
        explained=bent,
    )


def _is_held(record: Record) -> bool:
    """Return whether the host refused the token or a call, after which the bot asks nothing for a while."""
    faults = {call["fault"] for call in record.docs if call["operation"] == "pull_request"}
    return bool(faults & {"401", "429_no_header"})


def _preview(index: RecordIndex, checks: Checks, preview: Row) -> None:
    """Check that a requested preview has an end and is shown."""
    job, subject = index.jobs[preview["job"]], f"preview of job {preview['job']}"
    state = preview["state"]
    checks.insist(state in ("ready", "broken", "missing"), f"{subject}: still {state} at the end")
    checks.insist(
        preview["build_calls"] <= _MOST_BUILDS,
        f"{subject}: asked for {preview['build_calls']} times",
    )
    if (
        state != "ready"
        or job["state"] != "pull_request"
        or job.get("review") in ("merged", "closed")
    ):
        return
    is_shown = any("Preview:" in reply["text"] for reply in index.in_thread(job))
    mute = any(row["state"] == "dead" for row in index.deliveries(job["number"]))
    checks.insist(is_shown, f"{subject}: ready, and not shown", explained=mute)
