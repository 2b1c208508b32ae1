"""Replies around an answer about visitors: progress, errors, buttons, the prompt about a page, and help."""

from __future__ import annotations

import re
from urllib.parse import quote

from bot.ids import Message
from bot.jobs.messages.problems import refusal
from bot.jobs.model.quota import Budget
from bot.messages import blocks as b
from bot.messages import slack_text
from bot.messages.blocks import counted
from bot.messages.plain_text import clip, one_line
from bot.outbox.model import NotPosted
from bot.visitors.content_gaps import GAP_TOPICS, Topic
from bot.visitors.messages import TIME_OF_DAY, both, reading_problem, shown_path, the_docs
from bot.visitors.model import Counts, Query
from bot.visitors.periods import Period

_WHOLE_PATH = 2_000
"""The longest path that the store keeps."""
_GUESS_LENGTH = 100
_ABOUT = {
    Topic.VISITORS: "who read {docs}",
    Topic.SEARCHES: "what readers searched in {docs}",
    Topic.FEEDBACK: "what readers said of {docs}",
    Topic.QUESTIONS: "what readers of {docs} asked without an answer",
}


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
    until = f" The next is possible at {b.moment(budget.free_at, TIME_OF_DAY)}." if budget.free_at else ""
    calls = counted(budget.limit, "analytics call", "analytics calls")
    return b.words(
        f":warning: I couldn't read {about(query)}: all {calls} of this hour are used.{until} "
        "Ask again then. What has been read so far is kept."
    )


def offer_corrected(text: str, *, is_question: bool) -> Message:
    """Return the question about a corrected command, with the button that runs it."""
    label = f"Show {text}" if is_question else text[:1].upper() + text[1:]
    value = slack_text.from_plain(text)
    button = b.button(one_line(label, b.BUTTON_LENGTH), b.Action.RUN_VISITORS, value)
    return b.with_buttons(f"Did you mean {b.quoted(text, _GUESS_LENGTH)}?", [button])


NOT_KEPT = b.words(
    ":no_entry: I no longer have those numbers, so I did nothing. Ask again with `/docs-visitors`."
)
STILL_READING = b.words(":hourglass_flowing_sand: I'm still reading. Try again when the answer is there.")
SHARED_BEFORE = b.words("That's been shared already, so I posted nothing.")
FILE_FOLLOWS = b.words("The CSV file comes in our direct messages.")
FILE_SENT_BEFORE = b.words(
    "That file is in our direct messages already, or on its way there. I didn't send it again."
)


def answer_undelivered(refused: NotPosted, bot_name: str, *, is_file: bool) -> Message:
    """Return the notice that Slack refused a post in a channel, or a file in direct messages."""
    action = "send you the file" if is_file else f"post the answer in {b.channel(refused.channel)}"
    return b.words(f":no_entry: I couldn't {action}: {refusal(refused, bot_name)}")


def improve_prompt(page: str, counts: Counts, period: Period) -> str:
    """Return the suggested prompt for a page. The path, chosen by strangers, can't end its quotation."""
    path = re.sub(r"[\s\"“”<>]", lambda sign: quote(sign[0]), one_line(page, _WHOLE_PATH))
    if counts.total and counts.ai >= 2 * counts.human:
        aim = (
            "It is read mostly by AI agents: state facts completely and explicitly, give runnable examples, "
            "and make it findable for people too, with links from the pages around it."
        )
    elif counts.total and counts.human >= 4 * counts.ai:
        aim = (
            "It is read mostly by people: make the beginning say what they will be able to do, "
            "check that every step works, and bring examples up to date."
        )
    else:
        aim = (
            "Check that it is correct and up to date, say the most important things first, and improve "
            "examples."
        )
    return (
        f"Improve the page “{clip(path, _WHOLE_PATH) or shown_path(page)}”.\n\n"
        f"Unique visitors {period} (approximate): {both(counts)}, {counts.total:,} in all.\n\n"
        f"{aim}"
    )


# ---- help


def period_help() -> str:
    """Return the lines of the command's help about periods and options, in mrkdwn."""
    topics = ", ".join(b.code(str(topic)) for topic in GAP_TOPICS)
    return (
        "*Periods*: `7d`, `last month`, `October`, `Q3`, `1 Oct to 15 Oct`, `since monday`.\n"
        "*Options*: `compare September`, `sort ai`, `top 20`, `path /api`, `csv`.\n"
        f"*What readers miss*: {topics}."
    )


FULL_HELP = (
    "*Periods and options of* `/docs-visitors`: `7d`, `last 28 days`, `today`, `last week`, `this month`, "
    "`last year`, `October`, `Q3 2025`, `2025`, `1 Oct`, `1 Oct to 15 Oct`, `since monday`. "
    "`compare September` names the period to compare with, `compare none` leaves it out. "
    "`sort human`, `sort ai` or `sort total` ranks the pages, `top 20` names more of them, "
    "`path /api` shows one section, `csv` sends all pages as a file."
)
"""The paragraph of the whole help about periods and options."""
