"""A delivery that fails in a way that the bot does not know is tried a few times and then told elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass

import pytest

from bot.ids import ChannelId, MessageTs
from bot.outbox.store import Outbox
from tests.builders import ANA, new_store
from tests.fakes import FakeSlack
from tests.work.drains import deliver_due
from tests.work.office import Office

A_DAY_OF_LEASES = 960


@dataclass
class BrokenSlack(FakeSlack):
    """A post in a thread raises what no port says."""

    tries: int = 0

    async def post(self, channel: ChannelId, *message: object, **about: object) -> MessageTs:
        if about["thread"] is not None:
            self.tries += 1
            raise KeyError("unexpected")
        return await super().post(channel, *message, **about)  # type: ignore[arg-type]


@pytest.fixture
def slack() -> BrokenSlack:
    return BrokenSlack()


@pytest.fixture
async def office(slack: BrokenSlack) -> AsyncIterator[Office]:
    office = Office(await new_store(), slack=slack)
    yield office
    await office.close()


async def a_day(office: Office) -> None:
    for _ in range(A_DAY_OF_LEASES):
        office.clock.pass_seconds(91)
        with suppress(KeyError, LookupError):
            await deliver_due(office.context)


async def test_end_that_fails_unexpectedly_is_told_directly(office: Office, slack: BrokenSlack) -> None:
    await office.started()
    office.docs.finish()
    with suppress(KeyError):
        await office.settle(60)
    await a_day(office)
    assert slack.tries <= 12
    assert [user for user, _, _ in slack.direct] == [ANA]
    [letter] = await office.store.read(lambda tx: Outbox(tx).dead_letters(10))
    assert letter.reason == "unexpected_error"
