"""What the tests of words about visitors start from: examples, and whatever may come."""

from __future__ import annotations

import zlib
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from bot.ids import PageKey, QuestionId, SnapshotId, SubscriptionId
from bot.model.jobs import JobState
from bot.model.questions import (
    Comparison,
    Movements,
    Question,
    QuestionKind,
    QuestionState,
    Report,
    Subscription,
    SubscriptionState,
    VisitorsQuery,
    Weekday,
    WeeklyReport,
    WeeklyTime,
    WorkDone,
)
from bot.model.visitors import Budget, Counts, PageCounts, Period, Snapshot, SnapshotState
from tests.builders import ANA, CHANNEL, NOW, PROJECT

WEEK = Period(date(2026, 10, 26), date(2026, 11, 2))
ZONE = "Europe/Berlin"
TAKEN = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
QUESTION = QuestionId(7)


def page_key(number: int) -> PageKey:
    """The key of a page, as long as keys are."""
    return PageKey(f"{number}:{number:032x}")


def page(path: str, now: tuple[int, int, int], was: tuple[int, int, int] | None = None) -> PageCounts:
    """A page by its people, AI agents and all visitors, now and before."""
    key = PageKey(f"0:{zlib.crc32(path.encode()):08x}")
    return PageCounts(key, path, Counts(*now), Counts(*was) if was else None)


def snapshot(period: Period = WEEK, **values: Any) -> Snapshot:
    """A window that was read whole."""
    given: dict[str, Any] = {
        "id": SnapshotId(1),
        "project": PROJECT,
        "period": period,
        "state": SnapshotState.DONE,
        "with_pages": True,
        "totals": Counts(1_200, 3_400, 4_500),
        "rows": 812,
        "repeated": 0,
        "next_offset": 812,
        "calls": 4,
        "attempts": 1,
        "complete": True,
        "is_final": True,
        "taken_at": TAKEN,
        "due_at": TAKEN,
    }
    return Snapshot(**(given | values))


def report(*, query: dict[str, Any] | None = None, **values: Any) -> Report:
    """A week of a site, against the week before."""
    given: dict[str, Any] = {
        "query": VisitorsQuery(**({"period": WEEK, "compared": WEEK.before()} | (query or {}))),
        "now": snapshot(),
        "was": snapshot(WEEK.before(), id=SnapshotId(2)),
        "site": Counts(1_200, 3_400, 4_500),
        "before": Counts(1_000, 3_500, 4_300),
        "pages": 812,
        "top": (
            page("/quickstart", (300, 700, 950), (240, 500, 700)),
            page("/api/users", (1, 400, 401), (20, 500, 510)),
            page("/new", (90, 60, 140)),
        ),
        "movements": Movements(),
        "chart": (),
        "no_chart": None,
        "budget": Budget(100, 12, None),
        "zone": ZONE,
        "is_open": False,
        "taken_at": TAKEN,
    }
    made = given | values
    plain = Comparison.NONE if made["before"] is None else Comparison.FAIR
    made.setdefault("comparison", Comparison.OPEN if made["is_open"] else plain)
    return Report(**made)


def subscription(**values: Any) -> Subscription:
    """Ana's, for Mondays at nine in Berlin."""
    given: dict[str, Any] = {
        "id": SubscriptionId(3),
        "project": PROJECT,
        "channel": CHANNEL,
        "section": None,
        "weekly": WeeklyTime(Weekday.MONDAY, time(9), ZONE),
        "owner": ANA,
        "state": SubscriptionState.ACTIVE,
        "revision": 1,
        "next_run_at": None,
    }
    return Subscription(**(given | values))


def question(**values: Any) -> Question:
    """Ana's, about the week."""
    given: dict[str, Any] = {
        "id": QUESTION,
        "kind": QuestionKind.VISITORS,
        "project": PROJECT,
        "channel": CHANNEL,
        "user": ANA,
        "query": VisitorsQuery(WEEK, WEEK.before()),
        "asked_at": NOW,
        "state": QuestionState.WAITING,
        "now": SnapshotId(1),
        "was": SnapshotId(2),
        "older": None,
        "chart": None,
    }
    return Question(**(given | values))


def work(asked: int = 0, *, median_time: timedelta | None = None, **ended: int) -> WorkDone:
    """Jobs of a week, by how they ended: ``work(3, pull_request=2)``."""
    return WorkDone(asked, {JobState[name.upper()]: number for name, number in ended.items()}, median_time)


def weekly(**values: Any) -> WeeklyReport:
    """A digest with a curve of eight weeks."""
    weeks = [WEEK]
    while len(weeks) < 8:
        weeks.insert(0, weeks[0].before())
    given: dict[str, Any] = {
        "report": report(),
        "curve": tuple((week, Counts(1_000, 3_000, 3_900 + at)) for at, week in enumerate(weeks)),
        "work": work(),
        "suggestion": None,
        "subscription": subscription(),
    }
    return WeeklyReport(**(given | values))
