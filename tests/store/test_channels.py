"""What is known of channels, on both databases."""

from __future__ import annotations

from bot.model.ids import ChannelId, ProjectId
from bot.store import Store
from tests.builders import CHANNEL

OTHER = ChannelId("C0OTHER")


async def test_a_channel_has_the_project_that_was_chosen_last(store: Store) -> None:
    acme, beta = ProjectId("acme"), ProjectId("beta")
    assert await chosen(store, CHANNEL) == [None]
    await store.write(lambda tx: tx.channels.choose_project(CHANNEL, acme))
    await store.write(lambda tx: tx.channels.choose_project(OTHER, acme))
    await store.write(lambda tx: tx.channels.choose_project(OTHER, beta))
    assert await chosen(store, CHANNEL, OTHER) == [acme, beta]


async def chosen(store: Store, *channels: ChannelId) -> list[ProjectId | None]:
    return await store.read(lambda tx: [tx.channels.project(channel) for channel in channels])
