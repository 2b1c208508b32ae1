"""The small print of an answer about visitors: what is missing or not compared, and why; and the source."""

from __future__ import annotations

from bot.messages import blocks as b
from bot.messages.numbers import counted, dates, page_numbers
from bot.messages.problems import reading_problem
from bot.model.questions import Comparison, Report
from bot.model.visitors import Period, SnapshotState

_REASON_LENGTH = 200
TIME = "{date_short_pretty} {time}"
TIME_OF_DAY = "{time}"


def caveats(answer: Report) -> list[str]:
    """Return the limits of the report that a reader must know: what is missing or not compared."""
    said = []
    if not answer.now.complete:
        said.append(_cut_short(answer))
    if answer.now.repeated:
        rows = counted(answer.now.repeated, "page", "pages")
        said.append(f"Pages changed places while they were read: {rows} may be missing.")
    begins = (
        f"No visits for {dates(answer.empty)}, so the data may begin within this period."
        if answer.empty
        else ""
    )
    before = _about_before(answer, answer.query.compared) if answer.query.compared else []
    together = " ".join(filter(None, [begins, *before]))
    return [*said, *([together] if together else [])]


def _about_before(answer: Report, compared: Period) -> list[str]:
    that, lead = dates(compared), dates(min(compared, answer.query.period).lead())
    match answer.comparison:
        case Comparison.NONE:
            return _why_not_read(answer, that)
        case Comparison.EMPTY:
            return [f"Not compared with {that}: no visits for it."]
        case Comparison.BEGINS_LATE:
            return [f"Not compared with {that}: no visits known for {lead}, so the data may begin later."]
        case Comparison.OPEN:
            why = "this one isn't over" if answer.is_open else "they weren't both over when they were read"
            had = page_numbers(answer.before) if answer.before else ""
            return [f"{that} had {had}. Not compared, because {why}."]
        case Comparison.LENGTHS:
            return []
    if answer.was and not answer.was.complete:
        read = f"Only {counted(answer.was.rows, 'page', 'pages')}" if answer.was.rows else "No page"
        return [f"{read} of the period before could be read, so I don't know which pages are new or gone."]
    return []


def _why_not_read(answer: Report, that: str) -> list[str]:
    if not _is_before_left_out(answer):
        why = _problem(answer.was.problem if answer.was else None)
        return [f"The period before ({that}) couldn't be read{why}."]
    return (
        [f"The period before ({that}) wasn't read, because no calls were left."]
        if answer.now.complete
        else []
    )


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
    """Return what the numbers are and when they were read."""
    return f"Unique visitors, approximate: don't sum them · read {b.moment(answer.taken_at, TIME)}"
