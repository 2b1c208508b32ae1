"""Whatever paths and numbers come: what is said about visitors is valid and harmless, and adds nothing up."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.ids import Message
from bot.messages import forms, misses, visitors, visitors_answers
from bot.messages.digests import digest
from bot.messages.numbers import number, point_label, shown_path
from bot.model.questions import MissesReport, Movements, Question, Report, WeeklyReport
from bot.model.visitors import Counts, PageCounts, Period
from tests.builders import ANA, BEN
from tests.messages.anything import PATHS, PERIODS, addresses, built, reports
from tests.messages.slack_limits import Allowed, modal_problems, problems_of, rendered
from tests.messages.visitor_samples import QUESTION, report, weekly

NOBODY = Allowed(())


def essence(message: Message) -> Iterator[str]:
    """What no form of a message may lack: that numbers are approximate, and when they were taken."""
    text = [{"text": message.text}]
    for blocks in (text, message.blocks, message.plain_blocks or text):
        yield json.dumps(blocks, ensure_ascii=False)


@given(reports())
def test_an_answer_is_valid_harmless_and_approximate_and_names_who_shared_it(answer: Report) -> None:
    told, shared = visitors.report(answer, QUESTION), visitors.report(answer, QUESTION, shared_by=BEN)
    assert problems_of(told, NOBODY) == problems_of(visitors.more(answer, QUESTION), NOBODY) == []
    assert problems_of(shared, Allowed({BEN})) == []
    assert all(f"<@{BEN}>" in each for each in essence(shared))
    if not visitors.no_visits(answer):
        assert all("Unique visitors, approximate" in each for each in essence(told))


@given(built(WeeklyReport))
def test_a_digest_is_valid_harmless_and_approximate(told: WeeklyReport) -> None:
    message = digest(told, QUESTION)
    assert problems_of(message, Allowed({ANA, BEN}, addresses([told]))) == []
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


@given(built(Question), st.integers(0, 10**12), st.booleans())
def test_the_words_beside_a_file_are_harmless(question: Question, rows: int, complete: bool) -> None:
    said = visitors_answers.file_words(question, rows, complete=complete)
    assert problems_of(Message(said), Allowed({ANA})) == []


@given(built(PageCounts), PERIODS)
def test_the_form_about_a_page_is_valid_and_no_path_ends_its_quotation(
    page: PageCounts, period: Period
) -> None:
    text = visitors_answers.improve_prompt(page, period)
    assert modal_problems(forms.ask_form(channel=None, private="{}", text=text)) == []
    first, _, last = text.split("\n\n")
    assert re.fullmatch(r"Improve the page “[^\s\"“”<>]+”\.|Improve the page “\(no path\)”\.", first)
    assert last.endswith(visitors_answers.AS_DATA)


@given(built(MissesReport))
def test_readers_words_in_a_prompt_stand_in_quotation_marks_or_behind_a_sign(answer: MissesReport) -> None:
    for row in misses.rows_of(answer):
        first, *quotes, last = misses.prompt(answer, row).split("\n\n")
        assert len(first.splitlines()) <= 1
        assert all(line.startswith("> ") for part in quotes for line in part.splitlines())
        assert last.endswith(visitors_answers.AS_DATA)


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
