"""Rules about pull requests: what became of each is told once, and its preview is asked for twice at most."""

from __future__ import annotations

from collections import Counter

from tests.torture.checks import Checks
from tests.torture.record import Record
from tests.torture.rows import Row
from tests.torture.seen import Seen

_ENDED = ("was merged after", "was closed after")
_MOST_BUILDS = 2
"""For each press: a second one where nobody knows whether the first has begun."""


def pulls(seen: Seen, checks: Checks) -> None:
    """Check what was told of pull requests and of their previews."""
    books = {row["id"]: row for row in seen.record.service["jobs"]}
    for job in seen.jobs.values():
        _told(seen, checks, job, books.get(job["service_id"]))
    previews = {row["job"]: row for row in seen.record.of("previews")}
    for preview in previews.values():
        _preview(seen, checks, preview)
    presses = sum(done.act.words == "preview" for done in seen.made("press"))
    builds = Counter(row["job_id"] for row in seen.record.service["builds"])
    checks.insist(
        builds.total() <= _MOST_BUILDS * presses, f"{builds.total()} previews built at {presses} presses"
    )


def _told(seen: Seen, checks: Checks, job: Row, book: Row | None) -> None:
    """Check that the end of a pull request is told once, and only if there is one."""
    about = f"Job {job['number']}"
    told = [each["text"] for each in seen.in_thread(job) if any(words in each["text"] for words in _ENDED)]
    checks.pulls_told += len(told)
    ended = book["pull_end"] if book else None
    checks.insist(len(told) <= 1, f"{about}: what became of its pull request is told {len(told)} times")
    checks.insist(ended or not told, f"{about}: its pull request is open, and it is told that it is not")
    if not (ended and seen.record.plan.sees_pull_requests and job["state"] == "pull_request"):
        return
    bent = {"bad_pr_link", "stale_status"} & set(seen.docs_faults) or _is_held(seen.record)
    mute = any(row["state"] == "dead" for row in seen.deliveries(job["number"]))
    checks.insist(told, f"{about}: its pull request is ended, and nobody was told", explained=bent or mute)
    became = "merged" if ended["merged_by"] else "closed"
    checks.insist(
        job.get("review") == became, f"{about}: {became}, and shown as {job.get('review')}", explained=bent
    )


def _is_held(record: Record) -> bool:
    """Return whether the host refused the token or a call, after which the bot asks nothing for a while."""
    faults = {call["fault"] for call in record.docs if call["operation"] == "pull_request"}
    return bool(faults & {"401", "429_no_header"})


def _preview(seen: Seen, checks: Checks, preview: Row) -> None:
    """Check that a preview that somebody asked for has come to an end, and is shown."""
    job, about = seen.jobs[preview["job"]], f"preview of job {preview['job']}"
    state = preview["state"]
    checks.insist(state in ("ready", "broken", "missing"), f"{about}: still {state} at the end")
    checks.insist(preview["asks"] <= _MOST_BUILDS, f"{about}: asked for {preview['asks']} times")
    if state != "ready" or job["state"] != "pull_request" or job.get("review") in ("merged", "closed"):
        return
    shown = [each for each in seen.in_thread(job) if "Preview:" in each["text"]]
    mute = any(row["state"] == "dead" for row in seen.deliveries(job["number"]))
    checks.insist(shown, f"{about}: ready, and not shown", explained=mute)
