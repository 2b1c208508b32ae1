"""Answers about visitors: text, a chart and a table.

Unique visitors are shown as the service counted them and never added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from bot.messages import blocks as b
from bot.messages.charts import page_table, shown_path, visitors_chart
from bot.messages.numbers import (
    change,
    counted,
    dates,
    number,
    page_change,
    page_gain,
    percent,
    point_label,
    share_change,
)
from bot.messages.problems import reading_problem
from bot.model import (
    Block,
    Counts,
    Message,
    Movements,
    PageCounts,
    Period,
    QuestionId,
    Report,
    SnapshotState,
    SortBy,
    UserId,
)

_PAGES_IN_LINE = 3
"""The most pages that a line about movements names."""
_MOST_OPTIONS = 40
_OPTION_PATH_LENGTH = 50
_STEP = 3
"""How many pages to remove at a time from a message that is too long."""
_REASON_LENGTH = 200
_CHART_TITLE = "Unique visitors"
_TIME = "{date_short_pretty} {time}"
TIME_OF_DAY = "{time}"


def report(answer: Report, question: QuestionId, *, shared_by: UserId | None = None) -> Message:
    """Return the answer to a question.

    ``shared_by``: who shares it in the channel; None for the private answer.
    """
    return with_fitting_pages(answer, lambda fewer: _report(fewer, question, shared_by))


def with_fitting_pages(answer: Report, build: Callable[[Report], Message]) -> Message:
    """Build the message of a report, with as many pages as fit into one message."""
    message = build(answer)
    for count in range(len(answer.top) - _STEP, 0, -_STEP):
        if b.fits(message):
            break
        message = build(replace(answer, top=answer.top[:count]))
    return message


def _report(answer: Report, question: QuestionId, shared_by: UserId | None) -> Message:
    heading = title(answer)
    moves = movements(answer.movements, answer.site)
    notes = [*caveats(answer), source_note(answer), *([] if shared_by else [budget_used(answer)])]
    if shared_by:
        notes.append(f"Shared by {b.mention(shared_by)}.")
    row = b.actions([*improve_menu(named_pages(answer)), *_buttons(question, private=shared_by is None)])
    blocks = (
        b.section(heading),
        totals_fields(answer.site, answer.before),
        *([visitors_chart(_CHART_TITLE, answer.chart)] if answer.chart else []),
        *pages_table(answer),
        *(b.section(line) for line in moves),
        *row,
        b.context(*notes),
    )
    words = [heading, totals_words(answer.site, answer.before), *chart_words(answer.chart)]
    text = "\n".join([*words, *pages_lines(answer), *moves, *notes])
    return Message(text, blocks, (*b.plain(text), *row))


def title(answer: Report) -> str:
    """Return the heading: the period, and the period compared with."""
    against = f"\ncompared with {dates(answer.was.period)}" if answer.was and answer.before else ""
    return f"*Who read the docs, {dates(answer.query.period)}*{against}"


def totals_fields(site: Counts, before: Counts | None) -> Block:
    """Return the three totals and the AI share, side by side."""
    return b.fields(*(f"*{name}*\n{value}" for name, value in _totals(site, before)))


def totals_words(site: Counts, before: Counts | None) -> str:
    """Return the three totals and the AI share as one sentence."""
    return "; ".join(f"{name}: {value}" for name, value in _totals(site, before)) + "."


def _totals(site: Counts, before: Counts | None) -> list[tuple[str, str]]:
    def with_change(now: int, was: int | None) -> str:
        return number(now) if was is None else f"{number(now)} ({change(now, was)})"

    moved = share_change(site, before)
    return [
        ("People", with_change(site.human, before.human if before else None)),
        ("AI agents", with_change(site.ai, before.ai if before else None)),
        ("All together", with_change(site.total, before.total if before else None)),
        ("AI's share", percent(site.ai_share) + (f" ({moved})" if moved else "")),
    ]


def pages_table(answer: Report) -> tuple[Block, ...]:
    """Return the most read pages as a table, or a sentence if there are none."""
    if not answer.top:
        return (b.section(_no_pages(answer)),)
    compared, whole = answer.before is not None, _knows_all_before(answer)
    return (page_table(_caption(answer), answer.top, compared=compared, whole=whole),)


def pages_lines(answer: Report) -> list[str]:
    """Return the most read pages as lines of text."""
    if not answer.top:
        return [_no_pages(answer)]
    lines = [f"{b.escape(_caption(answer))}:"]
    for rank, page in enumerate(answer.top, 1):
        grown = f", {page_change(page, whole=_knows_all_before(answer))}" if answer.before is not None else ""
        lines.append(f"{rank}. {b.code(shown_path(page.path))} {page_numbers(page.now)}{grown}")
    return lines


def shown_code(section: str | None) -> str | None:
    """Return a section as code in mrkdwn; None for the whole site."""
    return b.code(shown_path(section)) if section else None


def _knows_all_before(answer: Report) -> bool:
    """Return whether all pages of the period before are known, so that a page without a row is new."""
    return answer.was is not None and answer.was.complete


def _caption(answer: Report) -> str:
    """Return the number of pages and their order, not escaped."""
    where = f" under {shown_path(answer.query.section)}" if answer.query.section else ""
    pages = counted(answer.pages, "page", "pages") + where
    shown = pages if len(answer.top) == answer.pages else f"Top {len(answer.top)} of {pages}"
    return shown + _ORDERS[answer.query.sort]


_ORDERS = {SortBy.TOTAL: "", SortBy.HUMAN: ", most people first", SortBy.AI: ", most AI agents first"}


def _no_pages(answer: Report) -> str:
    section = shown_code(answer.query.section)
    if not answer.now.complete:
        # The section may have unread pages; the caveats say how many were read, and why not all.
        here = f" under {section}" if section else ""
        return f"No page{here} is among those whose numbers could be read."
    return f"No page under {section} was read." if section else "No page was read."


def page_numbers(counts: Counts) -> str:
    """Return the counts of a page, such as "12 people, 34 AI agents, 40 in all"."""
    people = counted(counts.human, "person", "people")
    return f"{people}, {counted(counts.ai, 'AI agent', 'AI agents')}, {number(counts.total)} in all"


def movements(moved: Movements, site: Counts) -> list[str]:
    """Return lines about pages that rose, fell, appeared, vanished or have an unusual share of AI agents."""
    share = percent(site.ai_share)
    lines = [
        _line(":chart_with_upwards_trend: *Rises*", moved.risen, page_gain),
        _line(":chart_with_downwards_trend: *Falls*", moved.fallen, page_gain),
        _line(":new: *Newly read*", moved.appeared, _visitors),
        _line(":wave: *Not read any more*", moved.vanished, lambda page: f"{_visitors(page)} before"),
        _line(
            f":robot_face: *Read by AI, hardly by people* (AI's share on the whole site: {share})",
            moved.hardly_people,
            _people_and_ai,
        ),
        _line(":bust_in_silhouette: *Read by people, hardly by AI*", moved.hardly_ai, _people_and_ai),
    ]
    return [line for line in lines if line]


def _visitors(page: PageCounts) -> str:
    return counted(page.now.total, "visitor", "visitors")


def _people_and_ai(page: PageCounts) -> str:
    return f"{counted(page.now.human, 'person', 'people')}, {counted(page.now.ai, 'AI agent', 'AI agents')}"


def _line(name: str, pages: Sequence[PageCounts], numbers: Callable[[PageCounts], str]) -> str:
    named = [f"{b.code(shown_path(page.path))} {numbers(page)}" for page in pages[:_PAGES_IN_LINE]]
    return f"{name}: {' · '.join(named)}" if named else ""


def chart_words(chart: Iterable[tuple[Period, Counts]], heading: str = "Over time") -> list[str]:
    """Return the chart's numbers as text, for readers who cannot see it."""
    points = [f"{point_label(period)} {page_numbers(counts)}" for period, counts in chart]
    return [f"{heading}: {'; '.join(points)}."] if points else []


def caveats(answer: Report) -> list[str]:
    """Return the limits of the report that a reader must know: what is missing or not comparable."""
    said = []
    if answer.is_open:
        against = ", but compared with a whole one" if answer.before else ""
        said.append(f"This period is not over yet{against}.")
    if answer.query.section:
        said.append(
            "The totals are those of the whole site: "
            "unique visitors of pages cannot be added up to those of a section."
        )
    if not answer.now.complete:
        said.append(_cut_short(answer))
    if answer.now.repeated:
        rows = counted(answer.now.repeated, "page", "pages")
        said.append(f"Pages changed places while they were read: {rows} may be missing.")
    if answer.query.compared:
        said += _about_before(answer, answer.query.compared)
    return [*said, answer.no_chart] if answer.no_chart else said


def _about_before(answer: Report, compared: Period) -> list[str]:
    if answer.before is None:
        why = _problem(answer.was.problem if answer.was else None)
        return [f"The period before ({dates(compared)}) could not be read{why}."]
    said = []
    if compared.days != answer.query.period.days:
        these, those = (counted(each.days, "day", "days") for each in (answer.query.period, compared))
        said.append(f"The two periods differ in length: {these} and {those}.")
    if answer.was and not answer.was.complete:
        read = f"Only {counted(answer.was.rows, 'page', 'pages')}" if answer.was.rows else "No page"
        said.append(f"{read} of the period before could be read, so new and gone pages are not known.")
    return said


def _cut_short(answer: Report) -> str:
    read = counted(answer.now.rows, "page", "pages")
    if answer.now.state is SnapshotState.DONE or answer.now.problem:
        return f"Only {read} could be read{_problem(answer.now.problem)}. The ranking covers those alone."
    free_at = answer.budget.free_at
    return (
        f"Only the first {read} that the service names were read, then the hourly budget of "
        f"{counted(answer.budget.limit, 'call', 'calls')} was used up. The ranking covers those alone. "
        f"Ask again {f'after {b.moment(free_at, TIME_OF_DAY)}' if free_at else 'later'}, "
        "and the reading goes on where it stopped."
    )


NO_CHART_BUDGET = "There is no chart, to keep the rest of the hourly budget for questions."
NO_CHART_READ = "There is no chart, because a part of it could not be read."


def _problem(problem: str | None) -> str:
    return f": {b.quoted(reading_problem(problem), _REASON_LENGTH)}" if problem else ""


def source_note(answer: Report) -> str:
    """Return how and when the numbers were counted."""
    taken = b.moment(answer.taken_at, _TIME)
    return f"Approximate unique visitors · days in {b.escape(answer.zone)} · taken {taken}"


def budget_used(answer: Report) -> str:
    """Return how much of the hourly budget of analytics calls is used."""
    used = f"{number(answer.budget.used)} of {number(answer.budget.limit)}"
    return f"{used} analytics calls used in the last hour"


def named_pages(answer: Report) -> list[PageCounts]:
    """Return all pages that the report names, except those that vanished."""
    moved = answer.movements
    named = (
        moved.fallen,
        moved.hardly_people,
        moved.risen,
        moved.appeared,
        moved.hardly_ai,
    )
    return [*answer.top, *(page for group in named for page in group[:_PAGES_IN_LINE])]


def improve_menu(pages: Iterable[PageCounts]) -> list[Block]:
    """Return a menu that offers a job for each of the pages, without duplicates."""
    rows = list({page.row: page for page in pages}.values())[:_MOST_OPTIONS]
    options = [
        (f"{shown_path(page.path, _OPTION_PATH_LENGTH)} · {number(page.now.total)}", f"page:{page.row}")
        for page in rows
    ]
    return [b.menu("Improve a page…", "improve", options)] if options else []


def _buttons(question: QuestionId, *, private: bool) -> list[Block]:
    how = b.button("How counted", "how_counted", str(question))
    if not private:
        return [how]
    share = b.button("Share in channel", "share", str(question), style="primary")
    return [share, b.button("All pages as CSV", "csv_file", str(question)), how]
