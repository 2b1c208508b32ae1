"""The bot behind its listeners, with one person's work in a room, for whoever comes and acts on it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from typing import Any, cast

from slack_bolt.request.async_request import AsyncBoltRequest
from slack_sdk.web.async_client import AsyncWebClient
from sqlalchemy import RowMapping, select
from sqlalchemy.sql.selectable import FromClause

from bot.access.model import Access, Members
from bot.answers.model import InquiryState
from bot.features import COMMANDS
from bot.ids import ChannelId, Message, ProjectId, UserId
from bot.jobs.catch_up import Gap
from bot.jobs.model.jobs import JobState, Review
from bot.jobs.model.prompts import PromptKind, PromptState
from bot.messages.blocks import section
from bot.projects import Project, Projects
from bot.slack.intake import Background
from bot.slack.listeners import build_app
from bot.slack.messenger import SlackMessenger
from bot.store import Transaction
from bot.visitors.model import Query, QuestionKind, QuestionState, SnapshotState, SubscriptionState
from bot.visitors.periods import Period
from bot.visitors.subscriptions import plan_digests
from tests import schema as s
from tests.builders import NOW, PROJECT, new_store
from tests.work.drains import answer_inquiries, answer_questions, deliver_due, prepare_prompts
from tests.work.office import BOT, Office

PUBLIC, PRIVATE, GROUP = ChannelId("C0PUBLIC"), ChannelId("G0PRIVATE"), ChannelId("G0GROUP")
ELSEWHERE = ChannelId("C0ELSE")
LATER = NOW + timedelta(hours=1)
"""Later than any test lasts, and not so far ahead that it counts as passed."""
"""When what is under way would go on: after the test."""
SAID_AT = {number: f"1700000000.00000{number}" for number in range(1, 6)}
"""The message that asked for each job; its thread has the job's face."""
FACE_AT = {number: f"1700000001.00000{number}" for number in range(1, 6)}
_STATES = (
    (JobState.PULL_REQUEST, PromptState.SENT),
    (JobState.UNCONFIRMED, PromptState.UNCONFIRMED),
    (JobState.WAITING, PromptState.WAITING),
    (JobState.WORKING, PromptState.SENT),
    (JobState.PULL_REQUEST, PromptState.SENT),
)
_REVIEWED = 5
"""Of this one's pull request somebody has said that it is not needed."""
_DECIDING = frozenset({"requests", "deliveries", "questions", "digests", "inquiries"})
Row = tuple[str, tuple[tuple[str, object], ...]]


class Opened(AsyncWebClient):
    """Slack's client, which keeps the forms that were opened."""

    def __init__(self) -> None:
        super().__init__("xoxb-none")
        self.forms: list[Any] = []

    async def views_open(self, **form: Any) -> Any:
        self.forms.append((form["trigger_id"], form["view"]))


class Door:
    """Slack's payloads go in here. The workers run that decide who may; none calls the docs service."""

    def __init__(self, office: Office) -> None:
        self.office = office
        self.opened = Opened()
        self.acknowledged: list[str] = []

    async def send(self, body: dict[str, Any]) -> None:
        """Send a payload as Slack does, and let the workers settle what came of it."""
        context, background = self.office.context, Background()
        app = build_app(
            context=context,
            client=self.opened,
            messenger=cast("SlackMessenger", self.office.slack),
            background=background,
            gap=Gap(context),
            count=lambda _what, _how: None,
            commands=COMMANDS,
        )
        answer = await app.async_dispatch(AsyncBoltRequest(body=body, mode="socket_mode"))
        assert answer.status == 200, body
        if answer.body:
            self.acknowledged.append(json.dumps(json.loads(answer.body), ensure_ascii=False))
        await background.drain(5)
        await self._settle()

    async def _settle(self) -> None:
        context = self.office.context
        for _ in range(6):
            if not (await context.store.find_due(context.clock)).queues & _DECIDING:
                return
            await prepare_prompts(context)
            await answer_questions(context)
            await plan_digests(context)
            await answer_inquiries(context)
            await deliver_due(context)
            self.office.clock.pass_seconds(1.1)

    async def rows(self) -> set[Row]:
        """Return all rows of the database, without what is random in them."""
        tables = s.metadata.sorted_tables

        def look(tx: Transaction) -> set[Row]:
            return {
                (table.name, _values(row))
                for table in tables
                for row in tx.connection.execute(select(cast("FromClause", table))).mappings()
            }

        return await self.office.store.read(look)

    def shown_to_all(self) -> tuple[object, ...]:
        """Return what others than one person have seen, and what the docs service got."""
        slack, docs = self.office.slack, self.office.docs
        edits = {ts: list(edits) for ts, edits in slack.edits.items()}
        seen = (slack.posts, edits, slack.reactions, slack.files, slack.joined, docs.prompts, docs.calls)
        return tuple(map(repr, seen))

    def told(self, user: UserId) -> list[str]:
        """Return what one person was told in private: texts, and the errors of a form."""
        slack = self.office.slack
        by_url = [message for url, message in slack.private if url == url_of(user)]
        whispers = [message for _, _, who, message in slack.whispers if who == user]
        direct = [message for who, message, _ in slack.direct if who == user]
        return [*self.acknowledged, *map(_words, [*by_url, *whispers, *direct])]

    def others_told(self, user: UserId) -> list[str]:
        """Return what anybody else was told in private."""
        slack = self.office.slack
        by_url = [message for url, message in slack.private if url != url_of(user)]
        whispers = [message for _, _, who, message in slack.whispers if who != user]
        direct = [message for who, message, _ in slack.direct if who != user]
        return list(map(_words, [*by_url, *whispers, *direct]))


def _words(message: Message) -> str:
    return message.text


def _values(row: RowMapping) -> tuple[tuple[str, object], ...]:
    return tuple((str(name), repr(value)) for name, value in row.items() if name != "id" or "seq" not in row)


def url_of(user: UserId) -> str:
    """Return where Slack takes private answers to a person."""
    return f"https://hooks.slack.com/commands/T0/{user}"


async def open_door(room: ChannelId, owner: UserId, inside: Iterable[UserId], **policy: Any) -> Door:
    """Return the bot's door, with the owner's work in a room of which all of these are members.

    Job 1 has a pull request to review, job 2 is unconfirmed, job 3 waits, and job 4 runs. Question 1 has its
    answer, question 2 is being read. A subscription is about to begin.
    """
    office = Office(await new_store())
    other = Project(ProjectId("other"), "other", "Other")
    office.context = replace(
        office.context, projects=Projects((Project(PROJECT, "acme", "Acme"), other), serves_former=True)
    )
    office.access_policy(**policy)
    if room != PUBLIC:
        office.slack.private_rooms = {room: frozenset({owner, BOT, *inside})}
    await office.store.write(lambda tx: _fill(tx, room, owner))
    return Door(office)


async def know(door: Door, user: UserId, access: Access) -> None:
    """Let the bot know somebody already."""
    rule, clock = door.office.context.access_policy.rule, door.office.clock
    await door.office.store.write(lambda tx: Members(tx).remember(user, access, rule, clock()))


def _fill(tx: Transaction, room: ChannelId, owner: UserId) -> None:
    run = tx.connection.execute
    for number, (job, prompt) in enumerate(_STATES, 1):
        said_at, text = SAID_AT[number], f"Write page {number}"
        values: dict[str, Any] = {"number": number, "project": PROJECT, "channel": room, "requester": owner}
        values |= {"text": text, "asked_at": NOW, "state": job, "root_ts": FACE_AT[number]}
        values |= {"thread_ts": said_at, "poll_at": LATER if job is JobState.WORKING else None}
        values |= {"pr_link": "https://code.example/1", "iteration": 1, "service_id": f"job-{number}"}
        values |= {"review": Review.NOT_NEEDED if number == _REVIEWED else None}
        run(s.jobs.insert().values(also_asked=[], **values))
        asked: dict[str, Any] = {"job": number, "project": PROJECT, "kind": PromptKind.START}
        asked |= {"key": f"message:{room}:{said_at}", "state": prompt, "asked_by": owner, "raw": text}
        asked |= {"text": text, "asked_at": NOW, "due_at": LATER, "channel": room, "message_ts": said_at}
        run(s.prompts.insert().values(attachments="", sent_at=NOW, **asked))
    _fill_visitors(tx, room, owner)


def _fill_visitors(tx: Transaction, room: ChannelId, owner: UserId) -> None:
    run, week = tx.connection.execute, (NOW.date() - timedelta(days=9), NOW.date() - timedelta(days=2))
    for state in (SnapshotState.DONE, SnapshotState.REQUESTED):
        first = week[0] if state is SnapshotState.DONE else week[0] - timedelta(days=7)
        values: dict[str, Any] = {"project": PROJECT, "first": first, "end": week[1], "is_final": True}
        values |= {"generation": state, "state": state, "with_pages": True}
        counts = {"human": 5, "ai": 7, "total": 12, "rows": 1, "complete": True, "taken_at": NOW}
        values |= counts if state is SnapshotState.DONE else {}
        run(s.snapshots.insert().values(created_at=NOW, due_at=LATER, **values))
    page = {"snapshot": 1, "hash": "h", "path": "/start", "human": 5, "ai": 7, "total": 12}
    run(s.page_visitors.insert().values(**page))
    query = Query(Period(*week), None)
    links = [{"question": number, "position": 0, "snapshot": number} for number in (1, 2)]
    for number, answered in ((1, QuestionState.ANSWERED), (2, QuestionState.WAITING)):
        asked: dict[str, Any] = {"key": f"q{number}", "project": PROJECT, "channel": room, "user": owner}
        asked |= {"kind": QuestionKind.VISITORS, "query": query, "state": answered, "now": number}
        run(s.questions.insert().values(due_at=LATER, chart=[], asked_at=NOW, **asked))
        inquiry: dict[str, Any] = {"key": f"i{number}", "project": PROJECT, "channel": room, "user": owner}
        inquiry |= {"text": "How?", "gap_key": "how", "state": InquiryState.GAP, "asked_at": NOW}
        run(s.inquiries.insert().values(due_at=LATER, answer=Message("Thus", (section("Thus"),)), **inquiry))
    run(s.question_snapshots.insert(), links)
    order: dict[str, Any] = {"place": f"{PROJECT} {room}", "project": PROJECT, "channel": room}
    order |= {"weekday": 0, "at": "09:00", "zone": "UTC", "owner": owner, "state": SubscriptionState.ACTIVE}
    run(s.subscriptions.insert().values(next_run_at=NOW + timedelta(days=2), created_at=NOW, **order))
