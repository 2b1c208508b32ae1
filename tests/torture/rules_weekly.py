"""Rules about weekly subscriptions: each is stored or refused in words, and each week is told once."""

from __future__ import annotations

from collections import Counter

from tests.torture.checks import Checks
from tests.torture.rows import Row
from tests.torture.seen import Seen

_TAKEN = ("Setting up a digest ", "Changing to a digest ")
_PAUSED = ":double_vertical_bar:"


def weekly(seen: Seen, checks: Checks) -> None:
    """Check each subscription from the answer to its owner to the digest of its week."""
    stored = seen.record.of("subscriptions")
    for done in seen.made("weekly"):
        if any(text.startswith(_TAKEN) for text in seen.told_in(done.act.who, done.act.where)):
            kept = [row for row in stored if row["channel"] == done.act.where]
            checks.insist(kept, f"subscription in {done.act.where}: said to be taken, and not stored")
    digests = [row for row in seen.record.of("digests") if row["subscription"]]
    for (subscription, week), count in Counter(
        (row["subscription"], str(row["query"])) for row in digests
    ).items():
        checks.insist(count == 1, f"subscription {subscription}: {count} digests of the week {week}")
    for row in stored:
        _settled(seen, checks, row, [each for each in digests if each["subscription"] == row["id"]])


def _settled(seen: Seen, checks: Checks, row: Row, digests: list[Row]) -> None:
    """Check the state of a subscription, and that its owner knows of it."""
    about, state = f"subscription {row['id']}", row["state"]
    asked = {(done.act.who, done.act.where) for done in seen.made("weekly")}
    checks.insist((row["owner"], row["channel"]) in asked, f"{about}: nobody asked for it")
    checks.insist(state in ("active", "paused", "ended"), f"{about}: still {state} at the end")
    if state == "active":
        checks.insist(digests, f"{about}: its week was never told")
        return
    heard = any(_PAUSED in text or ":no_entry:" in text for text in seen.alone(row["owner"]))
    checks.insist(heard, f"{about}: {state}, and nobody was told", explained=seen.muted(None, row["owner"]))


def owner_of(seen: Seen, digest: Row) -> str:
    """Return who is told when a digest cannot be posted: who asked for it, or the subscription's owner."""
    if digest["user"]:
        return str(digest["user"])
    rows = seen.record.of("subscriptions")
    return next((str(row["owner"]) for row in rows if row["id"] == digest["subscription"]), "")
