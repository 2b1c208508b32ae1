"""Answers about visitors.

A chart and the most read pages, the rest, the file, and the notes around them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from bot.ids import Block, Message, QuestionId, UserId
from bot.messages import blocks as b
from bot.messages.blocks import counted
from bot.messages.plain_text import BOM, HEADER, csv_line
from bot.visitors.messages.numbers import (
    agents,
    change,
    in_brackets,
    path_code,
    people,
    percent,
    shown_path,
    views_line,
    visitors_answer,
)
from bot.visitors.messages.reasons import REASON_LENGTH, next_step, not_read
from bot.visitors.model.gaps import Topic, page_row_key
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import FileDestination, Query, SortBy, in_section
from bot.visitors.model.readings import Counts, ReadingProblem, is_passing
from bot.visitors.model.reports import (
    NoComparison,
    NotComparable,
    Page,
    Report,
    is_beyond_chance,
)

TIME = "{date_short_pretty} {time}"
UNIQUE = "Unique visitors, approximate, so they don't add up"
_IN_LINE = 3
_TABLE_ROWS = 20
_MAX_OPTIONS = 40
_ABOUT = {
    Topic.VISITORS: "who read {docs}",
    Topic.SEARCHES: "what readers searched in {docs}",
    Topic.FEEDBACK: "what readers said of {docs}",
    Topic.QUESTIONS: "what readers of {docs} asked without an answer",
}


# ---- the answer


def answer(
    report: Report, question: QuestionId, *, shared_by: UserId | None = None, can_share: bool = True
) -> Message:
    """Return the answer to a question.

    Args:
        report: its content.
        question: the question that its buttons name.
        shared_by: the person who shares it in the channel; None for the private answer.
        can_share: whether it has the button to share it.
    """
    nothing = no_visits(report)
    if nothing:
        return b.words(" ".join([nothing, *around(report.query, shared_by)]))
    buttons = [more_button(question), *improve_menu(report.top, question)]
    if can_share and not shared_by:
        buttons.insert(0, share_button(question))
    return b.message(
        b.section(f"{_title(report)}\n{totals(report)}"),
        *_charts(report),
        *b.text_blocks("\n".join(page_lines(report))),
        *b.actions(buttons),
        b.context(
            *caveats(report), " ".join([*around(report.query, shared_by), source_note(report)])
        ),
    )


def no_visits(report: Report) -> str:
    """Return the sentence about a period or a section without visits; "" if there are some."""
    query = report.query
    if not report.now.is_complete or report.pages:
        return ""
    when = f"{query.period}{' so far' if report.is_open else ''}"
    of = f" of {b.label(query.label)}" if query.label else ""
    if not query.section:
        return f"The docs service has no visits{of} for {when}."
    site = f" The whole site had {report.site.total:,}." if report.site.total else ""
    pages = f" for pages under {path_code(query.section)}"
    return f"The docs service has no visits{pages}{of}, {when}.{site}"


def around(query: Query, shared_by: UserId | None) -> list[str]:
    """Return who shares an answer, or where its file comes, if anything."""
    if shared_by:
        return [f"Shared by {b.mention(shared_by)}."]
    places = {
        FileDestination.PRIVATE: "our direct messages",
        FileDestination.CHANNEL: "this channel",
    }
    if query.file_to not in places:
        return []
    return [f"The CSV file comes in {places[query.file_to]}."]


def the_docs(query: Query) -> str:
    return f"the docs ({b.label(query.label)})" if query.label else "the docs"


def _title(report: Report) -> str:
    period = report.query.period
    when = f", {period}"
    if report.is_open:
        when = f" so far today, {period}" if period.days == 1 else f", {period}, so far"
    where = f" under {path_code(report.query.section)}" if report.query.section else ""
    against = f", compared with {report.was.period}" if report.was else ""
    return f"*Who read {the_docs(report.query)}{where}{when}*{against}"


def compare_total(report: Report) -> str:
    """Return the comparison with the total of the period before; "" if it is unknown."""
    if report.before is None:
        return ""
    now = report.site.total
    was = report.before.total
    name = _name_before(report.query)
    if not is_beyond_chance(now, was):
        return f", about as many as {name} ({was:,})"
    direction = "more" if now > was else "fewer"
    return f", {percent(abs(now - was), was)} {direction} than {name} ({was:,})"


def _name_before(query: Query) -> str:
    """Return the name of the period compared with.

    The month before, the week before, before, or then.
    """
    if query.compared != query.period.before():
        return "then"
    if query.period.months:
        units = {12: "year", 3: "quarter", 1: "month"}
        return f"the {units[query.period.months]} before"
    return "the week before" if query.period.days == 7 else "before"


def totals(report: Report) -> str:
    site = report.site
    was = report.before
    parts = [
        f"*{visitors_answer(site.total)}*{compare_total(report)}",
        f"{people(site)}{in_brackets(change(site.human, was.human if was else None))}",
        f"{agents(site)}{in_brackets(change(site.ai, was.ai if was else None))}",
        f"AI's share {percent(site.ai, site.total)}",
    ]
    if report.query.section:
        lines = ["Whole site: " + " · ".join(parts)]
        if report.views is not None:
            lines.append(views_line(report.query.section, report.views))
        return "\n".join(lines)
    has_caption = report.query.sort is not SortBy.TOTAL
    if report.pages and not has_caption:
        parts.append(counted(len(report.pages), "page", "pages"))
    return " · ".join(parts)


# ---- pages


def page_lines(report: Report) -> list[str]:
    """Return the most read pages as lines, or a sentence if there are none."""
    if not report.pages:
        scope = f" under {path_code(report.query.section)}" if report.query.section else ""
        return [f"No page{scope} is among those whose numbers could be read."]
    lines = []
    if report.query.section or report.query.sort is not SortBy.TOTAL:
        lines.append(f"*{b.quoted(_caption(report, len(report.top)), REASON_LENGTH)}*")
    for rank, page in enumerate(report.top, 1):
        lines.append(f"{rank}. {path_code(page.path)} {_page_counts(page, report.query.sort)}")
    return lines


def _caption(report: Report, count: int) -> str:
    where = f" under {shown_path(report.query.section)}" if report.query.section else ""
    pages = counted(len(report.pages), "page", "pages") + where
    orders = {SortBy.HUMAN: ", most people first", SortBy.AI: ", most AI agents first"}
    first = f"Top {count} of " if count < len(report.pages) else ""
    return f"{first}{pages}{orders.get(report.query.sort, '')}"


def _page_counts(page: Page, sort: SortBy) -> str:
    """Return a page's counts, with the count that ranks it in bold."""
    counts = {
        SortBy.TOTAL: visitors_answer(page.now.total),
        SortBy.HUMAN: people(page.now),
        SortBy.AI: agents(page.now),
    }
    counts[sort] = f"*{counts[sort]}*"
    changed = change(page.now.total, page.was.total if page.was else None)
    counts[SortBy.TOTAL] += in_brackets(changed)
    return " · ".join(counts.values())


def improve_menu(pages: Sequence[Page], question: QuestionId) -> list[Block]:
    """Return a menu that offers a job for each of these pages; nothing without pages."""
    options = []
    different = {page.path: page for page in pages}
    for page in list(different.values())[:_MAX_OPTIONS]:
        label = f"{shown_path(page.path, 50)} · {page.now.total:,}"
        options.append((label, f"{question}:{page_row_key(page.path)}"))
    return [b.menu("Improve a page…", b.Action.IMPROVE, options)] if options else []


# ---- the chart


def _charts(report: Report) -> list[Block]:
    return [chart(report.chart)] if len(report.chart) > 1 else []


def chart(points: Sequence[tuple[Period, Counts]]) -> Block:
    """Return a line chart; each point counts the unique visitors of its own days.

    https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
    """
    labels = [period.short for period, _ in points]
    series = [
        _line_of_chart("People", labels, [counts.human for _, counts in points]),
        _line_of_chart("AI agents", labels, [counts.ai for _, counts in points]),
        _line_of_chart("Total", labels, [counts.total for _, counts in points]),
    ]
    drawn = {"type": "line", "series": series, "axis_config": {"categories": labels}}
    unit = _unit_of_chart(points[0][0].days)
    return {"type": "data_visualization", "title": f"Unique visitors by {unit}", "chart": drawn}


def _line_of_chart(name: str, labels: Sequence[str], values: Sequence[int]) -> Block:
    data = [{"label": label, "value": value} for label, value in zip(labels, values, strict=True)]
    return {"name": name, "data": data}


def _unit_of_chart(days: int) -> str:
    if days == 1:
        return "day"
    return "week (Mon–Sun)" if days == 7 else f"{days // 7} weeks (Mon–Sun)"


# ---- the small print


def caveats(report: Report, *, is_digest: bool = False) -> list[str]:
    """Return the limits of a report: missing pages, and periods that are not compared.

    ``is_digest``: nobody has asked, so that nobody is told to ask again, and no chart is shown.
    """
    notes = []
    if not report.now.is_complete:
        notes.append(_missing_pages(report, is_digest=is_digest))
    if report.views_problem and report.query.section:
        views = f"The views of {path_code(report.query.section)}"
        notes.append(not_read(views, report.views_problem))
    if report.not_compared:
        notes.append(_not_compared(report.query, report.not_compared))
    if report.was and not report.was.is_complete:
        notes.append("Not all pages of the period before were read, so none is called new or gone.")
    missing = len(report.query.chart) - len(report.chart)
    if missing and not is_digest:
        parts = counted(missing, "part", "parts")
        notes.append(f"The chart leaves out {parts} that couldn't be read yet.")
    return notes


def _missing_pages(report: Report, *, is_digest: bool) -> str:
    """Return why pages are missing, and the way to the rest."""
    reading = report.now
    problem = reading.problem or ReadingProblem.LATE
    pages = f"The pages after the first {reading.rows:,}" if reading.rows else "The pages"
    sentence = not_read(pages, problem)
    if is_digest or not is_passing(problem):
        return sentence
    return f"{sentence} {next_step(problem, report.budget.free_at)}"


def _not_compared(query: Query, why: NoComparison) -> str:
    """Return why a period is not compared."""
    compared = query.compared or query.period
    match why.reason:
        case NotComparable.UNREAD:
            return f"Not compared: {not_read(str(why.period), why.problem)}"
        case NotComparable.NO_VISITS:
            return f"Not compared with {compared}: no visits for it."
        case NotComparable.BEFORE_DATA:
            return (
                f"Not compared with {compared}: no visits for {why.period}, "
                "so the data may begin later."
            )
        case NotComparable.NOT_OVER:
            return (
                f"Not compared with {compared}, which had {visitors_answer(why.total)}: "
                f"{why.period} wasn't over."
            )
        case NotComparable.UNEQUAL:
            return (
                f"Not compared with {compared}, which had {visitors_answer(why.total)}: "
                f"it has {compared.days} days and not {query.period.days}."
            )


def source_note(report: Report) -> str:
    at = b.moment(report.now.read_at, TIME) if report.now.read_at else ""
    return f"{UNIQUE} · read {at}"


# ---- More, and the file


def share_button(question: QuestionId) -> Block:
    return b.button("Share in channel", b.Action.SHARE, str(question))


def more_button(question: QuestionId) -> Block:
    return b.button("More", b.Action.MORE, str(question))


def more(report: Report, question: QuestionId) -> Message:
    """Return the rest of an answer: a table of pages, and the pages that appeared and vanished."""
    heading = b.section(f"*More about {_name_period(report)}*")
    return b.message(heading, *_rest(report, question), b.context(_counted_in(report)))


def all_numbers(report: Report, question: QuestionId) -> Message:
    """Return all numbers of a digest: the content of *More*, the totals and the chart."""
    heading = b.section(f"*All numbers of {_name_period(report)}*\n{totals(report)}")
    notes = b.context(*caveats(report), source_note(report), _counted_in(report))
    return b.message(heading, *_charts(report), *_rest(report, question), notes)


def _name_period(report: Report) -> str:
    of = f", {b.label(report.query.label)}" if report.query.label else ""
    return f"{report.query.period}{of}"


def _rest(report: Report, question: QuestionId) -> list[Block]:
    """Return the table of pages, the lists of new and gone pages, and the buttons."""
    pages = report.pages[:_TABLE_ROWS]
    rows = table(_caption(report, len(pages)), pages) if pages else b.section(page_lines(report)[0])
    file = b.button("All pages as CSV", b.Action.CSV_FILE, str(question))
    menu = improve_menu([*pages, *report.appeared], question)
    return [rows, *map(b.section, _new_and_gone(report)), *b.actions([file, *menu])]


def _counted_in(report: Report) -> str:
    """Return the zone of the days, and how much of the hour's budget is used."""
    budget = report.budget
    used = f"{budget.used:,} of {budget.limit:,} analytics calls used in the last hour"
    return f"Days in {b.escape(report.zone)} · {used}"


def table(caption: str, pages: Sequence[Page]) -> Block:
    """Return a table of pages.

    https://docs.slack.dev/reference/block-kit/blocks/data-table-block
    """
    header = ("Page", "Total", "People", "AI agents")
    rows: list[list[Block]] = [[{"type": "raw_text", "text": name} for name in header]]
    for page in pages:
        counts = (page.now.total, page.now.human, page.now.ai)
        cells = [{"type": "raw_number", "value": count, "text": f"{count:,}"} for count in counts]
        rows.append([{"type": "raw_text", "text": shown_path(page.path)}, *cells])
    return {
        "type": "data_table",
        "caption": caption,
        "page_size": 10,
        "row_header_column_index": 0,
        "rows": rows,
    }


def _new_and_gone(report: Report) -> list[str]:
    """Return a line about new pages, and a line about gone pages."""
    lines = []
    if report.appeared:
        appeared = [
            f"{path_code(page.path)} {visitors_answer(page.now.total)}" for page in report.appeared
        ]
        lines.append(f"*Newly read*: {' · '.join(appeared[:_IN_LINE])}")
    if report.vanished:
        vanished = [
            f"{path_code(page.path)} {visitors_answer(-page.gain)} before"
            for page in report.vanished
        ]
        lines.append(f"*No longer read*: {' · '.join(vanished[:_IN_LINE])}")
    return lines


def csv_file(query: Query, pages: Mapping[str, Counts], *, complete: bool) -> tuple[str, str]:
    """Return the file with all pages, and the text that accompanies it."""
    rows = [
        (path, counts.human, counts.ai, counts.total)
        for path, counts in pages.items()
        if in_section(path, query.section)
    ]
    every = "All " if complete and len(rows) > 1 else ""
    count = counted(len(rows), "page", "pages")
    where = f" under {path_code(query.section)}" if query.section else ""
    of = f" of {b.label(query.label)}" if query.label else ""
    part = "" if complete else " (I couldn't read them all)"
    text = (
        f"{every}{count}{where}{of}{part}, {query.period}. "
        "Unique visitors, so the rows don't add up."
    )
    return BOM + csv_line(HEADER) + "".join(map(csv_line, rows)), text


# ---- notes around an answer


def about(query: Query) -> str:
    """Return the subject of a question with its days: "who read the docs, 14–20 Nov 2026"."""
    return f"{_ABOUT[query.topic].format(docs=the_docs(query))}, {query.period}"


def progress_note(query: Query) -> Message:
    return b.words(f":hourglass_flowing_sand: Reading {about(query)}. I'll answer here.")


def unanswered(query: Query, problem: str, free_at: datetime | None) -> Message:
    """Return the answer to a question whose numbers could not be read.

    ``free_at``: the time of the next possible call; None for now.
    """
    of = f" ({b.label(query.label)})" if query.label else ""
    sentence = not_read(f"The numbers of {query.period}{of}", problem)
    return b.words(f":warning: {sentence} {next_step(problem, free_at)}")


NOT_KEPT = b.words(
    ":no_entry: I no longer have those numbers, so I did nothing. Ask again with `/docs-visitors`."
)
STILL_READING = b.words(
    ":hourglass_flowing_sand: I'm still reading. Try again when the answer is there."
)
SHARED_BEFORE = b.words("That's been shared already, so I posted nothing.")
FILE_FOLLOWS = b.words("The CSV file comes in our direct messages.")
FILE_SENT_BEFORE = b.words(
    "That file is in our direct messages already, or on its way there. I didn't send it again."
)
