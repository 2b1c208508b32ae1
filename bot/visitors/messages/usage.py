"""The help of ``/docs-visitors``, and the question about a corrected command."""

from __future__ import annotations

from bot.ids import Block, Message
from bot.messages import blocks as b
from bot.messages import slack_text
from bot.messages.plain_text import one_line
from bot.visitors.model.gaps import GAP_REPORT_TYPES

_MAX_GUESS_CHARACTERS = 100


def offer_corrected(text: str, *, is_question: bool) -> Message:
    """Return the question about a corrected command, with the button that runs it."""
    label = f"Show {text}" if is_question else text[:1].upper() + text[1:]
    return b.with_buttons(
        f"Did you mean {b.quoted(text, _MAX_GUESS_CHARACTERS)}?", [_run_button(label, text)]
    )


def offer_page(reason: str, page: str) -> Message:
    """Return the reason why a text was not understood, with a button that shows a page."""
    return b.with_buttons(reason, [_run_button(f"Show path {page}", f"path {page}")])


def _run_button(label: str, text: str) -> Block:
    """Return a button that runs the command with a text."""
    value = slack_text.from_plain(text.encode("utf-8", "replace").decode())  # no lone surrogates
    return b.button(one_line(label, b.MAX_BUTTON_CHARACTERS), b.Action.RUN_VISITORS, value)


def suggest_help() -> Message:
    show = b.button("help", b.Action.RUN_WORD, "/docs-visitors|help")
    return b.with_buttons("Did you mean `/docs-visitors help`?", [show])


def period_help() -> str:
    """Return the lines of the command's help about periods and options, in mrkdwn."""
    report_types = ", ".join(b.code(str(report_type)) for report_type in GAP_REPORT_TYPES)
    return (
        "*Periods*: `7d`, `last month`, `this quarter`, `2026-10-01..2026-10-15`.\n"
        "*Options*: `compare none`, `sort ai`, `top 20`, `path /api`, `csv`.\n"
        f"*What readers miss*: {report_types}."
    )


FULL_HELP = (
    "*Periods and options of* `/docs-visitors`: `7d`, `last 28 days`, `today`, `last week`, `this month`, "
    "`last quarter`, `this year`, `2026-10-05`, `2026-10-01..2026-10-15`. "
    "`compare last month` names the period to compare with, `compare none` leaves it out. "
    "`sort human`, `sort ai` or `sort total` ranks the pages, `top 20` names more of them, "
    "`path /api` shows one section, `csv` sends all pages as a file."
)
"""The paragraph of the whole help about periods and options."""
