"""A reply that comes while its root is being noted is never lost, whatever lies between two looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import pytest

from bot.commands.catalogue import take_message
from bot.ids import ChannelId, MessageTs, RequestKey
from bot.ports import Origin, ThreadReply
from bot.work.jobs.thread_events import TooEarly
from tests.builders import ANA, CHANNEL
from tests.work.office import BOT, Office

Result = TypeVar("Result")


@dataclass
class Noted:
    """A store in which the root is noted after the first look and before the second."""

    looks: int = 0

    async def read(self, look: Callable[[Any], Result]) -> Result:
        result = look(self)
        self.looks += 10
        return result

    @property
    def jobs(self) -> Self:
        return self

    @property
    def outbox(self) -> Self:
        return self

    @property
    def channels(self) -> Self:
        return self

    def present(self, channel: ChannelId) -> ChannelId:
        return channel

    def in_thread(self, _thread: object) -> str | None:
        self.looks += 1
        if self.looks > 1:
            raise FoundIt
        return None

    def face_being_posted(self, _channel: object) -> bool:
        self.looks += 1
        return self.looks == 1


class FoundIt(Exception):
    """The job was found."""


async def test_a_root_noted_between_two_looks_is_found(office: Office) -> None:
    context = replace(office.context, store=Noted())  # type: ignore[arg-type]
    said = Origin(RequestKey("1"), ANA, CHANNEL, thread=MessageTs("1.1"), message_ts=MessageTs("1.2"))
    reply = ThreadReply(said, "more", parent=BOT)
    with pytest.raises((FoundIt, TooEarly)):
        await take_message(context, reply)
