"""Rules about messages: sent once, in the right place, and finally with the true state."""

from __future__ import annotations

import re

from tests.torture.checks import Checks
from tests.torture.record_index import END, Json, RecordIndex, delivery_of, thread_of
from tests.torture.rows import Row

_POSTED = ("status", "reply", "post")
_NUMBERED = re.compile(r"\bJob (\d+)\b")
_SIGNS = {
    "waiting": ":hourglass_flowing_sand:",
    "working": ":gear:",
    "pull_request": ":memo:",
    "no_pull_request": ":heavy_minus_sign:",
    "failed": ":x:",
    "archived": ":file_folder:",
    "gone": ":ghost:",
    "refused": ":no_entry:",
    "unconfirmed": ":grey_question:",
    "withdrawn": ":leftwards_arrow_with_hook:",
    "unwatched": ":zzz:",
}
_REVIEWED = {
    "reviewed": ":white_check_mark:",
    "merged": ":white_check_mark:",
    "closed": ":no_entry_sign:",
}
_ENDED = ("pull_request", "no_pull_request", "failed", "archived", "gone")


def messages(index: RecordIndex, checks: Checks) -> None:
    """Compare the outbox with the messages in the workspace."""
    for row in index.record.of("deliveries"):
        _delivery(index, checks, row)
    for message in index.record.messages:
        if message["bot_id"]:
            _message(index, checks, message)
    for job in index.jobs.values():
        _root(index, checks, job)
        _ends(index, checks, job)
    acts = {(done.act.target, done.act.user) for done in index.record.done}
    for note in index.record.private:
        for done in index.asks():
            marker, user = done.act.marker, note["user"]
            if marker in note["text"]:
                is_concerned = user == done.act.user or (marker, user) in acts
                checks.insist(
                    is_concerned, f"{user} was told alone about {marker} of {done.act.user}"
                )


def _delivery(index: RecordIndex, checks: Checks, row: Row) -> None:
    subject, messages = f"delivery {row['key']}", index.messages_of.get(row["id"], [])
    checks.insist(len(messages) <= 1, f"{subject}: stands {len(messages)} times")
    checks.insist(row["state"] in ("sent", "dead"), f"{subject}: still {row['state']} at the end")
    if row["state"] == "dead":
        checks.insist(
            index.is_refusal_explained(row),
            f"{subject}: given up with {row['error']}, which nobody ordered",
        )
    if row["kind"] not in _POSTED:
        return
    if row["state"] == "sent":
        checks.insist(messages, f"{subject}: said to be sent, and stands nowhere")
    job = index.jobs.get(row["job"])
    for message in messages:
        thread = row.get("message_ts") if row["kind"] == "post" else None
        if job is not None:
            thread = thread_of(job) if row["kind"] == "reply" else job.get("thread_ts")
        place = (message["channel"], message["thread_ts"])
        checks.insist(
            place == (row["channel"], thread), f"{subject}: stands in {place}, belongs to {thread}"
        )


def _message(index: RecordIndex, checks: Checks, message: Json) -> None:
    """Check that a message has a delivery and is about the job whose thread contains it."""
    subject = f"message {message['text'][:40]!r} in {message['channel']}"
    keys = {row["id"]: row["key"] for row in index.record.of("deliveries")}
    delivery = delivery_of(message)
    checks.insist(message["files"] or delivery in keys, f"{subject}: nobody wrote that down before")
    is_answer = keys.get(delivery or "", "").startswith("inquiry:")
    if not is_answer and message["thread_ts"] and message["thread_ts"] != message["ts"]:
        job = index.jobs.get(index.job_of.get(delivery or "") or 0)
        if job is None or (job["channel"], thread_of(job)) != (
            message["channel"],
            message["thread_ts"],
        ):
            job = index.threads.get((message["channel"], message["thread_ts"]))
        checks.insist(job, f"{subject}: in a thread that is no job's")
        if job is not None:
            others = {int(number) for number in _NUMBERED.findall(message["text"])} - {
                job["number"]
            }
            links = {
                row["id"] for row in index.deliveries(job["number"]) if ":again:" in row["key"]
            }
            checks.insist(
                not others,
                f"{subject}: in the thread of #{job['number']}",
                explained=delivery in links,
            )
            markers = {
                done.act.marker for done in index.asks() if done.act.marker in message["text"]
            }
            foreign = [marker for marker in markers if marker not in job["text"]]
            checks.insist(
                not foreign, f"{subject}: tells {foreign} in the thread of #{job['number']}"
            )


def _root(index: RecordIndex, checks: Checks, job: Row) -> None:
    subject = f"Job {job['number']}"
    messages = [message for message in index.record.messages if message["bot_id"]]
    roots = [
        message
        for message in messages
        if message["text"].partition("\n")[0].endswith(f"· {subject}")
    ]
    checks.insist(len(roots) <= 1, f"{subject}: {len(roots)} roots")
    dead = [row for row in index.deliveries(job["number"]) if row["state"] == "dead"]
    # The post succeeded with its answer lost, and Slack refused the search for it: it was never stored.
    is_lost = any(row["kind"] == "status" and index.is_refusal_explained(row) for row in dead)
    is_stale = is_lost or any(row["kind"] == "edit" for row in dead)
    for root in roots:
        is_stored = (root["channel"], root["ts"]) == (job["channel"], job["status_ts"])
        checks.insist(
            is_stored, f"{subject}: the root stands elsewhere than noted", explained=is_lost
        )
        checks.insist(
            root["text"].startswith(_sign(job)),
            f"{subject}: is {job['state']}, the root says {root['text'][:30]!r}",
            explained=is_stale,
        )


def _sign(job: Row) -> str:
    if str(job.get("problem")).startswith("dismissed:"):
        return ":grey_question:"
    if job["state"] == "pull_request" and job.get("review"):
        return _REVIEWED[job["review"]]
    return _SIGNS.get(job["state"], "?")


def _ends(index: RecordIndex, checks: Checks, job: Row) -> None:
    subject, ends, state = f"Job {job['number']}", index.ends(job), job["state"]
    checks.reported_ends += len(ends)
    rounds = [row for row in index.record.service["messages"] if row["job_id"] == job["service_id"]]
    dead = [row for row in index.deliveries(job["number"]) if row["state"] == "dead"]
    is_dead = any(row["kind"] == "reply" and row["key"].endswith(":end") for row in dead)
    checks.insist(
        len(ends) <= len(rounds),
        f"{subject}: {len(ends)} ends told, the service had {len(rounds)} rounds",
        explained=len(ends) <= len(rounds) + _misleading_answers(index, job),
    )
    prompts = index.prompts_of[job["number"]]
    askers = {job["requester"], *(row["asked_by"] for row in prompts)}
    mentioned = set[str]().union(*(users for users, _ in ends))
    checks.insist(mentioned <= askers, f"{subject}: an end was told to somebody else: {ends}")
    checks.insist(state not in ("working", "waiting"), f"{subject}: still {state} at the end")
    if state not in _ENDED:
        return
    checks.insist(ends or is_dead, f"{subject}: {state}, and its end was never told")
    if is_dead:
        checks.insist(
            any(subject in text for user in askers for text in index.private_texts(user)),
            f"{subject}: its end could not be told and was not told alone",
            explained=any(row["kind"] == "private" for row in dead),
        )
    elif ends:
        waiting = {row["asked_by"] for row in prompts if row["state"] == "sent"}
        checks.insist(
            waiting <= mentioned, f"{subject}: an end told nothing to {waiting - mentioned}"
        )
        # An end is edited once its pull request is merged or closed.
        sign, is_over = f":{ends[-1][1]}:", job.get("review") in ("merged", "closed")
        checks.insist(
            sign == _SIGNS[state] or (is_over and sign == _REVIEWED[job["review"]]),
            f"{subject}: is {state}, last told {ends[-1]}",
        )
        replies = [reply for reply in index.in_thread(job) if END.match(reply["text"])]
        checks.insist(
            any(index.is_since(reply, job["iteration_started_at"]) for reply in replies),
            f"{subject}: the end of its last round was never told",
        )
    _true_end(index, checks, job, rounds)


def _misleading_answers(index: RecordIndex, job: Row) -> int:
    """Return the number of stale answers that may have shown the job at work on a follow-up.

    0 unless the outcome of one of its follow-ups was unknown.
    """
    unknown = any(
        row["state"] == "unconfirmed" or row["attempts"] > (0 if row["state"] == "withdrawn" else 1)
        for row in index.prompts_of[job["number"]]
        if row["kind"] == "follow_up"
    )
    stale = ("get", job["service_id"], "stale_status")
    answers = [(call["operation"], call["job_id"], call["fault"]) for call in index.record.docs]
    return answers.count(stale) if unknown else 0


def _true_end(index: RecordIndex, checks: Checks, job: Row, rounds: list[Row]) -> None:
    """Compare the job's state with the service's."""
    book = next(
        (row for row in index.record.service["jobs"] if row["id"] == job["service_id"]), None
    )
    if book is None or not rounds:
        checks.insist(False, f"#{job['number']}: ended, and the service knows no such job")
        return
    last = max(rounds, key=lambda row: int(row["number"]))
    expected = "pull_request" if book["pull_number"] else "no_pull_request"
    if book["archived_at"]:
        expected = "archived"
    elif last["outcome"] == "failed":
        expected = "failed"
    bent = {"404", "bad_pr_link", "stale_status"} & set(index.docs_faults)
    doubt = any(
        row["state"] in ("unconfirmed", "withdrawn") or row["attempts"] > 1
        for row in index.prompts_of[job["number"]]
    )
    checks.insist(
        job["state"] == expected,
        f"#{job['number']}: is {job['state']}, the service says {expected}",
        explained=bent or doubt,
    )
