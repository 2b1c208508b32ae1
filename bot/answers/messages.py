"""Messages about inquiries: answers, gaps, and the notice that an answer is written.

Slack renders the assistant's Markdown.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.answers.model import DocsPage, Inquiry, Publication, PublicationState
from bot.ids import Block, Message, UserId
from bot.jobs.messages.status_message import format_link_label
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import UnsentText
from bot.messages import blocks as b
from bot.messages.links import Site, host_of
from bot.messages.markdown import Node, write
from bot.messages.plain_text import clip, one_line
from bot.messages.slack_text import from_plain, to_plain

_MAX_ANSWER_CHARACTERS = 3_000
_MAX_PASSAGE_CHARACTERS = 400
_MAX_QUESTION_CHARACTERS = 500
_MAX_SHOWN_ANSWER_CHARACTERS = 800
_MAX_TITLE_CHARACTERS = 120
_MAX_SOURCES = 4
MAX_GAPS = 10
_REST_NOTE = "*See the pages for the rest.*"

QUESTION_GONE = b.words("I no longer have that question. Ask it again.")
TOO_MANY_QUESTIONS = b.words(
    ":no_entry: Five questions of yours wait already, so I haven't taken this one. "
    "Ask it again when one of them is answered."
)
NO_GAPS = b.words("No open questions here.")


def _build_buttons(
    inquiry: Inquiry, *, is_gap: bool = False, is_shared: bool = False
) -> list[Block]:
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
    draft = UnsentText(inquiry.key, inquiry.thread_ts, from_plain(inquiry.text), inquiry.thread_job)
    if inquiry.thread_job is None or len(draft.raw) > UnsentText.LONGEST:
        return []
    return [b.button("Send it to the agent", b.Action.SEND_ANYWAY, draft.dumps())]


def site_of(pages: Sequence[DocsPage], repository: str | None) -> Site:
    """Return the addresses to which an answer may link: of the docs, and of the repository."""
    return Site.of([page.address for page in pages], repository)


def format_answer(
    inquiry: Inquiry, answer: Node, pages: Sequence[DocsPage], *, is_gap: bool = False
) -> Message:
    """Return the assistant's answer, with the pages that it cites.

    ``is_gap``: it answers nothing, so the question is a gap.
    """
    sources = _format_page_links(pages[:_MAX_SOURCES])
    markdown: Block = {
        "type": "markdown",
        "text": write(answer, _MAX_ANSWER_CHARACTERS, end=_REST_NOTE),
    }
    cited = [b.context(f"From {' · '.join(sources)}")] if sources else []
    noted = [b.context("Noted. I'll tell you when it's written.")]
    rows = noted if is_gap else cited
    return b.message(markdown, *rows, *b.actions(_build_buttons(inquiry, is_gap=is_gap)))


def _format_page_links(pages: Sequence[DocsPage]) -> list[str]:
    """Return links to pages. Pages of several hosts show their hosts."""
    addresses = [b.web_address(page.address) for page in pages]
    hosts = {host_of(address) for address in addresses if address}
    links: list[str] = []
    for page, address in zip(pages, addresses, strict=True):
        title = clip(page.title or page.address, _MAX_TITLE_CHARACTERS)
        if address and len(hosts) > 1:
            title = f"{title} ({host_of(address)})"
        links.append(b.link(page.address, title))
    return links


def passages_found(inquiry: Inquiry, pages: Sequence[DocsPage]) -> Message:
    """Return the best passages of the docs with their pages."""
    passages = [
        f"*{page_link}*\n{b.quoted(page.passage, _MAX_PASSAGE_CHARACTERS)}"
        for page, page_link in zip(pages, _format_page_links(pages), strict=True)
    ]
    return b.message(
        b.section("From the docs:"), *map(b.section, passages), *b.actions(_build_buttons(inquiry))
    )


def nothing_found(inquiry: Inquiry) -> Message:
    """Return the answer that the docs have nothing on it, which makes a question a gap."""
    if inquiry.is_topic:
        return b.with_buttons("The docs have nothing on that.", _build_buttons(inquiry))
    text = "The docs have nothing on that. I'll tell you when it's written."
    return b.with_buttons(text, _build_buttons(inquiry, is_gap=True))


def pages_unreadable(inquiry: Inquiry) -> Message:
    """Return the answer while the docs service fails."""
    text = "I couldn't read the docs just now. Ask again in a minute."
    return b.with_buttons(text, _build_buttons(inquiry, is_gap=True))


def shared_answer(inquiry: Inquiry, answer: Message) -> Message:
    """Return a private answer for its channel, with the question and without *Share*."""
    headline = b.section(f"{b.mention(inquiry.user)} asked: {quoted_question(inquiry)}")
    content = (block for block in answer.blocks if block["type"] != "actions")
    return b.message(headline, *content, *b.actions(_build_buttons(inquiry, is_shared=True)))


def with_offer(inquiry: Inquiry, answer: Message) -> Message:
    """Return an answer with the offer to put a colleague's reply to its question in the docs."""
    put = b.button("Put it in the docs", b.Action.CHANGE_DOCS, str(inquiry.id))
    offer = {**b.section("Answered by a colleague?"), "accessory": put}
    return b.message(*answer.blocks, offer)


def quoted_question(inquiry: Inquiry) -> str:
    """Return the question in quotation marks, in mrkdwn."""
    return f"“{b.quoted(inquiry.text, _MAX_TITLE_CHARACTERS)}”"


def gap_noted(inquiry: Inquiry, by: UserId) -> Message:
    """Return the confirmation that a question is a gap now. ``by``: the person who reads it."""
    whom = "you" if by == inquiry.user else "its asker"
    text = f"Noted as a gap. I'll tell {whom} when it's written."
    return b.with_buttons(text, [b.button("Draft it", b.Action.CHANGE_DOCS, str(inquiry.id))])


def gap_list(gaps: Sequence[Sequence[Inquiry]], first: int = 0) -> Message:
    """Return the message that lists open gaps, a page of them.

    Args:
        gaps: The inquiries of each, the newest first.
        first: How many gaps stand on earlier pages.
    """
    if not gaps:
        return NO_GAPS
    first = min(first, len(gaps) - 1) // MAX_GAPS * MAX_GAPS
    blocks = [b.section(f"*{b.counted(len(gaps), 'open question', 'open questions')} here*")]
    for inquiries in gaps[first : first + MAX_GAPS]:
        newest = inquiries[0]
        day = b.moment(newest.asked_at, "{date_short_pretty}")
        buttons = [
            b.button("Draft it", b.Action.CHANGE_DOCS, str(newest.id)),
            b.button("Dismiss", b.Action.DISMISS_GAP, str(newest.id)),
        ]
        people = b.counted(len({inquiry.user for inquiry in inquiries}), "person", "people")
        text = f"{quoted_question(newest)} · asked by {people}, last {day}"
        blocks += [b.section(text), *b.actions(buttons)]
    turns: list[Block] = []
    if first:
        turns.append(b.button("Previous", b.Action.GAPS_NEWER, str(first - MAX_GAPS)))
    if first + MAX_GAPS < len(gaps):
        turns.append(b.button("Next", b.Action.GAPS_OLDER, str(first + MAX_GAPS)))
    return b.message(*blocks, *b.actions(turns))


def conversation_lines(inquiry: Inquiry) -> Sequence[str]:
    """Return a question and its answer, a line each, for a form."""
    lines = [f"Question: {one_line(inquiry.text, _MAX_QUESTION_CHARACTERS)}"]
    if inquiry.answer is not None:
        lines.append(
            f"Answer: {one_line(_answer_text(inquiry.answer), _MAX_SHOWN_ANSWER_CHARACTERS)}"
        )
    return lines


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


def written_notice(
    inquiry: Inquiry, job: TrackedJob | None, publication: Publication | None = None
) -> Message:
    """Return the notice that a question is answered.

    Args:
        inquiry: The question.
        job: The job that answers it; None where its title and link may not be shown.
        publication: Whether its page is in the docs; None if nobody looked.
    """
    day = b.moment(inquiry.asked_at, "{date_short_pretty}")
    asked = f"{b.mention(inquiry.user)} you asked ({day}) {quoted_question(inquiry)}"
    link = b.web_address(job.pr_link) if job else None
    request = b.link(link, format_link_label(link)) if link else ""
    state = publication.state if publication else PublicationState.UNKNOWN
    if publication is not None and state is PublicationState.LIVE:
        news, where = _format_live_news(publication, request, is_named=job is not None)
    else:
        news = _NEWS_BY_STATE[state]
        where = request
    return b.words(f"{asked} {news}: {where}" if where else f"{asked} {news}.")


_NEWS_BY_STATE = {
    PublicationState.AWAITED: "It is written now",
    PublicationState.UNKNOWN: "It is written now",
    PublicationState.UNSEEN: "The change is merged; I can't see it in the docs yet",
}


def _format_live_news(publication: Publication, request: str, *, is_named: bool) -> tuple[str, str]:
    """Return the news of a live page, and the page. ``request``: the link to the pull request."""
    change = publication.change
    is_removed = change is not None and change.is_removed
    news = "Its page is gone from the docs now" if is_removed else "It's in the docs now"
    if change is None or not is_named:
        return news, ""
    title = clip(publication.title or change.title, _MAX_TITLE_CHARACTERS)
    if b.web_address(publication.address) is not None and not is_removed:
        return news, b.link(publication.address, title)
    page = f"“{b.quoted(title, _MAX_TITLE_CHARACTERS)}”"
    return news, f"{page} ({request})" if request else page
