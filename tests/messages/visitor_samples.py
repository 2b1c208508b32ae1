"""What the tests of words about visitors start from: examples, and whatever may come."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Any

from hypothesis import strategies as st

from bot.messages.misses import asked_about
from bot.messages.visitors import NO_CHART_BEGINS, NO_CHART_BUDGET, NO_CHART_READ
from bot.model.ids import JobNumber, PageKey, QuestionId, SnapshotId, SubscriptionId
from bot.model.jobs import JobState, TrackedJob
from bot.model.misses import Topic
from bot.model.questions import (
    MOST_TOP,
    Comparison,
    Movements,
    Question,
    QuestionKind,
    QuestionState,
    Report,
    Subscription,
    SubscriptionState,
    Suggestion,
    SuggestionReason,
    VisitorsQuery,
    Weekday,
    WeeklyReport,
    WeeklyTime,
    WorkDone,
)
from bot.model.visitors import Budget, Counts, PageCounts, Period, Snapshot, SnapshotState
from bot.model.worth import MOST, Worth
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


NASTY_PATHS = [
    *("<!channel>", "<!here|here>", "<@U123>", "<https://evil.example|good.example>", "&lt;!channel&gt;"),
    *(
        *("`", "```", "*", "_", "~", "&", "<", ">", "|", " ", "\n", "👩‍👩‍👧‍👧", "﷽"),
        *("\u202e", "\u200f", "\0", "\ud800"),
    ),
]
"""What a path could do harm with, or is counted as longer than it looks."""
PIECES = st.one_of(st.sampled_from(NASTY_PATHS), st.text(max_size=12))
PATHS = st.one_of(
    st.just("/quickstart"),
    st.lists(PIECES, max_size=12).map(lambda pieces: "/" + "".join(pieces)),
    st.builds(lambda piece, times: f"/{piece * times}"[:2_000], PIECES, st.integers(1, 2_000)),
    st.just(""),
)
NUMBERS = st.one_of(st.integers(0, 20), st.integers(0, 10**12), st.just(10**12))
COUNTS = st.builds(Counts, NUMBERS, NUMBERS, NUMBERS)
PERIODS = st.builds(
    lambda first, days: Period(first, first + timedelta(days=days)),
    st.dates(date(2020, 1, 1), date(2029, 12, 31)),
    st.integers(1, 366),
)
PAGES = st.builds(
    PageCounts, st.integers(1, 2**31 - 1).map(page_key), PATHS, COUNTS, st.one_of(st.none(), COUNTS)
)
SOME_PAGES = st.lists(PAGES, max_size=5).map(tuple)
MOVEMENTS = st.builds(Movements, SOME_PAGES, SOME_PAGES, SOME_PAGES, SOME_PAGES, SOME_PAGES, SOME_PAGES)
MOMENTS = st.one_of(st.none(), st.just(NOW + timedelta(minutes=7)))
PROBLEMS = st.one_of(st.none(), PATHS)
BUDGETS = st.builds(Budget, st.integers(0, 10**6), st.integers(0, 10**6), MOMENTS)
ZONES = st.sampled_from(["UTC", ZONE, "Asia/Kolkata", "America/Argentina/ComodRivadavia"])
SNAPSHOTS = st.builds(
    snapshot,
    PERIODS,
    state=st.sampled_from(SnapshotState),
    rows=NUMBERS,
    repeated=NUMBERS,
    calls=st.integers(0, 10**6),
    complete=st.booleans(),
    problem=PROBLEMS,
    taken_at=MOMENTS,
)
MINUTES = st.builds(time, st.integers(0, 23), st.integers(0, 59))
WEEKLY_TIMES = st.builds(WeeklyTime, st.sampled_from(Weekday), MINUTES, ZONES)
SUBSCRIPTIONS = st.builds(
    subscription,
    section=st.one_of(st.none(), PATHS),
    weekly=WEEKLY_TIMES,
    state=st.sampled_from(SubscriptionState),
    last_result=PROBLEMS,
    last_run_at=MOMENTS,
)
WISHES = st.builds(
    VisitorsQuery,
    PERIODS,
    st.one_of(st.none(), PERIODS),
    section=st.one_of(st.none(), PATHS),
    label=st.one_of(st.none(), PATHS),
)
QUESTIONS = st.builds(question, query=WISHES)
WORK = st.builds(
    WorkDone,
    NUMBERS,
    st.dictionaries(st.sampled_from(JobState), NUMBERS),
    st.one_of(st.none(), st.timedeltas(timedelta(0), timedelta(days=400))),
)


TOPICS = st.sampled_from([topic for topic in Topic if topic.is_missed])
WORTH = st.builds(
    Worth, TOPICS, st.just("0" * 16), PATHS, NUMBERS, NUMBERS, st.one_of(st.none(), NUMBERS), PATHS
)
ASKED = st.builds(
    TrackedJob,
    number=st.just(JobNumber(7)),
    project=st.just(PROJECT),
    channel=st.just(CHANNEL),
    requester=st.just(ANA),
    text=st.just("Write it"),
    asked_at=st.just(NOW),
    state=st.sampled_from(JobState),
    pr_link=PROBLEMS,
    about=st.builds(asked_about, st.just("0" * 16), PATHS),
)


@st.composite
def many_pages(draw: st.DrawFn, most: int = MOST_TOP) -> tuple[PageCounts, ...]:
    """Up to so many pages, from a few that are drawn: drawing each would take long."""
    drawn = draw(st.lists(PAGES, max_size=4))
    size = draw(st.integers(0, most)) if drawn else 0
    return tuple(
        PageCounts(page_key(at + 1), each.path, each.now, each.was)
        for at, each in enumerate(drawn[at % len(drawn)] for at in range(size))
    )


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Whatever the service, the sites and the budget make of a question."""
    query = draw(WISHES)
    points = [(step, draw(COUNTS)) for step in query.period.steps()]
    top = draw(many_pages())
    has_before = query.compared is not None and draw(st.booleans())
    return report(
        query={name: getattr(query, name) for name in ("period", "compared", "section", "label")},
        now=draw(SNAPSHOTS),
        was=draw(SNAPSHOTS) if has_before or (query.compared and draw(st.booleans())) else None,
        site=draw(COUNTS),
        before=draw(COUNTS) if has_before else None,
        pages=max(len(top), draw(NUMBERS)),
        top=top,
        movements=draw(MOVEMENTS),
        chart=draw(st.sampled_from([(), tuple(points)])),
        no_chart=draw(st.sampled_from([None, NO_CHART_BEGINS, NO_CHART_BUDGET, NO_CHART_READ])),
        budget=draw(BUDGETS),
        zone=draw(ZONES),
        is_open=draw(st.booleans()),
        comparison=draw(st.sampled_from(Comparison)) if has_before else Comparison.NONE,
    )


@st.composite
def weeklies(draw: st.DrawFn) -> WeeklyReport:
    """Whatever a digest may have to tell."""
    curve = tuple((week, draw(st.one_of(st.none(), COUNTS))) for week, _ in weekly().curve)
    return WeeklyReport(
        report=draw(reports()),
        curve=curve,
        work=draw(WORK),
        suggestion=draw(
            st.one_of(st.none(), st.builds(Suggestion, PAGES, st.sampled_from(SuggestionReason)))
        ),
        subscription=draw(st.one_of(st.none(), SUBSCRIPTIONS)),
        worth=tuple(draw(st.lists(WORTH, max_size=MOST))),
        asked=tuple(draw(st.lists(ASKED, max_size=MOST))),
    )


def cells(blocks: Sequence[dict[str, Any]]) -> list[list[str]]:
    """What stands in the table, row by row."""
    return [[cell["text"] for cell in row] for block in blocks if "rows" in block for row in block["rows"]]


def chart(blocks: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The chart, if there is one."""
    return next((block for block in blocks if block["type"] == "data_visualization"), None)


def elements(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The buttons and menus."""
    return [each for block in blocks if block["type"] == "actions" for each in block["elements"]]
