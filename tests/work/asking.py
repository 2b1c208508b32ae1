"""What tests of questions about visitors share: the days they are about, and an answer."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

from bot.commands.parsing.visitors_options import parse_query
from bot.model import Extent
from bot.work.visitors.question import ask_visitors
from tests.builders import origin
from tests.work.office import RESPONSE_URL, Office

FIRST, LAST = date(2026, 10, 26), date(2026, 11, 1)
"""The last seven full days before the test's now."""
START = date(2026, 9, 1)
DAY = timedelta(days=1)


async def answered(office: Office) -> str:
    """Ana's question is answered; its number."""
    office.docs.site.fill(12, FIRST - 7 * DAY, LAST)
    await office.visitors()
    await office.reading(20)
    return "1"


async def ask_for_all(office: Office, text: str) -> None:
    """Ana asks, and wants all pages read, however many calls that takes."""
    office.keys += 1
    query = parse_query(text, office.clock(), office.context.analytics.zone)
    asked = origin(f"command:{office.keys}", url=RESPONSE_URL)
    await ask_visitors(office.context, asked, replace(query, extent=Extent.ALL))
