"""A subscription whose time zone is asked for while something else happens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from bot.ids import UserId
from bot.model.questions import Weekday
from tests.builders import ANA
from tests.fakes import FakeSlack
from tests.work.office import Office
from tests.work.weekly import of_channel


class SlowSlack(FakeSlack):
    """A workspace in which something else happens while somebody is looked up."""

    meanwhile: Callable[[], Awaitable[object]] | None = None

    async def user_zone(self, user: UserId) -> str | None:
        meanwhile, self.meanwhile = self.meanwhile, None
        if meanwhile:
            await meanwhile()
        return await super().user_zone(user)


async def test_a_subscription_changed_while_its_zone_is_asked_for_keeps_the_zone_it_was_given(
    office: Office,
) -> None:
    slack = SlowSlack(zones={ANA: "Europe/Berlin"})
    office.context = replace(office.context, messenger=slack)
    await office.visitors("subscribe monday 09:00")
    slack.meanwhile = lambda: office.visitors("subscribe tuesday 10:00 America/New_York")
    await office.reading(10)
    weekly = (await of_channel(office)).weekly
    assert (weekly.weekday, weekly.zone) == (Weekday.TUESDAY, "America/New_York")
    assert [post.message.text.split(" this channel")[0] for post in slack.posts] == [
        "Every Tuesday at 10:00 (New York)"
    ]
