"""Rules about visitors: each requested answer, file and digest is delivered once."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

from tests.torture.checks import Checks
from tests.torture.plan import ADMIN
from tests.torture.rows import Row
from tests.torture.rules_weekly import owner_of
from tests.torture.seen import Seen

_NOT_POSTED = (":warning:", ":no_entry:", ":double_vertical_bar:")
_DIGEST = "*Your docs"


def numbers(seen: Seen, checks: Checks) -> None:
    """Check questions about visitors, files, digests and the notices about the key."""
    _questions(seen, checks)
    _files(seen, checks)
    _digests(seen, checks)
    _key(seen, checks)


def _questions(seen: Seen, checks: Checks) -> None:
    asked, taken = _made(seen, "visitors", taken=False), _made(seen, "visitors", taken=True)
    stored = Counter((row["user"], row["channel"]) for row in seen.record.of("questions"))
    for place, count in stored.items():
        checks.insist(count <= asked[place], f"{count} questions kept of {place}, {asked[place]} asked")
    for place, count in taken.items():
        checks.insist(stored[place] >= count, f"{count} questions of {place} taken, {stored[place]} kept")
    private = [row for row in seen.record.of("deliveries") if _is_answer(row)]
    answers = {row["question"]: row for row in private}
    checks.insist(len(answers) == len(private), "a question was answered twice")
    for row in seen.record.of("questions"):
        is_over = row["state"] in ("answered", "missed")
        checks.insist(is_over, f"question {row['id']}: still {row['state']} at the end")
        answer = answers.get(row["id"])
        # Whoever Slack did not vouch for at that moment hears a refusal instead of the numbers.
        alone = seen.alone(row["user"])
        heard = answer is not None or any("docs" in text or ":no_entry:" in text for text in alone)
        checks.insist(
            heard,
            f"question {row['id']}: answered, and {row['user']} heard nothing",
            explained=seen.muted(None, row["user"]),
        )


def _is_answer(row: Row) -> bool:
    """Whether a delivery is the answer to a question, and not the word that its numbers are being read."""
    return row["kind"] == "private" and row["question"] and not row["key"].endswith(":reading")


def _made(seen: Seen, what: str, *, taken: bool) -> Counter[tuple[str, str]]:
    return Counter(
        (done.act.who, done.act.where)
        for done in seen.made(what)
        if not taken or (done.acknowledged and not done.broken)
    )


def _files(seen: Seen, checks: Checks) -> None:
    shared = [(each["channel"], file["name"]) for each in seen.record.messages for file in each["files"]]
    for (channel, name), count in Counter(shared).items():
        checks.insist(count == 1, f"the file {name} stands {count} times in {channel}")
    for row in seen.record.of("deliveries"):
        if row["kind"] == "file" and row["state"] == "sent":
            place = f"D{row['user'][1:]}" if row["user"] else row["channel"]
            mine = [name for channel, name in shared if channel == place and row["id"][:8] in name]
            checks.insist(mine, f"{row['key']}: said to be sent, and no file stands in {place}")
    keys = Counter(row["question"] for row in seen.record.of("deliveries") if row["kind"] == "file")
    # A question may be answered without numbers although they were read later for another one. A key that
    # is refused stops all calls for a while.
    unread = any(
        each["fault"] and (each["operation"] == "visitors" or each["fault"] in ("401", "403"))
        for each in seen.record.docs
    )
    for row in seen.record.of("questions"):
        wanted = _query(row).get("file_to", "nowhere") != "nowhere"
        readable = any(
            each["id"] == row["now"] and each["state"] == "done" for each in seen.record.of("snapshots")
        )
        checks.insist(keys[row["id"]] <= int(wanted), f"question {row['id']}: {keys[row['id']]} files")
        if wanted and readable:
            made, explained = keys[row["id"]], unread or _is_denied(seen, row["user"])
            checks.insist(
                made, f"question {row['id']}: a file was wanted, and none was made", explained=explained
            )


def _is_denied(seen: Seen, user: str) -> bool:
    """Whether Slack once did not say who this is, and so nothing was answered."""
    return any("access_unknown" in line and user in line for line in seen.record.log.splitlines())


def _query(row: Row) -> dict[str, Any]:
    query = row["query"] or {}
    read: dict[str, Any] = json.loads(query) if isinstance(query, str) else query
    return read


def _digests(seen: Seen, checks: Checks) -> None:
    asked, taken = _made(seen, "digest", taken=False), _made(seen, "digest", taken=True)
    kept = [row for row in seen.record.of("digests") if row["user"]]
    stored = Counter((row["user"], row["channel"]) for row in kept)
    for place in asked:
        checks.insist(
            stored[place] <= asked[place], f"{stored[place]} digests for {place}, {asked[place]} asked"
        )
        # A second digest for a channel within a minute is asked about first. That question is not stored.
        is_asked = any("asked for the digest" in text for text in seen.alone(place[0])) or (
            seen.was_interrupted() and any(row["channel"] == place[1] for row in kept)
        )
        is_refused = any("couldn't tell me who you are" in text for text in seen.alone(place[0]))
        checks.insist(
            stored[place] >= taken[place],
            f"{taken[place]} digests taken of {place}, {stored[place]} kept",
            explained=is_asked or is_refused,
        )
    ids = {row["id"] for row in seen.record.of("digests")}
    written = [row for row in seen.record.of("deliveries") if row["question"] in ids]
    posts = {row["question"]: row for row in written}
    checks.insist(len(posts) == len(written), "a digest was written twice")
    for row in seen.record.of("digests"):
        about, post = f"digest {row['id']}", posts.get(row["id"])
        checks.insist(row["state"] in ("answered", "missed"), f"{about}: still {row['state']} at the end")
        if row["state"] == "answered":
            checks.insist(post, f"{about}: answered, and nothing was written")
        if row["state"] == "missed" or (post is not None and post["state"] == "dead"):
            reader = owner_of(seen, row)
            heard = [text for text in seen.alone(reader) if any(sign in text for sign in _NOT_POSTED)]
            checks.insist(
                heard, f"{about}: not posted, and {reader} was not told", explained=seen.muted(None, reader)
            )
    for message in seen.record.messages:
        if message["bot_id"] and message["text"].startswith(_DIGEST):
            for_it = seen.made("digest", "weekly")
            places = {done.act.where for done in for_it}
            checks.insist(
                message["channel"] in places, f"a digest in {message['channel']}, where nobody asked"
            )


def _key(seen: Seen, checks: Checks) -> None:
    """Check that an admin is told of a refused key once, and again only after it was accepted."""
    rows = sorted(seen.record.of("deliveries"), key=lambda row: int(row["seq"]))
    keys = [row["key"] for row in rows if row["user"] == ADMIN]
    words = [key.split(":")[2] for key in keys if key.startswith("key:")]
    turns = [("refused", "accepted")[turn % 2] for turn in range(len(words))]
    checks.insist(words == turns, f"an admin was told of the key: {words}")
