"""The help, and the hello."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot.messages import help as say
from tests.messages.families.general import BOTH, ONE


def samples() -> Mapping[str, object]:
    """The help where there are one project and several, and the hello."""
    one, several = say.Here("docs-agent", ONE, "acme"), say.Here("docs-agent", BOTH, "acme")
    words = [("/docs-agent Add it", "Starts a job.")]
    about = say.CommandHelp("/docs-agent", "Asks <the> agent", words, "*Options*: `csv`.")
    return {
        **{
            f"short help: {also.__name__}, {name}": say.short_help(about, also(here), here)
            for also in (say.about_replies, say.about_follow_ups)
            for name, here in {
                "one project": one,
                "several docs": several,
                "only mentions steer": replace(several, by_mention=True, is_direct=True),
            }.items()
        },
        "whole help": say.full_help([about], ONE),
        "whole help: several docs, only mentions steer": say.full_help([about], BOTH, by_mention=True),
        "hello": say.hello("docs-agent", is_direct=False),
        "hello in a direct message": say.hello("docs-agent", is_direct=True),
    }
