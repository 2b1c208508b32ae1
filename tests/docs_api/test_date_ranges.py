"""The ends of a date range in a request for visitors: days, or times in UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.docs_api import InvalidArgument, _wire
from tests.docs_api.builders import NOW

BASE = "https://docs.example.com/api"


def test_a_date_range_without_a_day_in_it_is_refused() -> None:
    day = date(2026, 11, 1)
    noon, evening = (datetime(2026, 11, 1, hour, tzinfo=UTC) for hour in (12, 18))
    for first, end in ((day, day), (noon, evening), (day, evening), (noon, day)):
        with pytest.raises(InvalidArgument, match="date_to must be on a day after"):
            _wire.visitors(BASE, "p", first, end, 50, 0)


def query_of(first: date | None, end: date | None) -> dict[str, str]:
    """The query of a request for visitors."""
    return dict(parse_qsl(urlsplit(_wire.visitors(BASE, "p", first, end, 50, 0).url).query))


def test_the_ends_of_a_date_range_may_be_times_and_are_sent_in_utc() -> None:
    first = datetime(2026, 11, 1, 1, 30, tzinfo=timezone(timedelta(hours=2)))
    sent = query_of(first, datetime(2026, 11, 3, 9, 0, 0, 250_000, tzinfo=UTC))
    assert sent["dateFrom"] == "2026-10-31T23:30:00Z"
    assert sent["dateTo"] == "2026-11-03T09:00:00.250000Z"


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_any_two_times_are_sent_as_they_are_or_refused(first: datetime, end: datetime) -> None:
    try:
        sent = query_of(first, end)
    except InvalidArgument:
        assert end <= first + timedelta(days=1) or {first.year, end.year} & {1, 9999}
        return
    # In UTC, because a wall time that comes twice equals no time of another zone (PEP 495).
    asked = [each.astimezone(UTC) for each in (first, end)]
    assert [datetime.fromisoformat(sent[name]) for name in ("dateFrom", "dateTo")] == asked


@pytest.mark.parametrize(
    "odd", [NOW.replace(tzinfo=None), datetime.max.replace(tzinfo=timezone(-timedelta(hours=12)))]
)
def test_a_time_without_a_zone_or_outside_utc_is_refused(odd: datetime) -> None:
    with pytest.raises(InvalidArgument, match="date_from"):
        _wire.visitors(BASE, "p", odd, None, 50, 0)
