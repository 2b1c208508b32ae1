"""Nothing that strangers write is slow at any entrance: the time grows as the text does."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from time import process_time
from typing import Any

import pytest

from bot.commands.command import FormState
from bot.ids import ChannelId, MessageTs, ProjectId
from bot.jobs.corrections import take_change
from bot.ports import Changed, ts_at
from bot.projects import Project, Projects
from tests.builders import CHANNEL, NOW, PROJECT, new_store, origin
from tests.growth import LENGTHS, SIGNS, texts_of, too_slow
from tests.work.office import BOT, Office

pytestmark = pytest.mark.slow
FLOOR = 0.1
"""Seconds. What is quadratic takes half a second and more for 40,000 characters."""
MENTION = f"<@{BOT}> "
THREAD = "1700000000.000009"
Say = Callable[[Office, str], Coroutine[Any, Any, None]]


async def _mention(office: Office, text: str) -> None:
    await office.hears(MENTION + text)


async def _mention_in_thread(office: Office, text: str) -> None:
    await office.hears(MENTION + text, thread=THREAD)


async def _direct(office: Office, text: str) -> None:
    await office.hears(text, channel=ChannelId("D0ANA"))


async def _reply(office: Office, text: str) -> None:
    await office.reply(text)


async def _edit(office: Office, text: str) -> None:
    said = await office.hears(f"{MENTION}Add {office.keys}", thread=THREAD)
    edited = replace(origin(f"message:{CHANNEL}:{said}"), message_ts=said, thread=MessageTs(THREAD))
    await take_change(office.context, Changed(edited, MENTION + text, ts_at(NOW), f"{MENTION}Add"))


async def _command(office: Office, text: str) -> None:
    await office.types("/docs-agent", text)


async def _follow_up(office: Office, text: str) -> None:
    await office.types("/docs-followup", f"1 {text}")


async def _link(office: Office, text: str) -> None:
    await office.types("/docs-agent", f"status https://{text}")
    await office.types("/docs-followup", f"https://{text} Add more")


async def _form(office: Office, text: str) -> None:
    await office.submits("ask", FormState(CHANNEL), prompt=text)


async def _visitors(office: Office, text: str) -> None:
    await office.visitors(text)


async def _subscription(office: Office, text: str) -> None:
    await office.visitors(f"subscribe {text}")


ENTRANCES: dict[str, Say] = {
    each.__name__[1:]: each
    for each in (
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
OPTIONS = ("at ", "csv ", "top 20 ", "compare ", "path /a ", "monday ", "project:acme ", "jobs ", "#a ")


async def _open() -> Office:
    """Return an office with two projects and a job whose thread is known."""
    office = Office(await new_store())
    projects = (Project(PROJECT, "acme", "Acme"), Project(ProjectId("p-2"), "other", "Other"))
    office.context = replace(office.context, projects=Projects(projects))
    office.change_settings(waiting_per_person=1_000_000)
    await office.started()
    return office


@pytest.mark.parametrize("entrance", ENTRANCES)
def test_no_entrance_is_slow_on_what_strangers_write(entrance: str) -> None:
    with asyncio.Runner() as runner:
        office = runner.run(_open())

        def seconds(text: str) -> float:
            office.clock.pass_seconds(61)  # an equal text in less than a minute would not be stored
            began = process_time()  # some of the work is done in the database's thread
            runner.run(ENTRANCES[entrance](office, text))
            return process_time() - began

        for text_of in texts_of([*SIGNS, *OPTIONS]):
            assert (slow := too_slow(seconds, text_of, FLOOR)) is None, slow
        runner.run(office.close())


def test_no_worker_is_slow_on_what_strangers_write() -> None:
    with asyncio.Runner() as runner:

        def seconds(text: str) -> float:
            office = runner.run(_open())
            runner.run(_mention(office, f"Write {text} now"))
            began = process_time()
            runner.run(office.rounds())
            took = process_time() - began
            runner.run(office.close())
            return took

        for text_of in (*texts_of(SIGNS[::2]), _names):
            assert (slow := too_slow(seconds, text_of, FLOOR, LENGTHS[-1:])) is None, slow


def _names(length: int) -> str:
    """Return a text of that many characters with a new person in each word."""
    return " ".join(f"<@U{number:06}>" for number in range(length // 11))
