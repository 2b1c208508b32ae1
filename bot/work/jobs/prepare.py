"""The worker that resolves the names in new prompts within limits and opens their threads."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from typing import TypeVar

import structlog

from bot import slack_text
from bot.logs import about_request
from bot.messages.jobs import follow_up_by_command
from bot.messages.plain_text import visible
from bot.model import lifecycle
from bot.model.ids import ChannelId, UserId
from bot.model.jobs import TrackedJob
from bot.model.outbox import DeliveryKind, NewDelivery
from bot.model.prompts import Prompt, PromptKind
from bot.store import Transaction
from bot.work.context import Context, WorkerContext
from bot.work.jobs.attachments import Attachments, attachments_of
from bot.work.jobs.poll import FIRST_SECONDS
from bot.work.jobs.settle_prompt import tell_behind_unconfirmed
from bot.work.jobs.thread import open_thread, redraw_face, say
from bot.work.ports import SlackError, SlackRefused
from bot.work.writing import retry_on_db_error, run_as_claimed, unless_taken_over

log = structlog.get_logger(__name__)
Id = TypeVar("Id", bound=str)
_PRIVATE = "private-channel"
"""Stands for the name of a channel that not everybody may know of, as it does in Slack."""
_MOST_NAMES = 20
"""Maximum names that are looked up for a text. The others stay ids."""


async def plain_text(context: WorkerContext, raw: str, here: ChannelId | None) -> str:
    """Return the text for the agent, without hidden characters: it gets what its thread shows."""
    users, channels = await names_in(context, raw, here, context.timeouts.names_seconds)
    return visible(slack_text.to_plain(raw, users, channels))


async def names_in(
    context: Context, raw: str, here: ChannelId | None, seconds: float
) -> tuple[dict[UserId, str], dict[ChannelId, str]]:
    """Return the names in a text: the first 20, as far as Slack returns them in time.

    A private channel goes by its name only in itself (``here``).
    """
    needed = slack_text.unresolved_names(raw, _MOST_NAMES)
    users = dict[UserId, str]()
    channels = {each: str(each) for each in slack_text.channels_in(raw)}

    async def name_of(channel: ChannelId) -> str:
        if channel != here and not await _is_public(context, channel):
            return _PRIVATE
        return needed.channels[channel] or await context.messenger.channel_name(channel)

    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for user in needed.users:
                group.create_task(_look_up(user, context.messenger.user_name, users))
            for channel in needed.channels:
                group.create_task(_look_up(channel, name_of, channels))
    return users, channels


async def _is_public(context: Context, channel: ChannelId) -> bool:
    """Return whether Slack says that a channel is public. It does not show the bot every private one."""
    try:
        return await context.messenger.is_public(channel)
    except SlackRefused as refusal:
        log.info("channel_not_told", id=channel, reason=refusal.code)
        return False


async def _look_up(each: Id, look_up: Callable[[Id], Awaitable[str]], known: dict[Id, str]) -> None:
    """Add a name to ``known``. An id without a name does not stop the job."""
    try:
        known[each] = await look_up(each)
    except SlackError as error:
        log.warning("name_not_told", reason=str(error))


_AT_ONCE = 20
_MOST_RUNNING = 200
"""Maximum prompts that wait for Slack at the same moment."""


async def prepare_prompts(context: WorkerContext) -> int:
    """Turn stored requests into prompts that wait to be sent, and add their faces to the outbox.

    A prompt whose look-ups in Slack are slow delays no other prompt. Return how many were claimed.
    """

    async def claim(running: int) -> Sequence[Prompt]:
        limit = min(_AT_ONCE, _MOST_RUNNING - running)
        if limit <= 0:
            return ()
        return await context.store.write(lambda tx: tx.prompts.claim_new(context.claimer(), limit))

    return await run_as_claimed(claim, partial(_prepare, context))


async def _prepare(context: WorkerContext, prompt: Prompt) -> None:
    with about_request(prompt.key):
        await retry_on_db_error(partial(_prepare_known, context, prompt))


async def _prepare_known(context: WorkerContext, prompt: Prompt) -> None:
    text = await plain_text(context, prompt.raw, prompt.channel)
    attachments = await attachments_of(context, prompt)
    with unless_taken_over("prompt", prompt.id):
        await context.settle(lambda tx: _write(context, tx, prompt, text, attachments))
        context.wake()


def _write(
    context: WorkerContext, tx: Transaction, prompt: Prompt, text: str, attachments: Attachments
) -> None:
    # Though others are refused: perhaps this one is not.
    tx.back_offs.end_by(prompt.job, context.after(FIRST_SECONDS))
    step = lifecycle.prompt_prepared(prompt, text, attachments.text)
    tx.prompts.apply(prompt.id, step, owner=context.owner)
    if prompt.text is None:  # otherwise its message was edited
        tx.audit.asked(prompt, tx.jobs.known(prompt.job))
    now = context.clock()
    if prompt.kind is PromptKind.START:
        tx.jobs.update(prompt.job, text=text)
    if attachments.earlier is not None:
        tx.jobs.update(prompt.job, earlier=attachments.earlier)
    job = tx.jobs.known(prompt.job)
    if prompt.kind is PromptKind.START:
        open_thread(tx, job, now)
    else:
        _show_follow_up(tx, job, prompt, text, now)
        tell_behind_unconfirmed(tx, job, prompt, now)
        if attachments.earlier is not None:
            redraw_face(tx, job.number, now)
    if attachments.not_sent is not None:
        say(tx, job, f"files:{prompt.id}", attachments.not_sent, now)


def _show_follow_up(tx: Transaction, job: TrackedJob, prompt: Prompt, text: str, now: datetime) -> None:
    if prompt.message_ts is None:
        message = follow_up_by_command(job, text, prompt.asked_by)
        say(tx, job, f"follow_up:{prompt.id}", message, now)
        return
    key, kind, ts = f"prompt:{prompt.id}:seen", DeliveryKind.REACTION, prompt.message_ts
    seen = NewDelivery(key, kind, job.channel, job=job.number, message_ts=ts, reaction="eyes")
    tx.outbox.add(seen, now)
