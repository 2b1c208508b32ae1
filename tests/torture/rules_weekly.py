"""Rules about weekly subscriptions: stored or refused, with one digest for each week."""

from __future__ import annotations

from collections import Counter

from tests.torture.checks import Checks
from tests.torture.record_index import RecordIndex
from tests.torture.rows import Row

_ACCEPTED = ("Setting up a digest ", "Changing to a digest ")
_PAUSED = ":double_vertical_bar:"


def weekly(index: RecordIndex, checks: Checks) -> None:
    """Check each subscription from the answer to its owner to the digest of its week."""
    stored = index.record.of("subscriptions")
    for done in index.made("weekly"):
        place = (done.act.user, done.act.channel)
        notes = [note for note in index.record.private if (note["user"], note["channel"]) == place]
        if any(note["text"].startswith(_ACCEPTED) for note in notes):
            is_stored = any(row["channel"] == done.act.channel for row in stored)
            checks.insist(
                is_stored, f"subscription in {done.act.channel}: said to be taken, and not stored"
            )
    digests = [row for row in index.record.of("digests") if row["subscription"]]
    weeks = Counter((row["subscription"], str(row["query"])) for row in digests)
    for (subscription, week), count in weeks.items():
        checks.insist(
            count == 1, f"subscription {subscription}: {count} digests of the week {week}"
        )
    for row in stored:
        has_digest = any(digest["subscription"] == row["id"] for digest in digests)
        _settled(index, checks, row, has_digest=has_digest)


def _settled(index: RecordIndex, checks: Checks, row: Row, *, has_digest: bool) -> None:
    """Check the state of a subscription, and the notice to its owner."""
    subject, state = f"subscription {row['id']}", row["state"]
    asked = {(done.act.user, done.act.channel) for done in index.made("weekly")}
    checks.insist((row["owner"], row["channel"]) in asked, f"{subject}: nobody asked for it")
    checks.insist(state in ("active", "paused", "ended"), f"{subject}: still {state} at the end")
    if state == "active":
        checks.insist(has_digest, f"{subject}: its week was never told")
        return
    texts, is_muted = index.private_texts(row["owner"]), index.muted(None, row["owner"])
    has_notice = any(_PAUSED in text or ":no_entry:" in text for text in texts)
    checks.insist(has_notice, f"{subject}: {state}, and nobody was told", explained=is_muted)


def owner_of(index: RecordIndex, digest: Row) -> str:
    """Return the user who requested a digest, or else the owner of its subscription."""
    if digest["user"]:
        return str(digest["user"])
    rows = index.record.of("subscriptions")
    return next((str(row["owner"]) for row in rows if row["id"] == digest["subscription"]), "")
