"""The commands about jobs, and messages that mention the bot or reply in a job's thread.

To add a command, write its file and its test here, and add it to ``JOB_COMMANDS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from bot.access.admit import admit
from bot.commands.command import Command, Invocation
from bot.context import Context
from bot.jobs.commands import agent, followup
from bot.jobs.model.intents import Door
from bot.jobs.thread_events import answer_in_private, hear, is_answered, take, telling_refusals
from bot.ports import Mention, ThreadReply
from bot.projects import UnknownProject

JOB_COMMANDS = ((agent.COMMAND, ""), (followup.COMMAND, None))
"""The commands, each with the shape of the text before ``help`` after a mention; None for no such help."""


async def take_message(commands: Sequence[Command], context: Context, message: ThreadReply | Mention) -> None:
    """Run the command that a message means, or handle it as its kind of text.

    Raises TooEarly and Untold; see ``bot/jobs/thread_events.py``.
    """
    if (heard := await hear(context, message)) is None:
        return
    without_project: str | None = None
    with suppress(UnknownProject):
        without_project, _ = context.projects.take(heard.text)
    command: Command | None = None
    # The answers to commands are private, and apps cannot read any.
    for one in () if heard.origin.user in context.settings.allowed_bots else commands:
        text = without_project if one.takes_project else heard.text
        if text is not None and one.meaning(text, context.projects, after_mention=True):
            command = one
            break
    if command is not None and command.name == followup.NAME and heard.door is Door.REPLY:
        command = None  # which names a job, as "#7 is wrong" does, and only a mention means that
    async with telling_refusals(context, heard.origin):
        if command is None:
            await take(context, heard)
            return
        # Slack may deliver the message again before it is answered. Commands recognise a repeat by its key.
        origin = heard.origin
        if await context.store.read(lambda tx: is_answered(tx, origin)):
            return
        allowed = await admit(context, origin, channel=origin.channel)
        # The message belongs to the person's conversation, which may not be that of the job that they name.
        answer = await command.run(context, Invocation(allowed.but(message_ts=None), "", heard.text))
        if answer.message is not None:
            await answer_in_private(context, origin, "answer", answer.message)
