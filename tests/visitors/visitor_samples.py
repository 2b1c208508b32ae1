"""Example reports, digests and subscriptions for tests of messages."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, time
from typing import Any

from bot.ids import QuestionId, ReadingId, SubscriptionId
from bot.jobs.model.jobs import ToReview
from bot.jobs.model.quota import Budget
from bot.visitors.model.digests import Digest
from bot.visitors.model.gaps import Source
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Query, Question, QuestionKind, QuestionState
from bot.visitors.model.readings import Counts, Reading
from bot.visitors.model.reports import Page, Report
from bot.visitors.model.subscriptions import Subscription, SubscriptionState, Weekday, WeeklyTime
from tests.builders import ANA, CHANNEL, NOW, PROJECT

WEEK = Period(date(2026, 10, 26), date(2026, 11, 2))
ZONE = "Europe/Berlin"
TAKEN = datetime(2026, 11, 2, 8, 0, tzinfo=UTC)
QUESTION = QuestionId(7)


def page(path: str, now: tuple[int, int, int], was: tuple[int, int, int] | None = None) -> Page:
    """Return a page by its people, AI agents and all visitors, now and before."""
    return Page(path, Counts(*now), Counts(*was) if was else None)


def reading(period: Period = WEEK, rows: int = 812, **values: Any) -> Reading:
    """Return a reading of a period, by default a whole one."""
    pages = {f"/page-{number}": Counts(1, 1, 2) for number in range(rows)}
    read: dict[str, Any] = {
        "totals": Counts(1_200, 3_400, 4_500),
        "pages": pages,
        "is_complete": True,
    }
    read |= {"source": Source.VISITORS, "id": ReadingId(1), "read_at": TAKEN, **values}
    return Reading(project=PROJECT, period=period, began_at=TAKEN, is_final=True, **read)


PAGES = (
    page("/quickstart", (300, 700, 950), (240, 500, 700)),
    page("/api/users", (1, 400, 401), (20, 500, 510)),
    page("/new", (90, 60, 140), (0, 0, 0)),
)


def report(*, query: dict[str, Any] | None = None, **values: Any) -> Report:
    """Return the report on a week of a site, compared with the week before."""
    compared = reading(WEEK.before(), id=ReadingId(2), totals=Counts(1_000, 3_500, 4_300))
    asked: dict[str, Any] = {"period": WEEK, "compared": WEEK.before(), "top": 3} | (query or {})
    defaults: dict[str, Any] = {
        "query": Query(**asked),
        "now": reading(),
        "was": compared,
        "site": Counts(1_200, 3_400, 4_500),
        "pages": PAGES,
        "chart": (),
        "budget": Budget(100, 12, None),
        "zone": ZONE,
    }
    made = defaults | values
    if made["was"] is None:
        made["pages"] = tuple(replace(page, was=None) for page in made["pages"])
    return Report(**made)


def subscription(**values: Any) -> Subscription:
    """Return Ana's subscription, for Mondays at nine in Berlin."""
    defaults: dict[str, Any] = {
        "id": SubscriptionId(3),
        "project": PROJECT,
        "channel": CHANNEL,
        "section": None,
        "weekly": WeeklyTime(Weekday.MONDAY, time(9), ZONE),
        "owner": ANA,
        "state": SubscriptionState.ACTIVE,
        "next_run_at": None,
    }
    return Subscription(**(defaults | values))


def question(**values: Any) -> Question:
    """Return Ana's question about the week."""
    defaults: dict[str, Any] = {
        "id": QUESTION,
        "kind": QuestionKind.VISITORS,
        "project": PROJECT,
        "channel": CHANNEL,
        "user": ANA,
        "query": Query(WEEK, WEEK.before()),
        "asked_at": NOW,
        "state": QuestionState.WAITING,
    }
    return Question(**(defaults | values))


def weekly(**values: Any) -> Digest:
    """Return a digest of which the next comes on Monday."""
    defaults: dict[str, Any] = {
        "report": report(),
        "query": (values.get("report") or report()).query,
        "to_review": ToReview((), NOW),
        "next_at": datetime(2026, 11, 9, 9, 0, tzinfo=UTC),
    }
    return Digest(**(defaults | values))
