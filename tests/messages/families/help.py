"""The help, and the welcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.jobs.messages.job_answers import ToDo, greeting, welcome_message
from bot.messages import help as say
from tests.messages.families.general import BOTH, ONE


def samples() -> Mapping[str, object]:
    """The help where there are one project and several, and the welcome."""
    one, several = say.Here("docs-agent", ONE, "acme"), say.Here("docs-agent", BOTH, "acme")
    prompts = [("/docs-agent Add it", "Starts a job.")]
    welcomed = greeting("docs-agent", is_direct=True, can_answer=True)
    command = say.CommandHelp("/docs-agent", "Asks <the> agent", prompts, "*Options*: `csv`.")
    return {
        **{
            f"short help: {name}": say.short_help(command, say.about_replies(channel), channel)
            for name, channel in {
                "one project": one,
                "several docs": several,
                "only mentions steer": replace(several, is_mention_only=True, is_direct=True),
                "it answers questions": replace(one, can_answer=True),
            }.items()
        },
        "greeting": greeting("docs-agent", is_direct=False, can_answer=True),
        "greeting, answers off": greeting("docs-agent", is_direct=False, can_answer=False),
        "welcome": welcome_message(ToDo(2, 8), welcomed),
        "welcome: of one": welcome_message(ToDo(1, 0), welcomed),
        "welcome: not of all channels": welcome_message(ToDo(0, 10, is_complete=False), welcomed),
        "welcome: nothing": welcome_message(ToDo(0, 0), welcomed),
        "whole help": say.full_help([command], ONE),
        "whole help: several docs, only mentions steer": say.full_help(
            [command], BOTH, is_mention_only=True
        ),
    }
