"""Texts for the agent: a person's own words, the requester and channel, and attachments."""

from __future__ import annotations

from collections.abc import Sequence

from bot.jobs.model.jobs import TrackedJob
from bot.messages.blocks import MAX_PLAIN_INPUT_CHARACTERS
from bot.messages.plain_text import clip, one_line, visible
from bot.messages.quotations import Quotation, QuoteSource

MAX_EARLIER_MESSAGES = 20
"""The most messages of a conversation that go along with a prompt."""
MAX_EARLIER_CHARACTERS = 6_000
"""Their characters together."""
MAX_FORM_CHARACTERS = MAX_PLAIN_INPUT_CHARACTERS
"""The longest conversation in a form, whose field holds no more."""
_MAX_NAME_CHARACTERS = 80
_MAX_TITLE_CHARACTERS = 120
_MAX_FACT_CHARACTERS = 3_000
_MAX_NAMED = 10

REPLY_NOTE = "Asked in a reply: if nothing in it asks for a change, change nothing."
"""The sentence about the place of a reply, because people may also talk in a job's thread."""


def signature(name: str | None, channel: str | None) -> str:
    """Return the sentence with the requester and the channel, if they are given."""
    by = f" by {one_line(name, _MAX_NAME_CHARACTERS)}" if name else ""
    where = f" in #{one_line(channel, _MAX_NAME_CHARACTERS)}" if channel else ""
    return f"Asked{by}{where}." if by or where else ""


def fit_newest(
    talk: Sequence[tuple[str, str]], most_characters: int = MAX_EARLIER_CHARACTERS
) -> Sequence[str]:
    """Return messages, each a name and a text, as lines of a conversation, oldest first.

    The newest stay: at most ``MAX_EARLIER_MESSAGES``, of at most ``most_characters`` together.
    The newest is clipped if it alone is too long.
    """
    lines: list[str] = []
    room = most_characters
    for name, text in reversed(talk[-MAX_EARLIER_MESSAGES:]):
        first, *others = visible(text).strip().splitlines() or [""]
        first = f"{one_line(name, _MAX_NAME_CHARACTERS)}: {first}"
        line = "\n".join([first, *others])
        if len(line) > room and lines:
            break
        lines.insert(0, clip(line, room))
        room -= len(line) + 1
    return lines


def attachments(signed: str, quotations: Sequence[Quotation] = ()) -> str:
    """Return the attachments after the text of a prompt; "" for none.

    Args:
        signed: The sentence with the requester.
        quotations: Earlier messages, files, and the pull request under which the prompt was said.
    """
    return "\n\n".join(filter(None, [signed, *map(str, quotations)]))


def quote_merged_pull_request(job: TrackedJob) -> Quotation:
    """Return the facts about the merged pull request to which a prompt is a follow-up."""
    title = job.text
    pages: list[str] = []
    if job.pull_request:
        title = job.pull_request.title
        named = [*job.pull_request.paths, *(line.page for line in job.pull_request.lines)]
        pages = list(dict.fromkeys(named))
    facts = {
        "Title": one_line(title, _MAX_TITLE_CHARACTERS),
        "Link": job.pr_link or "",
        "Pages": ", ".join(one_line(page, _MAX_NAME_CHARACTERS) for page in pages[:_MAX_NAMED]),
    }
    lines = [
        f"{label}: {one_line(fact, _MAX_FACT_CHARACTERS)}" for label, fact in facts.items() if fact
    ]
    return Quotation(QuoteSource.MERGED, "\n".join(lines))
