"""``/docs-agent``: ask for a change, list jobs, look at one."""

from __future__ import annotations

import re

from bot.commands.carried import Carried
from bot.commands.command import (
    Answer,
    Command,
    FormErrors,
    Invocation,
    Modal,
    Press,
    ShortcutUse,
    Submission,
)
from bot.commands.jobref import find_job
from bot.messages import answers as say
from bot.messages import incoming, modals
from bot.model import ChannelId, JobNumber, Message, PromptId
from bot.work.again import RunAgain, forget, run_again, send_again, withdraw
from bot.work.ask import AskRequest, ask
from bot.work.desk import Desk

NAME = "/docs-agent"
_STATUS = re.compile(r"status\s+(\S+)", re.IGNORECASE)
_LISTED = 10
_FORM_LENGTH = 3000


async def _run(desk: Desk, said: Invocation) -> Answer:
    words = incoming.to_plain(said.text, {}, {}).strip()
    if incoming.is_blank(words):
        private = Carried(said.channel, said.response_url).dumps()
        return Answer(modal=Modal(modals.ask_form(channel=said.channel, private=private)))
    # Only a whole text is a word of ours: "jobs in the navigation are out of date" is a prompt.
    if words.lower() == "jobs":
        return Answer(message=await _jobs(desk, said.channel))
    if status := _STATUS.fullmatch(words):
        return Answer(message=await _status(desk, status[1]))
    await ask(desk, AskRequest(said.key, said.channel, said.user, said.text, said.response_url))
    return Answer()


async def _jobs(desk: Desk, channel: ChannelId) -> Message:
    async with desk.registry.look() as tables:
        jobs = await tables.jobs.in_channel(channel, _LISTED)
    return say.job_list(jobs, channel, desk.clock())


async def _status(desk: Desk, named: str) -> Message:
    job = await find_job(desk, named)
    if job is None:
        return say.no_such_job(named)
    link = desk.permalink(job.thread) if job.thread and desk.workspace_url else None
    return say.job_status(job, desk.clock(), link)


async def _submit(desk: Desk, sent: Submission) -> FormErrors | None:
    carried = Carried.loads(sent.private)
    text = sent.fields.get("prompt") or ""
    channel = ChannelId(sent.fields.get("channel") or carried.channel or "")
    if incoming.is_blank(text):
        return FormErrors({"prompt": say.EMPTY_FORM})
    if not channel:
        return FormErrors({"channel": say.NO_CHANNEL_CHOSEN})
    await ask(desk, AskRequest(sent.key, channel, sent.user, incoming.from_plain(text), carried.response_url))
    return None


async def _ask_about(desk: Desk, used: ShortcutUse) -> Answer:
    """Somebody's message becomes the beginning of a prompt, which the person can change before it goes."""
    del desk
    private = Carried(used.channel, used.response_url).dumps()
    text = incoming.to_plain(used.text, {}, {})[:_FORM_LENGTH]
    return Answer(modal=Modal(modals.ask_form(channel=used.channel, private=private, text=text)))


async def _run_again(desk: Desk, press: Press) -> Answer:
    number, _, count = press.value.partition(":")
    if not (number.isdecimal() and count.isdecimal()):
        return Answer(message=say.no_such_job(press.value))
    request = RunAgain(JobNumber(int(number)), int(count), press.channel, press.user, press.response_url)
    asked = await run_again(desk, request)
    if asked is None:
        return Answer(message=say.no_such_job(number))
    return Answer(message=say.run_again_before(asked.job)) if asked.repeated else Answer()


async def _send_again(desk: Desk, press: Press) -> Answer:
    return _done(press.value.isdecimal() and await send_again(desk, PromptId(int(press.value))))


async def _forget(desk: Desk, press: Press) -> Answer:
    return _done(press.value.isdecimal() and await forget(desk, PromptId(int(press.value))))


async def _withdraw(desk: Desk, press: Press) -> Answer:
    return _done(press.value.isdecimal() and await withdraw(desk, JobNumber(int(press.value))))


def _done(was_done: bool) -> Answer:
    """The thread shows what was done; only a button that came too late needs a word."""
    return Answer() if was_done else Answer(message=say.too_late())


COMMAND = Command(
    name=NAME,
    usage_hint="what to write or change | jobs | status 42 | help",
    summary="Ask the documentation agent for a change",
    examples=(
        f"{NAME} Add a quickstart for the Python SDK",
        f"{NAME} jobs",
        f"{NAME} status 42",
    ),
    run=_run,
    buttons={
        "run_again": _run_again,
        "send_again": _send_again,
        "forget": _forget,
        "withdraw": _withdraw,
    },
    forms={"ask": _submit},
    shortcuts={"ask_about": _ask_about},
)
