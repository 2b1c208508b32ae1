"""The digest's list of work: what is worth doing this week, each with evidence and a button."""

from __future__ import annotations

from bot.ids import Block, QuestionId
from bot.messages import blocks as b
from bot.messages.face import name, state_words
from bot.messages.misses import unread
from bot.messages.numbers import counted, number, page_gain, shown_path, visitors
from bot.messages.visitors import only_ai
from bot.model.jobs import TrackedJob
from bot.model.misses import MOST_READ, Topic
from bot.model.questions import Suggestion, SuggestionReason, WeeklyReport
from bot.model.visitors import ReadingProblem
from bot.model.worth import Worth

_TITLE_LENGTH = 60
_QUOTE_LENGTH = 40


def worth_doing(weekly: WeeklyReport, question: QuestionId) -> list[Block]:
    """Return one block for each thing that is worth doing, and one for all that was asked for before."""
    rows = [(_evidence(each), _button(each, question)) for each in weekly.worth]
    if weekly.suggestion:
        rows.append((suggested(weekly.suggestion), improve_page(weekly.suggestion)))
    listed = [{**b.section(f"• {said}"), "accessory": button} for said, button in rows]
    return [*listed, *b.plain("\n".join(map(came_of, weekly.asked)))]


def _evidence(worth: Worth) -> str:
    """Return one line about a row: what it is, and what shows that it is worth doing."""
    since = _since(worth)
    match worth.topic:
        case Topic.SEARCHES:
            searched = f"searched {_times(worth.events)}, clicked {number(worth.of)}"
            return f"{_code(worth.title)}: {searched}{since}"
        case Topic.FEEDBACK:
            said = f": “{b.quoted(worth.quote, _QUOTE_LENGTH)}”" if worth.quote else ""
            votes = f"{number(worth.events)} of {counted(worth.of, 'vote', 'votes')} not helpful"
            return f"{b.code(shown_path(worth.title))}: {votes}{said}"
        case _ if worth.quote:
            asked = f"{counted(worth.events, 'question', 'questions')} without an answer{since}"
            return f"{_code(worth.title)}: {asked}: “{b.quoted(worth.quote, _QUOTE_LENGTH)}”"
        case _:
            return f"“{b.quoted(worth.title, _TITLE_LENGTH)}”: asked {_times(worth.events)}, no answer{since}"


def _since(worth: Worth) -> str:
    """Return how often it was in the week before, if it is new or has grown."""
    if worth.is_new:
        return ", new"
    return f", {number(worth.was or 0)} the week before" if worth.has_grown else ""


def _code(title: str) -> str:
    return b.code(title, _TITLE_LENGTH)


def _times(count: int) -> str:
    return counted(count, "time", "times")


def _button(worth: Worth, question: QuestionId) -> Block:
    words = "Improve it" if worth.topic is Topic.FEEDBACK else "Write it"
    return b.button(words, b.Action.IMPROVE_MISS, f"{question}:{worth.key}")


def suggested(suggestion: Suggestion) -> str:
    """Return one line about the suggested page, with the reason."""
    page = suggestion.page
    why = {
        SuggestionReason.FALLING: f"lost readers, {page_gain(page)}",
        SuggestionReason.ONLY_AI: f"read by {only_ai(page.now)}",
        SuggestionReason.MOST_READ: f"the most read that no job has named, {visitors(page.now.total)}",
    }[suggestion.why]
    return f"{b.code(shown_path(page.path))}: {why}"


def improve_page(suggestion: Suggestion) -> Block:
    """Return the button that opens the form for the suggested page."""
    return b.button("Improve it", b.Action.IMPROVE_PAGE, f"page:{suggestion.page.key}")


def came_of(job: TrackedJob) -> str:
    """Return one line about a job that was asked for at such a row, and what has come of it."""
    title = b.code(job.about.title) if job.about else ""
    asked = b.moment(job.asked_at, "{date_short_pretty}")
    return f"{state_words(job)} · {title}, asked for {asked} · {b.link(job.pr_link, name(job.number))}"


def notes(weekly: WeeklyReport) -> list[str]:
    """Return what is to be known of the list: what it was not chosen from."""
    is_part = any(each.words.is_part for each in weekly.missed if each.words)
    few = [f"What is worth doing was chosen from the first {MOST_READ} rows of each kind."] if is_part else []
    return [*few, *unread([each for each in weekly.missed if each.problem != ReadingProblem.NOT_HERE])]
