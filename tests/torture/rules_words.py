"""Rules about messages: each is sent once, in the right place, and the last one shows the true state."""

from __future__ import annotations

import re

from tests.torture.checks import Checks
from tests.torture.rows import Row
from tests.torture.seen import END, Json, Seen, delivery_of, thread_of

_POSTED = ("root", "reply", "post")
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
    "not_needed": ":no_entry_sign:",
    "merged": ":white_check_mark:",
    "closed": ":no_entry_sign:",
}
_ENDED = ("pull_request", "no_pull_request", "failed", "archived", "gone")


def words(seen: Seen, checks: Checks) -> None:
    """Compare the outbox with the messages in the workspace."""
    for row in seen.record.of("deliveries"):
        _delivery(seen, checks, row)
    for message in seen.record.messages:
        if message["bot_id"]:
            _message(seen, checks, message)
    for job in seen.jobs.values():
        _root(seen, checks, job)
        _ends(seen, checks, job)
    for note in seen.record.private:
        for done in seen.asks():
            if done.act.marker in note["text"]:
                pressed = any(
                    each.act.about == done.act.marker and each.act.who == note["user"]
                    for each in seen.record.done
                )
                checks.insist(
                    note["user"] == done.act.who or pressed,
                    f"{note['user']} was told alone about {done.act.marker} of {done.act.who}",
                )


def _delivery(seen: Seen, checks: Checks, row: Row) -> None:
    about, stands = f"delivery {row['key']}", seen.said_as.get(row["id"], [])
    checks.insist(len(stands) <= 1, f"{about}: stands {len(stands)} times")
    checks.insist(row["state"] in ("sent", "dead"), f"{about}: still {row['state']} at the end")
    if row["state"] == "dead":
        checks.insist(
            seen.is_refusal_explained(row), f"{about}: given up with {row['error']}, which nobody ordered"
        )
    if row["kind"] not in _POSTED:
        return
    if row["state"] == "sent":
        checks.insist(stands, f"{about}: said to be sent, and stands nowhere")
    job = seen.jobs.get(row["job"])
    for message in stands:
        thread = row.get("message_ts") if row["kind"] == "post" else None
        if job is not None:
            thread = thread_of(job) if row["kind"] == "reply" else job.get("thread_ts")
        place = (message["channel"], message["thread_ts"])
        checks.insist(place == (row["channel"], thread), f"{about}: stands in {place}, belongs to {thread}")


def _message(seen: Seen, checks: Checks, message: Json) -> None:
    """Check that a message has a delivery and is about the job whose thread contains it."""
    about = f"message {message['text'][:40]!r} in {message['channel']}"
    known = {row["id"]: row["key"] for row in seen.record.of("deliveries")}
    delivery = delivery_of(message)
    checks.insist(message["files"] or delivery in known, f"{about}: nobody wrote that down before")
    is_answer = known.get(delivery or "", "").startswith("inquiry:")
    if not is_answer and message["thread_ts"] and message["thread_ts"] != message["ts"]:
        job = seen.jobs.get(seen.job_of.get(delivery or "") or 0)
        if job is None or (job["channel"], thread_of(job)) != (message["channel"], message["thread_ts"]):
            job = seen.threads.get((message["channel"], message["thread_ts"]))
        checks.insist(job, f"{about}: in a thread that is no job's")
        if job is not None:
            named = {int(each) for each in _NUMBERED.findall(message["text"])} - {job["number"]}
            links = {row["id"] for row in seen.deliveries(job["number"]) if ":again:" in row["key"]}
            checks.insist(
                not named, f"{about}: in the thread of #{job['number']}", explained=delivery in links
            )
            markers = {done.act.marker for done in seen.asks() if done.act.marker in message["text"]}
            foreign = [marker for marker in markers if marker not in job["text"]]
            checks.insist(not foreign, f"{about}: tells {foreign} in the thread of #{job['number']}")


def _root(seen: Seen, checks: Checks, job: Row) -> None:
    about = f"Job {job['number']}"
    roots = [
        each
        for each in seen.record.messages
        if each["bot_id"] and each["text"].partition("\n")[0].endswith(f"· {about}")
    ]
    checks.insist(len(roots) <= 1, f"{about}: {len(roots)} roots")
    # The post succeeded with its answer lost, and Slack refused the search for it, so it was never noted.
    left = any(
        row["kind"] == "root" and row["state"] == "dead" and seen.is_refusal_explained(row)
        for row in seen.deliveries(job["number"])
    )
    mute = any(row["kind"] == "edit" and row["state"] == "dead" for row in seen.deliveries(job["number"]))
    for root in roots:
        noted = (root["channel"], root["ts"]) == (job["channel"], job["root_ts"])
        checks.insist(noted, f"{about}: the root stands elsewhere than noted", explained=left)
        says = root["text"].startswith(_sign(job))
        checks.insist(
            says, f"{about}: is {job['state']}, the root says {root['text'][:30]!r}", explained=mute or left
        )


def _sign(job: Row) -> str:
    if str(job.get("problem")).startswith("dismissed:"):
        return ":grey_question:"
    if job["state"] == "pull_request" and job.get("review"):
        return _REVIEWED[job["review"]]
    return _SIGNS.get(job["state"], "?")


def _ends(seen: Seen, checks: Checks, job: Row) -> None:
    about, told = f"Job {job['number']}", seen.ends(job)
    checks.ends_told += len(told)
    rounds = [row for row in seen.record.service["messages"] if row["job_id"] == job["service_id"]]
    unsaid = [
        row
        for row in seen.deliveries(job["number"])
        if row["kind"] == "reply" and row["state"] == "dead" and row["key"].endswith(":end")
    ]
    ends = len(told)
    checks.insist(
        ends <= len(rounds),
        f"{about}: {ends} ends told, the service had {len(rounds)} rounds",
        explained=ends <= len(rounds) + _misleading_answers(seen, job),
    )
    askers = {job["requester"], *(row["asked_by"] for row in seen.prompts_of[job["number"]])}
    mentioned = set[str]().union(*(who for who, _ in told))
    checks.insist(mentioned <= askers, f"{about}: an end was told to somebody else: {told}")
    checks.insist(job["state"] != "working", f"{about}: still working at the end")
    if job["state"] == "waiting":
        checks.insist(False, f"{about}: still waiting at the end")
    if job["state"] not in _ENDED:
        return
    checks.insist(told or unsaid, f"{about}: {job['state']}, and its end was never told")
    if unsaid:
        alone = [text for user in askers for text in seen.alone(user)]
        checks.insist(
            any(about in text for text in alone),
            f"{about}: its end could not be told and was not told alone",
            explained=any(
                each["state"] == "dead" and each["kind"] == "private"
                for each in seen.deliveries(job["number"])
            ),
        )
    if told and not unsaid:
        waited = {row["asked_by"] for row in seen.prompts_of[job["number"]] if row["state"] == "sent"}
        checks.insist(waited <= mentioned, f"{about}: an end told nothing to {waited - mentioned}")
        # An end is edited once its pull request is merged or closed.
        sign, is_over = f":{told[-1][1]}:", job.get("review") in ("merged", "closed")
        checks.insist(
            sign == _SIGNS[job["state"]] or (is_over and sign == _REVIEWED[job["review"]]),
            f"{about}: is {job['state']}, last told {told[-1]}",
        )
        ends_told = [each for each in seen.in_thread(job) if END.match(each["text"])]
        checks.insist(
            any(seen.is_since(each, job["iteration_started_at"]) for each in ends_told),
            f"{about}: the end of its last round was never told",
        )
    _true_end(seen, checks, job, rounds)


def _misleading_answers(seen: Seen, job: Row) -> int:
    """Return how many old answers may have shown the job at work, as if a follow-up were carried out.

    None did unless the outcome of one of its follow-ups was unknown.
    """
    unknown = any(
        row["state"] == "unconfirmed" or row["attempts"] > (0 if row["state"] == "withdrawn" else 1)
        for row in seen.prompts_of[job["number"]]
        if row["kind"] == "follow_up"
    )
    polls = [
        each
        for each in seen.record.docs
        if (each["operation"], each["job_id"], each["fault"]) == ("get", job["service_id"], "stale_status")
    ]
    return len(polls) if unknown else 0


def _true_end(seen: Seen, checks: Checks, job: Row, rounds: list[Row]) -> None:
    """Check that the job's state is the one that the service has stored."""
    book = next((row for row in seen.record.service["jobs"] if row["id"] == job["service_id"]), None)
    if book is None or not rounds:
        checks.insist(False, f"#{job['number']}: ended, and the service knows no such job")
        return
    last = max(rounds, key=lambda row: int(row["number"]))
    expected = {"failed": "failed"}.get(
        last["outcome"], "pull_request" if book["pull_number"] else "no_pull_request"
    )
    expected = "archived" if book["archived_at"] else expected
    bent = {"404", "bad_pr_link", "stale_status"} & set(seen.docs_faults)
    doubt = any(
        row["state"] in ("unconfirmed", "withdrawn") or row["attempts"] > 1
        for row in seen.prompts_of[job["number"]]
    )
    checks.insist(
        job["state"] == expected,
        f"#{job['number']}: is {job['state']}, the service says {expected}",
        explained=bent or doubt,
    )
