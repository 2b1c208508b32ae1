"""Nothing that strangers write is slow at any entrance: the time grows as the text does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from time import process_time
from typing import Any

import pytest

from bot.slack.block_text import MAX_CHARACTERS
from sandbox.workspace.state import BOT_USER
from tests.growth import LENGTHS, SIGNS, texts_of, too_slow
from tests.talk import Talk

pytestmark = pytest.mark.slow
FLOOR = 0.1
"""Seconds. What is quadratic takes half a second and more for 40,000 characters."""
MENTION = f"<@{BOT_USER}> "
Send = Callable[[Talk, str], Coroutine[Any, Any, object]]


async def _event(talk: Talk, **fields: Any) -> None:
    """Pass an event to the bot as Slack writes it, with a new timestamp."""
    ts = talk.slack.state.new_ts()
    event = {
        "type": "message",
        "user": talk.ana.id,
        "channel": talk.room("docs").id,
        "ts": ts,
        **fields,
    }
    event.setdefault("channel_type", "im" if event["channel"].startswith("D") else "channel")
    payload = {"type": "event_callback", "event_id": f"Ev{ts}", "team_id": "T1", "event": event}
    assert (await talk.receives(payload))[0] == 200


async def _mention(talk: Talk, text: str) -> None:
    await _event(talk, type="app_mention", text=MENTION + text)


async def _mention_in_thread(talk: Talk, text: str) -> None:
    await _event(talk, type="app_mention", text=MENTION + text, thread_ts="1700000000.000009")


async def _direct(talk: Talk, text: str) -> None:
    await _event(talk, channel=talk.room("dm").id, text=text)


async def _reply(talk: Talk, text: str) -> None:
    await _event(talk, text=text, thread_ts=talk.root()["ts"], parent_user_id=BOT_USER)


async def _edit(talk: Talk, text: str) -> None:
    ts = talk.slack.state.new_ts()
    before = {"type": "message", "user": talk.ana.id, "ts": ts, "text": f"{MENTION}Add {ts}"}
    await _event(talk, **{**before, "type": "app_mention"})
    edited = {**before, "text": MENTION + text, "edited": {"user": talk.ana.id, "ts": ts}}
    await _event(talk, subtype="message_changed", message=edited, previous_message=before)


async def _type(talk: Talk, command: str, text: str) -> None:
    payload = {
        "command": command,
        "text": text,
        "user_id": talk.ana.id,
        "channel_id": talk.room("docs").id,
    }
    payload |= {
        "trigger_id": talk.slack.state.new_ts(),
        "response_url": "https://hooks.slack.com/1",
    }
    assert (await talk.receives(payload))[0] == 200


async def _command(talk: Talk, text: str) -> None:
    await _type(talk, "/docs-agent", text)


async def _follow_up(talk: Talk, text: str) -> None:
    await _type(talk, "/docs-followup", f"1 {text}")


async def _link(talk: Talk, text: str) -> None:
    await _type(talk, "/docs-agent", f"status https://{text}")
    await _type(talk, "/docs-followup", f"https://{text} Add more")


async def _form(talk: Talk, text: str) -> None:
    await talk.ana.types("/docs-agent")
    await talk.ana.fills_in(prompt=text)
    talk.slack.state.views.clear()


async def _visitors(talk: Talk, text: str) -> None:
    await _type(talk, "/docs-visitors", text)


async def _subscription(talk: Talk, text: str) -> None:
    await _type(talk, "/docs-visitors", f"subscribe {text}")


ENTRANCES: dict[str, Send] = {
    entrance.__name__[1:]: entrance
    for entrance in (
        _mention,
        _mention_in_thread,
        _direct,
        _reply,
        _edit,
        _command,
        _follow_up,
        _link,
        _form,
        _visitors,
        _subscription,
    )
}
OPTIONS = (
    "at ",
    "csv ",
    "top 20 ",
    "compare ",
    "path /a ",
    "monday ",
    "project:acme ",
    "jobs ",
    "#a ",
)


async def _open() -> Talk:
    """Return a conversation with two projects and a job whose thread is known."""
    talk = Talk()
    await talk.process.starts(
        docs_projects='{"acme": {"id": "acme-docs"}, "other": {"id": "p-2"}}',
        waiting_per_person=1_000,
    )
    await talk.started()
    return talk


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_no_entrance_is_slow_on_what_strangers_write(entrance: str) -> None:
    with asyncio.Runner() as runner:
        talk = runner.run(_open())

        def seconds(text: str) -> float:
            talk.time.is_set(seconds=61)  # an equal text in less than a minute would not be stored
            began = process_time()
            runner.run(ENTRANCES[entrance](talk, text))
            return process_time() - began

        for text_of in texts_of([*SIGNS, *OPTIONS]):
            assert (slow := too_slow(seconds, text_of, FLOOR)) is None, slow
        runner.run(talk.close())


def test_no_worker_is_slow_on_what_strangers_write() -> None:
    with asyncio.Runner() as runner:

        def seconds(text: str) -> float:
            talk = runner.run(_open())
            # A longer text is refused as a whole.
            prompt = f"Add a page about limits: {text}"[:MAX_CHARACTERS]
            runner.run(_command(talk, prompt))
            began = process_time()
            runner.run(talk.works())
            took = process_time() - began
            assert len(talk.agent_got()) == 2
            runner.run(talk.close())
            return took

        for text_of in (*texts_of(SIGNS[::2]), _names):
            assert (slow := too_slow(seconds, text_of, FLOOR, LENGTHS[-1:])) is None, slow


def _names(length: int) -> str:
    """Return a text of that many characters with a new person in each word."""
    return " ".join(f"<@U{number:06}>" for number in range(length // 11))
