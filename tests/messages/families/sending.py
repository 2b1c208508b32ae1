"""The switch that stops all sending to the agent."""

from __future__ import annotations

from collections.abc import Mapping

from bot.jobs.messages import sending as say
from tests.builders import ANA, NOW


def samples() -> Mapping[str, object]:
    """Answers about the switch, and the lines of limits and of admins' Home."""
    return {
        "only admins": say.ONLY_ADMINS,
        "on": say.IS_ON,
        "switched on": say.SWITCHED_ON,
        "switched off": say.switched_off(NOW, ANA),
        "switched off by a forgotten admin": say.switched_off(NOW, None),
        "off, for everybody": say.off_note(NOW),
        "off, for admins": say.note_for_admins(NOW, ANA),
    }
