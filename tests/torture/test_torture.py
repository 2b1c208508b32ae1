"""Plans depend on their seed only, the checker finds each failure, and real runs pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bot.commands.command import FormState
from bot.ids import ChannelId, JobNumber
from bot.jobs.messages.status_message import format_status_message
from bot.jobs.model.jobs import JobState
from sandbox.workspace import Workspace, WorkspaceOptions
from tests.limits import HANG_SECONDS
from tests.messages import samples
from tests.torture.__main__ import torture
from tests.torture.acting import Acting, find_form, is_status_message
from tests.torture.checker import check
from tests.torture.checks import Checks
from tests.torture.clocks import Clocks
from tests.torture.made_up import (
    ADDITION,
    ANA,
    ASK,
    AT,
    BEN,
    FOLLOW_UP,
    OTHER,
    OTHER_ROOT,
    QUESTION,
    ROOT,
    add_questions,
    add_said_beside,
    book,
    delivery,
    digest,
    inquiry,
    job,
    message,
    prompt,
    record,
)
from tests.torture.plan import (
    ADMIN,
    DISCOVERY_FAULTS,
    DOCS,
    HASTY,
    NATIVE_BLOCKS,
    PATIENT,
    POLL_FAULTS,
    PRODUCT,
    SHORT_MINUTE,
    SLACK_MINUTE,
    Act,
    Trouble,
    described,
)
from tests.torture.planning import make_marker, make_plan
from tests.torture.record import Done, Json, Record
from tests.torture.rolling import check_acknowledgements, roll

SEEDS = (1001, 1002, 1003)


@pytest.mark.parametrize("seed", range(20))
def test_same_seed_makes_same_plan(seed: int) -> None:
    assert make_plan(seed) == make_plan(seed)
    assert make_plan(seed) != make_plan(seed + 1)


def test_plan_has_line_for_each_act_and_fault() -> None:
    plan = make_plan(7)
    assert len(described(plan)) == 1 + len(plan.acts) + len(plan.troubles)


def test_plans_contain_each_kind_of_trouble() -> None:
    plans = [make_plan(seed) for seed in range(400)]
    troubles = [trouble for plan in plans for trouble in plan.troubles]
    kinds = {(trouble.side, trouble.kind) for trouble in troubles}
    assert {("bot", "kill"), ("bot", "term"), ("database", "gone"), ("database", "full")} <= kinds
    assert {
        ("database", "locked"),
        ("line", "closed"),
        ("line", "repeat"),
        ("docs", "stale_status"),
    } <= kinds
    assert {
        ("slack", "error:token_revoked"),
        ("slack", "lost_answer"),
        ("docs", "lost_answer"),
    } <= kinds
    assert {("line", "silent"), ("line", "refused"), ("week", "due")} <= kinds
    assert {("clock", "wrong"), ("clock", "outage")} <= kinds
    assert {True, False} == {trouble.seconds > 0 for trouble in troubles if trouble.kind == "wrong"}
    acts = {act.kind for plan in plans for act in plan.acts}
    assert {"weekly", "pull", "question", "inquire", "on_answer", "draft", "gaps"} <= acts
    assert {"edit", "delete", "addition", "stop"} <= acts
    assert {("docs", kind) for kind in (*POLL_FAULTS, *DISCOVERY_FAULTS)} <= kinds
    assert {plan.polls_pull_requests for plan in plans} == {True, False}
    assert {plan.limits for plan in plans} == {SLACK_MINUTE, SHORT_MINUTE}
    assert {plan.redeliver_after_seconds for plan in plans} == {PATIENT, HASTY}
    assert {(), NATIVE_BLOCKS} <= {plan.refused_blocks for plan in plans}
    assert {(plan.processes, plan.intake) for plan in plans} == {
        (processes, intake) for processes in (1, 2) for intake in ("socket", "http")
    }


def test_correct_run_passes_all_checks() -> None:
    checks = check(record())
    assert checks.complaints == []
    assert checks.made > 100
    assert checks.reported_ends == 3


def _outbox(made: Record, name: str) -> dict[str, Any]:
    return next(row for row in made.rows["deliveries"] if row["key"] == name)


def _say(made: Record, text: str, **values: Any) -> None:
    made.rows["deliveries"].append(delivery("more", "reply", job=1))
    made.messages.append(
        message(text, "1772442000.000900", "more", **{"thread_ts": ROOT, **values})
    )


def _spoil(table: str, number: int = 0, **values: Any) -> Callable[[Record], object]:
    return lambda made: made.rows[table][number].update(values)


def _add(table: str, row: dict[str, Any]) -> Callable[[Record], object]:
    return lambda made: made.rows[table].append(row)


def _given_up(made: Record) -> None:
    _outbox(made, "end2").update(state="dead", error="is_archived", key="job:2:iteration:1:end")
    _without("Job 2 failed")(made)


def _without(text: str) -> Callable[[Record], object]:
    def remove(made: Record) -> None:
        made.messages = [message for message in made.messages if text not in message["text"]]

    return remove


def _refused_unsaid(made: Record) -> None:
    made.rows["prompts"][2].update(state="refused")
    made.service["messages"].pop()


def _undecided(made: Record) -> None:
    made.rows["prompts"][0].update(state="unconfirmed")
    made.plan = replace(made.plan, decision="dismiss")


def _second_doubt(made: Record) -> None:
    """Leave out the question about the second unconfirmed attempt."""
    made.rows["prompts"][0].update(state="unconfirmed", sent_at=AT + timedelta(seconds=1))
    _say(made, f"<@{ANA}> :grey_question: nobody knows")


def _refused_and_told_once(made: Record) -> None:
    for number in (0, 2):
        made.rows["prompts"][number].update(state="refused")
    _say(made, f"<@{ANA}> :no_entry: no")


def _key_refused_twice(made: Record) -> None:
    for number in (2, 3):
        key = f"key:p:refused:{number}"
        made.rows["deliveries"].append(
            delivery(str(number), "private", user=ADMIN, seq=number, key=key)
        )


def _unanswered(made: Record) -> None:
    made.private.clear()
    made.rows["deliveries"].remove(_outbox(made, "answer"))


def _another_channel(made: Record) -> None:
    made.messages[-1]["channel"] = "C01DOCS"
    _outbox(made, "digest")["channel"] = "C01DOCS"


def _reply_dropped(made: Record) -> None:
    made.done[-1].acknowledged = False
    made.rows["prompts"].pop()
    made.service["messages"].pop()


def _direct_message_dropped(made: Record) -> None:
    """Let the bot acknowledge a direct message, and miss the next one."""
    for number, (marker, acknowledged) in enumerate((("mk06", True), ("mk07", False))):
        act = Act(0.5, "direct", ANA, "D01ANA", marker, f"Add {marker}")
        made.done.append(Done(act, AT, acknowledged=acknowledged, ts=f"1772442000.00080{number}"))


def _changed(kind: str, at: datetime, **prompt: str) -> Callable[[Record], None]:
    """Let the author of a mention change it, and the bot acknowledge this change."""

    def change(made: Record) -> None:
        act = Act(0.5, kind, BEN, OTHER.channel, "mk08", "", OTHER.marker)
        made.done.append(Done(act, AT, acknowledged=True, acknowledged_at=at))
        made.rows["prompts"][1].update(prompt)

    return change


def _merged(made: Record, review: str = "merged") -> None:
    """Let the pull request be merged, and the bot poll this."""
    made.service["jobs"][0]["pull_end"] = {"merged_by": "ana-b"}
    made.rows["jobs"][0]["review"] = review


def _told_twice(made: Record) -> None:
    _merged(made)
    for name in ("merged", "more"):
        made.rows["deliveries"].append(delivery(name, "reply", job=1))
        text = "The pull request of Job 1 was merged after 2 days."
        made.messages.append(
            message(text, f"1772442000.00{len(made.messages):04}", name, thread_ts=ROOT)
        )


def _preview(state: str, asks: int = 1) -> Callable[[Record], None]:
    def ask(made: Record) -> None:
        made.rows["previews"] = [{"job": 1, "state": state, "build_calls": asks}]

    return ask


def _typed_again(made: Record) -> None:
    made.done.append(Done(replace(ASK, kind="repeat", target=ASK.marker), AT, acknowledged=True))
    made.rows["prompts"].append(prompt(9, ASK, 1, "start"))


BREAKS: dict[str, Callable[[Record], object]] = {
    # Requests.
    "mk01: stored 2 times": _spoil("prompts", 1, raw="mk01 mk02"),
    "mk01: created 2 times": lambda made: made.service["messages"].append(
        book(3, 1, OTHER, "x") | {"prompt": "mk01"}
    ),
    "acknowledged, and not stored": lambda made: made.rows["prompts"].pop(1),
    "said that nothing was started": lambda made: setattr(made.done[0], "broken", True),
    "asked in C01DOCS, kept for": _spoil("jobs", channel=PRODUCT),
    "asked by U01ANA, kept as": _spoil("prompts", asked_by=BEN),
    "said to be sent 1 times, created 0": lambda made: made.service["messages"].pop(0),
    "refused, and created all the same": _spoil("prompts", state="refused"),
    "mk03: stored 2 times": _add("prompts", prompt(9, FOLLOW_UP, 1, "follow_up")),
    "mk03: sent 2 times": lambda made: made.service["messages"].append(
        book(1, 3, FOLLOW_UP, "changed")
    ),
    "a follow-up started a job": lambda made: made.service["messages"].append(
        book(1, 1, FOLLOW_UP, "changed")
    ),
    "which is another one": _spoil("prompts", 2, job=2),
    "arrived at the service's job": lambda made: made.service["messages"][2].update(job_id="job_2"),
    "said to be sent, and never arrived": lambda made: made.service["messages"].pop(),
    "refused, and sent all the same": _spoil("prompts", 2, state="refused"),
    "not stored, and nothing was said": lambda made: made.rows["prompts"].pop(),
    "in doubt, and nobody was asked": _spoil("prompts", state="unconfirmed"),
    "prompt 1 of #1: in doubt, and nobody was asked": _second_doubt,
    "2 prompts refused, told of 1": _refused_and_told_once,
    "in doubt without a reason": _spoil("prompts", state="unconfirmed"),
    "decided, and still in doubt": _undecided,
    "refused, and nobody was told": _refused_unsaid,
    "sent, and the job has no id": _spoil("jobs", service_id=None),
    "withdrawn, and nobody asked for that": _spoil("prompts", state="withdrawn"),
    "still waiting at the end": _spoil("prompts", state="waiting"),
    "nobody knows the service's job": lambda made: made.service["jobs"].append({"id": "job_9"}),
    # Messages.
    "end1: stands 2 times": lambda made: made.messages.append(dict(made.messages[1])),
    "end1: still pending": lambda made: _outbox(made, "end1").update(state="pending"),
    "given up with is_archived, which nobody ordered": _given_up,
    "end1: said to be sent, and stands nowhere": _without("<@U01ANA> :memo: Job 1 is done"),
    "end1: stands in": lambda made: made.messages[1].update(thread_ts=OTHER_ROOT),
    "nobody wrote that down before": lambda made: made.rows["deliveries"].remove(
        _outbox(made, "end1")
    ),
    "in a thread that is no job's": lambda made: _say(made, "Hello", thread_ts="1.1"),
    "in the thread of #1": lambda made: _say(made, "This is about Job 2"),
    "tells ['mk02'] in the thread": lambda made: _say(made, "You asked for mk02"),
    "Job 1: 2 roots": lambda made: made.messages.append(dict(made.messages[0])),
    "the root stands elsewhere": _spoil("jobs", status_ts="1.1"),
    "the root says": lambda made: made.messages[0].update(
        text=f":gear: *Working on it* · Job 1\n{ANA}"
    ),
    "3 ends told, the service had 2 rounds": lambda made: _say(
        made, f"<@{ANA}> :memo: Job 1 is done"
    ),
    "an end told nothing to {'U02BEN'}": _spoil("prompts", 2, asked_by=BEN),
    "told to somebody else": lambda made: made.messages[1].update(
        text=f"<@{BEN}> :memo: Job 1 is done"
    ),
    "Job 1: still working": _spoil("jobs", state="working"),
    "Job 1: still waiting": _spoil("jobs", state="waiting"),
    "the end of its last round was never told": _spoil(
        "jobs", iteration_started_at=AT + timedelta(seconds=1)
    ),
    "its end was never told": _without("Job 2 failed"),
    "could not be told and was not told alone": _given_up,
    "last told": lambda made: made.messages[4].update(text=f"<@{BEN}> :memo: Job 2 is done"),
    "the service says": lambda made: made.service["messages"][1].update(outcome="unchanged"),
    "ended, and the service knows no such job": lambda made: made.service["jobs"].pop(),
    "was told alone about mk02": lambda made: made.private.append(
        {"user": ANA, "channel": PRODUCT, "ts": ROOT, "text": "mk02"}
    ),
    "command mk01: stored 2 times": _typed_again,
    "the old text was sent after it": _changed("delete", AT - timedelta(seconds=1)),
    "it came too late, and its author was not told": _changed("edit", AT + timedelta(seconds=1)),
    "it counted, and the old text was sent": _changed(
        "edit", AT, raw="Also name mk08. It fails (mk02)"
    ),
    "it counted, and the old text was sent after it": _changed(
        "edit",
        AT - timedelta(seconds=2),
        raw="Also name mk08. It fails (mk02)",
        state="unconfirmed",
    ),
    # Pull requests.
    "the end of its pull request is told 2 times": _told_twice,
    "its pull request is open, and it is told that it is not": lambda made: _say(
        made, "The pull request of Job 1 was closed after 1 day without being merged."
    ),
    "its pull request is ended, and nobody was told": _merged,
    "merged, and shown as closed": lambda made: _merged(made, "closed"),
    "1 previews built at 0 presses": lambda made: made.service["builds"].append(
        {"job_id": "job_1"}
    ),
    "preview of job 1: still building": _preview("building"),
    "preview of job 1: asked for 3 times": _preview("missing", 3),
    "preview of job 1: ready, and not shown": _preview("ready"),
    # Visitors.
    "2 questions kept": _add(
        "questions",
        {"id": 2, "user": ANA, "channel": "C01DOCS", "state": "answered", "query": "{}"},
    ),
    "taken, 0 kept": lambda made: made.rows["questions"].pop(),
    "question 1: still waiting": _spoil("questions", state="waiting"),
    "heard nothing": _unanswered,
    "stands 2 times in C01DOCS": lambda made: made.messages.append(dict(made.messages[5])),
    "no file stands in": lambda made: made.messages[5].update(files=[]),
    "question 1: 2 files": _add(
        "deliveries", delivery("file", "file", id="0000file-2", question=1)
    ),
    "a file was wanted, and none was made": lambda made: made.rows["deliveries"].remove(
        _outbox(made, "file")
    ),
    "2 digests for": _add("digests", digest(13, user=BEN)),
    "1 digests taken of": lambda made: made.rows["digests"].pop(0),
    "digest 11: still waiting": _spoil("digests", state="waiting"),
    "digest 11: answered, and nothing was written": lambda made: made.rows["deliveries"].pop(),
    "digest 11: not posted": _spoil("digests", state="missed"),
    "answered twice": _add("deliveries", delivery("answer2", "private", user=ANA, question=1)),
    "a digest was written twice": _add(
        "deliveries", delivery("digest2", "post", channel=PRODUCT, question=11)
    ),
    "an admin was told of the key": _key_refused_twice,
    "where nobody asked": _another_channel,
    # Weekly.
    "said to be taken, and not stored": lambda made: made.rows["subscriptions"].pop(),
    "2 digests of the week": _add("digests", digest(13, subscription=1)),
    "subscription 1: nobody asked": _spoil("subscriptions", owner=ANA),
    "subscription 1: still proving": _spoil("subscriptions", state="proving"),
    "its week was never told": lambda made: made.rows["digests"].pop(),
    "subscription 1: paused, and nobody was told": _spoil("subscriptions", state="paused"),
    "subscription 1: ended, and nobody was told": _spoil("subscriptions", state="ended"),
    "digest 12: not posted, and U02BEN was not told": _spoil("digests", 1, state="missed"),
    "weekly: stands 2 times": lambda made: made.messages.append(dict(made.messages[-1])),
    # Messages whose events Slack dropped.
    "mk03: dropped, not stored": _reply_dropped,
    "mk07: dropped, and not read again": _direct_message_dropped,
    # Quiet.
    "acknowledgements that nobody saw": lambda made: made.slack.append(
        {"kind": "acknowledgement", "error": "no such block"}
    ),
    "a bot ended by itself": lambda made: made.complaints.append("a bot ended by itself"),
    "still open when the time was up": lambda made: made.moving.append("prompts 1"),
    "a secret in the log": lambda made: setattr(made, "log", "xoxb-sandbox"),
    "a prompt in the log": lambda made: setattr(made, "log", '{"text": "Add mk01"}'),
    "left behind": lambda made: setattr(made, "log", "Task exception was never retrieved"),
    "an error that nobody ordered": lambda made: setattr(
        made, "log", '{"exception": "Traceback\\nKeyError"}'
    ),
    "people see an error": lambda made: made.messages[1].update(
        text="Traceback (most recent call last)"
    ),
    "still to be looked at": _spoil("jobs", poll_at="2026-03-02"),
    "questions 1: still waiting": _spoil("questions", state="waiting"),
}


@pytest.mark.parametrize("complaint", BREAKS)
def test_checker_finds_broken_promise(complaint: str) -> None:
    made = record()
    BREAKS[complaint](made)
    complaints = check(made).complaints
    assert any(complaint in text for text in complaints), complaints


def _notify(made: Record, **job: Any) -> None:
    """Let the first job write a page on the gap, and its asker get a notice."""
    made.rows["jobs"][0].update({"gap": {"key": "mk08"}, "review": "merged"} | job)
    made.rows["inquiries"][0].update(state="notified", job=1)
    made.rows["deliveries"].append(delivery("inquiry:1:job:1:written", "private", user=BEN))


def _merge_untold(made: Record) -> None:
    _notify(made)
    made.rows["deliveries"].pop()
    made.service["jobs"][0]["pull_end"] = {"merged_by": "ana-b"}
    pull = Act(0.9, "pull", BEN, PRODUCT, "mk12", "merge", ASK.marker)
    made.done.append(Done(pull, AT + timedelta(seconds=1)))


QUESTION_BREAKS: dict[str, Callable[[Record], object]] = {
    "mk07: stored 2 times": lambda made: made.rows["inquiries"].append(
        inquiry(3, QUESTION, "answered")
    ),
    "mk07: acknowledged, and not stored": lambda made: made.rows["inquiries"].pop(0),
    "inquiry 2: nobody asked that": lambda made: made.done.pop(-2),
    "inquiry 1: still asked at the end": _spoil("inquiries", state="asked"),
    "inquiry 1: 0 answers": lambda made: made.rows["deliveries"].pop(-2),
    "inquiry 2: answered, and nobody saw it": lambda made: made.private.pop(),
    "inquiry 2: is gap, and nobody said so": _spoil("inquiries", 1, state="gap"),
    "inquiry 1: it did not help, and is no gap": _spoil("inquiries", state="answered"),
    "inquiry 1: is notified, told 0 times": _merge_untold,
    "inquiry 1: told of a page that nobody wrote": lambda made: _notify(made, review="closed"),
    "inquiry 1: told of job 1, which is private": lambda made: _notify(made, channel="C06TRIO"),
    "job 1 is merged, and its asker was not told": _merge_untold,
    "mk08: asked 1 times, 2 counted": lambda made: _say(
        made, "How do I rotate mk08? · asked 2 times"
    ),
    "mk10: asked in {'G04SECRET'}, shown in C01DOCS": lambda made: _say(made, "mk10"),
}


@pytest.mark.parametrize("complaint", QUESTION_BREAKS)
def test_checker_finds_wrong_answers_and_notices(complaint: str) -> None:
    made = record()
    add_questions(made)
    assert check(made).complaints == []
    QUESTION_BREAKS[complaint](made)
    assert [one for one in check(made).complaints if complaint in one]


def _refuse_press(made: Record) -> None:
    """Let the person who pressed under the first answer read that it did nothing."""
    made.rows["inquiries"][0].update(state="answered")
    text = ":no_entry: Slack didn't tell me who you are, so I did nothing."
    note = {"user": BEN, "channel": DOCS, "ts": "1772442000.000950", "text": text}
    made.private.append(note)


REFUSED_PRESS_BREAKS: dict[str, Callable[[Record], object]] = {
    "said to another person": lambda made: made.private[-1].update(user=ANA),
    "said in another channel": lambda made: made.private[-1].update(channel=PRODUCT),
    "said before the press": lambda made: made.private[-1].update(ts="1772441999.000950"),
    "something else was said": lambda made: made.private[-1].update(text="Noted."),
    "somebody else's press was taken": lambda made: made.done.append(
        replace(made.done[-1], act=replace(made.done[-1].act, user=ANA))
    ),
}


@pytest.mark.parametrize("case", REFUSED_PRESS_BREAKS)
def test_answer_that_did_not_help_is_no_gap_only_if_each_press_was_refused(case: str) -> None:
    made = record()
    add_questions(made)
    _refuse_press(made)
    assert check(made).complaints == []
    REFUSED_PRESS_BREAKS[case](made)
    assert check(made).complaints == ["inquiry 1: it did not help, and is no gap"]


def test_asker_is_not_told_after_refused_press() -> None:
    made = record()
    add_questions(made)
    _merge_untold(made)
    _refuse_press(made)
    assert not any("was not told" in complaint for complaint in check(made).complaints)


TAKEN_BACK = Act(0.6, "question", ANA, "D01ANA", "mk30", "What does mk31 mean?", "mk31")
TAKEN_BACK_STOP = Act(0.7, "stop", ANA, "D01ANA", "mk32", "stop", "mk33")


def _take_question_back(made: Record) -> None:
    """Let Ana ask a question in a direct message, and take it back before its answer."""
    made.done += [
        Done(TAKEN_BACK, AT, acknowledged=True, ts="1772442000.000900"),
        Done(TAKEN_BACK_STOP, AT, acknowledged=True, ts="1772442000.000910"),
    ]
    made.rows["inquiries"] = [
        inquiry(5, TAKEN_BACK, "dismissed", thread_ts="1772442000.000900"),
    ]
    key = "message:D01ANA:1772442000.000910:unsent"
    note = delivery("note", "private", key=key, channel="D01ANA", user=ANA)
    made.rows["deliveries"].append(note)
    text = ":leftwards_arrow_with_hook: Taken back: I won't answer it."
    made.messages.append(message(text, "1772442000.000920", "note", channel="D01ANA"))


TAKEN_BACK_BREAKS: dict[str, Callable[[Record], object]] = {
    "nobody said stop": lambda made: made.done.pop(),
    "somebody else said stop": lambda made: setattr(
        made.done[-1], "act", replace(TAKEN_BACK_STOP, user=BEN)
    ),
    "stop came before the question": _spoil("inquiries", thread_ts="1772442000.000915"),
    "the stop was answered by something else": lambda made: made.messages[-1].update(
        text="Taken back: nothing was sent."
    ),
    "the note answers another message": _spoil("deliveries", -1, key="message:D01ANA:1.1:unsent"),
}


@pytest.mark.parametrize("case", TAKEN_BACK_BREAKS)
def test_stop_takes_back_only_its_askers_earlier_question(case: str) -> None:
    made = record()
    _take_question_back(made)
    assert check(made).complaints == []
    TAKEN_BACK_BREAKS[case](made)
    complaints = check(made).complaints
    assert "inquiry 5: 0 answers" in complaints
    assert "inquiry 5: is dismissed, and nobody said so" in complaints


def test_stop_takes_back_one_question() -> None:
    made = record()
    _take_question_back(made)
    other = replace(TAKEN_BACK, marker="mk34", text="Where is mk31?")
    made.done.insert(-1, Done(other, AT, acknowledged=True, ts="1772442000.000890"))
    row = inquiry(6, other, "dismissed", thread_ts="1772442000.000890")
    made.rows["inquiries"].append(row)
    assert "inquiry 6: 0 answers" in check(made).complaints


def test_question_that_was_taken_back_is_not_answered() -> None:
    made = record()
    _take_question_back(made)
    answer = delivery("inquiry:5:answer", "post", id="late-id", channel="D01ANA")
    made.rows["deliveries"].append(answer)
    payload = {"event_payload": {"delivery": "late-id"}}
    late = message("It means so", "1772442000.000930", None, channel="D01ANA")
    made.messages.append(late | {"metadata": payload})
    assert "inquiry 5: is dismissed, and nobody said so" in check(made).complaints


def _taken_back_and_sent(made: Record) -> None:
    made.rows["prompts"][2].update(state="withdrawn", attempts=0)


def _add_lonely(made: Record) -> None:
    """Let the addition be acknowledged, and nothing come of it."""
    made.rows["prompts"][2].update(raw=FOLLOW_UP.text)
    _without_notes(made)


def _without_notes(made: Record) -> None:
    made.private = [note for note in made.private if note["user"] != ANA]


BESIDE_BREAKS: dict[str, Callable[[Record], object]] = {
    "addition mk20: stored 2 times": _add("prompts", prompt(9, ADDITION, 1, "follow_up")),
    "addition mk20: arrived 2 times": lambda made: made.service["messages"].append(
        book(1, 3, ADDITION, "changed")
    ),
    "addition mk20: said by U01ANA, kept as U02BEN": _spoil("prompts", 2, asked_by=BEN),
    "addition mk20: said in C01DOCS, kept for C03PRODUCT": _spoil("jobs", channel=PRODUCT),
    "addition mk20: said to be sent, and never": lambda made: made.service["messages"].pop(),
    "addition mk20: refused, and sent all the same": _spoil("prompts", 2, state="refused"),
    "addition mk20: acknowledged, not stored, and": _add_lonely,
    "stop of mk03: acknowledged, and nothing was said": _without_notes,
    "addition mk20: taken back, and sent all the same": _taken_back_and_sent,
    "message 1 is settled, and ['user'] are kept": _spoil("inbox", user=ANA),
    "message 1 is settled, and ['text'] are kept": _spoil("inbox", text="stop"),
}


@pytest.mark.parametrize("complaint", BESIDE_BREAKS)
def test_checker_finds_what_goes_wrong_beside_requests(complaint: str) -> None:
    made = record()
    add_said_beside(made)
    assert check(made).complaints == []
    BESIDE_BREAKS[complaint](made)
    assert [one for one in check(made).complaints if complaint in one]


@pytest.mark.parametrize(
    ("thread", "pressed", "is_asked_for"),
    [
        (None, ADDITION.marker, True),
        (None, ASK.marker, False),
        (ROOT, ASK.marker, True),
        (ROOT, OTHER.marker, False),
    ],
)
def test_addition_that_began_job_is_dismissed_in_its_thread(
    thread: str | None, pressed: str, *, is_asked_for: bool
) -> None:
    made = record()
    begun = job(3, ADDITION, "withdrawn", "1772442000.000950") | {"thread_ts": thread}
    made.rows["jobs"].append(begun)
    made.rows["prompts"].append(prompt(4, ADDITION, 3, "start", state="withdrawn"))
    press = Act(1.2, "press", ANA, ASK.channel, "mk22", "dismiss", pressed)
    made.done += [Done(act, AT, acknowledged=True) for act in (ADDITION, press)]
    complaint = "prompt 4 of #3: withdrawn, and nobody asked for that"
    assert (complaint not in check(made).complaints) is is_asked_for


@pytest.mark.parametrize(("user", "is_asked_for"), [(ANA, True), (BEN, True), ("U03CHIKA", False)])
def test_follow_up_is_stopped_by_its_author_or_the_requester(
    user: str, *, is_asked_for: bool
) -> None:
    made = record()
    made.rows["prompts"][2].update(asked_by=BEN, state="withdrawn")
    stop = Act(1.0, "stop", user, ASK.channel, "mk21", "stop", ASK.marker)
    made.done.append(Done(stop, AT, acknowledged=True))
    complaint = "prompt 3 of #1: withdrawn, and nobody asked for that"
    assert (complaint not in check(made).complaints) is is_asked_for


def test_quoted_request_is_not_created_again() -> None:
    made = record()
    quoting = {"prompt": f"Add an example\n\n> Title: {ASK.text}"}
    made.service["messages"].append(book(3, 1, OTHER, "x") | quoting)
    assert not [each for each in check(made).complaints if "mk01: created" in each]


def test_news_that_job_has_started_is_no_end() -> None:
    made = record()
    _say(made, f"<@{ANA}> :white_check_mark: Job 1 has started after all.")
    assert not [each for each in check(made).complaints if "ends told" in each]


def test_addition_may_begin_job_of_which_people_decide() -> None:
    made = record()
    made.done.insert(0, Done(ADDITION, AT, acknowledged=True))
    assert made.beginnings() == [ASK, OTHER, FOLLOW_UP, ADDITION]
    made.done[0].made = False
    assert made.beginnings() == [ASK, OTHER, FOLLOW_UP]


@pytest.mark.parametrize(
    ("is_deleted", "root", "is_fine"),
    [(True, ROOT, True), (False, ROOT, False), (True, OTHER_ROOT, False)],
)
def test_reply_reaches_job_in_the_thread_of_a_deleted_mention(
    root: str, *, is_deleted: bool, is_fine: bool
) -> None:
    made = record()
    mention = Act(0, "mention", ASK.user, ASK.channel, ASK.marker, ASK.text)
    made.done[0] = Done(mention, AT, acknowledged=True, ts=root)
    made.rows["jobs"][0].update(text="An addition, which was held with it")
    if is_deleted:
        made.done.append(Done(Act(0.6, "delete", ASK.user, ASK.channel, "", "", ASK.marker), AT))
    complaint = f"{FOLLOW_UP.kind} {FOLLOW_UP.marker}: went to job 1, which is another one"
    assert (complaint not in check(made).complaints) is is_fine


JOINED = Act(0.5, "reply", BEN, OTHER.channel, "mk22", "Also mention mk22", OTHER.marker)
MENTION_KEY = f"message:{OTHER.channel}:{OTHER_ROOT}"


def _join_reply(made: Record) -> None:
    """Let the author of a mention reply while it is held, so that one job begins with both."""
    joined = f"{OTHER.text}\n\n{JOINED.text}"
    made.done[1].ts = OTHER_ROOT
    made.done.append(Done(JOINED, AT, acknowledged=True))
    made.rows["prompts"][1].update(key=MENTION_KEY, raw=joined)
    made.rows["jobs"][1].update(text=joined)
    made.service["messages"][1].update(prompt=joined)


def _reply_acts(**values: Any) -> Callable[[Record], None]:
    def change(made: Record) -> None:
        made.done[-1].act = replace(JOINED, **values)

    return change


JOINED_BREAKS: dict[str, tuple[str, Callable[[Record], object]]] = {
    "job of another message": (
        "reply mk22: a follow-up started a job",
        _spoil("prompts", 1, key=f"message:{OTHER.channel}:1772442000.000900"),
    ),
    "job of a command": (
        "reply mk22: a follow-up started a job",
        _spoil("prompts", 1, key="command:1"),
    ),
    "of another person": (
        "reply mk22: a follow-up started a job",
        _reply_acts(user=ANA),
    ),
    "by a command": (
        "followup mk22: a follow-up started a job",
        _reply_acts(kind="followup"),
    ),
    "stored as a follow-up, too": (
        "reply mk22: stored 2 times",
        _add("prompts", prompt(9, JOINED, 2, "follow_up")),
    ),
    "sent again alone": (
        "reply mk22: arrived 2 times",
        lambda made: made.service["messages"].append(book(2, 2, JOINED, "failed")),
    ),
    "left out of what was sent": (
        "reply mk22: said to be sent, and never arrived",
        lambda made: made.service["messages"][1].update(prompt=OTHER.text),
    ),
}


@pytest.mark.parametrize("case", JOINED_BREAKS)
def test_reply_joins_only_held_request_of_its_author(case: str) -> None:
    complaint, spoil = JOINED_BREAKS[case]
    made = record()
    _join_reply(made)
    assert check(made).complaints == []
    spoil(made)
    assert complaint in check(made).complaints


def _decide_edit_again(made: Record) -> None:
    """Let a mention be refused before any try, and its edit begin a job."""
    edit = Act(0.5, "edit", BEN, OTHER.channel, "mk08", "", OTHER.marker)
    edited = replace(OTHER, text=f"{OTHER.text} Also name mk08.")
    said_at = AT - timedelta(seconds=5)
    made.done.append(Done(edit, said_at, acknowledged=True, acknowledged_at=said_at))
    made.rows["prompts"][1].update(key=MENTION_KEY, state="refused", attempts=0, sent_at=None)
    anew = prompt(9, edited, 2, "start", key=f"{MENTION_KEY}:1772441995.000000")
    made.rows["prompts"].append(anew)
    made.service["messages"][1].update(prompt=edited.text)
    made.private.append({"user": BEN, "channel": DOCS, "ts": ROOT, "text": ":no_entry: No"})
    wrong_clock = Trouble(0.1, "clock", "bots", "wrong", seconds=-60)
    made.plan = replace(made.plan, troubles=(wrong_clock,))


DECIDED_AGAIN_BREAKS: dict[str, tuple[str, Callable[[Record], object]]] = {
    "the first is sent, too": (
        "mention mk02: stored 2 times",
        _spoil("prompts", 1, state="sent"),
    ),
    "nobody edited it": (
        "mention mk02: stored 2 times",
        lambda made: made.done.pop(),
    ),
    "stored under a key of its own": (
        "mention mk02: stored 2 times",
        _spoil("prompts", -1, key="message:C01DOCS:1772441995.000000"),
    ),
    "stored a third time": (
        "mention mk02: stored 3 times",
        _add("prompts", prompt(10, OTHER, 2, "start")),
    ),
    "created twice": (
        "mention mk02: created 2 times",
        lambda made: made.service["messages"].append(book(2, 1, OTHER, "failed")),
    ),
    "the old text is sent": (
        "edit of mk02: acknowledged, and the old text was sent after it",
        lambda made: made.service["messages"][1].update(prompt=OTHER.text),
    ),
}


@pytest.mark.parametrize("case", DECIDED_AGAIN_BREAKS)
def test_edit_of_refused_message_is_one_more_request(case: str) -> None:
    complaint, spoil = DECIDED_AGAIN_BREAKS[case]
    made = record()
    _decide_edit_again(made)
    assert check(made).complaints == []
    spoil(made)
    assert complaint in check(made).complaints


def _refuse_addition(made: Record, refused_ts: str, text: str = ":no_entry: Not sent") -> None:
    """Let an addition come too late, and the bot reply in the thread to the message ``refused_ts``."""
    add_said_beside(made)
    addition = next(done for done in made.done if done.act == ADDITION)
    addition.ts = "1772442000.000850"
    _add_lonely(made)
    made.service["messages"][2].update(prompt=FOLLOW_UP.text)
    made.done = [done for done in made.done if done.act.kind != "stop"]
    _say(made, text)
    _outbox(made, "more").update(key=f"job:1:unsent:{refused_ts}")


@pytest.mark.parametrize(
    ("refused_ts", "text", "is_fine"),
    [
        ("1772442000.000850", ":no_entry: Not sent", True),
        ("1772442000.000840", ":no_entry: Not sent", False),
        ("1772442000.000850", "Hello", False),
    ],
)
def test_refusal_in_thread_answers_its_own_addition(
    refused_ts: str, text: str, is_fine: bool
) -> None:
    made = record()
    _refuse_addition(made, refused_ts, text)
    lost = "addition mk20: acknowledged, not stored, and nothing was said"
    assert (lost not in check(made).complaints) is is_fine


def test_edit_of_a_prompt_in_doubt_is_for_its_next_sending() -> None:
    made = record()
    _changed("edit", AT, raw="Also name mk08. It fails (mk02)", state="unconfirmed")(made)
    assert not [
        complaint for complaint in check(made).complaints if "the old text was sent" in complaint
    ]


NOT_SENT_AGAIN = f"<@{BEN}> :grey_question: Its words are taken back, so it isn't sent again."


@pytest.mark.parametrize(
    ("decision", "deleted", "text", "is_fine"),
    [
        ("send_again", OTHER.marker, NOT_SENT_AGAIN, True),
        ("dismiss", OTHER.marker, NOT_SENT_AGAIN, False),
        ("send_again", ASK.marker, NOT_SENT_AGAIN, False),
        ("send_again", OTHER.marker, f"<@{BEN}> :grey_question: Send it again?", False),
    ],
)
def test_doubtful_prompt_of_deleted_message_cannot_be_sent_again(
    decision: str, deleted: str, text: str, *, is_fine: bool
) -> None:
    made = record()
    made.plan = replace(made.plan, decision=decision)
    made.rows["prompts"][1].update(state="unconfirmed", raw=None)
    delete = Act(0.5, "delete", BEN, OTHER.channel, "mk08", "", deleted)
    made.done.append(Done(delete, AT))
    made.rows["deliveries"].append(delivery("doubt", "reply", job=2))
    made.messages.append(message(text, "1772442000.000900", "doubt", thread_ts=OTHER_ROOT))
    in_doubt = "prompt 2 of #2: decided, and still in doubt"
    assert (in_doubt not in check(made).complaints) is is_fine


def test_injected_refusal_explains_missing_message() -> None:
    made = record()
    _given_up(made)
    made.slack.append({"fault": "error:is_archived"})
    assert not any("nobody ordered" in complaint for complaint in check(made).complaints)


def test_database_trouble_explains_database_errors() -> None:
    made = record()
    made.log = '{"exception": "Traceback\\nsqlalchemy.exc.OperationalError"}'
    assert check(made).complaints
    trouble = Trouble(0.1, "database", "sqlite", "locked")
    made.plan = replace(made.plan, troubles=(trouble,))
    assert check(made).complaints == []


def test_mention_is_acknowledged_by_its_own_event(tmp_path: Path) -> None:
    workspace = Workspace(WorkspaceOptions(tmp_path))
    acting, done = Acting(workspace, Clocks(tmp_path / "clock")), Done(OTHER, AT, ts="1.1")
    entry = {"to": "bot", "kind": "event", "ts": "1.1", "at": AT.timestamp(), "seconds": 0.5}
    workspace.log.append(entry | {"event": "message", "acked": True})
    workspace.log.append(entry | {"event": "app_mention", "acked": False})
    acting.settle(done)
    assert not done.acknowledged
    workspace.log.append(entry | {"event": "app_mention", "acked": True})
    acting.settle(done)
    assert done.acknowledged_at == AT + timedelta(seconds=0.5)


def _form(channel: str, job: int | None = None, gap: tuple[str, str] | None = None) -> Json:
    """Return a form of Ana's as the workspace shows it."""
    state = FormState(ChannelId(channel), job=JobNumber(job) if job else None, gap=gap)
    callback_id = "run_again" if job else "ask"
    more = {"submit": {"type": "plain_text", "text": "Ask"}, "private_metadata": state.dumps()}
    return {"user": ANA, "callback_id": callback_id} | more


@pytest.mark.parametrize(
    ("act", "job", "place"),
    [
        (Act(1.0, "draft", ANA, "D01ANA", "mk50", "Add mk50"), None, 0),
        (Act(1.0, "draft", ANA, DOCS, "mk50", "Add mk50"), None, 1),
        (Act(1.0, "form", ANA, DOCS, "mk50", "Add mk50"), None, 2),
        (Act(1.0, "again", ANA, DOCS, "mk50", "Add mk50"), 7, 4),
        (Act(1.0, "form", ANA, PRODUCT, "mk50", "Add mk50"), None, None),
        (Act(1.0, "form", BEN, DOCS, "mk50", "Add mk50"), None, None),
    ],
)
def test_people_of_run_fill_in_the_form_that_they_opened(
    act: Act, job: int | None, place: int | None
) -> None:
    about = ("key", "How do I rotate mk08?")
    views = [_form("D01ANA", gap=about), _form(DOCS, gap=about), _form(DOCS)]
    views += [_form(DOCS, job=1), _form(DOCS, job=7)]
    callback_id = "run_again" if job else "ask"
    assert find_form(views, act, callback_id, job) == (None if place is None else views[place])


@pytest.mark.parametrize("state", JobState)
def test_people_of_run_recognise_status_message_by_marker(state: JobState) -> None:
    message = format_status_message(samples.job(state, text="Add a guide about mk47389570f4"))
    assert is_status_message(message.text, "mk47389570f4")
    assert not is_status_message(message.text, "mk00000000aa")


@pytest.mark.parametrize(
    ("error", "is_fine"),
    [("connection_failed", True), ("http_timeout", False), ("http_error", False)],
)
def test_unacknowledged_command_needs_broken_connection(error: str, is_fine: bool) -> None:
    made, checks = record(), Checks()
    made.slack = [{"kind": "command", "acked": False, "error": error, "seconds": 3.0}]
    check_acknowledgements(made, checks)
    assert (checks.complaints == []) is is_fine


@pytest.mark.slow
async def test_processes_restarted_in_turn_under_load_lose_and_repeat_nothing(
    tmp_path: Path,
) -> None:
    report = await roll(1, tmp_path, ack_seconds=HANG_SECONDS, prints=False)
    assert not report.failures, "\n".join(report.lines())
    assert (report.counts["restarts"], report.counts["kills"]) == (4, 2)
    assert report.counts["creates"] > 0


@pytest.mark.slow
async def test_runs_keep_every_promise(tmp_path: Path) -> None:
    report = await torture(SEEDS, 3, tmp_path, prints=False)
    assert not report.failures, "\n".join(report.lines())
    assert report.counts["creates"] > 0


@pytest.mark.parametrize("text", ["That digest is on its way already.", "Noted."])
def test_second_digest_may_be_missing_while_the_first_is_on_its_way(text: str) -> None:
    made = record()
    made.done.append(next(done for done in made.done if done.act.kind == "digest"))
    note = {"user": BEN, "channel": PRODUCT, "ts": "1772442000.000950", "text": text}
    made.private.append(note)
    complaints = [one for one in check(made).complaints if "digests taken of" in one]
    assert bool(complaints) is (text == "Noted.")


def test_every_marker_has_a_digit() -> None:
    """A word of letters alone can make a text unclear, which then starts no job."""

    class Letters(Random):
        def getrandbits(self, k: int, /) -> int:
            return int("bdacabadbe", 16)

    assert make_marker(Letters()) == "mkbdacabadb0"


@pytest.mark.parametrize("thread", [FOLLOW_UP.target, ""])
def test_follow_up_may_arrive_again_for_each_press_in_its_thread(thread: str) -> None:
    """A thread may show no marker any more: its status message has the title of a pull request."""
    made = record()
    again = Act(1.2, "press", ANA, DOCS, "", "send_again", thread)
    for _ in range(2):
        made.service["messages"].append(book(1, 3, FOLLOW_UP, "changed"))
    made.done += [Done(again, AT), Done(again, AT)]
    assert not [one for one in check(made).complaints if "times" in one]
    made.done.pop()
    assert "reply mk03: sent 3 times" in check(made).complaints


def test_part_of_a_request_may_arrive_again_with_its_other_part() -> None:
    made = record()
    part = Act(0.25, "direct", BEN, DOCS, "mk30", "Add a table on mk30")
    made.done.append(Done(part, AT, acknowledged=True))
    both = f"{OTHER.text}\n\n{part.text}"
    made.rows["jobs"][1]["text"] = both
    made.rows["prompts"][1]["raw"] = both
    created = book(2, 1, OTHER, "failed") | {"prompt": both}
    made.service["messages"][1] = created
    made.service["messages"].append(created)
    made.done.append(Done(Act(1.2, "press", BEN, DOCS, "", "send_again", OTHER.marker), AT))
    assert not [one for one in check(made).complaints if "created" in one]
    made.done.pop()
    complaints = check(made).complaints
    assert "direct mk30: created 2 times" in complaints
    assert "mention mk02: created 2 times" in complaints


def test_job_goes_on_without_the_deleted_direct_message_that_began_it() -> None:
    made = record()
    first = Act(0.05, "direct", ANA, DOCS, "mk31", "Add a table on mk31")
    made.done.append(Done(first, AT, acknowledged=True, ts=ROOT))
    made.done.append(Done(Act(0.07, "delete", ANA, DOCS, "", "", "mk31"), AT, acknowledged=True))
    made.rows["prompts"][0]["key"] = f"message:{DOCS}:{ROOT}"
    reply = replace(FOLLOW_UP, target="mk31")
    made.done[5] = replace(made.done[5], act=reply)
    assert not [one for one in check(made).complaints if "which is another one" in one]
    made.done.pop()
    assert [one for one in check(made).complaints if "which is another one" in one]
