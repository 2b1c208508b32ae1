"""Requests at each stage, and what happens to their messages, authors and channels, through the door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import Enum

from bot.consequences import Event, Stage
from sandbox.workspace.state import Json
from tests.services import Hanging
from tests.talk import Talk
from tests.talk_people import Shown

BOT = "@docs-agent"
BEFORE = "Add a quickstart"
"""The prompt that Ben's or Ana's first job has, before the walk begins."""
QUOTA_SECONDS = 3_700


class RequestKind(Enum):
    """A kind of request, by what its message says and says after an edit."""

    PROMPT = (f"{BOT} Add a page on quotas", f"{BOT} Add a page on webhooks")
    FOLLOW_UP = ("Add a table of the plans", "Add a table of the regions")
    QUESTION = (f"{BOT} How do I rotate an API key?", f"{BOT} How do I delete an API key?")

    @property
    def old(self) -> str:
        return self.value[0].removeprefix(f"{BOT} ")

    @property
    def new(self) -> str:
        return self.value[1].removeprefix(f"{BOT} ")

    @property
    def call(self) -> str:
        """The kind of call by which the docs service gets it."""
        return {"PROMPT": "create", "FOLLOW_UP": "follow_up", "QUESTION": "answer"}[self.name]


@dataclass
class Walk:
    """One request of Ana's, at a stage."""

    talk: Talk
    kind: RequestKind
    message: Json
    hanging: Hanging | None = None
    """The call that is under way."""

    def got(self) -> list[str]:
        """Return the texts of Ana's message that the agent, or the docs' assistant, has got."""
        if self.kind is RequestKind.QUESTION:
            return [text for text, _ in self.talk.service.questions]
        return [text for text in self.talk.agent_got() if text != BEFORE]

    def told(self) -> list[Shown]:
        """Read Ana's new private answers and direct messages."""
        return self.talk.ana.reads()

    async def passes(self, seconds: float = 20.0) -> None:
        await self.talk.time.passes(seconds)


# ---- stages


async def _begin(talk: Talk, kind: RequestKind, uses_an_hour: int) -> None:
    await talk.process.starts(uses_an_hour=uses_an_hour)
    by = talk.ana if kind is RequestKind.FOLLOW_UP else talk.ben
    if kind is not RequestKind.QUESTION:
        await talk.started(BEFORE, by=by)


async def _say(talk: Talk, kind: RequestKind, text: str = "") -> Json:
    said = text or kind.value[0]
    if kind is RequestKind.FOLLOW_UP:
        return await talk.ana.replies(said)
    return await talk.ana.says(said)


async def _without_request(talk: Talk, kind: RequestKind) -> Walk:
    await _begin(talk, kind, 100)
    message = await _say(talk, kind, f"{BOT} thanks!")
    await talk.time.passes(12)
    return Walk(talk, kind, message)


async def _waiting(talk: Talk, kind: RequestKind) -> Walk:
    await _begin(talk, kind, 1)
    message = await _say(talk, kind)
    await talk.time.passes(12)
    return Walk(talk, kind, message)


async def _sending(talk: Talk, kind: RequestKind) -> Walk:
    await _begin(talk, kind, 100)
    hanging = talk.service.hangs(kind.call)
    message = await _say(talk, kind)
    await talk.time.passes(12)
    return Walk(talk, kind, message, hanging)


async def _unconfirmed(talk: Talk, kind: RequestKind) -> Walk:
    walk = await _sending(talk, kind)
    talk.process.dies()
    await talk.process.starts()
    await talk.time.passes(minutes=5)
    return walk


async def _sent(talk: Talk, kind: RequestKind) -> Walk:
    await _begin(talk, kind, 100)
    message = await _say(talk, kind)
    await talk.time.passes(20)
    return Walk(talk, kind, message)


async def _refused(talk: Talk, kind: RequestKind) -> Walk:
    await _begin(talk, kind, 100)
    talk.service.says(kind.call, 400)
    message = await _say(talk, kind)
    await talk.time.passes(20)
    return Walk(talk, kind, message)


async def _withdrawn(talk: Talk, kind: RequestKind) -> Walk:
    walk = await _waiting(talk, kind)
    await talk.ana.presses("Withdraw follow-up" if kind is RequestKind.FOLLOW_UP else "Withdraw")
    await talk.time.passes(5)
    return walk


async def _answered(talk: Talk, kind: RequestKind) -> Walk:
    walk = await _sent(talk, kind)
    await talk.ana.presses("Didn't help")
    await talk.time.passes(5)
    return walk


REACH: dict[Stage, Callable[[Talk, RequestKind], Awaitable[Walk]]] = {
    Stage.NO_REQUEST: _without_request,
    Stage.WAITING: _waiting,
    Stage.SENDING: _sending,
    Stage.UNCONFIRMED: _unconfirmed,
    Stage.SENT: _sent,
    Stage.REFUSED: _refused,
    Stage.WITHDRAWN: _withdrawn,
    Stage.OPEN_QUESTION: _sending,
    Stage.ANSWERED: _answered,
}
"""How a request comes to each stage."""


def kinds_at(stage: Stage) -> list[RequestKind]:
    """Return the kinds of requests that come to a stage."""
    if stage is Stage.NO_REQUEST:
        return list(RequestKind)
    if stage in (Stage.OPEN_QUESTION, Stage.ANSWERED):
        return [RequestKind.QUESTION]
    return [RequestKind.PROMPT, RequestKind.FOLLOW_UP]


# ---- events


async def _edit(walk: Walk) -> None:
    await walk.talk.ana.edits(walk.message, walk.kind.value[1])


async def _delete(walk: Walk) -> None:
    await walk.talk.ana.deletes(walk.message)


async def _take_back(walk: Walk) -> None:
    """Say ``stop`` where the message stands."""
    root = walk.message if walk.kind is not RequestKind.FOLLOW_UP else None
    word = "stop" if walk.kind is RequestKind.FOLLOW_UP else f"{BOT} stop"
    await walk.talk.ana.replies(word, to=root)


async def _forget(walk: Walk) -> None:
    await walk.talk.operator("forget", walk.talk.ana.id)


async def _exclude(walk: Walk) -> None:
    await walk.talk.process.stops()
    await walk.talk.process.starts(allowed_users=walk.talk.ben.id)


async def _archive(walk: Walk) -> None:
    walk.talk.room("docs").is_archived = True


CAUSE: dict[Event, Callable[[Walk], Awaitable[None]]] = {
    Event.EDITED: _edit,
    Event.DELETED: _delete,
    Event.WITHDRAWN: _take_back,
    Event.AUTHOR_FORGOTTEN: _forget,
    Event.AUTHOR_EXCLUDED: _exclude,
    Event.CHANNEL_GONE: _archive,
}
"""How each event comes about."""
