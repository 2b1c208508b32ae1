"""The feature *answers*: its words, its buttons, its worker, and its hooks into jobs and digests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from operator import attrgetter

from bot.answers import messages
from bot.answers.ask import ask_docs, claim_inquiries, on_refused, work_on_inquiry
from bot.answers.colleagues import on_posted
from bot.answers.gaps import (
    did_not_help,
    find_answered,
    find_inquiry,
    gap_of,
    list_gaps,
    list_sent,
    mark,
    on_merged,
    recommend_gaps,
    refresh_privacy,
    share_answer,
)
from bot.answers.model import Inquiry, InquiryState
from bot.answers.publications import claim_publications, poll_publication
from bot.commands.command import Answer, FormState, Invocation, Press, Word, number_in
from bot.commands.feature import Feature, queue_worker
from bot.context import Context, WorkerContext
from bot.engine import Worker
from bot.ids import Block, MessageTs
from bot.jobs.commands.channel_choices import projects_to_choose
from bot.jobs.duplicates import find_open_job
from bot.jobs.hooks import JobHooks
from bot.jobs.messages import forms
from bot.jobs.messages.agent_text import MAX_FORM_CHARACTERS
from bot.jobs.model.prompts import UnsentText
from bot.jobs.model.questions import DocsQuestion
from bot.jobs.thread import status_message_link
from bot.jobs.thread_context import offer_replies
from bot.messages.blocks import Action
from bot.outbox.hooks import OutboxHooks
from bot.ports import ThreadRef, message_key
from bot.projects import with_project
from bot.visitors.hooks import DigestHooks

_QUESTION_GONE = Answer(message=messages.QUESTION_GONE)


async def _ask(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    origin = invocation.origin
    text = invocation.text.split(maxsplit=1)[1]
    draft = UnsentText(origin.key, origin.thread, with_project(invocation.project, text))
    return Answer(message=await ask_docs(context, invocation.allowed, DocsQuestion(draft)))


async def _list_gaps(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    channel = invocation.origin.channel
    now = context.clock()
    gaps = await context.store.read(lambda tx: list_gaps(tx, channel, now))
    return Answer(message=messages.gap_list(gaps))


async def _open_draft_form(context: Context, press: Press) -> Answer:
    """Open the form of ``/docs-agent`` with a prompt about a question.

    Its job belongs to its thread. What was said there goes along, which takes longer to read than a
    form may take to open.
    """
    number = number_in(press.value)
    inquiry = await context.store.read(lambda tx: find_inquiry(tx, press.allowed, number))
    if inquiry is None:
        return _QUESTION_GONE
    thread = inquiry.answer_thread if inquiry.channel == press.origin.channel else None
    if inquiry.is_topic or thread is None or context.settings.context == "none":
        return Answer(modal=await _build_draft_form(context, press, inquiry, thread))
    fill = partial(_build_draft_form_with_thread, context, press, inquiry, thread)
    return Answer(modal=forms.reading_thread(), fill_modal=fill)


async def _build_draft_form_with_thread(
    context: Context, press: Press, inquiry: Inquiry, thread: MessageTs
) -> Block:
    """Return the form with the question, its answer, and the replies of people."""
    known = messages.conversation_lines(inquiry)
    room = MAX_FORM_CHARACTERS - sum(len(line) + 1 for line in known)
    asked_at = inquiry.key.removeprefix(message_key(inquiry.channel)).partition(":")[0]
    where = ThreadRef(inquiry.channel, thread)
    offer = await offer_replies(context, where, MessageTs(asked_at), room)
    conversation = "\n".join(filter(None, [*known, offer.messages]))
    blocks = forms.conversation_blocks(
        conversation, offer.left_out, is_chosen=offer.is_chosen, is_read=offer.is_read
    )
    return await _build_draft_form(context, press, inquiry, thread, blocks)


async def _build_draft_form(
    context: Context,
    press: Press,
    inquiry: Inquiry,
    thread: MessageTs | None,
    conversation: Sequence[Block] = (),
) -> Block:
    origin = press.origin
    state = FormState.at(origin, thread=thread)
    if not inquiry.is_topic:
        row = gap_of(inquiry)
        state = replace(state, gap=(row.key, row.title))
    project = context.projects.with_id(inquiry.project)
    duplicate = await find_open_job(context, origin.channel, inquiry.project, inquiry.text)
    notes = (
        [forms.job_note(duplicate, status_message_link(context, duplicate))] if duplicate else []
    )
    return forms.ask_form(
        channel=origin.channel,
        private=state.dumps(),
        text=inquiry.text if inquiry.is_topic else forms.draft_prompt(inquiry.text),
        projects=await projects_to_choose(context, origin.channel, project),
        earlier=conversation,
        notes=notes,
    )


async def _did_not_help(context: Context, press: Press) -> Answer:
    inquiry = await mark(context, press.allowed, number_in(press.value), InquiryState.GAP)
    if inquiry is None:
        return _QUESTION_GONE
    return Answer(message=messages.gap_noted(inquiry, press.allowed.user))


async def _dismiss(context: Context, press: Press) -> Answer:
    inquiry = await mark(context, press.allowed, number_in(press.value), InquiryState.DISMISSED)
    if inquiry is None:
        return _QUESTION_GONE
    gaps = await context.store.read(lambda tx: list_gaps(tx, inquiry.channel, context.clock()))
    return Answer(message=messages.gap_list(gaps), replaces=True)


async def _turn_page(context: Context, press: Press) -> Answer:
    channel = press.origin.channel
    gaps = await context.store.read(lambda tx: list_gaps(tx, channel, context.clock()))
    return Answer(message=messages.gap_list(gaps, number_in(press.value)), replaces=True)


async def _share(context: Context, press: Press) -> Answer:
    return Answer(message=await share_answer(context, press.allowed, number_in(press.value)))


def _list_workers(context: WorkerContext) -> Sequence[Worker]:
    return [
        queue_worker(
            context,
            "inquiries",
            "inquire",
            claim_inquiries,
            work_on_inquiry,
            key=attrgetter("id"),
            places=20,
        ),
        queue_worker(
            context,
            "publications",
            "publication",
            claim_publications,
            poll_publication,
            key=attrgetter("job"),
            places=5,
        ),
    ]


ANSWERS = Feature(
    agent_words=(
        Word(
            "ask TEXT", r"ask\s+(.+)", "Answers a question from the docs.", _ask, after_mention=None
        ),
        Word("gaps", "gaps", "Lists the channel's questions without an answer.", _list_gaps),
    ),
    buttons={
        Action.CHANGE_DOCS: _open_draft_form,
        Action.DID_NOT_HELP: _did_not_help,
        Action.DISMISS_GAP: _dismiss,
        Action.GAPS_OLDER: _turn_page,
        Action.GAPS_NEWER: _turn_page,
        Action.SHARE_ANSWER: _share,
    },
    workers=_list_workers,
    hooks=(
        OutboxHooks(on_posted=on_posted, on_refused=on_refused),
        JobHooks(
            ask_docs=ask_docs,
            find_answered=find_answered,
            did_not_help=did_not_help,
            on_merged=on_merged,
        ),
        DigestHooks(
            list_recommendations=recommend_gaps,
            list_sent=list_sent,
            refresh_privacy=refresh_privacy,
        ),
    ),
)
