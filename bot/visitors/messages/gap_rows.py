"""The rows of an answer about content gaps, and of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

from bot.jobs.model.subjects import group_by_subject
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import BOM, csv_line, one_line
from bot.messages.quotations import Quotation, QuoteSource, in_quotes
from bot.visitors.messages.numbers import path_code
from bot.visitors.model.digests import Recommendation
from bot.visitors.model.gaps import (
    GAP_REPORT_TYPES,
    SOURCES,
    GapRow,
    PageFeedback,
    ReportType,
    Source,
    add_wording,
    group_feedback,
    group_questions,
    page_row_key,
    question_key,
    rank_searches,
    search_key,
)
from bot.visitors.model.questions import Numbers, Query, in_section

_MAX_SHOWN_QUOTE_CHARACTERS = 150
_MAX_QUOTE_CHARACTERS = 60
_MAX_PAGE_CHARACTERS = 300
_MAX_PROMPT_QUOTES_CHARACTERS = 1_500
"""Characters of all quotes in a prompt, so that the form has room for the text after them."""
_MAX_QUOTES = 5
FEW_EVENTS = 30
"""Fewer events prove little."""
_MIN_SEARCHES = 10
_MIN_VOTES = 5
_MIN_QUESTIONS = 3
_SEARCHES_A_CLICK = 5
"""Searches are recommended if fewer than one in so many was followed by a click."""


@dataclass(frozen=True, slots=True)
class GapTableRow:
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
    merged_keys: tuple[str, ...] = ()
    """The keys of the other rows of its subject, whose numbers are included."""


@dataclass(frozen=True, slots=True)
class _Format:
    """The rows and the texts of a report type."""

    none: str
    heading: str
    """The heading of its recommendations."""
    unmet: str
    """The noun of the events that recommend a row."""
    header: tuple[str, ...]
    rows: Callable[[Numbers], Sequence[GapTableRow]]
    subjects: Callable[[Numbers], Sequence[GapTableRow]]
    """Returns the rows to recommend, the numbers of one subject added."""
    total: Callable[[Numbers, Sequence[GapTableRow]], tuple[str, int]]
    """Returns the line below the heading, and its number of events."""


# ---- searches


def _list_search_rows(numbers: Numbers) -> Sequence[GapTableRow]:
    return [_to_search_row(search) for search in rank_searches(numbers.rows_of(Source.SEARCHES))]


def _list_search_subjects(numbers: Numbers) -> Sequence[GapTableRow]:
    """Return a row for each subject of the searches that few clicks follow."""
    unmet = [search for search in numbers.rows_of(Source.SEARCHES) if _is_unmet(search)]
    unmet.sort(key=lambda search: (-search.events, search.text))
    return [_to_search_row(*group) for group in group_by_subject(unmet, lambda row: row.text)]


def _is_unmet(search: GapRow) -> bool:
    """Return whether too few of a search's events were followed by a click."""
    return search.met is not None and search.met * _SEARCHES_A_CLICK < search.events


def _to_search_row(first: GapRow, *others: GapRow) -> GapTableRow:
    """Return the row of a search, with the numbers of other wordings added to it."""
    search = reduce(add_wording, others, first)
    wordings = [first.text, *(other.text for other in others)]
    hits = counted(search.events, "search", "searches")
    clicked = _format_clicks(search.met)
    quoted = ", ".join(in_quotes(text, _MAX_QUOTE_CHARACTERS) for text in wordings[:_MAX_QUOTES])
    facts = f"Readers searched the docs for {quoted}: {hits}, {clicked}."
    if search.page and search.met != 0:
        facts += f" The page clicked most is {in_quotes(search.page, _MAX_PAGE_CHARACTERS)}."
    return GapTableRow(
        key=search_key(first.text),
        title=first.text,
        text=f"{b.code(first.text, _MAX_SHOWN_QUOTE_CHARACTERS)} {hits}, {clicked}",
        cells=(
            first.text,
            search.events,
            "" if search.met is None else search.met,
            search.page or "",
        ),
        facts=facts,
        quotes=wordings[:_MAX_QUOTES],
        aim="Find out what they looked for. Write the page that tells it, or make the page that does easier "
        "to find with these words.",
        unmet=search.events if search.unmet is None else search.unmet,
        events=search.events,
        evidence=_format_search_evidence(search, len(wordings)),
        merged_keys=tuple(search_key(other.text) for other in others),
    )


def _format_clicks(clicks: int | None) -> str:
    if clicks is None:
        return "clicks not told"
    return f"{clicks:,} with a click" if clicks else "no click"


def _format_search_evidence(search: GapRow, wordings: int) -> str:
    """Return why a search is recommended; "" if it has too few searches, or enough clicks."""
    if search.events < _MIN_SEARCHES or not _is_unmet(search):
        return ""
    words = f" in {wordings} wordings" if wordings > 1 else ""
    clicks = search.met or 0
    opened = {0: "nothing opened", 1: "opened once"}.get(clicks, f"opened {clicks} times")
    return f"searched {counted(search.events, 'time', 'times')}{words}, {opened}"


def _format_search_total(numbers: Numbers, rows: Sequence[GapTableRow]) -> tuple[str, int]:
    searches = numbers.gap_rows(Source.SEARCHES)
    if searches is None:
        return "", 0
    events = searches.events or 0
    total = counted(events, "search", "searches")
    which = counted(len(rows), "wording", "wordings")
    if searches.is_part:
        which = f"the {len(rows)} most frequent words"
    unclicked = sum(row.cells[2] == 0 for row in rows)
    return f"*{total}* · {unclicked:,} of {which} found nothing to click", events


# ---- feedback


def _list_feedback_rows(numbers: Numbers) -> Sequence[GapTableRow]:
    """Return the pages with people's feedback, and below them pages with AI agents' comments."""
    pages = group_feedback(numbers.rows_of(Source.VOTES), numbers.rows_of(Source.COMMENTS))
    section = numbers.query.section
    return [_to_page_row(feedback) for feedback in pages if in_section(feedback.page, section)]


def _to_page_row(feedback: PageFeedback) -> GapTableRow:
    summary = _format_feedback_summary(feedback)
    quotes = feedback.quotes[:_MAX_QUOTES]
    newest = f": “{b.quoted(quotes[0], _MAX_SHOWN_QUOTE_CHARACTERS)}”" if quotes else ""
    who = "people"
    readers = "Readers"
    if feedback.by_agents:
        who = "AI agents"
        readers = "AI agents that read it"
    votes = feedback.votes
    against = (votes.unmet or 0) if votes else 0
    counts = (against, votes.met or 0, votes.on_code) if votes else ("", "", "")
    page = in_quotes(feedback.page, _MAX_PAGE_CHARACTERS)
    return GapTableRow(
        key=page_row_key(feedback.page, by_agents=feedback.by_agents),
        title=feedback.page,
        text=f"{path_code(feedback.page)} {summary}{newest}",
        cells=(feedback.page, *counts, who, len(feedback.comments), quotes[0] if quotes else ""),
        facts=f"Improve the page {page}. {readers} left feedback: {summary}.",
        quotes=quotes,
        aim="Find out what is missing, wrong or hard to follow on that page, and mend it.",
        unmet=against,
        events=against,
        evidence=_format_page_evidence(votes),
    )


def _format_feedback_summary(feedback: PageFeedback) -> str:
    """Return 12 not helpful, 3 helpful; without votes the number of comments."""
    votes = feedback.votes
    count = len(feedback.comments)
    if feedback.by_agents:
        return counted(count, "remark", "remarks") + " of AI agents"
    if votes is None:
        return counted(count, "comment", "comments")
    parts = [f"{votes.unmet or 0:,} not helpful", f"{votes.met or 0:,} helpful"]
    if votes.on_code:
        parts.append(counted(votes.on_code, "remark on code", "remarks on code"))
    return ", ".join(parts)


def _format_page_evidence(votes: GapRow | None) -> str:
    """Return why a page is recommended.

    "" if it has too few votes, or enough that found it helpful.
    """
    if votes is None or votes.events < _MIN_VOTES:
        return ""
    against = votes.unmet or 0
    if against * 2 <= votes.events:
        return ""
    return f"{against:,} of {counted(votes.events, 'vote', 'votes')}"


def _format_feedback_total(numbers: Numbers, _rows: Sequence[GapTableRow]) -> tuple[str, int]:
    votes = numbers.gap_rows(Source.VOTES)
    comments = numbers.gap_rows(Source.COMMENTS)
    parts = []
    events = 0
    if votes:
        counts = [page.events for page in votes.rows]
        events = sum(counts)
        pages = counted(sum(map(bool, counts)), "page", "pages")
        on = f"the first {pages}" if votes.is_part else pages
        parts.append(f"*{counted(events, 'vote', 'votes')}* on {on}")
    if comments:
        by_agents = sum(comment.by_agent for comment in comments.rows)
        by_people = len(comments.rows) - by_agents
        newest = "newest " if comments.is_part else ""
        parts.append(f"{newest}comments: {by_people:,} by people, {by_agents:,} by AI agents")
        events = events or len(comments.rows)
    return " · ".join(parts), events


# ---- questions


def _list_question_rows(numbers: Numbers) -> Sequence[GapTableRow]:
    return [_to_question_row(group) for group in _group_asked(numbers)]


def _list_question_subjects(numbers: Numbers) -> Sequence[GapTableRow]:
    """Return a row for each subject of the questions."""
    groups = group_by_subject(_group_asked(numbers), lambda group: group[0].text)
    return [_to_question_row([row for group in same for row in group]) for same in groups]


def _group_asked(numbers: Numbers) -> list[list[GapRow]]:
    """Return the questions of the section. Questions with the same words are one row."""
    section = numbers.query.section
    asked = numbers.rows_of(Source.QUESTIONS)
    return group_questions(row for row in asked if in_section(row.page or "", section))


def _to_question_row(group: Sequence[GapRow]) -> GapTableRow:
    first = group[0]
    count = counted(len(group), "question", "questions")
    subject = in_quotes(first.text, _MAX_QUOTE_CHARACTERS)
    facts = f"Readers asked the docs' assistant {subject}, without an answer: {count}."
    if first.page:
        facts += f" The first was asked on {in_quotes(first.page, _MAX_PAGE_CHARACTERS)}."
    texts = list(dict.fromkeys(question.text for question in group))
    keys = dict.fromkeys(question_key(text) for text in texts)
    times = counted(len(group), "time", "times")
    return GapTableRow(
        key=question_key(first.text),
        title=first.text,
        text=f"Asked {times}: “{b.quoted(first.text, _MAX_SHOWN_QUOTE_CHARACTERS)}”",
        cells=(len(group), first.text, first.page or ""),
        facts=facts,
        quotes=texts[:_MAX_QUOTES],
        aim="Write the page that answers it, or add the answer to the page where readers look for it.",
        unmet=len(group),
        events=len(group),
        evidence=f"{count}, no answer" if len(group) >= _MIN_QUESTIONS else "",
        merged_keys=tuple(keys)[1:],
    )


def _format_question_total(numbers: Numbers, _rows: Sequence[GapTableRow]) -> tuple[str, int]:
    questions = numbers.gap_rows(Source.QUESTIONS)
    if questions is None:
        return "", 0
    events = questions.events or 0
    read = counted(events, "question", "questions")
    which = f"the first {read}" if questions.is_part else read
    return f"*{len(questions.rows):,} unanswered* of {which}", events


FORMATS: Mapping[ReportType, _Format] = {
    ReportType.SEARCHES: _Format(
        none="searches",
        heading="Readers didn't find",
        unmet="searches without a click",
        header=("words", "searches", "with_click", "page"),
        rows=_list_search_rows,
        subjects=_list_search_subjects,
        total=_format_search_total,
    ),
    ReportType.FEEDBACK: _Format(
        none="feedback",
        heading="Readers dislike",
        unmet="votes against",
        header=("page", "not_helpful", "helpful", "on_code", "who", "comments", "newest"),
        rows=_list_feedback_rows,
        subjects=_list_feedback_rows,
        total=_format_feedback_total,
    ),
    ReportType.QUESTIONS: _Format(
        none="unanswered questions",
        heading="Readers asked",
        unmet="questions without an answer",
        header=("questions", "question", "page"),
        rows=_list_question_rows,
        subjects=_list_question_subjects,
        total=_format_question_total,
    ),
}


def gap_table(numbers: Numbers) -> Sequence[GapTableRow]:
    """Return the rows of an answer in their order."""
    return FORMATS[numbers.query.report_type].rows(numbers)


# ---- recommendations


def gap_recommendations(numbers: Numbers) -> Iterator[Recommendation]:
    """Yield the subjects of a week that stand out."""
    for report_type in GAP_REPORT_TYPES:
        is_page = report_type is ReportType.FEEDBACK
        for row in FORMATS[report_type].subjects(numbers):
            if not row.evidence:
                continue
            yield Recommendation(
                heading=FORMATS[report_type].heading,
                key=row.key,
                title=row.title,
                evidence=row.evidence,
                events=row.events,
                prompt=gap_prompt(numbers.query, row),
                quote=row.quotes[0] if is_page and row.quotes else "",
                is_page=is_page,
                merged_keys=row.merged_keys,
            )


def compare_unmet(then: Numbers, now: Numbers, key: str) -> str:
    """Return how a row's unmet needs changed between two weeks; "" if that is unknown."""
    for report_type in GAP_REPORT_TYPES:
        before = _count_unmet(then, report_type, key)
        if before:
            count = _count_unmet(now, report_type, key)
            return "" if count is None else f"{FORMATS[report_type].unmet} {before:,} → {count:,}"
    return ""


def _count_unmet(numbers: Numbers, report_type: ReportType, key: str) -> int | None:
    """Return the unmet needs of a row, 0 if there is no such row; None if rows are missing."""
    for row in FORMATS[report_type].rows(numbers):
        if row.key == key:
            return row.unmet
    rows = numbers.gap_rows(SOURCES[report_type][0])
    return 0 if rows and not rows.is_part else None


# ---- the file and the prompt


def gap_file(numbers: Numbers) -> tuple[str, str]:
    """Return the file with all rows, and the text that accompanies it."""
    query = numbers.query
    rows = gap_table(numbers)
    lines = [FORMATS[query.report_type].header, *(row.cells for row in rows)]
    of = f" of {b.label(query.label)}" if query.label else ""
    is_part = any(reading.gap_rows.is_part for reading in numbers.readings if reading.gap_rows)
    most = ", the first that the docs service names" if is_part else ""
    count = counted(len(rows), "row", "rows")
    text = f"{query.report_type.capitalize()}{of}, {query.period}: {count}{most}."
    return BOM + "".join(map(csv_line, lines)), text


def gap_prompt(query: Query, row: GapTableRow) -> str:
    """Return the suggested prompt for a row, with readers' texts as quotations."""
    room = _MAX_PROMPT_QUOTES_CHARACTERS // max(len(row.quotes), 1)
    texts = [one_line(text, room) for text in row.quotes]
    quotes = str(Quotation(QuoteSource.EVIDENCE, "\n".join(texts))) if texts else ""
    return "\n\n".join(filter(None, [f"{row.facts} ({query.period})", quotes, row.aim]))


def quote_more(prompt: str, quotes: Sequence[tuple[str, str]]) -> str:
    """Return a suggested prompt with further texts of the same subject, each with its numbers."""
    lines = [
        str(
            Quotation(QuoteSource.EVIDENCE, f"{one_line(text, _MAX_QUOTE_CHARACTERS)} ({evidence})")
        )
        for text, evidence in quotes
    ]
    facts, *paragraphs = prompt.split("\n\n")
    aim = paragraphs.pop() if paragraphs else ""
    return "\n\n".join(filter(None, [facts, "\n".join([*paragraphs, *lines]), aim]))
