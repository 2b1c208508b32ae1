"""The help of ``/docs-visitors``, and the question about a corrected command."""

from __future__ import annotations

from bot.ids import Message
from bot.messages import blocks as b
from bot.messages import slack_text
from bot.messages.plain_text import one_line
from bot.visitors.model.gaps import GAP_TOPICS

_GUESS_LENGTH = 100


def offer_corrected(text: str, *, is_question: bool) -> Message:
    """Return the question about a corrected command, with the button that runs it."""
    label = f"Show {text}" if is_question else text[:1].upper() + text[1:]
    value = slack_text.from_plain(text.encode("utf-8", "replace").decode())  # no lone surrogates
    button = b.button(one_line(label, b.BUTTON_LENGTH), b.Action.RUN_VISITORS, value)
    return b.with_buttons(f"Did you mean {b.quoted(text, _GUESS_LENGTH)}?", [button])


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
