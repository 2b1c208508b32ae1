"""Search for posts of unclear outcome: one reading of a conversation for all that may stand in it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial

from bot.model.ids import DeliveryId, MessageTs
from bot.model.outbox import Delivery, Place
from bot.work.batching import BatchWriter
from bot.work.context import WorkerContext
from bot.work.outbox.safe_calls import as_member, find_earlier

_MOST = 1_000
"""As many as are claimed at once."""
_Readers = defaultdict[Place, BatchWriter[Delivery, MessageTs | None]]


class Absent(Exception):
    """A post of unclear outcome is not there."""


class Searches:
    """The searches of one run. A reading that has begun says nothing about what is claimed after it."""

    def __init__(self, context: WorkerContext) -> None:
        self._context = context
        self._readers = _Readers(partial(BatchWriter, _MOST))

    async def find(self, delivery: Delivery, place: Place) -> MessageTs | None:
        """Return the timestamp of the message of an earlier attempt; None if there is none."""
        return await self._readers[place].put(delivery, partial(self._read, place))

    async def _read(self, place: Place, some: Sequence[Delivery]) -> Sequence[MessageTs | None]:
        found = await find_earlier(self._found(place, some))
        return [found.get(each.id) for each in some]

    async def _found(self, place: Place, some: Sequence[Delivery]) -> Mapping[DeliveryId, MessageTs]:
        messenger = self._context.messenger
        channel = await messenger.conversation_with(place.user) if place.user else place.channel
        search = partial(
            messenger.find_posted,
            channel,
            deliveries=[each.id for each in some],
            thread=place.thread,
            since=min(each.created_at for each in some),
        )
        if not any(each.joins for each in some):
            return await search()
        return await as_member(self._context, channel, search)
