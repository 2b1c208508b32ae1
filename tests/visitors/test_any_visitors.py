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
from bot.visitors.messages import answers as answer_messages
from bot.visitors.messages import gap_rows as gap_row_messages
from bot.visitors.messages import prompts
from bot.visitors.messages.answers import build_chart
from bot.visitors.messages.digests import digest
from bot.visitors.messages.numbers import shown_path
from bot.visitors.model.digests import Digest
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import Numbers, Query
from bot.visitors.model.readings import Counts
from bot.visitors.model.reports import Page, Report
from tests.builders import ANA, BEN
from tests.messages.anything import GAPS, PATHS, PERIODS, addresses, built, reports
from tests.messages.slack_limits import Allowed, modal_problems, problems_of, rendered
from tests.visitors.visitor_samples import QUESTION, report, weekly

NOBODY = Allowed(())


def essence(message: Message) -> Iterator[str]:
    """Yield each form of a message: its text, its blocks and its plain blocks."""
    text = [{"text": message.text}]
    for blocks in (text, message.blocks, message.plain_blocks or text):
        yield json.dumps(blocks, ensure_ascii=False)


@given(reports())
def test_answer_is_valid_harmless_and_approximate(answer: Report) -> None:
    answered, shared = (
        answer_messages.answer(answer, QUESTION),
        answer_messages.answer(answer, QUESTION, shared_by=BEN),
    )
    assert (
        problems_of(answered, NOBODY)
        == problems_of(answer_messages.format_more(answer, QUESTION), NOBODY)
        == []
    )
    assert problems_of(shared, Allowed({BEN})) == []
    # The text of a message is cut at 3,900 bytes; its blocks are not.
    whole = [form for form in essence(shared) if not form.endswith('…"}]')]
    assert all(f"<@{BEN}>" in form for form in whole)
    if not answer_messages.no_visits(answer):
        whole = [form for form in essence(answered) if not form.endswith('…"}]')]
        assert all("Unique visitors, approximate" in form for form in whole)


@given(built(Digest))
def test_digest_is_valid_harmless_and_approximate(weekly: Digest) -> None:
    message = digest(weekly, QUESTION)
    assert problems_of(message, Allowed({ANA, BEN}, addresses([weekly]))) == []
    assert all("Unique visitors, approximate" in form for form in essence(message))


@given(reports().filter(lambda answer: answer.earlier is None))
def test_uncompared_numbers_never_rise_or_fall(answer: Report) -> None:
    # An unknown problem may be any text, and the label is the operator's.
    query = replace(answer.query, label="Handbook")
    answer = replace(answer, now=replace(answer.now, problem=None), query=query)
    for message in (
        answer_messages.answer(answer, QUESTION),
        answer_messages.format_more(answer, QUESTION),
    ):
        text = re.sub(r"`[^`]*`", "", message.text)
        assert not re.search(r"[+−±]\d|\(new\)|(?<!Not )compared with", text)


@given(built(Query), st.dictionaries(PATHS, built(Counts), max_size=3), st.booleans())
def test_text_beside_a_file_is_harmless(
    query: Query, pages: dict[str, Counts], complete: bool
) -> None:
    _, text = answer_messages.csv_file(query, pages, complete=complete)
    assert problems_of(Message(text), Allowed({ANA})) == []


@given(PATHS, built(Counts), PERIODS)
def test_form_about_any_page_is_valid_and_quotes_its_path(
    path: str, counts: Counts, period: Period
) -> None:
    text = prompts.improve_prompt(path, counts, period)
    assert modal_problems(forms.ask_form(channel=None, private="{}", text=text)) == []
    first, _, last = text.split("\n\n")
    assert re.fullmatch(
        r"Improve the page “[^\s\"“”<>]+”\.|Improve the page “\(no path\)”\.", first
    )
    assert last


@given(GAPS)
def test_texts_of_readers_are_quoted_in_a_prompt(answer: Numbers) -> None:
    for row in gap_row_messages.gap_table(answer):
        first, *quotes, last = gap_row_messages.gap_prompt(answer.query, row).split("\n\n")
        assert len(first.splitlines()) <= 1
        assert all(line.startswith("> ") for part in quotes for line in part.splitlines())
        assert not last.startswith(">")


@given(PATHS)
def test_path_is_one_short_line(path: str) -> None:
    line = shown_path(path)
    assert line
    assert "\n" not in line
    assert rendered(line) <= 72


@given(PERIODS)
def test_points_of_a_chart_have_different_labels(period: Period) -> None:
    points = [(point, Counts(1, 1, 1)) for point in period.chart_points()]
    labels = build_chart(points)["chart"]["axis_config"]["categories"] if points else []
    assert len(set(labels)) == len(labels)
    assert all(len(label) <= 20 for label in labels)


LARGE = st.integers(10**6, 10**9)


@st.composite
def large_counts(draw: st.DrawFn) -> Counts:
    """Draw people and AI agents with a total below their sum."""
    human, ai = draw(LARGE), draw(LARGE)
    return Counts(human, ai, draw(st.integers(max(human, ai), human + ai - 1)))


@given(large_counts(), large_counts(), large_counts(), large_counts())
def test_no_number_is_a_sum(site: Counts, before: Counts, first: Counts, second: Counts) -> None:
    pages, points = (Page("/a", first), Page("/b", second)), report().query.period.chart_points()
    was = replace(report().now, totals=before)
    answer = report(
        site=site, earlier=was, pages=pages, chart=((points[0], first), (points[1], second))
    )
    forms = [
        *essence(answer_messages.answer(answer, QUESTION)),
        *essence(answer_messages.format_more(answer, QUESTION)),
    ]
    forms += [*essence(digest(weekly(report=answer), QUESTION))]
    originals = {
        getattr(counts, name)
        for counts in (site, before, first, second)
        for name in Counts.__slots__
    }
    sums = {counts.human + counts.ai for counts in (site, before, first, second)}
    sums |= {first.human + second.human, first.ai + second.ai, first.total + second.total}
    # Whole numbers only: 2,000,000 also stands within 992,000,000.
    numbers = {number for form in forms for number in re.findall(r"\d+(?:,\d{3})*", form)}
    for total in sums - originals:
        assert f"{total:,}" not in numbers
        assert str(total) not in numbers
