"""Storing an inquiry once, before the acknowledgement to Slack, and the worker that answers it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial

import structlog

from bot.access.admit import Allowed, check_channel
from bot.access.obstacles import find_exclusion, find_obstacle
from bot.answers import messages
from bot.answers.gaps import answer_key, audience_in, gap_key, hash_question, settle_notice
from bot.answers.hooks import AnswerHooks
from bot.answers.model import UNWRITTEN_STATES, Audience, DocsPage, Inquiry, InquiryId, InquiryState
from bot.answers.store import Inquiries, SentQuestions
from bot.context import Context, WorkerContext, make_claim
from bot.docs_api import AssistantReply, DiscoveryClient, DocsApiError, Passage
from bot.engine import unless_taken_over
from bot.ids import Message, MessageTs, ProjectId, RequestKey, UserId
from bot.jobs.hooks import Also
from bot.jobs.messages.unsent import READING_DOCS, cannot_answer
from bot.jobs.model.questions import DocsQuestion
from bot.jobs.model.quota import share
from bot.jobs.service_health import is_key_problem
from bot.jobs.service_keys import assistants_key_accepted, assistants_key_refused
from bot.logs import reason_of
from bot.masking import mask_text
from bot.messages.markdown import is_blank, parse
from bot.messages.plain_text import visible
from bot.messages.slack_text import to_plain
from bot.outbox.model import Delivery, DeliveryKind, NewDelivery, NotPosted
from bot.outbox.store import Outbox
from bot.ports import Origin, SlackError
from bot.pulls.store.pull_requests import Repositories
from bot.store import Transaction
from bot.store.upgrade import hash_key

log = structlog.get_logger(__name__)
_DAY = timedelta(days=1)
_MAX_PASSAGES = 3
_LONG = 4_000
MAX_WAITING = 5
"""The waiting questions of one person, so that other people's questions are answered soon."""
_LOOK_AGAIN_SECONDS = 1.0


async def ask_docs(
    context: Context,
    allowed: Allowed,
    question: DocsQuestion,
    also: Also = lambda _tx: None,
) -> Message | None:
    """Store a question about the docs, which a worker answers.

    Return an immediate reply, if there is one. A known key stores nothing. ``also`` is written with
    it. Raises UnknownProject, and NotAllowed for a channel that the bot is not set up for.
    """
    origin = allowed.origin
    check_channel(context, origin.channel)
    draft = question.draft
    raw, named = context.projects.take(draft.raw)
    text = await asked_text(raw)
    is_said = origin.message_ts is not None
    thread = origin.thread or origin.message_ts if is_said else None

    def add(tx: Transaction) -> Message | None:
        project = named or context.project_of(tx, origin.channel)
        if project.id not in context.discovery:
            return cannot_answer(draft)
        is_new = Inquiries(tx).with_key(origin.key) is None
        if is_new and Inquiries(tx).count_waiting(origin.user) >= MAX_WAITING:
            return messages.TOO_MANY_QUESTIONS
        inquiry = _make_inquiry(context, tx, allowed, question, project.id, text, thread)
        Inquiries(tx).add(inquiry)
        also(tx)
        if thread is None:
            return READING_DOCS
        if inquiry.thread_job is None:
            _show_read(tx, allowed, context)
        return None

    return await context.write(add)


def _make_inquiry(
    context: Context,
    tx: Transaction,
    allowed: Allowed,
    question: DocsQuestion,
    project: ProjectId,
    text: str,
    thread: MessageTs | None,
) -> Inquiry:
    origin = allowed.origin
    now = context.clock()
    conversation = None
    if thread:
        conversation = Inquiries(tx).conversation_in(project, origin.channel, thread)
    may_use_assistant = _may_use_assistant(context, tx, project, origin.user)
    return Inquiry(
        InquiryId(0),
        origin.key,
        project,
        origin.channel,
        origin.user,
        text,
        gap_key(text),
        InquiryState.ASKED,
        asked_at=now,
        due_at=now,
        thread_ts=thread,
        response_url=None if thread else origin.response_url,
        is_by_assistant=may_use_assistant and not question.is_topic,
        conversation=conversation,
        is_topic=question.is_topic,
        thread_job=question.draft.job if question.is_private else None,
        audience=Audience.CHANNEL if thread else Audience.ASKER,
    )


def _may_use_assistant(context: Context, tx: Transaction, project: ProjectId, user: UserId) -> bool:
    """Return whether a person has a share left of the assistant's answers of a day."""
    limit = context.settings.answers_a_day
    uses = Inquiries(tx).uses_of_assistant(project, context.clock() - _DAY)
    if context.settings.answers != "assistant" or sum(uses.values()) >= limit:
        return False
    return uses.get(user, 0) < share(limit, is_alone=not uses.keys() - {user})


def take_back_question(tx: Transaction, key: RequestKey) -> bool:
    """Leave a question unanswered, and take it out of all lists.

    Return False if it was taken back before, or its asker has read that the docs answer it.
    """
    inquiry = Inquiries(tx).with_key(key)
    if inquiry is None or inquiry.state not in UNWRITTEN_STATES:
        return False
    Inquiries(tx).save(inquiry, replace(inquiry, state=InquiryState.DISMISSED))
    return True


async def asked_text(raw: str) -> str:
    """Return the text of a question, as it is stored. ``raw``: its wire text, without a project."""
    if len(raw) < _LONG:
        return _to_stored(raw)
    # It takes a tenth of a second to mask.
    return await asyncio.to_thread(_to_stored, raw)


def _to_stored(raw: str) -> str:
    return mask_text(visible(to_plain(raw, {}, {})).strip())


def _show_read(tx: Transaction, allowed: Allowed, context: Context) -> None:
    """Show that a message is read."""
    origin = allowed.origin
    reaction = NewDelivery(
        f"{origin.key}:asked", DeliveryKind.REACTION, origin.channel, reaction="eyes"
    )
    Outbox(tx).add(replace(reaction, message_ts=origin.message_ts), context.clock())


claim_inquiries = make_claim(lambda tx, claimer, limit: Inquiries(tx).claim(claimer, limit))
"""Claims the inquiries that wait for an answer or for the notice that it is written."""


async def work_on_inquiry(context: WorkerContext, inquiry: Inquiry) -> None:
    """Answer an inquiry, or send its asker the notice that the docs answer it now."""
    find = settle_notice if inquiry.state is InquiryState.WRITTEN else _answer_or_refuse
    with unless_taken_over("inquiry", inquiry.id):
        await context.settle(await find(context, inquiry))
        context.wake()


async def _answer_or_refuse(
    context: WorkerContext, inquiry: Inquiry
) -> Callable[[Transaction], None]:
    """Return the function that writes the answer, or the reason why there is none any more.

    A question waits while its message, which was changed, is not decided again. The message of one
    that has waited for long is read in Slack, and its author and its channel are checked.
    """
    waited = (context.clock() - inquiry.asked_at).total_seconds()
    is_old = waited > context.timeouts.verified_seconds
    origin = Origin(inquiry.key, inquiry.user, inquiry.channel)
    is_private = inquiry.thread_ts is None
    obstacle = None
    try:
        for hooks in context.hooks_of(AnswerHooks):
            if await hooks.must_wait(context, inquiry.key, is_old):
                return partial(_put_back, context, inquiry)
        find = find_obstacle if is_old else find_exclusion
        obstacle = await find(context, origin, is_private=is_private)
    except (SlackError, TimeoutError) as error:
        log.info("question_not_verified", inquiry=inquiry.id, reason=type(error).__name__)
    if obstacle is not None:
        return partial(_refuse, context, inquiry, obstacle.note)
    return await _find_answer(context, inquiry)


def _put_back(context: WorkerContext, inquiry: Inquiry, tx: Transaction) -> None:
    """Let a question wait for a moment."""
    new = replace(inquiry, due_at=context.after(_LOOK_AGAIN_SECONDS))
    Inquiries(tx).save(inquiry, new, owner=context.owner)


def _refuse(context: WorkerContext, inquiry: Inquiry, note: Message, tx: Transaction) -> None:
    """Dismiss a question, and tell only its asker why."""
    new = replace(inquiry, state=InquiryState.DISMISSED, response_url=None)
    Inquiries(tx).save(inquiry, new, owner=context.owner)
    key = f"inquiry:{inquiry.id}:refused"
    Outbox(tx).add(NewDelivery.private(key, inquiry.channel, inquiry.user, note), context.clock())


@dataclass(frozen=True, slots=True)
class _Answer:
    """An answer to a question, from the assistant or the search."""

    message: Message
    state: InquiryState
    conversation: str | None
    """The service's id of the conversation."""


async def _note_sent(context: WorkerContext, inquiry: Inquiry, *, is_search: bool) -> None:
    """Note a call with a question before it is made, because the service lists its words."""

    def note(tx: Transaction) -> None:
        text_hash = hash_question(inquiry.text, hash_key(tx))
        SentQuestions(tx).add(inquiry, text_hash, context.clock(), is_search=is_search)

    await context.store.write(note)


async def _ask_assistant(
    context: WorkerContext, client: DiscoveryClient, inquiry: Inquiry
) -> _Answer | None:
    """Return the assistant's answer; None if it has no visible word."""
    await _note_sent(context, inquiry, is_search=False)
    reply = await client.ask(inquiry.text, key=inquiry.key, thread_id=inquiry.conversation)
    pages = [DocsPage(source.url, source.title) for source in reply.sources]
    name = await context.store.read(lambda tx: Repositories(tx).of(inquiry.project))
    repository = context.github.address_of(name) if context.github and name else None
    site = messages.site_of(pages, repository)
    is_gap = _is_no_answer(inquiry, reply, {client.domain, *context.settings.allowed_link_hosts})

    def format_reply() -> Message | None:
        text = parse(reply.text, site)
        if is_blank(text):
            return None
        return messages.format_answer(inquiry, text, pages, is_gap=is_gap)

    # Outside the event loop, because hostile Markdown takes a tenth of a second to parse and to
    # write.
    message = await asyncio.to_thread(format_reply)
    if message is None:
        return None
    state = InquiryState.GAP if is_gap else InquiryState.ANSWERED
    return _Answer(message, state, reply.thread_id)


@dataclass(slots=True)
class _Reply:
    """The reply of the docs service to a question."""

    found: _Answer | tuple[Passage, ...] | None = None
    """The assistant's answer, or else the passages of the search; None if neither replied."""
    refusal: DocsApiError | None = None
    """The error by which the service refused the assistant's key."""


async def _ask_service(context: WorkerContext, inquiry: Inquiry) -> _Reply:
    """Ask the assistant, and then the search if the assistant cannot answer."""
    reply = _Reply()
    client = context.discovery.get(inquiry.project)
    if client is None:
        return reply
    try:
        async with asyncio.timeout(context.timeouts.answer_seconds):
            if inquiry.is_by_assistant:
                try:
                    reply.found = await _ask_assistant(context, client, inquiry)
                except DocsApiError as error:
                    log.warning("assistant_failed", inquiry=inquiry.id, reason=reason_of(error))
                    reply.refusal = error if is_key_problem(error) else None
            if reply.found is None:
                await _note_sent(context, inquiry, is_search=True)
                reply.found = await client.search(inquiry.text, limit=_MAX_PASSAGES)
    except (DocsApiError, TimeoutError) as error:
        log.warning("docs_not_read", inquiry=inquiry.id, reason=reason_of(error))
        reply.refusal = error if is_key_problem(error) else reply.refusal
    return reply


def _to_answer(inquiry: Inquiry, found: _Answer | tuple[Passage, ...] | None) -> _Answer:
    """Return the answer for the asker, also for a search without a result or for no reply."""
    if isinstance(found, _Answer):
        return found
    if found is None:
        message = messages.pages_unreadable(inquiry)
        return _Answer(message, InquiryState.ANSWERED, inquiry.conversation)
    if not found:
        state = InquiryState.ANSWERED if inquiry.is_topic else InquiryState.GAP
        return _Answer(messages.nothing_found(inquiry), state, inquiry.conversation)
    pages = [DocsPage(passage.path, passage.metadata.title, passage.content) for passage in found]
    message = messages.passages_found(inquiry, pages)
    return _Answer(message, InquiryState.ANSWERED, inquiry.conversation)


async def _find_answer(context: WorkerContext, inquiry: Inquiry) -> Callable[[Transaction], None]:
    """Return the function that writes the answer."""
    reply = await _ask_service(context, inquiry)
    answer = _to_answer(inquiry, reply.found)
    audience = await audience_in(context, inquiry.channel) if inquiry.thread_ts else None
    new = replace(
        inquiry,
        state=answer.state,
        conversation=answer.conversation,
        response_url=None,
        answer=answer.message,
    )

    def settle(tx: Transaction) -> None:
        Inquiries(tx).save(inquiry, new, owner=context.owner)
        if isinstance(reply.found, _Answer) and reply.found.conversation:
            SentQuestions(tx).name_conversation(inquiry.id, reply.found.conversation)
        if audience:
            Inquiries(tx).set_audience(new, audience)
        if reply.refusal is not None:
            assistants_key_refused(context, tx, inquiry.project, reply.refusal)
        elif reply.found is not None:
            assistants_key_accepted(context, tx, inquiry.project)
        # Its channel may have got another id since.
        stored = Inquiries(tx).get(inquiry.id) or inquiry
        asked = replace(inquiry, channel=stored.channel)
        Outbox(tx).add(_make_delivery(asked, answer.message), context.clock())

    return settle


def on_refused(
    _context: WorkerContext, tx: Transaction, delivery: Delivery, _refusal: NotPosted
) -> None:
    """Close a question whose answer Slack refused.

    That its asker reads, alone, as of every answer.
    """
    number = _ANSWER_KEY_PATTERN.fullmatch(delivery.content.key)
    if number is None or delivery.content.kind is not DeliveryKind.POST:
        return
    inquiry = Inquiries(tx).get(int(number[1]))
    if inquiry is None:
        return
    Inquiries(tx).save(inquiry, replace(inquiry, state=InquiryState.DISMISSED))


_ANSWER_KEY_PATTERN = re.compile("inquiry:([0-9]{1,9}):answer")
_LINK_PATTERN = re.compile(r"\]\(/|https?://([^\s/<>()\[\]\"'`?#]{1,300})", re.IGNORECASE)
"""A link to a page of the site itself, or to a host."""


def _is_no_answer(inquiry: Inquiry, reply: AssistantReply, hosts: Collection[str]) -> bool:
    """Return whether the assistant's words answer nothing, whatever they say.

    They cite no page, have no link to the docs, ask nothing back, and go on with no earlier answer.
    ``hosts``: the names of the docs' hosts, or parts of these.
    """
    if reply.sources or inquiry.conversation is not None:
        return False
    if reply.text.rstrip().rstrip("*_ ").endswith("?"):
        return False
    for match in _LINK_PATTERN.finditer(reply.text):
        host = (match[1] or "").casefold()
        names = {host, *host.split(".")}
        if not host or any(name in names or host.endswith(f".{name}") for name in hosts):
            return False
    return True


def _make_delivery(inquiry: Inquiry, message: Message) -> NewDelivery:
    key = answer_key(inquiry)
    channel = inquiry.channel
    user = inquiry.user
    if inquiry.thread_job is not None:
        return NewDelivery.whisper(key, channel, user, message, thread=inquiry.thread_ts)
    if inquiry.thread_ts is not None:
        return replace(NewDelivery.post(key, channel, user, message), message_ts=inquiry.thread_ts)
    if inquiry.response_url is None:
        return NewDelivery.whisper(key, channel, user, message, thread=None)
    return NewDelivery.private(key, channel, user, message, response_url=inquiry.response_url)
