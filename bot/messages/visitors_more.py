"""What stands behind the button *More* of an answer about visitors: all pages, what moved, and the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bot.messages import blocks as b
from bot.messages.charts import page_table, shown_path
from bot.messages.numbers import counted, dates, number, page_gain, percent
from bot.messages.visitors import (
    PAGES_IN_LINE,
    caption,
    improve_menu,
    knows_all_before,
    named_pages,
    no_pages,
    with_fitting_pages,
)
from bot.model.ids import QuestionId
from bot.model.message import Block, Message
from bot.model.report import Movements, Report
from bot.model.visitors import Counts, PageCounts

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
        _line("*Newly read*", moved.appeared, _visitors),
        _line("*No longer read*", moved.vanished, lambda page: f"{_visitors(page)} before"),
        _line(
            f"*Read by AI, hardly by people* (AI's share on the whole site: {share})",
            moved.hardly_people,
            _people_and_ai,
        ),
        _line("*Read by people, hardly by AI*", moved.hardly_ai, _people_and_ai),
    ]
    return [line for line in lines if line]


def _visitors(page: PageCounts) -> str:
    return counted(page.now.total, "visitor", "visitors")


def _people_and_ai(page: PageCounts) -> str:
    return f"{counted(page.now.human, 'person', 'people')}, {counted(page.now.ai, 'AI agent', 'AI agents')}"


def _line(name: str, pages: Sequence[PageCounts], numbers: Callable[[PageCounts], str]) -> str:
    named = [f"{b.code(shown_path(page.path))} {numbers(page)}" for page in pages[:PAGES_IN_LINE]]
    return f"{name}: {' · '.join(named)}" if named else ""


def budget_used(answer: Report) -> str:
    """Return how much of the hourly budget of analytics calls is used."""
    used = f"{number(answer.budget.used)} of {number(answer.budget.limit)}"
    return f"{used} analytics calls used in the last hour"
