"""Who may do what, where, and to whose work: everything that people can do, tried by each kind of person."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

import pytest

from bot.access.admit import not_allowed
from bot.access.model import Access
from bot.ids import ChannelId, UserId
from bot.jobs.model.jobs import JobState
from bot.jobs.model.prompts import PromptState
from bot.ports import Profile
from bot.visitors.model import QuestionState
from tests.access.acts import ACTS, WORDS, Act, Scene
from tests.access.door import ELSEWHERE, GROUP, PRIVATE, PUBLIC, Door, Row, know, open_door
from tests.builders import BEN

PAT = UserId("U0PAT")
"""Who acts. The work is Pat's own, or Ben's."""
_MOST_CASES = 735


class Who(StrEnum):
    """Pat is one of these."""

    MEMBER = "member"
    GUEST = "guest"
    STRANGER = "stranger"
    BOT = "bot"
    GONE = "gone"
    OUTSIDER = "outsider"
    """A member who is not in the room."""
    ADMIN = "admin"
    """An admin who is not in the room either."""


_REFUSED = {
    Who.GUEST: Profile(True, False, False, False),
    Who.BOT: Profile(False, True, False, False),
    Who.STRANGER: Profile(False, False, True, False),
    Who.GONE: Profile(False, False, False, True),
}


class Room(StrEnum):
    """Where the work is. A direct message is between its owner and the bot."""

    PUBLIC = PUBLIC
    PRIVATE = PRIVATE
    GROUP = GROUP
    DIRECT = "D0"


@dataclass(frozen=True)
class Case:
    """One cell of the table. ``is_known``: the bot knows already who Pat is."""

    who: Who
    act: Act
    room: Room
    is_own: bool
    is_known: bool = False

    def __str__(self) -> str:
        whose, known = "own" if self.is_own else "another's", " known" if self.is_known else ""
        return f"{self.who}{known}, {self.room.name.lower()}, {whose}: {self.act}"

    @property
    def owner(self) -> UserId:
        return PAT if self.is_own else BEN

    @property
    def channel(self) -> ChannelId:
        return ChannelId(f"D0{self.owner[2:]}" if self.room is Room.DIRECT else self.room)

    @property
    def is_inside(self) -> bool:
        """Whether Pat is in the room."""
        if self.room is Room.DIRECT:
            return self.is_own
        return self.who not in (Who.OUTSIDER, Who.ADMIN)

    @property
    def scene(self) -> Scene:
        mine = ChannelId(f"D0{PAT[2:]}")
        elsewhere = mine if self.room is Room.DIRECT else ELSEWHERE
        here = self.channel if self.is_inside else elsewhere
        return Scene(PAT, here, self.owner, self.who is not Who.OUTSIDER, self.who is Who.BOT)

    async def open(self) -> Door:
        """Return the door to the bot, with the work in its room."""
        admins = frozenset({PAT} if self.who is Who.ADMIN else ())
        door = await open_door(self.channel, self.owner, [PAT] if self.is_inside else [], admins=admins)
        if self.who in _REFUSED:
            door.office.slack.profiles[PAT] = _REFUSED[self.who]
            if self.is_known:
                await know(door, PAT, Access(self.who))
        return door


def _refused_cases() -> list[Case]:
    """Guests in every room; two of the others who may not in one, changing from act to act."""
    guests = [
        Case(Who.GUEST, act, room, is_own=(row + column) % 2 == 0)
        for row, act in enumerate(ACTS)
        for column, room in enumerate(Room)
    ]
    others = [
        Case(who, act, tuple(Room)[(row + turn) % 4], row // 4 % 2 == 0, is_known=(row + turn) % 5 < 2)
        for row, act in enumerate(ACTS)
        for turn, who in enumerate((Who.STRANGER, Who.BOT, Who.GONE))
        if (row + turn) % 3
    ]
    return [*guests, *others]


def _members_cases() -> list[Case]:
    return [Case(Who.MEMBER, act, tuple(Room)[row % 4], is_own=True) for row, act in enumerate(ACTS)]


def _cases_of_another(who: Who, *rooms: Room) -> list[Case]:
    """Somebody names what is in a room, and is another's."""
    named = [act for act in ACTS if act.names]
    return [Case(who, act, rooms[row % len(rooms)], is_own=False) for row, act in enumerate(named)]


REFUSED, MEMBERS = _refused_cases(), _members_cases()
OUTSIDERS = _cases_of_another(Who.OUTSIDER, Room.PRIVATE, Room.GROUP, Room.DIRECT)
LET_IN = [
    *(
        case
        for case in _cases_of_another(Who.ADMIN, Room.PRIVATE, Room.GROUP, Room.DIRECT)[1::2]
        if "unsubscribe" not in case.act.name  # which only works in the digest's channel
    ),
    # Among them who ends a digest.
    *_cases_of_another(Who.MEMBER, Room.PUBLIC, Room.PRIVATE, Room.GROUP)[::2],
]


def each(cases: list[Case]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("case", cases, ids=map(str, cases))


def test_the_table_stays_small() -> None:
    assert len([*REFUSED, *MEMBERS, *OUTSIDERS, *LET_IN]) <= _MOST_CASES


def left(before: set[Row], after: set[Row]) -> list[Row]:
    """Return the rows that are new or different, without what may stay of somebody who may not.

    That is what Slack said of them, that they were told, and Slack's pace. A conversation's newest message
    is a time that names nobody.
    """
    new = sorted(after - before, key=str)
    return [
        row for row in new if row[0] not in ("members", "paces", "conversations") and not _is_nothing(row)
    ]


def _is_nothing(row: Row) -> bool:
    """Return whether a row only says that somebody was told, or that a request was refused.

    A request is stored before it is decided, so its row stays. It has no text and names nobody.
    """
    table, values = row[0], dict(row[1])
    if table == "deliveries":
        return values["user"] == repr(PAT) and values["message"] == repr(None)
    if table == "snapshots":
        return values["wanted_until"] == values["planned_until"] == repr(None)
    is_empty = "Zebras" not in str(values) and repr(PAT) not in values.values()
    return is_empty and values.get("state") == _LEFT_AS.get(table)


_LEFT_AS = {
    "prompts": repr(PromptState.REFUSED.value),
    "jobs": repr(JobState.REFUSED.value),
    "questions": repr(QuestionState.MISSED.value),
}
"""The states in which refused requests stay."""


@each(REFUSED)
async def test_whoever_may_not_is_told_so_in_private_and_leaves_nothing(case: Case) -> None:
    door = await case.open()
    before, shown = await door.rows(), door.shown_to_all()
    await door.send(case.act.body(case.scene, case.act.about))
    after, told = await door.rows(), door.told(PAT)
    if case.act.takes_back:
        assert not [row for row in after - before if WORDS in str(row)]
        return
    assert left(before, after) == []
    assert {row for row in before - after if row[0] != "members"} == set(), "something was changed"
    assert door.shown_to_all() == shown
    assert door.opened.forms == []
    assert door.others_told(PAT) == []
    if _is_told(case):
        _assert_told(case, told)
    else:
        assert told == []
    await door.office.close()


def _is_told(case: Case) -> bool:
    """Return whether the bot is asked for something at all, by somebody who can be told anything."""
    act = case.act
    does_nothing = act.is_quiet or (act.is_change and not case.is_own)
    return not does_nothing and not (case.who is Who.BOT and act.is_message)


def _placeless(told: str) -> str:
    return re.sub(r" in (<#\w+>|that channel|direct messages)", "", told)


def _assert_told(case: Case, told: list[str]) -> None:
    why = not_allowed(Access(case.who)).text
    assert len(told) == 1
    assert why.partition(": ")[2] in _placeless(told[0])
    sent = case.act.body(case.scene, case.act.about)
    if "command" in sent and not case.act.is_query:
        typed = sent["text"]
        assert (WORDS if WORDS in typed else typed) in told[0], "the text is given back"


@each(MEMBERS)
async def test_whoever_may_gets_an_answer_or_has_done_something(case: Case) -> None:
    door = await case.open()
    before, shown = await door.rows(), door.shown_to_all()
    await door.send(case.act.body(case.scene, case.act.about))
    changed = [row for row in await door.rows() - before if row[0] not in ("members", "paces")]
    told = door.told(PAT)
    assert changed or told or door.opened.forms or door.shown_to_all() != shown, "the case tests nothing"
    refusals = [not_allowed(access).text for access in Access if access is not Access.MEMBER]
    assert not [each for each in told if any(_placeless(each).startswith(refusal) for refusal in refusals)]
    await door.office.close()


def _as_99(text: str, number: int) -> str:
    return re.sub(rf"\b{number}\b", "99", text)


@each(OUTSIDERS)
async def test_whoever_may_not_see_something_gets_the_words_for_what_is_unknown(case: Case) -> None:
    said = []
    for number in (case.act.about, 99):
        door = await case.open()
        before, shown = await door.rows(), door.shown_to_all()
        await door.send(case.act.body(case.scene, number))
        said.append([_as_99(each, number) for each in door.told(PAT)])
        assert left(before, await door.rows()) == []
        assert door.shown_to_all() == shown
        assert door.opened.forms == []
        assert door.others_told(PAT) == []
        await door.office.close()
    assert said[0]
    assert said[0] == said[1]


@each(LET_IN)
async def test_whoever_may_see_something_of_another_is_answered_about_it(case: Case) -> None:
    said = []
    for number in (case.act.about, 99):
        door = await case.open()
        before, shown = await door.rows(), door.shown_to_all()
        await door.send(case.act.body(case.scene, number))
        changed = [row for row in await door.rows() - before if row[0] not in ("members", "paces")]
        told = [_as_99(each, number) for each in door.told(PAT)]
        said.append((told, bool(changed), bool(door.opened.forms), door.shown_to_all() != shown))
        await door.office.close()
    assert said[0] != said[1]
