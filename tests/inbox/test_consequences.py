"""Every cell of the table of events, through the door: prompts, follow-ups and questions."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from bot.consequences import CONSEQUENCES, Consequence, Event, Stage
from tests.inbox.walk import CAUSE, QUOTA_SECONDS, REACH, RequestKind, Walk, kinds_at
from tests.limits import HANG_SECONDS
from tests.services import answer_stream
from tests.talk import Talk
from tests.talk_messages import change_channel_id

CELLS = [
    pytest.param(kind, stage, event, id=f"{kind.name.lower()}-{stage}-{event}".replace(" ", "_"))
    for stage, events in CONSEQUENCES.items()
    for event in events
    for kind in kinds_at(stage)
]
_HAS_IT = {Stage.SENT, Stage.ANSWERED}
"""Stages at which the agent, or the docs' assistant, has got the text as it was."""


@pytest.fixture
def talk(talk: Talk) -> Talk:
    """Return a conversation with a bot that may ask the docs."""
    talk.process.answers_questions()
    return talk


def got_before(walk: Walk, stage: Stage) -> list[str]:
    return [walk.kind.old] if stage in _HAS_IT else []


def bots_buttons(walk: Walk) -> list[str]:
    """Return the buttons of the bot's messages in the channel."""
    shown = [*walk.talk.channel(), *walk.talk.all_replies()]
    return [label for message in shown for label in message.buttons]


def end_the_call(walk: Walk, *, is_taken: bool) -> None:
    """Let the call that is under way end: the service has taken the text, or is too busy."""
    if walk.hanging is None or walk.hanging.answer.done():
        return
    if walk.kind is RequestKind.QUESTION:
        walk.hanging.answer.set_result(answer_stream("The old answer."))
    elif is_taken:
        walk.hanging.comes(id="job-1", status="active", prLink=None)
    else:
        walk.hanging.comes(429, error="slow")


async def decides_again(walk: Walk, stage: Stage, _event: Event) -> None:
    await walk.passes()
    if stage is Stage.UNCONFIRMED:
        await walk.talk.ana.presses("Send again")
    end_the_call(walk, is_taken=False)
    await walk.passes(QUOTA_SECONDS)
    assert walk.got() == [*got_before(walk, stage), walk.kind.new]
    assert "The old answer" not in walk.talk.everything()


async def makes_anew(walk: Walk, stage: Stage, _event: Event) -> None:
    """Nothing is left of a request without messages."""
    await walk.passes()
    if stage is Stage.UNCONFIRMED:
        labels = bots_buttons(walk)
        assert "Dismiss" in labels
        assert "Send again" not in labels
    await walk.passes(QUOTA_SECONDS)
    assert walk.got() == []


async def waits(walk: Walk, _stage: Stage, event: Event) -> None:
    await walk.passes(3)
    assert walk.told() == []
    end_the_call(walk, is_taken=False)
    await walk.passes(QUOTA_SECONDS)
    assert walk.got() == ([walk.kind.new] if event is Event.EDITED else [])


async def informs(walk: Walk, stage: Stage, event: Event) -> None:
    await walk.passes()
    [note] = walk.told()
    assert "agent" in note
    may_be_quiet = event is not Event.EDITED and stage is Stage.SENT
    assert not may_be_quiet or "Keep quiet about it" in note.buttons
    end_the_call(walk, is_taken=True)
    await walk.passes(QUOTA_SECONDS)
    assert walk.told() == []
    assert walk.got() == got_before(walk, stage)
    assert "Withdrawn" not in walk.talk.everything()


async def takes_back(walk: Walk, stage: Stage, event: Event) -> None:
    await walk.passes()
    told = walk.told()
    end_the_call(walk, is_taken=True)
    await walk.passes(QUOTA_SECONDS)
    assert walk.got() == got_before(walk, stage)
    assert "The old answer" not in walk.talk.everything()
    if event is Event.WITHDRAWN:
        assert "Taken back" in told[-1]
    gaps = await walk.talk.ben.answer_to("/docs-agent gaps")
    assert walk.kind.old not in gaps


async def refuses(walk: Walk, stage: Stage, _event: Event) -> None:
    end_the_call(walk, is_taken=False)
    await walk.passes(QUOTA_SECONDS)
    refusals = [note for note in walk.told() if note.startswith(":no_entry:")]
    assert len(refusals) == 1
    assert walk.got() == got_before(walk, stage)


async def goes_on(walk: Walk, stage: Stage, _event: Event) -> None:
    end_the_call(walk, is_taken=True)
    await walk.passes()
    assert "Withdrawn" not in walk.talk.everything()
    assert walk.got() == got_before(walk, stage)


async def does_nothing(walk: Walk, stage: Stage, _event: Event) -> None:
    before = walk.got()
    await walk.passes(QUOTA_SECONDS)
    assert walk.got() == before == got_before(walk, stage)


CHECKS: dict[Consequence, Callable[[Walk, Stage, Event], Awaitable[None]]] = {
    Consequence.DECIDE_AGAIN: decides_again,
    Consequence.MAKE_ANEW: makes_anew,
    Consequence.WAIT: waits,
    Consequence.INFORM: informs,
    Consequence.TAKE_BACK: takes_back,
    Consequence.REFUSE: refuses,
    Consequence.GO_ON: goes_on,
    Consequence.NOTHING: does_nothing,
}


@pytest.mark.parametrize(("kind", "stage", "event"), CELLS)
async def test_event_has_its_consequence(
    talk: Talk, kind: RequestKind, stage: Stage, event: Event
) -> None:
    walk = await REACH[stage](talk, kind)
    talk.everything()
    await CAUSE[event](walk)
    await CHECKS[CONSEQUENCES[stage][event]](walk, stage, event)
    talk.everything()
    talk.errors()


# ---- what happens to the channel, to the process, and in the end


@pytest.mark.parametrize("kind", [RequestKind.PROMPT, RequestKind.FOLLOW_UP])
async def test_waiting_change_follows_its_channel_to_another_id(
    talk: Talk, kind: RequestKind
) -> None:
    walk = await REACH[Stage.WAITING](talk, kind)
    await change_channel_id(talk, "docs")
    await walk.passes(QUOTA_SECONDS)
    assert walk.got() == [kind.old]
    talk.everything()


async def test_sent_change_follows_its_channel_to_another_id(talk: Talk) -> None:
    walk = await REACH[Stage.SENT](talk, RequestKind.PROMPT)
    await change_channel_id(talk, "docs")
    await talk.ana.replies("Add a table of the plans", to=walk.message)
    await walk.passes()
    assert walk.got() == [RequestKind.PROMPT.old, "Add a table of the plans"]
    talk.everything()


async def test_open_question_is_answered_in_its_channel_with_another_id(talk: Talk) -> None:
    walk = await REACH[Stage.OPEN_QUESTION](talk, RequestKind.QUESTION)
    await change_channel_id(talk, "docs")
    end_the_call(walk, is_taken=True)
    async with asyncio.timeout(HANG_SECONDS):
        while not talk.kept("The old answer"):  # a thread reads it, for which no clock waits
            await asyncio.sleep(0.01)
    await walk.passes()
    assert "The old answer" in talk.thread(walk.message)[-1]
    talk.everything()


async def test_gap_is_listed_in_its_channel_with_another_id(talk: Talk) -> None:
    await REACH[Stage.ANSWERED](talk, RequestKind.QUESTION)
    await change_channel_id(talk, "docs")
    assert RequestKind.QUESTION.old in await talk.ben.answer_to("/docs-agent gaps")
    talk.everything()


@pytest.mark.parametrize("kind", RequestKind)
async def test_message_of_a_process_that_dies_at_once_is_decided_once(
    talk: Talk, kind: RequestKind
) -> None:
    await REACH[Stage.NO_REQUEST](talk, kind)
    root = talk.root() if kind is RequestKind.FOLLOW_UP else None
    text = kind.value[1]
    message = await (talk.ana.replies(text, to=root) if root else talk.ana.says(text))
    talk.process.dies()
    await talk.process.starts()
    walk = Walk(talk, kind, message)
    await walk.passes(300)
    assert walk.got() == [kind.new]
    talk.everything()


@pytest.mark.parametrize("kind", [RequestKind.PROMPT, RequestKind.FOLLOW_UP])
async def test_waiting_change_goes_once_after_the_process_has_died(
    talk: Talk, kind: RequestKind
) -> None:
    walk = await REACH[Stage.WAITING](talk, kind)
    talk.process.dies()
    await talk.process.starts()
    await walk.passes(QUOTA_SECONDS)
    assert walk.got() == [kind.old]
    talk.everything()


async def test_open_question_is_asked_again_after_the_process_has_died(talk: Talk) -> None:
    walk = await REACH[Stage.OPEN_QUESTION](talk, RequestKind.QUESTION)
    talk.process.dies()
    await talk.process.starts()
    await walk.passes(300)
    assert walk.got() == [RequestKind.QUESTION.old]
    assert len([post for post in talk.thread(walk.message) if "Rotate" in post]) == 1
    talk.everything()


@pytest.mark.parametrize(
    ("kind", "stage"),
    [
        (RequestKind.PROMPT, Stage.REFUSED),
        (RequestKind.PROMPT, Stage.WITHDRAWN),
        (RequestKind.QUESTION, Stage.ANSWERED),
    ],
)
async def test_words_and_author_go_when_the_days_to_keep_are_over(
    talk: Talk, kind: RequestKind, stage: Stage
) -> None:
    walk = await REACH[stage](talk, kind)
    await talk.time.passes(days=182)
    await talk.time.passes(hours=3)
    assert talk.kept(kind.old) == []
    assert [name for name in talk.kept(talk.ana.id) if name.startswith("inbox.")] == []
    assert walk.message
    talk.everything()
