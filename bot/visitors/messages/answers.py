"""Answers about visitors: a chart and the most read pages, the rest, the file, and the notes around them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot.ids import Block, Message, QuestionId, UserId
from bot.jobs.model.quota import Budget
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
    visitors_answer,
)
from bot.visitors.messages.reasons import REASON_LENGTH, reading_problem
from bot.visitors.model.gaps import Topic, page_row_key
from bot.visitors.model.periods import Period
from bot.visitors.model.questions import FileTo, Query, SortBy, in_section
from bot.visitors.model.readings import Counts
from bot.visitors.model.reports import Page, Report, is_beyond_chance

TIME, TIME_OF_DAY = "{date_short_pretty} {time}", "{time}"
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
    if nothing := no_visits(report):
        return b.words(" ".join([nothing, *around(report.query, shared_by)]))
    buttons = [
        *([share_button(question)] if can_share and not shared_by else []),
        more_button(question),
    ]
    return b.message(
        b.section(f"{_title(report)}\n{totals(report)}"),
        *_charts(report),
        *b.text_blocks("\n".join(page_lines(report))),
        *b.actions([*buttons, *improve_menu(report.top, question)]),
        b.context(
            *caveats(report), " ".join([*around(report.query, shared_by), source_note(report)])
        ),
    )


def no_visits(report: Report) -> str:
    """Return the sentence about a period or a section without visits; "" if there are some."""
    query = report.query
    if not report.now.complete or report.pages:
        return ""
    where = f" for pages under {path_code(query.section)}" if query.section else ""
    of = f" of {b.label(query.label)}" if query.label else ""
    site = f" The whole site had {report.site.total:,}." if where and report.site.total else ""
    when = f"{query.period}{' so far' if report.is_open else ''}"
    return f"The docs service has no visits{where}{of}{',' if where else ' for'} {when}.{site}"


def around(query: Query, shared_by: UserId | None) -> list[str]:
    """Return who shares an answer, or where its file comes, if anything."""
    if shared_by:
        return [f"Shared by {b.mention(shared_by)}."]
    place = {FileTo.PRIVATE: "our direct messages", FileTo.CHANNEL: "this channel"}.get(
        query.file_to
    )
    return [f"The CSV file comes in {place}."] if place else []


def the_docs(query: Query) -> str:
    return f"the docs ({b.label(query.label)})" if query.label else "the docs"


def _title(report: Report) -> str:
    period, against = (
        report.query.period,
        f", compared with {report.was.period}" if report.was else "",
    )
    when = f", {period}{', so far' if report.is_open else ''}"
    if report.is_open and period.days == 1:
        when = f" so far today, {period}"
    where = f" under {path_code(report.query.section)}" if report.query.section else ""
    return f"*Who read {the_docs(report.query)}{where}{when}*{against}"


def compare_total(report: Report) -> str:
    """Return how the total compares with that of the period before; "" if that is unknown."""
    if report.before is None:
        return ""
    now, was, period = report.site.total, report.before.total, report.query.period
    names = {12: "the year before", 3: "the quarter before", 1: "the month before"}
    name = names.get(period.months, "the week before" if period.days == 7 else "before")
    name = name if report.query.compared == period.before() else "then"
    if not is_beyond_chance(now, was):
        return f", about as many as {name} ({was:,})"
    return (
        f", {percent(abs(now - was), was)} {'more' if now > was else 'fewer'} than {name} ({was:,})"
    )


def totals(report: Report) -> str:
    site, was = report.site, report.before
    parts = [
        f"*{visitors_answer(site.total)}*{compare_total(report)}",
        f"{people(site)}{in_brackets(change(site.human, was.human if was else None))}",
        f"{agents(site)}{in_brackets(change(site.ai, was.ai if was else None))}",
        f"AI's share {percent(site.ai, site.total)}",
    ]
    if report.query.section:
        return "Whole site: " + " · ".join(parts)
    has_caption = report.query.sort is not SortBy.TOTAL
    pages = [] if has_caption or not report.pages else [counted(len(report.pages), "page", "pages")]
    return " · ".join([*parts, *pages])


def page_lines(report: Report) -> list[str]:
    """Return the most read pages as lines, or a sentence if there are none."""
    if not report.pages:
        scope = f" under {path_code(report.query.section)}" if report.query.section else ""
        return [f"No page{scope} is among those whose numbers could be read."]
    needs_caption = report.query.section or report.query.sort is not SortBy.TOTAL
    caption = (
        [f"*{b.quoted(_caption(report, len(report.top)), REASON_LENGTH)}*"] if needs_caption else []
    )
    return caption + [
        f"{rank}. {path_code(page.path)} {_ranked(page, report.query.sort)}"
        for rank, page in enumerate(report.top, 1)
    ]


def _caption(report: Report, count: int) -> str:
    where = f" under {shown_path(report.query.section)}" if report.query.section else ""
    pages = counted(len(report.pages), "page", "pages") + where
    order = {SortBy.HUMAN: ", most people first", SortBy.AI: ", most AI agents first"}
    first = f"Top {count} of " if count < len(report.pages) else ""
    return f"{first}{pages}{order.get(report.query.sort, '')}"


def _ranked(page: Page, sort: SortBy) -> str:
    """Return a page's counts, in bold the one that ranks it."""
    counts = {
        SortBy.TOTAL: visitors_answer(page.now.total),
        SortBy.HUMAN: people(page.now),
        SortBy.AI: agents(page.now),
    }
    counts[sort] = f"*{counts[sort]}*"
    counts[SortBy.TOTAL] += in_brackets(
        change(page.now.total, page.was.total if page.was else None)
    )
    return " · ".join(counts.values())


def _charts(report: Report) -> list[Block]:
    return [chart(report.chart)] if len(report.chart) > 1 else []


def chart(points: Sequence[tuple[Period, Counts]]) -> Block:
    """Return a line chart; each point counts the unique visitors of its own days.

    https://docs.slack.dev/reference/block-kit/blocks/data-visualization-block
    """
    labels = [period.short for period, _ in points]
    lines = {
        "People": [counts.human for _, counts in points],
        "AI agents": [counts.ai for _, counts in points],
        "Total": [counts.total for _, counts in points],
    }
    series = [
        {
            "name": name,
            "data": [
                {"label": at, "value": value} for at, value in zip(labels, values, strict=True)
            ],
        }
        for name, values in lines.items()
    ]
    days = points[0][0].days
    unit = "day" if days == 1 else f"{'week' if days == 7 else f'{days // 7} weeks'} (Mon–Sun)"
    drawn = {"type": "line", "series": series, "axis_config": {"categories": labels}}
    return {"type": "data_visualization", "title": f"Unique visitors by {unit}", "chart": drawn}


def caveats(report: Report, *, has_chart: bool = True) -> list[str]:
    """Return the limits of a report: missing pages, and periods that are not compared."""
    notes, now, query = [], report.now, report.query
    if not now.complete:
        reason = reading_problem(now.problem) if now.problem else "then no calls were left"
        free_at = report.budget.free_at
        when = f" after {b.moment(free_at, TIME_OF_DAY)}" if free_at else ""
        again = "" if now.problem else f" Ask again{when}, and I'll go on where I stopped."
        notes.append(
            f"Only the first {counted(now.rows, 'page', 'pages')} were read: {reason}.{again}"
        )
    if report.not_compared:
        notes.append(f"Not compared with {query.compared}: {report.not_compared}.")
    if report.was and not report.was.complete:
        notes.append("Not all pages of the period before were read, so none is called new or gone.")
    if has_chart and (missing := len(query.chart) - len(report.chart)):
        notes.append(
            f"The chart leaves out {counted(missing, 'part', 'parts')} that couldn't be read yet."
        )
    return notes


def source_note(report: Report) -> str:
    at = b.moment(report.now.taken_at, TIME) if report.now.taken_at else ""
    return f"{UNIQUE} · read {at}"


def improve_menu(pages: Sequence[Page], question: QuestionId) -> list[Block]:
    """Return a menu that offers a job for each of these pages; nothing without pages."""
    options = []
    different = {page.path: page for page in pages}
    for page in list(different.values())[:_MAX_OPTIONS]:
        label = f"{shown_path(page.path, 50)} · {page.now.total:,}"
        options.append((label, f"{question}:{page_row_key(page.path)}"))
    return [b.menu("Improve a page…", b.Action.IMPROVE, options)] if options else []


def share_button(question: QuestionId) -> Block:
    return b.button("Share in channel", b.Action.SHARE, str(question))


def more_button(question: QuestionId) -> Block:
    return b.button("More", b.Action.MORE, str(question))


def more(report: Report, question: QuestionId, *, is_digest: bool = False) -> Message:
    """Return the rest of an answer: a table of pages, and the pages that appeared and vanished.

    That of a digest also has the totals and the chart, which the digest leaves out.
    """
    of = f", {b.label(report.query.label)}" if report.query.label else ""
    name = f"{report.query.period}{of}*"
    used = (
        f"{report.budget.used:,} of {report.budget.limit:,} analytics calls used in the last hour"
    )
    heading = [b.section(f"*More about {name}")]
    notes = []
    if is_digest:
        heading = [b.section(f"*All numbers of {name}\n{totals(report)}"), *_charts(report)]
        notes = [*caveats(report), source_note(report)]
    pages = report.pages[:_TABLE_ROWS]
    file = b.button("All pages as CSV", b.Action.CSV_FILE, str(question))
    return b.message(
        *heading,
        table(_caption(report, len(pages)), pages) if pages else b.section(page_lines(report)[0]),
        *map(b.section, _new_and_gone(report)),
        *b.actions([file, *improve_menu([*pages, *report.appeared], question)]),
        b.context(*notes, f"Days in {b.escape(report.zone)} · {used}"),
    )


def table(caption: str, pages: Sequence[Page]) -> Block:
    """Return a table of pages.

    https://docs.slack.dev/reference/block-kit/blocks/data-table-block
    """
    header = "Page", "Total", "People", "AI agents"
    rows: list[list[Block]] = [[{"type": "raw_text", "text": name} for name in header]]
    for page in pages:
        counts = (page.now.total, page.now.human, page.now.ai)
        rows.append(
            [
                {"type": "raw_text", "text": shown_path(page.path)},
                *({"type": "raw_number", "value": count, "text": f"{count:,}"} for count in counts),
            ]
        )
    return {
        "type": "data_table",
        "caption": caption,
        "page_size": 10,
        "row_header_column_index": 0,
        "rows": rows,
    }


def _new_and_gone(report: Report) -> list[str]:
    """Return a line about the pages that appeared, and one about those that vanished."""
    lines = []
    if report.appeared:
        appeared = [
            f"{path_code(page.path)} {visitors_answer(page.now.total)}" for page in report.appeared
        ]
        lines.append(f"*Newly read*: {' · '.join(appeared[:_IN_LINE])}")
    if report.vanished:
        vanished = [
            f"{path_code(page.path)} {visitors_answer(-page.gained)} before"
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
    where = f" under {path_code(query.section)}" if query.section else ""
    of = f" of {b.label(query.label)}" if query.label else ""
    part = "" if complete else " (I couldn't read them all)"
    every = "All " if complete and len(rows) > 1 else ""
    text = (
        f"{every}{counted(len(rows), 'page', 'pages')}{where}{of}{part}, {query.period}. "
        "Unique visitors, so the rows don't add up."
    )
    return BOM + csv_line(HEADER) + "".join(map(csv_line, rows)), text


def about(query: Query) -> str:
    """Return the subject of a question with its days: "who read the docs, 14–20 Nov 2026"."""
    return f"{_ABOUT[query.topic].format(docs=the_docs(query))}, {query.period}"


def progress_note(query: Query) -> Message:
    return b.words(f":hourglass_flowing_sand: Reading {about(query)}. I'll answer here.")


def not_readable(query: Query, problem: str) -> Message:
    return b.words(
        f":warning: I couldn't read {about(query)}: {reading_problem(problem)}. "
        "Try again later. If it keeps failing, ask your bot admin."
    )


def budget_used_up(query: Query, budget: Budget) -> Message:
    until = (
        f" The next is possible at {b.moment(budget.free_at, TIME_OF_DAY)}."
        if budget.free_at
        else ""
    )
    calls = counted(budget.limit, "analytics call", "analytics calls")
    return b.words(
        f":warning: I couldn't read {about(query)}: all {calls} of this hour are used.{until} "
        "Ask again then. What has been read so far is kept."
    )


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
