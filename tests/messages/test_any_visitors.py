"""Whatever paths and numbers come: what is said about visitors is valid and harmless, and adds nothing up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, time

from hypothesis import given
from hypothesis import strategies as st

from bot.messages import digests, general, visitors, visitors_answers
from bot.messages.digests import digest
from bot.messages.numbers import number, page_table, point_label, shown_path, visitors_chart
from bot.model.ids import ChannelId, Message, Refusal
from bot.model.outbox import NotPosted
from bot.model.projects import Project, Projects
from bot.model.questions import (
    Movements,
    Question,
    Report,
    Subscription,
    VisitorsQuery,
    Weekday,
    WeeklyReport,
)
from bot.model.visitors import Budget, Counts, PageCounts, Period, ReadingProblem
from tests.builders import ANA, BEN, NOW, PROJECT
from tests.messages.slack_limits import Allowed, modal_problems, problems_of, rendered
from tests.messages.visitor_samples import (
    BUDGETS,
    PAGES,
    PATHS,
    PERIODS,
    QUESTION,
    QUESTIONS,
    SUBSCRIPTIONS,
    WISHES,
    report,
    reports,
    weeklies,
    weekly,
)

NOBODY = Allowed(())
DOCS = Project(PROJECT, "acme", "Acme")


def refusals(channel: str) -> list[NotPosted]:
    """A refusal of each meaning."""
    return [NotPosted(meaning, ChannelId(channel), NOW) for meaning in Refusal]


RUN = datetime(2026, 11, 9, 8, 0, tzinfo=UTC)


def essence(message: Message) -> Iterator[str]:
    """What no form of a message may lack: that numbers are approximate, and when they were taken."""
    for blocks in ([{"text": message.text}], message.blocks, message.plain_blocks):
        yield json.dumps(blocks, ensure_ascii=False)


@given(reports())
def test_an_answer_is_valid_harmless_and_approximate_and_names_who_shared_it(answer: Report) -> None:
    told, shared = visitors.report(answer, QUESTION), visitors.report(answer, QUESTION, shared_by=BEN)
    assert problems_of(told, NOBODY) == problems_of(visitors.more(answer, QUESTION), NOBODY) == []
    assert problems_of(shared, Allowed({BEN})) == []
    assert all(f"<@{BEN}>" in each for each in essence(shared))
    if not visitors.no_visits(answer):
        assert all("Unique visitors, approximate" in each for each in essence(told))


@given(weeklies())
def test_a_digest_is_valid_harmless_and_approximate(told: WeeklyReport) -> None:
    message = digest(told, QUESTION)
    assert problems_of(message, NOBODY) == []
    assert all("Unique visitors, approximate" in each for each in essence(message))


@given(reports().filter(lambda answer: not answer.is_fair))
def test_what_cannot_be_compared_never_rises_or_falls(answer: Report) -> None:
    answer = replace(answer, movements=Movements(), top=tuple(replace(page, was=None) for page in answer.top))
    # Reasons that this version does not know are any words.
    now, was = replace(answer.now, problem=None), answer.was and replace(answer.was, problem=None)
    answer = replace(answer, now=now, was=was)
    for message in (visitors.report(answer, QUESTION), visitors.more(answer, QUESTION)):
        words = re.sub(r"`[^`]*`", "", message.text)
        assert not re.search(r"[+−±]\d|\(new\)|(?<!Not )compared with", words)


@given(WISHES, BUDGETS, PATHS)
def test_what_is_said_while_reading_is_valid_and_harmless(
    query: VisitorsQuery, budget: Budget, text: str
) -> None:
    for message in (
        visitors_answers.reading(query),
        visitors_answers.not_readable(query, text),
        visitors_answers.budget_used_up(query, budget),
        *(visitors_answers.undelivered(each, text, is_file=False) for each in refusals(text)),
    ):
        assert problems_of(message, NOBODY) == []


@given(QUESTIONS, st.integers(0, 10**12), st.booleans())
def test_the_words_beside_a_file_are_harmless(question: Question, rows: int, complete: bool) -> None:
    said = visitors_answers.file_words(question, rows, complete=complete)
    assert problems_of(Message(said), Allowed({ANA})) == []


@given(SUBSCRIPTIONS, PERIODS, PATHS, st.integers(0, 20), st.booleans())
def test_what_is_said_about_subscriptions_is_valid_and_harmless(
    subscription: Subscription, week: Period, text: str, count: int, are_several: bool
) -> None:
    shown = Project(subscription.project, "acme", text) if are_several else None
    for message in (
        digests.first_post(subscription, RUN, week, now=NOW, shown=shown),
        digests.first_post(subscription, RUN, week, now=RUN),
        digests.subscribing(Weekday.MONDAY, time(9), text, text, shown=shown),
        digests.already_subscribed(subscription, shown),
        *(digests.not_posted(subscription, each, text, shown) for each in refusals(text)),
        *(digests.cannot_subscribe(each, text) for each in refusals(text)),
        *(digests.paused(subscription, each, text, shown) for each in refusals(text)),
        digests.missed(subscription, week, text, shown),
        digests.missed(subscription, week, ReadingProblem.NOT_SERVED, shown),
        digests.digest_coming(text, shown),
        digests.digest_failed(ChannelId(text), week, text, shown),
        digests.unsubscribed(count),
        digests.which_to_end([subscription] * (count + 1), Projects((shown or DOCS,) * 2)),
        digests.listed([subscription] * count, NOW, Projects((shown, shown)) if shown else None),
    ):
        assert problems_of(message, Allowed({ANA})) == []


@given(PAGES, PERIODS)
def test_the_form_about_a_page_is_valid(page: PageCounts, period: Period) -> None:
    text = visitors_answers.improve_prompt(page, period)
    assert modal_problems(general.ask_form(channel=None, private="{}", text=text)) == []


@given(PATHS)
def test_a_path_is_shown_on_one_line_of_limited_weight(path: str) -> None:
    shown = shown_path(path)
    assert shown
    assert "\n" not in shown
    assert rendered(shown) <= 72


@given(PERIODS)
def test_every_point_of_a_chart_has_its_own_label(period: Period) -> None:
    labels = [point_label(step) for step in period.steps()]
    assert len(set(labels)) == len(labels)
    assert all(len(label) <= 20 for label in labels)


LARGE = st.integers(10**6, 10**9)


@st.composite
def large_counts(draw: st.DrawFn) -> Counts:
    """People and AI agents of whom some are both, so that their sum is not the total."""
    human, ai = draw(LARGE), draw(LARGE)
    return Counts(human, ai, draw(st.integers(max(human, ai), human + ai - 1)))


@given(large_counts(), large_counts(), large_counts(), large_counts())
def test_no_number_is_a_sum(site: Counts, before: Counts, first: Counts, second: Counts) -> None:
    pages = (PageCounts(report().top[0].key, "/a", first), PageCounts(report().top[1].key, "/b", second))
    steps = report().query.period.steps()
    answer = report(site=site, before=before, top=pages, chart=((steps[0], first), (steps[1], second)))
    forms = [*essence(visitors.report(answer, QUESTION)), *essence(visitors.more(answer, QUESTION))]
    forms += [*essence(digest(weekly(report=answer), QUESTION))]
    given = {getattr(each, name) for each in (site, before, first, second) for name in Counts.__slots__}
    sums = {counts.human + counts.ai for counts in (site, before, first, second)}
    sums |= {first.human + second.human, first.ai + second.ai, first.total + second.total}
    # Whole numbers only: 2,000,000 also stands within 992,000,000.
    told = {found for each in forms for found in re.findall(r"\d+(?:,\d{3})*", each)}
    for total in sums - given:
        assert number(total) not in told
        assert str(total) not in told


def test_a_table_of_pages_and_a_chart_of_weeks_stand_by_themselves() -> None:
    answer = report()
    points = [(step, answer.site) for step in answer.query.period.steps()]
    made = (page_table("Pages", answer.top, compared=True), visitors_chart(points))
    assert problems_of(Message("Pages", made), NOBODY) == []
