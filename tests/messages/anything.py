"""Strategies for the arguments of any function of ``bot.messages``, found by its annotations."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import date, datetime, time, timedelta
from enum import Enum
from functools import cache
from typing import Any

from hypothesis import strategies as st
from pydantic import SecretStr

from bot.access.model import Access
from bot.answers.model import DocsPage, InquiryId
from bot.ids import (
    ChannelId,
    JobNumber,
    Message,
    MessageTs,
    QuestionId,
    ReadingId,
    RequestKey,
    SubscriptionId,
    UserId,
)
from bot.jobs.messages.job_answers import Limits
from bot.jobs.messages.jobs import STATES_WITH_BUTTONS
from bot.jobs.messages.sending import note_for_admins
from bot.jobs.model.jobs import JobProblem, JobState, TrackedJob
from bot.jobs.model.prompts import UnsentText
from bot.jobs.model.quota import Budget
from bot.messages import blocks as b
from bot.messages.help import CommandHelp
from bot.messages.links import Site
from bot.messages.markdown import Node, parse
from bot.messages.plain_text import visible
from bot.projects import Project, Projects
from bot.pulls.model.previews import Preview
from bot.visitors.model.digests import Outcome, Recommendation
from bot.visitors.model.gaps import GAP_REPORT_TYPES, page_of
from bot.visitors.model.own_questions import OwnQuestions
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import MAX_TOP, Numbers, Query
from bot.visitors.model.readings import Counts, Reading
from bot.visitors.model.reports import NoComparison, Page, Report
from bot.visitors.model.subscriptions import Weekday, WeeklyTime
from bot.visitors.recommendations import MAX_RECOMMENDED
from tests.builders import ANA, BEN, CHANNEL, NOW, PROJECT
from tests.messages.samples import PERMALINK, PULL_REQUEST

NASTY = st.sampled_from(
    (
        *(
            "<!channel>",
            "<!here|here>",
            "<@U0EVIL>",
            "<https://evil.example|good.example>",
            "<",
            ">",
        ),
        *(
            "```",
            "*",
            "_",
            "~",
            "`",
            "> ",
            "|",
            "&lt;!channel&gt;",
            "&",
            "\n\n",
            "\ufdfd",
            "\u070f",
        ),
        *(
            "\u202e",
            "\u0000",
            "\ud800",
            "\u200f",
            "\r",
            "\x85",
            "\u200d",
            "\u200b",
            "\u00ad",
            "\ufe0f",
        ),
        *("\U000e0041", "\U000e0101", "\u2066", "\ufe00", "\U000e007f", "1\ufe0f\u20e3", "\ufeff"),
        *("\U0001f3f4", "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f467"),
    )
)
HOSTILE = "x” · merged by admin · *Approved* _now_ ~no~ :tada: `code` “y"
ANY_TEXT = st.one_of(
    st.just(HOSTILE),
    st.text(st.characters(), max_size=400),
    st.lists(st.one_of(NASTY, st.text(max_size=20)), max_size=40).map("".join),
    st.builds(
        lambda piece, times: (piece * times)[:5_000],
        st.text(min_size=1, max_size=30),
        st.integers(1, 40_000),
    ),
    st.builds(lambda piece, times: (piece * times)[:5_000], NASTY, st.integers(1, 4_000)),
)


def of(hint: Any, place: str) -> st.SearchStrategy[Any]:
    """Return a strategy for an annotation. ``place``: the class or function, a dot, and the name there."""
    for strategy in (BY_PLACE.get(place), BY_PLACE.get(place.partition(".")[2]), BY_TYPE.get(hint)):
        if strategy is not None:
            return strategy
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of(*(of(part, place) for part in inner))
    if hint is type(None):
        return st.none()
    if origin is tuple and inner[-1] is not ...:
        return st.tuples(*(of(part, place) for part in inner))
    if origin in (tuple, list, Collection, Sequence, Iterable):
        some = st.lists(of(inner[0], place), min_size=place in _NEVER_EMPTY, max_size=2)
        return st.builds(lambda rows, times: tuple(rows * times), some, st.integers(1, 5))
    if origin in (dict, Mapping):
        return st.dictionaries(*(of(part, place) for part in inner), max_size=3)
    if hasattr(hint, "__supertype__"):
        return of(hint.__supertype__, place)
    if issubclass(hint, Enum):
        return st.sampled_from(hint)
    return built(hint)


_NEVER_EMPTY = {"follow_up_form.jobs", "gap_list.gaps"}


@cache
def built(made: Callable[..., Any]) -> st.SearchStrategy[Any]:
    """Return a strategy for an instance of a class, or for the arguments and the result of a function."""
    return st.builds(made, **arguments(made))


@cache
def arguments(made: Callable[..., Any]) -> Mapping[str, st.SearchStrategy[Any]]:
    """Return a strategy for each parameter."""
    hints = typing.get_type_hints(made.__init__ if is_dataclass(made) else made)
    names = inspect.signature(made).parameters
    return {name: of(hints[name], f"{made.__name__}.{name}") for name in names}


NASTY_PATHS = [
    *(
        "<!channel>",
        "<!here|here>",
        "<@U123>",
        "<https://evil.example|good.example>",
        "&lt;!channel&gt;",
    ),
    *(
        *("`", "```", "*", "_", "~", "&", "<", ">", "|", " ", "\n", "👩‍👩‍👧‍👧", "﷽"),
        *("\u202e", "\u200f", "\0", "\ud800"),
    ),
]
"""Pieces of paths that could harm, or that count as more characters than are visible."""
PIECES = st.one_of(st.sampled_from(NASTY_PATHS), st.text(max_size=12))
PATHS = st.one_of(
    st.just("/quickstart"),
    st.lists(PIECES, max_size=12).map(lambda pieces: "/" + "".join(pieces)),
    st.builds(lambda piece, times: f"/{piece * times}"[:2_000], PIECES, st.integers(1, 2_000)),
    st.just(""),
)
ESTIMATES = st.one_of(st.integers(0, 20), st.integers(0, 10**12), st.just(10**12))
PERIODS = st.builds(
    lambda first, days: Period(first, first + timedelta(days=days)),
    st.dates(date(2020, 1, 1), date(2029, 12, 31)),
    st.integers(1, 366),
)
ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "Asia/Kolkata", "America/Argentina/ComodRivadavia"]
)
MINUTES = st.builds(time, st.integers(0, 23), st.integers(0, 59))
WEEKLY_TIMES = st.builds(WeeklyTime, st.sampled_from(Weekday), MINUTES, ZONES)
READ_PAGES = PATHS.map(lambda path: page_of(visible(path)) or "/")
QUOTED = ANY_TEXT.map(lambda text: f"Why: “{b.quoted(text, 300)}”")
PEOPLE = st.sampled_from([ANA, BEN])
WITH_ADDRESS = st.one_of(
    st.just("https://code.example/pull/1"),
    st.builds("https://code.example/{}".format, ANY_TEXT),
    ANY_TEXT,
)
CODES = st.sampled_from([f"{problem}:{BEN}" for problem in JobProblem])
TWO_PROJECTS = st.builds(
    lambda one, other: Projects((one, other)),
    st.builds(Project, ANY_TEXT, st.just("acme"), ANY_TEXT),
    st.builds(Project, st.just("b"), st.just("beta"), st.just("Beta")),
)
BY_TYPE: Mapping[Any, st.SearchStrategy[Any]] = {
    str: ANY_TEXT,
    int: ESTIMATES,
    bool: st.booleans(),
    float: st.floats(0, 10**6),
    datetime: st.sampled_from([NOW, NOW + timedelta(minutes=4), NOW - timedelta(days=40)]),
    timedelta: st.timedeltas(timedelta(0), timedelta(days=400)),
    time: st.times(),
    SecretStr: st.just(SecretStr("kept")),
    dict[str, Any]: st.nothing(),
    UserId: PEOPLE,
    ChannelId: st.just(CHANNEL),
    JobNumber: st.integers(1, 2**31 - 1),
    InquiryId: st.integers(1, 2**31 - 1),
    QuestionId: st.integers(1, 2**31 - 1),
    ReadingId: st.integers(1, 2**31 - 1),
    SubscriptionId: st.integers(1, 2**31 - 1),
    MessageTs: st.just("1.2"),
    RequestKey: st.just("command:1"),
    Message: st.builds(b.words, QUOTED),
    Projects: TWO_PROJECTS,
    Project: TWO_PROJECTS.map(lambda both: both.default),
    WeeklyTime: WEEKLY_TIMES,
    Period: PERIODS,
    Report: st.deferred(lambda: REPORTS),
    Node: ANY_TEXT.map(lambda text: parse(f"Words {text}", Site())),
}
ENDS = sorted({*STATES_WITH_BUTTONS, JobState.NO_PULL_REQUEST})
BY_PLACE: Mapping[str, st.SearchStrategy[Any]] = {
    "permalink": st.one_of(st.none(), st.just(PERMALINK), ANY_TEXT),
    "status_message_link": st.one_of(st.none(), st.just(PERMALINK), ANY_TEXT),
    "DocsPage.address": WITH_ADDRESS,
    "pr_link": st.one_of(st.none(), WITH_ADDRESS),
    "TrackedJob.problem": st.one_of(st.none(), ANY_TEXT, CODES),
    "section": st.one_of(st.none(), PATHS.map(lambda path: "".join(path.split())[:300])),
    "GapRow.page": READ_PAGES,
    "Page.path": PATHS,
    "Recommendation.key": st.just("0" * 16),
    "Digest.recommendations": st.deferred(
        lambda: st.lists(built(Recommendation), max_size=MAX_RECOMMENDED).map(tuple)
    ),
    "Digest.asked": st.none(),
    "Digest.outcomes": st.deferred(lambda: st.lists(built(Outcome), max_size=2).map(tuple)),
    "Outcome.change": st.just("votes against 8 → 2"),
    "gap_answer.numbers": st.deferred(lambda: GAPS),
    "more_gaps.numbers": st.deferred(lambda: GAPS),
    "gap_file.numbers": st.deferred(lambda: GAPS),
    **dict.fromkeys(
        ("gap_recommendations.numbers", "compare_unmet.then", "compare_unmet.now"),
        st.deferred(lambda: GAPS),
    ),
    "not_offered.query": st.deferred(lambda: GAP_QUERIES),
    "offer_corrected.text": ANY_TEXT.map(lambda text: f"{text[:200]} monday"),
    "offer_page.reason": st.just("I don't know the period `faq`. Try `2026-10-01..2026-10-31`."),
    "offer_page.page": st.from_regex(r"/[A-Za-z][A-Za-z0-9_-]{2,60}", fullmatch=True),
    "Query.top": st.integers(1, MAX_TOP),
    "repository_notice.named": st.just("acme/docs"),
    "repository_notice.job": st.deferred(
        lambda: built(TrackedJob).map(lambda job: replace(job, project=PROJECT))
    ),
    **dict.fromkeys(
        ("did_you_mean.typed", "ask_which_command.typed"),
        ANY_TEXT.map(lambda text: f"visitors path /{text}"),
    ),
    "did_you_mean.command": st.just("/docs-visitors"),
    "ask_which_command.commands": st.just(("/docs-agent", "/docs-visitors")),
    "private": st.just("{}"),
    "welcome_message.note": st.sampled_from(["", note_for_admins(NOW, ANA)]),
    "Numbers.own": st.just(OwnQuestions()),
    **dict.fromkeys(
        ("press_request.token", "trial_form.token", "further_trial_form.token"),
        st.just("doctor-0123456789ab"),
    ),
    "CommandHelp.name": st.just("/docs-agent"),
    "CommandHelp.options": st.just("*Options*: `csv`."),
    "CommandHelp.summary": st.just("Asks the agent."),
    "CommandHelp.words": st.lists(st.tuples(ANY_TEXT, st.just("Starts a job.")), max_size=5),
    "full_help.commands": st.deferred(lambda: st.tuples(built(CommandHelp))),
    "Taken.command": st.sampled_from(["", "/docs-agent limits"]),
    "Preview.url": st.sampled_from([None, "https://preview.example", "http://preview.example"]),
    "NotPosted.channel": ANY_TEXT,
    "Here.project": st.sampled_from(["acme", "beta"]),
    **dict.fromkeys(("Here.bot_name", "greeting.bot_name"), ANY_TEXT.map(lambda text: text[:80])),
    "UnsentText.raw": ANY_TEXT.map(lambda text: text[: UnsentText.LONGEST]),
    "GapRef.title": ANY_TEXT.map(lambda text: text[:80]),
    "Problem.text": QUOTED,
    "ask_form.earlier": st.just(()),
    "follow_up_form.earlier": st.just(()),
    "ask_form.notes": st.just(()),
    "job_status.more": st.just(()),
    "limits.projects": st.deferred(
        lambda: st.lists(built(Limits), min_size=1, max_size=2).map(tuple)
    ),
    "short_help.also": QUOTED,
    "format_result.job": st.deferred(lambda: ENDED),
    "outdated_end.job": st.deferred(lambda: ENDED),
    "format_pull_request.job": st.deferred(lambda: ENDED_WITH_PULL_REQUEST),
    "outdated_pull_request.job": st.deferred(lambda: ENDED_WITH_PULL_REQUEST),
    "close_question.decision": st.just("Dismiss"),
    "not_allowed.access": st.sampled_from(
        [access for access in Access if access is not Access.MEMBER]
    ),
}

ENDED: st.SearchStrategy[TrackedJob] = st.builds(
    replace, built(TrackedJob), state=st.sampled_from(ENDS)
)
ENDED_WITH_PULL_REQUEST: st.SearchStrategy[TrackedJob] = st.builds(
    replace, built(TrackedJob), state=st.just(JobState.PULL_REQUEST)
)
GAP_QUERIES: st.SearchStrategy[Query] = st.builds(
    replace, built(Query), report_type=st.sampled_from(GAP_REPORT_TYPES)
)
GAPS: st.SearchStrategy[Numbers] = st.builds(replace, built(Numbers), query=GAP_QUERIES)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    """Draw a report of any numbers, pages and budget."""
    query, counts = draw(built(Query)), built(Counts)
    # Drawing each page would take long.
    some, size = draw(st.lists(built(Page), max_size=4)), draw(st.integers(0, MAX_TOP))
    pages = [
        replace(some[at % len(some)], path=f"{some[at % len(some)].path}{at}")
        for at in range(size)
        if some
    ]
    was = draw(built(Reading)) if query.compared is not None and draw(st.booleans()) else None
    pages = pages if was else [replace(page, was=None) for page in pages]
    points = [(point, draw(counts)) for point in query.period.chart_points()]
    return Report(
        query=query,
        now=draw(built(Reading)),
        site=draw(counts),
        pages=pages,
        chart=draw(st.sampled_from([[], points])),
        budget=draw(built(Budget)),
        zone=draw(ZONES),
        is_open=draw(st.booleans()),
        earlier=was,
        not_compared=None if was else draw(st.one_of(st.none(), built(NoComparison))),
        gone=pages[:2] if was else [],
    )


REPORTS: st.SearchStrategy[Report] = reports()


def reached(values: Iterable[object]) -> Iterator[object]:
    """Yield values and the values of their fields."""
    for value in values:
        yield value
        if isinstance(value, list | tuple):
            yield from reached(value)
        elif is_dataclass(value):
            yield from reached(getattr(value, field.name) for field in fields(value))


def addresses(values: Iterable[object]) -> set[str | None]:
    """Return the addresses that a message with these values may link to."""
    links: set[str | None] = {PERMALINK, PULL_REQUEST}
    for value in reached(values):
        if isinstance(value, TrackedJob):
            links.add(value.pr_link)
        elif isinstance(value, Preview):
            links.add(value.url)
        elif isinstance(value, DocsPage):
            links.add(value.address)
    return links
