"""What is known of channels, on both databases."""

from __future__ import annotations

from datetime import timedelta

from bot.ids import ChannelId, ProjectId, Reviewer
from bot.model.jobs import JobState
from bot.store import Claimer, Store
from bot.store.channels import Channels
from bot.store.jobs import Jobs
from bot.store.retention import forget_person
from tests.builders import ANA, BEN, CHANNEL, NOW, add_job

OTHER = ChannelId("C0OTHER")


async def test_a_channel_has_the_project_that_was_chosen_last(store: Store) -> None:
    acme, beta = ProjectId("acme"), ProjectId("beta")
    assert await chosen(store, CHANNEL) == [None]
    await store.write(lambda tx: Channels(tx).choose_project(CHANNEL, acme))
    await store.write(lambda tx: Channels(tx).choose_project(OTHER, acme))
    await store.write(lambda tx: Channels(tx).choose_project(OTHER, beta))
    await store.write(lambda tx: Channels(tx).choose_replies(OTHER, by_mention=True))
    assert await chosen(store, CHANNEL, OTHER) == [acme, beta]


async def test_each_job_says_whether_only_mentions_steer_in_its_channel(store: Store) -> None:
    await store.write(lambda tx: Channels(tx).choose_replies(OTHER, by_mention=True))
    for channel in (CHANNEL, OTHER):
        await add_job(store, channel=channel, root_ts=f"1.{channel}", state=JobState.WORKING, poll_at=NOW)
    assert await by_mention(store) == {CHANNEL: False, OTHER: True}
    await store.write(lambda tx: Channels(tx).choose_replies(OTHER, by_mention=False))
    assert await by_mention(store) == {CHANNEL: False, OTHER: False}


async def test_a_channel_has_the_reviewers_that_were_chosen_last_without_who_is_forgotten(
    store: Store,
) -> None:
    group, ben = Reviewer("S0TEAM"), Reviewer(BEN)
    await store.write(lambda tx: Channels(tx).choose_reviewers(CHANNEL, [Reviewer(ANA)]))
    await store.write(lambda tx: Channels(tx).choose_reviewers(CHANNEL, [ben, group, ben]))
    await store.write(lambda tx: Channels(tx).choose_reviewers(OTHER, [ben]))
    assert await store.read(lambda tx: Channels(tx).reviewers(CHANNEL)) == (group, ben)
    counts = (await forget_person(store, BEN))[0]
    assert counts["reviewers"] == 2
    assert await store.read(lambda tx: Channels(tx).reviewers(CHANNEL)) == (group,)
    await store.write(lambda tx: Channels(tx).choose_reviewers(CHANNEL, []))
    assert await store.read(lambda tx: Channels(tx).reviewers(CHANNEL)) == ()


async def by_mention(store: Store) -> dict[ChannelId, bool]:
    """What each job says, claimed to be polled as well as found."""
    claimer = Claimer("one", NOW + timedelta(seconds=1), -1.0)
    claimed = await store.write(lambda tx: Jobs(tx).claim_due(claimer, 10))
    found = await store.read(
        lambda tx: [*Jobs(tx).newest(10), *(Jobs(tx).known(each.number) for each in claimed)]
    )
    assert {(each.channel, each.by_mention) for each in claimed} == {
        (each.channel, each.by_mention) for each in found
    }
    return {each.channel: each.by_mention for each in claimed}


async def chosen(store: Store, *channels: ChannelId) -> list[ProjectId | None]:
    return await store.read(lambda tx: [Channels(tx).project(channel) for channel in channels])
