"""Attachments of a prompt for the agent: its thread, its files, and the name of its requester."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from bot.context import WorkerContext
from bot.ids import Message
from bot.jobs.files import ReadFiles, read_files
from bot.jobs.messages import agent_text, status_message
from bot.jobs.model.jobs import AttachThread, ThreadContext, TrackedJob
from bot.jobs.model.prompts import Prompt, PromptKind
from bot.jobs.store.jobs import Jobs
from bot.jobs.thread_context import read_thread_context
from bot.messages.quotations import Quotation, QuoteSource
from bot.ports import SlackError
from bot.store import Transaction


@dataclass(frozen=True, slots=True)
class Attachments:
    """The attachments of a prompt."""

    text: str = ""
    """For the agent, after the text of the prompt."""
    earlier: ThreadContext | None = None
    not_sent: Message | None = None
    """The thread's message about files and other parts that do not go along; None if all do."""


async def read_attachments(context: WorkerContext, prompt: Prompt) -> Attachments:
    """Return the attachments of a prompt that Slack returns in time."""
    conversation = ""
    earlier = None
    if prompt.attach_thread is not None:
        conversation, earlier = await read_thread_context(context, prompt)
    signed = await _format_signature(context, prompt) if context.settings.prompt_signature else ""
    files = await read_files(context, prompt.files) if prompt.files else ReadFiles()
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
