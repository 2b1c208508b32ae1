"""The help, and the hello."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.messages import help as say
from bot.model.examples import Examples
from bot.model.ids import JobNumber
from tests.messages.families.general import BOTH, ONE


def samples() -> Mapping[str, object]:
    """The help where there is nothing yet, and where there are a job and several docs."""
    new = Examples("docs-agent", ONE, "acme")
    known = Examples("docs-agent", BOTH, "acme", JobNumber(42), own_job=True, section="/guides")
    about = say.CommandHelp("/docs-agent", "Asks <the> agent", [("/docs-agent Add it", "Starts a job.")])
    return {
        **{
            f"short help: {also.__name__}, {name}": say.short_help(about, also(here), here)
            for also in (say.about_replies, say.about_follow_ups, say.about_periods)
            for name, here in {
                "nothing yet": new,
                "several docs": known,
                "only mentions steer": replace(known, by_mention=True, is_direct=True),
            }.items()
        },
        "whole help": say.full_help([about], ONE),
        "whole help: several docs, only mentions steer": say.full_help([about], BOTH, by_mention=True),
        "hello": say.hello(new),
        "hello where there is a job": say.hello(known),
        "hello in its thread": say.hello(replace(known, in_thread=True)),
    }
