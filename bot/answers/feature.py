"""The feature as ``features.py`` lists it: its words, buttons, worker, and hooks into jobs and digests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter

from bot.answers import messages
from bot.answers.ask import ask_docs, claim_inquiries, take_back_question, work_on_inquiry
from bot.answers.gaps import (
    find_inquiry,
    list_gaps,
    list_hidden,
    mark,
    on_published,
    recommend_gaps,
    refresh_privacy,
    share_answer,
)
from bot.answers.model import InquiryState
from bot.commands.command import Answer, FormState, Invocation, Press, Word, number_in
from bot.context import Context, WorkerContext, queue_worker
from bot.engine import Worker
from bot.feature import Feature, Hooks
from bot.ids import RequestKey
from bot.jobs.access import if_visible, steerable
from bot.jobs.commands.intents import at_message, send_anyway
from bot.jobs.commands.job_lists import projects_to_choose
from bot.jobs.decisions import withdraw
from bot.jobs.messages import forms
from bot.jobs.model.inbox import HeardState
from bot.jobs.model.jobs import TrackedJob
from bot.jobs.model.prompts import Prompt, Unsent
from bot.jobs.store.inbox import Inbox
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.prompts import Prompts
from bot.messages.blocks import Action
from bot.messages.plain_text import one_line
from bot.messages.slack_text import from_plain
from bot.ports import message_key
from bot.projects import with_project
from bot.store import Transaction

_TITLE_LENGTH = 60
_NOT_HERE = Answer(message=messages.NOT_HERE)


async def _ask(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    origin, text = invocation.origin, invocation.words.split(maxsplit=1)[1]
    unsent = Unsent(origin.key, origin.thread, with_project(invocation.project, text))
    return Answer(message=await ask_docs(context, invocation.allowed, unsent))


async def _list_gaps(context: Context, invocation: Invocation, _match: re.Match[str]) -> Answer:
    channel, now = invocation.origin.channel, context.clock()
    gaps = await context.store.read(lambda tx: list_gaps(tx, channel, now))
    return Answer(message=messages.gap_list(gaps))


async def _draft(context: Context, press: Press) -> Answer:
    """Open the form of ``/docs-agent`` with a prompt about a question. Its job belongs to its thread."""
    number, origin = number_in(press.value), press.origin
    inquiry = await context.store.read(lambda tx: find_inquiry(context, tx, press.allowed, number))
    if inquiry is None:
        return _NOT_HERE
    thread = inquiry.thread_ts if inquiry.channel == origin.channel else None
    row = inquiry.gap_key, f"“{one_line(inquiry.text, _TITLE_LENGTH)}”"
    state = replace(FormState.at(origin, thread=thread), about=row)
    project, private = context.projects.with_id(inquiry.project), state.dumps()
    offered = await projects_to_choose(context, origin.channel, project)
    text = messages.draft_prompt(inquiry.text)
    form = forms.ask_form(channel=origin.channel, private=private, text=text, projects=offered)
    return Answer(modal=form)


async def _did_not_help(context: Context, press: Press) -> Answer:
    inquiry = await mark(context, press.allowed, number_in(press.value), InquiryState.GAP)
    return Answer(message=messages.noted(inquiry)) if inquiry else _NOT_HERE


async def _dismiss(context: Context, press: Press) -> Answer:
    inquiry = await mark(context, press.allowed, number_in(press.value), InquiryState.DISMISSED)
    if inquiry is None:
        return _NOT_HERE
    gaps = await context.store.read(lambda tx: list_gaps(tx, inquiry.channel, context.clock()))
    return Answer(message=messages.gap_list(gaps), replaces=True)


async def _turn_page(context: Context, press: Press) -> Answer:
    channel = press.origin.channel
    gaps = await context.store.read(lambda tx: list_gaps(tx, channel, context.clock()))
    return Answer(message=messages.gap_list(gaps, number_in(press.value)), replaces=True)


async def _share(context: Context, press: Press) -> Answer:
    return Answer(message=await share_answer(context, press.allowed, number_in(press.value)))


async def _write(context: Context, press: Press) -> Answer:
    """Start a job with the text of an inquiry, which was an instruction. The answer stays."""
    number = number_in(press.value)
    inquiry = await context.store.read(lambda tx: find_inquiry(context, tx, press.allowed, number))
    if inquiry is None:
        return _NOT_HERE
    thread = inquiry.thread_ts
    text = with_project(context.projects.shown(inquiry.project), from_plain(inquiry.text))
    is_first = thread is not None and inquiry.key == f"{message_key(inquiry.channel)}{thread}"
    # With a key of its own: a job that "Just answer it" has withdrawn had that of the inquiry.
    key = RequestKey(f"{inquiry.key}:write")
    draft = Unsent(key, None if is_first else thread, text)
    answer = await send_anyway(context, replace(press, value=draft.dumps()), instead_of=inquiry.key)
    return Answer() if answer.replaces else answer


async def _just_answer(context: Context, press: Press) -> Answer:
    """Answer a question that started a job, and withdraw the job unless the agent has it."""
    draft = Unsent.loads(press.value)
    if draft is None:
        return _NOT_HERE
    allowed = at_message(press, draft)

    def find(tx: Transaction) -> tuple[Prompt | None, TrackedJob | None]:
        prompt = Prompts(tx).with_key(draft.key)
        return prompt, Jobs(tx).get(prompt.job) if prompt else None

    prompt, job = await context.store.read(find)
    target, is_stopped = await if_visible(context, allowed, job), False
    if target and prompt:
        is_stopped = await withdraw(context, steerable(context, target, prompt))

    def also(tx: Transaction) -> None:
        Inbox(tx).moved(draft.key, draft.key, HeardState.ASKED, allowed.user)

    message = await ask_docs(context, allowed, draft, also) or messages.READING
    runs = message == messages.READING and not is_stopped
    return Answer(message=messages.READING_TOO if runs else message, replaces=True)


def _workers(context: WorkerContext) -> Sequence[Worker]:
    names, key = ("inquiries", "inquire"), attrgetter("id")
    return [queue_worker(context, *names, claim_inquiries, work_on_inquiry, key=key, places=20)]


ANSWERS = Feature(
    agent_words=(
        Word(
            "ask TEXT", r"ask\s+(.+)", "Answers a question from the docs.", _ask, after_mention=None
        ),
        Word("gaps", "gaps", "Lists the channel's questions without an answer.", _list_gaps),
    ),
    buttons={
        Action.CHANGE_DOCS: _draft,
        Action.DID_NOT_HELP: _did_not_help,
        Action.DISMISS_GAP: _dismiss,
        Action.GAPS_OLDER: _turn_page,
        Action.GAPS_NEWER: _turn_page,
        Action.SHARE_ANSWER: _share,
        Action.WRITE_INSTEAD: _write,
        Action.JUST_ANSWER: _just_answer,
    },
    workers=_workers,
    hooks=Hooks(
        on_published=on_published,
        ask_docs=ask_docs,
        take_back_question=take_back_question,
        list_recommendations=recommend_gaps,
        list_hidden=list_hidden,
        refresh_privacy=refresh_privacy,
    ),
)
