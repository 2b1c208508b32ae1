"""Dead letters: deliveries that Slack refused for good. An operator may have one tried again."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import ColumnElement, and_, or_, select, true, update

from bot.model.ids import ChannelId, JobNumber, can_be_id
from bot.model.lifecycle import DeliveryStep
from bot.model.outbox import REPEATABLE, DeadLetter, DeliveryKind, DeliveryState
from bot.store.columns import Repository
from bot.store.leases import FREE
from bot.store.schema import deliveries

_DEAD = deliveries.c.state == DeliveryState.DEAD
_HAS_WORDS = or_(deliveries.c.message.is_not(None), deliveries.c.kind == DeliveryKind.FILE)
_CAN_GO: ColumnElement[bool] = and_(
    deliveries.c.kind.in_(REPEATABLE), deliveries.c.subscription.is_(None), _HAS_WORDS
)


class DeadLetterRepository(Repository):
    """The dead letters, within one transaction."""

    def newest(
        self, limit: int, *, channel: ChannelId | None = None, job: JobNumber | None = None
    ) -> Sequence[DeadLetter]:
        """Return the newest dead letters, of a channel or a job if one is given; reactions are left out."""
        here = deliveries.c.channel == channel if channel else true()
        of_job = deliveries.c.job == job if job else true()
        columns = (deliveries.c.seq, deliveries.c.job, deliveries.c.kind, deliveries.c.channel)
        found = select(*columns, deliveries.c.error, _CAN_GO.label("can_go")).where(
            _DEAD, here, of_job, deliveries.c.kind != DeliveryKind.REACTION
        )
        rows = self.connection.execute(found.order_by(deliveries.c.seq.desc()).limit(limit))
        return [
            DeadLetter(
                row.seq, row.job, DeliveryKind(row.kind), row.channel, row.error or "", bool(row.can_go)
            )
            for row in rows
        ]

    def retry(self, number: int, step: DeliveryStep) -> bool:
        """Write that a dead letter is tried again. Return False if there is none that can be."""
        if not can_be_id(number):
            return False
        mine = and_(deliveries.c.seq == number, _DEAD, _CAN_GO)
        values = {"state": step.state, **step.fields, **FREE}
        return self.connection.execute(update(deliveries).where(mine).values(values)).rowcount == 1
