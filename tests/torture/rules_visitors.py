"""Rules about visitors: each requested answer, file and digest is delivered once."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

from tests.torture.checks import Checks
from tests.torture.plan import ADMIN
from tests.torture.record_index import RecordIndex
from tests.torture.rows import Row
from tests.torture.rules_weekly import owner_of

_NOT_POSTED = (":warning:", ":no_entry:", ":double_vertical_bar:")
_DIGEST = "*Your docs"
_KEY_NOTICE = re.compile("key:(?P<name>.+?):(?P<state>refused|accepted)(?::.+)?")
"""The key of a delivery. The name of an assistant's key has a colon."""


def visitors(index: RecordIndex, checks: Checks) -> None:
    """Check questions about visitors, files, digests and the notices about the key."""
    _questions(index, checks)
    _files(index, checks)
    _digests(index, checks)
    _key(index, checks)


def _questions(index: RecordIndex, checks: Checks) -> None:
    asked, acknowledged = _places(index, "visitors")
    stored = Counter((row["user"], row["channel"]) for row in index.record.of("questions"))
    for place, count in stored.items():
        checks.insist(
            count <= asked[place], f"{count} questions kept of {place}, {asked[place]} asked"
        )
    for place, count in acknowledged.items():
        checks.insist(
            stored[place] >= count, f"{count} questions of {place} taken, {stored[place]} kept"
        )
    private = [row for row in index.record.of("deliveries") if _is_answer(row)]
    answers = {row["question"]: row for row in private}
    checks.insist(len(answers) == len(private), "a question was answered twice")
    for row in index.record.of("questions"):
        is_over = row["state"] in ("answered", "missed")
        checks.insist(is_over, f"question {row['id']}: still {row['state']} at the end")
        # While Slack returns no profile, its user gets a refusal in place of the numbers.
        texts = index.private_texts(row["user"])
        checks.insist(
            row["id"] in answers or any("docs" in text or ":no_entry:" in text for text in texts),
            f"question {row['id']}: answered, and {row['user']} heard nothing",
            explained=index.muted(None, row["user"]),
        )


def _is_answer(row: Row) -> bool:
    """Return whether a delivery answers a question; a progress note does not."""
    return row["kind"] == "private" and row["question"] and not row["key"].endswith(":reading")


def _places(
    index: RecordIndex, kind: str
) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Count requests by user and channel: all of them, and the acknowledged ones."""
    requests = index.made(kind)
    acknowledged = [done for done in requests if done.acknowledged and not done.broken]
    all_places = Counter((done.act.user, done.act.channel) for done in requests)
    return all_places, Counter((done.act.user, done.act.channel) for done in acknowledged)


def _files(index: RecordIndex, checks: Checks) -> None:
    messages = index.record.messages
    shared = [
        (message["channel"], file["name"]) for message in messages for file in message["files"]
    ]
    for (channel, name), count in Counter(shared).items():
        checks.insist(count == 1, f"the file {name} stands {count} times in {channel}")
    for row in index.record.of("deliveries"):
        if row["kind"] == "file" and row["state"] == "sent":
            place = f"D{row['user'][1:]}" if row["user"] else row["channel"]
            is_shared = any(channel == place and row["id"][:8] in name for channel, name in shared)
            checks.insist(
                is_shared, f"{row['key']}: said to be sent, and no file stands in {place}"
            )
    keys = Counter(
        row["question"] for row in index.record.of("deliveries") if row["kind"] == "file"
    )
    # A question may be answered without numbers that another one read later. A refused key stops all calls
    # for a while.
    is_unread = any(
        call["fault"] and (call["operation"] == "visitors" or call["fault"] in ("401", "403"))
        for call in index.record.docs
    )
    done = {row["id"] for row in index.record.of("readings") if row["is_complete"]}
    # Slack returned no profile, and so nothing was answered.
    denials = [line for line in index.record.log.splitlines() if "access_unknown" in line]
    for row in index.record.of("questions"):
        query = row["query"] or {}
        query = json.loads(query) if isinstance(query, str) else query
        has_file, count = query.get("file_to", "nowhere") != "nowhere", keys[row["id"]]
        checks.insist(count <= int(has_file), f"question {row['id']}: {count} files")
        listed = row.get("readings") or []
        listed = json.loads(listed) if isinstance(listed, str) else listed
        if has_file and done.intersection(listed[:1]):
            checks.insist(
                count,
                f"question {row['id']}: a file was wanted, and none was made",
                explained=is_unread or any(row["user"] in line for line in denials),
            )


def _digests(index: RecordIndex, checks: Checks) -> None:
    asked, acknowledged = _places(index, "digest")
    rows = [row for row in index.record.of("digests") if row["user"]]
    stored = Counter((row["user"], row["channel"]) for row in rows)
    # The bot stores no digest that came just now or comes soon, and none for a channel that it is not in.
    reasons = (
        "came just now",
        "is on its way already",
        "I'm not in this channel",
        "couldn't tell me who you are",
    )
    for place, most in asked.items():
        checks.insist(stored[place] <= most, f"{stored[place]} digests for {place}, {most} asked")
        user, channel = place
        is_refused = any(reason in text for text in index.private_texts(user) for reason in reasons)
        was_asked = index.was_interrupted() and any(row["channel"] == channel for row in rows)
        checks.insist(
            stored[place] >= acknowledged[place],
            f"{acknowledged[place]} digests taken of {place}, {stored[place]} kept",
            explained=is_refused or was_asked,
        )
    ids = {row["id"] for row in index.record.of("digests")}
    written = [row for row in index.record.of("deliveries") if row["question"] in ids]
    posts = {row["question"]: row for row in written}
    checks.insist(len(posts) == len(written), "a digest was written twice")
    for row in index.record.of("digests"):
        subject, post = f"digest {row['id']}", posts.get(row["id"])
        checks.insist(
            row["state"] in ("answered", "missed"), f"{subject}: still {row['state']} at the end"
        )
        if row["state"] == "answered":
            checks.insist(post, f"{subject}: answered, and nothing was written")
        if row["state"] == "missed" or (post is not None and post["state"] == "dead"):
            reader = owner_of(index, row)
            checks.insist(
                any(sign in text for text in index.private_texts(reader) for sign in _NOT_POSTED),
                f"{subject}: not posted, and {reader} was not told",
                explained=index.muted(None, reader),
            )
    places = {done.act.channel for done in index.made("digest", "weekly")}
    for message in index.record.messages:
        if message["bot_id"] and message["text"].startswith(_DIGEST):
            checks.insist(
                message["channel"] in places,
                f"a digest in {message['channel']}, where nobody asked",
            )


def _key(index: RecordIndex, checks: Checks) -> None:
    """Check that admins get one notice of each refused key until it is accepted."""
    rows = sorted(index.record.of("deliveries"), key=lambda row: int(row["seq"]))
    told = defaultdict[str, list[str]](list)
    for row in rows:
        match = _KEY_NOTICE.fullmatch(row["key"]) if row["user"] == ADMIN else None
        if match is not None:
            told[match["name"]].append(match["state"])
    for name, states in told.items():
        turns = [("refused", "accepted")[turn % 2] for turn in range(len(states))]
        checks.insist(states == turns, f"an admin was told of the key {name}: {states}")
