"""The list of every command, and what people say after a mention.

To add a command, write its file and its test here, and add it to ``COMMANDS``.
"""

from __future__ import annotations

from contextlib import suppress

from bot import slack_text
from bot.commands import agent, followup, visitors
from bot.commands.command import Command, Invocation
from bot.commands.help import with_help
from bot.commands.reflexes import judge
from bot.model.access import Origin
from bot.model.ids import is_direct_message
from bot.model.projects import UnknownProject
from bot.store import Transaction
from bot.work.access import admit
from bot.work.context import Context
from bot.work.jobs.thread_events import (
    answer_in_private,
    is_answered,
    named_job,
    take_mention,
    take_reply,
    telling_refusals,
)
from bot.work.ports import Mention, ThreadReply

COMMANDS = with_help((agent.COMMAND, ""), (followup.COMMAND, None), (visitors.COMMAND, r"visitors\s+"))


def meant_by(context: Context, text: str) -> Command | None:
    """Return the command that a text after a mention means; None if it is a prompt."""
    without_project: str | None = None
    with suppress(UnknownProject):
        without_project, _ = context.projects.take(text)
    for command in COMMANDS:
        said = without_project if command.takes_project else text
        if said is not None and command.meaning(said, context.projects, after_mention=True):
            return command
    return None


async def take_message(context: Context, message: ThreadReply | Mention) -> None:
    """Run the command that a message means, or handle it as a prompt for the agent.

    Raises TooEarly and Untold, as ``take_reply`` does.
    """
    # The answers to commands are private, and apps cannot read any.
    is_by_app = message.origin.user in context.access_policy.bots
    if not is_by_app and await _ran_command(context, message):
        return
    if isinstance(message, ThreadReply):
        await take_reply(context, message, judge)
    else:
        await take_mention(context, message, judge)


async def _ran_command(context: Context, message: ThreadReply | Mention) -> bool:
    """Run the command that a message means, and tell its author the answer. Return False if it means none.

    Slack may deliver the message again before it is answered. Commands recognise a repeat by its key.
    """
    text = slack_text.without_leading_mention(message.text, context.bot_user)
    is_mention = text != message.text or isinstance(message, Mention)
    is_for_us = is_mention or is_direct_message(message.origin.channel)
    command = meant_by(context, text) if is_for_us else None
    if command is None:
        return False
    origin = message.origin
    is_here, was_answered = await context.store.read(lambda tx: _look(tx, origin, text))
    if is_here:
        return False
    if was_answered:
        return True
    async with telling_refusals(context, origin):
        allowed = await admit(context, origin, channel=origin.channel)
        # The message belongs to the person's conversation, which may not be that of the job that they name.
        answer = await command.run(context, Invocation(allowed.but(message_ts=None), "", text))
        if answer.message is not None:
            await answer_in_private(context, allowed, answer.message)
    return True


def _look(tx: Transaction, origin: Origin, text: str) -> tuple[bool, bool]:
    """Return whether the text names a job of this thread, and whether the message has been answered."""
    named = named_job(text)
    job = tx.jobs.get(named[0]) if named else None
    is_here = job is not None and job.thread is not None and job.thread == origin.thread_ref
    return is_here, is_answered(tx, origin)
