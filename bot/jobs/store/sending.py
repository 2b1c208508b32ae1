"""The switch that stops all sending to the agent, for all projects and all processes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import exists, select

from bot.ids import UserId
from bot.jobs.store.tables import sending_stops
from bot.store.schema import Repository, insert_unless_there, reader

_ONLY_ROW = 1
IS_SENDING_OFF = exists(select(sending_stops.c.id))
"""The condition that sending is switched off. The table has one row at most, so nothing scans."""


@dataclass(frozen=True, slots=True)
class SendingStop:
    """The act that switched sending off."""

    stopped_at: datetime
    stopped_by: UserId | None
    """The admin; None once they are forgotten."""


_to_stop = reader(SendingStop, sending_stops)
_STOP = select(sending_stops)


class Sending(Repository):
    """The switch of sending, within one transaction."""

    def stop(self) -> SendingStop | None:
        """Return the act that switched sending off; None while prompts are sent."""
        row = self.connection.execute(_STOP).mappings().first()
        return _to_stop(row) if row else None

    def switch_off(self, user: UserId, now: datetime) -> bool:
        """Switch sending off. Return False if it is off already."""
        row = {"id": _ONLY_ROW, "stopped_by": user, "stopped_at": now}
        return insert_unless_there(self.connection, sending_stops, row)

    def switch_on(self) -> bool:
        """Switch sending on. Return False if it is on already."""
        return self.connection.execute(sending_stops.delete()).rowcount > 0
