"""Messages about inquiries: answers, gaps, and the notice that an answer is written.

Slack renders the assistant's Markdown.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from bot.answers.model import DocsPage, Inquiry
from bot.ids import Block, Message
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import Unsent
from bot.messages import blocks as b
from bot.messages.plain_text import clip, visible
from bot.messages.slack_text import from_plain, to_plain

_ANSWER_LENGTH, _PASSAGE_LENGTH, _TITLE_LENGTH = 3_000, 400, 120
_MOST_SOURCES = 4
MOST_GAPS = 10
_ADDRESS = re.compile(r"https?://[^\s<>()\[\]\"'`]{1,2000}")
_CALL = re.compile(r"<(?=[@!#])")

NOT_HERE = b.words("I no longer have that question. Ask it again.")
NO_GAPS = b.words("No open questions here.")


def _buttons(inquiry: Inquiry, *, is_gap: bool = False, is_shared: bool = False) -> list[Block]:
    number = str(inquiry.id)
    if inquiry.is_topic:
        return [
            b.button("Change the docs", b.Action.CHANGE_DOCS, number),
            b.button("Answer it", b.Action.ANSWER_TOPIC, number),
        ]
    if is_gap:
        return [b.button("Draft a page on it", b.Action.CHANGE_DOCS, number), *_send_on(inquiry)]
    buttons = [
        b.button("Draft a page", b.Action.CHANGE_DOCS, number),
        b.button("Didn't help", b.Action.DID_NOT_HELP, number),
        *_send_on(inquiry),
    ]
    is_private = inquiry.thread_ts is None and not is_shared
    return [*buttons, b.button("Share", b.Action.SHARE_ANSWER, number)] if is_private else buttons


def _send_on(inquiry: Inquiry) -> list[Block]:
    """Return the button that sends a question to the job in whose thread it was said."""
    draft = Unsent(inquiry.key, inquiry.thread_ts, from_plain(inquiry.text), inquiry.in_job)
    if inquiry.in_job is None or len(draft.raw) > Unsent.LONGEST:
        return []
    return [b.button("Send it to the agent", b.Action.SEND_ANYWAY, draft.dumps())]


def format_answer(
    inquiry: Inquiry, text: str, pages: Sequence[DocsPage], hosts: Collection[str]
) -> Message:
    """Return the assistant's answer, with the pages that it cites. ``hosts``: see ``linkable``."""
    sources = [_page_link(page, hosts) for page in pages[:_MOST_SOURCES]]
    markdown: Block = {"type": "markdown", "text": harmless_markdown(text, hosts) or "…"}
    cited = [b.context(f"From {' · '.join(sources)}")] if sources else []
    return b.message(markdown, *cited, *b.actions(_buttons(inquiry)))


def harmless_markdown(text: str, hosts: Collection[str]) -> str:
    """Return Markdown that notifies nobody and loads no picture, clipped. Other hosts' links become text."""
    text = _CALL.sub("‹", visible(text).strip()).replace("![", "[")
    text = _ADDRESS.sub(lambda match: b.linkable(match[0], hosts) or "", text)
    if len(text) > _ANSWER_LENGTH:
        text = f"{clip(text, _ANSWER_LENGTH - 30)}\n"
        text += "```\n" if text.count("```") % 2 else ""
        text += "*See the pages for the rest.*"
    return text


def _page_link(page: DocsPage, hosts: Collection[str]) -> str:
    return b.link(b.linkable(page.address, hosts), clip(page.title or page.address, _TITLE_LENGTH))


def passages_found(inquiry: Inquiry, pages: Sequence[DocsPage], hosts: Collection[str]) -> Message:
    """Return the best passages of the docs with their pages."""
    passages = [
        f"*{_page_link(page, hosts)}*\n{b.quoted(page.passage, _PASSAGE_LENGTH)}" for page in pages
    ]
    return b.message(
        b.section("From the docs:"), *map(b.section, passages), *b.actions(_buttons(inquiry))
    )


def nothing_found(inquiry: Inquiry) -> Message:
    """Return the answer that the docs have nothing on it, which makes a question a gap."""
    if inquiry.is_topic:
        return b.with_buttons("The docs have nothing on that.", _buttons(inquiry))
    text = "The docs have nothing on that. I noted it, and you get a message when they do."
    return b.with_buttons(text, _buttons(inquiry, is_gap=True))


def pages_unreadable(inquiry: Inquiry) -> Message:
    """Return the answer while the docs service fails."""
    text = "I couldn't read the docs just now. Ask again in a minute."
    return b.with_buttons(text, _buttons(inquiry, is_gap=True))


def shared(inquiry: Inquiry, answer: Message) -> Message:
    """Return a private answer for its channel, with the question and without *Share*."""
    headline = b.section(f"{b.mention(inquiry.user)} asked: {quoted_question(inquiry)}")
    content = (block for block in answer.blocks if block["type"] != "actions")
    return b.message(headline, *content, *b.actions(_buttons(inquiry, is_shared=True)))


def quoted_question(inquiry: Inquiry) -> str:
    """Return the question in quotation marks, in mrkdwn."""
    return f"“{b.quoted(inquiry.text, _TITLE_LENGTH)}”"


def noted(inquiry: Inquiry) -> Message:
    """Return the confirmation that a question is a gap now."""
    text = "Noted as a gap. Its asker gets a message when the docs answer it."
    return b.with_buttons(text, [b.button("Draft it", b.Action.CHANGE_DOCS, str(inquiry.id))])


def gap_list(gaps: Sequence[Sequence[Inquiry]]) -> Message:
    """Return the message that lists open gaps. ``gaps``: the inquiries of each, the newest first."""
    if not gaps:
        return NO_GAPS
    blocks = [b.section(f"*{b.counted(len(gaps), 'open question', 'open questions')} here*")]
    for inquiries in gaps[:MOST_GAPS]:
        newest, day = inquiries[0], b.moment(inquiries[0].asked_at, "{date_short_pretty}")
        buttons = [
            b.button("Draft it", b.Action.CHANGE_DOCS, str(newest.id)),
            b.button("Dismiss", b.Action.DISMISS_GAP, str(newest.id)),
        ]
        times = "once" if len(inquiries) == 1 else f"{len(inquiries)} times"
        text = f"{quoted_question(newest)} · asked {times}, last {day}"
        blocks += [b.section(text), *b.actions(buttons)]
    return b.message(*blocks)


def conversation(inquiry: Inquiry) -> str:
    """Return a question and its answer, as background of a prompt."""
    lines = [f"Question: {inquiry.text}"]
    if inquiry.answer is not None:
        lines.append(f"Answer: {_answer_text(inquiry.answer)}")
    return "\n".join(lines)


def _answer_text(answer: Message) -> str:
    """Return the words of an answer as the assistant wrote them, or as people read them."""
    markdown = [block["text"] for block in answer.blocks if block["type"] == "markdown"]
    return "\n".join(markdown) or to_plain(answer.text, {}, {})


def written_notice(inquiry: Inquiry, job: TrackedJob) -> Message:
    """Return the notice that a question is answered by the docs now."""
    link = b.web_address(job.pr_link)
    title = job.pull_request.title if job.pull_request else "the change"
    where = f": {b.link(link, clip(title, _TITLE_LENGTH))}" if link else " in the docs."
    day = b.moment(inquiry.asked_at, "{date_short_pretty}")
    text = f"{b.mention(inquiry.user)} you asked ({day}) {quoted_question(inquiry)} It is written now{where}"
    return b.words(text)
