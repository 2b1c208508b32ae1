"""What goes along with a prompt: who asked, and the earlier messages of its thread."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress

import structlog

from bot import slack_text
from bot.messages import along as say
from bot.model import Earlier, MessageTs, NotTaken, Origin, Prompt, PromptKind, TakeThread, ThreadRef, UserId
from bot.store import Transaction
from bot.work.context import WorkerContext
from bot.work.jobs.names import names_in
from bot.work.ports import Said, SlackError

log = structlog.get_logger(__name__)
_ALONE = re.compile(r"alone\b[\s,:]*", re.IGNORECASE)
_WITH_THREAD = re.compile(r"\A\s*with thread\b[\s,:]*|[\s,]*\bwith thread[\s.!]*\Z", re.IGNORECASE)
_MOST_AUTHORS = 20
"""Maximum people that Slack is asked about for a thread. What others said is left out."""


def asked_to_take(text: str, origin: Origin) -> tuple[str, TakeThread | None]:
    """Return a mention's text without the words about its thread, and when the thread goes along."""
    if origin.thread is None:
        return text, None
    if alone := _ALONE.match(text.lstrip()):
        return text.lstrip()[alone.end() :], None
    shorter = _WITH_THREAD.sub("", text, count=1)
    return shorter, TakeThread.IF_PUBLIC if shorter == text else TakeThread.ASKED


async def what_goes_along(context: WorkerContext, prompt: Prompt) -> tuple[str, Earlier | None]:
    """Return what goes to the agent after the text of a prompt, and how much of the thread is in it.

    Nothing that Slack does not return in time stops the prompt.
    """
    conversation, earlier = await _conversation(context, prompt)
    signed = await _signature(context, prompt) if context.signs_prompts else ""
    return say.along(signed, conversation), earlier


async def _signature(context: WorkerContext, prompt: Prompt) -> str:
    """Return who asked and where. The names of private channels and of direct messages are not told."""
    messenger, channel = context.messenger, prompt.channel
    name = where = None
    with suppress(SlackError, TimeoutError):
        async with asyncio.timeout(context.timeouts.names_seconds):
            name = await messenger.user_name(prompt.asked_by)
            if channel and await messenger.is_public(channel):
                where = await messenger.channel_name(channel)
    return say.signature(name, where)


async def _conversation(context: WorkerContext, prompt: Prompt) -> tuple[str, Earlier | None]:
    if prompt.take_thread is None:
        return "", None
    if not context.takes_threads:
        was_asked = prompt.take_thread is TakeThread.ASKED
        return "", Earlier(not_taken=NotTaken.OFF) if was_asked else None
    thread, since = await context.store.read(lambda tx: _thread_of(tx, prompt))
    if thread is None:
        return "", None
    try:
        async with asyncio.timeout(context.timeouts.names_seconds):
            if prompt.take_thread is TakeThread.IF_PUBLIC and not await context.messenger.is_public(
                thread.channel
            ):
                return "", None
            said = await context.messenger.said_before(thread.channel, thread.ts, before=prompt.message_ts)
    except (SlackError, TimeoutError) as error:
        log.warning("thread_not_read", prompt=prompt.id, reason=str(error) or type(error).__name__)
        return "", Earlier(not_taken=NotTaken.UNREAD)
    return await _of_members(context, [each for each in said if since is None or each.ts > since])


def _thread_of(tx: Transaction, prompt: Prompt) -> tuple[ThreadRef | None, MessageTs | None]:
    """Return the thread of a prompt, and the message after which nothing of it went along before."""
    since = tx.along.last_said(prompt.job, prompt.id) if prompt.kind is PromptKind.FOLLOW_UP else None
    return tx.jobs.known(prompt.job).thread, since


async def _of_members(context: WorkerContext, said: Sequence[Said]) -> tuple[str, Earlier]:
    """Return the conversation of the members of this workspace. What others said is left out."""
    others = [each for each in said if each.user != context.bot_user]
    readable = [each for each in others if not each.by_bot and _is_for_the_agent(context, each)]
    members = await _members(context, [each.user for each in reversed(readable) if each.user])
    theirs = [each for each in readable if each.user in members][-say.MOST_MESSAGES :]
    by_name = await _with_names(context, theirs)
    taken = say.newest_that_fit(by_name)
    return "\n".join(taken), Earlier(len(taken), len(others) - len(taken))


def _is_for_the_agent(context: WorkerContext, said: Said) -> bool:
    text = slack_text.without_leading_mention(said.text, context.bot_user)
    return not (slack_text.is_aside(text) or slack_text.is_blank(slack_text.to_plain(text, {}, {})))


async def _members(context: WorkerContext, authors: Sequence[UserId]) -> set[UserId]:
    """Return those authors who are full members, as far as Slack tells in time."""
    members: set[UserId] = set()

    async def look(author: UserId) -> None:
        with suppress(SlackError):
            profile = await context.messenger.profile(author)
            if not (profile.is_guest or profile.is_stranger or profile.is_bot):
                members.add(author)

    with suppress(TimeoutError):
        async with asyncio.timeout(context.timeouts.names_seconds), asyncio.TaskGroup() as group:
            for author in list(dict.fromkeys(authors))[:_MOST_AUTHORS]:
                group.create_task(look(author))
    return members


async def _with_names(context: WorkerContext, said: Sequence[Said]) -> list[tuple[str, str]]:
    """Return messages as the name of the author and the plain text."""
    authors = " ".join(f"<@{each.user}>" for each in said)
    users, channels = await names_in(context, " ".join([authors, *(each.text for each in said)]))

    def plain(each: Said) -> tuple[str, str]:
        name = users.get(each.user, each.user) if each.user else ""
        return name, slack_text.to_plain(each.text, users, channels)

    return [plain(each) for each in said]
