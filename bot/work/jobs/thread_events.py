"""Handle messages in Slack: a reply in a job's thread is a follow-up, a mention asks for a job."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace

from bot import slack_text
from bot.messages import job_answers as say
from bot.model import Access, Message, NewDelivery, Origin, TrackedJob
from bot.store import Transaction
from bot.work.access.check import decide
from bot.work.access.decision import AskSlack
from bot.work.access.denied import tell_denied
from bot.work.context import Context, FollowUps
from bot.work.jobs.ask import AskRequest, TooManyWaiting, ask
from bot.work.jobs.follow_up import FollowUpRequest, follow_up
from bot.work.jobs.thread_messages import reply as say_in_thread
from bot.work.ports import Mention, ThreadReply

_ASK_SLACK_SECONDS = 1.5
"""Less than the 3 s in which Slack expects an event's acknowledgement."""


class ThreadNotKnownYet(Exception):
    """A reply to a face whose timestamp is not stored yet. Slack should deliver the event again."""


async def heard_reply(context: Context, heard: ThreadReply) -> None:
    """Store a reply in a job's thread as a follow-up, unless it is meant for somebody else.

    Raises ThreadNotKnownYet if the reply arrives after a face was posted and before its timestamp is stored.
    """
    origin, job, being_posted = await context.store.read(lambda tx: _job_of_thread(tx, heard.origin))
    heard = replace(heard, origin=origin)
    if job is None and being_posted and heard.parent == context.bot_user:
        raise ThreadNotKnownYet(heard.origin.key)
    if job is None:
        return
    if not _is_meant_for_us(context, heard):
        await _note(context, heard.origin)
        return
    if await _was_told_same(context, heard.origin):
        return
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _tell_not_sent(context, job, heard, empty=True)
        return
    try:
        result = await follow_up(context, FollowUpRequest(heard.origin, job.number, text, heard=True))
    except TooManyWaiting as full:
        await _tell_too_many(context, heard.origin, full)
        return
    if result and not result.accepted:
        await _tell_not_sent(context, job, heard, empty=False)
    elif result and result.same is not None:
        await _tell_in_private(context, heard.origin, "same", say.same_follow_up(job.number, result.same))


def _job_of_thread(tx: Transaction, origin: Origin) -> tuple[Origin, TrackedJob | None, bool]:
    """Return the job of a thread, and whether a face is being posted whose timestamp is not known yet.

    The origin of the reply is returned under the present id of its channel.
    """
    origin = origin.moved_to(tx.channels.present(origin.channel))
    # In this order, so that the second statement finds a timestamp that is stored between the two.
    being_posted = tx.outbox.face_being_posted(origin.channel)
    thread = origin.thread_ref
    return origin, tx.jobs.in_thread(thread) if thread else None, being_posted


def _is_meant_for_us(context: Context, heard: ThreadReply) -> bool:
    if context.follow_ups is FollowUps.MENTIONS and not slack_text.mentions(heard.text, context.bot_user):
        return False
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    return not (
        slack_text.is_aside(text) or slack_text.mentions_somebody_else_first(heard.text, context.bot_user)
    )


async def _tell_not_sent(context: Context, job: TrackedJob, heard: ThreadReply, *, empty: bool) -> None:
    """Tell the thread why a reply was not sent to the agent, once for each reply."""
    now, message = context.clock(), say.nothing_to_send(heard.files) if empty else say.cannot_follow_up(job)
    occasion = f"unsent:{heard.origin.message_ts}"
    await _tell(context, heard.origin, lambda tx: say_in_thread(tx, job, occasion, message, now))


async def heard_mention(context: Context, heard: Mention) -> None:
    """Ask for a job with the text of a mention or a direct message. Without text, send the greeting."""
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    if slack_text.is_aside(text):
        await _note(context, heard.origin)
        return
    words = slack_text.to_plain(text, {}, {})
    if slack_text.is_blank(words) or words.strip().lower() == "help":
        await _tell_in_private(context, heard.origin, "greeting", say.greeting(context.bot_name))
        return
    sent_to = heard.origin.channel
    origin = heard.origin.moved_to(await context.store.read(lambda tx: tx.channels.present(sent_to)))
    if await _was_told_same(context, origin):
        return
    try:
        asked = await ask(context, AskRequest(origin, text, heard=origin.is_direct))
    except TooManyWaiting as full:
        await _tell_too_many(context, origin, full)
        return
    if asked.same:
        await _tell_in_private(context, origin, "same", say.same_job(asked.job))


async def _tell_in_private(context: Context, origin: Origin, occasion: str, message: Message) -> None:
    """Send a private message to the author, once for each of their messages and ``occasion``."""
    note = NewDelivery.private(f"{origin.key}:{occasion}", origin.channel, origin.user, message)
    await _tell(context, origin, lambda tx: tx.outbox.add(note, context.clock()))


async def _tell_too_many(context: Context, origin: Origin, full: TooManyWaiting) -> None:
    message = say.too_many_waiting(full.limit, slack_text.to_plain(full.raw, {}, {}))
    await _tell_in_private(context, origin, "too_many", message)


async def _tell(context: Context, origin: Origin, tell: Callable[[Transaction], None]) -> None:
    """Answer a message that asks the agent for nothing, unless its author may not use the bot."""
    denied = await _denied(context, origin)

    def answer(tx: Transaction) -> None:
        if denied is None:
            tell(tx)
        else:
            tell_denied(context, tx, origin, denied)
        _note_heard(tx, origin)

    await context.store.write(answer)
    context.wake()


async def _denied(context: Context, origin: Origin) -> Access | None:
    """Return why the author of a message may not use the bot; None if they may.

    Slack is called before the event is acknowledged, because no worker decides later. So it gets 1.5 s.
    """
    try:
        async with asyncio.timeout(_ASK_SLACK_SECONDS):
            decision = await decide(context, origin.user, channel=origin.channel, ask=AskSlack.FINAL)
    except TimeoutError:
        return Access.UNTOLD
    return decision.denied


async def _was_told_same(context: Context, origin: Origin) -> bool:
    """Return whether the author knows that the message repeats another, which may be a minute old by now.

    A late delivery of the same event would otherwise count as a new request.
    """
    return await context.store.read(lambda tx: tx.outbox.state_of(f"{origin.key}:same")) is not None


async def _note(context: Context, origin: Origin) -> None:
    """Note a message as heard that the bot leaves alone, so that no later rule takes it after an outage."""
    await context.store.write(lambda tx: _note_heard(tx, origin))


def _note_heard(tx: Transaction, origin: Origin) -> None:
    if origin.thread or origin.is_direct:
        tx.heard.note(origin)
