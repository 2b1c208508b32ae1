"""The weekly digest: visitors of the docs, the agent's work, and a page to improve."""

from __future__ import annotations

from dataclasses import replace

from bot.messages import blocks as b
from bot.messages.charts import shown_path, visitors_chart
from bot.messages.face import name
from bot.messages.numbers import clock, counted, dates, duration, number, page_gain, weekday
from bot.messages.visitors import (
    caveats,
    improve_menu,
    is_empty,
    named_pages,
    nobody,
    page_numbers,
    pages_blocks,
    source_note,
    totals_fields,
    with_fitting_pages,
)
from bot.messages.visitors_more import movements
from bot.model.digests import Subscription
from bot.model.jobs import JobState
from bot.model.message import Block, Message
from bot.model.report import Suggestion, SuggestionReason, WeeklyReport, WorkDone
from bot.model.weekly_time import WeeklyTime

_CURVE_TITLE = "Unique visitors week by week"
_STATE_NAMES = {
    JobState.PULL_REQUEST: ("pull request", "pull requests"),
    JobState.NO_CHANGE: ("with nothing changed", "with nothing changed"),
    JobState.FAILED: ("failed", "failed"),
}


def digest(weekly: WeeklyReport) -> Message:
    """Return the digest, with as many pages as fit into one message."""
    return with_fitting_pages(weekly.report, lambda fewer: _digest(replace(weekly, report=fewer)))


def _digest(weekly: WeeklyReport) -> Message:
    answer = weekly.report
    against = "\ncompared with the week before" if answer.is_fair else ""
    docs = b.label(answer.query.label) if answer.query.label else "The docs"
    heading = f"*{docs} in the week {dates(answer.query.period)}*{against}"
    curve = [(week, counts) for week, counts in weekly.curve if counts is not None]
    lines = [*movements(answer.movements, answer.site), work_done(weekly.work)]
    lines += [suggested(weekly.suggestion)] if weekly.suggestion else []
    notes = [] if is_empty(answer) else caveats(answer)
    notes += [*_curve_gap(len(curve), len(weekly.curve)), source_note(answer)]
    notes += [footer(weekly.subscription)] if weekly.subscription else []
    row = b.actions([*_improve(weekly.suggestion), *improve_menu(named_pages(answer))])
    return b.message(
        b.section(heading),
        *([] if is_empty(answer) else [totals_fields(answer)]),
        *([visitors_chart(_CURVE_TITLE, curve)] if len(curve) > 1 else []),
        *(b.plain(nobody(answer)) if is_empty(answer) else pages_blocks(answer)),
        *(b.section(line) for line in lines),
        *row,
        b.context(*notes),
    )


def _curve_gap(known: int, total: int) -> list[str]:
    if known < 2:
        return ["There is no curve yet: too few weeks have been read."]
    weeks = counted(total - known, "week that has", "weeks that have")
    return [f"The curve leaves out {weeks} not been read yet."] if known < total else []


def work_done(work: WorkDone) -> str:
    """Return one line about the week's jobs, by their current states."""
    waits = f" Waiting for review: {', '.join(map(name, work.to_review))}." if work.to_review else ""
    if not work.asked:
        return f"*The agent* had no jobs. `/docs-agent` starts one.{waits}"
    by_state = {state: count for state, count in work.by_state.items() if state in _STATE_NAMES and count}
    parts = [counted(by_state[state], *words) for state, words in _STATE_NAMES.items() if state in by_state]
    rest = work.asked - sum(by_state.values())
    parts += [f"{number(rest)} open or ended otherwise"] if rest > 0 else []
    took = f" Median time: {duration(work.median_time)}." if work.median_time is not None else ""
    asked = counted(work.asked, "job was asked for", "jobs were asked for")
    return f"*The agent*: {asked}: {', '.join(parts)}.{took}{waits}"


def suggested(suggestion: Suggestion) -> str:
    """Return one line about the suggested page, with the reason."""
    page = suggestion.page
    why = {
        SuggestionReason.FALLING: f"lost readers: {page_gain(page)}",
        SuggestionReason.ONLY_AI: "is read by AI agents, but hardly by people",
        SuggestionReason.MOST_READ: "is the most read page that no job has named lately",
    }[suggestion.why]
    return f"*Worth improving*: {b.code(shown_path(page.path))} {why}. It had {page_numbers(page.now)}."


def _improve(suggestion: Suggestion | None) -> list[Block]:
    if suggestion is None:
        return []
    return [b.button("Improve this page", "improve_page", f"page:{suggestion.page.key}", style="primary")]


def footer(subscription: Subscription) -> str:
    """Return when the digest is posted, and the command that changes it."""
    return f"{when(subscription.weekly)} · `/docs-visitors subscriptions`"


def when(weekly: WeeklyTime) -> str:
    """Return a weekly time such as "Every Monday at 09:00 (Europe/Berlin)"."""
    return f"Every {weekday(weekly.weekday)} at {clock(weekly.at)} ({b.escape(weekly.zone)})"
