"""A handmade record of a successful run, for tests that break one thing in it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from tests.torture.plan import DOCS, PRODUCT, SECRET, Act, Plan
from tests.torture.record import Done, Json, Record
from tests.torture.rows import Row

ANA, BEN = "U01ANA", "U02BEN"
ASK = Act(0.1, "command", ANA, DOCS, "mk01", "Add a guide about mk01")
OTHER = Act(0.2, "mention", BEN, DOCS, "mk02", "Fail on purpose (mk02)")
FOLLOW_UP = Act(0.9, "reply", ANA, DOCS, "mk03", "Add an example of mk03", "mk01")
VISITORS = Act(0.3, "visitors", ANA, DOCS, "mk04", "last week csv here")
DIGEST = Act(0.4, "digest", BEN, PRODUCT, "mk05", "digest now")
WEEKLY = Act(0.5, "weekly", BEN, PRODUCT, "mk06", "subscribe monday 09:00 UTC")
ADDITION = Act(1.0, "addition", ANA, DOCS, "mk20", "Mention mk20 in the changelog", "mk03")
STOP = Act(1.0, "stop", ANA, DOCS, "mk21", "stop", "mk03")
QUESTION = Act(0.6, "question", BEN, DOCS, "mk07", "How do I rotate mk08?", "mk08")
HIDDEN = Act(0.6, "inquire", ANA, SECRET, "mk09", "What does mk10 mean?", "mk10")
AT = datetime(2026, 3, 2, 9, tzinfo=UTC)
QUESTION_TS = "1772442000.000800"
ROOT, OTHER_ROOT = "1772442000.000100", "1772442000.000200"


def delivery(name: str, kind: str, **values: Any) -> Row:
    """Return an outbox row of a sent delivery."""
    row = {
        "id": f"{name:0>8}-id",
        "key": name,
        "kind": kind,
        "state": "sent",
        "job": None,
        "channel": DOCS,
    }
    more = {"user": None, "error": None, "question": None, "due_at": AT, "seq": 1, "attempts": 1}
    return row | more | values


def message(text: str, ts: str, name: str | None, **values: Any) -> Json:
    """Return a message of the bot."""
    payload = {"event_payload": {"delivery": f"{name:0>8}-id"}} if name else None
    base: Json = {
        "channel": DOCS,
        "ts": ts,
        "thread_ts": None,
        "bot_id": "B1",
        "text": text,
        "files": [],
    }
    return base | {"metadata": payload} | values


def job(number: int, act: Act, state: str, root: str) -> Row:
    """Return the row of a tracked job."""
    row = {
        "number": number,
        "project": "p",
        "channel": DOCS,
        "requester": act.user,
        "text": act.text,
    }
    more = {"state": state, "status_ts": root, "service_id": f"job_{number}", "iteration": 1}
    times = {"poll_at": None, "claimed_until": None, "due_at": AT, "iteration_started_at": AT}
    return row | more | times


def prompt(number: int, act: Act, of: int, kind: str, **values: Any) -> Row:
    """Return the row of a sent prompt."""
    row = {
        "id": number,
        "key": f"{act.kind}:{number}",
        "job": of,
        "kind": kind,
        "state": "sent",
        "asked_by": act.user,
        "raw": act.text,
    }
    return row | {"attempts": 1, "due_at": AT, "sent_at": AT, "claimed_until": None} | values


def digest(number: int, **values: Any) -> Row:
    """Return the row of a posted digest."""
    row = {
        "id": number,
        "user": "",
        "subscription": None,
        "channel": PRODUCT,
        "query": "2026-02-23",
    }
    return row | {"state": "answered"} | values


def book(number: int, message_number: int, act: Act, outcome: str) -> Row:
    """Return the docs service's row about one prompt."""
    row = {
        "job_id": f"job_{number}",
        "number": message_number,
        "prompt": act.text,
        "outcome": outcome,
    }
    return row | {"sent_at": AT}


def inquiry(number: int, act: Act, state: str, **values: Any) -> Row:
    """Return the row of a question about the docs."""
    row = {"id": number, "user": act.user, "channel": act.channel, "text": act.text, "state": state}
    return row | {"gap_key": act.target, "job": None, "thread_ts": None} | values


def add_questions(made: Record) -> None:
    """Add an open gap, and a question of a private channel."""
    made.done += [Done(act, AT, acknowledged=True) for act in (QUESTION, HIDDEN)]
    mark = Act(0.7, "on_answer", BEN, DOCS, "mk11", "did_not_help", "mk07")
    made.done.append(Done(mark, AT, acknowledged=True, pressed="1", ended_at=AT))
    made.rows["inquiries"] = [inquiry(1, QUESTION, "gap"), inquiry(2, HIDDEN, "answered")]
    made.rows["deliveries"] += [
        delivery("inquiry:1:answer", "post", id="asked-id", message_ts=QUESTION_TS),
        delivery("inquiry:2:answer", "private", user=ANA),
    ]
    payload = {"event_payload": {"delivery": "asked-id"}}
    made.messages.append(
        message("Rotate it", "1772442000.000810", None, thread_ts=QUESTION_TS)
        | {"metadata": payload}
    )
    button = {"action_id": "change_docs", "value": "2"}
    note = {"user": ANA, "channel": SECRET, "ts": ROOT, "text": "It means mk10"}
    made.private.append(note | {"blocks": [{"elements": [button]}]})


def add_said_beside(made: Record) -> None:
    """Add what Ana says beside her follow-up: an addition that joins it, and a late ``stop``."""
    made.done += [Done(act, AT, acknowledged=True) for act in (ADDITION, STOP)]
    joined = f"{FOLLOW_UP.text}\n\n{ADDITION.text}"
    made.rows["prompts"][2].update(raw=joined)
    made.service["messages"][2].update(prompt=joined)
    settled = dict.fromkeys(
        ("user", "text", "files", "omitted_parts", "parent_user", "app", "request")
    )
    made.rows["inbox"] = [{"id": 1, "state": "settled", "due_at": None} | settled]
    made.private.append({"user": ANA, "channel": DOCS, "ts": ROOT, "text": "The agent has it"})


def record() -> Record:
    """Return a correct record: two jobs with a follow-up, a question with a file, and two digests."""
    acts = (ASK, OTHER, VISITORS, DIGEST, WEEKLY, FOLLOW_UP)
    plan = Plan(1, "sqlite", "socket", 1, 0.1, "INFO", acts, ())
    return Record(
        plan,
        done=[Done(act, AT, acknowledged=True) for act in acts],
        messages=[*_first_thread(), *_second_thread(), *_numbers()],
        private=[
            {"user": ANA, "channel": DOCS, "ts": ROOT, "text": "Who read the docs"},
            {
                "user": BEN,
                "channel": PRODUCT,
                "ts": ROOT,
                "text": "Setting up a digest every Monday at 09:00 (UTC)…",
            },
        ],
        rows={
            "jobs": [job(1, ASK, "pull_request", ROOT), job(2, OTHER, "failed", OTHER_ROOT)],
            "prompts": [
                prompt(1, ASK, 1, "start"),
                prompt(2, OTHER, 2, "start"),
                prompt(3, FOLLOW_UP, 1, "follow_up"),
            ],
            "deliveries": _deliveries(),
            "questions": [
                {
                    "id": 1,
                    "user": ANA,
                    "channel": DOCS,
                    "state": "answered",
                    "query": '{"file_to": "channel"}',
                    "readings": "[1]",
                }
            ],
            "readings": [{"id": 1, "is_complete": True}],
            "digests": [digest(11, user=BEN), digest(12, subscription=1)],
            "back_offs": [],
            "subscriptions": [{"id": 1, "channel": PRODUCT, "owner": BEN, "state": "active"}],
        },
        service={
            "jobs": [
                {"id": "job_1", "archived_at": None, "pull_number": 1, "pull_end": None},
                {"id": "job_2", "archived_at": None, "pull_number": None, "pull_end": None},
            ],
            "builds": [],
            "messages": [
                book(1, 1, ASK, "changed"),
                book(2, 1, OTHER, "failed"),
                book(1, 2, FOLLOW_UP, "changed"),
            ],
        },
        log='{"event": "ready"}\n{"event": "job_ended", "job": 1}\n',
        secrets=("xoxb-sandbox",),
    )


def _first_thread() -> list[Json]:
    return [
        message(f":memo: *Pull request ready* · Job 1\n{ASK.text}\nasked by", ROOT, "status1"),
        message(f"<@{ANA}> :memo: Job 1 is done", "1772442000.000300", "end1", thread_ts=ROOT),
        message(
            f"<@{ANA}> :memo: Job 1: follow-up done", "1772442000.000500", "end3", thread_ts=ROOT
        ),
    ]


def _second_thread() -> list[Json]:
    return [
        message(f":x: *Failed* · Job 2\n{OTHER.text}\nasked by", OTHER_ROOT, "status2"),
        message(f"<@{BEN}> :x: Job 2 failed", "1772442000.000400", "end2", thread_ts=OTHER_ROOT),
    ]


def _numbers() -> list[Json]:
    file = {"name": "docs-visitors-0000file.csv"}
    return [
        message("All pages", "1772442000.000600", None, files=[file]),
        message("*Your docs 1*", "1772442000.000700", "digest", channel=PRODUCT),
        message(
            "Every Monday at 09:00 this channel", "1772442000.000750", "first", channel=PRODUCT
        ),
        message("*Your docs 1*", "1772442000.000800", "weekly", channel=PRODUCT),
    ]


def _deliveries() -> list[Row]:
    return [
        delivery("status1", "status", job=1),
        delivery("status2", "status", job=2),
        delivery("end1", "reply", job=1),
        delivery("end2", "reply", job=2),
        delivery("end3", "reply", job=1),
        delivery("answer", "private", user=ANA, question=1),
        delivery("file", "file", question=1),
        delivery("first", "post", channel=PRODUCT, user=BEN),
        delivery("weekly", "post", channel=PRODUCT, question=12),
        delivery("digest", "post", channel=PRODUCT, user=BEN, question=11),
    ]
