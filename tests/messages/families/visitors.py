"""Answers about visitors, what stands around them, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from bot.ids import Refusal
from bot.messages import visitors, visitors_answers
from bot.messages.plain_text import HEADER, csv_line
from bot.model.misses import Topic
from bot.model.questions import Comparison, FileTo, Movements, Report, VisitorsQuery
from bot.model.visitors import Budget, Counts, Period, ReadingProblem, SnapshotState, SortBy
from bot.outbox.model import NotPosted
from tests.builders import BEN, CHANNEL, NOW
from tests.messages.visitor_samples import QUESTION, WEEK, page, question, report, snapshot

BEFORE = WEEK.before()
LONGER = Period(date(2026, 9, 1), date(2026, 10, 1))
TODAY, YESTERDAY = (Period(date(2026, 11, day), date(2026, 11, day + 1)) for day in (2, 1))
YEAR = Period(date(2025, 1, 1), date(2026, 1, 1))
CUT: dict[str, Any] = {"state": SnapshotState.REQUESTED, "complete": False, "rows": 500}
EMPTY = Counts(0, 0, 0)
DAYS = tuple((step, Counts(10 + at, 20, 25 + at)) for at, step in enumerate(WEEK.steps()))
MOVED = {
    "risen": (
        page("/quickstart", (300, 700, 950), (240, 500, 700)),
        *(page(f"/{name}", (0, 0, 50), (0, 0, 5)) for name in "abcd"),
    ),
    "fallen": (page("/a", (0, 0, 401), (0, 0, 510)),),
    "appeared": (page("/a", (90, 60, 140)),),
    "vanished": (page("/a", (1, 0, 1)),),
    "hardly_people": (page("/a", (1, 400, 401)), page("/b", (0, 90, 90))),
    "hardly_ai": (page("/a", (80, 1, 81)),),
}


def unread(**values: Any) -> dict[str, Any]:
    """A period before that was not read."""
    return {"was": snapshot(BEFORE, totals=None, **values), "before": None}


def answers() -> Mapping[str, Report]:
    """Reports by what is known of both periods."""
    none, no_pages = {"compared": None}, dict[str, Any](top=(), pages=0)
    top = tuple(replace(each, was=None) for each in report().top)
    return {
        "a week against the week before": report(chart=DAYS),
        "nothing to compare with": report(query=none, was=None, before=None),
        "one of several docs": report(query={"label": "Acme <docs>"}),
        "periods of different length": report(
            query={"compared": LONGER}, was=snapshot(LONGER), comparison=Comparison.LENGTHS, top=top
        ),
        "a day that is not over": report(query={"period": TODAY, "compared": YESTERDAY}, is_open=True),
        "the one before was not over": report(comparison=Comparison.OPEN),
        "days that are not over": report(query=none, is_open=True, before=None, was=None),
        "no visits before": report(comparison=Comparison.EMPTY),
        "the data begins later": report(
            comparison=Comparison.BEGINS_LATE, empty=Period(WEEK.first, WEEK.last)
        ),
        **{
            f"a section by {sort}": report(query={"section": "/api", "sort": sort}, chart=DAYS)
            for sort in SortBy
        },
        "a section without visits": report(query={"section": "/api", "label": "Acme"}, **no_pages),
        "a section of which no page was read": report(
            query={"section": "/api"}, now=snapshot(complete=False, rows=250), **no_pages
        ),
        "no page was read": report(**no_pages),
        "no page could be read": report(now=snapshot(complete=False, rows=0), **no_pages),
        "no visits": report(site=EMPTY, **no_pages),
        "no visits so far, and a file": report(
            query={"period": TODAY, "file_to": FileTo.PRIVATE}, is_open=True, site=EMPTY, **no_pages
        ),
        "no visits of one of several docs": report(
            query={"period": YEAR, "label": "Acme"}, site=EMPTY, **no_pages
        ),
        "a file in the channel": report(query={"file_to": FileTo.CHANNEL}),
        "no calls were left": report(now=snapshot(**CUT), budget=Budget(100, 100, NOW)),
        "no calls were left for the period before": report(**unread(**CUT)),
        "no calls were left for either": report(now=snapshot(**CUT), **unread(**CUT)),
        "a part was not read": report(now=snapshot(complete=False, rows=1, problem=ReadingProblem.UNWELL)),
        "pages changed places": report(now=snapshot(repeated=3)),
        "a page before may be missing": report(was=snapshot(BEFORE, repeated=1)),
        "the period before was not read": report(**unread(problem=ReadingProblem.LATE)),
        "the period before was read in part": report(was=snapshot(BEFORE, complete=False, rows=750)),
        "no page of the period before was read": report(was=snapshot(BEFORE, complete=False, rows=0)),
        **{f"moved: {how}": report(movements=Movements(**{how: pages})) for how, pages in MOVED.items()},
        "the one that moved most": report(
            movements=Movements(risen=MOVED["risen"], fallen=MOVED["fallen"], appeared=MOVED["appeared"])
        ),
    }


def samples() -> Mapping[str, object]:
    """Answers, *More*, files, problems and prompts."""
    found = answers()
    query = VisitorsQuery(WEEK, None)
    long = tuple(page("/" + "x" * 200, (10**12, 10**12, 10**12), (1, 1, 1)) for _ in range(40))
    charts = (visitors.NO_CHART_BUDGET, visitors.NO_CHART_BEGINS, visitors.NO_CHART_READ)
    more = ("a week against the week before", "nothing to compare with", "periods of different length")
    refused = NotPosted(Refusal.NOT_A_MEMBER, CHANNEL, NOW)
    readers = {"AI": (10, 20, 25), "people": (40, 10, 45), "both": (20, 20, 30), "nobody": (0, 0, 0)}
    return {
        **{name: visitors.report(answer, QUESTION) for name, answer in found.items()},
        "shared": visitors.report(report(), QUESTION, shared_by=BEN),
        "shared, no visits": visitors.report(found["no visits"], QUESTION, shared_by=BEN),
        "not to share": visitors.report(report(), QUESTION, can_share=False),
        **{f"more: {name}": visitors.more(found[name], QUESTION) for name in more},
        "more: everything moved": visitors.more(report(movements=Movements(**MOVED)), QUESTION),
        "more: as many pages as fit": visitors.more(report(top=long, chart=DAYS), QUESTION).text[:120],
        **{f"more: {why}": visitors.more(report(no_chart=why), QUESTION) for why in charts},
        "more: no page, several docs": visitors.more(
            report(query={"label": "Acme"}, top=(), pages=0, was=snapshot(BEFORE, complete=False)), QUESTION
        ),
        **{f"reading: {topic}": visitors_answers.reading(replace(query, topic=topic)) for topic in Topic},
        "reading: one of several docs": visitors_answers.reading(replace(query, label="Acme <docs>")),
        "not readable": visitors_answers.not_readable(query, ReadingProblem.KEY),
        "budget used up": visitors_answers.budget_used_up(query, Budget(100, 100, NOW)),
        "budget used up, nobody knows until when": visitors_answers.budget_used_up(query, Budget(1, 1, None)),
        "misunderstood": visitors_answers.misunderstood("I don't know `gestern`."),
        "misunderstood, about a digest": visitors_answers.misunderstood("No.", about_digest=True),
        "shared before": visitors_answers.shared_before(),
        "file sent before": visitors_answers.file_sent_before(),
        "not kept": visitors_answers.not_kept(),
        "still reading": visitors_answers.still_reading(),
        "file follows": visitors_answers.file_follows(),
        "beside a file": [
            visitors_answers.file_words(question(), 1_200, complete=True),
            visitors_answers.file_words(
                question(query=replace(query, section="/api", label="Acme")), 1, complete=False
            ),
        ],
        "a file": csv_line(HEADER) + csv_line(["=/api", 1, 2, 3]),
        "undelivered": [
            visitors_answers.undelivered(refused, "docs-agent", is_file=is_file) for is_file in (False, True)
        ],
        **{
            f"the prompt about a page, read by {who}": visitors_answers.improve_prompt(
                page("/api/<users>", counts), WEEK
            )
            for who, counts in readers.items()
        },
    }
