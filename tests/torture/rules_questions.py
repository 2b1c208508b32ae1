"""Rules about questions: each has one answer, a gap is counted once, and each asker gets one notice."""

from __future__ import annotations

import json
import re

from tests.torture.checks import Checks
from tests.torture.plan import DOCS, PRODUCT
from tests.torture.record import Done
from tests.torture.record_index import Json, RecordIndex
from tests.torture.rows import Row

_PUBLIC = (DOCS, PRODUCT)
_REFUSED_PRESS = ("Something went wrong on my side", "Slack didn't tell me who you are")
"""The words to a person whose press did nothing: the database or Slack could not take part."""
_NOTHING = ("The docs have nothing on that", "Noted. I'll tell you")
"""The words under answers that answer nothing."""
_TAKEN_BACK = "Taken back: I won't answer it"
_TIMES = re.compile(r"(?:asked|” ·) (\d+) times")


def questions(index: RecordIndex, checks: Checks) -> None:
    """Check each question from its acknowledgement to the notice that a page answers it."""
    asked = index.made("question", "inquire")
    inquiries = {str(row["id"]): row for row in index.record.of("inquiries")}
    taken_back = _taken_back(index)
    for done in asked:
        act = done.act
        mine = [row for row in inquiries.values() if _is_of(row, done)]
        name = f"{act.kind} {act.marker}"
        checks.insist(len(mine) <= 1, f"{name}: stored {len(mine)} times")
        if done.acknowledged and not done.broken:
            checks.insist(mine, f"{name}: acknowledged, and not stored")
    for row in inquiries.values():
        checks.insist(
            any(_is_of(row, done) for done in asked), f"inquiry {row['id']}: nobody asked that"
        )
        if row["id"] not in taken_back:
            _answered(index, checks, row)
        _told(index, checks, row)
    for topic in {done.act.target for done in asked}:
        _shown(index, checks, topic, [done for done in asked if done.act.target == topic])


def _is_of(row: Row, done: Done) -> bool:
    act = done.act
    return (row["user"], row["channel"], row["text"]) == (act.user, act.channel, act.text)


def _taken_back(index: RecordIndex) -> set[int]:
    """Return the ids of the unanswered questions that their askers took back by ``stop``.

    Each answer to a ``stop`` is about one question, which was asked before it in its conversation.
    """
    unanswered = [
        row
        for row in index.record.of("inquiries")
        if row["state"] == "dismissed" and not _deliveries(index, row, "answer")
    ]
    ids: set[int] = set()
    for done in index.made("stop"):
        if not _says_taken_back(index, done):
            continue
        place = (done.act.user, done.act.channel)
        for row in unanswered:
            is_earlier = row["thread_ts"] is not None and row["thread_ts"] < str(done.ts)
            is_of_asker = (row["user"], row["channel"]) == place
            if is_earlier and is_of_asker and row["id"] not in ids:
                ids.add(row["id"])
                break
    return ids


def _says_taken_back(index: RecordIndex, stop: Done) -> bool:
    """Return whether ``stop`` was answered by the news that it took a question back.

    An answer that Slack refused for good counts, since the bot did write it.
    """
    key = f"message:{stop.act.channel}:{stop.ts}:unsent"
    return any(
        row["state"] == "dead"
        or any(_TAKEN_BACK in message["text"] for message in index.messages_of[row["id"]])
        for row in index.record.of("deliveries")
        if row["key"] == key
    )


def _answered(index: RecordIndex, checks: Checks, row: Row) -> None:
    """Check that an inquiry has one answer, and is a gap only with a reason."""
    name = f"inquiry {row['id']}"
    checks.insist(
        row["state"] not in ("asked", "merged", "written"),
        f"{name}: still {row['state']} at the end",
    )
    answers = _deliveries(index, row, "answer")
    checks.insist(len(answers) == 1, f"{name}: {len(answers)} answers")
    posted = [message["text"] for answer in answers for message in index.messages_of[answer["id"]]]
    for answer in answers:
        if answer["kind"] != "post" and answer["state"] == "sent":
            is_seen = any(
                _offers(message, str(row["id"])) for message in index.private_messages(row["user"])
            )
            checks.insist(is_seen, f"{name}: answered, and nobody saw it")
    marked = _presses(index, row, "did_not_help")
    said = (*index.private_texts(row["user"]), *posted)
    nothing = [text for text in said if any(phrase in text for phrase in _NOTHING)]
    is_plain = row["state"] == "answered" or marked or nothing or row["job"]
    mute = any(answer["state"] == "dead" for answer in answers)
    checks.insist(is_plain, f"{name}: is {row['state']}, and nobody said so", explained=mute)
    if taken := [done for done in marked if done.acknowledged]:
        refused = all(_is_press_refused(index, done) for done in taken)
        is_gap = row["state"] != "answered"
        checks.insist(is_gap, f"{name}: it did not help, and is no gap", explained=refused)


def _told(index: RecordIndex, checks: Checks, row: Row) -> None:
    """Check that an asker gets one notice, and only of a page that is written.

    Only a question that people marked again afterwards is a gap again, and has a further notice.
    """
    name, notices = f"inquiry {row['id']}", _deliveries(index, row, r"job:\d+:written")
    again = len(_presses(index, row, "did_not_help"))
    checks.insist(len(notices) <= max(1, again), f"{name}: told {len(notices)} times")
    checks.insist(
        bool(notices) == (row["state"] == "notified") or (notices and again),
        f"{name}: is {row['state']}, told {len(notices)} times",
    )
    written = [job for job in index.jobs.values() if _answers(job, row) and _is_published(job)]
    checks.insist(written or not notices, f"{name}: told of a page that nobody wrote")
    books = {job["id"]: job["pull_end"] for job in index.record.service["jobs"]}
    for job in written:
        may_tell = job["channel"] == row["channel"] or job["channel"] in _PUBLIC
        checks.insist(
            may_tell or row["job"] != job["number"] or not notices,
            f"{name}: told of job {job['number']}, which is private",
        )
        ended = books.get(job["service_id"])
        merges = [done.at for done in index.made("pull") if done.act.target in job["text"]]
        presses = _presses(index, row, "did_not_help")
        taken = [done for done in presses if done.acknowledged]
        marks = [done for done in taken if not _is_press_refused(index, done)]
        is_gap = any(mark.ended_at and mark.ended_at < at for mark in marks for at in merges)
        if ended and may_tell and is_gap and not index.made("gaps"):
            checks.insist(
                notices, f"{name}: job {job['number']} is merged, and its asker was not told"
            )


def _shown(index: RecordIndex, checks: Checks, topic: str, asked: list[Done]) -> None:
    """Check that the words of private questions stand nowhere else, and that each is counted once."""
    places = {done.act.channel for done in asked}
    people = {done.act.user for done in asked}
    for message in (*index.record.messages, *index.record.private):
        text = json.dumps([message["text"], message.get("blocks")])
        if topic not in text or not message.get("bot_id", True):
            continue
        for count in _TIMES.findall(text):
            checks.insist(
                int(count) <= len(asked), f"{topic}: asked {len(asked)} times, {count} counted"
            )
        is_theirs = message["channel"] in places | {f"D{user[1:]}" for user in people}
        checks.insist(
            is_theirs or places & {*_PUBLIC},
            f"{topic}: asked in {places}, shown in {message['channel']}",
        )


def _deliveries(index: RecordIndex, row: Row, part: str) -> list[Row]:
    key = re.compile(f"inquiry:{row['id']}:{part}")
    return [one for one in index.record.of("deliveries") if key.fullmatch(one["key"])]


def _presses(index: RecordIndex, row: Row, *kinds: str) -> list[Done]:
    """Return the presses about an inquiry, by the button's id or the kind of the act."""
    made = index.made("on_answer", "draft", "gaps")
    mine = (done for done in made if done.pressed == str(row["id"]))
    return [done for done in mine if {done.act.kind, done.act.text} & {*kinds}]


def _is_press_refused(index: RecordIndex, press: Done) -> bool:
    """Return whether an acknowledged press was answered with the news that it did nothing."""
    user = press.act.user
    places = (press.act.channel, f"D{user[1:]}")
    return any(
        any(phrase in message["text"] for phrase in _REFUSED_PRESS)
        for message in index.private_messages(user)
        if message["channel"] in places and float(message["ts"]) >= press.at.timestamp()
    )


def _offers(message: Json, value: str) -> bool:
    buttons = (
        button for block in message.get("blocks") or [] for button in block.get("elements", [])
    )
    return any(
        (button.get("action_id"), button.get("value")) == ("change_docs", value)
        for button in buttons
    )


def _answers(job: Row, row: Row) -> bool:
    gap = json.loads(job["gap"]) if isinstance(job.get("gap"), str) else job.get("gap")
    return gap is not None and bool(gap["key"] == row["gap_key"])


def _is_published(job: Row) -> bool:
    return job.get("review") in ("merged", "reviewed") or job["state"] == "no_pull_request"
