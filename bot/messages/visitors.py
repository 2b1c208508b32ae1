"""Answers about visitors: text, a chart and the pages read most, which fit on a screen, and the rest.

Unique visitors are shown as the service counted them and never added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.ids import Block, Message, QuestionId, UserId
from bot.messages import blocks as b
from bot.messages.numbers import (
    agents,
    change,
    counted,
    dates,
    gained,
    number,
    page_change,
    page_gain,
    page_numbers,
    page_table,
    people,
    percent,
    shown_path,
    visitors,
    visitors_chart,
)
from bot.messages.visitors_notes import caveats, source_note
from bot.model.questions import Comparison, FileTo, Movements, Report, VisitorsQuery
from bot.model.visitors import Counts, PageCounts, SortBy

PAGES_IN_LINE = 3
"""The most pages that a line about movements names."""
_MOST_OPTIONS = 40
_OPTION_PATH_LENGTH = 50
_STEP = 3
"""How many pages to remove at a time from a message that is too long."""
_WHOLE_SITE = "Whole site"


def report(
    answer: Report, question: QuestionId, *, shared_by: UserId | None = None, can_share: bool = True
) -> Message:
    """Return the answer to a question: totals, a chart, the pages read most and one sentence about them.

    ``shared_by``: who shares it in the channel; None for the private answer. ``can_share``: whether somebody
    may. *More* shows the rest.
    """
    if nothing := no_visits(answer):
        return b.words(" ".join([nothing, *_around(answer, shared_by)]))
    row = [*([share_button(question)] if can_share and not shared_by else []), more_button(question)]
    return with_fitting_pages(answer, lambda fewer: _report(fewer, row, shared_by))


def with_fitting_pages(answer: Report, build: Callable[[Report], Message]) -> Message:
    """Build the message of a report, with as many pages as fit into one message."""
    message = build(answer)
    for count in range(len(answer.top) - _STEP, 0, -_STEP):
        if b.fits(message):
            break
        message = build(replace(answer, top=answer.top[:count]))
    return message


def _report(answer: Report, row: Sequence[Block], shared_by: UserId | None) -> Message:
    return b.message(
        b.section(f"{title(answer)}\n{totals(answer)}"),
        *([visitors_chart(answer.chart, whole_site=bool(answer.query.section))] if answer.chart else []),
        *b.plain("\n".join([*page_lines(answer), *worth_knowing(answer)])),
        *b.actions([*row, *improve_menu(named_pages(answer))]),
        b.context(*caveats(answer), " ".join([*_around(answer, shared_by), source_note(answer)])),
    )


def _around(answer: Report, shared_by: UserId | None) -> list[str]:
    """Return who shares an answer, or where the file is that was asked for with it."""
    if shared_by:
        return [f"Shared by {b.mention(shared_by)}."]
    return [FILE_COMES[answer.query.file_to]] if answer.query.file_to in FILE_COMES else []


FILE_COMES = {
    FileTo.PRIVATE: "The CSV file comes in our direct messages.",
    FileTo.CHANNEL: "The CSV file comes in this channel.",
}


def no_visits(answer: Report) -> str:
    """Return the sentence about a period, or a section in it, without visits; empty if there are some."""
    query = answer.query
    when = f"{dates(query.period)}{' so far' if answer.is_open else ''}"
    if answer.site.total == 0 and answer.now.complete:
        of = f" of {b.label(query.label)}" if query.label else ""
        return f"The docs service has no visits{of} for {when}."
    section = shown_code(query.section)
    if section and not answer.pages and answer.now.complete:
        here = f" for pages under {section}" + (f" of {b.label(query.label)}" if query.label else "")
        return (
            f"The docs service has no visits{here}, {when}. The whole site had {number(answer.site.total)}."
        )
    return ""


def the_docs(query: VisitorsQuery) -> str:
    """Return what was read: "the docs", with the project's label where the bot serves several."""
    return f"the docs ({b.label(query.label)})" if query.label else "the docs"


def title(answer: Report) -> str:
    """Return the heading: the period, and the one compared with, or the days of one of another length."""
    against = ""
    if answer.was and answer.is_fair:
        against = f", compared with {dates(answer.was.period)}"
    elif answer.was and answer.before and answer.comparison is Comparison.LENGTHS:
        days = (counted(each.days, "day", "days") for each in (answer.query.period, answer.was.period))
        against = f", {' · before: '.join(days)}, {visitors(answer.before.total)}"
    return f"*Who read {the_docs(answer.query)}{_period_words(answer)}*{against}"


def _period_words(answer: Report) -> str:
    period = answer.query.period
    if not answer.is_open:
        return f", {dates(period)}"
    return f" so far today, {dates(period)}" if period.days == 1 else f", {dates(period)}, so far"


def totals(answer: Report) -> str:
    """Return the three totals of the site and the AI share."""
    site, before = answer.site, answer.before if answer.is_fair else None
    whole = f"{_WHOLE_SITE}: " if answer.query.section else ""
    parts = [
        f"*{visitors(site.total)}*{_grown(change(site.total, before.total)) if before else ''}",
        f"{people(site)}{_grown(change(site.human, before.human)) if before else ''}",
        f"{agents(site)}{_grown(change(site.ai, before.ai)) if before else ''}",
        f"AI's share {percent(site.ai_share)}",
        *([] if _is_special(answer.query) or not answer.top else [counted(answer.pages, "page", "pages")]),
    ]
    return whole + " · ".join(parts)


def _grown(changed: str) -> str:
    return f" ({changed})" if changed else ""


def _is_special(query: VisitorsQuery) -> bool:
    """Return whether the pages need a caption: they are those of a section, or ranked by people or AI."""
    return query.section is not None or query.sort is not SortBy.TOTAL


def page_lines(answer: Report) -> list[str]:
    """Return the pages read most as lines, which a phone shows whole, or a sentence if there are none."""
    if not answer.top:
        return [no_pages(answer)]
    whole = knows_all_before(answer)
    named = [f"*{b.quoted(caption(answer), 200)}*"] if _is_special(answer.query) else []
    return named + [
        f"{rank}. {b.code(shown_path(page.path))} "
        + _ranked(page.now, answer.query.sort, page_change(page, whole=whole) if answer.is_fair else "")
        for rank, page in enumerate(answer.top, 1)
    ]


def _ranked(counts: Counts, sort: SortBy, changed: str) -> str:
    """Return a page's counts, that of all visitors first, and in bold the one that ranks it."""
    parts = {
        SortBy.TOTAL: visitors(counts.total),
        SortBy.HUMAN: people(counts),
        SortBy.AI: agents(counts),
    }
    words = {by: f"*{part}*" if by is sort else part for by, part in parts.items()}
    words[SortBy.TOTAL] += _grown(changed)
    return " · ".join(words.values())


def shown_code(section: str | None) -> str | None:
    """Return a section as code in mrkdwn; None for the whole site."""
    return b.code(shown_path(section)) if section else None


def knows_all_before(answer: Report) -> bool:
    """Return whether all pages of the period before are known, so that a page without a row is new."""
    return answer.was is not None and answer.was.complete and not answer.was.repeated


def caption(answer: Report) -> str:
    """Return the number of pages and their order, not escaped."""
    where = f" under {shown_path(answer.query.section)}" if answer.query.section else ""
    pages = counted(answer.pages, "page", "pages") + where
    shown = pages if len(answer.top) == answer.pages else f"Top {len(answer.top)} of {pages}"
    return shown + _ORDERS[answer.query.sort]


_ORDERS = {SortBy.TOTAL: "", SortBy.HUMAN: ", most people first", SortBy.AI: ", most AI agents first"}


def no_pages(answer: Report) -> str:
    """Return the sentence that stands in place of the pages if there are none."""
    section = shown_code(answer.query.section)
    if not answer.now.complete:
        # The section may have unread pages; the caveats say how many were read, and why not all.
        here = f" under {section}" if section else ""
        return f"No page{here} is among those whose numbers could be read."
    return f"No page under {section} was read." if section else "No page was read."


def worth_knowing(answer: Report) -> list[str]:
    """Return one sentence about the page that changed most, or that AI reads and people hardly do, if any."""
    moved = answer.movements
    changes: tuple[tuple[Sequence[PageCounts], Callable[[PageCounts], str]], ...] = (
        (moved.risen, lambda page: f"gained the most readers: {page_gain(page)}"),
        (moved.fallen, lambda page: f"lost the most readers: {page_gain(page)}"),
        (moved.appeared, lambda page: f"is new here: {visitors(page.now.total)}, none before"),
        (moved.vanished, lambda page: f"had {visitors(page.now.total)} before and none this time"),
    )
    said = [(pages[0], words(pages[0])) for pages, words in changes if pages]
    said.sort(key=lambda each: abs(gained(each[0])), reverse=True)
    said += [(page, f"is read by {only_ai(page.now)}") for page in moved.hardly_people]
    return [f"*Worth knowing*: {b.code(shown_path(page.path))} {words}." for page, words in said[:1]]


def only_ai(counts: Counts) -> str:
    """Return the counts of a page that people hardly read."""
    return f"{agents(counts)} and {f'only {people(counts)}' if counts.human else 'no people'}"


def _split(page: PageCounts) -> str:
    return f"{people(page.now)}, {agents(page.now)}"


def named_pages(answer: Report) -> list[PageCounts]:
    """Return all pages that the report knows of, except those that vanished."""
    moved = answer.movements
    named = (moved.fallen, moved.hardly_people, moved.risen, moved.appeared, moved.hardly_ai)
    return [*answer.top, *(page for group in named for page in group[:PAGES_IN_LINE])]


def improve_menu(pages: Sequence[PageCounts]) -> list[Block]:
    """Return a menu that offers a job for each of the pages, without duplicates."""
    rows = list({page.key: page for page in pages}.values())[:_MOST_OPTIONS]
    options = [
        (f"{shown_path(page.path, _OPTION_PATH_LENGTH)} · {number(page.now.total)}", f"page:{page.key}")
        for page in rows
    ]
    return [b.menu("Improve a page…", b.Action.IMPROVE, options)] if options else []


def share_button(question: QuestionId) -> Block:
    """Return the button that posts an answer into its channel."""
    return b.button("Share in channel", b.Action.SHARE, str(question))


def more_button(question: QuestionId) -> Block:
    """Return the button that shows the rest."""
    return b.button("More", b.Action.MORE, str(question))


MOST_PAGES = 20
"""How many pages *More* shows, unless the question asked for more of them."""
NO_CHART_BUDGET = "There's no chart, to keep the rest of the hourly budget for questions."
NO_CHART_BEGINS = "There's no chart, because the docs service has too few days with visits."
NO_CHART_READ = "There's no chart, because a part of it couldn't be read."


def more(answer: Report, question: QuestionId) -> Message:
    """Return the rest of an answer, for the person who pressed its button."""
    return with_fitting_pages(answer, lambda fewer: _more(fewer, question))


def _more(answer: Report, question: QuestionId) -> Message:
    of = f", {b.label(answer.query.label)}" if answer.query.label else ""
    heading = f"*More about {dates(answer.query.period)}{of}*"
    beside = answer.before if answer.comparison is Comparison.LENGTHS else None
    if beside and answer.was:
        heading += f"\nBefore, {dates(answer.was.period)}: {page_numbers(beside)}"
    moves = [*movements(answer.movements), *_leaning(answer.movements, answer.site)]
    used = f"{number(answer.budget.used)} of {number(answer.budget.limit)}"
    counting = f"Days in {b.escape(answer.zone)} · {used} analytics calls used in the last hour"
    row = [b.button("All pages as CSV", b.Action.CSV_FILE, str(question)), *improve_menu(named_pages(answer))]
    return b.message(
        b.section(heading),
        _pages_table(answer),
        *map(b.section, moves),
        *b.actions(row),
        b.context(answer.no_chart or "", counting),
    )


def _pages_table(answer: Report) -> Block:
    """Return the pages read most as a table, or a sentence if there are none."""
    if not answer.top:
        return b.section(no_pages(answer))
    whole = knows_all_before(answer)
    return page_table(caption(answer), answer.top, compared=answer.is_fair, whole=whole)


def movements(moved: Movements, most: int = PAGES_IN_LINE) -> list[str]:
    """Return lines about pages that rose, fell, appeared or vanished, each with so many pages at most."""
    return [
        *_line("*Rises*", moved.risen[:most], page_gain),
        *_line("*Falls*", moved.fallen[:most], page_gain),
        *_line("*Newly read*", moved.appeared[:most], lambda page: visitors(page.now.total)),
        *_line("*No longer read*", moved.vanished[:most], lambda page: f"{visitors(page.now.total)} before"),
    ]


def _leaning(moved: Movements, site: Counts) -> list[str]:
    """Return lines about pages with an unusual share of AI agents."""
    share = f"(AI's share on the whole site: {percent(site.ai_share)})"
    return [
        *_line(f"*Read by AI, hardly by people* {share}", moved.hardly_people, _split),
        *_line("*Read by people, hardly by AI*", moved.hardly_ai, _split),
    ]


def _line(name: str, pages: Sequence[PageCounts], numbers: Callable[[PageCounts], str]) -> list[str]:
    """Return a line about some pages; nothing without pages."""
    named = [f"{b.code(shown_path(page.path))} {numbers(page)}" for page in pages[:PAGES_IN_LINE]]
    return [f"{name}: {' · '.join(named)}"] if named else []
