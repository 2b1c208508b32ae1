"""Answers about visitors: text, a chart and the pages read most, which fit on a screen, and the rest.

Unique visitors are shown as the service counted them and never added up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from bot.messages import blocks as b
from bot.messages.numbers import (
    between,
    change,
    counted,
    dates,
    number,
    page_change,
    page_gain,
    page_table,
    percent,
    share_change,
    shown_path,
    signed,
    visitors_chart,
)
from bot.messages.problems import reading_problem
from bot.model.ids import Block, Message, QuestionId, UserId
from bot.model.questions import Movements, Report, VisitorsQuery
from bot.model.visitors import Counts, PageCounts, Period, SnapshotState, SortBy

PAGES_IN_LINE = 3
"""The most pages that a line about movements names."""
_MOST_OPTIONS = 40
_OPTION_PATH_LENGTH = 50
_STEP = 3
"""How many pages to remove at a time from a message that is too long."""
_REASON_LENGTH = 200
_CHART_TITLE = "Unique visitors"
_WHOLE_SITE = "Whole site"
_TIME = "{date_short_pretty} {time}"
TIME_OF_DAY = "{time}"


def report(answer: Report, question: QuestionId, *, shared_by: UserId | None = None) -> Message:
    """Return the answer to a question: totals, a chart, the pages read most and one sentence about them.

    ``shared_by``: who shares it in the channel; None for the private answer. *More* shows the rest.
    """
    if is_empty(answer):
        by = f" Shared by {b.mention(shared_by)}." if shared_by else ""
        return b.with_buttons(nobody(answer) + by, _buttons(question, private=shared_by is None))
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
    told = worth_knowing(answer)
    notes = [*caveats(answer), source_note(answer)]
    if shared_by:
        notes.append(f"Shared by {b.mention(shared_by)}.")
    row = b.actions([*_buttons(question, private=shared_by is None), *improve_menu(named_pages(answer))])
    return b.message(
        b.section(title(answer)),
        totals_fields(answer),
        *([visitors_chart(_chart_title(answer), answer.chart)] if answer.chart else []),
        *pages_blocks(answer),
        *([b.section(told)] if told else []),
        *row,
        b.context(*notes),
    )


def is_empty(answer: Report) -> bool:
    """Return whether nobody read the docs."""
    return answer.site.total == 0 and answer.now.complete


def nobody(answer: Report) -> str:
    """Return the sentence about a period in which nobody read the docs."""
    period, docs = answer.query.period, the_docs(answer.query)
    if answer.is_open and period.days == 1:
        return f"Nobody has read {docs} so far today, {dates(period)}."
    if answer.is_open:
        return f"Nobody has read {docs} so far {between(period)}."
    before = answer.before.total if answer.before and answer.is_fair else 0
    had = (
        f"; {_visitors(before)} came {between(answer.query.compared)}"
        if before and answer.query.compared
        else ""
    )
    return f"Nobody read {docs} {between(period)}{had}."


def the_docs(query: VisitorsQuery) -> str:
    """Return what was read: "the docs", with the project's label where the bot serves several."""
    return f"the docs ({b.label(query.label)})" if query.label else "the docs"


def title(answer: Report) -> str:
    """Return the heading: the period, and the period compared with."""
    against = f"\ncompared with {dates(answer.was.period)}" if answer.was and answer.is_fair else ""
    return f"*Who read {the_docs(answer.query)}{_period_words(answer)}*{against}"


def _period_words(answer: Report) -> str:
    period = answer.query.period
    if not answer.is_open:
        return f", {dates(period)}"
    return f" so far today, {dates(period)}" if period.days == 1 else f", {dates(period)}, so far"


def totals_fields(answer: Report) -> Block:
    """Return the three totals and the AI share, side by side."""
    heading = f"*{_WHOLE_SITE}*" if answer.query.section else ""
    return b.fields(*(f"*{name}*\n{value}" for name, value in _totals(answer)), heading=heading)


def _totals(answer: Report) -> list[tuple[str, str]]:
    site, before = answer.site, answer.before if answer.is_fair else None

    def with_change(now: int, was: int | None) -> str:
        return number(now) if was is None else f"{number(now)} ({change(now, was)})"

    moved = share_change(site, before)
    return [
        ("People", with_change(site.human, before.human if before else None)),
        ("AI agents", with_change(site.ai, before.ai if before else None)),
        ("All together", with_change(site.total, before.total if before else None)),
        ("AI's share", percent(site.ai_share) + (f" ({moved})" if moved else "")),
    ]


def _chart_title(answer: Report) -> str:
    return f"{_CHART_TITLE}, {_WHOLE_SITE.lower()}" if answer.query.section else _CHART_TITLE


def pages_blocks(answer: Report) -> tuple[Block, ...]:
    """Return the pages read most as lines, which a phone shows whole, or a sentence if there are none."""
    if not answer.top:
        return b.plain(no_pages(answer))
    lines = [f"*{b.escape(caption(answer))}*"]
    for rank, page in enumerate(answer.top, 1):
        grown = f" ({page_change(page, whole=knows_all_before(answer))})" if answer.is_fair else ""
        lines.append(f"{rank}. {b.code(shown_path(page.path))} {_ranked(page.now, answer.query.sort, grown)}")
    return b.plain("\n".join(lines))


def _ranked(counts: Counts, sort: SortBy, grown: str) -> str:
    """Return a page's counts, that of all visitors first, and in bold the one that ranks it."""
    parts = {
        SortBy.TOTAL: _visitors(counts.total),
        SortBy.HUMAN: _people(counts),
        SortBy.AI: _agents(counts),
    }
    words = {by: f"*{part}*" if by is sort else part for by, part in parts.items()}
    words[SortBy.TOTAL] += grown
    return " · ".join(words.values())


def shown_code(section: str | None) -> str | None:
    """Return a section as code in mrkdwn; None for the whole site."""
    return b.code(shown_path(section)) if section else None


def knows_all_before(answer: Report) -> bool:
    """Return whether all pages of the period before are known, so that a page without a row is new."""
    return answer.was is not None and answer.was.complete


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


def page_numbers(counts: Counts) -> str:
    """Return the counts of a page, such as "12 people, 34 AI agents, 40 in all"."""
    return f"{_people(counts)}, {_agents(counts)}, {number(counts.total)} in all"


def _visitors(count: int) -> str:
    return counted(count, "visitor", "visitors")


def _people(counts: Counts) -> str:
    return counted(counts.human, "person", "people")


def _agents(counts: Counts) -> str:
    return counted(counts.ai, "AI agent", "AI agents")


def worth_knowing(answer: Report) -> str:
    """Return one sentence about the page that stands out most; empty if none does."""
    moved = answer.movements
    sentences: tuple[tuple[Sequence[PageCounts], Callable[[PageCounts], str]], ...] = (
        (moved.fallen, lambda page: f"lost the most readers: {_moved(page)}"),
        (moved.risen, lambda page: f"gained the most readers: {_moved(page)}"),
        (moved.vanished, lambda page: f"had {_visitors(page.now.total)} before and none this time"),
        (moved.appeared, lambda page: f"is new here: {_visitors(page.now.total)}, none before"),
        (moved.hardly_people, lambda page: f"is read by AI agents, hardly by people: {_split(page)}"),
        (moved.hardly_ai, lambda page: f"is read by people, hardly by AI agents: {_split(page)}"),
    )
    said = ((pages[0], words) for pages, words in sentences if pages)
    return next((f"*Worth knowing*: {_code(page)} {words(page)}." for page, words in said), "")


def _moved(page: PageCounts) -> str:
    was = page.was.total if page.was else 0
    return f"{signed(page.now.total - was)} ({change(page.now.total, was)})"


def _split(page: PageCounts) -> str:
    return f"{_people(page.now)}, {_agents(page.now)}"


def _code(page: PageCounts) -> str:
    return b.code(shown_path(page.path))


def caveats(answer: Report) -> list[str]:
    """Return the limits of the report that a reader must know: what is missing or not compared."""
    said = []
    if not answer.now.complete:
        said.append(_cut_short(answer))
    if answer.now.repeated:
        rows = counted(answer.now.repeated, "page", "pages")
        said.append(f"Pages changed places while they were read: {rows} may be missing.")
    if answer.query.compared:
        said += _about_before(answer, answer.query.compared)
    return said


def _about_before(answer: Report, compared: Period) -> list[str]:
    if answer.before is None:
        if _is_before_left_out(answer):
            why = ", because no calls were left"
            return [f"The period before ({dates(compared)}) wasn't read{why}."] if answer.now.complete else []
        why = _problem(answer.was.problem if answer.was else None)
        return [f"The period before ({dates(compared)}) couldn't be read{why}."]
    if not answer.is_fair:
        return [f"{dates(compared)} had {page_numbers(answer.before)}. {_why_not_compared(answer, compared)}"]
    if answer.was and not answer.was.complete:
        read = f"Only {counted(answer.was.rows, 'page', 'pages')}" if answer.was.rows else "No page"
        return [f"{read} of the period before could be read, so I don't know which pages are new or gone."]
    return []


def _why_not_compared(answer: Report, compared: Period) -> str:
    if compared.days != answer.query.period.days:
        these, those = (counted(each.days, "day", "days") for each in (answer.query.period, compared))
        return f"The two aren't compared, because one has {these} and the other {those}."
    if answer.is_open:
        return "The two aren't compared, because this one isn't over."
    return "The two aren't compared, because they weren't both over when they were read."


def _cut_short(answer: Report) -> str:
    read = counted(answer.now.rows, "page", "pages")
    if answer.now.state is SnapshotState.DONE or answer.now.problem:
        return f"Only {read} could be read{_problem(answer.now.problem)}. The ranking covers those alone."
    free_at = answer.budget.free_at
    return (
        f"Only the first {read} that the service names were read, then no calls were left"
        f"{' for more or for the period before' if _is_before_left_out(answer) else ''}. The ranking covers "
        f"those alone. Ask again{f' after {b.moment(free_at, TIME_OF_DAY)}' if free_at else ''}, "
        "and I'll go on where I stopped."
    )


def _is_before_left_out(answer: Report) -> bool:
    """Return whether no calls were left for the period compared with."""
    return (
        answer.query.compared is not None
        and answer.before is None
        and not (answer.was and answer.was.problem)
    )


def _problem(problem: str | None) -> str:
    return f": {b.quoted(reading_problem(problem), _REASON_LENGTH)}" if problem else ""


def source_note(answer: Report) -> str:
    """Return how and when the numbers were counted."""
    taken = b.moment(answer.taken_at, _TIME)
    what = "Approximate unique visitors as the docs service counts them, not to be added up"
    return f"{what} · days in {b.escape(answer.zone)} · taken {taken}"


def named_pages(answer: Report) -> list[PageCounts]:
    """Return all pages that the report knows of, except those that vanished."""
    moved = answer.movements
    named = (
        moved.fallen,
        moved.hardly_people,
        moved.risen,
        moved.appeared,
        moved.hardly_ai,
    )
    return [*answer.top, *(page for group in named for page in group[:PAGES_IN_LINE])]


def improve_menu(pages: Sequence[PageCounts]) -> list[Block]:
    """Return a menu that offers a job for each of the pages, without duplicates."""
    rows = list({page.key: page for page in pages}.values())[:_MOST_OPTIONS]
    options = [
        (f"{shown_path(page.path, _OPTION_PATH_LENGTH)} · {number(page.now.total)}", f"page:{page.key}")
        for page in rows
    ]
    return [b.menu("Improve a page…", "improve", options)] if options else []


def _buttons(question: QuestionId, *, private: bool) -> list[Block]:
    more = b.button("More", "more", str(question))
    return [b.button("Share in channel", "share", str(question)), more] if private else [more]


MOST_PAGES = 20
"""How many pages *More* shows, unless the question asked for more of them."""
NO_CHART_BUDGET = "There's no chart, to keep the rest of the hourly budget for questions."
NO_CHART_READ = "There's no chart, because a part of it couldn't be read."


def more(answer: Report, question: QuestionId) -> Message:
    """Return the rest of an answer, for the person who pressed its button."""
    return with_fitting_pages(answer, lambda fewer: _more(fewer, question))


def _more(answer: Report, question: QuestionId) -> Message:
    of = f", {b.label(answer.query.label)}" if answer.query.label else ""
    heading = f"*More about {dates(answer.query.period)}{of}*"
    moves = movements(answer.movements, answer.site)
    notes = [*([answer.no_chart] if answer.no_chart else []), budget_used(answer)]
    row = b.actions(
        [
            b.button("All pages as CSV", "csv_file", str(question)),
            *improve_menu(named_pages(answer)),
        ]
    )
    return b.message(
        b.section(heading),
        *pages_table(answer),
        *(b.section(line) for line in moves),
        *row,
        b.context(*notes),
    )


def pages_table(answer: Report) -> tuple[Block, ...]:
    """Return the pages read most as a table, or a sentence if there are none."""
    if not answer.top:
        return (b.section(no_pages(answer)),)
    whole = knows_all_before(answer)
    return (page_table(caption(answer), answer.top, compared=answer.is_fair, whole=whole),)


def movements(moved: Movements, site: Counts) -> list[str]:
    """Return lines about pages that rose, fell, appeared, vanished or have an unusual share of AI agents."""
    share = percent(site.ai_share)
    lines = [
        _line("*Rises*", moved.risen, page_gain),
        _line("*Falls*", moved.fallen, page_gain),
        _line("*Newly read*", moved.appeared, lambda page: _visitors(page.now.total)),
        _line("*No longer read*", moved.vanished, lambda page: f"{_visitors(page.now.total)} before"),
        _line(
            f"*Read by AI, hardly by people* (AI's share on the whole site: {share})",
            moved.hardly_people,
            _split,
        ),
        _line("*Read by people, hardly by AI*", moved.hardly_ai, _split),
    ]
    return [line for line in lines if line]


def _line(name: str, pages: Sequence[PageCounts], numbers: Callable[[PageCounts], str]) -> str:
    named = [f"{b.code(shown_path(page.path))} {numbers(page)}" for page in pages[:PAGES_IN_LINE]]
    return f"{name}: {' · '.join(named)}" if named else ""


def budget_used(answer: Report) -> str:
    """Return how much of the hourly budget of analytics calls is used."""
    used = f"{number(answer.budget.used)} of {number(answer.budget.limit)}"
    return f"{used} analytics calls used in the last hour"
