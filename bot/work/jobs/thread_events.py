"""What is done with what people say: replies steer a job, a mention asks for one."""

from __future__ import annotations

from dataclasses import dataclass

from bot import slack_text
from bot.messages import job_answers as say
from bot.model import Message, NewDelivery, Origin, TrackedJob, UserId
from bot.store import Transaction
from bot.work.context import Context, FollowUps
from bot.work.jobs.ask import AskRequest, ask
from bot.work.jobs.follow_up import FollowUpRequest, follow_up
from bot.work.jobs.thread_messages import reply as say_in_thread


@dataclass(frozen=True, slots=True)
class ThreadReply:
    """A person's reply in a thread.

    ``parent`` is who began the thread, when Slack says so. ``files`` counts what hangs on the reply;
    the agent cannot be given files.
    """

    origin: Origin
    text: str
    files: int = 0
    parent: UserId | None = None


@dataclass(frozen=True, slots=True)
class Mention:
    """A message outside any thread that is meant for the bot: it mentions it, or is a direct message."""

    origin: Origin
    text: str


class ThreadNotKnownYet(Exception):
    """A reply to a root message whose posting we have not noted yet; Slack shall deliver it again."""


async def heard_reply(context: Context, heard: ThreadReply) -> None:
    """A reply in a job's thread is a follow-up, unless it is meant for somebody else.

    Raises ThreadNotKnownYet between the posting of a root message and our noting it.
    """
    if not _is_meant_for_us(context, heard):
        return
    job, being_posted = await context.store.read(lambda tx: _job_of_thread(tx, heard))
    if job is None and being_posted and heard.parent == context.bot_user:
        raise ThreadNotKnownYet(heard.origin.key)
    if job is None:
        return
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    if slack_text.is_blank(slack_text.to_plain(text, {}, {})):
        await _explain(context, job, heard, empty=True)
        return
    result = await follow_up(context, FollowUpRequest(heard.origin, job.number, text))
    if result and not result.accepted:
        await _explain(context, job, heard, empty=False)
    elif result and result.same is not None:
        await _tell_alone(context, heard.origin, "same", say.same_follow_up(job.number, result.same))


def _job_of_thread(tx: Transaction, heard: ThreadReply) -> tuple[TrackedJob | None, bool]:
    """Return the job of a thread, and whether a root is being posted whose timestamp is not known yet."""
    # In this order: what is noted between the two statements is then found by the second.
    being_posted = tx.outbox.face_being_posted(heard.origin.channel)
    thread = heard.origin.thread_ref
    return tx.jobs.in_thread(thread) if thread else None, being_posted


def _is_meant_for_us(context: Context, heard: ThreadReply) -> bool:
    if context.follow_ups is FollowUps.MENTIONS and not slack_text.mentions(heard.text, context.bot_user):
        return False
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    return not (
        slack_text.is_aside(text) or slack_text.mentions_somebody_else_first(heard.text, context.bot_user)
    )


async def _explain(context: Context, job: TrackedJob, heard: ThreadReply, *, empty: bool) -> None:
    """Why nothing was sent, in the thread, once for each reply."""
    now, message = context.clock(), say.nothing_to_send(heard.files) if empty else say.cannot_follow_up(job)
    await context.store.write(
        lambda tx: say_in_thread(tx, job, f"unsent:{heard.origin.message_ts}", message, now)
    )
    context.wake()


async def heard_mention(context: Context, heard: Mention) -> None:
    """A mention outside a thread, or a direct message, asks for a job; without words it asks for help."""
    text = slack_text.without_leading_mention(heard.text, context.bot_user)
    if slack_text.is_aside(text):
        return
    words = slack_text.to_plain(text, {}, {})
    if slack_text.is_blank(words) or words.strip().lower() == "help":
        await _tell_alone(context, heard.origin, "greeting", say.greeting(context.bot_name))
        return
    asked = await ask(context, AskRequest(heard.origin, text))
    if asked.same:
        await _tell_alone(context, heard.origin, "same", say.same_job(asked.job))


async def _tell_alone(context: Context, origin: Origin, occasion: str, message: Message) -> None:
    """Tell only who said it something, once for each message."""
    note = NewDelivery.private(f"{origin.key}:{occasion}", origin.channel, origin.user, message)
    await context.store.write(lambda tx: tx.outbox.add(note, context.clock()))
    context.wake()
