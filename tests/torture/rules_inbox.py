"""Rules about the inbox: additions count once, ``stop`` is answered, and nothing is kept of talk."""

from __future__ import annotations

from tests.torture.checks import Checks
from tests.torture.plan import MESSAGES
from tests.torture.record import Done
from tests.torture.record_index import RecordIndex
from tests.torture.rows import Row

_WORDS = ("user", "text", "files", "omitted_parts", "parent_user", "app", "request")
"""The columns of a message that are empty once it is settled."""


def said_beside(index: RecordIndex, checks: Checks) -> None:
    """Check what people said beside their requests, and what is kept of it."""
    joined = [done for done in index.made("reply") if index.has_joined(done)]
    for done in [*index.made("addition"), *joined]:
        _added(index, checks, done)
    for done in index.made("stop"):
        _stopped(index, checks, done)
    for row in index.record.of("prompts"):
        _taken_back(index, checks, row)
    for row in index.record.of("inbox"):
        kept = [name for name in _WORDS if row[name]]
        is_settled = row["state"] == "settled"
        checks.insist(
            not (is_settled and kept), f"message {row['id']} is settled, and {kept} are kept"
        )


def _added(index: RecordIndex, checks: Checks, done: Done) -> None:
    """Check that an addition is part of one request, and arrives once."""
    act = done.act
    subject = f"{act.kind} {act.marker}"
    rows = [row for row in index.record.of("prompts") if act.marker in (row["raw"] or "")]
    received = [row for row in index.record.service["messages"] if act.marker in row["prompt"]]
    resent = index.resent(done, rows)
    checks.insist(len(rows) <= 1, f"{subject}: stored {len(rows)} times")
    checks.insist(len(received) <= 1 + resent, f"{subject}: arrived {len(received)} times")
    for row in rows:
        asked_by = row["asked_by"]
        checks.insist(asked_by == act.user, f"{subject}: said by {act.user}, kept as {asked_by}")
        channel = index.jobs[row["job"]]["channel"]
        checks.insist(
            channel == act.channel, f"{subject}: said in {act.channel}, kept for {channel}"
        )
        if row["state"] == "sent":
            checks.insist(received, f"{subject}: said to be sent, and never arrived")
        if row["state"] == "refused" and row["attempts"] <= 1:
            checks.insist(not received, f"{subject}: refused, and sent all the same")
    if done.acknowledged and not rows:
        checks.insist(
            _is_told(index, done) or _is_refused_in_thread(index, done),
            f"{subject}: acknowledged, not stored, and nothing was said",
            explained=_is_excused(index, done),
        )


def _stopped(index: RecordIndex, checks: Checks, done: Done) -> None:
    """Check that ``stop`` takes a request back, or that its author reads why it does not."""
    act = done.act
    if not done.acknowledged:
        return
    is_taken_back = any(
        row["state"] == "withdrawn" and row["asked_by"] == act.user
        for row in index.record.of("prompts")
    )
    checks.insist(
        is_taken_back or _is_told(index, done),
        f"{act.kind} of {act.target}: acknowledged, and nothing was said",
        explained=_is_excused(index, done),
    )


def _taken_back(index: RecordIndex, checks: Checks, row: Row) -> None:
    """Check that a request which was taken back before any try was never sent."""
    if row["state"] != "withdrawn" or row["attempts"]:
        return
    prompts = index.record.of("prompts")
    for done in index.made(*MESSAGES, "addition"):
        marker = done.act.marker
        if [other for other in prompts if marker in (other["raw"] or "")] != [row]:
            continue
        sent = any(marker in message["prompt"] for message in index.record.service["messages"])
        checks.insist(not sent, f"{done.act.kind} {marker}: taken back, and sent all the same")


def _is_told(index: RecordIndex, done: Done) -> bool:
    """Return whether the author of a message was told something afterwards, alone."""
    notes = index.private_messages(done.act.user)
    return any(float(note["ts"]) > done.at.timestamp() for note in notes)


def _is_refused_in_thread(index: RecordIndex, done: Done) -> bool:
    """Return whether a reply in the thread of a message says that the message was not sent."""
    refusals = [
        message
        for row in index.record.of("deliveries")
        if row["key"].endswith(f":unsent:{done.ts}")
        for message in index.messages_of[row["id"]]
    ]
    return any(":no_entry:" in message["text"] for message in refusals)


def _is_excused(index: RecordIndex, done: Done) -> bool:
    """Return whether a message has no request beside it, or its author could not be told."""
    target = done.act.target
    is_stored = any(target in (row["raw"] or "") for row in index.record.of("prompts"))
    mute = index.muted(None, done.act.user)
    return mute or not is_stored or index.was_deleted(target)
