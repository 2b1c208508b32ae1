"""Answers about visitors, the replies around them, and their files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import date
from typing import Any

from bot.ids import Refusal
from bot.jobs.model.quota import Budget
from bot.outbox.model import NotPosted
from bot.visitors.messages import answers as answer_messages
from bot.visitors.messages import digests as digest_messages
from bot.visitors.messages import prompts, reasons, usage
from bot.visitors.model.gaps import Topic
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import FileDestination, Query, SortBy
from bot.visitors.model.readings import NO_VISITORS, Counts, ReadingProblem
from bot.visitors.model.reports import NoComparison, NotComparable, Report
from tests.builders import BEN, CHANNEL, NOW
from tests.visitors.visitor_samples import PAGES, QUESTION, WEEK, page, reading, report

BEFORE = WEEK.before()
TODAY = Period(date(2026, 11, 2), date(2026, 11, 3))
MONTH, QUARTER = (Period(date(2026, 7, 1), date(2026, month, 1)) for month in (8, 10))
YEAR = Period(date(2025, 1, 1), date(2026, 1, 1))
CUT: dict[str, Any] = {"is_complete": False, "rows": 500, "problem": ReadingProblem.NO_CALLS}
DAYS = tuple((day, Counts(10 + at, 20, 25 + at)) for at, day in enumerate(WEEK.chart_points()))
NONE: dict[str, Any] = {"was": None}
MOVED = {
    "risen": (page("/rising", (300, 700, 950), (240, 500, 700)), page("/b", (0, 0, 50), (0, 0, 5))),
    "fallen": (page("/falling", (0, 0, 401), (0, 0, 510)),),
    "appeared": (page("/new", (90, 60, 140), (0, 0, 0)),),
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
        **{
            f"not compared: {reason}": report(
                not_compared=NoComparison(reason, BEFORE, total=1_200), **NONE
            )
            for reason in NotComparable
        },
        "a point of the chart is missing": report(
            query={"chart": (*WEEK.chart_points(),)}, chart=DAYS[1:]
        ),
        **{
            f"a section by {sort}": report(
                query={"section": "/api", "sort": sort, "top": 2}, chart=DAYS
            )
            for sort in SortBy
        },
        "a section with its views": report(
            query={"section": "/api"}, views=Counts(9_120, 12_004, 21_124)
        ),
        **{
            f"a section without its views: {problem}": report(
                query={"section": "/api"}, views_problem=problem
            )
            for problem in (ReadingProblem.TOO_LARGE, ReadingProblem.SHARE)
        },
        "a section without visits": report(query={"section": "/api", "label": "Acme"}, **no_pages),
        "a section of which no page was read": report(
            query={"section": "/api"}, now=reading(is_complete=False, rows=250), **no_pages
        ),
        "no page could be read": report(now=reading(is_complete=False, rows=0), **no_pages),
        "no visits": report(site=NO_VISITORS, **no_pages),
        "no visits so far, and a file": report(
            query={"period": TODAY, "file_to": FileDestination.PRIVATE},
            is_open=True,
            site=NO_VISITORS,
            **no_pages,
        ),
        "no visits of one of several docs": report(
            query={"period": YEAR, "label": "Acme"}, site=NO_VISITORS, **no_pages
        ),
        "a file in the channel": report(query={"file_to": FileDestination.CHANNEL}),
        "no calls were left": report(now=reading(**CUT), budget=Budget(100, 100, NOW)),
        "a part was not read": report(
            now=reading(is_complete=False, rows=1, problem=ReadingProblem.UNWELL)
        ),
        "the period before was read in part": report(
            was=reading(BEFORE, is_complete=False, rows=750),
            pages=tuple(replace(p, was=None) for p in PAGES),
        ),
        **{f"moved: {movement}": report(pages=pages) for movement, pages in MOVED.items()},
        "moved: vanished": report(pages=(), gone=(GONE,), now=reading(is_complete=False)),
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
        **{name: answer_messages.answer(report, QUESTION) for name, report in reports.items()},
        "shared": answer_messages.answer(report(), QUESTION, shared_by=BEN),
        "shared, no visits": answer_messages.answer(reports["no visits"], QUESTION, shared_by=BEN),
        "not to share": answer_messages.answer(report(), QUESTION, can_share=False),
        "more": answer_messages.more(week, QUESTION),
        "all numbers of a digest": answer_messages.all_numbers(week, QUESTION),
        "more: nothing to compare with": answer_messages.more(
            reports["nothing to compare with"], QUESTION
        ),
        "more: everything moved": answer_messages.more(report(pages=every, gone=(GONE,)), QUESTION),
        "more: no page, several docs": answer_messages.more(
            report(query={"label": "Acme"}, pages=(), was=None, now=reading(is_complete=False)),
            QUESTION,
        ),
        **{
            f"reading: {topic}": answer_messages.progress_note(replace(query, topic=topic))
            for topic in Topic
        },
        "reading: one of several docs": answer_messages.progress_note(
            replace(query, label="Acme <docs>")
        ),
        **{f"not read: {code}": reasons.not_read("Votes", code) for code in codes},
        "unanswered": answer_messages.unanswered(query, ReadingProblem.KEY, None),
        "unanswered: no calls left": answer_messages.unanswered(
            query, ReadingProblem.NO_CALLS, NOW
        ),
        "unanswered: nobody knows until when": answer_messages.unanswered(
            query, ReadingProblem.LATE, None
        ),
        "did you mean": usage.offer_corrected("last <week>", is_question=True),
        "did you mean, about a digest": usage.offer_corrected("pause", is_question=False),
        "did you mean the help": usage.suggest_help(),
        "did you mean a page": usage.offer_page("I don't know the period `faq`.", "/faq"),
        "shared before": answer_messages.SHARED_BEFORE,
        "file sent before": answer_messages.FILE_SENT_BEFORE,
        "not kept": answer_messages.NOT_KEPT,
        "still reading": answer_messages.STILL_READING,
        "file follows": answer_messages.FILE_FOLLOWS,
        "a file": list(answer_messages.csv_file(query, counts, complete=True)),
        "a file of a section, in part": list(
            answer_messages.csv_file(
                replace(query, section="/api", label="Acme"), counts, complete=False
            )
        ),
        "undelivered": [
            digest_messages.answer_undelivered(refused, "docs-agent", is_file=is_file)
            for is_file in (False, True)
        ],
        **{
            f"the prompt about a page, read by {who}": prompts.improve_prompt(
                "/api/<users>", Counts(*numbers), WEEK
            )
            for who, numbers in visits.items()
        },
        "help about periods": usage.period_help(),
        "whole help about periods": usage.FULL_HELP,
    }
