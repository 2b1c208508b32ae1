"""Switch all sending to the agent off and on, for every project and every process.

While it is off no prompt is claimed: requests are stored, prepared and shown as waiting.
"""

from __future__ import annotations

from datetime import timedelta

import structlog

from bot.context import Context
from bot.jobs.access import AdminRequest
from bot.jobs.model.lifecycle import without_wait
from bot.jobs.model.prompts import Act
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.jobs.store.sending import Sending, SendingStop
from bot.store import Transaction

log = structlog.get_logger(__name__)
_LOOK = timedelta(seconds=3)
"""The time in which messages that have waited are read again, so that all go in one order."""


async def switch_off(context: Context, admin: AdminRequest) -> SendingStop:
    """Stop sending to the agent. Return the stop, or an earlier one if sending is off already."""
    origin = admin.allowed.origin

    def change(tx: Transaction) -> SendingStop:
        now = context.clock()
        if Sending(tx).switch_off(origin.user, now):
            Audit(tx).switched(Act.SENDING_OFF, origin, now)
        return Sending(tx).stop() or SendingStop(now, origin.user)

    stop = await context.store.write(change)
    log.warning("sending_switched_off", since=stop.stopped_at.isoformat())
    return stop


async def switch_on(context: Context, admin: AdminRequest) -> bool:
    """Resume sending of all waiting prompts. Return False if sending is on already."""
    origin = admin.allowed.origin

    def change(tx: Transaction) -> bool:
        if not Sending(tx).switch_on():
            return False
        now = context.clock()
        Audit(tx).switched(Act.SENDING_ON, origin, now)
        for number in Prompts(tx).resume_sending(now, now + _LOOK):
            job = Jobs(tx).get_or_raise(number)
            Jobs(tx).save(job, without_wait(job))
        return True

    is_switched = await context.write(change)
    if is_switched:
        log.warning("sending_switched_on")
        context.wake()
    return is_switched


async def find_stop(context: Context) -> SendingStop | None:
    """Return the act that switched sending off; None while prompts are sent."""
    return await context.store.read(lambda tx: Sending(tx).stop())
