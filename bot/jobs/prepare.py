"""The worker that prepares new prompts: their names and attachments, and their job's thread."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass, replace

from bot.context import WorkerContext, make_claim
from bot.engine import unless_taken_over
from bot.ids import Message
from bot.jobs.files import read_files
from bot.jobs.mentions import names_in
from bot.jobs.messages import agent_text, status_message
from bot.jobs.messages.jobs import FIXING_PREVIEW, follow_up_by_command
from bot.jobs.model import lifecycle
from bot.jobs.model.jobs import AttachThread, ThreadContext, TrackedJob, WaitReason
from bot.jobs.model.prompts import Act, Prompt, PromptKind
from bot.jobs.prompt_outcomes import tell_behind_unconfirmed
from bot.jobs.service_health import FIRST_BACK_OFF_SECONDS, add_known_wait
from bot.jobs.store.audit import Audit
from bot.jobs.store.jobs import Jobs
from bot.jobs.store.limits import BackOffs
from bot.jobs.store.prompts import Prompts
from bot.jobs.thread import open_thread, say
from bot.jobs.thread_context import read_thread_context
from bot.logs import log_reference
from bot.messages.quotations import Quotation, QuoteSource
from bot.ports import SlackError
from bot.store import LeaseLost, Transaction

_BATCH_SIZE = 20
claim_new_prompts = make_claim(
    lambda tx, claimer, limit: Prompts(tx).claim_new(claimer, min(limit, _BATCH_SIZE))
)
"""Claims new requests.

Somebody's second job in a channel waits for the status message of their first.
"""


@dataclass(frozen=True, slots=True)
class Attachments:
    """The attachments of a prompt."""

    text: str = ""
    """For the agent, after the text of the prompt."""
    earlier: ThreadContext | None = None
    not_sent: Message | None = None
    """The thread's message about files and other parts that do not go along; None if all do."""


async def prepare(context: WorkerContext, prompt: Prompt) -> None:
    """Turn a stored request into a prompt that waits to be sent.

    Have its job's status message posted.
    """
    with log_reference(prompt.key), unless_taken_over("prompt", prompt.id):
        names = await names_in(context, prompt.raw, prompt.channel, context.timeouts.names_seconds)
        text = names.resolve(prompt.raw)
        attachments = await _read_attachments(context, prompt)
        try:
            await context.settle(lambda tx: _write(context, tx, prompt, text, attachments))
        except LeaseLost:
            # Edited since, and perhaps claimed again by this process, which prepares the new text.
            await context.settle(lambda tx: Prompts(tx).free_new(prompt.id, context.owner))
            raise
        finally:
            context.wake()


def _write(
    context: WorkerContext, tx: Transaction, prompt: Prompt, text: str, attachments: Attachments
) -> None:
    # Other prompts are refused, but this one may be accepted.
    BackOffs(tx).end_by(prompt.job, context.after(FIRST_BACK_OFF_SECONDS))
    prepared = lifecycle.queue_prompt(prompt, text, attachments.text)
    Prompts(tx).save(prompt, prepared, owner=context.owner)
    now = context.clock()
    job = Jobs(tx).get_or_raise(prompt.job)
    if prompt.text is None:
        # Otherwise its message was edited, and the act is recorded.
        act = Act.ASKED if prompt.kind is PromptKind.START else Act.STEERED
        Audit(tx).decided(act, prompt.asked_by, job, prompt.asked_at, prompt.id, prompt.app)
    earlier = attachments.earlier or job.thread_context
    if prompt.kind is PromptKind.START:
        new = replace(job, text=text, thread_context=earlier)
        if prompt.held_until is not None:
            new = replace(new, wait_until=prompt.held_until, wait_reason=WaitReason.HELD)
        job = Jobs(tx).save(job, add_known_wait(tx, new, now))
        open_thread(tx, job, now)
    else:
        new = replace(job, thread_context=earlier)
        job = Jobs(tx).save(job, add_known_wait(tx, new, now))
        if prompt.message_ts is None:
            message = FIXING_PREVIEW
            if not prompt.is_preview_fix:
                message = follow_up_by_command(job, text, prompt.asked_by)
            say(tx, job, f"follow_up:{prompt.id}", message, now)
        tell_behind_unconfirmed(tx, job, prompt, now)
    if attachments.not_sent is not None:
        say(tx, job, f"files:{prompt.id}", attachments.not_sent, now)


async def _read_attachments(context: WorkerContext, prompt: Prompt) -> Attachments:
    """Return the attachments of a prompt that Slack returns in time."""
    conversation = ""
    earlier = None
    if prompt.attach_thread is not None:
        conversation, earlier = await read_thread_context(context, prompt)
    signed = await _format_signature(context, prompt) if context.settings.prompt_signature else ""
    files = await read_files(context, prompt.files)
    not_sent = None
    if files.other_files or files.unread_files or prompt.omitted_parts:
        not_sent = status_message.parts_not_sent(
            files.other_files, files.unread_files, prompt.omitted_parts
        )
    merged = await context.store.read(lambda tx: _find_merged(tx, prompt))
    quotations: list[Quotation] = []
    if merged is not None:
        quotations.append(agent_text.quote_merged_pull_request(merged))
    if conversation:
        is_answer = prompt.attach_thread is AttachThread.ANSWER
        source = QuoteSource.ANSWER if is_answer else QuoteSource.THREAD
        quotations.append(Quotation(source, conversation))
    quotations += [Quotation(QuoteSource.FILE, text, name) for name, text in files.texts]
    return Attachments(agent_text.attachments(signed, quotations), earlier, not_sent)


async def _format_signature(context: WorkerContext, prompt: Prompt) -> str:
    """Return the sentence with the requester and the channel, as far as Slack returns them."""
    name = None
    where = None
    with suppress(SlackError, TimeoutError):
        async with asyncio.timeout(context.timeouts.names_seconds):
            name = await context.messenger.user_name(prompt.asked_by)
            # Private channels and direct messages stay unnamed.
            if prompt.channel and await context.messenger.is_public(prompt.channel):
                where = await context.messenger.channel_name(prompt.channel)
    return agent_text.signature(name, where)


def _find_merged(tx: Transaction, prompt: Prompt) -> TrackedJob | None:
    """Return the merged job in whose thread a new job was asked for; None for another prompt."""
    if prompt.kind is not PromptKind.START:
        return None
    predecessor = Jobs(tx).get_or_raise(prompt.job).predecessor
    merged = Jobs(tx).get(predecessor) if predecessor is not None else None
    return None if merged is None or merged.is_forgotten else merged
