"""Rules about requests: none is lost, sent twice or in the wrong place."""

from __future__ import annotations

from datetime import timedelta

from tests.torture.checks import Checks
from tests.torture.record import Done
from tests.torture.record_index import RecordIndex
from tests.torture.rows import Row

_ENDED_FOR_GOOD = ("archived", "gone")
"""The states of started jobs that take no follow-ups."""
_RETRIED = ("failed", "archived", "gone", "refused", "withdrawn", "unwatched")
"""The states of jobs whose prompts may be run again without a question."""
_SAME_WITHIN = timedelta(minutes=1)
_CALL = timedelta(seconds=1)
"""The longest call to the docs service without a fault."""
_NOT_SENT_AGAIN = "Its words are taken back, so it isn't sent again."
_DOUBTFUL = {"lost_answer", "timeout", "500", "502_html", "broken_json", "slow"}


def requests(index: RecordIndex, checks: Checks) -> None:
    """Check every request from its acknowledgement to its end."""
    for done in index.asks():
        _asked(index, checks, done)
    for done in index.made("reply", "followup"):
        _followed_up(index, checks, done)
    for done in index.made("edit", "delete"):
        _changed(index, checks, done)
    for row in index.record.of("prompts"):
        _prompt(index, checks, row)
    for job in index.jobs.values():
        _refusals(index, checks, job)
    ids = {row["service_id"] for row in index.jobs.values()}
    starts = [row for row in index.record.of("prompts") if row["kind"] == "start"]
    doubt = any(
        row["state"] in ("unconfirmed", "withdrawn") or row["attempts"] > 1 for row in starts
    )
    for job in index.record.service["jobs"]:
        checks.insist(
            job["id"] in ids, f"nobody knows the service's job {job['id']}", explained=doubt
        )


def _asked(index: RecordIndex, checks: Checks, done: Done) -> None:
    act = done.act
    rows, created = index.with_marker(act.marker, "start"), index.received(act.marker, first=True)
    resent = index.resent(done, rows)
    subject, most = f"{act.kind} {act.marker}", _most_jobs(index, done, rows)
    again = index.decided_again(act.marker, rows)
    checks.insist(len(rows) <= most + again, f"{subject}: stored {len(rows)} times")
    checks.insist(len(created) <= most + resent, f"{subject}: created {len(created)} times")
    if any(
        command.acknowledged and not command.broken
        for command in (done, *index.repeats(act.marker))
    ):
        # One that is deleted while it is held leaves nothing.
        is_deleted = any(deleted.act.target == act.marker for deleted in index.made("delete"))
        checks.insist(rows, f"{subject}: acknowledged, and not stored", explained=is_deleted)
    if act.kind == "direct" and not done.acknowledged and _is_in_known_conversation(index, done):
        deleted = index.was_deleted(act.marker)
        checks.insist(rows, f"{subject}: dropped, and not read again", explained=deleted)
    if done.broken:
        checks.insist(
            not rows,
            f"{subject}: said that nothing was started, and it was stored",
            explained=(index.record.plan.database == "postgres" and index.has_database_trouble())
            or bool(index.repeats(act.marker)),
        )
    for row in rows:
        job = index.jobs[row["job"]]
        checks.insist(
            job["channel"] == act.channel,
            f"{subject}: asked in {act.channel}, kept for {job['channel']}",
        )
        checks.insist(
            row["asked_by"] == act.user,
            f"{subject}: asked by {act.user}, kept as {row['asked_by']}",
        )
    sent = sum(row["state"] == "sent" for row in rows)
    checks.insist(
        len(created) >= sent, f"{subject}: said to be sent {sent} times, created {len(created)}"
    )
    if rows and all(row["state"] == "refused" and row["attempts"] <= 1 for row in rows):
        checks.insist(not created, f"{subject}: refused, and created all the same")


def _most_jobs(index: RecordIndex, done: Done, rows: list[Row]) -> int:
    """Return the most jobs that a request may have.

    A repeated command has one job, unless the person insists. After a failure it is a retry. A minute later,
    also by a wrong clock, it is another request.
    """
    repeats = index.repeats(done.act.marker)
    if not repeats:
        return 1
    sets_clock = index.record.plan.clock_error_seconds() > 0
    is_other = sets_clock or any(repeat.at - done.at > _SAME_WITHIN for repeat in repeats)
    has_failed = any(index.jobs[row["job"]]["state"] in _RETRIED for row in rows)
    return 1 + index.anyways(done.act.user) + (len(repeats) if is_other or has_failed else 0)


def _after_the_merge(index: RecordIndex, checks: Checks, done: Done, begun: list[Row]) -> None:
    """Check a reply that started a job because the thread's pull request was merged."""
    act, subject = done.act, f"{done.act.kind} {done.act.marker}"
    threads = [job for job in index.jobs.values() if act.target in job["text"]]
    is_merged = any(job.get("review") == "merged" for job in threads)
    checks.insist(is_merged and act.kind == "reply", f"{subject}: a follow-up started a job")
    again = index.decided_again(act.marker, begun)
    checks.insist(len(begun) <= 1 + again, f"{subject}: stored {len(begun)} times")
    created = index.received(act.marker, first=True)
    resent = index.resent(done, begun)
    checks.insist(len(created) <= 1 + resent, f"{subject}: created {len(created)} times")


def _followed_up(index: RecordIndex, checks: Checks, done: Done) -> None:
    """Check a follow-up. One that joined a held request is checked like an addition."""
    act = done.act
    if index.has_joined(done):
        return
    rows, sent = index.with_marker(act.marker, "follow_up"), index.received(act.marker, first=False)
    resent = index.resent(done, rows)
    subject = f"{act.kind} {act.marker}"
    if begun := index.with_marker(act.marker, "start"):
        _after_the_merge(index, checks, done, begun)
        return
    again = index.decided_again(act.marker, rows)
    checks.insist(len(rows) <= 1 + again, f"{subject}: stored {len(rows)} times")
    checks.insist(len(sent) <= 1 + resent, f"{subject}: sent {len(sent)} times")
    checks.insist(
        not index.received(act.marker, first=True), f"{subject}: a follow-up started a job"
    )
    for row in rows:
        job = index.jobs[row["job"]]
        checks.insist(
            index.is_begun_by(job, act.target),
            f"{subject}: went to job {job['number']}, which is another one",
            explained=job.get("rerun_of") is not None and act.kind == "reply",
        )
        service_id = job["service_id"]
        wrong = [message["job_id"] for message in sent if message["job_id"] != service_id]
        checks.insist(
            not wrong, f"{subject}: arrived at the service's job {wrong}, not at {service_id}"
        )
        if row["state"] == "sent":
            # An addition is sent together with a follow-up, which may be in doubt.
            carriers = [
                prompt
                for prompt in index.record.of("prompts")
                if act.marker in (prompt.get("text") or "")
            ]
            is_in_doubt = any(prompt["state"] == "unconfirmed" for prompt in carriers)
            checks.insist(sent or is_in_doubt, f"{subject}: said to be sent, and never arrived")
        if row["state"] == "refused" and row["attempts"] <= 1:
            checks.insist(not sent, f"{subject}: refused, and sent all the same")
    # Slack drops an event after its last try; then the bot reads the thread again.
    event = "acknowledged" if done.acknowledged else "dropped"
    if (done.acknowledged or act.kind == "reply") and not done.broken and not rows:
        since = f"{done.at.timestamp() - 1:.6f}"
        threads = [job for job in index.jobs.values() if index.is_begun_by(job, act.target)]
        replies = [
            reply for job in threads for reply in index.in_thread(job) if reply["ts"] > since
        ]
        texts = [*(reply["text"] for reply in replies), *index.private_texts(act.user)]
        checks.insist(
            any(":no_entry:" in text for text in texts),
            f"{subject}: {event}, not stored, and nothing was said",
            explained=index.was_deleted(act.marker)
            or any(index.muted(job["number"], act.user) or _is_late(index, job) for job in threads),
        )


def _changed(index: RecordIndex, checks: Checks, done: Done) -> None:
    """Check that the prompt of a message obeys its acknowledged edit or deletion."""
    act, at = done.act, done.acknowledged_at
    subject = f"{act.kind} of {act.target}"
    for row in (
        *index.with_marker(act.target, "start"),
        *index.with_marker(act.target, "follow_up"),
    ):
        if at is None:
            continue
        received, job = (
            index.received(act.target, first=row["kind"] == "start"),
            index.jobs[row["job"]],
        )
        if act.kind == "edit" and act.marker in row["raw"]:
            _counted(index, checks, done, row, received)
            continue
        if row["attempts"] > 1:
            continue
        times = [row["sent_at"]]
        if index.record.plan.clock_error_seconds():
            # The bot's own time is wrong. It decided to send at most a call before the prompt arrived.
            # One with the edit's words is another prompt, decided after the refusal of this one.
            old = [message for message in received if act.marker not in message["prompt"]]
            times = [message["sent_at"] - _CALL for message in old]
        is_after = any(sent_at is not None and sent_at > at for sent_at in times)
        checks.insist(not is_after, f"{subject}: acknowledged, and the old text was sent after it")
        if act.kind == "edit" and row["state"] == "sent":
            checks.insist(
                any("You edited a message" in text for text in index.private_texts(act.user)),
                f"{subject}: it came too late, and its author was not told",
                explained=job["state"] in _ENDED_FOR_GOOD or index.muted(job["number"], act.user),
            )


def _counted(index: RecordIndex, checks: Checks, done: Done, row: Row, received: list[Row]) -> None:
    """Check that a prompt which got the text of an acknowledged edit is sent with it from then on.

    An edit of a prompt in doubt is for its next sending. The last one may have brought the old text.
    """
    act = done.act
    subject = f"{act.kind} of {act.target}"
    old = [message for message in received if act.marker not in message["prompt"]]
    late = [message for message in old if message["sent_at"] - _CALL > done.acknowledged_at]
    checks.insist(not late, f"{subject}: it counted, and the old text was sent after it")
    is_or_was_in_doubt = row["state"] in ("unconfirmed", "withdrawn") or row["attempts"] > 1
    is_told = any("You edited a message" in text for text in index.private_texts(act.user))
    checks.insist(
        not old or is_or_was_in_doubt or is_told,
        f"{subject}: it counted, and the old text was sent",
    )


def _is_late(index: RecordIndex, job: Row) -> bool:
    """Return whether the bot stored a job's thread only a while after people saw it."""
    roots = [row for row in index.deliveries(job["number"]) if row["kind"] == "status"]
    return any(row["attempts"] > 1 or row["state"] == "dead" for row in roots)


def _is_in_known_conversation(index: RecordIndex, done: Done) -> bool:
    """Return whether a direct message followed one that the bot acknowledged."""
    asks = (ask for ask in index.asks() if ask.act.channel == done.act.channel and ask.acknowledged)
    return any(ask.ts is not None and done.ts is not None and ask.ts < done.ts for ask in asks)


def _prompt(index: RecordIndex, checks: Checks, row: Row) -> None:
    """Check that the requester received the final state of a prompt."""
    job = index.jobs[row["job"]]
    subject = f"prompt {row['id']} of #{job['number']}"
    muted = index.muted(job["number"], row["asked_by"])
    match row["state"]:
        case "unconfirmed":
            # Count questions since the last sending only: each unconfirmed attempt needs its own.
            replies = [
                reply for reply in index.in_thread(job) if index.is_since(reply, row["sent_at"])
            ]
            texts = [reply["text"] for reply in replies]
            is_asked = any(":grey_question:" in text and row["asked_by"] in text for text in texts)
            checks.insist(is_asked, f"{subject}: in doubt, and nobody was asked", explained=muted)
            is_undecided = not index.record.plan.decision
            if index.record.plan.decision == "send_again":
                # Its message was deleted meanwhile, so that the button is not offered.
                is_undecided = any(_NOT_SENT_AGAIN in text for text in texts) and any(
                    done.act.target in job["text"] for done in index.made("delete")
                )
            checks.insist(is_undecided, f"{subject}: decided, and still in doubt", explained=muted)
            # A clock that is ahead for a moment ends leases early.
            is_explained = (
                index.was_interrupted()
                or index.has_database_trouble()
                or index.record.plan.clock_error_seconds() > 0
            )
            checks.insist(
                is_explained or _DOUBTFUL & set(index.docs_faults),
                f"{subject}: in doubt without a reason",
            )
        case "refused":
            refusals = _refusal_texts(index, job, {row["asked_by"], job["requester"]})
            checks.insist(refusals, f"{subject}: refused, and nobody was told", explained=muted)
        case "sent":
            checks.insist(job["service_id"], f"{subject}: sent, and the job has no id")
        case "withdrawn":
            # Several jobs may share a thread, and so may the presses of their buttons.
            markers = index.markers_in_thread(job)
            pressed = any(index.pressed(marker, "withdraw", "dismiss") for marker in markers)
            deleted = any(
                done.act.target in (row["raw"] or job["text"]) for done in index.made("delete")
            )
            stops = {(done.act.user, done.act.channel) for done in index.made("stop")}
            # Who asked for a job may also stop the follow-ups of others.
            people = {row["asked_by"], job["requester"]}
            stopped = any((user, job["channel"]) in stops for user in people)
            checks.insist(
                pressed or deleted or stopped, f"{subject}: withdrawn, and nobody asked for that"
            )
        case state:
            waits = state == "waiting" and job["state"] == "unconfirmed"
            checks.insist(waits, f"{subject}: still {state} at the end")


def _refusals(index: RecordIndex, checks: Checks, job: Row) -> None:
    """Check that each refused prompt of a job was reported."""
    refused = [row for row in index.prompts_of[job["number"]] if row["state"] == "refused"]
    people = {job["requester"], *(row["asked_by"] for row in refused)}
    reported = len(_refusal_texts(index, job, people))
    checks.insist(
        reported >= len(refused),
        f"#{job['number']}: {len(refused)} prompts refused, told of {reported}",
        explained=any(index.muted(job["number"], user) for user in people),
    )


def _refusal_texts(index: RecordIndex, job: Row, people: set[str]) -> list[str]:
    """Return the refusals in a job's thread and in private messages to these people."""
    texts = [reply["text"] for reply in index.in_thread(job)]
    texts += [text for user in people for text in index.private_texts(user)]
    return [text for text in texts if ":no_entry:" in text or ":warning:" in text]
