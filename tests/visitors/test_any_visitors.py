"""Messages about visitors are valid, harmless and without sums for any paths and numbers."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from bot.ids import Message
from bot.jobs.messages import forms
from bot.visitors import gap_messages, messages, reply_messages
from bot.visitors.digest_messages import digest
from bot.visitors.messages import chart, shown_path
from bot.visitors.model import Counts, Numbers, Page, Query
from bot.visitors.periods import Period
from bot.visitors.recommendations import Digest
from bot.visitors.report import Report
from tests.builders import ANA, BEN
from tests.messages.anything import GAPS, PATHS, PERIODS, addresses, built, reports
from tests.messages.slack_limits import Allowed, modal_problems, problems_of, rendered
from tests.visitors.visitor_samples import QUESTION, report, weekly

NOBODY = Allowed(())


def essence(message: Message) -> Iterator[str]:
    """What no form of a message may lack: that numbers are approximate, and when they were taken."""
    text = [{"text": message.text}]
    for blocks in (text, message.blocks, message.plain_blocks or text):
        yield json.dumps(blocks, ensure_ascii=False)


@given(reports())
def test_an_answer_is_valid_harmless_and_approximate_and_names_who_shared_it(answer: Report) -> None:
    told, shared = messages.answer(answer, QUESTION), messages.answer(answer, QUESTION, shared_by=BEN)
    assert problems_of(told, NOBODY) == problems_of(messages.more(answer, QUESTION), NOBODY) == []
    assert problems_of(shared, Allowed({BEN})) == []
    assert all(f"<@{BEN}>" in each for each in essence(shared))
    if not messages.no_visits(answer):
        assert all("Unique visitors, approximate" in each for each in essence(told))


@given(built(Digest))
def test_a_digest_is_valid_harmless_and_approximate(told: Digest) -> None:
    message = digest(told, QUESTION)
    assert problems_of(message, Allowed({ANA, BEN}, addresses([told]))) == []
    assert all("Unique visitors, approximate" in each for each in essence(message))


@given(reports().filter(lambda answer: answer.was is None))
def test_what_cannot_be_compared_never_rises_or_falls(answer: Report) -> None:
    # Reasons that this version does not know are any words, and the label is the operator's.
    query = replace(answer.query, label="Handbook")
    answer = replace(answer, now=replace(answer.now, problem=None), query=query)
    for message in (messages.answer(answer, QUESTION), messages.more(answer, QUESTION)):
        words = re.sub(r"`[^`]*`", "", message.text)
        assert not re.search(r"[+−±]\d|\(new\)|(?<!Not )compared with", words)


@given(built(Query), st.dictionaries(PATHS, built(Counts), max_size=3), st.booleans())
def test_the_text_beside_a_file_is_harmless(query: Query, pages: dict[str, Counts], complete: bool) -> None:
    _, text = messages.csv_file(query, pages, complete=complete)
    assert problems_of(Message(text), Allowed({ANA})) == []


@given(built(Page), PERIODS)
def test_the_form_about_a_page_is_valid_and_no_path_ends_its_quotation(page: Page, period: Period) -> None:
    text = reply_messages.improve_prompt(page, period)
    assert modal_problems(forms.ask_form(channel=None, private="{}", text=text)) == []
    first, _, last = text.split("\n\n")
    assert re.fullmatch(r"Improve the page “[^\s\"“”<>]+”\.|Improve the page “\(no path\)”\.", first)
    assert last


@given(GAPS)
def test_readers_words_in_a_prompt_stand_in_quotation_marks_or_behind_a_sign(answer: Numbers) -> None:
    for row in gap_messages.gap_table(answer):
        first, *quotes, last = gap_messages.gap_prompt(answer.query, row).split("\n\n")
        assert len(first.splitlines()) <= 1
        assert all(line.startswith("> ") for part in quotes for line in part.splitlines())
        assert not last.startswith(">")


@given(PATHS)
def test_a_path_is_shown_on_one_line_of_limited_weight(path: str) -> None:
    shown = shown_path(path)
    assert shown
    assert "\n" not in shown
    assert rendered(shown) <= 72


@given(PERIODS)
def test_every_point_of_a_chart_has_its_own_label(period: Period) -> None:
    points = [(point, Counts(1, 1, 1)) for point in period.chart_points()]
    labels = chart(points)["chart"]["axis_config"]["categories"] if points else []
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
    pages, points = (Page("/a", first), Page("/b", second)), report().query.period.chart_points()
    was = replace(report().now, totals=before)
    answer = report(site=site, was=was, pages=pages, chart=((points[0], first), (points[1], second)))
    forms = [*essence(messages.answer(answer, QUESTION)), *essence(messages.more(answer, QUESTION))]
    forms += [*essence(digest(weekly(report=answer), QUESTION))]
    given = {getattr(each, name) for each in (site, before, first, second) for name in Counts.__slots__}
    sums = {counts.human + counts.ai for counts in (site, before, first, second)}
    sums |= {first.human + second.human, first.ai + second.ai, first.total + second.total}
    # Whole numbers only: 2,000,000 also stands within 992,000,000.
    told = {found for each in forms for found in re.findall(r"\d+(?:,\d{3})*", each)}
    for total in sums - given:
        assert f"{total:,}" not in told
        assert str(total) not in told
