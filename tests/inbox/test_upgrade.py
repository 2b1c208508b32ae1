"""What was talk when it was said stays talk, also for a version of the bot that knows more words."""

from __future__ import annotations

import re

from bot.app import FEATURES
from bot.commands.command import Answer, Invocation, Word
from bot.commands.feature import Feature
from bot.context import Context
from bot.ids import Message
from tests.talk import Talk

_PUT_OFF = "Put off until tomorrow."


async def _put_off(_context: Context, _invocation: Invocation, _match: re.Match[str]) -> Answer:
    return Answer(message=Message(_PUT_OFF))


_WITH_LATER = (
    *FEATURES,
    Feature(agent_words=(Word("later", "later", "Puts a job off.", _put_off),)),
)
"""The features of a version to which "later" is a word of its own."""


async def upgrade(talk: Talk, *, by_kill: bool = False) -> None:
    """Replace the process by one of the next version, which reads conversations again."""
    if by_kill:
        talk.process.dies()
    else:
        await talk.process.stops()
    talk.process.features = _WITH_LATER
    await talk.process.starts()
    await talk.time.passes(60)


async def test_next_version_does_not_decide_about_old_talk(talk: Talk) -> None:
    await talk.finished()
    await talk.time.passes(hours=2)
    await talk.ana.replies("later")
    await talk.time.passes(hours=2)
    await upgrade(talk)
    assert talk.ana.reads() == []
    await talk.ana.replies("later")
    await talk.time.passes(20)
    assert talk.ana.reads() == [_PUT_OFF]


async def test_next_version_does_not_decide_about_talk_of_a_killed_one(talk: Talk) -> None:
    await talk.finished()
    await talk.ana.replies("later")
    await talk.hears()
    await upgrade(talk, by_kill=True)
    assert talk.ana.reads() == []


async def test_next_version_decides_about_what_nobody_has_heard(talk: Talk) -> None:
    await talk.finished()
    talk.process.dies()
    await talk.ana.replies("later")
    await talk.time.passes(minutes=20)
    await upgrade(talk, by_kill=True)
    assert talk.ana.reads() == [_PUT_OFF]
