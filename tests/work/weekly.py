"""What tests of digests share: subscriptions, what was posted, and time that passes."""

from __future__ import annotations

from datetime import date, datetime, timedelta

from bot.visitors.model import Subscription
from bot.visitors.store import Subscriptions
from tests.builders import CHANNEL
from tests.work.office import Office

DAY = timedelta(days=1)
MONDAY = date(2026, 11, 2)
"""The day of the test's now, 09:00 UTC."""
WEEK = MONDAY - 7 * DAY


async def subscribed(office: Office, words: str = "monday 09:00 UTC") -> Subscription:
    """A channel's subscription, proven by its first post."""
    await office.visitors(f"subscribe {words}")
    await office.reading(5)
    return await of_channel(office)


async def of_channel(office: Office) -> Subscription:
    """Return the channel's only subscription."""
    [subscription] = await office.store.read(lambda tx: Subscriptions(tx).in_channel(CHANNEL))
    return subscription


def digests(office: Office) -> list[str]:
    """The digests that were posted."""
    return [text for text in office.posted() if "The docs in the week" in text]


async def until(office: Office, at: datetime) -> None:
    """Let time pass up to a moment, and the rounds see to what came due."""
    office.clock.at = at
    await office.reading(12)
