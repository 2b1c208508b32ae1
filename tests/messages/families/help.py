"""The help, and the welcome."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.jobs.messages.forms import ask_form
from bot.jobs.messages.job_answers import PROMPTS, greeting, welcome_message
from bot.jobs.model.jobs import JobState
from bot.messages import help as say
from tests.builders import CHANNEL
from tests.messages.families.general import BOTH, ONE
from tests.messages.samples import job


def samples() -> Mapping[str, object]:
    """The help where there are one project and several, and the welcome."""
    one, several = say.Here("docs-agent", ONE, "acme"), say.Here("docs-agent", BOTH, "acme")
    prompts = [("/docs-agent Add it", "Starts a job.")]
    made = job(JobState.WORKING)
    command = say.CommandHelp("/docs-agent", "Asks <the> agent", prompts, "*Options*: `csv`.")
    return {
        **{
            f"short help: {name}": say.short_help(command, say.about_replies(channel), channel)
            for name, channel in {
                "one project": one,
                "several docs": several,
                "only mentions steer": replace(several, by_mention=True, is_direct=True),
                "it answers questions": replace(one, can_answer=True),
            }.items()
        },
        "greeting": greeting("docs-agent", is_direct=False, can_answer=True),
        "greeting, answers off": greeting("docs-agent", is_direct=False, can_answer=False),
        "welcome": welcome_message(
            [(made, None)], greeting("docs-agent", is_direct=True, can_answer=True)
        ),
        "welcome: no job": welcome_message(
            [], greeting("docs-agent", is_direct=True, can_answer=False)
        ),
        **{
            f"form of the welcome: {label}": ask_form(channel=CHANNEL, private="", text=text)
            for label, text in PROMPTS.values()
        },
        "whole help": say.full_help([command], ONE),
        "whole help: several docs, only mentions steer": say.full_help(
            [command], BOTH, by_mention=True
        ),
    }
