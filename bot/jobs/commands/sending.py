"""The word that switches sending to the agent off and on, for admins."""

from __future__ import annotations

import re

from bot.commands.command import Answer, Invocation, Word
from bot.context import Context
from bot.ids import Message
from bot.jobs.access import admin_request
from bot.jobs.messages import sending as say
from bot.jobs.sending import find_stop, switch_off, switch_on
from bot.messages import blocks as b


async def _sending(context: Context, invocation: Invocation, match: re.Match[str]) -> Answer:
    """Switch sending. A bare word shows its state to everybody."""
    choice = (match[1] or "").lower()
    admin = admin_request(context, invocation.allowed)
    if not choice:
        return Answer(message=await _show(context, is_admin=admin is not None))
    if admin is None:
        return Answer(message=say.ONLY_ADMINS)
    if choice == "off":
        stop = await switch_off(context, admin)
        return Answer(message=say.switched_off(stop.stopped_at, stop.stopped_by))
    is_switched = await switch_on(context, admin)
    return Answer(message=say.SWITCHED_ON if is_switched else say.IS_ON)


async def _show(context: Context, *, is_admin: bool) -> Message:
    """Return the state of the switch; only admins read whose act it was."""
    stop = await find_stop(context)
    if stop is None:
        return say.IS_ON
    if is_admin:
        return say.switched_off(stop.stopped_at, stop.stopped_by)
    return b.words(say.off_note(stop.stopped_at))


SENDING = Word(
    usage="sending off",
    # "sending the form twice fails" is a prompt.
    shape=r"sending(?:\s+(on|off))?",
    tells=(
        "For admins: keeps all requests back from the agent; `sending on` lets them go, in order."
    ),
    run=_sending,
)
