"""What is done with what people say: replies steer a job, a mention asks for one."""

from __future__ import annotations

from bot import slack_text
from bot.messages import job_answers as say
from bot.messages import quota
from bot.model import DeliveryKind, Message, NewDelivery, ThreadRef, TrackedJob
from bot.store import Tables
from bot.work.context import Desk, FollowUps
from bot.work.jobs.ask import AskRequest, ask
from bot.work.jobs.follow_up import FollowUpRequest, follow_up
from bot.work.jobs.spoken import Mention, ThreadReply
from bot.work.jobs.thread_messages import reply as say_in_thread


class ThreadNotKnownYet(Exception):
    """A reply to a root message whose posting we have not noted yet; Slack shall deliver it again."""


async def heard_reply(desk: Desk, heard: ThreadReply) -> None:
    """A reply in a job's thread is a follow-up, unless it is meant for somebody else.

    Raises ThreadNotKnownYet between the posting of a root message and our noting it.
    """
    if not _is_meant_for_us(desk, heard):
        return
    async with desk.registry.look() as tables:
        # In this order: what is noted between the two looks is then found by the second.
        being_posted = await tables.deliveries.root_being_posted(heard.channel)
        job = await tables.jobs.in_thread(ThreadRef(heard.channel, heard.thread_ts))
    if job is None and being_posted and heard.parent == desk.bot_user:
        raise ThreadNotKnownYet(heard.key)
    if job is None:
        return
    text = slack_text.without_leading_mention(heard.text, desk.bot_user)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _explain(desk, job, heard, empty=True)
        return
    result = await follow_up(
        desk,
        FollowUpRequest(heard.key, job.number, heard.channel, heard.user, text, message_ts=heard.ts),
    )
    if result and not result.accepted:
        await _explain(desk, job, heard, empty=False)
    elif result and result.same is not None:
        await _tell_alone(desk, heard, quota.same_follow_up(job.number, result.same))


def _is_meant_for_us(desk: Desk, heard: ThreadReply) -> bool:
    if desk.follow_ups is FollowUps.MENTIONS and not slack_text.mentions(heard.text, desk.bot_user):
        return False
    text = slack_text.without_leading_mention(heard.text, desk.bot_user)
    return not (
        slack_text.is_aside(text) or slack_text.mentions_somebody_else_first(heard.text, desk.bot_user)
    )


async def _explain(desk: Desk, job: TrackedJob, heard: ThreadReply, *, empty: bool) -> None:
    """Why nothing was sent, in the thread, once for each reply."""
    now = desk.clock()
    async with desk.registry.transaction() as tables:
        message = say.nothing_to_send(heard.files) if empty else say.cannot_follow_up(job)
        await say_in_thread(tables, job, f"unsent:{heard.ts}", message, now)
    desk.wake()


async def heard_mention(desk: Desk, heard: Mention) -> None:
    """A mention outside a thread, or a direct message, asks for a job; without words it asks for help."""
    text = slack_text.without_leading_mention(heard.text, desk.bot_user)
    if slack_text.is_aside(text):
        return
    words = slack_text.to_plain(text, {}, {})
    if slack_text.is_blank(words) or words.strip().lower() == "help":
        async with desk.registry.transaction() as tables:
            await _greet(desk, tables, heard)
        desk.wake()
        return
    asked = await ask(desk, AskRequest(heard.key, heard.channel, heard.user, text))
    if asked.same:
        await _tell_alone(desk, heard, quota.same_job(asked.job))


async def _tell_alone(desk: Desk, heard: Mention | ThreadReply, message: Message) -> None:
    """Something that concerns only who said it, once for each message."""
    note = NewDelivery(
        f"{heard.key}:same", DeliveryKind.PRIVATE, heard.channel, user=heard.user, message=message
    )
    async with desk.registry.transaction() as tables:
        await tables.deliveries.add(note, desk.clock())
    desk.wake()


async def _greet(desk: Desk, tables: Tables, heard: Mention) -> None:
    note = NewDelivery(
        f"{heard.key}:greeting",
        DeliveryKind.PRIVATE,
        heard.channel,
        user=heard.user,
        message=say.greeting(desk.bot_name),
    )
    await tables.deliveries.add(note, desk.clock())
