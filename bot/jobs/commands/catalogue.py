"""The commands about jobs.

To add a command, write its file and its test here, and add it to ``JOB_COMMANDS``.
"""

from __future__ import annotations

from bot.jobs.commands import agent, followup

JOB_COMMANDS = ((agent.COMMAND, ""), (followup.COMMAND, None))
"""The commands, each with the shape of the text before ``help`` after a mention.

It is None for no such help.
"""
