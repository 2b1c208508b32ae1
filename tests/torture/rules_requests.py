"""Rules about requests: none is lost, sent twice or in the wrong place."""

from __future__ import annotations

from datetime import timedelta

from tests.torture.checks import Checks
from tests.torture.record import Done
from tests.torture.rows import Row
from tests.torture.seen import Seen

_ENDED_FOR_GOOD = ("archived", "gone")
"""The states of started jobs that take no follow-ups."""
_RETRIED = ("failed", "archived", "gone", "refused", "withdrawn", "unwatched")
"""The states of jobs whose prompts may be run again without a question."""
_SAME_WITHIN = timedelta(minutes=1)
_CALL = timedelta(seconds=1)
"""How long a call to the docs service takes at most when nothing delays it."""
_DOUBTFUL = {"lost_answer", "timeout", "500", "502_html", "broken_json", "slow"}


def requests(seen: Seen, checks: Checks) -> None:
    """Check every request from its acknowledgement to its end."""
    for done in seen.asks():
        _asked(seen, checks, done)
    for done in seen.follow_ups():
        _followed_up(seen, checks, done)
    for done in seen.changes():
        _changed(seen, checks, done)
    for row in seen.record.of("prompts"):
        _prompt(seen, checks, row)
    for job in seen.jobs.values():
        _refusals(seen, checks, job)
    known = {row["service_id"] for row in seen.jobs.values()}
    for job in seen.record.service["jobs"]:
        doubt = any(
            row["state"] in ("unconfirmed", "withdrawn") or row["attempts"] > 1
            for row in seen.record.of("prompts")
            if row["kind"] == "start"
        )
        checks.insist(job["id"] in known, f"nobody knows the service's job {job['id']}", explained=doubt)


def _asked(seen: Seen, checks: Checks, done: Done) -> None:
    act = done.act
    rows, created = seen.with_marker(act.marker, "start"), seen.arrived(act.marker, first=True)
    resent = seen.pressed(act.marker, "send_again")
    if act.what == "again":
        # Both jobs may stand in one thread.
        resent += seen.pressed(act.about, "send_again")
    about, most = f"{act.what} {act.marker}", _most_jobs(seen, done, rows)
    checks.insist(len(rows) <= most, f"{about}: stored {len(rows)} times")
    checks.insist(len(created) <= most + resent, f"{about}: created {len(created)} times")
    if any(each.acknowledged and not each.broken for each in (done, *seen.repeats(act.marker))):
        checks.insist(rows, f"{about}: acknowledged, and not stored")
    if act.what == "direct" and not done.acknowledged and _is_known(seen, done):
        checks.insist(rows, f"{about}: dropped, and not read again", explained=seen.was_deleted(act.marker))
    if done.broken:
        checks.insist(
            not rows,
            f"{about}: said that nothing was started, and it was stored",
            explained=(seen.record.plan.database == "postgres" and seen.has_database_trouble())
            or bool(seen.repeats(act.marker)),
        )
    for row in rows:
        job = seen.jobs[row["job"]]
        checks.insist(
            job["channel"] == act.where, f"{about}: asked in {act.where}, kept for {job['channel']}"
        )
        checks.insist(row["asked_by"] == act.who, f"{about}: asked by {act.who}, kept as {row['asked_by']}")
    sent = [row for row in rows if row["state"] == "sent"]
    checks.insist(
        len(created) >= len(sent), f"{about}: said to be sent {len(sent)} times, created {len(created)}"
    )
    settled = all(row["state"] == "refused" and row["attempts"] <= 1 for row in rows)
    if rows and settled:
        checks.insist(not created, f"{about}: refused, and created all the same")


def _most_jobs(seen: Seen, done: Done, rows: list[Row]) -> int:
    """Return the most jobs that a request may have: typed again it has one, unless the person insists.

    After a failure typing it again is a retry. A minute later, also by a wrong clock, it is another request.
    """
    again = seen.repeats(done.act.marker)
    if any(seen.record.plan.sets_clock or each.at - done.at > _SAME_WITHIN for each in again):
        return 1 + seen.anyways(done.act.who) + len(again)
    has_failed = any(seen.jobs[row["job"]]["state"] in _RETRIED for row in rows)
    return 1 + (seen.anyways(done.act.who) + len(again) * has_failed if again else 0)


def _after_the_merge(seen: Seen, checks: Checks, done: Done, begun: list[Row]) -> None:
    """Check a reply that started a job, since the pull request of its thread's job was merged."""
    act = done.act
    about, threads = (
        f"{act.what} {act.marker}",
        [job for job in seen.jobs.values() if act.about in job["text"]],
    )
    is_merged = any(job.get("review") == "merged" for job in threads)
    checks.insist(is_merged and act.what == "reply", f"{about}: a follow-up started a job")
    checks.insist(len(begun) <= 1, f"{about}: stored {len(begun)} times")
    created, resent = seen.arrived(act.marker, first=True), seen.pressed(act.marker, "send_again")
    checks.insist(len(created) <= 1 + resent, f"{about}: created {len(created)} times")


def _followed_up(seen: Seen, checks: Checks, done: Done) -> None:
    act = done.act
    rows, sent = seen.with_marker(act.marker, "follow_up"), seen.arrived(act.marker, first=False)
    resent = seen.pressed(act.about, "send_again")
    about = f"{act.what} {act.marker}"
    if begun := seen.with_marker(act.marker, "start"):
        _after_the_merge(seen, checks, done, begun)
        return
    checks.insist(len(rows) <= 1, f"{about}: stored {len(rows)} times")
    checks.insist(len(sent) <= 1 + resent, f"{about}: sent {len(sent)} times")
    checks.insist(not seen.arrived(act.marker, first=True), f"{about}: a follow-up started a job")
    for row in rows:
        job = seen.jobs[row["job"]]
        checks.insist(
            act.about in job["text"],
            f"{about}: went to job {job['number']}, which is another one",
            explained=job.get("again_of") is not None and act.what == "reply",
        )
        wrong = [each["job_id"] for each in sent if each["job_id"] != job["service_id"]]
        checks.insist(not wrong, f"{about}: arrived at the service's job {wrong}, not at {job['service_id']}")
        if row["state"] == "sent":
            checks.insist(sent, f"{about}: said to be sent, and never arrived")
        if row["state"] == "refused" and row["attempts"] <= 1:
            checks.insist(not sent, f"{about}: refused, and sent all the same")
    # Slack drops an event after its last try; then the bot reads the thread again.
    how = "acknowledged" if done.acknowledged else "dropped"
    if (done.acknowledged or act.what == "reply") and not done.broken and not rows:
        since = f"{done.at.timestamp() - 1:.6f}"
        private = [note for note in seen.record.private if note["user"] == act.who and note["ts"] > since]
        threads = [job for job in seen.jobs.values() if act.about in job["text"]]
        spoken = [each for job in threads for each in seen.in_thread(job) if each["ts"] > since]
        words = [*(each["text"] for each in (*private, *spoken)), *seen.alone(act.who)]
        told = any(":no_entry:" in text for text in words)
        checks.insist(
            told,
            f"{about}: {how}, not stored, and nothing was said",
            explained=seen.was_deleted(act.marker)
            or any(seen.muted(job["number"], act.who) or _is_late(seen, job) for job in threads),
        )


def _changed(seen: Seen, checks: Checks, done: Done) -> None:
    """Check that an acknowledged edit or deletion of a message counted, for what it had asked for."""
    act, at = done.act, done.acknowledged_at
    about = f"{act.what} of {act.about}"
    for row in (*seen.with_marker(act.about, "start"), *seen.with_marker(act.about, "follow_up")):
        if at is None or row["attempts"] > 1:
            continue
        arrived, job = seen.arrived(act.about, first=row["kind"] == "start"), seen.jobs[row["job"]]
        if act.what == "edit" and act.marker in row["raw"]:
            old = [each for each in arrived if act.marker not in each["prompt"]]
            checks.insist(not old, f"{about}: it counted, and the old text was sent")
            continue
        times = [row["sent_at"]]
        if seen.record.plan.sets_clock:
            # The bot decided to send it a moment before it arrived, and does not know exactly when.
            times = [each["sent_at"] - _CALL for each in arrived]
        is_after = any(sent_at is not None and sent_at > at for sent_at in times)
        checks.insist(not is_after, f"{about}: acknowledged, and the old text was sent after it")
        if act.what == "edit" and row["state"] == "sent":
            checks.insist(
                any("You edited a message" in text for text in seen.alone(act.who)),
                f"{about}: it came too late, and its author was not told",
                explained=job["state"] in _ENDED_FOR_GOOD or seen.muted(job["number"], act.who),
            )


def _is_late(seen: Seen, job: Row) -> bool:
    """Return whether the bot knew a job's thread only a while after people saw it."""
    roots = [row for row in seen.deliveries(job["number"]) if row["kind"] == "root"]
    return any(row["attempts"] > 1 or row["state"] == "dead" for row in roots)


def _is_known(seen: Seen, done: Done) -> bool:
    """Return whether a direct message followed one that the bot has taken."""
    before = (each for each in seen.asks() if each.act.where == done.act.where and each.acknowledged)
    return any(each.ts is not None and done.ts is not None and each.ts < done.ts for each in before)


def _prompt(seen: Seen, checks: Checks, row: Row) -> None:
    """Check that the requester was told the final state of a prompt."""
    job = seen.jobs[row["job"]]
    about = f"prompt {row['id']} of #{job['number']}"
    muted = seen.muted(job["number"], row["asked_by"])
    said = seen.in_thread(job)
    spoken = [each["text"] for each in said]
    match row["state"]:
        case "unconfirmed":
            # Count questions since the last sending only: each attempt that is unconfirmed needs its own.
            since = [each["text"] for each in said if seen.is_since(each, row["sent_at"])]
            told = any(":grey_question:" in text and row["asked_by"] in text for text in since)
            checks.insist(told, f"{about}: in doubt, and nobody was asked", explained=muted)
            left = not seen.record.plan.decision
            checks.insist(left, f"{about}: decided, and still in doubt", explained=muted)
            cause = _DOUBTFUL & set(seen.docs_faults) or seen.was_interrupted() or seen.has_database_trouble()
            checks.insist(cause, f"{about}: in doubt without a reason")
        case "refused":
            heard = [*spoken, *seen.alone(row["asked_by"]), *seen.alone(job["requester"])]
            told = any(":no_entry:" in text or ":warning:" in text for text in heard)
            checks.insist(told, f"{about}: refused, and nobody was told", explained=muted)
        case "sent":
            checks.insist(job["service_id"], f"{about}: sent, and the job has no id")
        case "withdrawn":
            acts = [done.act for done in seen.asks() if done.act.marker in job["text"]]
            # A job that was run again may stand in the thread of the earlier one.
            markers = {each for act in acts for each in (act.marker, act.about)}
            pressed = any(seen.pressed(marker, "withdraw", "dismiss") for marker in markers)
            deleted = any(done.act.about in row["raw"] for done in seen.made("delete"))
            checks.insist(pressed or deleted, f"{about}: withdrawn, and nobody pressed that")
        case state:
            waits = state == "waiting" and job["state"] == "unconfirmed"
            checks.insist(waits, f"{about}: still {state} at the end")


def _refusals(seen: Seen, checks: Checks, job: Row) -> None:
    """Check that each refused prompt of a job was reported."""
    refused = [row for row in seen.prompts_of[job["number"]] if row["state"] == "refused"]
    people = {job["requester"], *(row["asked_by"] for row in refused)}
    heard = [each["text"] for each in seen.in_thread(job)]
    heard += [text for user in people for text in seen.alone(user)]
    told = [text for text in heard if ":no_entry:" in text or ":warning:" in text]
    checks.insist(
        len(told) >= len(refused),
        f"#{job['number']}: {len(refused)} prompts refused, told of {len(told)}",
        explained=any(seen.muted(job["number"], user) for user in people),
    )
