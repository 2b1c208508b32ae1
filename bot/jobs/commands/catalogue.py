"""The commands about jobs, also in mentions and replies.

To add a command, write its file and its test here, and add it to ``JOB_COMMANDS``.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from bot.access.admit import admit
from bot.commands.command import Command, Invocation
from bot.context import Context
from bot.jobs.commands import agent, followup
from bot.jobs.interpret import Heard
from bot.jobs.model.intents import Door
from bot.jobs.thread_events import settle_word
from bot.projects import UnknownProject

JOB_COMMANDS = ((agent.COMMAND, ""), (followup.COMMAND, None))
"""The commands, each with the shape of the text before ``help`` after a mention;

None for no such help.
"""


async def run_word(commands: Sequence[Command], context: Context, heard: Heard) -> bool:
    """Run the command that a message means.

    Return False for a message that means none.
    """
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
    if command is None:
        return False
    if command.name == followup.NAME and heard.door is Door.REPLY:
        # Only a mention means the command, and no reply that names a job, as "#7 is wrong" does.
        return False
    origin = heard.origin
    allowed = await admit(context, origin, channel=origin.channel)
    # The message belongs to the person's conversation, which may not be that of the job that they
    # name.
    answer = await command.run(context, Invocation(allowed.but(message_ts=None), "", heard.text))
    await settle_word(context, heard, answer.message)
    return True
