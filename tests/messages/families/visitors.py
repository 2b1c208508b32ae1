"""Answers about visitors, the replies around them, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from bot.ids import Refusal
from bot.jobs.model.quota import Budget
from bot.messages.plain_text import without_quotation_marks
from bot.outbox.model import NotPosted
from bot.visitors import digest_messages, gap_messages, messages
from bot.visitors.content_gaps import Topic
from bot.visitors.model import NO_VISITORS, Counts, FileTo, Query, ReadingProblem, Report, SortBy
from bot.visitors.periods import Period
from tests.builders import BEN, CHANNEL, NOW
from tests.visitors.visitor_samples import PAGES, QUESTION, WEEK, page, reading, report

BEFORE = WEEK.before()
TODAY = Period(date(2026, 11, 2), date(2026, 11, 3))
MONTH, QUARTER = (Period(date(2026, 7, 1), date(2026, month, 1)) for month in (8, 10))
YEAR = Period(date(2025, 1, 1), date(2026, 1, 1))
CUT: dict[str, Any] = {"complete": False, "rows": 500}
DAYS = tuple((day, Counts(10 + at, 20, 25 + at)) for at, day in enumerate(WEEK.chart_points()))
NONE: dict[str, Any] = {"was": None}
MOVED = {
    "risen": (page("/rising", (300, 700, 950), (240, 500, 700)), page("/b", (0, 0, 50), (0, 0, 5))),
    "fallen": (page("/falling", (0, 0, 401), (0, 0, 510)),),
    "appeared": (page("/new", (90, 60, 140), (0, 0, 0)),),
    "hardly people": (page("/machines", (1, 400, 401)), page("/b", (0, 90, 90))),
    "hardly AI": (page("/humans", (80, 1, 81)),),
}
GONE = page("/old", (0, 0, 0), (60, 10, 70))


def answers() -> Mapping[str, Report]:
    """Return reports by their content."""
    none = {"compared": None}
    no_pages = dict[str, Any](pages=(), was=None)
    return {
        "a week against the week before": report(
            query={"chart": (*WEEK.chart_points(),)}, chart=DAYS
        ),
        **{
            f"more than {name}": report(query={"period": period, "compared": period.before()})
            for name, period in (("a month", MONTH), ("a quarter", QUARTER), ("a year", YEAR))
        },
        "nothing to compare with": report(query=none, **NONE),
        "one of several docs": report(query={"label": "Acme <docs>"}),
        "a day that is not over": report(query={"period": TODAY}, is_open=True, **NONE),
        "days that are not over": report(query=none, is_open=True, **NONE),
        "not compared": report(not_compared="no visits for it", **NONE),
        "a point of the chart is missing": report(
            query={"chart": (*WEEK.chart_points(),)}, chart=DAYS[1:]
        ),
        **{
            f"a section by {sort}": report(
                query={"section": "/api", "sort": sort, "top": 2}, chart=DAYS
            )
            for sort in SortBy
        },
        "a section without visits": report(query={"section": "/api", "label": "Acme"}, **no_pages),
        "a section of which no page was read": report(
            query={"section": "/api"}, now=reading(complete=False, rows=250), **no_pages
        ),
        "no page could be read": report(now=reading(complete=False, rows=0), **no_pages),
        "no visits": report(site=NO_VISITORS, **no_pages),
        "no visits so far, and a file": report(
            query={"period": TODAY, "file_to": FileTo.PRIVATE},
            is_open=True,
            site=NO_VISITORS,
            **no_pages,
        ),
        "no visits of one of several docs": report(
            query={"period": YEAR, "label": "Acme"}, site=NO_VISITORS, **no_pages
        ),
        "a file in the channel": report(query={"file_to": FileTo.CHANNEL}),
        "no calls were left": report(now=reading(**CUT), budget=Budget(100, 100, NOW)),
        "a part was not read": report(
            now=reading(complete=False, rows=1, problem=ReadingProblem.UNWELL)
        ),
        "the period before was read in part": report(
            was=reading(BEFORE, complete=False, rows=750),
            pages=tuple(replace(p, was=None) for p in PAGES),
        ),
        **{f"moved: {movement}": report(pages=pages) for movement, pages in MOVED.items()},
        "moved: vanished": report(pages=(), gone=(GONE,), now=reading(complete=False)),
    }


def samples() -> Mapping[str, object]:
    """Return answers, *More*, files, problems and prompts by name."""
    reports, query = answers(), Query(WEEK)
    week = reports["a week against the week before"]
    refused = NotPosted(Refusal.NOT_A_MEMBER, CHANNEL, NOW)
    visits = {"AI": (10, 20, 25), "people": (40, 10, 45), "both": (20, 20, 30), "nobody": (0, 0, 0)}
    every = sum(MOVED.values(), ())
    counts = {page.path: page.now for page in PAGES}
    codes = (*ReadingProblem, Refusal.ARCHIVED, "newer")
    return {
        **{name: messages.answer(report, QUESTION) for name, report in reports.items()},
        "options without the marks of a phone": without_quotation_marks("path “/api”"),
        "shared": messages.answer(report(), QUESTION, shared_by=BEN),
        "shared, no visits": messages.answer(reports["no visits"], QUESTION, shared_by=BEN),
        "not to share": messages.answer(report(), QUESTION, can_share=False),
        "more": messages.more(week, QUESTION),
        "more: of a digest": messages.more(week, QUESTION, is_digest=True),
        "more: nothing to compare with": messages.more(
            reports["nothing to compare with"], QUESTION
        ),
        "more: everything moved": messages.more(report(pages=every, gone=(GONE,)), QUESTION),
        "more: no page, several docs": messages.more(
            report(query={"label": "Acme"}, pages=(), was=None, now=reading(complete=False)),
            QUESTION,
        ),
        **{
            f"reading: {topic}": messages.progress_note(replace(query, topic=topic))
            for topic in Topic
        },
        "reading: one of several docs": messages.progress_note(replace(query, label="Acme <docs>")),
        **{f"not read: {code}": messages.reading_problem(code) for code in codes},
        "not readable": messages.not_readable(query, ReadingProblem.KEY),
        "budget used up": messages.budget_used_up(query, Budget(100, 100, NOW)),
        "budget used up, nobody knows until when": messages.budget_used_up(
            query, Budget(1, 1, None)
        ),
        "did you mean": messages.offer_corrected("last <week>", is_question=True),
        "did you mean, about a digest": messages.offer_corrected("pause", is_question=False),
        "shared before": messages.SHARED_BEFORE,
        "file sent before": messages.FILE_SENT_BEFORE,
        "not kept": messages.NOT_KEPT,
        "still reading": messages.STILL_READING,
        "file follows": messages.FILE_FOLLOWS,
        "a file": list(messages.csv_file(query, counts, complete=True)),
        "a file of a section, in part": list(
            messages.csv_file(replace(query, section="/api", label="Acme"), counts, complete=False)
        ),
        "undelivered": [
            digest_messages.answer_undelivered(refused, "docs-agent", is_file=is_file)
            for is_file in (False, True)
        ],
        **{
            f"the prompt about a page, read by {who}": gap_messages.improve_prompt(
                "/api/<users>", Counts(*numbers), WEEK
            )
            for who, numbers in visits.items()
        },
        "help about periods": messages.period_help(),
        "whole help about periods": messages.FULL_HELP,
    }
