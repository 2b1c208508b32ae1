"""What readers miss: an answer with a button at each row, its file, and the prompt that a button offers.

Comments, questions and words searched are readers' words: quoted and clipped, and data for the agent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from bot.ids import Block, Message, QuestionId, UserId
from bot.messages import blocks as b
from bot.messages.numbers import counted, dates, shown_path
from bot.messages.plain_text import csv_line, one_line
from bot.messages.problems import reading_problem
from bot.messages.visitors import FILE_COMES, more_button, share_button
from bot.messages.visitors_answers import AS_DATA, about
from bot.messages.visitors_notes import TIME
from bot.model.jobs import About
from bot.model.misses import (
    FEW,
    MOST_READ,
    PageFeedback,
    Search,
    Source,
    Topic,
    Unanswered,
    by_page,
    grouped,
    missed_first,
)
from bot.model.questions import MissesReport, VisitorsQuery
from bot.model.visitors import Snapshot, SnapshotState

_TITLE_LENGTH = 80
_QUOTE_LENGTH = 150
_SUBJECT_LENGTH = 60
_QUOTED_LENGTH = 1_500
"""Characters of all quotes in a prompt, so that the form has room for what stands after them."""
_MORE_ROWS = 20


@dataclass(frozen=True, slots=True)
class Row:
    """A row of an answer.

    ``title``: what identifies it for people. ``said``: mrkdwn. ``cells``: the row of the file. ``known``:
    what the prompt says of it; ``quotes``: whose words; ``aim``: what the prompt asks for.
    """

    key: str
    title: str
    said: str
    cells: tuple[str | int, ...]
    known: str
    quotes: tuple[str, ...]
    aim: str


@dataclass(frozen=True, slots=True)
class _Kind:
    """How a topic is told.

    ``none``: what there is none of; ``adds``: the events that may be added up. ``total``: the line below the
    heading, and of how many events it tells.
    """

    none: str
    adds: str
    header: tuple[str, ...]
    rows: Callable[[MissesReport], Sequence[Row]]
    total: Callable[[MissesReport, Sequence[Row]], tuple[str, int]]


def _subject(words: str) -> str:
    """Return readers' words for the line by which people know a job. They can't end their quotation."""
    return "“{}”".format(re.sub('["“”<>]', "'", one_line(words, _SUBJECT_LENGTH)))


# ---- searches


def _searches(answer: MissesReport) -> Sequence[Row]:
    words = answer.words(Source.SEARCHES)
    return [_search_row(each) for each in missed_first(words.searches if words else ())]


def _search_row(search: Search) -> Row:
    hits = counted(search.hits, "search", "searches")
    clicked = "clicks not told" if search.clicks is None else f"{search.clicks:,} with a click"
    clicked = "no click" if search.clicks == 0 else clicked
    page = f" The page clicked most is “{search.page}”." if search.page and search.clicks else ""
    return Row(
        key=search.key,
        title=search.words,
        said=f"{b.code(search.words, _QUOTE_LENGTH)} {hits}, {clicked}",
        cells=(search.words, search.hits, "" if search.clicks is None else search.clicks, search.page or ""),
        known=f"Readers searched the docs for {_subject(search.words)}: {hits}, {clicked}.{page}",
        quotes=(search.words,),
        aim="Find out what they looked for. Write the page that tells it, or make the page that does easier "
        "to find with these words.",
    )


def _all_searches(answer: MissesReport, rows: Sequence[Row]) -> tuple[str, int]:
    words = answer.words(Source.SEARCHES)
    events, is_part = (words.events or 0, words.is_part) if words else (0, False)
    missed = sum(each.cells[2] == 0 for each in rows)
    which = f"the {len(rows)} most frequent words" if is_part else counted(len(rows), "wording", "wordings")
    return f"*{counted(events, 'search', 'searches')}* · no click after {missed:,} of {which}", events


# ---- votes and comments

_MOST_QUOTES = 5


def _feedback(answer: MissesReport) -> Sequence[Row]:
    """Return the pages with what people said of them, and below them what other AI agents did."""
    votes, comments = answer.words(Source.VOTES), answer.words(Source.COMMENTS)
    said = comments.comments if comments else ()
    people = by_page(votes.votes if votes else (), [each for each in said if not each.by_agent])
    agents = by_page((), [each for each in said if each.by_agent])
    return [_page_row(each) for each in (*people, *agents)]


def _page_row(of: PageFeedback) -> Row:
    who = "AI agents" if of.by_agents else "people"
    votes, quotes = of.votes, tuple(each.text for each in of.comments[:_MOST_QUOTES])
    parts = [f"{votes.not_helpful:,} not helpful", f"{votes.helpful:,} helpful"] if votes else []
    parts += [counted(votes.code, "remark on code", "remarks on code")] if votes and votes.code else []
    parts += [] if who == "people" else [counted(len(of.comments), "remark", "remarks") + " of AI agents"]
    newest = f": “{b.quoted(quotes[0], _QUOTE_LENGTH)}”" if quotes else ""
    told = ", ".join(parts)
    counts = (votes.not_helpful, votes.helpful, votes.code) if votes else ("", "", "")
    readers = "Readers" if who == "people" else "AI agents that read it"
    return Row(
        key=of.key,
        title=of.page,
        said=f"{b.code(shown_path(of.page))} {told}{newest}",
        cells=(of.page, *counts, who, len(of.comments), quotes[0] if quotes else ""),
        known=f"Improve the page “{of.page}”. {readers} left feedback{f': {told}' if told else ''}.",
        quotes=quotes,
        aim="Find out what is missing, wrong or hard to follow on that page, and mend it.",
    )


def _all_feedback(answer: MissesReport, _rows: Sequence[Row]) -> tuple[str, int]:
    votes, comments = answer.words(Source.VOTES), answer.words(Source.COMMENTS)
    counts = [each.helpful + each.not_helpful for each in votes.votes] if votes else []
    which = f" of the {MOST_READ} that the docs service names" if votes and votes.is_part else ""
    on = counted(sum(map(bool, counts)), "page", "pages")
    parts = [f"*{counted(sum(counts), 'vote', 'votes')}* on {on}{which}"] if votes else []
    said = comments.comments if comments else ()
    if comments:
        by = sum(each.by_agent for each in said)
        newest = " among the newest read" if comments.is_part else ""
        parts.append(f"{counted(len(said) - by, 'comment', 'comments')} of people{newest}")
        parts.append(f"{by:,} of AI agents")
    return " · ".join(parts), sum(counts) or len(said)


# ---- questions


def _questions(answer: MissesReport) -> Sequence[Row]:
    words = answer.words(Source.QUESTIONS)
    return [_question_row(each) for each in grouped(words.questions if words else ())]


def _question_row(group: Sequence[Unanswered]) -> Row:
    first, count = group[0], counted(len(group), "question", "questions")
    texts = tuple(dict.fromkeys(each.text for each in group))
    asked = f"Asked {counted(len(group), 'time', 'times')}"
    told = f"{b.code(first.category, _QUOTE_LENGTH)} {count}" if first.category else asked
    page = f" The first was asked on “{first.page}”." if first.page else ""
    return Row(
        key=first.key,
        title=first.category or first.text,
        said=f"{told}: “{b.quoted(first.text, _QUOTE_LENGTH)}”",
        cells=(first.category or "", len(group), first.text, first.page or ""),
        known=f"Readers asked the docs' assistant {_subject(first.text)}, without an answer: {count}.{page}",
        quotes=texts[:_MOST_QUOTES],
        aim="Write the page that answers it, or add the answer to the page where readers look for it.",
    )


def _all_questions(answer: MissesReport, _rows: Sequence[Row]) -> tuple[str, int]:
    words = answer.words(Source.QUESTIONS)
    if words is None:
        return "", 0
    read = counted(words.events or 0, "question", "questions")
    which = f"the {read} that the docs service names first" if words.is_part else read
    return f"*{len(words.questions):,} unanswered* of {which}", words.events or 0


_KINDS: Mapping[Topic, _Kind] = {
    Topic.SEARCHES: _Kind(
        *("searches", "searches"),
        ("words", "searches", "with_click", "page"),
        _searches,
        _all_searches,
    ),
    Topic.FEEDBACK: _Kind(
        *("feedback", "votes"),
        ("page", "not_helpful", "helpful", "on_code", "who", "comments", "newest"),
        _feedback,
        _all_feedback,
    ),
    Topic.QUESTIONS: _Kind(
        *("unanswered questions", "questions"),
        ("category", "questions", "question", "page"),
        _questions,
        _all_questions,
    ),
}


# ---- the answer


def report(
    answer: MissesReport, question: QuestionId, *, shared_by: UserId | None = None, can_share: bool = True
) -> Message:
    """Return the answer to a question.

    ``shared_by``: who shares it in the channel; None for nobody. ``can_share``: whether somebody may.
    """
    rows = rows_of(answer)
    if not rows:
        said = f"The docs service has no {_KINDS[answer.query.topic].none} for {_when(answer)}."
        return b.words(" ".join([said, *_around(answer, shared_by), *unread(answer.windows)]))
    share = [share_button(question)] if can_share and not shared_by else []
    return _message(answer, question, rows, answer.query.top, [*share, more_button(question)], shared_by)


def more(answer: MissesReport, question: QuestionId) -> Message:
    """Return more rows of an answer, for the person who pressed its button."""
    file = b.button("All rows as CSV", b.Action.CSV_FILE, str(question))
    return _message(answer, question, rows_of(answer), max(_MORE_ROWS, answer.query.top), [file], None)


def _message(
    answer: MissesReport,
    question: QuestionId,
    rows: Sequence[Row],
    most: int,
    buttons: Sequence[Block],
    shared_by: UserId | None,
) -> Message:
    """Return the message with the first rows, as many as fit and at most ``most``."""
    total, events = _KINDS[answer.query.topic].total(answer, rows)
    what = about(answer.query)
    heading = f"*{what[:1].upper()}{what[1:]}*{', so far' if answer.is_open else ''}\n{total}"
    few = [f"That is too few to tell much ({events:,})."] if events < FEW else []
    notes = [
        " ".join([*few, *unread(answer.windows)]),
        " ".join([*_around(answer, shared_by), _source(answer)]),
    ]
    shown = [_block(rank, row, question) for rank, row in enumerate(rows[:most], 1)]
    while True:
        said = b.message(b.section(heading), *shown, *b.actions(buttons), b.context(*notes))
        said = replace(said, plain_blocks=said.blocks)
        if len(shown) == 1 or b.fits(said):
            return said
        shown.pop()


def _block(rank: int, row: Row, question: QuestionId) -> Block:
    button = b.button("Improve docs", b.Action.IMPROVE_MISS, f"{question}:{row.key}")
    return {**b.section(f"{rank}. {row.said}"), "accessory": button}


def _when(answer: MissesReport) -> str:
    return f"{dates(answer.query.period)}{' so far' if answer.is_open else ''}"


def _around(answer: MissesReport, shared_by: UserId | None) -> list[str]:
    """Return who shares an answer, or where the file is that was asked for with it."""
    if shared_by:
        return [f"Shared by {b.mention(shared_by)}."]
    return [FILE_COMES[answer.query.file_to]] if answer.query.file_to in FILE_COMES else []


def _source(answer: MissesReport) -> str:
    adds = _KINDS[answer.query.topic].adds
    return (
        f"Readers' words; addresses and keys are masked · {adds} may be added up, visitors may not · "
        f"read {b.moment(answer.read_at, TIME)}"
    )


def unread(windows: Iterable[Snapshot]) -> list[str]:
    """Return which parts could not be read, and why: a sentence for each reason."""
    sources: dict[str, dict[str, None]] = {}
    for each in windows:
        if each.words is None and each.state is not SnapshotState.DONE:
            why = b.quoted(reading_problem(each.problem or ""), _QUOTE_LENGTH) or "no calls were left"
            sources.setdefault(why, {})[each.source] = None
    return [f"{' and '.join(names).capitalize()} couldn't be read: {why}." for why, names in sources.items()]


def rows_of(answer: MissesReport) -> Sequence[Row]:
    """Return all rows in their order."""
    return _KINDS[answer.query.topic].rows(answer)


def not_here(query: VisitorsQuery) -> Message:
    """Return the answer if the service does not give what was asked for."""
    return b.words(
        f"The docs service gives no {query.topic} here: its plan may have none, or the bot's "
        "key may not read them. I'll ask it again in a day. Whoever runs this bot finds more in "
        "`docs-bot doctor`."
    )


# ---- the file and the prompt


def csv_lines(answer: MissesReport) -> Iterator[str]:
    """Yield the header and the rows of the file."""
    yield csv_line(header_of(answer.query.topic))
    yield from (csv_line(row.cells) for row in rows_of(answer))


def header_of(topic: Topic) -> tuple[str, ...]:
    """Return the names of the cells of a topic's rows."""
    return _KINDS[topic].header


def file_words(answer: MissesReport) -> str:
    """Return the text that accompanies the file."""
    words = [each.words for each in answer.windows if each.words is not None]
    of = f" of {b.label(answer.query.label)}" if answer.query.label else ""
    rows = counted(len(rows_of(answer)), "row", "rows")
    most = ", the first that the docs service names" if any(each.is_part for each in words) else ""
    return f"{answer.query.topic.capitalize()}{of}, {_when(answer)}: {rows}{most}."


def row_of(answer: MissesReport, key: str) -> Row | None:
    """Return the row with this key; None if there is none."""
    return next((each for each in rows_of(answer) if each.key == key), None)


def asked_about(key: str, title: str) -> About:
    """Return what is kept with a job that is asked for at a row."""
    return About(key, one_line(title, _TITLE_LENGTH))


def prompt(answer: MissesReport, row: Row) -> str:
    """Return the suggested prompt for a row, as plain text to edit.

    Readers' words stand on lines of their own, each behind ">". What the first line names is quoted as well.
    """
    room = _QUOTED_LENGTH // max(len(row.quotes), 1)
    quotes = "\n".join(f"> {one_line(each, room)}" for each in row.quotes)
    return "\n\n".join(filter(None, [f"{row.known} ({_when(answer)})", quotes, f"{row.aim} {AS_DATA}"]))
