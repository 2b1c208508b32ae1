"""The rows of an answer about content gaps, and of its file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from bot.ids import Recommendation
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import BOM, csv_line, one_line
from bot.visitors.messages.numbers import path_code
from bot.visitors.model.gaps import (
    GAP_TOPICS,
    SOURCES,
    PageFeedback,
    Search,
    Source,
    Topic,
    UnansweredQuestion,
    group_feedback,
    group_questions,
    rank_searches,
)
from bot.visitors.model.questions import Numbers, Query, in_section

_QUOTE_LENGTH = 150
_SUBJECT_LENGTH = 60
_PROMPT_QUOTES_LENGTH = 1_500
"""Characters of all quotes in a prompt, so that the form has room for the text after them."""
FEW_EVENTS = 30
"""Fewer events prove little."""
_LEAST_SEARCHES, _LEAST_VOTES, _LEAST_QUESTIONS = 10, 5, 3


_MOST_QUOTES = 5
_SEARCHES_A_CLICK = 5
"""Searches are recommended if fewer than one in so many was followed by a click."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an answer."""

    key: str
    title: str
    text: str
    """Mrkdwn."""
    cells: tuple[str | int, ...]
    """The row of the file."""
    facts: str
    """The first paragraph of the prompt."""
    quotes: Sequence[str]
    aim: str
    """The request of the prompt."""
    unmet: int
    """Searches without a click, votes against, or questions without an answer."""
    events: int = 0
    evidence: str = ""
    """The numbers for which a digest recommends it; empty if it does not."""


@dataclass(frozen=True, slots=True)
class _Format:
    """The rows and the texts of a topic."""

    none: str
    heading: str
    """The heading of its recommendations."""
    unmet: str
    """The noun of the events that recommend a row."""
    header: tuple[str, ...]
    rows: Callable[[Numbers], Sequence[Row]]
    total: Callable[[Numbers, Sequence[Row]], tuple[str, int]]
    """Returns the line below the heading, and its number of events."""


def _search_rows(numbers: Numbers) -> Sequence[Row]:
    rows = numbers.gap_rows(Source.SEARCHES)
    return [_search_row(search) for search in rank_searches(rows.searches if rows else ())]


def _search_row(search: Search) -> Row:
    hits, clicks = counted(search.hits, "search", "searches"), search.clicks
    clicked = "clicks not told" if clicks is None else f"{clicks:,} with a click"
    stands_out = search.hits >= _LEAST_SEARCHES and clicks is not None
    stands_out = stands_out and (clicks or 0) * _SEARCHES_A_CLICK < search.hits
    opened = {0: "nothing opened", 1: "opened once"}.get(clicks or 0, f"opened {clicks} times")
    clicked = "no click" if search.clicks == 0 else clicked
    page = f" The page clicked most is “{search.page}”." if search.page and search.clicks else ""
    return Row(
        key=search.key,
        title=search.words,
        text=f"{b.code(search.words, _QUOTE_LENGTH)} {hits}, {clicked}",
        cells=(
            search.words,
            search.hits,
            "" if search.clicks is None else search.clicks,
            search.page or "",
        ),
        facts=f"Readers searched the docs for {quoted_subject(search.words)}: {hits}, {clicked}.{page}",
        quotes=(search.words,),
        aim="Find out what they looked for. Write the page that tells it, or make the page that does easier "
        "to find with these words.",
        unmet=search.hits - (clicks or 0),
        events=search.hits,
        evidence=f"searched {counted(search.hits, 'time', 'times')}, {opened}"
        if stands_out
        else "",
    )


def _search_total(numbers: Numbers, rows: Sequence[Row]) -> tuple[str, int]:
    searches = numbers.gap_rows(Source.SEARCHES)
    events, is_part = (searches.events or 0, searches.is_part) if searches else (0, False)
    unclicked = sum(row.cells[2] == 0 for row in rows)
    which = (
        f"the {len(rows)} most frequent words"
        if is_part
        else counted(len(rows), "wording", "wordings")
    )
    total = counted(events, "search", "searches")
    return f"*{total}* · {unclicked:,} of {which} found nothing to click", events


def _feedback_rows(numbers: Numbers) -> Sequence[Row]:
    """Return the pages with people's feedback, and below them those with comments of AI agents."""
    votes, rows = numbers.gap_rows(Source.VOTES), numbers.gap_rows(Source.COMMENTS)
    comments = rows.comments if rows else ()
    people = group_feedback(
        votes.votes if votes else (), [note for note in comments if not note.by_agent]
    )
    agents = group_feedback((), [note for note in comments if note.by_agent])
    pages = (page for page in (*people, *agents) if in_section(page.page, numbers.query.section))
    return [_page_row(feedback) for feedback in pages]


def _page_row(feedback: PageFeedback) -> Row:
    votes, quotes = feedback.votes, [comment.text for comment in feedback.comments[:_MOST_QUOTES]]
    parts = [f"{votes.not_helpful:,} not helpful", f"{votes.helpful:,} helpful"] if votes else []
    if votes and votes.code:
        parts.append(counted(votes.code, "remark on code", "remarks on code"))
    if feedback.by_agents:
        parts.append(counted(len(feedback.comments), "remark", "remarks") + " of AI agents")
    newest = f": “{b.quoted(quotes[0], _QUOTE_LENGTH)}”" if quotes else ""
    counts = (votes.not_helpful, votes.helpful, votes.code) if votes else ("", "", "")
    who, readers = "people", "Readers"
    if feedback.by_agents:
        who, readers = "AI agents", "AI agents that read it"
    summary = ", ".join(parts)
    against, total = (votes.not_helpful, votes.total) if votes else (0, 0)
    stands_out = total >= _LEAST_VOTES and against * 2 > total
    return Row(
        key=feedback.key,
        title=feedback.page,
        text=f"{path_code(feedback.page)} {summary}{newest}",
        cells=(feedback.page, *counts, who, len(feedback.comments), quotes[0] if quotes else ""),
        facts=f"Improve the page “{feedback.page}”. {readers} left feedback"
        f"{f': {summary}' if summary else ''}.",
        quotes=quotes,
        aim="Find out what is missing, wrong or hard to follow on that page, and mend it.",
        unmet=against,
        events=against,
        evidence=f"{against:,} of {counted(total, 'vote', 'votes')}" if stands_out else "",
    )


def _feedback_total(numbers: Numbers, _rows: Sequence[Row]) -> tuple[str, int]:
    votes, rows = numbers.gap_rows(Source.VOTES), numbers.gap_rows(Source.COMMENTS)
    counts = [page.helpful + page.not_helpful for page in votes.votes] if votes else []
    first = "the first " if votes and votes.is_part else ""
    on = first + counted(sum(map(bool, counts)), "page", "pages")
    parts = [f"*{counted(sum(counts), 'vote', 'votes')}* on {on}"] if votes else []
    comments = rows.comments if rows else ()
    if rows:
        by_agents = sum(comment.by_agent for comment in comments)
        newest = "newest " if rows.is_part else ""
        parts.append(
            f"{newest}comments: {len(comments) - by_agents:,} by people, {by_agents:,} by AI agents"
        )
    return " · ".join(parts), sum(counts) or len(comments)


def _question_rows(numbers: Numbers) -> Sequence[Row]:
    rows, section = numbers.gap_rows(Source.QUESTIONS), numbers.query.section
    asked = (row for row in (rows.questions if rows else ()) if in_section(row.page or "", section))
    return [_question_row(group) for group in group_questions(asked)]


def _question_row(group: Sequence[UnansweredQuestion]) -> Row:
    first, count = group[0], counted(len(group), "question", "questions")
    texts = tuple(dict.fromkeys(question.text for question in group))
    page = f" The first was asked on “{first.page}”." if first.page else ""
    return Row(
        key=first.key,
        title=first.text,
        text=f"Asked {counted(len(group), 'time', 'times')}: “{b.quoted(first.text, _QUOTE_LENGTH)}”",
        cells=(len(group), first.text, first.page or ""),
        facts=f"Readers asked the docs' assistant {quoted_subject(first.text)}, "
        f"without an answer: {count}.{page}",
        quotes=texts[:_MOST_QUOTES],
        aim="Write the page that answers it, or add the answer to the page where readers look for it.",
        unmet=len(group),
        events=len(group),
        evidence=f"{count}, no answer" if len(group) >= _LEAST_QUESTIONS else "",
    )


def _question_total(numbers: Numbers, _rows: Sequence[Row]) -> tuple[str, int]:
    rows = numbers.gap_rows(Source.QUESTIONS)
    if rows is None:
        return "", 0
    read = counted(rows.events or 0, "question", "questions")
    which = f"the first {read}" if rows.is_part else read
    return f"*{len(rows.questions):,} unanswered* of {which}", rows.events or 0


FORMATS: Mapping[Topic, _Format] = {
    Topic.SEARCHES: _Format(
        none="searches",
        heading="Readers didn't find",
        unmet="searches without a click",
        header=("words", "searches", "with_click", "page"),
        rows=_search_rows,
        total=_search_total,
    ),
    Topic.FEEDBACK: _Format(
        none="feedback",
        heading="Readers dislike",
        unmet="votes against",
        header=("page", "not_helpful", "helpful", "on_code", "who", "comments", "newest"),
        rows=_feedback_rows,
        total=_feedback_total,
    ),
    Topic.QUESTIONS: _Format(
        none="unanswered questions",
        heading="Readers asked",
        unmet="questions without an answer",
        header=("questions", "question", "page"),
        rows=_question_rows,
        total=_question_total,
    ),
}


def gap_table(numbers: Numbers) -> Sequence[Row]:
    """Return the rows of an answer in their order."""
    return FORMATS[numbers.query.topic].rows(numbers)


def gap_recommendations(numbers: Numbers) -> Iterator[Recommendation]:
    """Yield the rows of a week that stand out."""
    for topic in GAP_TOPICS:
        for row in FORMATS[topic].rows(numbers):
            if row.evidence:
                is_page = topic is Topic.FEEDBACK
                quote = row.quotes[0] if is_page and row.quotes else ""
                prompt = gap_prompt(numbers.query, row)
                place = (
                    FORMATS[topic].heading,
                    row.key,
                    row.title,
                    row.evidence,
                    row.events,
                    prompt,
                )
                yield Recommendation(*place, quote, is_page)


def compare_unmet(then: Numbers, now: Numbers, key: str) -> str:
    """Return how a row's unmet needs changed between two weeks; "" if that is unknown."""
    for topic in GAP_TOPICS:
        if was := _count_unmet(then, topic, key):
            count = _count_unmet(now, topic, key)
            return "" if count is None else f"{FORMATS[topic].unmet} {was:,} → {count:,}"
    return ""


def _count_unmet(numbers: Numbers, topic: Topic, key: str) -> int | None:
    """Return a row's events, 0 if it has none; None if rows are missing."""
    for row in FORMATS[topic].rows(numbers):
        if row.key == key:
            return row.unmet
    rows = numbers.gap_rows(SOURCES[topic][0])
    return 0 if rows and not rows.is_part else None


def gap_file(numbers: Numbers) -> tuple[str, str]:
    """Return the file with all rows, and the text that accompanies it."""
    query, rows = numbers.query, gap_table(numbers)
    lines = [FORMATS[query.topic].header, *(row.cells for row in rows)]
    of = f" of {b.label(query.label)}" if query.label else ""
    is_part = any(reading.gap_rows.is_part for reading in numbers.readings if reading.gap_rows)
    most = ", the first that the docs service names" if is_part else ""
    text = f"{query.topic.capitalize()}{of}, {query.period}: {counted(len(rows), 'row', 'rows')}{most}."
    return BOM + "".join(map(csv_line, lines)), text


def quoted_subject(text: str) -> str:
    """Return a reader's text for the line by which people know a job. It can't end its quotation."""
    return "“{}”".format(re.sub('["“”<>]', "'", one_line(text, _SUBJECT_LENGTH)))


def gap_prompt(query: Query, row: Row) -> str:
    """Return the suggested prompt for a row. Readers' texts stand on lines of their own, behind ">"."""
    room = _PROMPT_QUOTES_LENGTH // max(len(row.quotes), 1)
    quotes = "\n".join(f"> {one_line(text, room)}" for text in row.quotes)
    return "\n\n".join(filter(None, [f"{row.facts} ({query.period})", quotes, row.aim]))
