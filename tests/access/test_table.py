"""Who may do what, where, and to whose work: every act of the bot, tried by each kind of person."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from enum import StrEnum
from typing import Any

import httpx
import pytest

from bot.access.admit import not_allowed
from bot.access.model import Access
from sandbox.workspace.state import Json
from tests.access.acts import ACTS, WORDS, Act, Scene, dealt
from tests.services import ASSISTANT_KEY, DOMAIN, PULL_REQUEST
from tests.talk import Talk
from tests.talk_database import DATABASE_URL
from tests.talk_people import Person
from tests.work.readers import FIRST, LAST

Row = tuple[str, tuple[tuple[str, object], ...]]


class Room(StrEnum):
    """Where the work is. A direct message is between its owner and the bot."""

    PUBLIC = "public"
    PRIVATE = "private"
    GROUP = "group"
    DIRECT = "dm"


HIDDEN = (Room.PRIVATE, Room.GROUP, Room.DIRECT)
KINDS: dict[Access, dict[str, Any]] = {
    Access.GUEST: {"is_guest": True},
    Access.BOT: {"is_bot": True},
    Access.STRANGER: {"team_id": "T0OTHER"},
}
"""The profiles of people without access."""
_ACME = {"id": "acme-docs", "assistant_key": ASSISTANT_KEY, "assistant_domain": DOMAIN}
_PROJECTS = json.dumps({"acme": _ACME, "other": {"id": "other-docs"}})


async def arrange(
    talk: Talk, room: Room, *, is_own: bool, is_inside: bool = True, **settings: str
) -> Scene:
    """Let Pat or Ben have work in a room.

    Job 1 has a pull request, job 2 one that is reviewed, job 3 is unconfirmed, job 4 runs, and job 5 waits.
    There are an answer about visitors, an answered question about the docs, and a subscription.
    """
    pat = talk.newcomer("Pat")
    owner = pat if is_own else talk.ben
    flags = {"is_private": room in HIDDEN, "is_mpim": room is Room.GROUP}
    talk.opens_channel(room, owner, *([pat] if is_inside else [talk.chika]), **flags)
    talk.opens_channel("elsewhere", pat, talk.chika)
    await talk.process.starts(docs_projects=_PROJECTS, answers="search", **settings)
    mention = "" if room is Room.DIRECT else "@docs-agent "
    requests: dict[int, Json] = {}
    for number in range(1, 6):
        if number == 3:
            talk.service.answer_instead("create", httpx.ReadError("cut off"))
            await talk.process.stops()
            await talk.process.starts(poll_min_seconds=3_600, poll_max_seconds=3_600)
        if number == 5:
            talk.service.says("create", 429, seconds=36_000)
        requests[number] = await owner.says(f"{mention}Write page {number}", room)
        await talk.time.passes(12)
        if number < 3:
            await talk.ends()
    await owner.presses("Reviewed")
    talk.service.passages = [{"content": "Press Rotate", "path": "keys", "metadata": None}]
    talk.service.site.fill(5, FIRST, LAST)
    await owner.types("/docs-visitors last week compare none", room)
    await owner.types("/docs-agent ask How do I rotate the zinc key?", room)
    await owner.types("/docs-visitors subscribe friday 09:00 UTC", room)
    await talk.time.passes(10)
    talk.newer_version_writes("members.fingerprint", "another", all_rows=True)
    talk.time.is_set(minutes=6)  # now the bot asks Slack again for everybody's profile
    await talk.time.passes(20)
    here = room if is_inside else "dm" if room is Room.DIRECT else "elsewhere"
    return Scene(talk, pat, here, owner, requests if is_inside else {})


def rows() -> set[Row]:
    """Return all rows of the database, without those of clocks and of Slack's profiles."""
    with closing(sqlite3.connect(DATABASE_URL.removeprefix("sqlite:///"))) as database:
        database.row_factory = sqlite3.Row
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        ]
        return {
            (table, _compared(dict(row)))
            for table in set(tables)
            - {"members", "paces", "installation", "revision", "sqlite_sequence"}
            for row in database.execute(f'SELECT * FROM "{table}"')  # noqa: S608
        }


def _compared(row: dict[str, object]) -> tuple[tuple[str, object], ...]:
    """Return the columns without the numbers of deliveries, and without the time of the last change.

    Slack's silence about an author is counted from a refused edit, too.
    """
    ignored = {"said_at", "id"} if "seq" in row else {"said_at"}
    return tuple((name, value) for name, value in row.items() if name not in ignored)


def posts(talk: Talk) -> dict[str, Json]:
    """Return the bot's messages and everybody's private answers as they are now, by their keys."""
    state = talk.slack.state
    messages = [message for room in state.messages.values() for message in room.values()]
    shown = [message for message in messages if message["bot_id"]] + list(state.ephemerals.values())
    return {str(message.get("id") or message["ts"]): dict(message) for message in shown}


class Outcome:
    """The consequences of an act: rows, posts, calls, and private answers to the actor and to others."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._calls, self._posts, self._rows = self._public(), posts(scene.talk), rows()
        self.errors = ""

    def _public(self) -> tuple[object, ...]:
        """Return what others see besides posts, and what the docs service got."""
        talk = self._scene.talk
        reactions = [
            m["reactions"] for room in talk.slack.state.messages.values() for m in room.values()
        ]
        return list(talk.service.calls), [list(each) for each in reactions if each]

    async def of(self, act: Act, number: int) -> None:
        """Run an act, and note the differences that it makes."""
        scene, talk = self._scene, self._scene.talk
        done = await act.run(scene, number)
        await talk.time.passes(1.5)
        self.errors = str(done["errors"]) if isinstance(done, dict) and done.get("errors") else ""
        now, views = posts(talk), talk.slack.state.views
        new = [
            post for key, post in now.items() if key not in self._posts and post["text"] != WORDS
        ]
        mine = [post for post in new if self._is_for(post, scene.actor)]
        self.answers = [post["text"] for post in mine] + ([self.errors] if self.errors else [])
        self.posted = [post["text"] for post in new if post not in mine]
        self.posted += [
            post["text"] for key, post in now.items() if self._posts.get(key, post) != post
        ]
        self.forms = len(views)
        self.form_texts = str(views)
        views.clear()
        self.is_public = bool(self.posted) or self._public() != self._calls
        after = rows()
        self.new_rows, self.old_rows = after - self._rows, self._rows - after

    def _is_for(self, post: Json, person: Person) -> bool:
        is_direct = post["channel"] == self._scene.talk.slack.state.im_of(person.id).id
        return post.get("user") == person.id if "id" in post else is_direct


async def outcome_of(scene: Scene, act: Act, number: int | None = None) -> Outcome:
    outcome = Outcome(scene)
    await outcome.of(act, number or act.about)
    return outcome


def kept(outcome: Outcome, actor: Person) -> list[Row]:
    """Return the new rows, without those that may stay of somebody without access.

    These are notes that they got an answer, refused requests without a text or a name, and keys of messages.
    """
    return [row for row in outcome.new_rows if not _is_nothing(row, actor.id)]


def _is_nothing(row: Row, actor: str) -> bool:
    table, values = row[0], dict(row[1])
    if table == "deliveries":
        return values["user"] == actor and values["message"] is None
    is_empty = "Zebras" not in str(values) and actor not in values.values()
    if table == "inbox":
        return is_empty and values["state"] == "settled"
    return is_empty and values.get("state") in ("refused", "missed")


def refusal(access: Access) -> str:
    return not_allowed(access).text.partition(": ")[2]


def placeless(text: str) -> str:
    return re.sub(r" in (<#\w+>|that channel|direct messages)", "", text)


def arrives(act: Act, access: Access) -> bool:
    """Return whether Slack brings an act to the bot at all."""
    if access is Access.STRANGER:
        return act.is_message or act.is_button
    return access is not Access.BOT or not act.is_message


@pytest.mark.parametrize(
    ("access", "room", "is_own"),
    [
        *((Access.GUEST, room, room in (Room.PRIVATE, Room.DIRECT)) for room in Room),
        (Access.BOT, Room.PUBLIC, True),
        (Access.STRANGER, Room.PRIVATE, False),
    ],
)
async def test_people_without_access_get_a_refusal_and_leave_nothing(
    talk: Talk, access: Access, room: Room, is_own: bool
) -> None:
    scene = await arrange(talk, room, is_own=is_own, is_inside=room is not Room.DIRECT or is_own)
    vars(scene.actor.user).update(KINDS[access])
    has_answer = False
    for act in (act for act in ACTS if arrives(act, access)):
        outcome = await outcome_of(scene, act)
        if act.is_change:
            # What was said before stays as it was, or ends as refused.
            assert not [row for row in outcome.new_rows if WORDS in str(row)], act
            requests = [dict(row[1]) for row in outcome.new_rows if row[0] in ("jobs", "prompts")]
            assert {row["state"] for row in requests} <= {"refused", "withdrawn"}, act
        else:
            assert kept(outcome, scene.actor) == [], act
            assert outcome.old_rows == set(), act
        if act.takes_back:
            continue
        # The status message of a request that ends as refused says so.
        assert outcome.forms == 0, act
        assert not outcome.is_public or act.is_change, act
        if act.is_message:  # once an hour
            has_answer = has_answer or bool(outcome.answers)
            assert len(outcome.answers) <= 1, act
        else:
            assert len(outcome.answers) == 1, act
        for answer in outcome.answers:
            assert refusal(access) in placeless(answer), act
            if act.typed is not None and not act.is_query:
                assert (WORDS if WORDS in act.typed else act.typed.format(act.about)) in answer, act
    assert has_answer or access is Access.BOT
    talk.everything()


@pytest.mark.parametrize("room", Room)
async def test_members_get_an_answer_or_have_an_effect(talk: Talk, room: Room) -> None:
    scene = await arrange(talk, room, is_own=True)
    refusals = [placeless(refusal(access)) for access in Access if access is not Access.MEMBER]
    for act in dealt(ACTS, list(Room).index(room), len(Room)):
        outcome = await outcome_of(scene, act)
        is_effective = outcome.answers or outcome.new_rows or outcome.forms or outcome.is_public
        assert is_effective or act.is_quiet, act
        assert not [
            text for text in outcome.answers for why in refusals if why and why in placeless(text)
        ], act
    talk.everything()


def as_99(texts: Sequence[str], number: int) -> list[str]:
    return [re.sub(rf"\b{number}\b", "99", text) for text in texts]


NAMED = [act for act in ACTS if act.names]


@pytest.mark.parametrize("room", HIDDEN)
async def test_outsiders_get_the_same_answer_about_hidden_and_unknown_work(
    talk: Talk, room: Room
) -> None:
    scene = await arrange(talk, room, is_own=False, is_inside=False)
    for act in dealt(NAMED, HIDDEN.index(room), len(HIDDEN)):
        outcomes = [await outcome_of(scene, act, number) for number in (act.about, 99)]
        for outcome in outcomes:
            assert kept(outcome, scene.actor) == [], act
            assert (outcome.is_public, outcome.forms) == (False, 0), act
        assert outcomes[0].answers, act
        assert as_99(outcomes[0].answers, act.about) == outcomes[1].answers, act
    talk.everything()


SHARED = (Room.PUBLIC, Room.PRIVATE, Room.GROUP)


@pytest.mark.parametrize("room", SHARED)
async def test_members_of_the_room_get_answers_about_anothers_work(talk: Talk, room: Room) -> None:
    scene = await arrange(talk, room, is_own=False)
    for act in dealt(NAMED, SHARED.index(room), len(SHARED)):
        one, other = [await outcome_of(scene, act, number) for number in (act.about, 99)]
        assert _effects(one, act.about) != _effects(other, 99), act
    talk.everything()


WORK = ("Write page", "zinc key", PULL_REQUEST, "job-1")
"""Words of the work that `arrange` makes: prompts, a question, a result, and the service's id."""


@pytest.mark.parametrize("is_admin", [True, False])
@pytest.mark.parametrize("room", HIDDEN)
async def test_no_act_shows_outsiders_and_admins_a_word_of_hidden_work(
    talk: Talk, room: Room, is_admin: bool
) -> None:
    """Decisions of an admin are told in the room, and change nothing else that others see."""
    settings = {"admins": "UPAT"} if is_admin else {}
    scene = await arrange(talk, room, is_own=False, is_inside=False, **settings)
    before = len(talk.agent_got())
    for act in dealt(ACTS, HIDDEN.index(room), len(HIDDEN)):
        outcome = await outcome_of(scene, act)
        shown = str([*outcome.answers, outcome.form_texts])
        assert not [word for word in WORK if word in shown], act
    steered = [text for text in talk.agent_got()[before:] if "Write page" in text]
    # An admin may send the third job again, without reading it.
    assert steered in ([], ["Write page 3"] if is_admin else [])
    talk.everything()
    talk.log()  # digests of a project that the docs service does not know


def _effects(outcome: Outcome, number: int) -> tuple[object, ...]:
    answers = as_99(outcome.answers, number)
    return answers, bool(outcome.new_rows), outcome.forms, outcome.is_public
